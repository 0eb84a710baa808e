//! `cr-solve analyse`: averages of correlators over configurations.
//!
//! The errors are those of the jackknife.

use super::arguments::path_text;
use super::destinations::{Destinations, Overwriting, SVG};
use super::failure::{Failure, Status};
use super::outputs::drawn;
use super::plot;
use super::report::{Report, Table, align_right, plain_table, scientific};
use lattice_cl::hadron::effective_mass;
use lattice_cl::io;
use lattice_solvers::range::{exponent, larger, times_power};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The command line of `analyse`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Results of spectrum or run, one for each configuration: HDF5 or JSON
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only correlators with this text in their names
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Draw the effective mass of the first correlator into this file (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// The effective mass: cosh for a correlator that is periodic, log for ln C(n)/C(n+1)
    #[arg(long, value_enum, default_value_t = MassForm::Cosh)]
    mass: MassForm,
    #[command(flatten)]
    overwriting: Overwriting,
}

/// The formula for the mass of a correlator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
enum MassForm {
    /// arcosh((C(n−1) + C(n+1)) / 2C(n))
    Cosh,
    /// ln(C(n) / C(n+1))
    Log,
}

impl MassForm {
    fn of(self, correlator: &[f64]) -> Vec<Option<f64>> {
        match self {
            Self::Cosh => effective_mass(correlator),
            Self::Log => {
                let ratio = |n: usize| Some(correlator[n] / *correlator.get(n + 1)?);
                let real = |ratio: f64| (ratio > 0.0 && ratio.is_finite()).then(|| ratio.ln());
                (0..correlator.len()).map(|n| ratio(n).and_then(real)).collect()
            }
        }
    }
}

/// A value and its error, `null` where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Estimate {
    value: Option<f64>,
    error: Option<f64>,
}

/// The average of a correlator over configurations.
#[derive(Serialize)]
struct Averaged {
    /// The properties that tell the correlator from others.
    ///
    /// They are observable, mass, source and momentum.
    name: String,
    configurations: usize,
    correlator: Vec<Estimate>,
    effective_mass: Vec<Estimate>,
}

#[derive(Serialize)]
struct Analysis {
    schema_version: u32,
    #[serde(serialize_with = "path_texts")]
    files: Vec<PathBuf>,
    mass: MassForm,
    correlators: Vec<Averaged>,
}

fn path_texts<S: serde::Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Text<'a>(#[serde(serialize_with = "path_text")] &'a std::path::Path);
    serializer.collect_seq(paths.iter().map(|path| Text(path)))
}

/// Reads the results, averages and prints.
///
/// # Errors
/// When a file is no result, when files have correlators of other lengths, and when there is nothing to average.
pub fn run(arguments: &Arguments, report: &Report) -> Result<Status, Failure> {
    Destinations::reading(&arguments.files)
        .writing("--plot", SVG, &arguments.plot)
        .check(arguments.overwriting)?;
    let mut samples: BTreeMap<String, Vec<Vec<f64>>> = BTreeMap::new();
    for file in &arguments.files {
        let result = io::read_results(file)?;
        let mut found = BTreeMap::new();
        collect(&result, &[], &mut found);
        for (name, correlator) in found {
            samples.entry(name).or_default().push(correlator);
        }
    }
    let is_wanted = |name: &str| arguments.only.as_deref().is_none_or(|only| name.contains(only));
    samples.retain(|name, _| is_wanted(name));
    let mut correlators = Vec::new();
    for (name, samples) in &samples {
        if samples.iter().any(|sample| sample.len() != samples[0].len()) {
            let message = format!("the correlator {name} has other lengths in some files");
            let failure = Failure::new(Status::File, anyhow::Error::msg(message));
            return Err(failure.hint("analyse results of one ensemble at a time"));
        }
        if samples.len() < arguments.files.len() {
            report.warning(format_args!("{name} is in {} of {} files", samples.len(), arguments.files.len()));
        }
        correlators.push(Averaged::new(name, samples, arguments.mass));
    }
    let Some(first) = correlators.first() else {
        let message = "the files have no such correlators".to_owned();
        let failure = Failure::new(Status::File, anyhow::Error::msg(message));
        return Err(failure.hint("name results of spectrum, and leave out --only to see all names"));
    };
    if let Some(path) = &arguments.plot {
        let numbers = |estimates: &[Estimate]| -> Vec<f64> {
            estimates.iter().map(|estimate| estimate.value.unwrap_or(f64::NAN)).collect()
        };
        let title = format!("{}, {} configurations", first.name, first.configurations);
        let errors: Vec<f64> =
            first.effective_mass.iter().map(|estimate| estimate.error.unwrap_or(0.0)).collect();
        let (values, masses) = (numbers(&first.correlator), numbers(&first.effective_mass));
        drawn(plot::correlator_with_errors(path, &title, &values, &masses, &errors), report)?;
    }
    let outcome =
        Analysis { schema_version: 1, files: arguments.files.clone(), mass: arguments.mass, correlators };
    report.result(text(&outcome), &outcome)?;
    Ok(Status::Fine)
}

