//! `cr-solve solve`, and `info` of matrices, as a user runs them.

use crate::common;

use assert_cmd::cargo::cargo_bin_cmd;
use lattice_cl::linalg::sparse::market::{AnyCsr, Market, write_matrix, write_vectors};
use lattice_cl::linalg::sparse::{Csr, Problem, read_vectors};
use num_complex::Complex64;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// What one run of the program left behind.
struct Run {
    line: String,
    status: i32,
    stdout: String,
    stderr: String,
}

/// Runs the program on the host, unless the line names a device.
fn run(folder: &TempDir, line: &str) -> Run {
    let mut command = cargo_bin_cmd!("cr-solve");
    // Generous: only a hang shall end here.
    command.current_dir(folder).timeout(Duration::from_secs(300)).args(line.split_whitespace());
    if !line.contains("--device") {
        command.args(["--device", "host"]);
    }
    command.env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let run = Run {
        line: line.to_owned(),
        status: output.status.code().expect("the program ends by itself"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    assert!(!run.stderr.contains("panicked"), "{line}: {}", run.stderr);
    run
}

impl Run {
    #[track_caller]
    fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.line, self.stderr);
        self
    }

    #[track_caller]
    fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "{}: `{word}` is not in: {}", self.line, self.stderr);
        }
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

#[track_caller]
fn json(folder: &TempDir, line: &str) -> Value {
    run(folder, &format!("{line} --json")).expect(0).json()
}

/// Checks that a run is refused with this status and these words, and prints no result.
#[track_caller]
fn assert_refused(folder: &TempDir, line: &str, status: i32, words: &[&str]) {
    let run = run(folder, line).expect(status).says(words).says(&["error: "]);
    assert_eq!(run.stdout, "", "{line}");
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn write(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).unwrap();
}

/// Writes a matrix of real entries with rows and columns from 1.
fn write_entries(folder: &TempDir, name: &str, rows: usize, columns: usize, entries: &[(usize, usize, f64)]) {
    let mut text =
        format!("%%MatrixMarket matrix coordinate real general\n{rows} {columns} {}\n", entries.len());
    for (row, column, value) in entries {
        text.push_str(&format!("{row} {column} {value}\n"));
    }
    write(folder, name, &text);
}

fn problem(text: &str) -> Csr<f64> {
    text.parse::<Problem>().unwrap().matrix().unwrap()
}

/// Reads the one real vector of a file.
fn vector(folder: &TempDir, name: &str) -> Vec<f64> {
    let market = Market::read(&folder.path().join(name)).unwrap();
    let AnyCsr::Real(matrix) = market.to_csr().unwrap() else { panic!("real") };
    assert_eq!(matrix.columns(), 1);
    (0..matrix.rows()).map(|row| matrix.at(row, 0)).collect()
}

/// ‖b − A x‖ / ‖b‖.
fn residual(a: &Csr<f64>, x: &[f64], b: &[f64]) -> f64 {
    let mut ax = vec![0.0; b.len()];
    a.multiply(x, &mut ax);
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut ax.iter().zip(b).map(|(ax, b)| b - ax)) / norm(&mut b.iter().copied())
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The folder of public matrices, or `None` with a loud line where it is missing.
fn matrices() -> Option<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = package.ancestors().map(|folder| folder.join("shared/data/matrices")).find(|f| f.is_dir());
    if folder.is_none() {
        let missing = format!("SKIPPED: there is no folder shared/data/matrices above {}", package.display());
        let _ = writeln!(std::io::stderr(), "{missing}");
    }
    folder
}

