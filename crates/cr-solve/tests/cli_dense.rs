//! `cr-solve solve` and `least-squares` with dense matrices, as a user runs them.

use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use lattice_cl::io::{DenseMatrix, MatrixElements};
use lattice_cl::scalar::Precision;
use num_complex::Complex64;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Runs the program on the host, unless the line names a device; expects a status and words of its messages.
#[track_caller]
fn run(folder: &TempDir, line: &str, status: i32, words: &[&str]) -> String {
    let mut command = cargo_bin_cmd!("cr-solve");
    command.current_dir(folder).timeout(Duration::from_secs(300)).args(line.split_whitespace());
    if !line.contains("--device") {
        command.args(["--device", "host"]);
    }
    command.env("POCL_DEVICES", "pthread pthread");
    command.env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(status), "{line}: {stderr}");
    for word in words {
        assert!(stderr.contains(word), "{line}: `{word}` is not in: {stderr}");
    }
    stdout
}

#[track_caller]
fn json(folder: &TempDir, line: &str) -> Value {
    serde_json::from_str(&run(folder, &format!("{line} --json"), 0, &[])).unwrap()
}

/// Writes a matrix as complex numbers, or as real ones if all imaginary parts are zero.
fn write(
    folder: &TempDir,
    name: &str,
    rows: usize,
    columns: usize,
    element: impl Fn(usize, usize) -> Complex64,
) -> DenseMatrix {
    let all: Vec<Complex64> = (0..rows * columns).map(|k| element(k / columns, k % columns)).collect();
    let elements = if all.iter().all(|z| z.im == 0.0) {
        MatrixElements::Real(all.iter().map(|z| z.re).collect())
    } else {
        MatrixElements::Complex(all)
    };
    let matrix = DenseMatrix { rows, columns, elements, precision: Precision::Double };
    matrix.write(folder.path().join(name), "").unwrap();
    matrix
}

fn read(folder: &TempDir, name: &str) -> DenseMatrix {
    DenseMatrix::read(folder.path().join(name)).unwrap()
}

/// The largest element of B − A X.
fn rest(a: &DenseMatrix, x: &DenseMatrix, b: &DenseMatrix) -> f64 {
    let mut most: f64 = 0.0;
    for i in 0..a.rows {
        for side in 0..b.columns {
            let product: Complex64 = (0..a.columns).map(|j| a.at(i, j) * x.at(j, side)).sum();
            most = most.max((b.at(i, side) - product).norm());
        }
    }
    most
}

/// A number without a pattern, of order one.
fn number(i: usize, j: usize, complex: bool) -> Complex64 {
    let phase = 0.9 * i as f64 + 2.3 * j as f64 + 0.37 * (i * j) as f64;
    Complex64::new(phase.sin(), if complex { (1.7 * phase).cos() } else { 0.0 })
}

/// An element of a Hermitian, positive definite matrix of 37 rows.
fn positive(i: usize, j: usize, complex: bool) -> Complex64 {
    match i.cmp(&j) {
        std::cmp::Ordering::Equal => 25.0.into(),
        std::cmp::Ordering::Less => number(i, j, complex) / 2.0,
        std::cmp::Ordering::Greater => number(j, i, complex).conj() / 2.0,
    }
}

const N: usize = 37;
const PLACES: [&str; 3] = ["host", "0.0", "0.0,0.1"];

#[test]
fn systems_are_solved_by_the_factors_that_suit_the_matrix() {
    let folder = tempfile::tempdir().unwrap();
    for complex in [false, true] {
        let b = write(&folder, "b.npy", N, 3, |i, j| number(i + 50, j, complex));
        let definite = write(&folder, "definite.npy", N, N, |i, j| positive(i, j, complex));
        let indefinite = write(&folder, "indefinite.npy", N, N, |i, j| match i == j {
            true => 0.25.into(),
            false => positive(i, j, complex),
        });
        let general = write(&folder, "general.npy", N, N, |i, j| number(i, j, complex) + f64::from(i == j));
        for place in PLACES {
            for (name, a, method, symmetry, attempts) in [
                ("definite", &definite, "cholesky", if complex { "hermitian" } else { "symmetric" }, 1),
                ("indefinite", &indefinite, "lu", if complex { "hermitian" } else { "symmetric" }, 2),
                ("general", &general, "lu", "general", 1),
            ] {
                let line = format!("solve {name}.npy --rhs b.npy -o x.npy --force --device {place}");
                let result = json(&folder, &line);
                assert_eq!(
                    (&result["method"], &result["matrix"]["symmetry"]),
                    (&method.into(), &symmetry.into())
                );
                assert_eq!(result["attempts"].as_array().unwrap().len(), attempts, "{line}");
                assert!(result["residual"]["true"].as_f64().unwrap() < 1e-13, "{line}: {result}");
                assert!(result["residual"]["backward_error"].as_f64().unwrap() < 1e-14, "{line}: {result}");
                assert_eq!(result["matrix"]["condition_estimate"].is_f64(), place == "0.0", "{line}");
                let x = read(&folder, "x.npy");
                assert_eq!((x.rows, x.columns), (N, 3));
                assert!(rest(a, &x, &b) < 1e-12, "{line}");
            }
        }
    }
}

