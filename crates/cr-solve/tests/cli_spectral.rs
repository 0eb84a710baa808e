//! `cr-solve eigen` and `svd`, as a user runs them.

use assert_cmd::cargo::cargo_bin_cmd;
use lattice_cl::io::{DenseMatrix, MatrixElements};
use lattice_cl::scalar::Precision;
use num_complex::Complex64;
use serde_json::Value;
use std::time::Duration;
use tempfile::TempDir;

/// Runs the program, and returns its status, its result and its messages.
fn run(folder: &TempDir, line: &str) -> (i32, String, String) {
    let mut command = cargo_bin_cmd!("cr-solve");
    // Generous: only a hang shall end here.
    command.current_dir(folder).timeout(Duration::from_secs(300)).args(line.split_whitespace());
    command.env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(!stderr.contains("panicked"), "{line}: {stderr}");
    (output.status.code().expect("the program ends by itself"), stdout, stderr)
}

#[track_caller]
fn json(folder: &TempDir, line: &str) -> Value {
    let (status, stdout, stderr) = run(folder, &format!("{line} --json"));
    assert_eq!(status, 0, "{line}: {stderr}");
    serde_json::from_str(&stdout).unwrap()
}

#[track_caller]
fn assert_refused(folder: &TempDir, line: &str, wanted: i32, words: &[&str]) {
    let (status, _, stderr) = run(folder, line);
    assert_eq!(status, wanted, "{line}: {stderr}");
    words.iter().for_each(|word| assert!(stderr.contains(word), "{line}: `{word}` is not in: {stderr}"));
}

fn write(folder: &TempDir, name: &str, [rows, columns]: [usize; 2], elements: MatrixElements) {
    let matrix = DenseMatrix { rows, columns, elements, precision: Precision::Double };
    matrix.write(folder.path().join(name), "").unwrap();
}

fn read(folder: &TempDir, name: &str) -> DenseMatrix {
    DenseMatrix::read(folder.path().join(name)).unwrap()
}