#[test]
fn solve_prints_one_object_with_the_promised_keys() {
    let folder = folder();
    let solved = json(&folder, "solve poisson2d:12 -o x.mtx --plot residual.svg --tol 1e-9");
    let expected = [
        "schema_version",
        "provenance",
        "devices",
        "matrix",
        "method",
        "preconditioner",
        "precision",
        "tolerance",
        "converged",
        "iterations",
        "residual",
        "backward_error",
        "info",
        "attempts",
        "seconds",
        "output",
        "warnings",
    ];
    let mut found = keys(&solved);
    found.sort_unstable();
    let mut wanted = expected.to_vec();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    let matrix = &solved["matrix"];
    assert_eq!((matrix["rows"].as_u64(), matrix["entries"].as_u64()), (Some(144), Some(672)));
    assert_eq!(matrix["source"], "poisson2d:12");
    assert_eq!((solved["method"].as_str(), solved["info"].as_u64()), (Some("cg"), Some(0)));
    assert_eq!((&solved["preconditioner"]["kind"], &solved["precision"]), (&"ic0".into(), &"double".into()));
    let mut seconds = keys(&solved["seconds"]);
    seconds.sort_unstable();
    assert_eq!(seconds, ["compile", "read", "setup", "solve", "transfer", "write"]);
    let found = residual(&problem("poisson2d:12"), &vector(&folder, "x.mtx"), &[1.0; 144]);
    let told = solved["residual"]["true"].as_f64().unwrap();
    assert!(found <= 1e-9 && (found - told).abs() < 1e-3 * told, "{found} {told}");
    let plot = std::fs::read_to_string(folder.path().join("residual.svg")).unwrap();
    assert!(plot.contains("poisson2d:12") && plot.contains("cg, ic0") && plot.contains("tolerance"));
    // Nothing is overwritten, unless that is wanted.
    run(&folder, "solve poisson2d:12 -o x.npy --tol 1e-9").expect(0);
    let array = lattice_cl::io::NumberArray::read_npy(folder.path().join("x.npy")).unwrap();
    let written = read_vectors(&folder.path().join("x.mtx")).unwrap();
    assert_eq!((array.shape, array.values), (vec![144, 1], written.values));
    assert_refused(&folder, "solve poisson2d:12 -o x.mtx", 2, &["x.mtx is there already", "--force"]);
    run(&folder, "solve poisson2d:12 -o x.mtx --force").expect(0);
    assert_refused(&folder, "solve poisson2d:12 --plot residual.png", 2, &["plots are SVG", "residual.svg"]);
}

#[test]
fn files_of_all_kinds_are_solved_with() {
    let folder = folder();
    let a = problem("convection2d:13,0.02");
    write_matrix(&folder.path().join("a.mtx.gz"), &a, "").unwrap();
    let b: Vec<f64> = (1..=a.rows()).map(|k| (0.7 * k as f64).sin() + 0.3).collect();
    write_vectors(&folder.path().join("b.mtx"), b.len(), &[&b], "").unwrap();
    let solved = json(&folder, "solve a.mtx.gz --rhs b.mtx -o x.mtx.gz");
    assert_eq!((solved["method"].as_str(), solved["info"].as_u64()), (Some("bicgstab"), Some(0)));
    assert!(residual(&a, &vector(&folder, "x.mtx.gz"), &b) <= 1e-10);
    // Real matrices take complex right sides, and complex ones real sides.
    let complex: Vec<Complex64> = b.iter().map(|b| Complex64::new(*b, 1.0 - b)).collect();
    write_vectors(&folder.path().join("c.mtx"), b.len(), &[&complex], "").unwrap();
    assert_eq!(json(&folder, "solve a.mtx.gz --rhs c.mtx --preconditioner jacobi")["info"], 0);
    let turned =
        a.map(|row, column, value| if row == column { Complex64::new(value, 9.0) } else { value.into() });
    write_matrix(&folder.path().join("z.mtx"), &turned, "").unwrap();
    let solved = json(&folder, "solve z.mtx --rhs b.mtx --method gcr --format sell");
    assert_eq!((&solved["info"], &solved["matrix"]["format"]), (&0.into(), &"sell".into()));
    // Arrays of NumPy.
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}\n", b.len());
    let mut array = b"\x93NUMPY\x01\0".to_vec();
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.bytes());
    b.iter().for_each(|b| array.extend(b.to_le_bytes()));
    std::fs::write(folder.path().join("b.npy"), array).unwrap();
    assert_eq!(json(&folder, "solve a.mtx.gz --rhs b.npy -o y.mtx")["info"], 0);
    assert!(residual(&a, &vector(&folder, "y.mtx"), &b) <= 1e-10);
}

