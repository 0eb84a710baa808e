//! Masses of hadrons from results of several configurations, and tables of them.

use crate::synthetic::values;

use crate::common::analyse as run;
use lattice_statistics::{Resampling, Series, resample};
use serde_json::{Value, json};
use tempfile::TempDir;

#[track_caller]
fn analysed(folder: &TempDir, line: &str) -> Value {
    let (status, output, messages) = run(folder, &format!("{line} --json"));
    assert_eq!(status, 0, "{line}: {messages}");
    serde_json::from_str(&output).unwrap()
}

const EXTENT: usize = 16;
const CONFIGURATIONS: usize = 60;

/// Fluctuations of the pion at a distance.
fn fluctuations(distance: usize) -> Vec<f64> {
    values(100 + distance as u64, CONFIGURATIONS, 0.5)
}

/// Writes results of an ensemble: a pion of mass 0.3 and a nucleon of mass 0.6. Returns the names.
fn ensemble(folder: &TempDir) -> String {
    let noise: Vec<Vec<f64>> = (0..2 * EXTENT).map(fluctuations).collect();
    let mut names = Vec::new();
    for k in 0..CONFIGURATIONS {
        let at = |n: usize, mean: f64| mean * (0.9 + 0.1 * noise[n][k]);
        let pion: Vec<f64> = (0..EXTENT).map(|n| at(n, (0.3 * (n as f64 - 8.0)).cosh())).collect();
        let nucleon: Vec<f64> = (0..EXTENT).map(|n| at(EXTENT + n, (-0.6 * n as f64).exp())).collect();
        let result = json!({ "kappa": 0.12, "dims": [8, 8, 8, EXTENT], "configuration": { "blake3": k.to_string() },
            "correlators": { "pion": pion, "nucleon": nucleon } });
        let name = format!("{k:03}.json");
        std::fs::write(folder.path().join(&name), result.to_string()).unwrap();
        names.push(name);
    }
    names.join(" ")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn masses_are_fitted_with_errors() {
    let folder = tempfile::tempdir().unwrap();
    let files = ensemble(&folder);
    for line in ["--fit 2,7", "--fit average", "--fit 2,7 --uncorrelated", "--fit 2,7 --errors gamma"] {
        let analysis = analysed(&folder, &format!("{files} {line}"));
        let [pion, nucleon] = [0, 1].map(|k| &analysis["correlators"][k]);
        assert!(pion["name"].as_str().unwrap().ends_with("pion"), "{analysis}");
        for (hadron, mass) in [(pion, 0.3), (nucleon, 0.6)] {
            let fit = &hadron["fit"];
            let (found, error) = (number(&fit["mass"]), number(&fit["error"]));
            assert!((found - mass).abs() < 5.0 * error && error < 0.01, "{line}: {fit}");
            let p = number(&fit["p_value"]);
            assert!((0.0..=1.0).contains(&p), "{fit}");
            if line.starts_with("--fit 2,7") {
                assert_eq!([&fit["first"], &fit["last"], &fit["degrees_of_freedom"]], [2, 7, 4]);
            }
        }
    }
    let (_, text, _) = run(&folder, &format!("{files} --fit 2,7 --only pion"));
    assert!(text.contains("fit from 2 to 7, chi²/dof"), "{text}");
}

#[test]
fn errors_are_those_of_the_method() {
    let folder = tempfile::tempdir().unwrap();
    let files = ensemble(&folder);
    let mean = |n: usize| (0.3 * (n as f64 - 8.0)).cosh();
    let series =
        Series::from_values(fluctuations(3).iter().map(|x| mean(3) * (0.9 + 0.1 * x)).collect()).unwrap();
    let error = |line: &str| {
        let analysis = analysed(&folder, &format!("{files} --only pion {line}"));
        number(&analysis["correlators"][0]["correlator"][3]["error"])
    };
    for bin in [1, 5] {
        let expected =
            resample(std::slice::from_ref(&series), Resampling::Jackknife { bin }).unwrap()[0].error();
        let found = error(&format!("--bin {bin}"));
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} is not {expected}");
    }
    let (plain, bootstrap) = (error(""), error("--errors bootstrap"));
    assert!(plain != bootstrap && (plain / bootstrap - 1.0).abs() < 0.1, "{plain} {bootstrap}");
    // Neighbours are correlated.
    assert!(error("--errors gamma") > 1.1 * error("--errors gamma --window-parameter 0"));
    for (line, wanted) in [
        ("--errors gamma --bin 2", "--bin is for jackknife"),
        ("--window-parameter 2", "--window-parameter is for the Γ method"),
        ("--uncorrelated", "--uncorrelated is for fits"),
        ("--bin 0", "0"),
        ("--fit 3", "no fit range"),
        ("--fit 3,12", "distances of"),
    ] {
        let (status, _, messages) = run(&folder, &format!("{files} {line}"));
        assert!(status == 2 && messages.contains(wanted), "{line}: {messages}");
    }
    for (line, wanted) in [
        (format!("{files} --bin 40"), "1 bins of at least 40"),
        ("000.json --fit 2,7".to_owned(), "a fit needs errors"),
        ("000.json 001.json 002.json --fit 2,7".to_owned(), "--uncorrelated"),
    ] {
        let (status, _, messages) = run(&folder, &line);
        assert!(status == 3 && messages.contains(wanted), "{line}: {messages}");
    }
}

