//! `cr-solve measure`, `smear`, `flow` and `fix` as a user runs them.

use crate::common;

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::TempDir;

/// Status, standard output and standard error of a run.
fn run(folder: &TempDir, line: &str) -> (i32, String, String) {
    let output =
        cargo_bin_cmd!("cr-solve").current_dir(folder).args(line.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(!stderr.contains("panicked"), "{line}: {stderr}");
    (output.status.code().unwrap(), stdout, stderr)
}

fn json(folder: &TempDir, line: &str) -> Value {
    let (status, stdout, stderr) = run(folder, &format!("{line} --json"));
    assert_eq!(status, 0, "{line}: {stderr}");
    serde_json::from_str(&stdout).unwrap()
}

fn assert_refused(folder: &TempDir, line: &str, status: i32, words: &[&str]) {
    let (found, stdout, stderr) = run(folder, line);
    assert_eq!((found, stdout.as_str()), (status, ""), "{line}: {stderr}");
    for word in words {
        assert!(stderr.contains(word), "{line}: `{word}` is not in: {stderr}");
    }
}

fn folder_with_links() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    json(&folder, "generate --dims 4x2x6x4 --beta 5.8 --sweeps 2 --start hot --output a.ildg");
    folder
}

#[test]
fn what_is_asked_for_is_measured() {
    let folder = folder_with_links();
    let info = json(&folder, "info a.ildg");
    let plain = json(&folder, "measure a.ildg");
    assert_eq!(plain["plaquette"], info["plaquette"]["average"]);
    assert_eq!(plain["polyakov"], info["polyakov"]);
    for absent in ["energy", "charge", "wilson_loops", "potential"] {
        assert!(plain.get(absent).is_none(), "{absent}");
    }
    let line = "measure a.ildg --charge --energy --wilson-loops 2x4 --in-space --off-axis --format ildg";
    let all = json(&folder, line);
    let off_axis = all["wilson_loops_off_axis"].as_array().unwrap();
    assert_eq!(off_axis.len(), 2);
    assert!(off_axis.iter().all(|one| one["loops"][1][3].is_number() && one["potential"][0][0].is_number()));
    for (table, keys) in
        [("charge", &["clover", "improved"][..]), ("energy", &["clover", "plaquette", "improved"])]
    {
        for key in keys {
            assert!(all[table][key].is_f64(), "{table}.{key}");
        }
    }
    let near = |a: &Value, b: &Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-13;
    assert!(near(&all["wilson_loops"][0][0], &info["plaquette"]["temporal"]));
    assert!(near(&all["wilson_loops_in_space"][0][0], &info["plaquette"]["spatial"]));
    assert_eq!(all["wilson_loops"][1].as_array().unwrap().len(), 4);
    assert_eq!(all["potential"][0].as_array().unwrap().len(), 3);
    let (status, text, _) = run(&folder, "measure a.ildg --charge --energy --wilson-loops 1x2");
    assert_eq!(status, 0);
    for word in ["plaquette", "charge", "improved", "V(r,t)"] {
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder_with_links();
    assert_refused(&folder, "measure a.ildg --wilson-loops 3x2", 2, &["direction y", "--wilson-loops"]);
    assert_refused(&folder, "measure a.ildg --wilson-loops 2x5", 2, &["5 links", "4 sites"]);
    assert_refused(&folder, "measure a.ildg --wilson-loops 0x2", 2, &["4x8"]);
    assert_refused(&folder, "measure a.ildg --dims 4x4x4x4", 3, &["4x2x6x4", "4x4x4x4"]);
    assert_refused(&folder, "measure a.ildg --format nersc", 3, &["a.ildg", "ildg, not nersc"]);
    assert_refused(&folder, "measure a.ildg --format hdf", 2, &["openqcd"]);
    assert_refused(&folder, "measure none.ildg", 3, &["none.ildg"]);
    assert_refused(&folder, "measure a.ildg --device 0.0", 2, &["host only"]);
}

fn near(found: &Value, expected: f64, bound: f64) -> bool {
    (found.as_f64().unwrap() - expected).abs() < bound
}

#[test]
fn smeared_links_are_written_with_what_was_done() {
    let folder = folder_with_links();
    let before = json(&folder, "measure a.ildg")["plaquette"].as_f64().unwrap();
    for (number, options) in [
        "--stout 0.1,2",
        "--ape 0.6,1 --spatial",
        "--ape 0.6,1 --projection polar",
        "--hyp 0.75,0.6,0.3,1",
        "--hyp 0.75,0.6,0.3,1 --spatial",
        "--stout 0.1,1 --directions xt",
    ]
    .into_iter()
    .enumerate()
    {
        let smeared = json(&folder, &format!("smear a.ildg b{number}.ildg {options}"));
        assert!(smeared["plaquette"].as_f64().unwrap() > before, "{options}");
        assert_eq!(smeared["output"]["precision"], 64);
        let info = json(&folder, &format!("info b{number}.ildg"));
        assert!(near(&info["plaquette"]["average"], smeared["plaquette"].as_f64().unwrap(), 1e-14));
        let header = info["header"].to_string();
        assert!(header.contains(smeared["smearing"].as_str().unwrap()), "{header}");
        assert!(header.contains("of a.ildg: quenched SU(3)"), "{header}");
    }
    // Loops are smeared in the same way.
    json(&folder, "smear a.ildg c.nersc --ape 0.5,3 --spatial");
    let loops = json(&folder, "measure a.ildg --wilson-loops 2x2 --in-space --ape 0.5,3 --spatial");
    let smeared = json(&folder, "measure c.nersc --wilson-loops 2x2 --in-space");
    let expected = smeared["wilson_loops_in_space"][1][1].as_f64().unwrap();
    assert!(near(&loops["wilson_loops_in_space"][1][1], expected, 1e-14));
    assert!(loops["smearing"].as_str().unwrap().starts_with("APE alpha 0.5, 3 steps in xyz"));
    // Those in time are the file's, or smeared too.
    json(&folder, "smear a.ildg e.ildg --stout 0.1,2");
    let of_file = json(&folder, "measure e.ildg --wilson-loops 2x2")["wilson_loops"][1][1].as_f64().unwrap();
    let line = "measure a.ildg --wilson-loops 2x2 --stout 0.1,2";
    assert!(!near(&json(&folder, line)["wilson_loops"][1][1], of_file, 1e-3));
    assert!(near(&json(&folder, &format!("{line} --smeared-time"))["wilson_loops"][1][1], of_file, 1e-13));
    let unstable = run(&folder, "smear a.ildg d.ildg --stout 0.22,2 --spatial");
    assert!(unstable.0 == 0 && unstable.2.contains("grow above 0.1667"), "{}", unstable.2);
}

#[test]
fn smearing_that_makes_no_sense_is_refused() {
    let folder = folder_with_links();
    for (options, status, words) in [
        ("b.ildg", 2, &["no smearing", "--stout"][..]),
        ("b.ildg --stout 0.5,1", 2, &["rho = 0.5", "between 0 and 0.25"]),
        ("b.ildg --ape -0.1,1", 2, &["between 0 and 1"]),
        ("b.ildg --hyp 0.75,0.6,1", 2, &["0.75,0.6,0.3,1"]),
        ("b.ildg --hyp 0.75,0.6,1.3,1", 2, &["alpha3 = 1.3"]),
        ("b.ildg --ape 0.5,1 --stout 0.1,1", 2, &["cannot be used"]),
        ("b.ildg --ape 0.5,1 --projection best", 2, &["trace or polar"]),
        ("b.ildg --hyp 0.7,0.6,0.3,1 --directions xy", 2, &["not xy"]),
        ("a.ildg --stout 0.1,1 --force", 2, &["a.ildg would overwrite the input"]),
        ("b --stout 0.1,1", 2, &["does not tell the format"]),
        ("b.milc --stout 0.1,1 --precision double", 2, &["milc"]),
        ("b.ildg --stout 0.1,1 --dims 4x4x4x4", 3, &["4x2x6x4"]),
    ] {
        assert_refused(&folder, &format!("smear a.ildg {options}"), status, words);
    }
    assert_refused(&folder, "measure a.ildg --ape 0.5,1", 2, &["--wilson-loops"]);
    assert!(!folder.path().join("b.ildg").exists());
}

#[test]
fn a_flow_gives_rows_scales_and_links() {
    let folder = folder_with_links();
    let flowed = json(
        &folder,
        "flow a.ildg b.ildg --action wilson --time 0.4 --step 0.02 --every 0.1 --reference 0.3,0.05",
    );
    let rows = flowed["rows"].as_array().unwrap();
    let times: Vec<f64> = rows.iter().map(|row| row["time"].as_f64().unwrap()).collect();
    assert_eq!(times, [0.0, 0.1, 0.2, 0.3, 0.4]);
    for row in rows {
        for key in ["clover", "plaquette", "improved"] {
            assert!(row["energy"][key].is_f64());
        }
        let time = row["time"].as_f64().unwrap();
        assert!(near(&row["t2_energy"], time * time * row["energy"]["clover"].as_f64().unwrap(), 1e-15));
        assert!(row["charge"]["clover"].is_f64() && row["charge"]["improved"].is_f64());
    }
    assert_eq!(flowed["action"], "wilson");
    assert_eq!(flowed["step"], 0.02);
    assert_eq!(flowed["scales"][0]["t0"], flowed["t0"]);
    assert!(flowed["scales"][1]["t0"].is_f64() && flowed.get("w0").is_some());
    let measured = json(&folder, "measure b.ildg --energy --charge");
    assert!(near(&measured["energy"]["clover"], rows[4]["energy"]["clover"].as_f64().unwrap(), 1e-13));
    // As many steps by their number, and without a file.
    let steps = json(&folder, "flow a.ildg --time 0.4 --step 0.02 --every 5");
    assert_eq!(steps["rows"], flowed["rows"]);
    assert!(steps["output"].is_null());
    let adaptive = json(&folder, "flow a.ildg --time 0.4 --step 0.2 --adaptive 1e-6");
    assert!(near(
        &adaptive["rows"][2]["energy"]["clover"],
        rows[4]["energy"]["clover"].as_f64().unwrap(),
        1e-4
    ));
    assert!(adaptive["integrator_steps"].as_u64().unwrap() > 2);
    let (status, _, stderr) = run(&folder, "flow a.ildg --time 0.1 --step 0.03");
    assert!(status == 0 && stderr.contains("the step is 0.025"), "{stderr}");
    let symanzik = json(&folder, "flow a.ildg --action symanzik --time 0.1 --step 0.02 --every 5");
    assert_ne!(symanzik["rows"][1], flowed["rows"][1]);
}

#[test]
fn flows_that_make_no_sense_are_refused() {
    let folder = folder_with_links();
    for (options, words) in [
        ("--time -1", &["--time 2"][..]),
        ("--time 1 --step 0", &["--step 0.01"]),
        ("--time 1 --step 0.2", &["0.156"]),
        ("--time 1 --step 0.125 --action symanzik", &["0.117"]),
        ("--time 1 --step 0.02 --every 0.03", &["no multiples"]),
        ("--time 1 --every 0", &["number of steps"]),
        ("--time 1 --action iwasaki", &["wilson or symanzik"]),
        ("--time 1 --adaptive 0", &["positive"]),
        ("a.ildg --time 1 --force", &["would overwrite the input"]),
    ] {
        assert_refused(&folder, &format!("flow a.ildg {options}"), 2, words);
    }
}

#[test]
fn devices_flow_and_smear_as_the_host_does() {
    let folder = folder_with_links();
    let on = |device: &str| {
        let flow = "flow a.ildg b.ildg --force --action symanzik --time 0.04 --step 0.02";
        let flowed = json(&folder, &format!("{flow} --device {device}"));
        let smear = "smear a.ildg c.ildg --force --stout 0.1,2 --spatial";
        let smeared = json(&folder, &format!("{smear} --device {device}"));
        let links = json(&folder, "measure b.ildg");
        let numbers = [
            &flowed["rows"][2]["energy"]["improved"],
            &flowed["rows"][2]["charge"]["improved"],
            &links["plaquette"],
            &smeared["plaquette"],
        ];
        (flowed["devices"][0].clone(), numbers.map(|number| number.as_f64().unwrap()))
    };
    let steps = |device: &str| {
        let line = format!("flow a.ildg --time 0.2 --step 0.2 --adaptive 1e-5 --device {device}");
        json(&folder, &line)["integrator_steps"].as_u64().unwrap()
    };
    assert_eq!(steps("host"), steps("0.0"));
    let (host, device) = (on("host"), on("0.0"));
    assert_eq!(host.0, "host");
    assert_ne!(device.0, "host");
    for (found, expected) in device.1.into_iter().zip(host.1) {
        assert!((found - expected).abs() < 1e-13, "{found} {expected}");
    }
    assert_refused(
        &folder,
        "smear a.ildg d.ildg --ape 0.5,1 --device 0.0",
        2,
        &["APE smearing runs on the host"],
    );
}

#[test]
fn a_gauge_is_fixed_from_several_starts() {
    let folder = folder_with_links();
    for gauge in ["landau", "coulomb"] {
        let fixed = json(&folder, &format!("fix a.ildg {gauge}.ildg --gauge {gauge} --starts 2"));
        assert!(fixed["theta"].as_f64().unwrap() < 1e-14);
        assert!(fixed["iterations"].as_u64().unwrap() > 0);
        let starts: Vec<f64> =
            fixed["starts"].as_array().unwrap().iter().map(|f| f.as_f64().unwrap()).collect();
        let largest = starts.iter().fold(0.0, |a: f64, b| a.max(*b));
        assert!(starts.len() == 2 && near(&fixed["functional"], largest, 1e-11));
        assert!(fixed["functional_before"].as_f64().unwrap() < largest);
        let measure =
            |file: &str| json(&folder, &format!("measure {file} --energy --charge --wilson-loops 2x2"));
        let (before, after) = (measure("a.ildg"), measure(&format!("{gauge}.ildg")));
        for key in ["/plaquette", "/polyakov/0", "/energy/improved", "/charge/clover", "/wilson_loops/1/1"] {
            assert!(near(after.pointer(key).unwrap(), before.pointer(key).unwrap().as_f64().unwrap(), 1e-12));
        }
        let fourier = json(&folder, &format!("fix a.ildg d.ildg --force --gauge {gauge} --fourier"));
        assert!(fourier["fourier"] == true && fourier["theta"].as_f64().unwrap() < 1e-14);
        // It is there already.
        let again = json(&folder, &format!("fix {gauge}.ildg again.nersc --gauge {gauge} --force"));
        assert_eq!(again["iterations"], 0);
    }
    for (options, status, words) in [
        ("b.ildg --gauge axial", 2, &["landau or coulomb"][..]),
        ("b.ildg --gauge landau --tolerance -1", 2, &["positive"]),
        ("b.ildg --gauge landau --overrelaxation 2", 2, &["less than 2"]),
        ("b.ildg --gauge landau --starts 0", 2, &["at least one start"]),
        ("b.ildg --gauge landau --max-iterations 2", 1, &["after 2 iterations", "--max-iterations"]),
        ("a.ildg --gauge landau --force", 2, &["would overwrite the input"]),
        ("b.ildg", 2, &["--gauge"]),
    ] {
        assert_refused(&folder, &format!("fix a.ildg {options}"), status, words);
    }
    assert!(!folder.path().join("b.ildg").exists());
}

#[test]
fn files_of_other_codes_give_their_values() {
    let Some(reference) = common::reference::reference() else { return };
    let folder = tempfile::tempdir().unwrap();
    let data = common::shared().unwrap().join("data/wilson_beta5.7_kappa0.141139.ildg");
    let line = format!("measure {} --dims 4x4x4x4 --energy --charge", data.display());
    let found = json(&folder, &line);
    let expected = &reference["computed"]["gauge wilson_beta5.7_kappa0.141139.ildg"];
    for (found, key) in [
        (&found["plaquette"], "plaquette"),
        (&found["energy"]["clover"], "energy_clover"),
        (&found["energy"]["plaquette"], "energy_plaquette"),
        (&found["charge"]["clover"], "charge_clover"),
    ] {
        let difference = found.as_f64().unwrap() - expected[key].as_f64().unwrap();
        assert!(difference.abs() < 1e-12 * 16.0, "{key}: {found}");
    }
}