#[test]
fn a_device_finds_what_the_host_finds() {
    let folder = folder();
    for options in
        ["", "--preconditioner jacobi --format csr", "--preconditioner block-jacobi:3 --format bsr:3"]
    {
        let line = format!("solve elasticity3d:3 {options} --force -o");
        let on_host = json(&folder, &format!("{line} host.mtx"));
        let on_device = json(&folder, &format!("{line} device.mtx --device auto"));
        let iterations = |solved: &Value| solved["iterations"].as_i64().unwrap();
        let near = (iterations(&on_host) - iterations(&on_device)).abs() <= 1;
        assert!(
            near && on_device["info"] == 0,
            "{options}: {} {}",
            on_host["iterations"],
            on_device["iterations"]
        );
        let [host, device] = ["host.mtx", "device.mtx"].map(|name| vector(&folder, name));
        let largest = host.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        assert!(host.iter().zip(&device).all(|(a, b)| (a - b).abs() < 1e-7 * largest), "{options}");
    }
    let swept = json(&folder, "solve poisson2d:12 --preconditioner ic0:3");
    assert_eq!((&swept["info"], &swept["preconditioner"]["kind"]), (&0.into(), &"ic0:3".into()));
    let known = json(&folder, "solve poisson2d:12 --condition");
    let condition = known["matrix"]["condition_estimate"].as_f64().unwrap();
    // ‖A‖ = 8, and ‖A⁻¹‖ is near 13² · 0.0737, where 0.0737 is the largest value of u with −Δu = 1 on the unit square.
    assert!(condition > 80.0 && condition < 110.0, "{condition}");
    let text = run(&folder, "solve poisson2d:80").expect(0).stdout;
    assert!(text.contains("amg: levels of (6400, ") && text.contains("true residual"), "{text}");
}

#[test]
fn without_convergence_the_best_iterate_is_written() {
    let folder = folder();
    let line = "solve poisson2d:30 --method minres --max-iterations 7 -o x.mtx --json";
    let run = run(&folder, line).expect(1).says(&[
        "not solved to 1e-10",
        "after 7 iterations of minres",
        "more --max-iterations",
    ]);
    let solved = run.json();
    assert_eq!((solved["info"].as_u64(), solved["converged"].as_bool()), (Some(1), Some(false)));
    let told = solved["residual"]["true"].as_f64().unwrap();
    let found = residual(&problem("poisson2d:30"), &vector(&folder, "x.mtx"), &[1.0; 900]);
    assert!((found - told).abs() < 1e-10 && found < 1.0, "{found} {told}");
    assert!(!solved["attempts"][0]["failure"].is_null());
}

