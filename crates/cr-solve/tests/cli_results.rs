//! Results in files: written, done again, averaged.

use crate::common;

use assert_cmd::cargo::cargo_bin_cmd;
use common::sample;
use lattice_cl::Precision;
use lattice_cl::compute::Team;
use lattice_cl::host::Spinor;
use lattice_cl::io::{Format, WriteOptions, read_propagator, read_results, write_gauge, write_results};
use lattice_cl::job::{
    Action, CallbackError, Callbacks, Configuration, Job, Method, Problem, SiteTermKeys, SolveOutcome,
    SourceEntry, Task,
};
use serde_json::Value;
use tempfile::TempDir;

/// Runs the program, and returns its status, output and messages.
fn run(folder: &TempDir, line: &str) -> (i32, String, String) {
    let output =
        cargo_bin_cmd!("cr-solve").current_dir(folder).args(line.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(folder: &TempDir, line: &str) -> Value {
    let (status, output, messages) = run(folder, line);
    assert_eq!(status, 0, "{messages}");
    serde_json::from_str(&output).unwrap()
}

fn folder_with_configuration() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = sample([2, 2, 2, 4], Precision::Double);
    write_gauge(folder.path().join("a.ildg"), &config, &WriteOptions::new(Format::Ildg)).unwrap();
    folder
}

#[test]
fn a_result_is_kept_done_again_and_told_from_others() {
    let folder = folder_with_configuration();
    let solve = "spectrum a.ildg --kappa 0.08 --device host --json --results r.h5 --results r.json";
    let printed = json(&folder, solve);
    let kept = read_results(folder.path().join("r.h5")).unwrap();
    assert_eq!(kept, read_results(folder.path().join("r.json")).unwrap());
    assert_eq!(kept, printed);
    assert_eq!(kept["job"]["resolved"]["action"]["kappa"], 0.08);
    // A file that is there is not overwritten.
    assert_eq!(run(&folder, solve).0, 2);

    let again = json(&folder, "reproduce r.h5 --json");
    let flags = ["reproduced", "same_links", "same_devices"].map(|key| again[key].as_bool());
    assert_eq!((flags, again["other_bits"].as_u64()), ([Some(true); 3], Some(0)), "{again}");
    assert!(again["numbers"].as_u64().unwrap() > 10);

    // Another number, and other links.
    let mut other = kept.clone();
    let value = &mut other["correlators"]["pion"][1];
    *value = (value.as_f64().unwrap() * (1.0 + 1e-9)).into();
    write_results(folder.path().join("other.json"), &other).unwrap();
    let (status, output, messages) = run(&folder, "reproduce other.json --json");
    assert!(status == 1 && messages.contains("not those of the earlier result"), "{messages}");
    let outcome: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(outcome["place"], "/correlators/pion/1");
    let config = sample([2, 2, 4, 4], Precision::Double);
    write_gauge(folder.path().join("b.ildg"), &config, &WriteOptions::new(Format::Ildg)).unwrap();
    let (status, _, messages) = run(&folder, "reproduce r.h5 --configuration b.ildg");
    assert!(status == 1 && messages.contains("the links"), "{messages}");
    // What is no result of a job.
    write_results(folder.path().join("none.h5"), &serde_json::json!({ "a": 1 })).unwrap();
    assert_eq!(run(&folder, "reproduce none.h5").0, 3);
    assert_eq!(run(&folder, "reproduce a.ildg").0, 3);
}

/// The tests of the Python package compare it with the program.
#[test]
fn the_program_a_job_file_and_the_library_give_the_same_bits() {
    /// Keeps the solutions.
    struct Keep(Vec<Vec<Spinor<f64>>>);

    impl Callbacks for Keep {
        fn solved(&mut self, _: &SolveOutcome, x: &[Spinor<f64>]) -> Result<(), CallbackError> {
            self.0.push(x.to_vec());
            Ok(())
        }
    }

    let folder = folder_with_configuration();
    let options = "--kappa 0.09 --csw 1.1 --source wall:1 --smear-source gaussian:1.2,3 --tol 1e-11";
    json(&folder, &format!("spectrum a.ildg {options} --device host --output line.lime --json"));
    let file = "command = \"spectrum\"\nconfiguration.file = \"a.ildg\"\naction = { kappa = 0.09, csw = 1.1 }\n\
                sources = { source = \"wall:1\", smear-source = \"gaussian:1.2,3\" }\nsolver.tol = 1e-11\n\
                outputs.output = \"file.lime\"\n";
    std::fs::write(folder.path().join("job.toml"), file).unwrap();
    json(&folder, "run job.toml --device host --json");

    let source = SourceEntry::default()
        .with_source("wall:1".parse().unwrap())
        .with_smear_source("gaussian:1.2,3".parse().ok());
    let job = Job::default()
        .with_command(Task::Spectrum)
        .with_configuration(Configuration::file(folder.path().join("a.ildg")))
        .with_action(Action::kappa(0.09).with_site_term(SiteTermKeys::default().with_csw(Some(1.1))))
        .with_sources(Some(source))
        .with_solver(Method::default().with_tol(Some(1e-11)));
    let mut kept = Keep(Vec::new());
    let outcome = Problem::open(&job, &Team::host()).unwrap().run(&mut kept).unwrap();
    assert!(outcome.converged() && kept.0.len() == 12);
    for name in ["line.lime", "file.lime"] {
        let records = read_propagator(folder.path().join(name)).unwrap().records;
        assert!(records.iter().map(|record| &record.field).eq(&kept.0), "{name}");
    }
}

#[test]
fn correlators_of_several_configurations_are_averaged() {
    let folder = folder_with_configuration();
    let first = json(&folder, "spectrum a.ildg --kappa 0.08 --device host --json");
    let mut values = Vec::new();
    for (k, factor) in [1.0, 1.2, 0.9].into_iter().enumerate() {
        let mut result = first.clone();
        for value in result["correlators"]["pion"].as_array_mut().unwrap() {
            *value = (value.as_f64().unwrap() * factor).into();
        }
        // Other links: copies of one configuration are refused.
        result["configuration"]["blake3"] = k.to_string().into();
        values.push(result["correlators"]["pion"][1].as_f64().unwrap());
        write_results(folder.path().join(format!("{k}.h5")), &result).unwrap();
    }
    let analysis = json(&folder, "analyse 0.h5 1.h5 2.h5 --plot mass.svg --json");
    let pion = &analysis["correlators"][0];
    assert!(pion["name"].as_str().unwrap().contains("pion"), "{analysis}");
    assert_eq!(pion["configurations"], 3);
    let mean = values.iter().sum::<f64>() / 3.0;
    let error = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 6.0).sqrt();
    let found = ["value", "error"].map(|key| pion["correlator"][1][key].as_f64().unwrap());
    assert!((found[0] / mean - 1.0).abs() < 1e-12 && (found[1] / error - 1.0).abs() < 1e-9, "{found:?}");
    // A factor changes no mass.
    let mass = &pion["effective_mass"][1];
    let alone = first["effective_mass"][1].as_f64().unwrap();
    assert!((mass["value"].as_f64().unwrap() - alone).abs() < 1e-10);
    assert!(mass["error"].as_f64().unwrap() < 1e-10);
    assert!(folder.path().join("mass.svg").is_file());
    let (status, text, _) = run(&folder, "analyse 0.h5 --mass log");
    assert!(status == 0 && text.contains("effective mass"));
    assert_eq!(run(&folder, "analyse 0.h5 --only proton").0, 3);
    assert_eq!(run(&folder, "analyse a.ildg").0, 3);
}

