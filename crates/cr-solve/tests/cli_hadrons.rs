//! Sources, smearing and hadrons of `cr-solve spectrum` and `invert` as a user asks for them.

mod common;

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
    let mut found = json(folder, line);
    let schema = include_str!("../../../schema/spectrum.json");
    // `run` adds the job.
    found.as_object_mut().unwrap().remove("job");
    assert_valid(&serde_json::from_str(schema).unwrap(), &found);
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

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder();
    for (options, status, words) in [
        ("--hadrons mesons,octett", 2, &["octett", "mesons, octet, decuplet, currents"][..]),
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
