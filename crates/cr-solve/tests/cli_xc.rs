//! `cr-solve xc`, as a user runs it.

use crate::common;

use assert_cmd::cargo::cargo_bin_cmd;
use common::shared;
use lattice_cl::io::NumberArray;
use serde_json::Value;
use std::path::Path;

/// Runs a command that must end so; returns standard output and standard error.
fn run(arguments: &[&str], status: i32) -> (String, String) {
    let mut command = cargo_bin_cmd!("cr-solve");
    command.env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    let output = command.args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {out}{said}");
    (out, said)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&run(&[arguments, &["--json", "--quiet"]].concat(), 0).0).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A hydrogen molecule with one s function on each atom, doubly occupied.
const HYDROGEN: &str = "[Molden Format]\n[Atoms] AU\nH 1 1 0 0 0\nH 2 1 0 0 1.4\n[GTO]\n1 0\ns 3 1.0\n3.42525 0.154329\n\
                        0.623914 0.535328\n0.168855 0.444635\n\n2 0\ns 3 1.0\n3.42525 0.154329\n0.623914 0.535328\n\
                        0.168855 0.444635\n\n[MO]\nEne= -0.5\nSpin= Alpha\nOccup= 2.0\n1 0.548934\n2 0.548934\n";

#[test]
fn a_molden_file_has_an_energy_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let [input, matrix, gradient] = ["h2.molden", "v.npy", "g.npy"].map(|name| folder.path().join(name));
    std::fs::write(&input, HYDROGEN).unwrap();
    let outputs = ["--matrix", text(&matrix), "--gradient", text(&gradient), "--force"];
    let mut energies = Vec::new();
    for device in ["host", "auto"] {
        let arguments = ["xc", text(&input), "--functional", "svwn5", "--grid", "60x302", "--device", device];
        let result = json(&[&arguments[..], &outputs].concat());
        assert!((result["electrons"][0].as_f64().unwrap() - 2.0).abs() < 1e-5, "{result}");
        assert_eq!(result["warnings"].as_array().unwrap().len(), 0, "{result}");
        assert_eq!(result["grid"]["points"], 2 * 60 * 302);
        assert_eq!(result["molecule"]["electrons_expected"], 2.0);
        energies.push(result["energy"].as_f64().unwrap());
        let matrix = NumberArray::read_npy(&matrix).unwrap();
        assert_eq!(matrix.shape, [2, 2]);
        // D has the square of the one coefficient everywhere.
        let trace: f64 = matrix.values.iter().map(|v| 2.0 * 0.548934 * 0.548934 * v).sum();
        assert!((trace - result["trace_dv"].as_f64().unwrap()).abs() < 1e-12);
        let gradient = NumberArray::read_npy(&gradient).unwrap();
        assert_eq!(gradient.shape, [2, 3]);
        // Both atoms are alike.
        assert!((gradient.values[2] + gradient.values[5]).abs() < 1e-9, "{gradient:?}");
    }
    assert!((energies[0] - energies[1]).abs() < 1e-12);
    let text = run(&["xc", text(&input), "--grid", "20x50", "--iterations", "2", "--device", "0.0,0.0"], 0).0;
    assert!(text.contains("imbalance"), "{text}");
}

#[test]
fn what_a_file_does_otherwise_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("h2.molden");
    // The same coefficients times the norms of the primitives, (2a/π)^(3/4).
    let mut lines: Vec<String> = HYDROGEN.lines().map(str::to_owned).collect();
    let orbitals = lines.iter().position(|line| line == "[MO]").unwrap();
    for line in &mut lines[..orbitals] {
        let numbers: Vec<Option<f64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
        if let [Some(exponent), Some(coefficient)] = numbers[..]
            && line.contains('.')
        {
            let norm = (2.0 * exponent / std::f64::consts::PI).powf(0.75);
            *line = format!("{exponent} {}", coefficient * norm);
        }
    }
    let line = ["xc", text(&input), "--grid", "60x302", "--device", "host"];
    std::fs::write(&input, HYDROGEN).unwrap();
    let (wanted, said) = (json(&line)["energy"].as_f64().unwrap(), run(&line, 0).1);
    assert!(!said.contains("ORCA"), "{said}");
    std::fs::write(&input, lines.join("\n")).unwrap();
    assert!((json(&line)["energy"].as_f64().unwrap() - wanted).abs() < 1e-9);
    let said = run(&line, 0).1;
    assert!(said.contains("contain their norms, as those of ORCA"), "{said}");
}