/// Copies would be counted as configurations, with errors of zero.
#[test]
fn copies_of_a_result_are_not_averaged() {
    let folder = folder_with_configuration();
    let result = json(&folder, "spectrum a.ildg --kappa 0.08 --device host --json --results a.h5");
    write_results(folder.path().join("b.json"), &result).unwrap();
    // A solve of other source has other names: its results may stand beside.
    json(&folder, "spectrum a.ildg --kappa 0.08 --source point:0,0,0,1 --device host --json --results c.h5");
    let mut unknown = result.clone();
    unknown["configuration"].as_object_mut().unwrap().remove("blake3");
    write_results(folder.path().join("d.json"), &unknown).unwrap();
    for (line, words) in [
        ("a.h5 b.json", ["a.h5 and b.json", "BLAKE3"]),
        ("a.h5 c.h5 a.h5", ["a.h5 and a.h5", "one configuration"]),
        ("d.json a.h5", ["d.json and a.h5", "same numbers"]),
    ] {
        let (status, _, messages) = run(&folder, &format!("analyse {line}"));
        assert!(status == 3 && words.iter().all(|word| messages.contains(word)), "{line}: {messages}");
    }
    assert_eq!(run(&folder, "analyse a.h5 c.h5").0, 0);
}

#[test]
fn hadrons_at_rest_are_shown_by_name_and_others_if_asked_for() {
    let folder = folder_with_configuration();
    let hadrons = "--hadrons mesons,octet --momenta 1 --json --results h.h5";
    json(&folder, &format!("spectrum a.ildg --kappa 0.08 --device host {hadrons}"));
    let names = |options: &str| -> Vec<(String, String)> {
        let analysis = json(&folder, &format!("analyse h.h5 --json {options}"));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let list = analysis["correlators"].as_array().unwrap().clone();
        list.iter().map(|one| (text(&one["name"]), text(&one["mass"]))).collect()
    };
    let ends = |names: &[(String, String)]| -> Vec<String> {
        names.iter().map(|(name, mass)| format!("{} {mass}", name.rsplit(", ").next().unwrap())).collect()
    };
    assert_eq!(ends(&names("--plot pion.svg")), ["pion cosh", "rho cosh", "nucleon log"]);
    let drawn = std::fs::read_to_string(folder.path().join("pion.svg")).unwrap();
    assert!(drawn.contains("pion") && !drawn.contains("momentum"));
    assert!(names("--only nucleon-").iter().all(|(name, mass)| name.contains("nucleon-") && mass == "log"));
    assert_eq!(names("--mass log")[0].1, "log");
    let all = names("--all");
    assert!(all.len() > 1800 && ends(&all[..3]) == ["pion cosh", "rho cosh", "nucleon log"]);
    assert!(all.iter().all(|(name, mass)| (mass == "log") == name.contains("nucleon")), "{all:?}");
    let listed = json(&folder, "analyse h.h5 --list --json");
    let listed: Vec<&str> = listed["names"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    assert!(listed.iter().eq(all.iter().map(|(name, _)| name)));
    let (_, text, messages) = run(&folder, "analyse h.h5");
    assert!(text.len() < 4000 && messages.contains("--list"), "{messages}");
    json(&folder, "analyse h.h5 --json --only nucleon_Cg5 --plot nucleon.svg");
    assert!(std::fs::read_to_string(folder.path().join("nucleon.svg")).unwrap().contains("nucleon_Cg5"));
}
