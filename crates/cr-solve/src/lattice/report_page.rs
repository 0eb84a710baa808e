//! The page of a result of `spectrum`.

use super::analyse::correlators::{Correlator, correlators_of};
use super::analyse::mass_form::MassForm;
use lattice_cli::failure::Failure;
use lattice_cli::page::Page;
use lattice_cli::plot;
use lattice_cli::report::{Report, decimal, rounded, scientific};
use lattice_files::number::shown;
use serde_json::Value;
use std::path::Path;

/// Most correlators that are shown where none is a hadron at rest.
const MOST_SHOWN: usize = 24;

/// Keys of the result that say what was solved, with their names on the page.
const FACTS: [(&str, &str); 18] = [
    ("/configuration/file", "Configuration"),
    ("/dims", "Extents"),
    ("/configuration/plaquette", "Plaquette"),
    ("/configuration/blake3", "BLAKE3"),
    ("/kappa", "κ"),
    ("/mass", "Mass"),
    ("/csw", "csw"),
    ("/mu", "μ"),
    ("/boundary", "Boundary"),
    ("/source", "Source"),
    ("/method", "Method"),
    ("/precision", "Precision"),
    ("/tolerance", "Tolerance"),
    ("/devices", "Devices"),
    ("/provenance/version", "Version"),
    ("/provenance/commit", "Commit"),
    ("/provenance/started", "Started"),
    ("/provenance/host", "Host"),
];

/// Writes the page of a result.
///
/// # Errors
/// When a plot cannot be drawn, or the file cannot be written.
pub fn write(result: &Value, path: &Path, report: &Report) -> Result<(), Failure> {
    let mut page = Page::new("Spectrum");
    let mut facts = Vec::new();
    for (key, name) in FACTS {
        facts.push((name, result.pointer(key).map_or_else(String::new, value_text)));
    }
    let command = result.pointer("/provenance/command").and_then(Value::as_array);
    let words = command.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
    facts.push(("Command", format!("cr-solve {}", words.join(" "))));
    let seconds = |key: &str| result["seconds"][key].as_f64().map_or("-".to_owned(), |time| rounded(time, 3));
    let times = format!(
        "set-up {} s, compile {} s, solves {} s",
        seconds("setup"),
        seconds("compile"),
        seconds("solve")
    );
    facts.push(("Times", times));
    page.facts(&facts);

    let mut correlators: Vec<(String, Correlator)> = correlators_of(result).into_iter().collect();
    let all = correlators.len();
    if correlators.iter().any(|(_, correlator)| correlator.rank.is_some()) {
        correlators.retain(|(_, correlator)| correlator.rank.is_some());
    }
    correlators.sort_by_key(|(_, correlator)| correlator.rank);
    correlators.truncate(MOST_SHOWN);
    let mut plots = Vec::new();
    for (name, correlator) in &correlators {
        let masses = MassForm::usual(correlator.is_baryon).of(&correlator.values);
        let masses: Vec<f64> = masses.into_iter().map(|mass| mass.unwrap_or(f64::NAN)).collect();
        plots.extend(plot::shown(plot::correlator(name, &correlator.values, &masses), report)?);
    }
    page.plots(&plots);
    page.table("Solves", &["solve", "iterations", "true residual", "converged"], solves(result));
    for (name, correlator) in &correlators {
        let masses = MassForm::usual(correlator.is_baryon).of(&correlator.values);
        let rows = correlator.values.iter().zip(masses).enumerate().map(|(n, (value, mass))| {
            vec![n.to_string(), scientific(*value, 12), mass.map_or("-".to_owned(), |mass| decimal(mass, 6))]
        });
        page.table(name, &["n", "C(n)", "effective mass"], rows);
    }
    let others = match all - correlators.len() {
        0 => String::new(),
        others => format!(" {others} other correlators are in the result of --json and --results."),
    };
    let end = "Effective masses of baryons are ln C(n)/C(n+1), others arcosh (C(n-1) + C(n+1)) / 2C(n). \
               Residuals are |b - M x| / |b|, recomputed in double precision.";
    page.save(format_args!("{end}{others}"), path)
}

/// Returns the rows of the table of solves, of all masses and sources.
fn solves(result: &Value) -> Vec<Vec<String>> {
    let one = std::slice::from_ref(result);
    let results = result["results"].as_array().map_or(one, Vec::as_slice);
    let solves = results.iter().flat_map(|result| result["solves"].as_array().into_iter().flatten());
    let residual =
        |solve: &Value| solve["residual"]["true"].as_f64().map_or("-".to_owned(), |r| scientific(r, 3));
    let row = |solve: &Value| {
        let converged = if solve["converged"] == true { "yes" } else { "NO" };
        vec![
            value_text(&solve["label"]),
            value_text(&solve["iterations"]),
            residual(solve),
            converged.to_owned(),
        ]
    };
    solves.map(row).collect()
}

/// Returns a value as a person writes it.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().map_or_else(String::new, |x| shown(&x)),
        Value::Array(values) => values.iter().map(value_text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