#[test]
fn a_table_has_a_row_for_each_hadron() {
    let folder = tempfile::tempdir().unwrap();
    let files = ensemble(&folder);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for name in ["t.tex", "t.csv", "t.json"] {
        analysed(&folder, &format!("{files} --table {name} --plot {name}.svg"));
        assert!(read(&format!("{name}.svg")).contains("effective mass"));
    }
    let table: Value = serde_json::from_str(&read("t.json")).unwrap();
    let hadrons = table["hadrons"].as_array().unwrap();
    assert_eq!(hadrons.len(), 2);
    let (tex, csv) = (read("t.tex"), read("t.csv"));
    for (k, hadron) in hadrons.iter().enumerate() {
        let name = hadron["hadron"].as_str().unwrap();
        assert_eq!(name, ["pion", "nucleon"][k]);
        let ends = format!("{}--{}", hadron["first"], hadron["last"]);
        assert!(tex.lines().any(|line| line.starts_with(name) && line.contains(&ends)), "{tex}");
        let line = csv.lines().nth(k + 1).unwrap();
        assert!(line.starts_with(&format!("{name},{:e},", number(&hadron["mass"]))), "{csv}");
    }
    let (status, _, messages) = run(&folder, &format!("{files} --table t.tex"));
    assert!(status == 2 && messages.contains("is there already"), "{messages}");
}

#[test]
fn results_that_do_not_belong_together_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, correlators: Value| {
        let result = json!({ "correlators": correlators, "configuration": { "blake3": name } });
        std::fs::write(folder.path().join(name), result.to_string()).unwrap();
    };
    for k in 0..4 {
        let fine =
            [3.0, 2.0 + 0.1 * f64::from(k % 3), 1.5 + 0.1 * f64::from(k % 2), 1.1 + 0.01 * f64::from(k)];
        write(&format!("{k}.json"), json!({ "pion": fine, "rho": [1.0, 1.0, 1.0, 1.0] }));
    }
    write("short.json", json!({ "pion": [1.0, 2.0] }));
    let (status, _, messages) = run(&folder, "0.json short.json");
    assert!(status == 3 && messages.contains("0.json has 4, and short.json has 2 distances"), "{messages}");
    // A hadron that cannot be fitted leaves the others.
    let all = "0.json 1.json 2.json 3.json --fit 1,3 --mass log --uncorrelated";
    let (status, text, messages) = run(&folder, all);
    assert!(status == 0 && text.contains("fit from 1 to 3"), "{messages}");
    assert!(messages.contains("the mass of rho cannot be fitted"), "{messages}");
    assert_eq!(run(&folder, &format!("{all} --only rho")).0, 3);
}

/// Normalised correlators are 1 at the source.
#[test]
fn what_is_the_same_on_all_configurations_has_no_error() {
    let folder = tempfile::tempdir().unwrap();
    for k in 0..4 {
        let pion = [1.0, 0.5 + 0.01 * f64::from(k * k), 0.3, 0.5];
        let result = json!({ "correlators": { "pion": pion }, "configuration": { "blake3": k.to_string() } });
        std::fs::write(folder.path().join(format!("{k}.json")), result.to_string()).unwrap();
    }
    let (status, output, messages) = run(&folder, "0.json 1.json 2.json 3.json --json");
    let analysis: Value = serde_json::from_str(&output).unwrap();
    let correlator = &analysis["correlators"][0]["correlator"];
    assert!(status == 0 && messages.contains("the same on all configurations at n = 0, 2, 3"), "{messages}");
    assert!(correlator[0]["error"].is_null() && number(&correlator[1]["error"]) > 0.0, "{correlator}");
}

/// Writes results of flows with t²E = 0.3 t (1 + noise), so that t0 is 1 up to noise. Returns the names.
fn flows(folder: &TempDir, count: usize, end: usize) -> String {
    let noise = values(300, count, 0.3);
    let mut names = Vec::new();
    for (k, noise) in noise.iter().enumerate() {
        let row = |step: usize| {
            let time = 0.1 * step as f64;
            json!({ "time": time, "energy": { "clover": 0.3 * (0.9 + 0.1 * noise) / time.max(0.05) } })
        };
        let rows: Vec<Value> = (0..end).map(row).collect();
        let links = json!({ "blake3": format!("{k}.{count}") });
        let result = json!({ "configuration": links, "dims": [4, 4, 4, 4], "rows": rows, "scales": [{ "reference": 0.3 }] });
        let name = format!("flow{k}.{end}.json");
        std::fs::write(folder.path().join(&name), result.to_string()).unwrap();
        names.push(name);
    }
    names.join(" ")
}

