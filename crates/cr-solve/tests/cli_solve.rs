//! `cr-solve devices`, `invert` and `spectrum` as a user runs them.

use crate::common;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use common::relative;
use lattice_cl::compute::PEER_VARIABLE;
use lattice_cl::geometry::Boundary;
use lattice_cl::host::{self, LinkField, Spinor, StencilFactors, random};
use lattice_cl::io::{self, Format, WriteOptions};
use lattice_cl::{Dims, GaugeConfiguration};
use num_complex::Complex64;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

const EXTENTS: [usize; 4] = [4, 4, 4, 8];
const KAPPA: f64 = 0.11;

/// A weak field, made once, and the file that holds it.
fn weak_field() -> &'static (GaugeConfiguration, PathBuf) {
    static FIELD: OnceLock<(GaugeConfiguration, PathBuf)> = OnceLock::new();
    FIELD.get_or_init(|| {
        let field = random::weak(Dims::new(EXTENTS).unwrap(), 0.1, 3);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli_solve.ildg");
        io::write_gauge(&path, &field, &WriteOptions::new(Format::Ildg)).unwrap();
        (field, path)
    })
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// What one run of the program left behind.
struct Run {
    line: String,
    status: i32,
    stdout: String,
    stderr: String,
}

/// The command with these words; `FIELD` stands for the file of the weak field.
fn program(folder: &TempDir, line: &str) -> Command {
    let words = line.split_whitespace().map(|word| match word {
        "FIELD" => weak_field().1.clone().into_os_string(),
        word => word.into(),
    });
    let mut command = cargo_bin_cmd!("cr-solve");
    // Generous: only a hang shall end here.
    command.current_dir(folder).timeout(Duration::from_secs(300)).args(words).arg("--no-tune");
    // Kernels that PoCL has compiled stay: only what this program keeps must not matter here.
    command.env("LATTICE_CL_NO_CACHE", "1").env("POCL_KERNEL_CACHE", "1");
    command
}

fn finished(mut command: Command, line: &str) -> Run {
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

fn run(folder: &TempDir, line: &str) -> Run {
    finished(program(folder, line), line)
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

    /// Standard output as one JSON object.
    #[track_caller]
    fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout).unwrap();
        assert!(value.is_object(), "{}", self.stdout);
        value
    }
}

#[track_caller]
fn json(folder: &TempDir, line: &str) -> Value {
    run(folder, &format!("{line} --json")).expect(0).json()
}