fn values(result: &Value) -> Vec<f64> {
    result["values"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// The second difference with phases along the way, which has known eigenvalues.
fn hermitian(n: usize) -> Vec<Complex64> {
    let element = |k: usize| match (k / n, k % n) {
        (i, j) if i == j => 2.0.into(),
        (i, j) if i + 1 == j => Complex64::i(),
        (i, j) if i == j + 1 => -Complex64::i(),
        _ => Complex64::default(),
    };
    (0..n * n).map(element).collect()
}

#[test]
fn eigenvalues_and_their_vectors_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let n = 23;
    write(&folder, "a.npy", [n, n], MatrixElements::Complex(hermitian(n)));
    let known = |k: usize| {
        let angle = std::f64::consts::PI * (k + 1) as f64 / (2 * (n + 1)) as f64;
        4.0 * angle.sin().powi(2)
    };
    for device in ["host", "auto"] {
        let line = format!("eigen a.npy --vectors v.npy --force --device {device}");
        let result = json(&folder, &line);
        assert_eq!(result["matrix"]["rows"], n);
        for (k, value) in values(&result).iter().enumerate() {
            assert!((value - known(k)).abs() < 1e-13, "{device}, {k}: {value}");
        }
        assert!(result["residual"].as_f64().unwrap() < 10.0, "{result}");
        assert!(result["orthogonality"].as_f64().unwrap() < 10.0, "{result}");
        let v = read(&folder, "v.npy");
        assert_eq!((v.rows, v.columns), (n, n));
        // A v = λ v, row by row.
        for (k, value) in values(&result).iter().enumerate() {
            for i in 0..n {
                let at = |i: usize| v.at(i, k);
                let mut image = 2.0 * at(i);
                image += if i + 1 < n { Complex64::i() * at(i + 1) } else { 0.0.into() };
                image -= if i > 0 { Complex64::i() * at(i - 1) } else { 0.0.into() };
                assert!((image - value * at(i)).norm() < 1e-13, "{device}, {k}, {i}");
            }
        }
        let line = format!(
            "eigen a.npy --range 3:5 --precision single --vectors part.npy --force --device {device}"
        );
        let part = json(&folder, &line);
        assert_eq!((&part["first"], values(&part).len()), (&Value::from(3), 2));
        assert!((values(&part)[0] - known(3)).abs() < 1e-5, "{part}");
        let vectors = read(&folder, "part.npy");
        assert_eq!((vectors.rows, vectors.columns, vectors.precision), (n, 2, Precision::Single));
    }
    let (status, stdout, _) = run(&folder, "eigen a.npy --device host");
    assert!(
        status == 0 && stdout.contains("eigenvalues") && stdout.contains("--json prints all"),
        "{stdout}"
    );
}

#[test]
fn singular_values_and_their_vectors_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, rows, columns) in [("tall.npy", 9, 4), ("wide.mtx", 3, 70), ("square.npy", 66, 66)] {
        let number = |k: usize| (0.7 * (k * k % 9973) as f64).sin();
        let elements = MatrixElements::Real((0..rows * columns).map(number).collect());
        write(&folder, name, [rows, columns], elements);
        let a = read(&folder, name);
        let fewer = rows.min(columns);
        for device in ["host", "auto"] {
            let line = format!("svd {name} --u u.npy --vt vt.npy --force --device {device}");
            let result = json(&folder, &line);
            assert!(result["residual"].as_f64().unwrap() < 10.0, "{result}");
            assert!(result["orthogonality"].as_f64().unwrap() < 10.0, "{result}");
            assert_eq!(result["rank"], fewer);
            let (u, vt, values) = (read(&folder, "u.npy"), read(&folder, "vt.npy"), values(&result));
            assert_eq!((u.rows, u.columns, vt.rows, vt.columns), (rows, fewer, fewer, columns));
            for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                let sum: Complex64 = (0..fewer).map(|k| u.at(i, k) * values[k] * vt.at(k, j)).sum();
                assert!((sum - a.at(i, j)).norm() < 1e-12, "{name} on {device}: {i}, {j}");
            }
            let alone = json(&folder, &format!("svd {name} --method jacobi --device {device}"));
            assert!(alone["residual"].is_null());
            assert!((alone["values"][0].as_f64().unwrap() - values[0]).abs() < 1e-12);
        }
    }
}

#[test]
fn values_on_the_host_have_the_scale_of_their_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let n = 12;
    let real = hermitian(n).iter().map(|z| (z.re + z.im.abs()).into()).collect();
    for (elements, line) in [
        (hermitian(n), "eigen a.npy --vectors v.npy"),
        (real, "eigen a.npy --vectors v.npy"),
        (hermitian(n)[..6 * n].to_vec(), "svd a.npy --u u.npy --vt vt.npy"),
    ] {
        let scaled = |scale: f64| {
            let elements = elements.iter().map(|z| z * scale).collect::<Vec<Complex64>>();
            let rows = elements.len() / n;
            let is_real = elements.iter().all(|z| z.im == 0.0);
            let all = if is_real {
                MatrixElements::Real(elements.iter().map(|z| z.re).collect())
            } else {
                MatrixElements::Complex(elements)
            };
            write(&folder, "a.npy", [rows, n], all);
            json(&folder, &format!("{line} --force --device host"))
        };
        let expected = values(&scaled(1.0));
        let largest = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for scale in [1e-310, 1e-300, 1e-170, 1e-155, 1e154, 1e160, 1e300, 1e307] {
            let result = scaled(scale);
            for ratio in ["residual", "orthogonality"] {
                assert!(result[ratio].as_f64().unwrap() < 10.0, "{line} {scale:e}: {result}");
            }
            for (found, expected) in values(&result).iter().zip(&expected) {
                let found = found / scale;
                assert!((found - expected).abs() < 1e-12 * largest, "{line} {scale:e}: {found} {expected}");
            }
        }
    }
}

