//! Sources, smearing and hadrons of `cr-solve spectrum` and `invert` as a user asks for them.

use crate::common;

use assert_cmd::cargo::cargo_bin_cmd;
use common::schema::assert_valid;
use lattice_cl::geometry::{Boundary, NDIM};
use lattice_cl::host::{self, LinkField, Spinor, StencilFactors, random};
use lattice_cl::io::{self, Format, WriteOptions};
use lattice_cl::{Dims, GaugeConfiguration};
use num_complex::Complex64;
use serde_json::Value;
use std::f64::consts::TAU;
use std::process::Output;
use tempfile::TempDir;

const EXTENTS: [usize; NDIM] = [4, 2, 4, 6];

/// A folder with a weak field and the free field.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, field) in [("weak.ildg", weak()), ("free.ildg", random::cold(dims()))] {
        io::write_gauge(folder.path().join(name), &field, &WriteOptions::new(Format::Ildg)).unwrap();
    }
    folder
}

fn dims() -> Dims {
    Dims::new(EXTENTS).unwrap()
}

fn weak() -> GaugeConfiguration {
    random::weak(dims(), 0.1, 3)
}

fn output(folder: &TempDir, line: &str) -> Output {
    let mut command = cargo_bin_cmd!("cr-solve");
    command.current_dir(folder).args(line.split_whitespace()).args(["--device", "host", "--json"]);
    command.output().unwrap()
}