/// Checks that a run is refused with this status and these words, and prints no result.
#[track_caller]
fn assert_refused(folder: &TempDir, line: &str, status: i32, words: &[&str]) {
    let run = run(folder, line).expect(status).says(words);
    assert_eq!(run.stdout, "", "{line}");
    assert!(run.stderr.contains("error: "), "{line}: {}", run.stderr);
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn solution(folder: &TempDir, name: &str) -> Vec<Spinor<f64>> {
    let mut propagator = io::read_propagator(folder.path().join(name)).unwrap();
    assert_eq!(propagator.dims.extents(), EXTENTS);
    assert_eq!(propagator.records.len(), 1);
    propagator.records.remove(0).field
}

/// A site, a spin and a colour.
type Source = ([usize; 4], usize, usize);

/// The boundary condition of `--boundary` with this text, which may be followed by `--theta` with angles.
fn boundary_of(options: &str) -> Boundary {
    match options.split_once(" --theta ") {
        Some((signs, theta)) => boundary_of(signs).twisted(theta.parse().unwrap()),
        None => options.parse().unwrap(),
    }
}

/// ‖b − M x‖ for a point source, with the operator of the host and the links in memory.
fn residual(x: &[Spinor<f64>], factors: (f64, f64), boundary: &str, (site, spin, colour): Source) -> f64 {
    let (field, _) = weak_field();
    let links = LinkField::new(field, boundary_of(boundary));
    let factors = StencilFactors::new(factors.0, factors.1);
    let mut r = vec![Spinor::default(); x.len()];
    host::stencil(&links, factors, x, &mut r);
    r[field.dims().site(site)].0[spin][colour] -= Complex64::new(1.0, 0.0);
    r.iter().map(Spinor::norm2).sum::<f64>().sqrt()
}

const KAPPA_FACTORS: (f64, f64) = (1.0, -KAPPA);
const ORIGIN: Source = ([0; 4], 0, 0);

#[test]
fn invert_prints_one_object_with_the_promised_keys() {
    let folder = folder();
    let run = run(&folder, "invert FIELD --kappa 0.11 --solver cr --device host --json --output x.lime")
        .expect(0)
        .says(&["running on host"]);
    assert_eq!(run.stdout.trim_end().lines().count(), 1);
    let result = run.json();
    let promised = "schema_version solver system kappa dims devices precision converged iterations residual \
                    solution_norm2 seconds gflops bandwidth_gb_s history";
    for key in promised.split_whitespace() {
        assert!(keys(&result).contains(&key), "{key} is not in {:?}", keys(&result));
    }
    assert_eq!(keys(&result["residual"]), ["iterated", "true"]);
    assert_eq!(keys(&result["seconds"]), ["setup", "compile", "prepare", "solve"]);

    assert_eq!(result["schema_version"], 1);
    assert_eq!(result["solver"], "cr");
    assert_eq!(result["system"], "normal");
    assert_eq!(result["kappa"], KAPPA);
    assert_eq!(result["dims"], serde_json::json!(EXTENTS));
    assert_eq!(result["devices"], serde_json::json!(["host"]));
    assert_eq!(result["precision"], "double");
    assert_eq!(result["converged"], true);
    assert_eq!(result["failure"], Value::Null);
    let history = numbers(&result["history"]);
    assert_eq!(history.len() as u64, result["iterations"].as_u64().unwrap() + 1);
    assert_eq!(history[0], 1.0);
    assert_eq!(*history.last().unwrap(), number(&result["residual"]["iterated"]));
    for key in ["gflops", "bandwidth_gb_s"] {
        assert!(number(&result[key]) > 0.0, "{key}");
    }
    for key in ["setup", "prepare", "solve"] {
        assert!(number(&result["seconds"][key]) > 0.0, "{key}");
    }

    let x = solution(&folder, "x.lime");
    let norm2: f64 = x.iter().map(Spinor::norm2).sum();
    assert!(relative(number(&result["solution_norm2"]), norm2) < 1e-13);
    let here = residual(&x, KAPPA_FACTORS, "antiperiodic", ORIGIN);
    assert!(here <= 1e-10);
    assert!(relative(number(&result["residual"]["true"]), here) < 1e-3);
}

#[test]
fn quiet_leaves_the_result_alone_and_text_is_for_people() {
    let folder = folder();
    for command in ["invert FIELD --kappa 0.11", "spectrum FIELD --kappa 0.11"] {
        let quiet = run(&folder, &format!("{command} --device host -q")).expect(0);
        assert_eq!(quiet.stderr, "", "{command}");
        assert!(quiet.stdout.contains("4x4x4x8"), "{}", quiet.stdout);
        assert!(quiet.stdout.contains("residual"), "{}", quiet.stdout);
    }
}

/// The selectors of the host, a device, and this device as a team of two and of three.
const TEAMS: [&str; 4] =
    ["--device host", "--device 0.0", "--device 0.0 --device 0.0", "--device 0.0 --device 0.0 --device 0.0"];

#[test]
fn every_team_finds_the_same_solution() {
    let folder = folder();
    let on = |team: &str| json(&folder, &format!("invert FIELD --kappa 0.11 --tol 1e-12 {team}"));
    let host = number(&on("--device host")["solution_norm2"]);
    for (team, members) in TEAMS[1..].iter().zip(1..) {
        let result = on(team);
        assert_eq!(result["devices"].as_array().unwrap().len(), members, "{team}");
        assert!(relative(number(&result["solution_norm2"]), host) < 1e-9, "{team}: {result}");
    }
}

#[test]
fn different_devices_make_a_team() {
    let folder = folder();
    let host = json(&folder, "invert FIELD --kappa 0.11 --tol 1e-12 --device host");
    for members in [2, 3] {
        let pocl = vec!["pthread"; members].join(" ");
        let on_devices = |line: &str| {
            let mut command = program(&folder, line);
            command.env("POCL_DEVICES", &pocl);
            finished(command, line).expect(0).json()
        };
        let listed = on_devices("devices --json");
        let of_first = |device: &&Value| device["selector"].as_str().unwrap().starts_with("0.");
        if listed["devices"].as_array().unwrap().iter().filter(of_first).count() < members {
            return common::skipped(
                "the first platform is not PoCL, which makes several devices of a processor",
            );
        }
        let selectors: String = (0..members).map(|k| format!(" --device 0.{k}")).collect();
        let line = format!("invert FIELD --kappa 0.11 --tol 1e-12 --json {selectors}");
        let result = on_devices(&line);
        let devices: Vec<_> = result["devices"].as_array().unwrap().iter().collect();
        assert_eq!(devices.len(), members);
        for (k, device) in devices.iter().enumerate() {
            assert!(device.as_str().unwrap().starts_with(&format!("0.{k} ")), "{devices:?}");
        }
        let norms = ["solution_norm2"].map(|key| (number(&result[key]), number(&host[key])));
        assert!(norms.iter().all(|(a, b)| relative(*a, *b) < 1e-9), "{norms:?}");
    }
}

#[test]
fn a_lattice_is_cut_over_the_grid_that_is_asked_for() {
    let folder = folder();
    let options = "--kappa 0.11 --tol 1e-12 --solver cg --precision double --source point:1,2,3,5";
    let host = json(&folder, &format!("spectrum FIELD {options} --device host"));
    for (grid, team) in [("1x1x2x1", TEAMS[2]), ("1x3x1x1", TEAMS[3])] {
        let result = json(&folder, &format!("spectrum FIELD {options} --grid {grid} {team}"));
        assert_eq!((&result["grid"], &host["grid"]), (&Value::from(grid), &Value::from("1x1x1x1")));
        let pairs = [&result, &host].map(|result| numbers(&result["correlators"]["pion"]));
        for (value, wanted) in pairs[0].iter().zip(&pairs[1]) {
            assert!(relative(*value, *wanted) < 1e-9, "{grid}: {value} {wanted}");
        }
    }
    for (options, words) in [
        ("--grid 1x1x2x2 --device 0.0", &["grid 1x1x2x2 is for 4 devices", "the team has 1"][..]),
        (
            "--grid 4x1x1x1 --device 0.0 --device 0.0 --device 0.0 --device 0.0",
            &["4 parts in x", "at most 2"],
        ),
        ("--grid 2x2", &["no grid", "1x1x2x2"]),
    ] {
        assert_refused(&folder, &format!("invert FIELD --kappa 0.11 {options}"), 2, words);
    }
    write_job(
        &folder,
        "command = \"invert\"\n[configuration]\nfile = \"FIELD\"\n[action]\nkappa = 0.11\n[devices]\ndevice = \"host\"\ngrid = \"1x0x1x1\"\n",
    );
    assert_refused(&folder, "run job.toml", 2, &["job.toml, line 8", "no grid"]);
}

#[test]
fn a_checkpoint_of_another_grid_is_refused() {
    let folder = folder();
    let line = format!(
        "invert FIELD --kappa 0.11 --solver cg --precision double --preconditioning none {}",
        TEAMS[2]
    );
    let kept = format!("{line} --max-iterations 4 --checkpoint c --every 0s --grid 1x1x1x2");
    run(&folder, &kept).expect(1);
    let wanted = ["c is the checkpoint of another job", "4 time slices", "grid 1x1x2x1: 4x4x2x8 sites"];
    assert_refused(&folder, &format!("{line} --resume c --grid 1x1x2x1"), 2, &wanted);
}

#[test]
fn a_team_may_be_larger_than_its_lattice() {
    let folder = folder();
    let small = random::weak(Dims::new([2; 4]).unwrap(), 0.1, 5);
    let path = folder.path().join("small.ildg");
    io::write_gauge(&path, &small, &WriteOptions::new(Format::Ildg)).unwrap();
    let host = json(&folder, "invert small.ildg --kappa 0.11 --device host");
    let line = format!("invert small.ildg --kappa 0.11 --json {}", TEAMS[3]);
    let team = run(&folder, &line).expect(0).says(&["1 of the 3 devices have no share"]).json();
    assert!(relative(number(&team["solution_norm2"]), number(&host["solution_norm2"])) < 1e-9);
}

#[test]
fn every_method_solves_the_equation() {
    let folder = folder();
    let methods = [
        "--solver cr --system normal",
        "--solver cr --system hermitian",
        "--solver cr --system direct",
        "--solver minres",
        "--solver cg",
        "--solver cgne",
        "--solver bicgstab-l",
        "--solver gcr",
        "--solver mr",
    ];
    for device in &TEAMS[..2] {
        for method in methods {
            for (precision, tolerance) in [("double", 1e-10), ("single", 1e-5)] {
                let line = format!(
                    "invert FIELD --kappa 0.11 {device} {method} --precision {precision} --output x.lime --force"
                );
                let result = json(&folder, &line);
                assert!(method.contains(result["solver"].as_str().unwrap()), "{result}");
                assert_eq!(result["precision"], precision);
                assert_eq!(result["tolerance"], tolerance);
                let here = residual(&solution(&folder, "x.lime"), KAPPA_FACTORS, "antiperiodic", ORIGIN);
                assert!(here <= tolerance * (1.0 + 1e-6), "{line}: {here:e}");
            }
        }
    }
}

#[test]
fn multigrid_keeps_its_set_up_for_other_masses_and_is_bound_to_its_configuration() {
    let folder = folder();
    let line =
        "spectrum FIELD --kappa 0.11 --solver multigrid --multigrid-vectors 4 --multigrid-setup set.mg";
    let first = run(&folder, &format!("{line} --device 0.0 --json")).expect(0);
    let first = first.says(&["multigrid: 2 levels, 4 vectors on blocks of", "wrote", "set.mg"]).json();
    assert_eq!((&first["solver"], &first["method"]), (&"multigrid".into(), &"multigrid".into()));
    assert_eq!((&first["precision"], &first["system"]), (&"mixed-single".into(), &"direct".into()));
    let again = run(&folder, &format!("{line} --device 0.0 --json")).expect(0);
    let again = again.says(&["vectors of", "set.mg"]).json();
    assert_eq!(first["correlators"], again["correlators"], "the same bits");

    // A mass of a list has the bits of a job of its own with the same set-up.
    write_job(
        &folder,
        r#"
command = "spectrum"
[configuration]
file = "FIELD"
[action]
kappa = [0.1, 0.11]
[solver]
solver = "multigrid"
multigrid-vectors = 4
multigrid-setup = "set.mg"
[devices]
device = "0.0"
"#,
    );
    let list = json(&folder, "run job.toml");
    let alone = json(&folder, &format!("{} --device 0.0", line.replace("0.11", "0.1")));
    assert_eq!(list["results"][0]["correlators"], alone["correlators"]);
    assert!(alone["correlators"].is_object(), "{alone}");
    // The columns of a propagator are solved for at once.
    let solves = first["solves"].as_array().unwrap();
    assert!(solves.iter().all(|solve| solve["iterations"] == solves[0]["iterations"]));
    assert!(solves.iter().all(|solve| number(&solve["residual"]["true"]) <= 1e-10));

    let heavier = "invert FIELD --kappa 0.1 --device host --solver multigrid --multigrid-vectors 4";
    let line = format!("{heavier} --multigrid-setup set.mg --output x.lime");
    run(&folder, &line).expect(0).says(&["vectors of"]);
    assert!(residual(&solution(&folder, "x.lime"), (1.0, -0.1), "antiperiodic", ORIGIN) < 1.01e-10);
    let line = format!("{heavier} --multigrid-setup set.mg --boundary periodic");
    assert_refused(&folder, &line, 3, &["set.mg", "its links is"]);
    let line = "invert FIELD --kappa 0.1 --device host --solver multigrid --multigrid-vectors 5 --multigrid-setup set.mg";
    assert_refused(&folder, line, 3, &["set.mg", "4 vectors", "5 vectors"]);
    assert_refused(
        &folder,
        "invert FIELD --kappa 0.1 --solver cg --multigrid-levels 2",
        2,
        &["multigrid-levels", "solver = multigrid and auto"],
    );
    let line = "invert FIELD --kappa 0.1 --solver multigrid";
    assert_refused(&folder, &format!("{line} --precision double"), 2, &["mixed-single", "double"]);
    assert_refused(&folder, &format!("{line} --preconditioning none"), 2, &["even-odd", "none"]);
    assert_refused(&folder, &format!("{line} --multigrid-levels 5"), 2, &["multigrid-levels = 5"]);
    let too_many = &["multigrid-vectors = 1024", "from 1 to 128"];
    assert_refused(&folder, &format!("{line} --multigrid-vectors 1024"), 2, too_many);
    let none = &["multigrid-iterations = 0", "from 1 to 1000"];
    assert_refused(&folder, &format!("{line} --multigrid-iterations 0"), 2, none);
    assert_refused(&folder, &format!("{line} --multigrid-smoother 0"), 2, &["multigrid-smoother = 0"]);
    assert_refused(&folder, &format!("{line} --multigrid-cycle w"), 2, &["choose v or k"]);
}

#[test]
fn multigrid_by_name_with_blocks_that_do_not_divide_the_lattice_is_refused() {
    let folder = folder();
    let line = "invert FIELD --kappa 0.11 --device host --solver multigrid --multigrid-block 4x3x2x2 --output x.lime";
    assert_refused(&folder, line, 2, &["blocks of 4x3x2x2 sites do not fit", "--solver auto"]);
    assert!(!folder.path().join("x.lime").exists());
}

#[test]
fn auto_weighs_multigrid_after_the_first_solve_and_says_what_it_expects() {
    let folder = folder();
    let line = |kappa: &str| {
        format!(
            "spectrum FIELD --kappa {kappa} --device 0.0 --multigrid-vectors 3 --multigrid-setup set.mg --verbose --json"
        )
    };
    let heavy =
        run(&folder, &line("0.11")).expect(0).says(&["auto: 11 solves left", "going on without"]).json();
    assert_eq!(
        (&heavy["method"], &heavy["multigrid_choice"]["multigrid"]),
        (&"bicgstab".into(), &false.into())
    );
    assert!(!folder.path().join("set.mg").exists());

    let light = run(&folder, &line("0.13")).expect(0);
    let light = light.says(&["auto: 11 solves left", "going on by multigrid", "wrote set.mg"]).json();
    let choice = &light["multigrid_choice"];
    assert_eq!((&light["method"], &choice["solves_left"]), (&"multigrid".into(), &11.into()));
    assert!(number(&choice["multigrid_set_up"]) > 0.0);
    let solver = |result: &Value, solve: usize| result["solves"][solve]["attempts"][0]["solver"].clone();
    assert_eq!((solver(&light, 0), solver(&light, 1)), ("bicgstab".into(), "multigrid".into()));
    let solves = light["solves"].as_array().unwrap();
    for solve in solves {
        assert!(number(&solve["residual"]["true"]) <= 1e-10, "{solve}");
    }
    // The columns after the first are solved for at once.
    assert!(solves[1..].iter().all(|solve| solve["iterations"] == solves[1]["iterations"]));
    // A set-up that is there costs nothing, and the solutions have the same bits.
    let again = run(&folder, &line("0.13")).expect(0).says(&["going on by multigrid", "vectors of"]).json();
    assert_eq!(number(&again["multigrid_choice"]["multigrid_set_up"]), 0.0);
    assert_eq!(light["correlators"], again["correlators"]);
    let of_bicgstab = json(&folder, "spectrum FIELD --kappa 0.13 --device 0.0 --solver bicgstab");
    let pions = [&light, &of_bicgstab].map(|result| number(&result["effective_mass"][1]));
    assert!(relative(pions[0], pions[1]) < 1e-7, "{pions:?}");
}

#[test]
fn cycles_that_do_not_converge_are_told_and_another_method_goes_on() {
    let folder = folder();
    // Far beyond the critical κ a smoother makes residuals larger.
    let line = "spectrum FIELD --kappa 0.25 --device 0.0 --solver multigrid --multigrid-vectors 1 --multigrid-levels 2 --json";
    let run = run(&folder, line).expect(0);
    let result = run.says(&["warning", "multigrid: ", " cycles to ", "going on with bicgstab"]).json();
    assert_eq!(result["solver"], "multigrid");
    assert_ne!(result["method"], "multigrid");
    let solves = result["solves"].as_array().unwrap();
    let solver = |solve: usize, attempt: usize| solves[solve]["attempts"][attempt]["solver"].clone();
    assert_eq!((solver(0, 0), solver(0, 1)), ("multigrid".into(), "bicgstab".into()));
    assert_ne!(solver(1, 0), "multigrid", "it is not tried again");
    for solve in solves {
        assert!(number(&solve["residual"]["true"]) <= 1e-10, "{solve}");
    }
}

#[test]
fn the_mass_form_has_the_solutions_of_the_kappa_form_times_two_kappa() {
    let folder = folder();
    let mass = 0.5 / KAPPA - 4.0;
    let options = "--device host --tol 1e-12 --output";
    json(&folder, &format!("invert FIELD --kappa {KAPPA} {options} kappa"));
    let result = json(&folder, &format!("invert FIELD --mass {mass} {options} mass"));
    assert_eq!(result["normalisation"], "mass");
    assert!(relative(number(&result["kappa"]), KAPPA) < 1e-14);
    let (kappa, mass_form) = (solution(&folder, "kappa"), solution(&folder, "mass"));
    let factors = (4.0 + mass, -0.5);
    assert!(residual(&mass_form, factors, "antiperiodic", ORIGIN) < 1e-11);
    for (a, b) in kappa.iter().zip(&mass_form) {
        for (a, b) in a.0.iter().flatten().zip(b.0.iter().flatten()) {
            assert!((a * (2.0 * KAPPA) - b).norm() < 1e-11);
        }
    }
}

#[test]
fn boundaries_and_sources_are_those_asked_for() {
    let folder = folder();
    let signs = ["antiperiodic", "periodic", "1,1,1,-1", "1,-1,1,1", "-1,1,1,1"];
    for boundary in
        signs.into_iter().chain(["antiperiodic --theta -0.2,0.4,0,0.1", "periodic --theta 0,0,0,0.5"])
    {
        let line =
            format!("invert FIELD --kappa 0.11 --device host --boundary {boundary} --output x.lime --force");
        let result = json(&folder, &line);
        assert_eq!(result["boundary"], serde_json::json!(boundary_of(boundary).signs()));
        assert_eq!(result["theta"], serde_json::json!(boundary_of(boundary).theta().angles()));
        let x = solution(&folder, "x.lime");
        assert!(residual(&x, KAPPA_FACTORS, boundary, ORIGIN) < 1e-9, "{boundary}");
        // The check can tell boundaries apart.
        assert!(residual(&x, KAPPA_FACTORS, "-1,-1,-1,1", ORIGIN) > 1e-6);
    }
    let sources = [
        ("--source point:1,2,3,5 --spin 2 --color 1", ([1, 2, 3, 5], 2, 1)),
        ("--source point:3,0,0,7 --spin 3 --colour 2", ([3, 0, 0, 7], 3, 2)),
        ("--color=1 --color never", ([0; 4], 0, 1)),
    ];
    for (options, source) in sources {
        let line = format!("invert FIELD --kappa 0.11 --device host {options} --output x.lime --force");
        let result = json(&folder, &line);
        assert_eq!((&result["spin"], &result["color"]), (&source.1.into(), &source.2.into()));
        let record = io::read_propagator(folder.path().join("x.lime")).unwrap().records.remove(0);
        assert_eq!((record.spin, record.colour), (source.1, source.2));
        let here = residual(&record.field, KAPPA_FACTORS, "antiperiodic", source);
        assert!(here < 1e-9, "{options}: {here:e}");
    }
}

#[test]
fn plots_are_svg() {
    let folder = folder();
    for command in ["invert", "spectrum"] {
        let line = format!("{command} FIELD --kappa 0.11 --device host --plot {command}.svg");
        run(&folder, &line).expect(0);
        let svg = std::fs::read_to_string(folder.path().join(format!("{command}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
        assert!(svg.contains("cli_solve.ildg, κ = 0.11, 4x4x4x8"), "{command}");
        let words = match command {
            "invert" => {
                &["bicgstab on the even-odd direct system", "tolerance", "true residual of the solution"][..]
            }
            _ => &["correlator C(n)", "no effective mass at n = 0"],
        };
        for word in words {
            assert!(svg.contains(word), "{command}: {word}");
        }
    }
    for name in ["plot.png", "plot"] {
        let line = format!("invert FIELD --kappa 0.11 --device host --plot {name}");
        assert_refused(&folder, &line, 2, &[name, "end in .svg", "--plot plot.svg"]);
    }
    assert_eq!(names(&folder), ["invert.svg", "spectrum.svg"]);
}

#[test]
fn spectrum_gives_the_correlator_of_its_twelve_solutions() {
    let folder = folder();
    let source = [1, 2, 3, 5];
    for (mu, along) in ["x", "y", "z", "t"].into_iter().enumerate() {
        let line = format!(
            "spectrum FIELD --kappa 0.11 --device host --along {along} --source point:1,2,3,5 --output p.lime --force"
        );
        let result = json(&folder, &line);
        assert_eq!(result["schema_version"], 1);
        assert_eq!(result["normalisation"], "kappa");
        assert_eq!(result["along"], along);
        let solves = result["solves"].as_array().unwrap();
        assert_eq!(solves.len(), 12);
        for (k, solve) in solves.iter().enumerate() {
            assert_eq!((&solve["spin"], &solve["color"]), (&(k / 3).into(), &(k % 3).into()));
            assert!(solve["iterations"].as_u64().unwrap() > 0);
            assert_eq!(keys(&solve["residual"]), ["iterated", "true"]);
            assert!(number(&solve["residual"]["true"]) <= 1e-10);
        }

        let propagator = io::read_propagator(folder.path().join("p.lime")).unwrap();
        assert_eq!(propagator.records.len(), 12);
        let mut wanted = vec![0.0; EXTENTS[mu]];
        for (k, record) in propagator.records.iter().enumerate() {
            assert_eq!((record.spin, record.colour), (k / 3, k % 3));
            let source = (source, record.spin, record.colour);
            assert!(residual(&record.field, KAPPA_FACTORS, "antiperiodic", source) < 1e-9);
            for (site, spinor) in record.field.iter().enumerate() {
                let here = propagator.dims.coordinates(site)[mu] + EXTENTS[mu];
                wanted[(here - source.0[mu]) % EXTENTS[mu]] += spinor.norm2();
            }
        }
        let pion = numbers(&result["correlators"]["pion"]);
        assert_eq!(pion.len(), wanted.len());
        for (value, wanted) in pion.iter().zip(&wanted) {
            assert!(relative(*value, *wanted) < 1e-12, "{along}: {value} {wanted}");
        }
    }
}

#[test]
fn the_free_correlator_is_symmetric() {
    let folder = folder();
    let free = random::cold(Dims::new(EXTENTS).unwrap());
    let path = folder.path().join("free.ildg");
    io::write_gauge(&path, &free, &WriteOptions::new(Format::Ildg)).unwrap();
    for device in &TEAMS[..3] {
        for (along, extent) in [("t", 8), ("z", 4)] {
            let line = format!("spectrum free.ildg --kappa 0.11 --tol 1e-11 --along {along} {device}");
            let pion = numbers(&json(&folder, &line)["correlators"]["pion"]);
            for n in 1..extent {
                assert!(relative(pion[n], pion[extent - n]) < 1e-9, "{along} {n}: {pion:?}");
            }
            assert!(pion[1] < 0.5 * pion[0] && pion[2] < pion[1], "{pion:?}");
        }
    }
}

#[test]
fn a_spectrum_may_be_solved_for_all_sources_at_once() {
    let folder = folder();
    let spectrum = |options: &str| {
        json(&folder, &format!("spectrum FIELD --kappa 0.12 --device host --source point:1,2,3,5 {options}"))
    };
    let iterations = |result: &Value| -> Vec<u64> {
        result["solves"]
            .as_array()
            .unwrap()
            .iter()
            .map(|solve| solve["iterations"].as_u64().unwrap())
            .collect()
    };
    let alone = spectrum("--solver cg --preconditioning even-odd");
    let fewest = *iterations(&alone).iter().min().unwrap();
    for options in ["", "--preconditioning none", "--precision mixed-single"] {
        let result = spectrum(&format!("--solver block-cg {options} --output p.lime --force"));
        assert_eq!((&result["solver"], &result["system"]), (&"block-cg".into(), &"normal".into()));
        let iterations = iterations(&result);
        assert_eq!(iterations, [iterations[0]; 12]);
        if result["preconditioning"] == "even-odd" {
            assert!(iterations[0] < fewest, "{options}: {} {fewest}", iterations[0]);
        }
        let pairs = [&result, &alone].map(|result| numbers(&result["correlators"]["pion"]));
        for (value, wanted) in pairs[0].iter().zip(&pairs[1]) {
            assert!(relative(*value, *wanted) < 1e-9, "{options}: {value} {wanted}");
        }
        let propagator = io::read_propagator(folder.path().join("p.lime")).unwrap();
        assert_eq!(propagator.records.len(), 12);
        for (record, solve) in propagator.records.iter().zip(result["solves"].as_array().unwrap()) {
            let source = ([1, 2, 3, 5], record.spin, record.colour);
            let factors = (1.0, -0.12);
            let found = residual(&record.field, factors, "antiperiodic", source);
            assert!((found - number(&solve["residual"]["true"])).abs() < 1e-13, "{options}: {found} {solve}");
        }
    }
    let failed =
        run(&folder, "spectrum FIELD --kappa 0.11 --device host --solver block-cg --max-iterations 3 --json")
            .expect(1)
            .says(&["all sources at once", "limit of 3 iterations", "--max-iterations"]);
    let result = failed.json();
    assert_eq!(result["converged"], false);
    // All twelve failed, not one.
    let solves = result["solves"].as_array().unwrap();
    assert_eq!(solves.len(), 12);
    for (k, solve) in solves.iter().enumerate() {
        assert_eq!((&solve["spin"], &solve["color"]), (&(k / 3).into(), &(k % 3).into()));
        assert_eq!((&solve["converged"], &solve["iterations"]), (&false.into(), &3.into()));
    }
}

#[test]
fn spectrum_agrees_with_the_values_of_another_code() {
    let Some(shared) = common::shared() else { return };
    let text = std::fs::read_to_string(shared.join("reference/computed.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let case = cases
        .as_array()
        .unwrap()
        .iter()
        .find(|case| case["file"] == "weak_field.lime" && case["kappa"] == 0.11 && case["c_sw"] == 0.0)
        .unwrap();
    let file = shared.join("data/weak_field.lime");
    let folder = folder();
    for device in &TEAMS[..3] {
        let line = format!("spectrum {} --kappa 0.11 --tol 1e-11 {device}", file.display());
        let pion = numbers(&json(&folder, &line)["correlators"]["pion"]);
        let wanted = numbers(&case["pion_correlator"]);
        assert_eq!(pion.len(), wanted.len());
        for (value, wanted) in pion.iter().zip(&wanted) {
            assert!(relative(*value, *wanted) < 1e-9, "{device}: {value} {wanted}");
        }
    }
}

#[test]
fn arguments_that_make_no_sense_are_usage_errors() {
    let folder = folder();
    let cases = [
        ("", &["--kappa <K>", "--mass <M>"][..]),
        ("--kappa 0.1 --mass 0.1", &["cannot be used with"]),
        ("--kappa NaN", &["'NaN' for '--kappa", "a finite number is wanted"]),
        ("--kappa 0.1 --tol 1", &["--tol 1", "below 1"]),
        ("--kappa -0.1", &["kappa = -0.1", "positive"]),
        ("--kappa 0", &["kappa = 0.0", "positive"]),
        ("--kappa inf", &["'inf' for '--kappa", "a finite number is wanted"]),
        ("--kappa 1e-320", &["kappa = 1e-320", "1/kappa"]),
        ("--kappa many", &["many", "--kappa"]),
        ("--mass -4", &["mass = -4", "above -4"]),
        ("--mass 1e308", &["mass = 1e308"]),
        ("--kappa 0.1 --source point:4,0,0,0", &["point:4,0,0,0", "4x4x4x8", "x runs from 0 to 3"]),
        ("--kappa 0.1 --source point:0,0,0,8", &["t runs from 0 to 7"]),
        ("--kappa 0.1 --source point:0,0,0", &["point:x,y,z,t"]),
        ("--kappa 0.1 --source point:-1,0,0,0", &["point:x,y,z,t"]),
        ("--kappa 0.1 --source 0,0,0,0", &["point:x,y,z,t"]),
        ("--kappa 0.1 --boundary 1,1,1", &["four signs"]),
        ("--kappa 0.1 --boundary 1,1,1,2", &["four signs"]),
        ("--kappa 0.1 --theta 0.5", &["four numbers", "units of pi"]),
        ("--kappa 0.1 --theta 0,0,0,NaN", &["four numbers", "between -1000000 and 1000000"]),
        ("--kappa 0.1 --anisotropy 0", &["anisotropy = 0.0", "positive"]),
        ("--kappa 0.1 --nu -1", &["nu = -1.0", "positive"]),
        ("--kappa 0.3 --anisotropy 3", &["kappa = 0.3", "multiple of 1"]),
        ("--kappa 0.1 --flavour down", &["--mu"]),
        ("--kappa 0.1 --mu 0.1 --flavour strange", &["up, down or both"]),
        ("--kappa 0.1 --clover-r 1", &["--clover-t"]),
        ("--kappa 0.1 --clover-r 1 --clover-t 1 --csw 1", &["--csw"]),
        ("--kappa 0.1 --clover-r 1 --clover-t NaN", &["clover-t", "NaN", "finite"]),
        ("--kappa 0.1 --tol 0", &["--tol 0", "positive"]),
        ("--kappa 0.1 --tol NaN", &["'NaN' for '--tol", "finite"]),
        ("--kappa 0.1 --tol -1", &["--tol -1", "positive"]),
        ("--kappa 0.1 --tol inf", &["'inf' for '--tol", "finite"]),
        ("--kappa 0.1 --max-iterations -1", &["--max-iterations"]),
        ("--kappa 0.1 --solver cg --system direct", &["cg", "direct", "--system normal"]),
        ("--kappa 0.1 --solver cg --system hermitian", &["cg", "hermitian", "--solver cr"]),
        ("--kappa 0.1 --solver gcr --system normal", &["gcr", "normal", "leave out --system"]),
        ("--kappa 0.1 --solver minres --system normal", &["minres", "hermitian", "leave out --system"]),
        ("--kappa 0.1 --system other", &["normal, hermitian or direct"]),
        ("--kappa 0.1 --precision half", &["double, single", "mixed for"]),
        ("--kappa 0.1 --system normal", &["--solver auto", "normal", "leave out --system"]),
    ];
    for command in ["invert", "spectrum"] {
        for (options, words) in cases {
            assert_refused(&folder, &format!("{command} FIELD --device host {options}"), 2, words);
        }
    }
    for (options, words) in [
        ("--spin 4", &["--spin", "0..=3"][..]),
        ("--color 3", &["--colour", "0..=2"]),
        ("--colour 3", &["--colour", "0..=2"]),
    ] {
        let line = format!("invert FIELD --device host --kappa 0.1 {options}");
        assert_refused(&folder, &line, 2, words);
    }
    let line = "invert FIELD --device host --kappa 0.1 --solver block-cg";
    assert_refused(&folder, line, 2, &["block-cg", "several sources", "spectrum"]);
    let line = "spectrum FIELD --device host --kappa 0.1 --solver block-cg --system direct";
    assert_refused(&folder, line, 2, &["block-cg", "direct", "--system normal"]);
    let line = "spectrum FIELD --device host --kappa 0.1 --along w";
    assert_refused(&folder, line, 2, &["choose x, y, z or t"]);
}

#[test]
fn devices_that_are_not_there_are_refused_with_those_that_are() {
    let folder = folder();
    let listed = json(&folder, "devices");
    let first = listed["devices"][0]["name"].as_str().expect("an OpenCL device").to_owned();
    for device in ["radeon-of-nobody", "77.0", "0.77"] {
        let line = format!("invert FIELD --kappa 0.1 --device {device}");
        assert_refused(&folder, &line, 4, &[device, &first, "cr-solve devices", "--device host"]);
    }
    for pair in ["--device host --device 0.0", "--device 0.0 --device auto"] {
        let line = format!("invert FIELD --kappa 0.1 {pair}");
        let alone = pair.split(' ').find(|word| matches!(*word, "host" | "auto")).unwrap();
        assert_refused(&folder, &line, 2, &[&format!("`{alone}`"), "alone"]);
    }
}

#[test]
fn unwritable_files_are_found_before_anything_is_read() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    for command in ["invert", "spectrum"] {
        for option in ["--output", "--plot"] {
            for (path, words) in [
                ("no/such/file", &["no/such/file", "folder"][..]),
                ("sub", &["sub", "a directory"]),
                ("new/", &["new/", "a directory"]),
                ("/dev/null", &["/dev/null", "regular file"]),
            ] {
                // The configuration does not exist: had it been looked for, this would be the complaint.
                let line = format!("{command} missing.ildg --kappa 0.1 --device host {option} {path}");
                assert_refused(&folder, &line, 3, words);
            }
        }
    }
    let line = "invert missing.ildg --kappa 0.1 --device host";
    assert_refused(&folder, line, 3, &["missing.ildg", "cannot open the file"]);
    assert_eq!(names(&folder), ["sub"]);
}

/// A run in which no file may grow beyond some 20 kB, a fraction of a solution: what a full disk does, as an error and not as a signal.
#[cfg(unix)]
fn run_on_a_full_disk(folder: &TempDir, line: &str) -> Run {
    let line = line.replace("FIELD", weak_field().1.to_str().unwrap());
    let mut limited = Command::new("sh");
    limited
        .current_dir(folder)
        .args(["-c", r#"trap "" XFSZ; ulimit -f 40; exec "$@""#, "sh"])
        .arg(assert_cmd::cargo::cargo_bin!("cr-solve"))
        .args(line.split(' '));
    finished(limited, &line)
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_file_and_hides_no_result() {
    let folder = folder();
    for (command, result) in [("invert", "solution_norm2"), ("spectrum", "correlators")] {
        let line = format!("{command} FIELD --kappa 0.11 --device host --json --output x.lime");
        let run =
            run_on_a_full_disk(&folder, &line).expect(3).says(&["error: x.lime: cannot write the file"]);
        assert!(keys(&run.json()).contains(&result), "{}", run.stdout);
        assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    }
}

#[cfg(unix)]
#[test]
fn an_output_that_cannot_be_written_does_not_hide_why_a_solve_failed() {
    let folder = folder();
    let line =
        "invert FIELD --kappa 0.11 --solver cr --device host --json --max-iterations 3 --output x.lime";
    let words = ["warning: x.lime: cannot write the file", "no convergence after 3 iterations"];
    let run = run_on_a_full_disk(&folder, line).expect(1).says(&words);
    assert!(!run.stderr.contains("holds"), "{}", run.stderr);
}

#[test]
fn a_checkpoint_spares_files_that_are_not_its_own() {
    let folder = folder();
    let place = |name: &str| folder.path().join(name);
    std::fs::copy(&weak_field().1, place("run.0-0.lime")).unwrap();
    let before = std::fs::read(place("run.0-0.lime")).unwrap();
    let options = "--kappa 0.11 --device host";
    let line = format!("spectrum run.0-0.lime {options} --checkpoint run");
    assert_refused(&folder, &line, 2, &["run.0-0.lime would overwrite the input"]);
    let line = format!("spectrum FIELD {options} --checkpoint job --output job.3-2.lime");
    assert_refused(&folder, &line, 2, &["--output and --checkpoint are both"]);
    let line = format!("spectrum FIELD {options} --checkpoint run");
    assert_refused(&folder, &line, 2, &["run.0-0.lime", "something else"]);
    assert_eq!(std::fs::read(place("run.0-0.lime")).unwrap(), before);

    // What a job left that was killed before its first state.
    let note = "<info>solution for a source, part of the checkpoint job</info>";
    std::fs::write(place("job.1-0.lime"), note).unwrap();
    let line = format!("spectrum FIELD {options} --checkpoint job");
    run(&folder, &line).expect(0);
    assert_eq!(names(&folder), ["run.0-0.lime"]);
}

#[test]
fn nothing_overwrites_the_configuration_or_the_other_file() {
    let folder = folder();
    let conf = folder.path().join("conf.ildg");
    std::fs::copy(&weak_field().1, &conf).unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("conf.ildg", folder.path().join("link")).unwrap();
    let before = std::fs::read(&conf).unwrap();
    let mut aliases = vec!["conf.ildg", "./conf.ildg", "sub/../conf.ildg"];
    if cfg!(unix) {
        aliases.push("link");
    }
    for command in ["invert", "spectrum"] {
        for option in ["--output", "--plot"] {
            for &alias in &aliases {
                let line = format!("{command} conf.ildg --kappa 0.1 --device host {option} {alias}");
                assert_refused(&folder, &line, 2, &[option, alias, "would overwrite", "conf.ildg"]);
            }
        }
        let line = format!("{command} conf.ildg --kappa 0.1 --device host --output new --plot sub/../new");
        assert_refused(&folder, &line, 2, &["--output and --plot"]);
    }
    assert_eq!(std::fs::read(&conf).unwrap(), before);
    assert!(!folder.path().join("new").exists());
}

#[test]
fn files_that_are_no_sound_configuration_are_refused() {
    let folder = folder();
    let sound = std::fs::read(&weak_field().1).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("empty", b"");
    write("header", &sound[..100]);
    write("payload", &sound[..sound.len() / 2]);
    write("text", "no links here\n".repeat(100).as_bytes());
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    for (name, words) in [
        ("empty", &["the file is empty"][..]),
        ("header", &["truncated", "byte"]),
        ("payload", &["truncated", "byte"]),
        ("text", &["not a gauge configuration"]),
        ("sub", &["a directory"]),
        ("/dev/null", &["not a regular file"]),
    ] {
        for command in ["invert", "spectrum"] {
            let line = format!("{command} {name} --kappa 0.1 --device host --output out --plot plot.svg");
            assert_refused(&folder, &line, 3, &[&[name], words].concat());
        }
    }
    assert!(!folder.path().join("out").exists() && !folder.path().join("plot.svg").exists());

    // The last bit of one mantissa, among the links.
    let mut flipped = sound.clone();
    flipped[sound.len() / 16 * 8 + 7] ^= 1;
    write("flipped", &flipped);
    let info = json(&folder, "info flipped --ignore-checksum");
    let sums = ["stored", "computed"].map(|key| info["checksum"][key].to_string());
    let sums: Vec<&str> = sums
        .iter()
        .flat_map(|sum| sum.split(|c: char| !c.is_ascii_alphanumeric()))
        .filter(|word| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .collect();
    assert_eq!(sums.len(), 4, "{info}");
    assert_refused(&folder, "invert flipped --kappa 0.1 --device host", 1, &sums);
    assert_eq!(
        json(&folder, "invert flipped --kappa 0.1 --device host --ignore-checksum")["converged"],
        true
    );
}

#[test]
fn links_that_are_not_finite_never_give_a_result() {
    let folder = folder();
    let mut bytes = std::fs::read(&weak_field().1).unwrap();
    let number = bytes.len() / 16 * 8;
    bytes[number..number + 8].fill(0xff);
    // Without its checksum, under another name, the file is valid in all but this number.
    let kind = b"scidac-checksum";
    let record = bytes.windows(kind.len()).position(|window| window == kind).unwrap();
    bytes[record] = b'x';
    std::fs::write(folder.path().join("nan.ildg"), bytes).unwrap();
    for ignored in ["", "--ignore-checksum", "--ignore-checksum --ignore-unitarity"] {
        let line = format!("invert nan.ildg --kappa 0.1 --device host --output out {ignored}");
        assert_refused(&folder, &line, 3, &["nan.ildg", "(x, y, z, t)", "not finite"]);
    }
    assert_eq!(names(&folder), ["nan.ildg"]);
}

#[test]
fn a_solve_that_gives_up_fails_and_still_tells_and_writes_what_it_reached() {
    let folder = folder();
    let line = "invert FIELD --kappa 0.11 --solver cr --preconditioning none --device host --max-iterations 3 --output best.lime --json";
    let run = run(&folder, line).expect(1).says(&[
        "no convergence after 3 iterations",
        "best.lime holds the best iterate",
        "--max-iterations",
    ]);
    let result = run.json();
    assert_eq!(result["converged"], false);
    assert_eq!(result["iterations"], 3);
    assert_eq!(numbers(&result["history"]).len(), 4);
    assert!(result["failure"].as_str().unwrap().contains("limit of 3"));
    let here = residual(&solution(&folder, "best.lime"), KAPPA_FACTORS, "antiperiodic", ORIGIN);
    assert!(here > 1e-3 && here < 1.0, "{here:e}");
    assert!(relative(number(&result["residual"]["true"]), here) < 1e-9);

    let line =
        "spectrum FIELD --kappa 0.11 --solver cr --device host --max-iterations 3 --output none.lime --json";
    let run =
        self::run(&folder, line).expect(1).says(&["spin 0, colour 0", "no convergence after 3 iterations"]);
    let result = run.json();
    assert_eq!(result["converged"], false);
    assert!(numbers(&result["correlators"]["pion"]).is_empty());
    assert_eq!(result["solves"][0]["converged"], false);
    assert_eq!(names(&folder), ["best.lime"]);
}

#[test]
fn a_spectrum_that_fails_midway_keeps_the_solutions_before() {
    let folder = folder();
    let all =
        json(&folder, "spectrum FIELD --kappa 0.11 --device host --solver bicgstab --preconditioning none");
    let iterations = numbers(&Value::Array(
        all["solves"].as_array().unwrap().iter().map(|solve| solve["iterations"].clone()).collect(),
    ));
    // As many iterations as the first solve needs are too few for a later one.
    let fails = iterations.iter().position(|&n| n > iterations[0]).expect("sources differ");
    let limit = iterations[0];
    let line = format!(
        "spectrum FIELD --kappa 0.11 --device host --solver bicgstab --preconditioning none --max-iterations {limit} --output some.lime --plot no.svg --json"
    );
    let run = run(&folder, &line).expect(1).says(&["some.lime holds", "before the one that failed"]);
    let result = run.json();
    let solves = result["solves"].as_array().unwrap();
    assert_eq!(solves.len(), fails + 1);
    assert!(solves[..fails].iter().all(|solve| solve["converged"] == true));
    assert_eq!(solves[fails]["converged"], false);
    assert_eq!(io::read_propagator(folder.path().join("some.lime")).unwrap().records.len(), fails);
    assert_eq!(names(&folder), ["some.lime"]);
}

#[test]
fn a_tolerance_beyond_the_precision_fails_with_a_good_iterate() {
    let folder = folder();
    for (options, reached) in [
        ("--tol 1e-300 --solver cr", 1e-14),
        ("--tol 1e-300 --solver cr --system hermitian", 1e-14),
        ("--tol 1e-300 --solver cr --system direct", 1e-14),
        ("--tol 1e-300 --solver cg", 1e-14),
        ("--tol 1e-12 --solver cr --precision single", 1e-5),
    ] {
        let line = format!(
            "invert FIELD --kappa 0.11 {options} --device host --json --output x.lime --force --preconditioning none"
        );
        let result = run(&folder, &line).expect(1).says(&["precision limit", "loosen --tol"]).json();
        assert_eq!(result["converged"], false);
        let here = residual(&solution(&folder, "x.lime"), KAPPA_FACTORS, "antiperiodic", ORIGIN);
        assert!(here < reached, "{options}: {here:e}");
    }
}

#[test]
fn an_enormous_kappa_fails_with_finite_output() {
    let folder = folder();
    for precision in ["double", "single"] {
        let line = format!(
            "invert FIELD --kappa 1e300 --solver cr --device host --precision {precision} --json --output x.lime --force --plot x.svg"
        );
        let result = run(&folder, &line).expect(1).says(&["no convergence", "hint: "]).json();
        assert_eq!(result["converged"], false);
        assert!(number(&result["solution_norm2"]).is_finite());
        let x = solution(&folder, "x.lime");
        assert!(x.iter().all(|spinor| spinor.norm2().is_finite()));
    }
}

#[test]
fn a_singular_operator_is_no_success() {
    let folder = folder();
    let free = random::cold(Dims::new(EXTENTS).unwrap());
    let path = folder.path().join("free.ildg");
    io::write_gauge(&path, &free, &WriteOptions::new(Format::Ildg)).unwrap();
    // Constant fields are zero modes of the free operator at kappa = 1/8.
    let methods =
        ["--solver cr", "--solver cr --system hermitian", "--solver cr --system direct", "--solver cg"];
    for method in methods {
        let line = format!(
            "invert free.ildg --kappa 0.125 --boundary periodic --device host {method} --preconditioning none --json"
        );
        let result = run(&folder, &line).expect(1).says(&["no convergence", "hint: "]).json();
        assert_eq!(result["converged"], false, "{method}");
        assert!(number(&result["residual"]["true"]) > 1e-3, "{method}");
    }
}

#[test]
fn an_automatic_choice_says_what_it_tried() {
    let folder = folder();
    // Beyond the critical kappa.
    let line = "spectrum FIELD --kappa 0.2 --device host --json";
    let run = run(&folder, line).expect(0).says(&[
        "warning: bicgstab even-odd in mixed-single: ",
        "going on with cg even-odd in mixed-single from",
    ]);
    assert_eq!(run.stderr.matches("warning: ").count(), 1, "later sources begin with what worked");
    let result = run.json();
    for (key, wanted) in [
        ("solver", "auto"),
        ("system", "normal"),
        ("preconditioning", "even-odd"),
        ("precision", "mixed-single"),
    ] {
        assert_eq!(result[key], wanted);
    }
    let solves = result["solves"].as_array().unwrap();
    let attempts = solves[0]["attempts"].as_array().unwrap();
    let expected_keys =
        ["solver", "system", "preconditioning", "precision", "iterations", "residual", "failure"];
    assert_eq!(keys(&attempts[0]), expected_keys);
    assert_eq!((&attempts[0]["solver"], &attempts[1]["solver"]), (&"bicgstab".into(), &"cg".into()));
    assert!(attempts[0]["failure"].is_string() && attempts[1]["failure"].is_null(), "{attempts:?}");
    assert!(solves[1..].iter().all(|solve| solve["attempts"].as_array().unwrap().len() == 1));

    let free = random::cold(Dims::new(EXTENTS).unwrap());
    let path = folder.path().join("free.ildg");
    io::write_gauge(&path, &free, &WriteOptions::new(Format::Ildg)).unwrap();
    // Constant fields are zero modes of the free operator at kappa = 1/8.
    let line = "invert free.ildg --kappa 0.125 --boundary periodic --device host --output best.lime --json";
    let run = self::run(&folder, line).expect(1).says(&[
        "error: no convergence",
        "bicgstab even-odd in mixed-single: ",
        "cg even-odd in mixed-single: ",
        "cg even-odd in double: ",
        "best.lime holds the best iterate",
    ]);
    let result = run.json();
    assert_eq!((&result["converged"], result["attempts"].as_array().unwrap().len()), (&false.into(), 3));
    // What is left is the part of the source that is constant on the 256 even sites: 1 / sqrt(256).
    assert!((number(&result["residual"]["true"]) - 0.0625).abs() < 1e-6, "{}", result["residual"]);
    assert_eq!(solution(&folder, "best.lime").len(), 512);
}

#[test]
fn the_host_is_always_listed_and_measured() {
    let folder = folder();
    let listed = json(&folder, "devices");
    assert_eq!(listed["schema_version"], 1);
    assert_eq!(listed["host"]["selector"], "host");
    assert!(number(&listed["host"]["bandwidth_gb_s"]) > 0.0);
    let devices = listed["devices"].as_array().unwrap();
    assert!(!devices.is_empty(), "no OpenCL device; run scripts/setup-opencl.sh");
    for device in devices {
        let name = device["name"].as_str().unwrap();
        assert!(number(&device["bandwidth_gb_s"]) > 0.0, "{name}");
        let text = run(&folder, "devices").expect(0).stdout;
        assert!(text.contains(name) && text.contains("host"), "{text}");
    }
    assert_eq!(devices[0]["selector"], "0.0");
}

#[test]
fn without_opencl_the_host_does_it_and_says_so() {
    let folder = folder();
    let vendors = folder.path().join("vendors");
    std::fs::create_dir(&vendors).unwrap();
    let bare = |line: &str| {
        let mut command = program(&folder, line);
        command.env("OCL_ICD_VENDORS", &vendors);
        finished(command, line)
    };
    let listed = bare("devices --json").expect(0).says(&["no platform"]).json();
    assert_eq!(listed["devices"], serde_json::json!([]));
    assert!(listed["absence"].as_str().unwrap().contains("no platform"));
    assert!(number(&listed["host"]["bandwidth_gb_s"]) > 0.0);

    let wanted = json(&folder, "invert FIELD --kappa 0.11 --device host");
    for device in ["", "--device auto"] {
        let result = bare(&format!("invert FIELD --kappa 0.11 --json {device}"))
            .expect(0)
            .says(&["running on the host", "no platform"])
            .json();
        assert_eq!(result["devices"], serde_json::json!(["host"]));
        assert_eq!(result["solution_norm2"], wanted["solution_norm2"]);
    }
    for device in ["0.0", "some-name"] {
        let refused = bare(&format!("invert FIELD --kappa 0.11 --device {device}")).expect(4).says(&[
            "no platform",
            "hint: ",
            "--device host",
        ]);
        assert_eq!(refused.stdout, "");
    }
}

/// Writes a job for the weak field.
fn write_job(folder: &TempDir, text: &str) {
    let text = text.replace("FIELD", weak_field().1.to_str().unwrap());
    std::fs::write(folder.path().join("job.toml"), text).unwrap();
}

#[test]
fn a_job_does_what_the_same_options_do_and_is_told_with_the_result() {
    let folder = folder();
    write_job(
        &folder,
        "command = \"invert\"\n[configuration]\nfile = \"FIELD\"\nlinks = 12\n[action]\nkappa = 0.1\nboundary = \"periodic\"\n\
         [sources]\nsource = \"point:1,0,2,3\"\ncolour = 1\n[solver]\nsolver = \"cg\"\n[outputs]\noutput = \"job.lime\"\n",
    );
    let job = json(&folder, "run job.toml --set action.kappa=0.11 --set spin=2 --set device=host");
    let options = "--links 12 --boundary periodic --source point:1,0,2,3 --spin 2 --colour 1 --solver cg";
    let wanted =
        json(&folder, &format!("invert FIELD --kappa 0.11 {options} --output line.lime --device host"));
    let mut told = without_times(job.clone());
    told.as_object_mut().unwrap().remove("job");
    assert_eq!(told, without_times(wanted.clone()));
    assert_eq!(solution(&folder, "job.lime"), solution(&folder, "line.lime"));

    let resolved = &job["job"]["resolved"];
    assert_eq!(job["job"]["set"], serde_json::json!(["action.kappa=0.11", "spin=2", "device=host"]));
    assert_eq!(
        keys(resolved),
        ["command", "configuration", "action", "sources", "solver", "outputs", "devices"]
    );
    assert_eq!(resolved["devices"]["device"], "host");
    assert_eq!(resolved["command"], "invert");
    assert_eq!(resolved["configuration"]["links"], 12);
    assert_eq!(resolved["configuration"]["ignore-checksum"], false);
    assert_eq!(resolved["action"], serde_json::json!({ "kappa": 0.11, "boundary": "periodic" }));
    assert_eq!(resolved["sources"], serde_json::json!({ "source": "point:1,0,2,3", "spin": 2, "colour": 1 }));
    assert_eq!(
        (&resolved["solver"]["system"], &resolved["solver"]["tol"]),
        (&"normal".into(), &1e-10.into())
    );
    assert_eq!(resolved["solver"]["max-iterations"], 10_000);
    assert!(wanted.get("job").is_none());
}

#[test]
fn a_job_does_not_overwrite_its_own_file() {
    let folder = folder();
    write_job(
        &folder,
        r#"
command = "invert"
[configuration]
file = "FIELD"
[action]
kappa = 0.11
[outputs]
output = "job.toml"
"#,
    );
    let text = || std::fs::read_to_string(folder.path().join("job.toml")).unwrap();
    let before = text();
    assert_refused(&folder, "run job.toml", 2, &["output would overwrite the job file job.toml"]);
    assert_eq!(text(), before);
}

fn sample_job() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/spectrum.toml")
}

#[test]
fn the_sample_job_runs() {
    let folder = folder();
    let sample = sample_job();
    let field = weak_field().1.display();
    let line = format!("run {} --set file={field} --set kappa=0.11 --device host", sample.display());
    let result = json(&folder, &line);
    assert_eq!((&result["solver"], &result["links"]), (&"auto".into(), &18.into()));
    assert_eq!(numbers(&result["correlators"]["pion"]).len(), EXTENTS[3]);

    let text = std::fs::read_to_string(sample_job().with_file_name("lists.toml")).unwrap();
    let field = weak_field().1.to_str().unwrap();
    let text = text.replace("demo/b6.0.ildg", field).replace("4,4,4,8", "2,2,2,4").replace("1e-10", "1e-4");
    std::fs::write(folder.path().join("lists.toml"), text).unwrap();
    let result = json(&folder, "run lists.toml --device host");
    assert_eq!(result["results"].as_array().unwrap().len(), 4);
    assert_eq!(result["results"][3]["label"], "far");
}

#[test]
fn a_report_of_a_spectrum_shows_what_was_computed() {
    let folder = folder();
    let line = "spectrum FIELD --kappa 0.11 --hadrons mesons,octet --device host --report page.html";
    let text = run(&folder, line).expect(0).stdout;
    // What is printed has them by name, too.
    let titles: Vec<_> = text.lines().filter(|line| line.contains(" correlator ")).collect();
    assert_eq!(titles.len(), 3, "{text}");
    let names = ["pion correlator", "rho correlator", "nucleon correlator"];
    assert!(titles.iter().zip(names).all(|(title, name)| title.contains(name)), "{text}");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.ends_with("</html>\n"));
    for words in ["<dt>κ</dt><dd>0.11</dd>", "Solves", "point 0.0.0.0, spin 3, colour 2", "host"] {
        assert!(page.contains(words), "{words}");
    }
    // Hadrons at rest come first, each with a plot and a table.
    let place = |name: &str| page.find(&format!(", {name}</summary>")).unwrap();
    assert!(place("pion") < place("rho") && place("rho") < place("nucleon"));
    assert_eq!((page.matches("<img").count(), page.matches("<details>").count()), (3, 4));
    assert!(page.contains("274 other correlators"), "{}", page.split("<footer>").last().unwrap());
    write_job(
        &folder,
        "command = \"invert\"\n[configuration]\nfile = \"FIELD\"\n[action]\nkappa = 0.11\n[outputs]\nreport = \"p.html\"\n",
    );
    assert_refused(&folder, "run job.toml", 2, &["outputs.report"]);
}

#[test]
fn a_bad_job_is_a_usage_error_that_names_the_line() {
    let folder = folder();
    write_job(
        &folder,
        "command = \"spectrum\"\n[configuration]\nfile = \"FIELD\"\n[action]\nkappa = 0.11\n[solver]\n",
    );
    let cases = [
        ("--set tol=0", &["--tol 0", "key NAME in job.toml"][..]),
        ("--set solver.solver=qmr", &["job.toml, --set solver.solver=qmr", "qmr", "choose", "bicgstab"]),
        ("--set sources.source=point:0", &["--set sources.source", "point:x,y,z,t"]),
        ("--set configuration.links=13", &["configuration.links=13", "18, 12 or 8"]),
        ("--set sources.spin=1", &["sources.spin", "spectrum", "may have source"]),
        ("--set command=invert --set sources.spin=4", &["sources.spin=4", "0..=3"]),
        ("--set action.mass=0.1", &["both kappa and mass"]),
    ];
    for (options, words) in cases {
        assert_refused(&folder, &format!("run job.toml --device host {options}"), 2, words);
    }
    let path = folder.path().join("job.toml");
    let good = std::fs::read_to_string(&path).unwrap();
    for (text, words) in [
        (
            good.replace("kappa", "kapa"),
            &[
                "job.toml, line 5",
                "action.kapa",
                "kappa, mass, mu, flavour, csw, clover-r, clover-t, anisotropy, nu, fat-links, boundary, theta",
            ][..],
        ),
        (good.replace("0.11", "\"0.11\""), &["job.toml, line 5", "a number"]),
        (
            format!("{good}precision = \"half\"\n"),
            &["job.toml, line 7", "precision = half", "double", "single"],
        ),
        (format!("{good}tol = \n"), &["job.toml, line 7"]),
    ] {
        std::fs::write(&path, text).unwrap();
        assert_refused(&folder, "run job.toml --device host", 2, words);
    }
    assert_refused(&folder, "run none.toml", 3, &["none.toml", "cannot be read"]);
}

/// A team of all devices says what is expected of it, beside the fastest of them; `auto` is that one.
#[test]
fn all_devices_say_what_is_expected_of_them() {
    let folder = folder();
    let run = |device: &str| {
        let line = format!("invert FIELD --kappa 0.11 --device {device}");
        let mut command = program(&folder, &line);
        command.env("POCL_DEVICES", "pthread pthread");
        finished(command, &line).expect(0)
    };
    let all = run("all");
    all.says(&[
        "expected for a hop on 4x4x4x8 in double: ",
        "devices together",
        " alone; together each moves ",
    ]);
    let auto = run("auto");
    assert!(!auto.stderr.contains("expected for a hop"), "{}", auto.stderr);
}

/// The events of a trace in one row of a device, as (name, start, end) in microseconds.
fn row(trace: &Value, device: usize, row: &str) -> Vec<(String, f64, f64)> {
    let events = trace["traceEvents"].as_array().unwrap();
    let named = |event: &&Value| {
        event["name"] == "thread_name" && event["args"]["name"] == row && event["pid"] == device
    };
    let tid = &events.iter().find(named).unwrap_or_else(|| panic!("no row {row} of device {device}"))["tid"];
    let in_row =
        events.iter().filter(|event| event["ph"] == "X" && event["pid"] == device && event["tid"] == *tid);
    in_row
        .map(|event| {
            let (start, duration) = (number(&event["ts"]), number(&event["dur"]));
            assert!(start >= 0.0 && duration >= 0.0, "{event}");
            (event["name"].as_str().unwrap().to_owned(), start, start + duration)
        })
        .collect()
}

/// Halos of a team go by the memory that its devices share, or through pinned memory where they may not.
#[test]
fn a_trace_shows_what_ran_on_the_devices() {
    let folder = folder();
    let cases = [
        (TEAMS[1], 1, None),
        (TEAMS[2], 2, None),
        (TEAMS[2], 2, Some("host-flags")),
        (TEAMS[2], 2, Some("off")),
    ];
    for (team, members, ways) in cases {
        let line = format!(
            "invert FIELD --kappa 0.11 --solver cg --preconditioning none --trace trace.json --force {team} --json"
        );
        let mut command = program(&folder, &line);
        command.env_remove(PEER_VARIABLE).envs(ways.map(|ways| (PEER_VARIABLE, ways)));
        let iterations = finished(command, &line).expect(0).json()["iterations"].as_u64().unwrap() as usize;
        let text = std::fs::read_to_string(folder.path().join("trace.json")).unwrap();
        let trace: Value = serde_json::from_str(&text).unwrap();
        let what = format!("{team}, {ways:?}");
        for device in 0..members {
            let compute = row(&trace, device, "compute queue");
            let copy = row(&trace, device, "copy queue");
            let off = ways == Some("off");
            let arrivals = if off { row(&trace, device, "arrivals queue") } else { Vec::new() };
            let waits = row(&trace, device, "host waits");
            for commands in [&compute, &copy, &arrivals] {
                for pair in commands.windows(2) {
                    assert!(pair[1].1 >= pair[0].2 - 0.002, "{what}: {pair:?} overlap in an in-order queue");
                }
            }
            let count = |commands: &[(String, f64, f64)], name: &str| {
                commands.iter().filter(|(found, ..)| found == name).count()
            };
            assert_eq!(
                count(&compute, "solution_and_direction"),
                iterations,
                "{what}: one update of x and p each iteration"
            );
            // What the host reads is read while it waits. Sums that are added on all devices are read from the first.
            let flags = ways == Some("host-flags");
            let mut reads = compute.iter().filter(|(name, ..)| name == "read").peekable();
            assert!(reads.peek().is_some() || (flags && device > 0), "{what}");
            for read in reads {
                let around =
                    |wait: &&(String, f64, f64)| wait.1 <= read.1 + 0.002 && read.2 <= wait.2 + 0.002;
                assert!(waits.iter().filter(around).any(|wait| wait.0 == "read"), "{what}: {read:?}");
            }

            // Both faces are packed before each application, and by nobody alone. Where they go by the host, it may take two launches.
            let (launches, packed) = (count(&compute, "wilson"), count(&compute, "pack_halos"));
            let applications = if members == 1 { launches } else { packed };
            assert!(applications >= 2 * iterations, "{what}: {applications} applications");
            assert_eq!(packed > 0, members > 1, "{what}");
            let most = if off { 2 * applications } else { applications };
            assert!((applications..=most).contains(&launches), "{what}: {launches} launches");
            // They leave by the copy queue and arrive by another, or both are empty.
            let sent = if off { 2 * applications } else { 0 };
            assert_eq!([count(&copy, "read"), count(&arrivals, "write")], [sent; 2], "{what}");
            assert_eq!(arrivals.len(), sent, "{what}");
            // Pinned memory is mapped once for each face of an operator.
            let maps = copy.len() - sent;
            assert_eq!(count(&copy, "map"), maps, "{what}");
            assert!(maps <= if sent == 0 { 0 } else { 8 }, "{what}: {maps} times mapped");
            // Kernels wait, or the host does, for each packing before the application.
            assert_eq!(count(&compute, "peer_wait"), if flags { applications } else { 0 }, "{what}");
            if members == 2 && ways.is_none() {
                assert!(count(&waits, "wait") >= applications, "{what}: {} waits", count(&waits, "wait"));
            }
            // Sums of two devices are sent and added in one launch, or read.
            let [sends, adds] = ["peer_send", "peer_add"].map(|name| count(&compute, name));
            assert!(sends <= 1, "{what}: {sends}");
            assert_eq!(adds > iterations, flags, "{what}");
        }
    }
    run(&folder, "invert FIELD --kappa 0.11 --device host --trace none.json")
        .expect(0)
        .says(&["none.json is empty", "no launches"]);
    let line = "spectrum FIELD --kappa 0.11 --device 0.0 --trace same --output same";
    assert_refused(&folder, line, 2, &["--output and --trace are both the file same"]);
}

/// Starts a run whose messages are read by nobody.
#[cfg(unix)]
fn started(folder: &TempDir, line: &str) -> std::process::Child {
    let words = line.split_whitespace().map(|word| match word {
        "FIELD" => weak_field().1.clone().into_os_string(),
        word => word.into(),
    });
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("cr-solve"));
    command.current_dir(folder).args(words).arg("--json").stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[cfg(unix)]
fn send(signal: &str, child: &Child) {
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success(), "{signal}");
}

/// Waits until `path` has been written `count` times more.
#[cfg(unix)]
fn await_writes(path: &Path, count: usize, child: &mut Child) {
    use std::os::unix::fs::MetadataExt;
    let version = || std::fs::metadata(path).ok().map(|file| (file.ino(), file.mtime(), file.mtime_nsec()));
    let mut last = version();
    let mut seen = 0;
    while seen < count {
        assert_eq!(child.try_wait().unwrap(), None, "the run ended before {} was written", path.display());
        let now = version();
        if now.is_some() && now != last {
            (last, seen) = (now, seen + 1);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// What a result says of everything but time.
fn without_times(mut result: Value) -> Value {
    let object = result.as_object_mut().unwrap();
    for key in ["seconds", "gflops", "bandwidth_gb_s", "provenance"] {
        object.remove(key);
    }
    result
}

#[cfg(unix)]
#[test]
fn a_job_that_is_killed_ten_times_comes_to_the_same_result() {
    let folder = folder();
    let line = "spectrum FIELD --kappa 0.11 --solver cg --preconditioning none --device host --every 0s --output p.lime";
    let whole = without_times(json(&folder, line));
    let propagator = std::fs::read(folder.path().join("p.lime")).unwrap();
    std::fs::remove_file(folder.path().join("p.lime")).unwrap();

    let mut file = "first";
    let mut options = "--checkpoint first".to_owned();
    let mut random = 12345_u64;
    for k in 0..10 {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if k == 5 {
            assert!(
                folder.path().join("first.0-0.lime").exists(),
                "the first of the twelve solves is done by now"
            );
            file = "second";
            options = "--resume first --checkpoint second".to_owned();
        }
        // A state is kept at every look, more than a thousand times in all.
        let mut child = started(&folder, &format!("{line} {options}"));
        await_writes(&folder.path().join(file), 20 + (random >> 59) as usize, &mut child);
        std::thread::sleep(Duration::from_micros(random >> 53));
        send(["-KILL", "-TERM", "-KILL", "-INT"][k % 4], &child);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if k % 2 == 1 {
            assert_eq!(output.status.code(), Some(if k % 4 == 1 { 143 } else { 130 }), "{said}");
            assert!(
                said.contains("interrupted after") && said.contains(&format!("--resume {file}")),
                "{said}"
            );
        }
        options = format!("--resume {file}");
    }
    let rest = json(&folder, &format!("{line} {options}"));
    assert_eq!(without_times(rest), whole);
    assert!(std::fs::read(folder.path().join("p.lime")).unwrap() == propagator, "other solutions");
    // What a killed run was writing stays behind under its hidden name; of the checkpoint that was in use nothing is left.
    let left: Vec<_> = names(&folder).into_iter().filter(|name| !name.starts_with(['.', 'f'])).collect();
    assert_eq!(left, ["p.lime"]);
}

#[cfg(unix)]
#[test]
fn a_job_for_all_sources_at_once_goes_on_where_it_was_killed() {
    let folder = folder();
    let line = "spectrum FIELD --kappa 0.12 --tol 1e-11 --device host --every 0s --output p.lime";
    let block = format!("{line} --solver block-cg --precision mixed-single");
    let whole = without_times(json(&folder, &block));
    let propagator = std::fs::read(folder.path().join("p.lime")).unwrap();
    std::fs::remove_file(folder.path().join("p.lime")).unwrap();
    let mut options = "--checkpoint c";
    for signal in ["-KILL", "-TERM", "-KILL"] {
        let mut child = started(&folder, &format!("{block} {options}"));
        await_writes(&folder.path().join("c"), 3, &mut child);
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        if signal == "-TERM" {
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains("point 0.0.0.0, all sources, at") && said.contains("--resume c"), "{said}");
        }
        options = "--resume c";
    }
    let another = format!("{line} --solver cg --preconditioning even-odd --precision mixed-single");
    assert_refused(&folder, &format!("{another} --resume c"), 2, &["its solver is block-cg, here it is cg"]);
    assert_eq!(without_times(json(&folder, &format!("{block} {options}"))), whole);
    assert!(std::fs::read(folder.path().join("p.lime")).unwrap() == propagator, "other solutions");
    assert!(!folder.path().join("c").exists());
}

/// Waits until the checkpoint at `path` says what is wanted; gives its bytes.
#[cfg(unix)]
fn await_state(path: &Path, child: &mut Child, wanted: impl Fn(&Value) -> bool) -> Vec<u8> {
    loop {
        assert_eq!(child.try_wait().unwrap(), None, "the run ended before {} was such", path.display());
        // Each is another file, that takes the name when it is complete.
        if let (Ok(bytes), Ok(checkpoint)) = (std::fs::read(path), io::read_checkpoint(path))
            && wanted(&serde_json::from_str(&checkpoint.about).unwrap())
            && std::fs::read(path).is_ok_and(|after| after == bytes)
        {
            return bytes;
        }
    }
}

#[cfg(unix)]
#[test]
fn a_job_that_chooses_its_method_can_be_killed_before_and_after_it_falls_back() {
    let folder = folder();
    // Beyond the critical kappa: BiCGStab gives up for the first source, and CG solves this and all others.
    let line = "spectrum FIELD --kappa 0.5 --tol 1e-5 --solver auto --device host --every 4ms";
    let whole = without_times(json(&folder, line));
    let checkpoint = folder.path().join("c");
    let attempts = |state: &Value| state["current"]["attempts"].as_array().map(Vec::len);
    let mut options = "--checkpoint c";
    let stages: [&dyn Fn(&Value) -> bool; 3] =
        [&|state| attempts(state) == Some(0), &|state| attempts(state) == Some(1), &|state| {
            state["finished"].as_array().unwrap().len() >= 5
        }];
    for (stage, signal) in stages.into_iter().zip(["-KILL", "-KILL", "-TERM"]) {
        let mut child = started(&folder, &format!("{line} {options}"));
        let state = await_state(&checkpoint, &mut child, stage);
        send(signal, &child);
        child.wait().unwrap();
        if signal == "-KILL" {
            // It may have come a little further.
            std::fs::write(&checkpoint, state).unwrap();
        }
        options = "--resume c";
    }
    let rest = run(&folder, &format!("{line} {options} --json")).expect(0);
    assert!(!rest.stderr.contains("going on with"), "it fell back long before: {}", rest.stderr);
    assert_eq!(without_times(rest.json()), whole);
}

#[cfg(unix)]
#[test]
fn an_interrupted_solve_leaves_nothing_or_what_it_needs_to_go_on() {
    let folder = folder();
    let larger = random::weak(Dims::new([8, 8, 8, 8]).unwrap(), 0.1, 3);
    io::write_gauge(folder.path().join("larger.ildg"), &larger, &WriteOptions::new(Format::Ildg)).unwrap();
    let line = "invert larger.ildg --kappa 0.12 --solver cr --preconditioning none --tol 1e-12 --spin 1 --device host";
    for signal in ["-INT", "-TERM"] {
        let mut child = started(&folder, &format!("{line} --output x.lime -v"));
        // Said once it listens; solving takes far longer than the signal.
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap().contains("iteration")));
        send(signal, &child);
        let rest: Vec<String> = said.map(Result::unwrap).collect();
        let status = if signal == "-INT" { 130 } else { 143 };
        assert_eq!(child.wait().unwrap().code(), Some(status), "{rest:?}");
        assert!(rest.iter().any(|line| line.contains("interrupted after")), "{rest:?}");
        assert!(rest.iter().any(|line| line.contains("--checkpoint FILE")), "{rest:?}");
        assert_eq!(names(&folder), ["larger.ildg"]);
    }

    let whole = without_times(json(&folder, line));
    let mut child = started(&folder, &format!("{line} --checkpoint c --every 1ms"));
    await_writes(&folder.path().join("c"), 2, &mut child);
    send("-TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(names(&folder), ["c", "larger.ildg"]);
    assert_refused(&folder, &format!("{line} --checkpoint c"), 2, &["--checkpoint c is there", "--resume c"]);

    let differences = [
        (line.replace("0.12", "0.11"), "its kappa is 0.12, here it is 0.11"),
        (line.replace("--spin 1", "--spin 2"), "its spin is 1, here it is 2"),
        (
            line.replace("larger.ildg", "FIELD"),
            "its lattice is 8x8x8x8, here it is 4x4x4x8; its configuration is",
        ),
        (format!("{line} --links 12"), "its links is 18, here it is 12"),
        (format!("{line} --boundary periodic"), "its boundary is"),
        (format!("{line} --theta 0,0.5,0,0"), "its theta is not given, here it is 0,0.5,0,0"),
        (format!("{line} --source point:0,0,0,1"), "its source is point:0,0,0,0"),
        (
            line.replace("--solver cr", "--solver bicgstab"),
            "its solver is cr, here it is bicgstab; its system is normal",
        ),
        (format!("{line} --precision single"), "its precision is double, here it is single"),
        (line.replace("--spin 1", "").replace("invert", "spectrum"), "its command is invert"),
        (line.replace("host", "0.0"), "its storage of fields is on the host"),
    ];
    for (line, wanted) in differences {
        assert_refused(
            &folder,
            &format!("{line} --resume c"),
            2,
            &["c is the checkpoint of another job", wanted],
        );
    }
    let good = std::fs::read(folder.path().join("c")).unwrap();
    let mut damaged = good.clone();
    damaged[good.len() / 2] ^= 1;
    std::fs::write(folder.path().join("damaged"), damaged).unwrap();
    std::fs::write(folder.path().join("short"), &good[..good.len() / 2]).unwrap();
    std::fs::copy(folder.path().join("larger.ildg"), folder.path().join("other")).unwrap();
    assert_refused(&folder, &format!("{line} --resume damaged"), 1, &["damaged: the checkpoint is damaged"]);
    assert_refused(&folder, &format!("{line} --resume short"), 3, &["short: truncated"]);
    assert_refused(&folder, &format!("{line} --resume other"), 3, &["other", "lattice-cl-checkpoint"]);
    assert_refused(&folder, &format!("{line} --resume none"), 3, &["none"]);

    assert_eq!(without_times(json(&folder, &format!("{line} --resume c"))), whole);
    assert_eq!(names(&folder), ["damaged", "larger.ildg", "other", "short"]);
}

#[test]
fn the_default_is_the_automatic_choice_on_the_command_line_and_in_jobs() {
    let folder = folder();
    write_job(
        &folder,
        "command = \"invert\"\n[configuration]\nfile = \"FIELD\"\n[action]\nkappa = 0.11\n[outputs]\noutput = \"x.lime\"\n",
    );
    let results = [
        json(&folder, "invert FIELD --kappa 0.11 --device host"),
        json(&folder, "spectrum FIELD --kappa 0.11 --device host"),
        json(&folder, "run job.toml --device host"),
    ];
    for result in &results {
        assert_eq!(
            [&result["solver"], &result["preconditioning"], &result["precision"]],
            ["auto", "even-odd", "mixed-single"]
        );
    }
    assert_eq!(results[2]["job"]["resolved"]["solver"]["solver"], "auto");
    // Whatever it iterates, the solution is one in double.
    assert!(residual(&solution(&folder, "x.lime"), KAPPA_FACTORS, "antiperiodic", ORIGIN) <= 1e-10);
    for command in ["invert", "spectrum"] {
        let help = run(&folder, &format!("{command} --help")).expect(0).stdout;
        assert!(help.contains("[default: auto]"), "{help}");
    }
}

/// Runs twice on a device whose driver has compiled nothing yet: the first result, and the second.
fn cold_and_warm(line: &str) -> [Value; 2] {
    let (folder, cache) = (folder(), folder());
    [(); 2].map(|()| {
        let mut command = program(&folder, line);
        command.env_remove("LATTICE_CL_NO_CACHE");
        command.env("POCL_CACHE_DIR", cache.path()).env("XDG_CACHE_HOME", cache.path());
        finished(command, line).expect(0).json()
    })
}

#[test]
fn time_of_compilers_is_told_apart() {
    // Few kernels.
    let line = "invert FIELD --kappa 0.11 --solver cg --preconditioning none --device 0.0 --json";
    let [cold, warm] = cold_and_warm(line);
    for (result, which) in [(&cold, "cold"), (&warm, "warm")] {
        let seconds = |key: &str| number(&result["seconds"][key]);
        assert!(seconds("compile") > 0.0 && seconds("setup") >= 0.0, "{which}: {result}");
        assert!(number(&result["gflops"]) > 0.0 && number(&result["bandwidth_gb_s"]) > 0.0, "{which}");
    }
    assert_eq!(without_times(cold), without_times(warm));
    let host = json(&folder(), "spectrum FIELD --kappa 0.11 --device host");
    assert_eq!(host["seconds"]["compile"], 0.0, "nothing is compiled on the host");
    assert!(number(&host["gflops"]) > 0.0 && number(&host["bandwidth_gb_s"]) > 0.0, "{host}");
}

#[test]
fn a_kappa_beyond_every_critical_one_is_noted() {
    let folder = folder();
    for (coupling, noted) in [("--kappa 0.2501", true), ("--mass -2.1", true), ("--kappa 0.2499", false)] {
        let line = format!("invert FIELD {coupling} --tol 1e-3 --device host --solver cg");
        let said = run(&folder, &line).expect(0).stderr;
        assert_eq!(said.contains("above 1/4"), noted, "{coupling}: {said}");
    }
}

#[test]
fn numbers_have_exponents_that_other_programs_read() {
    let folder = folder();
    let text = run(&folder, "spectrum FIELD --kappa 0.11 --device host").expect(0).stdout;
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.len() == 3 && words[0].parse::<usize>().is_ok())
        .collect();
    assert_eq!(rows.len(), EXTENTS[3], "{text}");
    for row in &rows {
        let (_, exponent) = row[1].split_once('e').unwrap();
        assert!(exponent.len() == 3 && exponent.starts_with(['+', '-']), "{row:?}");
    }
    assert_eq!(rows[0][2], "-");
    for words in ["effective mass m(n) = arcosh", "solves ", " s, set-up ", " s, compile "] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn commands_of_the_host_refuse_devices() {
    let folder = folder();
    for command in [
        "generate --dims 2x2x2x2 --beta 6 --sweeps 0 --output new.ildg",
        "info FIELD",
        "convert FIELD new.ildg",
    ] {
        let name = command.split(' ').next().unwrap();
        assert_refused(&folder, &format!("{command} --device 0.0"), 2, &[name, "on the host only", "0.0"]);
        assert!(names(&folder).is_empty());
    }
    run(&folder, "info FIELD --device host").expect(0);
}

/// What a result says of one mass and source, as a job of its own says it.
fn one_result(mut result: Value) -> Value {
    let object = result.as_object_mut().unwrap();
    for key in ["observables", "label"] {
        object.remove(key);
    }
    for solve in object.get_mut("solves").into_iter().flat_map(|solves| solves.as_array_mut().unwrap()) {
        solve.as_object_mut().unwrap().remove("label");
    }
    result
}

#[test]
fn lists_of_masses_and_sources_give_what_jobs_of_their_own_give() {
    let folder = folder();
    write_job(
        &folder,
        r#"
command = "spectrum"
[configuration]
file = "FIELD"
[action]
kappa = [0.10, 0.11]
[[source]]
source = "point:0,0,0,0"
[[source]]
source = "point:1,2,3,5"
label = "far"
[[observable]]
observable = "pion"
along = "t"
[[observable]]
along = "z"
[outputs]
output = "p.lime"
plot = "pion.svg"
[devices]
device = "host"
"#,
    );
    let result = json(&folder, "run job.toml");
    common::schema::assert_valid(&schema(&folder, "spectrum"), &result);
    let results = result["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert_eq!(result["job"]["resolved"]["source"][0]["label"], "point 0.0.0.0");
    let mut found = names(&folder);
    found.retain(|name| name != "job.toml");
    let files: Vec<String> =
        (0..4).map(|k| format!("p.{k}.lime")).chain((0..8).map(|k| format!("pion.{k}.svg"))).collect();
    let mut wanted = files.clone();
    wanted.sort();
    assert_eq!(found, wanted);

    let cases = [("0.1", "0,0,0,0"), ("0.1", "1,2,3,5"), ("0.11", "0,0,0,0"), ("0.11", "1,2,3,5")];
    for (k, ((kappa, site), one)) in cases.into_iter().zip(results).enumerate() {
        let line = format!("spectrum FIELD --kappa {kappa} --source point:{site} --device host");
        let alone = json(&folder, &format!("{line} --output alone.lime --force"));
        // Fewer solves are left to a job of its own.
        let depends = |key: &str| key == "multigrid_choice";
        for (key, value) in
            one_result(one.clone()).as_object().unwrap().iter().filter(|(key, _)| !depends(key))
        {
            assert_eq!(value, &one_result(alone.clone())[key], "{kappa} {site}: {key}");
        }
        let along_z = json(&folder, &format!("{line} --along z"));
        assert_eq!(one["observables"][0]["correlator"], alone["correlators"]["pion"]);
        assert_eq!(one["observables"][1]["correlator"], along_z["correlators"]["pion"]);
        let fields = ["alone.lime".to_owned(), format!("p.{k}.lime")]
            .map(|name| io::read_propagator(folder.path().join(name)).unwrap().records);
        assert!(fields[0].iter().zip(&fields[1]).all(|(a, b)| a.field == b.field), "{k}");
    }
    assert_eq!(results[3]["solves"][5]["label"], "kappa 0.11, far, spin 1, colour 2");
    let text = run(&folder, "run job.toml --set force=true").expect(0).stdout;
    assert_eq!(text.matches("pion correlator").count(), 8, "{text}");
}

#[test]
fn a_list_of_sources_can_be_inverted() {
    let folder = folder();
    write_job(
        &folder,
        "command = \"invert\"\n[configuration]\nfile = \"FIELD\"\n[action]\nkappa = 0.11\n[solver]\nsolver = \"cg\"\n\
         [[source]]\nspin = 2\n[[source]]\nsource = \"point:0,0,0,4\"\ncolour = 1\n[outputs]\noutput = \"x.lime\"\nplot = \"x.svg\"\n",
    );
    let result = json(&folder, "run job.toml --device host");
    common::schema::assert_valid(&schema(&folder, "invert"), &result);
    assert_eq!(result["results"].as_array().unwrap().len(), 2);
    assert_eq!(names(&folder), ["job.toml", "x.0.lime", "x.1.lime", "x.svg"]);
    let source = ([0, 0, 0, 4], 0, 1);
    assert!(residual(&solution(&folder, "x.1.lime"), KAPPA_FACTORS, "antiperiodic", source) < 1e-9);
    let failed = run(&folder, "run job.toml --device host --set max-iterations=2 --set force=true").expect(1);
    failed.says(&["the solve for point 0.0.0.0, spin 2, colour 0 failed", "x.0.lime holds the best iterate"]);
}

#[cfg(unix)]
#[test]
fn a_job_with_lists_goes_on_where_it_was_killed() {
    let folder = folder();
    write_job(
        &folder,
        "command = \"spectrum\"\n[configuration]\nfile = \"FIELD\"\n[action]\nkappa = [0.1, 0.11]\n[solver]\n\
         solver = \"cg\"\npreconditioning = \"none\"\n[outputs]\nevery = \"0s\"\n[devices]\ndevice = \"host\"\n",
    );
    let told = |mut result: Value| {
        result.as_object_mut().unwrap().remove("job");
        without_times(result)
    };
    let whole = told(json(&folder, "run job.toml"));
    let again = "run job.toml --set checkpoint=c --set resume-if-present=true";
    let in_second = |state: &Value| {
        state["current"]["label"]
            .as_str()
            .is_some_and(|label| label == "kappa 0.11, point 0.0.0.0, spin 0, colour 1")
    };
    let mut child = started(&folder, again);
    await_state(&folder.path().join("c"), &mut child, in_second);
    send("-TERM", &child);
    let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(said.contains("for kappa 0.11, point 0.0.0.0, spin"), "{said}");
    assert!(folder.path().join("c.3-2.lime").exists() && folder.path().join("c.1.0-0.lime").exists());
    assert_eq!(told(json(&folder, again)), whole);
    assert_eq!(names(&folder), ["job.toml"]);
}

#[test]
fn a_checkpoint_of_the_version_before_is_refused() {
    let folder = folder();
    let state = r#"{"schema_version":3,"about":"State of a job","job":[],"seconds":1.0,
        "finished":[{"spin":0,"colour":0,"iterations":3,"iterated":"0","true_residual":"0","sum":""}],"current":null}"#;
    let writer = io::CheckpointWriter::create(folder.path().join("old"), state).unwrap();
    writer.finish().unwrap();
    let words = [
        "old: is a checkpoint of version 3, and this program reads version 4",
        "hint: go on with the version",
    ];
    assert_refused(&folder, "spectrum FIELD --kappa 0.11 --device host --resume old", 3, &words);
}

#[test]
fn the_schema_of_jobs_is_printed_and_describes_the_sample() {
    let folder = folder();
    let schema: Value = serde_json::from_str(&run(&folder, "run --schema").expect(0).stdout).unwrap();
    let mut tables = keys(&schema["properties"]);
    tables.sort_unstable();
    assert_eq!(
        tables,
        [
            "action",
            "command",
            "configuration",
            "devices",
            "hadron",
            "hadrons",
            "observable",
            "outputs",
            "quark",
            "smearing",
            "solver",
            "source",
            "sources"
        ]
    );
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["command"]));
}

/// The schema of a command's results, with no key that it does not name.
fn schema(folder: &TempDir, command: &str) -> Value {
    let mut schema = run(folder, &format!("run --schema {command}")).expect(0).json();
    schema["additionalProperties"] = false.into();
    schema
}

#[test]
fn results_are_as_their_schemas_say() {
    let folder = folder();
    write_job(
        &folder,
        "command = \"invert\"\n[configuration]\nfile = \"FIELD\"\n[action]\nmass = 0.5\n[devices]\ndevice = \"host\"\n",
    );
    for (command, line, status) in [
        ("invert", "invert FIELD --kappa 0.11 --device host", 0),
        ("invert", "invert FIELD --kappa 0.11 --solver cr --max-iterations 2 --device host", 1),
        ("invert", "invert FIELD --kappa 0.11 --solver gcr --device 0.0", 0),
        ("invert", "run job.toml", 0),
        ("spectrum", "spectrum FIELD --kappa 0.11 --device host --along x", 0),
        ("spectrum", "spectrum FIELD --kappa 0.11 --device host --solver block-cg", 0),
        ("spectrum", "spectrum FIELD --kappa 0.11 --device host --solver cg --max-iterations 2", 1),
    ] {
        let result = run(&folder, &format!("{line} --json")).expect(status).json();
        common::schema::assert_valid(&schema(&folder, command), &result);
    }
}

#[test]
fn results_say_where_they_come_from() {
    let folder = folder();
    let (field, path) = weak_field();
    for line in
        ["invert FIELD --kappa 0.11 --device 0.0 --solver cg", "spectrum FIELD --kappa 0.11 --device host"]
    {
        let result = json(&folder, line);
        let configuration = &result["configuration"];
        assert_eq!(configuration["file"], path.to_str().unwrap());
        assert!(
            relative(number(&configuration["plaquette"]), lattice_cl::gauge::plaquette(field).average)
                < 1e-14
        );
        let host::Links::Double(links) = field.links() else { panic!("weak fields are in double") };
        let mut sum = blake3::Hasher::new();
        for z in links.iter().flat_map(|link| link.0.iter().flatten()) {
            sum.update(&z.re.to_le_bytes()).update(&z.im.to_le_bytes());
        }
        assert_eq!(configuration["blake3"], sum.finalize().to_hex().as_str());

        let provenance = &result["provenance"];
        assert_eq!(provenance["version"], env!("CARGO_PKG_VERSION"));
        let command: Vec<&str> =
            provenance["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(command[0], line.split(' ').next().unwrap());
        assert!(command.contains(&"--kappa") && command.contains(&"--json"), "{command:?}");
        let started = provenance["started"].as_str().unwrap();
        assert!(started.len() == 20 && started.starts_with("20") && started.ends_with('Z'), "{started}");
        let devices = provenance["devices"].as_array().unwrap();
        assert_eq!(devices.len(), usize::from(line.contains("0.0")));
        assert!(devices.iter().all(|device| !device["driver"].as_str().unwrap().is_empty()), "{devices:?}");
    }
}

#[test]
fn an_output_that_is_there_is_overwritten_by_force_only() {
    let folder = folder();
    let place = |name: &str| folder.path().join(name);
    let lines = [
        ("invert FIELD --kappa 0.11 --device host -o", "x.lime"),
        ("spectrum FIELD --kappa 0.11 --device host -o", "p.lime"),
        ("generate --dims 2x2x2x2 --beta 6 --sweeps 0 -o", "g.ildg"),
        ("convert FIELD", "c.nersc"),
    ];
    for (line, name) in lines {
        std::fs::write(place(name), "precious").unwrap();
        assert_refused(&folder, &format!("{line} {name}"), 2, &[name, "is there already", "--force"]);
        assert_eq!(std::fs::read_to_string(place(name)).unwrap(), "precious");
        run(&folder, &format!("{line} {name} --force")).expect(0);
        assert_ne!(std::fs::read(place(name)).unwrap(), b"precious");
    }
}

#[cfg(unix)]
#[test]
fn a_job_is_run_again_until_it_is_done() {
    let folder = folder();
    let line = "spectrum FIELD --kappa 0.11 --solver cg --preconditioning none --device host --every 0s";
    let whole = without_times(json(&folder, line));
    let again = format!("{line} --checkpoint c --resume-if-present");
    for signal in ["-KILL", "-TERM"] {
        let mut child = started(&folder, &again);
        await_writes(&folder.path().join("c"), 30, &mut child);
        send(signal, &child);
        child.wait().unwrap();
    }
    let other = again.replace("0.11", "0.1");
    assert_refused(&folder, &other, 2, &["c is the checkpoint of another job", "its kappa is 0.11"]);
    let rest = run(&folder, &format!("{again} --json")).expect(0).json();
    assert_eq!(without_times(rest), whole);
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    assert_refused(&folder, &format!("{line} --resume-if-present"), 2, &["--checkpoint"]);
}

#[cfg(unix)]
#[test]
fn two_jobs_do_not_share_a_checkpoint() {
    let folder = folder();
    let line = "spectrum FIELD --kappa 0.12 --solver mr --preconditioning none --device host --every 0s";
    let mut child = started(&folder, &format!("{line} --checkpoint c"));
    await_writes(&folder.path().join("c"), 2, &mut child);
    for other in [
        format!("{line} --checkpoint c"),
        format!("{line} --resume c"),
        "invert FIELD --kappa 0.1 --device host --checkpoint c --resume-if-present".to_owned(),
        format!("{line} --resume c --checkpoint d"),
    ] {
        assert_refused(&folder, &other, 2, &["c is in use by another running job"]);
    }
    assert_eq!(child.try_wait().unwrap(), None, "the first job is not disturbed");
    send("-TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(folder.path().join("c").exists() && !folder.path().join(".c.lock").exists());
    assert_refused(&folder, &format!("{line} --checkpoint c"), 2, &["c is there already"]);
    assert_refused(&folder, &format!("{line} --resume gone"), 3, &["a job that is done removes its state"]);
}

#[test]
fn help_is_short_or_full_and_shells_are_served() {
    let folder = folder();
    let short = run(&folder, "invert -h").expect(0).stdout;
    let full = run(&folder, "invert --help").expect(0).stdout;
    assert!(short.lines().count() < full.lines().count() / 2, "{short}");
    for words in ["Examples:", "DeGrand and Rossi", "--ignore-unitarity", "/issues"] {
        assert!(full.contains(words), "{words}: {full}");
    }
    let top = run(&folder, "--help").expect(0).stdout;
    for words in ["Examples:", "LATTICE_CL_NO_CACHE", "LATTICE_CL_TUNING_FILE", "130", "/issues"] {
        assert!(top.contains(words), "{words}: {top}");
    }
    let version = run(&folder, "--version").expect(0).stdout;
    for words in [env!("CARGO_PKG_VERSION"), "commit: ", "features: ", "OpenCL: "] {
        assert!(version.contains(words), "{words}: {version}");
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&folder, &format!("completions {shell}")).expect(0).stdout;
        assert!(script.contains("spectrum") && script.contains("resume-if-present"), "{shell}");
    }
    let install = |status| {
        let mut command = program(&folder, "completions bash --install");
        command.env("XDG_DATA_HOME", folder.path().join("data"));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{output:?}");
    };
    install(0);
    let script = folder.path().join("data/bash-completion/completions/cr-solve");
    assert!(std::fs::read_to_string(script).unwrap().contains("spectrum"));
    // What is there is not overwritten without being asked.
    install(2);
    run(&folder, "man pages").expect(0);
    let page = std::fs::read_to_string(folder.path().join("pages/cr-solve-invert.1")).unwrap();
    assert!(page.contains("kappa"), "{page}");
}

#[test]
fn a_job_may_come_from_the_program_and_from_standard_input() {
    let folder = folder();
    let example = run(&folder, "run --example").expect(0).stdout;
    assert_eq!(example.trim_end(), std::fs::read_to_string(sample_job()).unwrap().trim_end());
    let line = format!("run - --set file={} --set kappa=0.11 --device host --json", weak_field().1.display());
    let mut command = program(&folder, &line);
    command.write_stdin(example);
    let result = finished(command, &line).expect(0).json();
    assert_eq!(numbers(&result["correlators"]["pion"]).len(), EXTENTS[3]);
    assert_refused(&folder, "run", 2, &["<FILE>"]);
    if cfg!(unix) {
        assert_refused(&folder, "run /dev/zero", 3, &["/dev/zero", "regular file"]);
    }
}

#[test]
fn nothing_is_coloured_where_it_is_not_wanted() {
    let folder = folder();
    for line in [
        "--nonsense --color never",
        "info none.ildg --color never",
        "--nonsense --no-color",
        "info none.ildg --no-color",
    ] {
        assert!(!run(&folder, line).stderr.contains('\x1b'), "{line}");
    }
    for line in ["--nonsense --color always", "info none.ildg --color always"] {
        assert!(run(&folder, line).stderr.contains('\x1b'), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_a_failure() {
    let folder = folder();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("cr-solve"));
    let status = command.current_dir(&folder).arg("--help").stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(3));
}

/// Σ|S|² of a point source, κ 0.14, μ 0.1: computed by another program.
#[test]
fn a_twisted_mass_gives_the_charged_pion_of_other_programs() {
    let Some(shared) = common::shared() else { return };
    let text = std::fs::read_to_string(shared.join("reference/physics.json")).unwrap();
    let reference: Value = serde_json::from_str(&text).unwrap();
    let expected = &reference["computed"]["hadrons twisted lat.sample.l4444"]["norm2_per_slice"];
    let file = shared.join("data/lat.sample.l4444");
    let spectrum = |more: &[&str]| {
        let mut command = cargo_bin_cmd!("cr-solve");
        command.args(["spectrum", "--kappa", "0.14", "--tol", "1e-12", "--json", "--quiet"]).arg(&file);
        command.args(more).output().unwrap()
    };
    for more in [&["--mu", "0.1"][..], &["--mu", "-0.1", "--preconditioning", "none", "--device", "host"]] {
        let output = spectrum(more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(result["mu"].as_f64().unwrap().abs(), 0.1);
        let number = |value: &Value| value.as_f64().unwrap();
        if more.len() > 2 {
            // The other flavour has another propagator on a gauge field, but one that is as large on the whole.
            assert_ne!(result["correlators"]["pion"][1], expected[1]);
            continue;
        }
        for t in 0..4 {
            let ratio = number(&result["correlators"]["pion"][t]) / number(&expected[t]);
            assert!((ratio - 1.0).abs() < 1e-9, "t = {t}: {ratio}");
        }
    }
    let output = spectrum(&["--mu", "0.1", "--solver", "cr", "--system", "hermitian"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("twisted mass"), "the reason");
}

#[test]
fn both_flavours_are_what_jobs_of_their_own_give() {
    let folder = folder();
    let line = "spectrum FIELD --kappa 0.11 --mu 0.2 --device host";
    let both = json(&folder, &format!("{line} --flavour both --output p.lime --plot pion.svg"));
    common::schema::assert_valid(&schema(&folder, "spectrum"), &both);
    assert_eq!(both["flavour"], "up");
    let results = both["results"].as_array().unwrap();
    assert_eq!(names(&folder), ["p.down.lime", "p.up.lime", "pion.down.svg", "pion.up.svg"]);
    let alone = [("up", "--flavour up"), ("down", "--flavour down")];
    for ((flavour, option), one) in alone.into_iter().zip(results) {
        let alone = json(&folder, &format!("{line} {option} --output alone.lime --force"));
        common::schema::assert_valid(&schema(&folder, "spectrum"), &alone);
        assert_eq!([&one["flavour"], &alone["flavour"]], [flavour; 2]);
        assert_eq!(one["correlators"], alone["correlators"]);
        assert!(one["label"].as_str().unwrap().starts_with("point"));
        assert!(one["solves"][0]["label"].as_str().unwrap().starts_with(&format!("{flavour}, point")));
        let fields = ["alone.lime".to_owned(), format!("p.{flavour}.lime")]
            .map(|name| io::read_propagator(folder.path().join(name)).unwrap());
        for (a, b) in fields[0].records.iter().zip(&fields[1].records) {
            assert_eq!(a.field, b.field, "{flavour}");
        }
    }
    // Down is the other sign.
    let other = json(&folder, &line.replace("--mu 0.2", "--mu -0.2"));
    assert_eq!(other["correlators"], results[1]["correlators"]);
    assert_ne!(other["correlators"], results[0]["correlators"]);
}

/// Σ|S|² of a point source with clover term and twisted mass: computed by another program.
#[test]
fn a_clover_term_gives_the_propagator_of_other_programs() {
    let Some(shared) = common::shared() else { return };
    let text = std::fs::read_to_string(shared.join("reference/physics.json")).unwrap();
    let reference: Value = serde_json::from_str(&text).unwrap();
    let entry = &reference["computed"]["hadrons twisted clover weak_field.lime"];
    let expected = entry["norm2_per_slice"].as_array().unwrap();
    let action = |key: &str| entry["action"][key].to_string();
    let (kappa, csw, mu) = (action("kappa"), action("csw"), action("mu"));
    let file = shared.join("data/weak_field.lime");
    let arguments = ["spectrum", "--kappa", &kappa, "--csw", &csw, "--mu", &mu, "--tol", "1e-12"];
    let spectrum = |more: &[&str]| {
        let mut command = cargo_bin_cmd!("cr-solve");
        command.args(arguments).args(["--json", "--quiet"]).args(more).arg(&file).output().unwrap()
    };
    let symmetric = ["--preconditioning", "even-odd-symmetric", "--solver", "bicgstab"];
    for more in [&[][..], &symmetric] {
        let output = spectrum(more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        common::schema::assert_valid(&schema(&folder(), "spectrum"), &result);
        assert_eq!(result["csw"], entry["action"]["csw"]);
        for (t, expected) in expected.iter().enumerate() {
            let found = result["correlators"]["pion"][t].as_f64().unwrap();
            let ratio = found / expected.as_f64().unwrap();
            assert!((ratio - 1.0).abs() < 1e-9, "{more:?}, t = {t}: {ratio}");
        }
    }
    // Too large for the inverse within a site.
    let mut command = cargo_bin_cmd!("cr-solve");
    command.args(["invert", "--kappa", &kappa, "--csw", "3000", "--quiet"]).arg(&file);
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0));
    for words in ["site (", "eigenvalue", "--preconditioning none"] {
        assert!(message.contains(words), "{message}");
    }
}