#[test]
fn matrices_of_small_rank_have_values_on_the_host() {
    let folder = tempfile::tempdir().unwrap();
    for (name, shape, elements, rank) in [
        ("ones", [6, 21], vec![1.0; 126], 1),
        ("tall ones", [40, 30], vec![1.0; 1200], 1),
        ("zeros", [3, 4], vec![0.0; 12], 0),
        ("a row", [1, 5], (0..5).map(f64::from).collect(), 1),
        ("a column", [5, 1], (0..5).map(f64::from).collect(), 1),
        ("sums", [7, 5], (0..35).map(|k| f64::from(k / 5 + k % 5)).collect(), 2),
        ("the smallest numbers", [3, 3], vec![5e-324; 9], 1),
    ] {
        write(&folder, "a.npy", shape, MatrixElements::Real(elements));
        let result = json(&folder, "svd a.npy --u u.npy --vt vt.npy --force --device host");
        assert_eq!(result["rank"], rank, "{name}: {result}");
        for ratio in ["residual", "orthogonality"] {
            assert!(result[ratio].as_f64().unwrap() < 30.0, "{name}: {result}");
        }
        if shape[0] == shape[1] {
            let result = json(&folder, "eigen a.npy --vectors v.npy --force --device host");
            assert!(result["orthogonality"].as_f64().unwrap() < 30.0, "{name}: {result}");
        }
    }
    // Values beyond all numbers are no result.
    write(&folder, "a.npy", [2, 2], MatrixElements::Real(vec![1.7e308; 4]));
    for line in ["svd a.npy --u none.npy", "eigen a.npy --vectors none.npy"] {
        assert_refused(&folder, &format!("{line} --device host"), 1, &["values", "infinite", "power of ten"]);
        assert!(!folder.path().join("none.npy").exists(), "{line}");
    }
}

#[test]
fn other_matrices_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let real = |numbers: &[f64]| MatrixElements::Real(numbers.to_vec());
    write(&folder, "wide.npy", [2, 3], real(&[1.0; 6]));
    write(&folder, "skew.npy", [2, 2], real(&[1.0, 2.0, 2.5, 1.0]));
    write(&folder, "nan.npy", [2, 2], real(&[1.0, 2.0, f64::NAN, 1.0]));
    write(&folder, "good.npy", [2, 2], real(&[1.0, 2.0, 2.0, 1.0]));
    let whole = std::fs::read(folder.path().join("good.npy")).unwrap();
    std::fs::write(folder.path().join("cut.npy"), &whole[..whole.len() - 5]).unwrap();
    let host = "--device host";
    assert_refused(&folder, &format!("eigen wide.npy {host}"), 3, &["2×3", "square", "cr-solve svd"]);
    let words = ["not Hermitian", "(1, 0) is 2.5", "(0, 1) is 2", "2.0e-1", "(A + Aᴴ)/2"];
    assert_refused(&folder, &format!("eigen skew.npy {host}"), 3, &words);
    for command in ["eigen", "svd"] {
        assert_refused(&folder, &format!("{command} nan.npy {host}"), 3, &["nan.npy", "(1, 0)", "finite"]);
        assert_refused(
            &folder,
            &format!("{command} cut.npy {host}"),
            3,
            &["cut.npy", "32 bytes", "write the file again"],
        );
        assert_refused(&folder, &format!("{command} no.npy {host}"), 3, &["no.npy"]);
    }
    assert_refused(&folder, &format!("eigen good.npy --range 1:3 {host}"), 2, &["1:3", "2 eigenvalues"]);
    assert_refused(&folder, &format!("eigen good.npy --range 2:1 {host}"), 2, &["as in 0:10"]);
    assert_refused(&folder, &format!("eigen good.npy --vectors v.txt {host}"), 2, &["v.txt", ".npy"]);
    assert_refused(
        &folder,
        &format!("svd good.npy --u good.npy {host}"),
        2,
        &["--u good.npy", "would overwrite the input"],
    );
    let result = json(&folder, &format!("eigen good.npy {host}"));
    assert!((values(&result)[0] + 1.0).abs() < 1e-15 && (values(&result)[1] - 3.0).abs() < 1e-15);
}