#[test]
fn what_has_no_solution_is_refused_with_the_reason() {
    let folder = folder();
    write_entries(&folder, "oblong.mtx", 3, 2, &[(1, 1, 1.0), (2, 2, 1.0), (3, 1, 2.0)]);
    assert_refused(&folder, "solve oblong.mtx", 3, &["3×2, not square", "least-squares"]);
    write_entries(&folder, "empty_row.mtx", 2, 2, &[(1, 1, 1.0), (1, 2, 1.0)]);
    assert_refused(&folder, "solve empty_row.mtx", 3, &["singular: row 2 is zero"]);
    write_entries(&folder, "general.mtx", 2, 2, &[(1, 1, 4.0), (1, 2, 1.5), (2, 2, 4.0)]);
    assert_refused(
        &folder,
        "solve general.mtx --method cg",
        2,
        &["cg needs a symmetric matrix", "(1, 2) and (2, 1) differ by 1.5", "choose bicgstab or gcr"],
    );
    let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 1\n3 1 2\n3 2 4\n";
    write(&folder, "skew.mtx", skew);
    assert_refused(
        &folder,
        "solve skew.mtx",
        3,
        &["singular: it is skew-symmetric", "odd number of rows, 3"],
    );
    // Numerically singular: no method converges.
    write_entries(&folder, "singular.mtx", 2, 2, &[(1, 1, 1.0), (1, 2, 1.0), (2, 1, 1.0), (2, 2, 1.0)]);
    write(&folder, "unfit.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n-1\n");
    run(&folder, "solve singular.mtx --rhs unfit.mtx --json").expect(1).says(&["not solved to"]);
    write_entries(&folder, "hollow.mtx", 2, 2, &[(1, 1, 1.0), (1, 2, 1.0), (2, 1, 2.0)]);
    assert_refused(
        &folder,
        "solve hollow.mtx --preconditioner jacobi",
        1,
        &["preconditioner jacobi: the diagonal entry of row 2 is zero"],
    );
    write_entries(&folder, "indefinite.mtx", 2, 2, &[(1, 1, 1.0), (1, 2, 2.0), (2, 1, 2.0), (2, 2, 1.0)]);
    write(&folder, "e2.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n-0.5\n");
    run(&folder, "solve indefinite.mtx --rhs e2.mtx --method cg --preconditioner none --json")
        .expect(1)
        .says(&["(p, Ap)", "not positive definite", "--method minres or gcr"]);
    // Rows in another order have a diagonal.
    let solved = json(&folder, "solve hollow.mtx --preconditioner jacobi --matching");
    assert_eq!((&solved["info"], &solved["preconditioner"]["matched"]), (&0.into(), &true.into()));
    assert_refused(
        &folder,
        "solve hollow.mtx --matching --preconditioner ic0",
        2,
        &["ic0 needs a symmetric preconditioner", "bicgstab or gcr"],
    );
    let [first, second, third] = [(1, 1, 1.0), (2, 1, 2.0), (3, 1, 1.0)];
    write_entries(&folder, "narrow.mtx", 3, 3, &[first, second, third, (1, 2, 1.0), (1, 3, 1.0)]);
    assert_refused(
        &folder,
        "solve narrow.mtx",
        3,
        &["structurally singular", "at most 2 rows and columns of 3"],
    );
    // Auto finds the way.
    let solved = json(&folder, "solve indefinite.mtx --rhs e2.mtx");
    assert_eq!((&solved["method"], &solved["preconditioner"]["kind"]), (&"minres".into(), &"jacobi".into()));
    run(&folder, "solve indefinite.mtx --rhs e2.mtx --method minres --preconditioner ilu0 --json")
        .expect(1)
        .says(&["(r, Kr)", "the preconditioner is not positive definite", "--preconditioner jacobi or none"]);
}