/// Keys whose values tell a correlator from others.
const TELLING: [&str; 21] = [
    "observable",
    "hadron",
    "insertion",
    "meson",
    "baryon",
    "name",
    "sink",
    "source",
    "label",
    "kappa",
    "mass",
    "flavour",
    "mu",
    "along",
    "momentum",
    "projector",
    "quark",
    "quarks",
    "smear_sink",
    "parity",
    "part",
];

/// Collects the correlators of a result by their names.
///
/// An object has a correlator if it has a list of numbers under `correlator` or `values`. `outer`
/// are the telling values of the objects around. Only the real parts of complex numbers are taken.
fn collect(value: &Value, outer: &[String], found: &mut BTreeMap<String, Vec<f64>>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, outer, found)),
        Value::Object(entries) => {
            // The entries beside the list of all results repeat the first result.
            if let Some(Value::Array(results)) = entries.get("results") {
                let others = ["mixed", "hadrons"].into_iter().filter_map(|key| entries.get(key));
                results.iter().chain(others).for_each(|result| collect(result, &[], found));
                return;
            }
            let names = [outer, &telling(entries)].concat();
            let mut add = |names: &[String], numbers: &Value| {
                if let Some(numbers) = reals(numbers) {
                    found.entry(names.join(", ")).or_insert(numbers);
                }
            };
            ["correlator", "values"]
                .iter()
                .filter_map(|key| entries.get(*key))
                .for_each(|list| add(&names, list));
            // The observables say the same with their directions.
            if let (Some(Value::Object(correlators)), None) =
                (entries.get("correlators"), entries.get("observables"))
            {
                for (name, numbers) in correlators {
                    add(&[&names[..], std::slice::from_ref(name)].concat(), numbers);
                }
            }
            let is_of_the_run = |key: &str| ["job", "provenance", "configuration", "solves"].contains(&key);
            for (_, value) in entries.iter().filter(|(key, _)| !is_of_the_run(key)) {
                if value.is_object() || value.is_array() {
                    collect(value, &names, found);
                }
            }
        }
        _ => {}
    }
}

fn telling(entries: &Map<String, Value>) -> Vec<String> {
    let told = entries.iter().filter(|(key, value)| TELLING.contains(&key.as_str()) && !value.is_null());
    let told = told.filter(|(key, value)| {
        // Objects under such keys are results of their own.
        !(value.is_object() || key.as_str() == "mass" && entries.contains_key("kappa"))
    });
    told.map(|(key, value)| match value {
        Value::String(text)
            if ["observable", "hadron", "meson", "baryon", "name"].contains(&key.as_str()) =>
        {
            text.clone()
        }
        Value::String(text) => format!("{key} {text}"),
        other => format!("{key} {other}"),
    })
    .collect()
}

