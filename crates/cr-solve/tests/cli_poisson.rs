//! `cr-solve poisson` and `cr-solve bench fft`, as a user runs them.

use crate::common;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use common::shared;
use lattice_cl::io::{CubeHeader, MeshFile};
use lattice_cl::scalar::Precision;
use serde_json::Value;
use std::f64::consts::PI;
use std::path::Path;

fn program() -> Command {
    let mut command = cargo_bin_cmd!("cr-solve");
    command.env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    command
}

/// Runs a command that must end so; returns standard output and standard error.
fn run(arguments: &[&str], status: i32) -> (String, String) {
    let output = program().args(arguments).output().unwrap();
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

const SHAPE: [usize; 3] = [24, 20, 26];
const STEP: f64 = 0.45;

/// Two Gaussians q (a/π)^{3/2} exp(−a r²) of opposite charge, about as far apart as the mesh allows.
fn gaussians() -> Vec<f64> {
    let centres = [([4.4, 4.5, 5.0], 1.0), ([6.2, 4.5, 6.4], -1.0)];
    let exponent = 1.3;
    let mut density = Vec::new();
    for l in 0..SHAPE.iter().product() {
        let point = [l / (SHAPE[1] * SHAPE[2]), l / SHAPE[2] % SHAPE[1], l % SHAPE[2]];
        let value = centres.iter().map(|(centre, charge)| {
            let square: f64 = (0..3).map(|k| (point[k] as f64 * STEP - centre[k]).powi(2)).sum();
            charge * (exponent / PI).powf(1.5) * (-exponent * square).exp()
        });
        density.push(value.sum());
    }
    density
}

/// erf(x) by its series, for x up to about 3.
fn erf(x: f64) -> f64 {
    let (mut sum, mut term) = (x, x);
    for k in 1..80 {
        term *= -x * x / f64::from(k);
        sum += term / f64::from(2 * k + 1);
    }
    2.0 / PI.sqrt() * sum
}

#[test]
fn a_cube_file_has_the_hartree_energy_of_its_formula() {
    let folder = tempfile::tempdir().unwrap();
    let [input, output, plot] =
        ["density.cube", "potential.cube", "potential.svg"].map(|name| folder.path().join(name));
    let cell =
        std::array::from_fn(|i| std::array::from_fn(|k| if i == k { STEP * SHAPE[i] as f64 } else { 0.0 }));
    let header = CubeHeader::of_cell(cell, SHAPE);
    MeshFile::write_cube(&input, &header, SHAPE, &gaussians()).unwrap();
    // Self-energies q² √(a/2π) each, and q q' erf(√(a/2) d)/d.
    let (a, distance) = (1.3_f64, (1.8_f64.powi(2) + 1.4_f64.powi(2)).sqrt());
    let wanted = 2.0 * (a / (2.0 * PI)).sqrt() - erf((a / 2.0).sqrt() * distance) / distance;
    for device in ["host", "auto"] {
        let arguments = ["poisson", text(&input), "--boundary", "isolated", "--device", device];
        let result =
            json(&[&arguments[..], &["-o", text(&output), "--plot", text(&plot), "--force"]].concat());
        let energy = result["energy"].as_f64().unwrap();
        assert!((energy / wanted - 1.0).abs() < 1e-6, "{energy} {wanted}");
        assert_eq!(result["stress"], Value::Null);
        assert!(result["charge"].as_f64().unwrap().abs() < 1e-9);
        let dipole: Vec<f64> =
            result["dipole"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        for (found, wanted) in dipole.iter().zip([-1.8, 0.0, -1.4]) {
            assert!((found - wanted).abs() < 1e-6, "{dipole:?}");
        }
        let potential = MeshFile::read(&output).unwrap();
        assert_eq!(potential.shape, SHAPE);
        let steps = potential.cube.unwrap().steps;
        let apart = steps.iter().flatten().zip(header.steps.iter().flatten()).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-12, "{steps:?}");
        let maximum = potential.values.iter().copied().fold(f64::MIN, f64::max);
        assert!((result["potential"]["maximum"].as_f64().unwrap() - maximum).abs() < 1e-12);
        assert!(std::fs::read_to_string(&plot).unwrap().contains("<polygon"));
    }
}

#[test]
fn arrays_are_read_and_written_in_both_orders() {
    let folder = tempfile::tempdir().unwrap();
    let [input, output, cell, clustered] =
        ["rho.npy", "v.npy", "cell.txt", "c.npy"].map(|name| folder.path().join(name));
    MeshFile::write_npy(&input, SHAPE, &gaussians(), Precision::Double).unwrap();
    std::fs::write(&cell, "11 0 0\n 1.5 9 0\n -1 0.5 12\n").unwrap();
    let common = ["poisson", text(&input), "--cell", text(&cell)];
    for precision in ["double", "single"] {
        let result =
            json(&[&common[..], &["--precision", precision, "-o", text(&output), "--force"]].concat());
        assert_eq!(result["precision"], precision);
        assert_eq!(result["input"]["cell"][1][0], 1.5);
        let sum: f64 = MeshFile::read(&output).unwrap().values.iter().sum();
        assert!(sum.abs() < 1e-2, "the mean is zero");
    }
    let nine = "11 0 0 1.5 9 0 -1 0.5 12";
    let arguments =
        ["poisson", text(&input), "--cell", nine, "--layout", "clustered:2", "-o", text(&clustered)];
    assert_eq!(json(&arguments)["input"]["layout"], "clustered:2");
    let left = json(&["poisson", text(&input), "--cell", "0 9 0  9 0 0  0 0 9"]);
    assert!(left["warnings"][0].as_str().unwrap().contains("left hand"));
    let rydberg = json(&[&common[..], &["--units", "rydberg"]].concat());
    let hartree = json(&common);
    let ratio = rydberg["energy"].as_f64().unwrap() / hartree["energy"].as_f64().unwrap();
    assert!((ratio - 2.0).abs() < 1e-12);
    let cut = json(&[&common[..], &["--cutoff", "sphere"]].concat());
    assert!(cut["cutoff"]["g2max"].as_f64().unwrap() > 1.0);
    for slabs in ["--out-of-core", "--out-of-core=1"] {
        let apart = json(&[&common[..], &["--layout", "clustered:2", slabs]].concat());
        let whole = json(&[&common[..], &["--layout", "clustered:2"]].concat());
        let ratio = apart["energy"].as_f64().unwrap() / whole["energy"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 1e-12, "{slabs}");
    }
    let printed = run(&[&common[..], &["--stress", "density"]].concat(), 0).0;
    assert!(printed.contains("stress, fixed density") && !printed.contains("fixed charge"), "{printed}");
}

#[test]
fn an_archive_is_verified() {
    let Some(folder) = shared() else { return };
    let file = folder.join("reference/poisson/random.npz");
    if !file.exists() {
        common::skipped(&format!("there is no {}", file.display()));
        return;
    }
    let result = json(&["poisson", text(&file), "--verify", "potential"]);
    assert_eq!(result["verification"]["passed"], true);
    assert!(result["warnings"][0].as_str().unwrap().contains("net charge"));
    let (out, _) = run(&["poisson", text(&file), "--verify", "rho"], 1);
    assert!(out.contains("failed"), "{out}");
    let (_, said) = run(&["poisson", text(&file), "--verify", "phi"], 3);
    assert!(said.contains("has no array `phi`; its arrays are: rho, cell, potential"), "{said}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [array, cube, output] = ["rho.npy", "bad.cube", "v.npy"].map(|name| folder.path().join(name));
    MeshFile::write_npy(&array, [4, 6, 8], &[0.5; 192], Precision::Single).unwrap();
    std::fs::write(&cube, "a\nb\n 0 0 0 0\n 2 1 0 0\n 1 0 1 0\n 1 0 0 1\n 1.0 2.0 3.0\n").unwrap();
    let nine = "9 0 0  1 9 0  0 0 9";
    let of = |more: &[&'static str]| [&["poisson", text(&array)][..], more].concat();
    let cases: [(Vec<&str>, i32, &str); 13] = [
        (of(&[]), 2, "has no cell"),
        (of(&["--cell", "1 2 3"]), 2, "neither nine numbers nor a file"),
        (of(&["--cell", "1 0 0 2 0 0 0 0 1"]), 2, "the cell has no volume"),
        (of(&["--cell", "nan 0 0 0 1 0 0 0 1"]), 2, "not finite"),
        (of(&["--cell", nine, "--boundary", "isolated"]), 2, "right angles"),
        (
            of(&["--cell", "9 0 0 0 9 0 0 0 9", "--boundary", "isolated", "--out-of-core"]),
            2,
            "leave out-of-core transforms to periodic cells",
        ),
        (
            of(&["--cell", nine, "--layout", "clustered:4"]),
            2,
            "clustered:4 does not divide extent 6 of axis 2",
        ),
        (of(&["--cell", nine, "--layout", "clustered:x"]), 2, "clustered:N"),
        (of(&["--cell", nine, "-o", "v.txt"]), 2, "does not end in .cube or .npy"),
        (of(&["--cell", nine, "--plot", "v.png"]), 2, "plots are SVG"),
        (vec!["poisson", text(&cube)], 3, "has more than 2 values, and the mesh of its header 2"),
        (vec!["poisson", text(&cube), "-o", text(&cube)], 2, "would overwrite the input"),
        (vec!["poisson", text(&output)], 3, "cannot open the file"),
    ];
    for (arguments, status, wanted) in cases {
        let (_, said) = run(&[&arguments[..], &["--device", "host"]].concat(), status);
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
    assert!(!output.exists());
}

#[test]
fn transforms_are_checked_and_measured() {
    let sizes = "30x7x12,34";
    let arguments =
        ["bench", "fft", "--quick", "--seconds", "0.01", "--samples", "3", "--sizes", sizes, "--batch", "2"];
    let result = json(&arguments);
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(rows.len() % 12, 0, "two sizes, two precisions, three kinds on each device");
    for row in rows {
        assert_eq!((&row["benchmark"], &row["checked"]), (&"fft".into(), &true.into()));
        assert!(row["gb_s"].as_f64().unwrap() > 0.0 && row["gflops"].as_f64().unwrap() > 0.0);
    }
    let c2c =
        rows.iter().find(|row| row["kernel"] == "c2c" && row["parameters"]["precision"] == "d").unwrap();
    assert_eq!(c2c["bytes"], 2 * 3 * 16 * 2 * 30 * 7 * 12);
}