#[test]
fn every_precision_gives_the_energy_and_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("h2.molden");
    std::fs::write(&input, HYDROGEN).unwrap();
    let energy = |precision: &str| {
        let line = ["xc", text(&input), "--grid", "20x50", "--device", "auto", "--precision", precision];
        let result = json(&line);
        assert_eq!(result["precision"], precision, "{result}");
        result["energy"].as_f64().unwrap()
    };
    let wanted = energy("double");
    for precision in ["mixed", "single"] {
        assert!((energy(precision) - wanted).abs() < 1e-6, "{precision}");
    }
}

#[test]
fn stages_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("h2.molden");
    std::fs::write(&input, HYDROGEN).unwrap();
    let line = "--grid 10x50 --cube 2.5 --precision double --samples 1 --seconds 0.01 --device 0.0,0.0";
    let line: Vec<&str> = ["bench", "xc", text(&input)].into_iter().chain(line.split(' ')).collect();
    let result = json(&line);
    let rows = result["rows"].as_array().unwrap();
    // An evaluation and seven stages on each device, and an evaluation on both.
    assert_eq!(rows.len(), 2 * 8 + 1, "{result}");
    for row in rows {
        assert_eq!((row["benchmark"].as_str(), row["checked"].as_bool()), (Some("xc"), Some(true)), "{row}");
        assert!(row["wall_seconds"]["median"].as_f64().unwrap() > 0.0, "{row}");
    }
    assert!(rows[0]["details"]["groups"].as_u64().unwrap() > 0);
    assert!(rows[16]["details"]["imbalance"].as_f64().is_some(), "{}", rows[16]);
}

#[test]
fn the_reference_values_are_verified() {
    let Some(folder) = shared().map(|folder| folder.join("reference/xc")).filter(|folder| folder.is_dir())
    else {
        return;
    };
    let file = folder.join("h2o.npz");
    let result = json(&["xc", text(&file), "--verify"]);
    let checks = result["verification"].as_array().unwrap();
    assert_eq!(checks.len(), 6, "{result}");
    assert!((result["energy"].as_f64().unwrap() + 9.269145666011879).abs() < 1e-10);
}

#[test]
fn bad_input_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [input, density] = ["h2.molden", "dm.npy"].map(|name| folder.path().join(name));
    std::fs::write(&input, HYDROGEN).unwrap();
    let refused = |more: &[&str], status: i32, wanted: &str| {
        let said = run(&[&["xc", text(&input), "--device", "host"], more].concat(), status).1;
        assert!(said.contains(wanted), "{more:?}: {said}");
    };
    refused(&["--grid", "2x50"], 1, "electrons on the grid, 2 expected: the grid is too coarse");
    refused(&["--functional", "b3lyp"], 2, "choose svwn5, spw92 or pbe");
    refused(&["--grid", "50"], 2, "radial and angular points are wanted");
    refused(&["--grid", "50x300"], 2, "no rule with 300 angular points; choose one of 50, 110");
    refused(&["--screen=-1"], 2, "the screen is -1");
    refused(&["--memory", "4X"], 2, "bytes are wanted");
    refused(&["--verify", "--grid", "10x50"], 2, "has no array vxc_NAME");
    refused(&["--matrix", text(&input)], 2, "would overwrite the input");
    let write =
        |shape: Vec<usize>, values: Vec<f64>| NumberArray { shape, values }.write_npy(&density).unwrap();
    write(vec![3, 3], vec![0.0; 9]);
    refused(&["--density", text(&density)], 3, "has the shape (3, 3); the basis has 2 functions");
    write(vec![2, 2], vec![1.0, 0.5, 0.25, 1.0]);
    refused(&["--density", text(&density)], 3, "differ by 0.25");
    write(vec![2, 2], vec![1.0, 0.0, 0.0, 1.0]);
    write(vec![2, 2, 2], vec![0.0; 8]);
    refused(
        &["--density", text(&density)],
        3,
        "that of two spins, but the molecule of this file has no unpaired",
    );
    write(vec![2, 2], vec![1.0, 0.0, 0.0, 1.0]);
    // A density that has too few electrons gets a warning.
    let said =
        run(&["xc", text(&input), "--density", text(&density), "--grid", "30x50", "--device", "host"], 0);
    assert!(
        said.1.contains("electrons on the grid, 2 expected") || said.0.contains("2 expected"),
        "{said:?}"
    );
    std::fs::write(&input, "something else").unwrap();
    refused(&[], 3, "is neither a Molden file nor an .npz file");
}