#[test]
fn methods_and_precisions_are_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let a = write(&folder, "a.npy", N, N, |i, j| positive(i, j, false));
    let ones = write(&folder, "ones.mtx", N, 1, |_, _| 1.0.into());
    for method in ["cholesky", "lu", "qr", "cg", "minres"] {
        let line = format!("solve a.npy --method {method} -o x.mtx --force --device 0.0 --tol 1e-12");
        let result = json(&folder, &line);
        assert_eq!(result["method"], method);
        assert!(rest(&a, &read(&folder, "x.mtx"), &ones) < 1e-10, "{line}");
    }
    for method in ["cholesky", "lu"] {
        let line = format!("solve a.npy --method {method} --factor-precision single --device 0.0");
        let result = json(&folder, &line);
        assert!(result["refinement"]["steps"].as_u64().unwrap() > 0, "{result}");
        assert!(result["residual"]["true"].as_f64().unwrap() < 1e-13, "{result}");
    }
    // By blocks, as for a matrix that a device has no room for.
    let line = "solve a.npy --method lu --memory 1K -o blocks.npy --device 0.0";
    assert!(json(&folder, line)["residual"]["true"].as_f64().unwrap() < 1e-13);
    run(&folder, "solve a.npy --method lu -o whole.npy --device 0.0", 0, &[]);
    let (blocks, whole) = (read(&folder, "blocks.npy"), read(&folder, "whole.npy"));
    assert!((0..N).all(|i| (blocks.at(i, 0) - whole.at(i, 0)).norm() < 1e-14));
}

#[test]
fn solutions_on_the_host_have_the_scale_of_their_matrix() {
    let folder = tempfile::tempdir().unwrap();
    for complex in [false, true] {
        write(&folder, "b.npy", N, 1, |i, j| number(i + 50, j, complex));
        for (line, columns) in [
            ("solve a.npy --method lu", N),
            ("solve a.npy --method qr", N),
            ("solve a.npy --method cholesky", N),
            ("least-squares a.npy", N - 20),
        ] {
            let solution = |scale: f64| {
                write(&folder, "a.npy", N, columns, |i, j| positive(i, j, complex) * scale);
                let result = json(&folder, &format!("{line} --rhs b.npy -o x.npy --force"));
                assert_eq!(result["converged"], true, "{line} {scale:e}: {result}");
                let residual = &result["residual"];
                if columns == N {
                    assert!(residual["true"].as_f64().unwrap() < 1e-13, "{line} {scale:e}: {result}");
                } else {
                    assert!(residual["normal"].as_f64().unwrap() < 1e-13, "{line} {scale:e}: {result}");
                }
                let x = read(&folder, "x.npy");
                (0..columns).map(|k| x.at(k, 0) * scale).collect::<Vec<Complex64>>()
            };
            let expected = solution(1.0);
            for scale in [1e-300, 1e-200, 1e-160, 1e154, 1e200, 1e300] {
                let found = solution(scale);
                let apart = |(a, b): (&Complex64, &Complex64)| (a - b).norm();
                assert!(found.iter().zip(&expected).map(apart).all(|x| x < 1e-13), "{line} {scale:e}");
            }
        }
    }
    // A solution beyond all numbers is no result.
    write(&folder, "a.npy", 2, 2, |i, j| (f64::from(u8::from(i == j)) * 1e-300).into());
    write(&folder, "b.npy", 2, 1, |i, _| (i as f64 * 1e300).into());
    let words = ["of the solution", "infinite", "power of ten"];
    for line in ["solve a.npy --method lu", "solve a.npy --method cg", "least-squares a.npy"] {
        run(&folder, &format!("{line} --rhs b.npy -o none.npy"), 1, &words);
        assert!(!folder.path().join("none.npy").exists(), "{line}");
    }
}