#[track_caller]
fn json(folder: &TempDir, line: &str) -> Value {
    let output = output(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A result of spectrum, which is as its schema says.
#[track_caller]
fn spectrum(folder: &TempDir, line: &str) -> Value {
    let found = json(folder, line);
    let mut schema = json(folder, "run --schema spectrum");
    schema["additionalProperties"] = false.into();
    assert_valid(&schema, &found);
    found
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn hadrons_of_one_quark_are_in_the_result() {
    let folder = folder();
    let found = spectrum(
        &folder,
        "spectrum weak.ildg --kappa 0.11 --source wall:2 --smear-source gaussian:1,3 --smear-sink wuppertal:0.2,2 \
         --smear-links stout:0.1,2 --hadrons mesons,octet,decuplet,currents --momenta 1",
    );
    assert_eq!(found["smear_source"], "gaussian:1.0,3");
    assert_eq!(found["smear_sink"], "wuppertal:0.2,2");
    assert_eq!(found["smear_links"], "stout:0.1,2");
    let counts = ["mesons", "baryons", "currents"].map(|set| list(&found[set]).len());
    assert_eq!(counts, [256 * 7, 22 * 7, 4]);
    let is_pion = |meson: &&Value| {
        meson["source"] == 15 && meson["sink"] == 15 && meson["momentum"] == serde_json::json!([0, 0, 0])
    };
    let pion = list(&found["mesons"]).iter().find(is_pion).unwrap();
    let expected = list(&found["correlators"]["pion"]);
    assert_eq!(list(&pion["values"]).len(), EXTENTS[3]);
    for (value, expected) in list(&pion["values"]).iter().zip(expected) {
        assert!((number(&value[0]) / number(expected) - 1.0).abs() < 1e-12, "{value}, {expected}");
    }
    let averaged =
        spectrum(&folder, "spectrum weak.ildg --kappa 0.11 --hadrons octet --momenta 1 --average-momenta");
    // p = 0, those along y, and those along x and z, whose extents are the same.
    assert_eq!(list(&averaged["baryons"]).len(), 12 * 3);
}

/// The sign of baryons beyond the last slice makes up for that of the boundary.
#[test]
fn hadrons_of_the_free_field_do_not_depend_on_where_the_source_is() {
    let folder = folder();
    let [here, there] = ["0,0,0,0", "3,1,2,4"].map(|site| {
        let line = format!(
            "spectrum free.ildg --kappa 0.11 --tol 1e-13 --source point:{site} --hadrons mesons,octet,decuplet,currents --momenta 1"
        );
        spectrum(&folder, &line)
    });
    for set in ["mesons", "baryons", "currents"] {
        for (here, there) in list(&here[set]).iter().zip(list(&there[set])) {
            let numbers = |entry: &Value| -> Vec<f64> {
                let part = |value: &Value| match value.as_array() {
                    Some(parts) => parts.iter().map(number).collect(),
                    None => vec![number(value)],
                };
                list(&entry["values"]).iter().flat_map(part).collect()
            };
            let (here_values, there_values) = (numbers(here), numbers(there));
            for (a, b) in here_values.iter().zip(&there_values) {
                assert!((a - b).abs() < 1e-10, "{here} {there}");
            }
        }
    }
}

#[test]
fn two_masses_have_hadrons_of_both_quarks() {
    let folder = folder();
    let job = r#"
command = "spectrum"
[configuration]
file = "weak.ildg"
[action]
kappa = [0.12, 0.11]
[hadrons]
hadrons = "mesons,octet,decuplet"
[[source]]
source = "point:0,0,0,0"
[[source]]
source = "point:0,0,0,0"
smear-source = "gaussian:1.0,2"
label = "shell"
"#;
    std::fs::write(folder.path().join("job.toml"), job).unwrap();
    let found = spectrum(&folder, "run job.toml");
    let mixed = list(&found["mixed"]);
    let sources: Vec<&Value> = mixed.iter().map(|entry| &entry["source"]).collect();
    assert_eq!(sources, ["point 0.0.0.0", "shell"]);
    for entry in mixed {
        // The heavier quark has the smaller κ.
        assert_eq!(entry["quarks"], serde_json::json!(["kappa 0.11", "kappa 0.12"]));
        assert_eq!(list(&entry["mesons"]).len(), 256);
        let names: Vec<&str> = list(&entry["baryons"]).iter().map(|b| b["name"].as_str().unwrap()).collect();
        for name in ["sigma_Cg5", "xi_Cg5NR_up", "lambda_octet_Cg5", "sigma_star_Cgx", "xi_star_CgmNR_upup"] {
            assert_eq!(names.iter().filter(|found| **found == name).count(), 2, "{name}, both parities");
        }
    }
    assert_eq!(found["results"][3]["smear_source"], "gaussian:1.0,2");
    assert!(found["results"][0].get("smear_source").is_none());
    assert_eq!(list(&found["results"][2]["baryons"]).len(), 22);
}

#[test]
fn walls_and_noise_are_the_right_hand_sides() {
    let folder = folder();
    let links = LinkField::new(&weak(), Boundary::antiperiodic_t());
    for source in ["wall:3,1,0,-1", "z4:7,2,t=1,part=1/2", "exponential:1,0,2,4,0.5,1", "file:x.lime"] {
        let line = format!(
            "invert weak.ildg --kappa 0.11 --tol 1e-12 --source {source} --spin 1 --colour 2 --output y.lime --force"
        );
        json(&folder, &line);
        let x = io::read_propagator(folder.path().join("y.lime")).unwrap().records.remove(0).field;
        let mut b = vec![Spinor::default(); x.len()];
        host::stencil(&links, StencilFactors::new(1.0, -0.11), &x, &mut b);
        let before = folder.path().join("x.lime");
        let of_file = before.exists().then(|| io::read_propagator(&before).unwrap().records.remove(0).field);
        for (site, b) in b.iter().enumerate() {
            let [x, y, z, t] = dims().coordinates(site);
            let number = b.0[1][2];
            let wanted = match source.split(':').next().unwrap() {
                "wall" if t == 3 => Complex64::from_polar(1.0, TAU * (x as f64 - z as f64) / 4.0),
                "z4" if t == 1 && (x + y + z + t) % 2 == 1 => {
                    let power = number.powu(4);
                    assert!((power - 1.0).norm() < 1e-9, "{source}: {number}");
                    number
                }
                "exponential" if t == 4 => {
                    let part =
                        |a: usize, b: usize, extent: usize| a.abs_diff(b).min(extent - a.abs_diff(b)).pow(2);
                    let r2 = part(x, 1, 4) + part(y, 0, 2) + part(z, 2, 4);
                    (-0.5 * (r2 as f64).sqrt()).exp().into()
                }
                "file" => of_file.as_ref().unwrap()[site].0[1][2],
                _ => Complex64::default(),
            };
            assert!((number - wanted).norm() < 1e-9, "{source}, site {site}: {number}, {wanted}");
        }
        std::fs::rename(folder.path().join("y.lime"), before).unwrap();
    }
}

/// The job of the README and the book, from a generated configuration to both files.
#[test]
fn the_example_goes_from_a_configuration_to_hadrons() {
    let folder = tempfile::tempdir().unwrap();
    // Without --device, so that a device does the work if there is one.
    let run = |arguments: &[&str]| {
        let mut command = cargo_bin_cmd!("cr-solve");
        let output = command.current_dir(&folder).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    };
    run(&["generate", "--dims", "8x8x8x16", "--beta", "6", "--sweeps", "3", "-o", "conf.ildg"]);
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hadrons.toml");
    let done = run(&["run", example, "--json"]);
    let found: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(found["fat_links"], "stout:0.1,2");
    let kept = io::read_results(folder.path().join("hadrons.h5")).unwrap();
    assert_eq!(kept["mesons"], found["mesons"]);
    let momenta = 7;
    assert_eq!((list(&found["mesons"]).len(), list(&found["baryons"]).len()), (256 * momenta, 12 * momenta));
    let propagator = io::read_propagator(folder.path().join("propagator.h5")).unwrap();
    assert_eq!((propagator.format, propagator.records.len()), (io::PropagatorFormat::PyQudaHdf5, 12));
    // The pion at rest is positive and as heavy forwards as backwards; the proton is heavier.
    let real = |values: &Value, t: usize| number(&values[t][0]);
    let pion = list(&found["mesons"]).iter().find(|meson| meson["source"] == 15 && meson["sink"] == 15);
    let pion = &pion.unwrap()["values"];
    assert!((0..16).all(|t| real(pion, t) > 0.0));
    let proton = list(&found["baryons"]).iter().find(|baryon| baryon["name"] == "nucleon_Cg5");
    let proton = &proton.unwrap()["values"];
    assert!(real(proton, 4).abs() / real(proton, 2).abs() < real(pion, 4) / real(pion, 2));
    let refused = output(&folder, "invert conf.ildg --kappa 0.12 --output x.h5");
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{message}");
    assert!(message.contains("invert has one") && message.contains("x.lime"), "{message}");
}

/// The boundary word, an angle, signs in the links of a file and a job file say the same quark.
#[test]
fn baryons_know_the_phase_of_their_quarks_whoever_has_set_it() {
    let folder = folder();
    let mut signed = weak();
    for site in (0..dims().volume()).filter(|&site| dims().coordinates(site)[3] == EXTENTS[3] - 1) {
        signed.set_link(site, 3, signed.link(site, 3).scale(-1.0));
    }
    io::write_gauge(folder.path().join("signed.ildg"), &signed, &WriteOptions::new(Format::Ildg)).unwrap();
    let nucleon = |found: &Value| -> Vec<f64> {
        let of = |one: &&Value| one["name"] == "nucleon_Cg5" && one["projector"] == "+";
        let values = list(&list(&found["baryons"]).iter().find(of).unwrap()["values"]).iter();
        values.map(|value| number(&value[0])).collect()
    };
    let measured = |links: &str| {
        let options = "--kappa 0.11 --source point:0,0,0,4 --hadrons octet --tol 1e-12";
        nucleon(&spectrum(&folder, &format!("spectrum {links} {options}")))
    };
    let in_a_job = |boundary: &str| {
        let job = format!(
            "command = \"spectrum\"\n[configuration]\nfile = \"signed.ildg\"\nsigns-in-links = \"keep\"\n[action]\nkappa = 0.11\n\
             boundary = \"{boundary}\"\n[sources]\nsource = \"point:0,0,0,4\"\n[solver]\ntol = 1e-12\n[hadrons]\nhadrons = \"octet\"\n"
        );
        std::fs::write(folder.path().join("job.toml"), job).unwrap();
        nucleon(&spectrum(&folder, "run job.toml"))
    };
    let ways = [
        [
            measured("weak.ildg"),
            measured("weak.ildg --boundary periodic --theta 0,0,0,1"),
            measured("signed.ildg --signs-in-links keep --boundary periodic"),
            measured("signed.ildg --signs-in-links remove"),
            in_a_job("periodic"),
        ],
        [
            measured("weak.ildg --boundary periodic"),
            measured("weak.ildg --theta 0,0,0,1"),
            measured("signed.ildg --signs-in-links keep"),
            measured("signed.ildg --signs-in-links keep --boundary periodic --theta 0,0,0,-1"),
            in_a_job("antiperiodic"),
        ],
    ];
    for ways in &ways {
        for values in ways {
            let pairs = values.iter().zip(&ways[0]);
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9 * b.abs()), "{values:?}, {ways:?}");
        }
    }
    // Beyond the boundary the others differ by more than a sign.
    assert!(
        ways[0][0].iter().zip(&ways[1][0]).skip(2).all(|(a, b)| (a.abs() - b.abs()).abs() > 1e-9 * a.abs())
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder();
    for (options, status, words) in [
        ("--hadrons mesons,octett", 2, &["octett", "mesons, octet, decuplet or currents"][..]),
        ("--momenta 2", 2, &["--hadrons"]),
        ("--hadrons mesons --momenta 4", 2, &["n_y goes to 2", "1 at most", "n² up to 3"]),
        ("--source wall:6", 2, &["wall:6", "t runs from 0 to 5"]),
        ("--source wall:0,0,2,0", 2, &["n_y runs from -1 to 1"]),
        ("--source z4:1,0,t=7", 2, &["t runs from 0 to 5"]),
        ("--source file:none.lime", 3, &["none.lime"]),
        ("--smear-source gaussian:4,2", 2, &["width lies between 0 and 1.4142", "stable up to 1.1547"]),
        ("--smear-sink wuppertal:-1,2", 2, &["alpha = -1"]),
        ("--smear-links stout:0.1,2", 2, &["smear-links has nothing to smear"]),
        ("--smear-source gaussian:1,2 --smear-links stout:0.4,2", 2, &["rho lies between 0 and 0.25"]),
    ] {
        let line = format!("spectrum weak.ildg --kappa 0.11 {options}");
        let output = output(&folder, &line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{options}: {stderr}");
        assert!(output.stdout.is_empty() && !stderr.contains("panicked"), "{options}: {stderr}");
        for word in words {
            assert!(stderr.contains(word), "{options}: `{word}` is not in: {stderr}");
        }
    }
    let warned = output(&folder, "spectrum weak.ildg --kappa 0.11 --smear-source gaussian:2,5");
    let stderr = String::from_utf8(warned.stderr).unwrap();
    assert!(warned.status.success() && stderr.contains("modes of short waves grow above 1.8257"), "{stderr}");
}

/// Writes a job, does it, and checks its result against the schema.
#[track_caller]
fn run_job(folder: &TempDir, job: &str) -> Value {
    std::fs::write(folder.path().join("job.toml"), job).unwrap();
    spectrum(folder, "run job.toml")
}

/// The largest difference of two lists of correlators, relative to the largest number, and their names.
#[track_caller]
fn difference(found: &Value, expected: &Value) -> f64 {
    let numbers = |list_of: &Value| -> Vec<f64> {
        let values = list(list_of).iter().flat_map(|one| list(&one["values"]).to_vec());
        values
            .flat_map(|value| value.as_array().cloned().unwrap_or(vec![value]))
            .map(|v| number(&v))
            .collect()
    };
    let (found, expected) = (numbers(found), numbers(expected));
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

/// Names of quarks and hadrons choose what a job with a list of masses measures, to the same bits.
#[test]
fn named_quarks_have_the_hadrons_that_a_job_names() {
    let folder = folder();
    let head =
        "command = \"spectrum\"\n[configuration]\nfile = \"weak.ildg\"\n[solver]\nsolver = \"bicgstab\"\n";
    let source = "[[source]]\nkind = \"point:1,0,0,2\"\nsmear-sink = \"gaussian:1.0,2\"\nlabel = \"here\"\n";
    let list_of_masses = format!(
        "{head}{source}[action]\nkappa = [0.12, 0.11]\n[hadrons]\nhadrons = \"mesons,octet,decuplet,currents\"\nmomenta = 1\n"
    );
    let expected = run_job(&folder, &list_of_masses);
    let named = format!(
        r#"{head}{source}
[[source]]
kind = "point:0,0,0,0"
label = "there"
[[quark]]
label = "light"
kappa = 0.12
[[quark]]
label = "strange"
kappa = 0.11
source = "here"
solver = "cg"
tol = 1e-11
[[hadron]]
quarks = ["strange", "light"]
hadrons = "mesons,octet,decuplet,currents"
momenta = 1
[[hadron]]
quarks = "light"
hadrons = "octet,currents"
source = "here"
momenta = 1
[[hadron]]
quarks = ["light", "light", "strange"]
hadrons = "octet"
[[hadron]]
quarks = "light"
hadrons = "mesons"
source = "there"
smear-sink = "gaussian:1.0,2"
[outputs]
results = ["named.h5", "named.json"]
"#
    );
    let found = run_job(&folder, &named);
    let results: Vec<&Value> = list(&found["results"]).iter().map(|result| &result["quark"]).collect();
    assert_eq!(results, ["light", "light", "strange"]);
    assert_eq!(found["results"][2]["method"], "cg");
    let hadrons = list(&found["hadrons"]);
    let about: Vec<(&Value, &Value)> = hadrons.iter().map(|one| (&one["quarks"], &one["source"])).collect();
    let of = |quarks: &[&str]| serde_json::json!(quarks);
    let three = of(&["light", "light", "strange"]);
    let (two, one, here, there) = (of(&["strange", "light"]), of(&["light"]), of(&["here"]), of(&["there"]));
    assert_eq!(about, [(&two, &here[0]), (&one, &here[0]), (&three, &here[0]), (&one, &there[0])]);
    let mixed = &expected["mixed"][0];
    for set in ["mesons", "baryons", "currents"] {
        assert!(difference(&hadrons[0][set], &mixed[set]) < 1e-9, "{set}");
    }
    let light = &expected["results"][0];
    assert_eq!(difference(&hadrons[1]["currents"], &light["currents"]), 0.0);
    let of_octet: Vec<Value> = list(&light["baryons"])
        .iter()
        .filter(|baryon| baryon["name"].as_str().unwrap().starts_with("nucleon"))
        .cloned()
        .collect();
    assert_eq!(difference(&hadrons[1]["baryons"], &of_octet.into()), 0.0);
    assert!(list(&hadrons[2]["baryons"]).iter().all(|b| b["name"].as_str().unwrap().starts_with("lambda_")));
    assert_eq!(hadrons[3]["smear_sink"], "gaussian:1.0,2");

    // The result does the whole job again, and averages have all names.
    for file in ["named.h5", "named.json"] {
        let again = json(&folder, &format!("reproduce {file}"));
        assert_eq!((&again["reproduced"], &again["other_bits"]), (&true.into(), &0.into()), "{file}");
    }
    let averages = json(&folder, "analyse named.h5 --all");
    let names: Vec<&str> =
        list(&averages["correlators"]).iter().map(|one| one["name"].as_str().unwrap()).collect();
    for words in ["strange", "lambda_naive_Cg5", "quark light"] {
        assert!(names.iter().any(|name| name.contains(words)), "{words} is in no name of {names:?}");
    }
}

/// Quarks differ in everything that an action has, and flavours of a twisted mass are quarks.
#[test]
fn named_quarks_have_operators_of_their_own() {
    let folder = folder();
    let head = "command = \"spectrum\"\n[configuration]\nfile = \"weak.ildg\"\n";
    let both = run_job(
        &folder,
        &format!(
            "{head}[action]\nkappa = 0.12\nmu = 0.1\nflavour = \"both\"\n[hadrons]\nhadrons = \"mesons\"\n"
        ),
    );
    let clover = run_job(
        &folder,
        &format!("{head}[action]\nkappa = 0.11\ncsw = 1.3\n[hadrons]\nhadrons = \"mesons\"\n"),
    );
    let found = run_job(
        &folder,
        &format!(
            r#"{head}
[action]
boundary = "antiperiodic"
[[quark]]
label = "up"
kappa = 0.12
mu = 0.1
[[quark]]
label = "down"
kappa = 0.12
mu = 0.1
flavour = "down"
[[quark]]
label = "charm"
kappa = 0.11
csw = 1.3
[[hadron]]
quarks = ["up", "down"]
hadrons = "mesons"
[[hadron]]
quarks = "charm"
hadrons = "mesons"
[[hadron]]
quarks = ["down", "up"]
hadrons = "octet"
"#
        ),
    );
    let hadrons = list(&found["hadrons"]);
    assert!(difference(&hadrons[0]["mesons"], &both["mixed"][0]["mesons"]) < 1e-9);
    assert!(difference(&hadrons[1]["mesons"], &clover["mesons"]) < 1e-9);
    // The proton of the twisted basis is (d u) u.
    assert_eq!(list(&hadrons[2]["baryons"])[0]["name"], "sigma_Cg5");
    assert_eq!(found["results"][1]["operator"], "twisted-mass operator, mu 0.1");
    assert_eq!(found["results"][2]["operator"], "clover operator, c_sw 1.3");
}

#[test]
fn mistakes_of_named_quarks_and_hadrons_are_said_with_their_line() {
    let folder = folder();
    let job = r#"command = "spectrum"
[configuration]
file = "weak.ildg"
[[source]]
kind = "point:0,0,0,0"
label = "here"
[[quark]]
label = "light"
kappa = 0.12
source = "here"
[[hadron]]
quarks = "light"
hadrons = "octet"
momenta = 1
"#;
    for (old, new, wanted) in [
        ("quarks = \"light\"", "quarks = \"lite\"", &["line 12", "lite", "no [[quark]]", "light"][..]),
        ("quarks = \"light\"", "quarks = []", &["line 12", "one, two or three quarks"]),
        (
            "quarks = \"light\"",
            "quarks = [\"light\", \"light\", \"light\"]\naverage-momenta = 1",
            &["average-momenta"],
        ),
        ("\"octet\"", "\"octett\"", &["line 13", "mesons, octet, decuplet"]),
        ("momenta = 1", "momenta = 4", &["momenta up to n² = 4 are too large", "2x"]),
        ("momenta = 1", "smear-sink = \"gaussian:9,2\"", &["line 14", "between 0 and"]),
        ("momenta = 1", "source = \"there\"", &["line 14", "no [[source]]", "here"]),
        ("source = \"here\"", "source = \"there\"", &["line 10", "no [[source]]", "here"]),
        ("kappa = 0.12", "kappa = -1.0", &["line 9", "quark `light`"]),
        ("kappa = 0.12", "kappa = 0.12\nmass = 0.1", &["line 8", "no mass, or two"]),
        ("kappa = 0.12", "kappa = 0.12\nflavour = \"up\"", &["line 10", "no twisted mass"]),
        ("kappa = 0.12", "kappa = 0.12\nsolver = \"block-cg\"", &["line 10", "for all quarks or for none"]),
        ("label = \"light\"", "label = \"\"", &["line 8", "a label of its own"]),
        ("[[quark]]", "[action]\nkappa = 0.1\n[[quark]]", &["line 7", "beside [[quark]]"]),
        ("[[quark]]", "[hadrons]\nhadrons = \"octet\"\n[[quark]]", &["both [hadrons] and [[hadron]]"]),
        ("point:0,0,0,0", "point:0,0,0,9", &["outside"]),
    ] {
        assert!(job.contains(old), "{old}");
        std::fs::write(folder.path().join("job.toml"), job.replacen(old, new, 1)).unwrap();
        let output = output(&folder, "run job.toml");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && !error.contains("panicked"), "{new}: {error}");
        for wanted in wanted {
            assert!(error.contains(wanted), "{new}: `{wanted}` is not in: {error}");
        }
    }
}

/// Sequential sources and diluted noise of a job file, its files, and the job done again.
#[test]
fn a_job_file_has_three_point_functions_and_diluted_noise() {
    let folder = folder();
    let job = r#"
command = "spectrum"
[configuration]
file = "weak.ildg"
[action]
kappa = 0.11
[solver]
solver = "block-cg"
tol = 1e-11
[hadrons]
hadrons = "mesons,octet"
[[source]]
kind = "point:1,0,0,4"
label = "here"
smear-sink = "gaussian:1.0,2"
[[source]]
kind = "sequential:nucleon_Cg5+,3,quark=2"
from = "here"
current-momenta = 1
[[source]]
kind = "z4:3,0"
label = "noise"
slices = "1-4/3"
parts = 2
[outputs]
output = "s.lime"
results = "three.h5"
"#;
    let found = run_job(&folder, job);
    let results = list(&found["results"]);
    let labels: Vec<&str> = results.iter().map(|one| one["label"].as_str().unwrap()).collect();
    let sequential = "sequential nucleon_Cg5+.3.quark=2";
    let of_noise = ["noise t=1 part=0/2", "noise t=1 part=1/2", "noise t=4 part=0/2", "noise t=4 part=1/2"];
    assert_eq!(labels, [&["here"][..], &of_noise, &[sequential]].concat());
    // Two quarks q2, with the sign of the baryon beyond the last time slice.
    let named = |all: &Value, key: &str, name: &str| -> Vec<f64> {
        let found = list(all).iter().find(|one| one[key] == name).unwrap();
        list(&found["values"]).iter().map(|value| number(&value[0])).collect()
    };
    let charge = named(&results[5]["three_points"], "insertion", "conserved_t");
    let nucleon = named(&results[0]["baryons"], "name", "nucleon_Cg5")[3];
    assert!(((charge[1] - charge[4]) / (2.0 * nucleon) - 1.0).abs() < 1e-7, "{charge:?}, {nucleon}");
    assert!(results[5].get("baryons").is_none() && list(&results[5]["correlators"]["pion"]).is_empty());
    assert!((0..6).all(|number| folder.path().join(format!("s.{number}.lime")).exists()));
    let again = json(&folder, "reproduce three.h5");
    assert_eq!((&again["reproduced"], &again["other_bits"]), (&true.into(), &0.into()));
    let averages = json(&folder, "analyse three.h5 --only conserved_t");
    assert_eq!(list(&averages["correlators"]).len(), 7);

    let refused = |line: &str, words: &str| {
        let output = output(&folder, line);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(words), "{line}: {text}");
    };
    refused("spectrum weak.ildg --kappa 0.11 --source sequential:pion,3", "[[source]]");
    refused("spectrum weak.ildg --kappa 0.11 --source sequential:kaon,3", "meson_0 to meson_15");
    refused("invert weak.ildg --kappa 0.11 --source sequential:pion,3", "take spectrum");
    let far = job.replace("Cg5+,3", "Cg5+,6").replace("[outputs]", "[outputs]\nforce = true");
    std::fs::write(folder.path().join("far.toml"), far).unwrap();
    refused("run far.toml", "6 time slices away");
}