fn reals(value: &Value) -> Option<Vec<f64>> {
    let values = value.as_array().filter(|values| !values.is_empty())?;
    values.iter().map(|value| value.as_f64().or_else(|| value.as_array()?.first()?.as_f64())).collect()
}

impl Averaged {
    fn new(name: &str, samples: &[Vec<f64>], form: MassForm) -> Self {
        let mean = mean(samples, None);
        let without: Vec<Vec<f64>> = match samples.len() {
            1 => Vec::new(),
            count => (0..count).map(|left_out| self::mean(samples, Some(left_out))).collect(),
        };
        let masses: Vec<Vec<Option<f64>>> = without.iter().map(|mean| form.of(mean)).collect();
        let correlator = mean.iter().enumerate().map(|(n, &value)| Estimate {
            value: Some(value),
            error: jackknife(&without.iter().map(|mean| Some(mean[n])).collect::<Vec<_>>()),
        });
        let effective_mass = form.of(&mean).into_iter().enumerate().map(|(n, value)| Estimate {
            value,
            error: value.and_then(|_| jackknife(&masses.iter().map(|masses| masses[n]).collect::<Vec<_>>())),
        });
        Self {
            name: name.to_owned(),
            configurations: samples.len(),
            correlator: correlator.collect(),
            effective_mass: effective_mass.collect(),
        }
    }
}

/// Returns the mean of samples, without one of them if it is left out.
fn mean(samples: &[Vec<f64>], left_out: Option<usize>) -> Vec<f64> {
    let taken: Vec<&Vec<f64>> =
        samples.iter().enumerate().filter(|(k, _)| Some(*k) != left_out).map(|(_, sample)| sample).collect();
    let mean = |n: usize| {
        let power = exponent(taken.iter().map(|sample| sample[n].abs()).fold(0.0, larger));
        let sum: f64 = taken.iter().map(|sample| times_power(sample[n], -power)).sum();
        times_power(sum / taken.len() as f64, power)
    };
    (0..samples[0].len()).map(mean).collect()
}

/// Returns the jackknife error of estimates that each leave out one of N samples.
///
/// The square of the error is (N − 1)/N Σ (θ_i − θ̄)². `None` below two samples, or if one has no estimate.
fn jackknife(estimates: &[Option<f64>]) -> Option<f64> {
    let estimates: Vec<f64> = estimates.iter().copied().collect::<Option<_>>()?;
    let count = estimates.len() as f64;
    if estimates.len() < 2 {
        return None;
    }
    // In a unit in which squares are in range.
    let power = exponent(estimates.iter().map(|estimate| estimate.abs()).fold(0.0, larger));
    let estimates: Vec<f64> = estimates.iter().map(|estimate| times_power(*estimate, -power)).collect();
    let mean = estimates.iter().sum::<f64>() / count;
    let squares: f64 = estimates.iter().map(|estimate| (estimate - mean).powi(2)).sum();
    Some(times_power(((count - 1.0) / count * squares).sqrt(), power))
}