#[test]
fn least_squares_tell_what_measures_them() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "a.npy", 3, 2, |i, j| [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]][i][j].into());
    for (name, last, is_exact) in [("line.npy", 5.0, true), ("bent.npy", 9.0, false)] {
        write(&folder, name, 3, 1, |i, _| [1.0, 3.0, last][i].into());
        let text = run(&folder, &format!("least-squares a.npy --rhs {name}"), 0, &[]);
        assert_eq!(text.contains("backward error"), is_exact, "{text}");
        assert!(text.contains("normal residual"), "{text}");
        let residual = json(&folder, &format!("least-squares a.npy --rhs {name}"))["residual"].clone();
        assert_eq!(residual["backward_error"].is_f64(), is_exact, "{residual}");
        let normal = residual["normal"].as_f64().unwrap();
        assert!(if is_exact { normal == 0.0 } else { normal < 1e-14 }, "{residual}");
    }
}

#[test]
fn least_squares_have_a_residual_orthogonal_to_the_columns() {
    let folder = tempfile::tempdir().unwrap();
    for complex in [false, true] {
        for (rows, columns) in [(41, 19), (19, 41)] {
            let a = write(&folder, "a.npy", rows, columns, |i, j| number(i, j, complex) + f64::from(i == j));
            let b = write(&folder, "b.npy", rows, 2, |i, j| number(i + 50, j, complex));
            let mut found = Vec::new();
            for place in PLACES {
                let line = format!("least-squares a.npy --rhs b.npy -o x.npy --force --device {place}");
                let result = json(&folder, &line);
                let residual = &result["residual"];
                assert_eq!(result["method"], "qr");
                // Blocks of columns, and fewer equations than unknowns, have no estimate of the condition.
                let knows = !result["matrix"]["condition_estimate"].is_null();
                assert_eq!(result["rank"], if knows { columns.into() } else { Value::Null });
                let x = read(&folder, "x.npy");
                assert_eq!((x.rows, x.columns), (columns, 2));
                assert_eq!(residual["backward_error"].is_null(), rows > columns, "{line}: {result}");
                if rows > columns {
                    assert!(residual["true"].as_f64().unwrap() > 0.01, "{line}: {result}");
                    assert!(residual["normal"].as_f64().unwrap() < 1e-13, "{line}: {result}");
                } else {
                    assert!(rest(&a, &x, &b) < 1e-12, "{line}");
                }
                found.push(x);
            }
            // The smallest solution is one, so all ways find the same.
            for other in &found[1..] {
                let same = |k: usize| (other.at(k / 2, k % 2) - found[0].at(k / 2, k % 2)).norm() < 1e-11;
                assert!((0..2 * columns).all(same));
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "general.npy", 4, 4, |i, j| number(i, j, false) + 2.0 * f64::from(i == j));
    write(&folder, "tall.npy", 4, 3, |i, j| number(i, j, false));
    write(&folder, "singular.npy", 3, 3, |i, j| if j == 1 { 0.0.into() } else { number(i, j, false) });
    write(&folder, "nan.npy", 2, 2, |i, j| if i > j { f64::NAN.into() } else { 1.0.into() });
    write(
        &folder,
        "negative.npy",
        2,
        2,
        |i, j| if i == j { (1.0 - 3.0 * i as f64).into() } else { 0.0.into() },
    );
    for (line, status, words) in [
        ("solve general.npy --rhs tall.npy --method cg", 2, &["cg needs a symmetric matrix", "(1, 3)"][..]),
        ("solve tall.npy --rhs negative.npy", 3, &["negative.npy", "2 rows found, 4 expected"]),
        ("solve tall.npy --method lu", 3, &["4×3", "takes a square matrix", "--method qr"]),
        ("solve general.npy --method cholesky", 3, &["element (1, 0)", "not Hermitian", "--method lu"]),
        ("solve negative.npy --method cholesky", 1, &["order 2", "choose --method lu"]),
        ("solve singular.npy", 1, &["pivot 2", "zero"]),
        ("least-squares singular.npy", 1, &["not full rank"]),
        ("solve nan.npy", 3, &["element (1, 0) is NaN"]),
        ("solve general.npy --plot p.svg", 2, &["--plot is for methods of iterations"]),
        ("solve general.npy --method gauss", 2, &["gauss", "cholesky, lu or qr"]),
        ("solve general.npy --method cg --memory 1G", 2, &["are for the methods cholesky, lu and qr"]),
        ("solve tall.npy --factor-precision single", 2, &["of a square matrix"]),
        ("solve general.npy --memory 4GB", 2, &["4G, 500M"]),
        ("solve missing.npy", 3, &["missing.npy"]),
    ] {
        let stdout = run(&folder, line, status, words);
        assert_eq!(stdout, "", "{line}");
    }
}

/// Starts a factorisation, sends a signal once a state is kept, and returns what the program says.
///
/// `None` if it was done before.
#[cfg(unix)]
fn signalled(folder: &TempDir, line: &str, signal: &str) -> Option<String> {
    let mut command = Command::new(cargo_bin("cr-solve"));
    command.current_dir(folder).args(line.split_whitespace()).args(["--every", "0s"]);
    command.env("POCL_DEVICES", "pthread pthread").env("LATTICE_CL_NO_CACHE", "1");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let kept = folder.path().join("state");
    let before = std::fs::metadata(&kept).and_then(|file| file.modified()).ok();
    let is_new =
        || std::fs::metadata(&kept).and_then(|file| file.modified()).is_ok_and(|at| Some(at) != before);
    while !is_new() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    if !sent.unwrap().success() || output.status.success() {
        return None;
    }
    assert_eq!(output.status.code(), Some(130), "{line}: {said}");
    Some(said)
}

#[cfg(unix)]
#[test]
fn an_interrupted_factorisation_goes_on_to_the_same_bits() {
    let (folder, n) = (tempfile::tempdir().unwrap(), 700);
    let definite = |i: usize, j: usize| if i == j { 700.0 } else { number(i.min(j), i.max(j), false).re };
    write(&folder, "definite.npy", n, n, |i, j| definite(i, j).into());
    // The last column and row are larger than the diagonal, so that the last minor is not positive.
    let last = |i: usize, j: usize| if i != j && i.max(j) == n - 1 { 100.0 } else { 0.0 };
    write(&folder, "indefinite.npy", n, n, |i, j| (definite(i, j) + last(i, j)).into());
    write(&folder, "wide.npy", 640, n, |i, j| definite(i, j).into());
    let mut ended = 0;
    for (command, method) in
        [("solve definite.npy", "cholesky"), ("solve indefinite.npy", "lu"), ("least-squares wide.npy", "qr")]
    {
        let line = |output: &str| format!("{command} --memory 1K --device 0.0 -o {output}.npy --force");
        let whole = json(&folder, &line("whole"));
        let first = signalled(&folder, &format!("{} --checkpoint state", line("again")), "-INT");
        if let Some(said) = first {
            assert!(said.contains("columns") && said.contains("go on with --resume state"), "{said}");
            let other = format!("{} --resume state", line("again")).replace("solve", "least-squares");
            if method == "cholesky" {
                run(
                    &folder,
                    &other,
                    2,
                    &["state is the checkpoint of another job: its method is auto, here"],
                );
                let other = format!("{} --checkpoint state", line("again"));
                run(&folder, &other, 2, &["state is there already"]);
            }
            let again = json(&folder, &format!("{} --resume state", line("again")));
            assert_eq!((&again["method"], &again["info"]), (&method.into(), &0.into()));
            let names = |result: &Value| {
                let attempts = result["attempts"].as_array().unwrap().iter();
                attempts.map(|attempt| (attempt["method"].clone(), attempt["failure"].clone())).collect()
            };
            let (names, wanted): (Vec<_>, Vec<_>) = (names(&again), names(&whole));
            assert_eq!(names, wanted);
            ended += 1;
        }
        let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert!(bytes("again.npy") == bytes("whole.npy"), "{command}: other bits");
        assert!(!folder.path().join("state").exists());
    }
    assert!(ended > 0, "no factorisation was interrupted");
    for (line, words) in [
        ("solve definite.npy --method cg --checkpoint c", "--checkpoint and --resume are for the methods"),
        ("solve definite.npy --factor-precision single --checkpoint c", "factors in double precision alone"),
        ("solve definite.npy -o c.npy --checkpoint c.npy", "are both the file c.npy"),
    ] {
        run(&folder, line, 2, &[words]);
    }
}
