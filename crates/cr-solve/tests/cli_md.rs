//! `cr-solve md`, as a user runs it.

use crate::common;

use assert_cmd::Command;
use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use common::shared;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

fn program() -> Command {
    let mut command = cargo_bin_cmd!("cr-solve");
    command.env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    command
}

/// Runs a command in a folder, which must end so; returns standard output and standard error.
fn run(folder: &Path, line: &str, status: i32) -> (String, String) {
    let output = program().current_dir(folder).args(line.split_whitespace()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{line}: {out}{said}");
    (out, said)
}

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&run(folder, &format!("{line} --json --quiet"), 0).0).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Argon and krypton on a lattice that is stirred, in a cube with an edge of 20.5.
fn particles(species: [&str; 2]) -> String {
    let spacing = 4.1;
    let mut text =
        "125\nLattice=\"20.5 0 0 0 20.5 0 0 0 20.5\" Properties=species:S:1:pos:R:3 pbc=\"T T T\"\n"
            .to_owned();
    for i in 0..125 {
        let t = f64::from(i);
        let noise = [(1.7 * t).sin(), (2.9 * t).cos(), (4.3 * t + 1.0).sin()].map(|x| 0.3 * x);
        let [x, y, z] = [f64::from(i % 5), f64::from(i / 5 % 5), f64::from(i / 25)].map(|c| c * spacing);
        let name = species[(i % 3 % 2) as usize];
        writeln!(text, "{name} {:.9} {:.9} {:.9}", x + noise[0], y + noise[1], z + noise[2]).unwrap();
    }
    text
}

/// A folder with `atoms.xyz` and `e2.table`, a table of E = (5/r)⁴ with two sections.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("atoms.xyz"), particles(["Ar", "Kr"])).unwrap();
    let mut table = String::new();
    for (name, sign) in [("GOOD", 1.0), ("WRONG", -1.0)] {
        writeln!(table, "{name}\nN 801 R 2 10\n").unwrap();
        for i in 0..801 {
            let r = 2.0 + f64::from(i) / 100.0;
            let energy = (5.0 / r).powi(4);
            writeln!(table, "{} {r} {energy:.15e} {:.15e}", i + 1, sign * 4.0 * energy / r).unwrap();
        }
    }
    std::fs::write(folder.path().join("e2.table"), table).unwrap();
    folder
}

const LJ: &str = "--lj Ar=0.238,3.405 --lj Kr=0.39,3.83 --cutoff 8.5";

#[test]
fn forces_are_the_same_by_every_way() {
    let folder = folder();
    let folder = folder.path();
    let host = json(folder, &format!("md forces atoms.xyz {LJ} --device host --forces f.npy --tail"));
    let (energy, largest) = (number(&host["energy"]), number(&host["force"]["largest"]));
    let npy = std::fs::read(folder.join("f.npy")).unwrap();
    assert_eq!((npy.len() % 64, npy.len() / 24), (3000 % 64, (3000 + 128) / 24));
    assert!(number(&host["tail"]["energy"]) < 0.0 && host["list"]["kind"] == "all-pairs");
    for (options, allowed) in [
        ("--precision double", 1e-12),
        ("--precision double --list all-pairs", 1e-12),
        ("", 1e-6),
        ("--mode derivative --fetch buffer", 1e-4),
        ("--mode potential --table 8192 --precision double --range 2.4,9", 1e-3),
        ("--mode derivative --spacing r2 --precision double", 1e-4),
        ("--mode derivative --interpolation cubic --precision double", 1e-7),
        ("--mode potential --interpolation cubic --spacing r2 --precision double", 1e-6),
    ] {
        let found = json(folder, &format!("md forces atoms.xyz {LJ} {options}"));
        assert!((number(&found["energy"]) / energy - 1.0).abs() < allowed, "{options}: {found}");
        assert!((number(&found["force"]["largest"]) / largest - 1.0).abs() < 10.0 * allowed, "{options}");
        assert_eq!(found["pairs"], host["pairs"], "{options}");
        let table = &found["table"];
        assert_eq!(table.is_null(), !options.contains("--mode"), "{options}");
        if !table.is_null() {
            assert!(number(&table["error"]["force"]) > 0.0 && number(&table["h"]) > 0.0);
        }
    }
    let (text, _) = run(folder, &format!("md forces atoms.xyz {LJ} --quiet"), 0);
    assert!(text.contains("kcal/mol (xx yy zz yz xz xy)") && text.contains("atm, without motion"), "{text}");
}