#[test]
fn scales_of_flows_have_errors() {
    let folder = tempfile::tempdir().unwrap();
    let files = flows(&folder, 30, 20);
    for line in ["", "--errors gamma", "--bin 3", "--errors bootstrap --plot t.svg"] {
        let analysis = analysed(&folder, &format!("{files} {line}"));
        let mean = 0.9 + 0.1 * values(300, 30, 0.3).iter().sum::<f64>() / 30.0;
        let [t0, w0] =
            ["t0", "w0"].map(|key| [number(&analysis[key]["value"]), number(&analysis[key]["error"])]);
        // t²E = 0.3 t mean, and its derivative by ln t is the same.
        assert!(
            (t0[0] - 1.0 / mean).abs() < 1e-9 && (w0[0] - mean.powf(-0.5)).abs() < 1e-9,
            "{line}: {t0:?} {w0:?}"
        );
        // The relative error of w0 is half of that of t0.
        assert!((w0[1] / w0[0] / (t0[1] / t0[0]) - 0.5).abs() < 1e-3, "{line}: {t0:?} {w0:?}");
        assert!((0.001..0.01).contains(&t0[1]), "{t0:?}");
        assert_eq!(analysis["configurations"], 30);
        assert_eq!(analysis["rows"].as_array().unwrap().len(), 20);
    }
    assert!(std::fs::read_to_string(folder.path().join("t.svg")).unwrap().contains("reference 0.3"));
    let (_, text, _) = run(&folder, &files);
    assert!(text.contains("at the reference 0.3"), "{text}");
    for table in ["t0.tex", "t0.csv", "t0.json"] {
        let analysis = analysed(&folder, &format!("{files} --table {table}"));
        let text = std::fs::read_to_string(folder.path().join(table)).unwrap();
        let [t0, w0] = ["t0", "w0"].map(|key| &analysis[key]);
        match table {
            "t0.tex" => assert!(text.contains("\n0.3 & 0.9964(19) & 0.99820(95) \\\\\n"), "{text}"),
            "t0.csv" => {
                let numbers: Vec<f64> =
                    text.lines().nth(1).unwrap().split(',').map(|field| field.parse().unwrap()).collect();
                let expected = [&t0["value"], &t0["error"], &w0["value"], &w0["error"]].map(number);
                assert_eq!((numbers[0], &numbers[1..5], numbers[5]), (0.3, &expected[..], 30.0));
            }
            _ => {
                let document: Value = serde_json::from_str(&text).unwrap();
                assert_eq!((&document["scales"][0]["t0"], &document["scales"][0]["w0"]), (t0, w0));
                assert_eq!(
                    (&document["configurations"], &document["schema_version"]),
                    (&json!(30), &json!(1))
                );
            }
        }
    }
    let short = flows(&folder, 5, 8);
    let (status, text, messages) = run(&folder, &short);
    assert!(status == 0 && text.contains("t0 not reached, w0 not reached"), "{text}");
    assert!(messages.contains("the flow ends before t0"), "{messages}");
    ensemble(&folder);
    for (line, status, wanted) in [
        (format!("{files} --fit 1,3"), 2, "--fit is for correlators"),
        (format!("{files} flow0.20.json"), 3, "of one configuration"),
        (format!("{files} flow0.8.json"), 3, "flow0.20.json has 20 flow times up to 1.9"),
        (format!("{files} 000.json"), 3, "000.json is no result of flow"),
    ] {
        let (found, _, messages) = run(&folder, &line);
        assert!(found == status && messages.contains(wanted), "{line}: {messages}");
    }
}

#[test]
fn a_report_has_every_plot_and_table() {
    let folder = tempfile::tempdir().unwrap();
    let files = ensemble(&folder);
    let page = |line: &str| {
        let (status, _, messages) = run(&folder, &format!("{line} --report page.html --force"));
        assert_eq!(status, 0, "{line}: {messages}");
        std::fs::read_to_string(folder.path().join("page.html")).unwrap()
    };
    let masses = page(&format!("{files} --fit 2,7"));
    assert_eq!((masses.matches("<img").count(), masses.matches("<details>").count()), (2, 3));
    for words in ["Masses", "kappa 0.12, pion", "kappa 0.12, nucleon", "jackknife", "000.json, 001.json"] {
        assert!(masses.contains(words), "{words}");
    }
    let lines: Vec<String> = fluctuations(1).iter().map(f64::to_string).collect();
    std::fs::write(folder.path().join("s.txt"), lines.join("\n")).unwrap();
    let history = page("--series s.txt");
    assert_eq!((history.matches("<img").count(), history.matches("<details>").count()), (2, 1));
    assert!(history.contains("normal distribution"));
    assert!(history.contains("Estimates") && history.contains("tau_int"));
}