fn text(outcome: &Analysis) -> String {
    let mut parts = Vec::new();
    for averaged in &outcome.correlators {
        let mut head = Table::default();
        head.line("correlator", &averaged.name);
        head.line("configurations", averaged.configurations);
        let mut table = plain_table(["n", "C(n)", "error", "effective mass", "error"]);
        align_right(&mut table, &[0, 1, 2, 3, 4]);
        let number =
            |value: Option<f64>, digits| value.map_or("-".to_owned(), |value| scientific(value, digits));
        for (n, (value, mass)) in averaged.correlator.iter().zip(&averaged.effective_mass).enumerate() {
            let mass_text = mass.value.map_or("-".to_owned(), |mass| format!("{mass:.6}"));
            let error_text = mass.error.map_or("-".to_owned(), |error| format!("{error:.6}"));
            table.add_row([
                n.to_string(),
                number(value.value, 10),
                number(value.error, 2),
                mass_text,
                error_text,
            ]);
        }
        parts.push(format!("{head}\n{table}"));
    }
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_jackknife_of_a_mean_is_the_error_of_the_mean() {
        let samples = [1.0, 4.0, 2.0, 7.0].map(|value| vec![value]).to_vec();
        let averaged = Averaged::new("a", &samples, MassForm::Log);
        // Σ (x − 3.5)² = 21, over N(N − 1) = 12.
        let Estimate { value, error } = averaged.correlator[0];
        assert_eq!(value, Some(3.5));
        assert!((error.unwrap() - (21.0f64 / 12.0).sqrt()).abs() < 1e-14);
        assert_eq!(Averaged::new("a", &samples[..1], MassForm::Log).correlator[0].error, None);
    }

    #[test]
    fn errors_and_masses_have_the_scale_of_their_correlators() {
        let samples = [[3.0, 2.0, 1.4, 1.2], [3.2, 2.1, 1.3, 1.1], [2.9, 2.2, 1.5, 1.3]];
        let scaled = |power| samples.map(|sample| sample.map(|x| times_power(x, power)).to_vec());
        for form in [MassForm::Cosh, MassForm::Log] {
            let expected = Averaged::new("a", &scaled(0), form);
            for power in [-1000, -660, -300, 300, 660, 1000, 1022] {
                let found = Averaged::new("a", &scaled(power), form);
                assert_eq!(found.effective_mass, expected.effective_mass, "{power}");
                for (found, expected) in found.correlator.iter().zip(&expected.correlator) {
                    let of_unit = |x: Option<f64>| x.map(|x| times_power(x, -power));
                    assert_eq!(of_unit(found.value), expected.value, "{power}");
                    assert_eq!(of_unit(found.error), expected.error, "{power}");
                }
            }
        }
    }

    #[test]
    fn masses_are_those_of_one_state() {
        let exponential: Vec<f64> = (0..8).map(|n| (-0.5 * f64::from(n)).exp()).collect();
        let cosh: Vec<f64> = (0..8).map(|n| (0.3 * f64::from(n - 4)).cosh()).collect();
        for (form, correlator, mass) in [(MassForm::Log, exponential, 0.5), (MassForm::Cosh, cosh, 0.3)] {
            let samples =
                [1.0, 1.5, 0.5].map(|factor| correlator.iter().map(|c| c * factor).collect()).to_vec();
            let found = Averaged::new("a", &samples, form).effective_mass[2];
            assert!((found.value.unwrap() - mass).abs() < 1e-12 && found.error.unwrap() < 1e-12);
        }
    }

    #[test]
    fn correlators_are_found_wherever_they_are() {
        let result = json!({
            "kappa": 0.12, "mass": 0.1, "mu": 0.5, "correlators": { "pion": [1.0, 2.0] },
            "job": { "correlator": [9.0] },
            "baryons": [{ "name": "proton", "momentum": [0, 0, 1], "values": [[3.0, 0.1], [4.0, 0.2]] }],
        });
        let mut found = BTreeMap::new();
        collect(&result, &[], &mut found);
        let wanted = BTreeMap::from([
            ("kappa 0.12, mu 0.5, pion".to_owned(), vec![1.0, 2.0]),
            ("kappa 0.12, mu 0.5, proton, momentum [0,0,1]".to_owned(), vec![3.0, 4.0]),
        ]);
        assert_eq!(found, wanted);
        // A list of results says all that stands beside it.
        let observable = json!({ "observable": "pion", "along": "x", "correlator": [5.0] });
        let several = json!({
            "kappa": 0.12, "mu": 0.5, "correlators": { "pion": [5.0] },
            "results": [{ "kappa": 0.12, "correlators": { "pion": [5.0] }, "observables": [observable] }],
        });
        let mut found = BTreeMap::new();
        collect(&several, &[], &mut found);
        assert_eq!(found, BTreeMap::from([("kappa 0.12, pion, along x".to_owned(), vec![5.0])]));
    }
}