#[test]
fn tables_of_files_are_read_and_measured() {
    let folder = folder();
    let folder = folder.path();
    let pairs = "--potential e2.table --pair Ar-Ar=GOOD --pair Ar-Kr=GOOD --pair Kr-Kr=GOOD --cutoff 8";
    let found = json(folder, &format!("md forces atoms.xyz {pairs} --precision double"));
    assert_eq!((found["mode"].as_str(), found["table"]["samples"].as_u64()), (Some("derivative"), Some(801)));
    let said = run(folder, &format!("md forces atoms.xyz {}", pairs.replacen("GOOD", "WRONG", 1)), 0).1;
    assert!(said.contains("section WRONG: F differs from -dE/dr"), "{said}");

    let measured = json(folder, "md table e2.table --section GOOD --samples 201,801 --plot errors.svg");
    let rows = measured["rows"].as_array().unwrap();
    let error = |samples: u64, mode: &str| {
        let is = |row: &&Value| {
            row["samples"] == samples
                && row["mode"] == mode
                && row["precision"] == "double"
                && row["fetch"] == "buffer"
        };
        number(&rows.iter().find(is).unwrap()["error"]["force"])
    };
    for mode in ["derivative", "potential"] {
        let ratio = error(201, mode) / error(801, mode);
        assert!((10.0..20.0).contains(&ratio), "{mode}: {ratio}");
    }
    assert!(error(801, "potential") > 2.0 * error(801, "derivative"));
    assert!(std::fs::read_to_string(folder.join("errors.svg")).unwrap().contains("<svg"));
    let kinds = "--samples 801 --spacing r,r2 --interpolation linear,cubic";
    let measured = json(folder, &format!("md table e2.table --section GOOD {kinds}"));
    let rows = measured["rows"].as_array().unwrap();
    for row in rows.iter().filter(|row| row["interpolation"] == "cubic" && row["precision"] == "double") {
        // Where the force is largest, samples in r² lie three times as far apart: 3⁴ of the error.
        let allowed = match (row["fetch"].as_str(), row["spacing"].as_str()) {
            (_, Some("r2")) => 81e-6,
            (Some("image"), _) => 1e-5,
            _ => 1e-6,
        };
        assert!(number(&row["error"]["force"]) < allowed * number(&measured["largest"]["force"]), "{row}");
    }
    assert!(["r", "r2"].iter().all(|spacing| rows.iter().any(|row| row["spacing"] == *spacing)));
}

/// Two argon atoms so far apart, that fly at each other so fast.
fn pair(distance: f64, speed: f64) -> String {
    format!(
        "2\nLattice={{20 0 0 0 20 0 0 0 20}} Properties=species:S:1:pos:R:3:velo:R:3\n\
         Ar 1 2 3 {speed} 0 0\nAr {} 2 3 -{speed} 0 0\n",
        1.0 + distance
    )
}

#[test]
fn pairs_below_a_table_keep_the_energy_and_are_warned_of() {
    let folder = folder();
    let folder = folder.path();
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    write("hard.xyz", pair(4.0, 0.0354).replace("velo", "vel"));
    for (name, distance) in [("near.xyz", 2.4), ("left.xyz", 2.39), ("right.xyz", 2.41)] {
        write(name, pair(distance, 0.0));
    }
    let of_table = "--lj Ar=0.238,3.405 --cutoff 8.5 --table 4096 --range 2.5,9";
    for mode in ["potential", "derivative", "potential --spacing r2", "derivative --interpolation cubic"] {
        for device in ["--device host", "--precision double", "--precision mixed"] {
            let options = format!("{of_table} --mode {mode} {device}");
            let run = json(folder, &format!("md run hard.xyz {options} --step 0.25 --steps 240 --every 8"));
            let totals: Vec<f64> =
                run["rows"].as_array().unwrap().iter().map(|row| number(&row["total"])).collect();
            assert!(totals.iter().all(|total| (total - totals[0]).abs() < 0.1), "{options}: {totals:?}");
            let below = run["below_range"].as_u64().unwrap();
            assert!(below > 3, "{options}");
            let warning = run["warnings"][0].as_str().unwrap();
            assert!(
                warning.starts_with(&format!("{below} pairs, added over all steps, were nearer than 2.5"))
            );

            let [energy, left, right] = ["near", "left", "right"]
                .map(|name| json(folder, &format!("md forces {name}.xyz {options}")))
                .map(|found| [number(&found["energy"]), number(&found["force"]["largest"])]);
            let slope = (left[0] - right[0]) / 0.02;
            assert!((slope / energy[1] - 1.0).abs() < 1e-4, "{options}: {slope} {energy:?}");
        }
    }
    let options = format!("{of_table} --mode derivative --device host");
    let said = run(folder, &format!("md run hard.xyz {options} --step 0.25 --steps 240"), 0).1;
    assert!(said.contains("added over all steps, were nearer than 2.5, where the table begins"), "{said}");
    let said = run(folder, &format!("md forces near.xyz {options}"), 0).1;
    assert!(said.contains("1 pairs were nearer than 2.5"), "{said}");
    for line in [
        "md run hard.xyz --step 0.25 --steps 240",
        "md run near.xyz --step 1 --steps 1",
        "md forces near.xyz",
    ] {
        for options in [&options, &format!("{of_table} --mode potential --fetch buffer")] {
            let said = run(folder, &format!("{line} {options} --below-range stop"), 1).1;
            assert!(said.contains("atoms 1 and 2 are 2.4") && said.contains("nearer than 2.5"), "{said}");
            assert_eq!(said.contains("at step"), line.contains("run"), "{said}");
        }
    }
    let said = run(folder, "md forces near.xyz --lj Ar=0.238,3.405 --cutoff 8.5 --below-range stop", 2).1;
    assert!(said.contains("--below-range are for tables"), "{said}");
}