#[test]
fn right_hand_sides_and_options_that_do_not_fit_are_refused() {
    let folder = folder();
    write(&folder, "b3.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
    write(&folder, "two.mtx", "%%MatrixMarket matrix array real general\n4 2\n1\n2\n3\n4\n5\n6\n7\n8\n");
    write(&folder, "nan.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\n2\nnan\n4\n");
    write(&folder, "zero.mtx", "%%MatrixMarket matrix array real general\n4 1\n0\n0\n0\n0\n");
    assert_refused(&folder, "solve poisson2d:2 --rhs b3.mtx", 2, &["3 components, the matrix 4 rows"]);
    write(&folder, "none.mtx", "%%MatrixMarket matrix array real general\n4 0\n");
    assert_refused(&folder, "solve poisson2d:2 --rhs none.mtx", 3, &["none.mtx: no column found"]);
    let two = json(&folder, "solve poisson2d:2 --rhs two.mtx -o x2.mtx");
    assert_eq!((two["columns"].as_array().unwrap().len(), &two["info"]), (2, &0.into()));
    assert_refused(&folder, "solve poisson2d:2 --rhs nan.mtx", 3, &["nan.mtx, line 5: `nan` is not finite"]);
    assert_refused(&folder, "solve poisson2d:2 --rhs no.mtx", 3, &["no.mtx: "]);
    let zero = json(&folder, "solve poisson2d:2 --rhs zero.mtx -o x.mtx");
    assert!(zero["warnings"][0].as_str().unwrap().contains("right-hand side is zero"), "{zero}");
    assert_eq!((vector(&folder, "x.mtx"), &zero["info"]), (vec![0.0; 4], &0.into()));
    let modes = "solve poisson2d:2 --preconditioner amg --near-nullspace b3.mtx";
    assert_refused(&folder, modes, 3, &["b3.mtx: vectors of 3 components found, 4 expected"]);
    assert_refused(
        &folder,
        "solve poisson2d:3 --format bsr:2",
        2,
        &["blocks of 2 do not divide a 9×9 matrix"],
    );
    assert_refused(&folder, "solve poisson2d:3 --format bsr:9", 2, &["`bsr:9` is no format", "diagonals"]);
    assert_refused(&folder, "solve laplace:3", 2, &["`laplace:3` is no model problem", "elasticity3d:N"]);
    assert_refused(&folder, "solve poisson2d:0", 2, &["`0` in `poisson2d:0` is no positive number"]);
    assert_refused(&folder, "solve poisson3d:1600", 2, &["memory"]);
    assert_refused(&folder, "solve poisson2d:2 --method lo", 2, &["`lo` is no method", "bicgstab", "lu"]);
    assert_refused(&folder, "solve poisson2d:2 --method lu", 2, &["model problems are sparse", "bicgstab"]);
    assert_refused(
        &folder,
        "solve poisson2d:2 --preconditioner ilu",
        2,
        &["`ilu` is no preconditioner", "ilu0"],
    );
    assert_refused(&folder, "solve poisson2d:2 --tol 0", 2, &["--tol 0 is not allowed"]);
    assert_refused(
        &folder,
        "solve poisson2d:2 --method cgne --preconditioner jacobi",
        2,
        &["cgne takes no preconditioner"],
    );
    let cycle = "solve poisson2d:2 --cycle";
    assert_refused(&folder, &format!("{cycle} w"), 2, &["`w` is no cycle; choose v or k"]);
    assert_refused(
        &folder,
        &format!("{cycle} k --preconditioner jacobi"),
        2,
        &["--cycle is for --preconditioner amg, not for jacobi"],
    );
    assert_refused(
        &folder,
        &format!("{cycle} k --preconditioner amg --method bicgstab"),
        2,
        &["bicgstab needs the same preconditioner in each iteration", "the V-cycle"],
    );
}

#[test]
fn every_bad_file_is_refused_with_its_line() {
    let Some(matrices) = matrices() else { return };
    let folder = folder();
    let what = std::fs::read_to_string(matrices.join("bad/what.json")).unwrap();
    let what: Value = serde_json::from_str(&what).unwrap();
    for (name, what) in what.as_object().unwrap() {
        let path = matrices.join("bad").join(name);
        let place = what.as_str().unwrap().split(':').next().filter(|part| part.starts_with("line "));
        let line = format!("solve {}", path.display());
        assert_refused(&folder, &line, 3, &[name, place.unwrap_or_default()]);
    }
}

#[test]
fn public_matrices_are_solved_with() {
    let Some(matrices) = matrices() else { return };
    let folder = folder();
    let bar = format!(
        "solve {}/bar.mtx --preconditioner amg --near-nullspace {}/bar.near_nullspace.npy --tol 1e-8",
        matrices.display(),
        matrices.display()
    );
    let solved = json(&folder, &bar);
    assert!(solved["iterations"].as_u64().unwrap() <= 24, "{solved}");
    for (name, method) in
        [("gauge32", "cg"), ("sherman1", "minres"), ("jpwh_991", "bicgstab"), ("skew500", "cgne")]
    {
        let line = format!("solve {}/{name}.mtx --tol 1e-8", matrices.display());
        let solved = json(&folder, &line);
        assert_eq!(
            (solved["attempts"][0]["method"].as_str(), &solved["info"]),
            (Some(method), &0.into()),
            "{name}"
        );
    }
    let info = json(&folder, &format!("info {}/1138_bus.mtx", matrices.display()));
    assert_eq!(info["symmetry"]["declared"], "symmetric");
    assert_eq!((&info["rows"], &info["entries"]), (&1138.into(), &4054.into()));
    assert_eq!(info["row_lengths"]["most"], 18);
}

#[test]
fn info_tells_what_a_matrix_is_and_what_each_format_takes() {
    let folder = folder();
    let info = json(&folder, "info poisson3d:6");
    assert_eq!((&info["kind"], &info["symmetry"]["found"]), (&"matrix".into(), &"symmetric".into()));
    assert_eq!((&info["bandwidth"], &info["zeros_on_diagonal"]), (&36.into(), &0.into()));
    // The host multiplies by rows.
    assert_eq!((&info["device"], &info["chosen_format"]), (&"host".into(), &"csr".into()));
    let on_device = json(&folder, "info poisson3d:6 --device auto");
    assert_eq!(on_device["chosen_format"], "diagonals");
    for format in on_device["formats"].as_array().unwrap() {
        assert!(format["seconds"].as_f64().unwrap() > 0.0, "{format}");
    }
    let formats = info["formats"].as_array().unwrap();
    let bytes = |name: &str| {
        let found = formats.iter().find(|format| format["format"] == name);
        found.unwrap_or_else(|| panic!("{name}: {info}"))["bytes"].as_u64().unwrap()
    };
    assert!(bytes("diagonals") < bytes("csr") && bytes("csr") < bytes("coo"));
    write_entries(&folder, "a.mtx", 2, 2, &[(1, 1, 1.0), (1, 2, 1.5)]);
    let text = run(&folder, "info a.mtx").expect(0);
    assert!(
        text.stdout.contains("general, declared general, entries differ by up to 1.5"),
        "{}",
        text.stdout
    );
    assert!(text.stderr.contains("1 entries of the diagonal are zero"), "{}", text.stderr);
    assert_refused(&folder, "info poisson3d:0", 2, &["`0` in `poisson3d:0` is no positive number"]);
    let brief = run(&folder, "info a.mtx --brief").expect(0).stdout;
    assert!(brief.contains("a.mtx: general matrix, 2 × 2, 2 entries"), "{brief}");
}

#[test]
fn bench_times_every_format_and_solves() {
    let folder = folder();
    write_matrix(&folder.path().join("a.mtx"), &problem("elasticity3d:2"), "").unwrap();
    let line =
        "bench sparse a.mtx --rhs 1,3 --precision d,s --solve --samples 1 --seconds 0.01 -q --device 0.0";
    let found = json(&folder, line);
    let rows = found["rows"].as_array().unwrap();
    let of = |kernel: &str| -> Vec<&Value> { rows.iter().filter(|row| row["kernel"] == kernel).collect() };
    let kinds: Vec<(&str, u64)> = of("product")
        .iter()
        .map(|row| &row["parameters"])
        .map(|of| (of["format"].as_str().unwrap(), of["vectors"].as_u64().unwrap()))
        .collect();
    let formats = ["diagonals", "bsr:3", "sell", "csr", "coo"];
    for format in formats {
        assert!(kinds.contains(&(format, 1)) && kinds.contains(&(format, 3)), "{format}: {kinds:?}");
    }
    let chosen = of("product").into_iter().filter(|row| row["details"]["chosen"] == true);
    let mut elements: Vec<&Value> = chosen.map(|row| &row["parameters"]["element"]).collect();
    elements.dedup();
    assert_eq!(elements, ["d", "s"]);
    assert_eq!([of("read").len(), of("cg, jacobi: an iteration").len()], [1, 1]);
    let whole = of("cg, amg: set-up and solve to 1e-8");
    assert!(whole[0]["details"]["true_residual"].as_f64().unwrap() <= 1e-8, "{}", whole[0]);
    let schema: Value = serde_json::from_str(include_str!("../../../bench/schema.json")).unwrap();
    common::schema::assert_valid(&schema, &found);
    let unfit = "bench sparse elasticity3d:2 --formats bsr:4 --device 0.0 -q";
    assert_refused(&folder, unfit, 2, &["blocks of 4 do not divide a 54×54 matrix"]);
}