#[test]
fn a_table_has_one_error_in_every_command() {
    let folder = folder();
    let folder = folder.path();
    std::fs::write(folder.join("pair.xyz"), pair(4.0, 0.0).replace("Ar", "A")).unwrap();
    let measured = json(folder, "md table e2.table --section GOOD --samples 801 --device host");
    for mode in ["derivative", "potential"] {
        // The longest cutoff of the table, two samples and a half before its end.
        let options = format!("--potential e2.table --pair A-A=GOOD --cutoff 9.975 --mode {mode}");
        let found = json(folder, &format!("md forces pair.xyz {options} --device host"));
        let rows = measured["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["mode"] == mode).unwrap();
        for key in ["energy", "force"] {
            let [here, there] = [&found["table"]["error"][key], &row["error"][key]].map(number);
            assert!((here / there - 1.0).abs() < 1e-6, "{mode} {key}: {here} {there}");
            // Energies are 39 at most, and forces 78.
            assert!(here < 0.05, "{mode} {key}: {here}");
        }
    }
}

#[test]
fn units_of_files_are_converted_or_refused() {
    let folder = folder();
    let folder = folder.path();
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    write("pair.xyz", pair(4.0, 0.0).replace("Ar", "A"));
    let table = std::fs::read_to_string(folder.join("e2.table")).unwrap();
    for units in ["metal", "real", "lj", "martian"] {
        write(&format!("{units}.table"), format!("# DATE: 2026-01-01 UNITS: {units}\n{table}"));
    }
    let line = |units: &str| {
        format!("md forces pair.xyz --potential {units}.table --pair A-A=GOOD --cutoff 9 --device host")
    };
    let energy = |line: &str| number(&json(folder, line)["energy"]);
    let plain = energy(&line("e2"));
    assert_eq!(energy(&line("real")), plain);
    assert!((energy(&line("metal")) / plain - 23.060_547_83).abs() < 1e-6);
    assert_eq!(energy(&format!("{} --units lj", line("lj"))), plain);
    for line in [
        line("lj"),
        line("martian"),
        format!("{} --units lj", line("metal")),
        "md table lj.table --section GOOD --device host".to_owned(),
    ] {
        let said = run(folder, &line, 3).1;
        assert!(said.contains("line 1: the file has UNITS: ") && said.contains("units asked for"), "{said}");
    }
    let step = "--lj Ar=0.238,3.405 --lj X=0.238,3.405 --cutoff 8 --step 1 --steps 1 --device host";
    let kinetic =
        |options: &str| number(&json(folder, &format!("md run {options} {step}"))["rows"][0]["kinetic"]);
    write("velo.xyz", pair(4.0, 0.01));
    // 0.01 Å/fs of 39.948 u: 1 √(eV u) is 0.09822694 u Å/fs.
    let momentum = 0.01 * 39.948 / 0.098_226_94;
    write("momenta.xyz", pair(4.0, momentum).replace("velo", "momenta"));
    write("named.xyz", pair(4.0, momentum).replace("velo", "momenta").replace("Ar", "X"));
    let wanted = kinetic("velo.xyz");
    assert!((kinetic("momenta.xyz") / wanted - 1.0).abs() < 1e-6);
    assert!((kinetic("named.xyz --mass X=0.39948D+02") / wanted - 1.0).abs() < 1e-6);
    for (options, word) in [("named.xyz", "mass"), ("momenta.xyz --units lj", "momenta")] {
        let said = run(folder, &format!("md run {options} {step}"), 3).1;
        assert!(said.contains(word) && said.contains("momenta"), "{said}");
    }
    write("other.xyz", pair(4.0, 0.0).replace("velo", "Momentum"));
    assert!(
        run(folder, &format!("md run other.xyz {step}"), 3).1.contains("the property `Momentum` is not read")
    );
}

#[test]
fn words_of_files_come_to_a_terminal_without_control_characters() {
    let folder = folder();
    let folder = folder.path();
    let escape = "\u{1b}]0;owned\u{7}";
    let text = pair(4.0, 0.0);
    let table = std::fs::read_to_string(folder.join("e2.table")).unwrap();
    let lj = "--lj Ar=0.238,3.405 --cutoff 8 --device host";
    let pairs = "--potential odd.table --pair Ar-Ar=GOOD --cutoff 8 --device host";
    let mut cases = Vec::new();
    for (from, to) in [
        ("Ar 1", format!("{escape} 1")),
        ("Ar 1", format!("Ar {escape}")),
        ("Lattice", format!("pbc='T {escape}' Lattice")),
        ("20 0 0 0 20", format!("20 0 0 0 {escape}")),
        ("velo", format!("vel{escape}")),
        ("species", escape.to_owned()),
        ("Lattice={", format!("{escape}=\"x Lattice={{")),
        ("2\n", format!("{escape}\n")),
    ] {
        assert!(text.contains(from), "{from}");
        cases.push((text.replacen(from, &to, 1), table.clone(), lj));
    }
    for (from, to) in [
        ("GOOD", escape.to_owned()),
        ("N 801", format!("N {escape}")),
        ("1 2 ", format!("1 {escape} ")),
        ("GOOD", format!("# UNITS: {escape}\nGOOD")),
        ("1 2 ", format!("{escape} 2 ")),
    ] {
        assert!(table.contains(from), "{from}");
        cases.push((text.clone(), table.replacen(from, &to, 1), pairs));
    }
    for (atoms, table, options) in cases {
        std::fs::write(folder.join("odd.xyz"), atoms).unwrap();
        std::fs::write(folder.join("odd.table"), table).unwrap();
        let (out, said) = run(folder, &format!("md forces odd.xyz {options}"), 3);
        let shown = |c: char| !c.is_control() || c == '\n';
        assert!(out.chars().all(shown) && said.chars().all(shown), "{said:?}");
    }
}

#[test]
fn a_motion_that_is_killed_goes_on_in_the_same_bits() {
    let folder = folder();
    let folder = folder.path();
    let motion = |name: &str| {
        format!(
            "md run atoms.xyz {LJ} --shift force --temperature 90 --step 2 --steps 1500 --every 50 --trajectory {name}.xyz"
        )
    };
    let whole = json(folder, &format!("{} --plot energy.svg", motion("whole")));
    assert_eq!((whole["steps"].as_u64(), whole["rows"].as_array().unwrap().len()), (Some(1500), 31));
    assert!(number(&whole["drift"]["relative"]).abs() < 1e-3, "{}", whole["drift"]);
    assert!(folder.join("energy.svg").exists() && !folder.join("whole.xyz.part").exists());
    let line = format!("{} --checkpoint state --checkpoint-every 0s --json --quiet", motion("killed"));
    let mut kills = 0;
    let mut child = None;
    for _ in 0..3 {
        let mut running = std::process::Command::new(cargo_bin("cr-solve"))
            .current_dir(folder)
            .args(line.split_whitespace())
            .env("LATTICE_CL_NO_CACHE", "1")
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let changed = || std::fs::metadata(folder.join("state")).and_then(|data| data.modified()).ok();
        let (mut last, mut changes) = (changed(), 0);
        let begun = Instant::now();
        // The first state may be that of step 0.
        while changes < 2
            && begun.elapsed() < Duration::from_secs(60)
            && running.try_wait().unwrap().is_none()
        {
            let now = changed();
            changes += u32::from(now.is_some() && now != last);
            last = now;
            std::thread::sleep(Duration::from_millis(1));
        }
        kills += u32::from(running.try_wait().unwrap().is_none());
        running.kill().unwrap();
        child = Some(running.wait().unwrap());
        if child.is_some_and(|status| status.success()) {
            break;
        }
    }
    assert!(kills > 0, "no motion was killed: {child:?}");
    if folder.join("state").exists() {
        let last = json(folder, &line.replace(" --json --quiet", ""));
        assert_eq!(last["rows"], whole["rows"]);
        assert!(last["resumed_from"].as_u64() > Some(0));
    }
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert!(read("killed.xyz") == read("whole.xyz"), "the trajectories differ");
    assert!(!folder.join("state").exists());
}

#[test]
fn what_does_not_fit_is_refused_with_a_way_out() {
    let folder = folder();
    let folder = folder.path();
    let refused = |line: &str, status: i32, wanted: &[&str]| {
        let (_, said) = run(folder, &format!("{line} --device host"), status);
        assert!(wanted.iter().all(|words| said.contains(words)), "{line}: {said}");
    };
    refused(
        "md forces atoms.xyz --lj Ar=0.238,3.405 --cutoff 8",
        2,
        &["no potential is given for Kr", "--lj Kr="],
    );
    refused("md forces atoms.xyz --lj Ar=1,3 --lj Kr=1,3 --cutoff 11", 2, &["half the shortest edge"]);
    refused("md forces none.xyz --lj Ar=1,3 --cutoff 8", 3, &["none.xyz: cannot read it"]);
    std::fs::write(folder.join("bare.xyz"), "1\nno keys\nAr 0 0 0\n").unwrap();
    refused(
        "md forces bare.xyz --lj Ar=1,3 --cutoff 8",
        3,
        &["bare.xyz, line 2: the key `Lattice` is missing"],
    );
    let pairs = "md forces atoms.xyz --potential e2.table --pair Ar-Ar=GOOD";
    refused(&format!("{pairs} --cutoff 8"), 2, &["no section is given for Ar-Kr, Kr-Kr"]);
    refused(
        &format!("{pairs} --pair Ar-Kr=GOOD --pair Kr-Kr=NONE --cutoff 8"),
        3,
        &["no section `NONE`; there are: GOOD, WRONG"],
    );
    let all = "--pair Ar-Kr=GOOD --pair Kr-Kr=GOOD";
    refused(&format!("{pairs} {all} --cutoff 10"), 2, &["the table ends at 10"]);
    refused(&format!("{pairs} {all} --cutoff 8 --mode direct"), 2, &["--mode direct needs a formula"]);
    refused(&format!("md forces atoms.xyz {LJ} --mode derivative --table 3"), 2, &["at least 4"]);
    refused(&format!("md forces atoms.xyz {LJ} --interpolation cubic"), 2, &["are for tables", "--mode"]);
    std::fs::write(folder.join("odd.xyz"), particles(["Ar", "Xx"])).unwrap();
    let odd = "md run odd.xyz --lj Ar=0.238,3.405 --lj Xx=0.2,3.4 --cutoff 8 --step 2 --steps 10";
    refused(odd, 2, &["the mass of Xx is not known"]);
    refused(&format!("{odd} --mass Xx=40 --step 0"), 2, &[]);
    let fast = format!(
        "md run atoms.xyz {LJ} --temperature 1e9 --step 9 --steps 10 --trajectory t.xyz --checkpoint state"
    );
    let (_, said) = run(folder, &fast, 1);
    assert!(said.contains("in one step") && said.contains("take a shorter step"), "{said}");
    assert!(["t.xyz", "t.xyz.part", "state"].iter().all(|name| !folder.join(name).exists()));
    // Frames that an earlier run has left.
    std::fs::write(folder.join("t.xyz.part"), "frames").unwrap();
    let line = format!("md run atoms.xyz {LJ} --temperature 90 --step 1 --steps 2 --trajectory t.xyz");
    refused(&line, 2, &["t.xyz.part is there already"]);
    assert_eq!(std::fs::read_to_string(folder.join("t.xyz.part")).unwrap(), "frames");
    run(folder, &format!("{line} --force"), 0);
    let text = particles(["Ar", "Kr"]);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[9] = lines[4];
    std::fs::write(folder.join("twice.xyz"), lines.join("\n")).unwrap();
    refused(&format!("md forces twice.xyz {LJ}"), 3, &["atoms 3 and 8 overlap"]);
}

#[test]
fn amber_files_have_the_energy_of_the_reference() {
    let Some(shared) = shared() else { return };
    let reference = shared.join("reference/md");
    if !reference.is_dir() {
        return;
    }
    let found = json(&reference, "md forces argon.prmtop argon.inpcrd --cutoff 8.5 --precision double");
    assert!((number(&found["energy"]) / -726.5865516571745 - 1.0).abs() < 1e-9, "{found}");
    assert_eq!(found["types"][0], "T0");
}
