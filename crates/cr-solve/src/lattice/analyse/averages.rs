//! Averages of correlators over configurations.
//!
//! The errors are those of the jackknife.

use super::correlators::{Correlator, correlators_of, equal};
use super::estimates::{Averages, Estimate, MassForm};
use lattice_cl::io;
use lattice_cli::choices::word;
use lattice_cli::destinations::{Destinations, Overwriting, SVG};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::plot;
use lattice_cli::plot::drawn;
use lattice_cli::report::{Report, Table, align_right, decimal, path_text, plain_table, scientific};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const ONE_ENSEMBLE: &str = "analyse results of one ensemble at a time";

/// Options for results with correlators.
#[derive(Debug, clap::Args)]
pub struct AveragesOptions {
    /// Results of spectrum or run, one for each configuration: HDF5 or JSON
    #[arg(required_unless_present = "series", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only correlators with this text in their names [default: pion, rho and nucleon at rest]
    #[arg(long, value_name = "TEXT", conflicts_with = "series")]
    only: Option<String>,
    /// All correlators, with those of every matrix and momentum
    #[arg(long, conflicts_with_all = ["only", "series"])]
    all: bool,
    /// List the names of the correlators instead of averaging; all of them without --only
    #[arg(long, conflicts_with_all = ["plot", "mass", "series"])]
    list: bool,
    /// The effective mass: cosh for a periodic correlator, log for ln C(n)/C(n+1) [default: log for baryons, else cosh]
    #[arg(long, value_parser = word::<MassForm>(), conflicts_with = "series")]
    mass: Option<MassForm>,
}

/// The average of a correlator over configurations.
#[derive(Serialize)]
struct Averaged {
    /// The properties that tell the correlator from others.
    ///
    /// They are hadron or observable, mass, source and momentum.
    name: String,
    configurations: usize,
    mass: MassForm,
    #[serde(flatten)]
    averages: Averages,
}

#[derive(Serialize)]
struct Analysis {
    schema_version: u32,
    #[serde(serialize_with = "path_texts")]
    files: Vec<PathBuf>,
    correlators: Vec<Averaged>,
}

/// The names of correlators.
#[derive(Serialize)]
struct Listing {
    schema_version: u32,
    #[serde(serialize_with = "path_texts")]
    files: Vec<PathBuf>,
    names: Vec<String>,
}

fn path_texts<S: serde::Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Text<'a>(#[serde(serialize_with = "path_text")] &'a Path);
    serializer.collect_seq(paths.iter().map(|path| Text(path)))
}

/// The samples of a correlator, one of each file that has it.
struct Samples {
    is_baryon: bool,
    rank: Option<usize>,
    /// The extents of the lattice, if the result has them.
    dims: Option<serde_json::Value>,
    values: Vec<Vec<f64>>,
    /// Places in the list of files.
    files: Vec<usize>,
}

/// Reads the results, averages and prints.
///
/// # Errors
/// When a file is no result, when two files have the same correlator of one configuration, when
/// files have correlators of other lengths, and when there is nothing to average.
pub fn run(
    arguments: &AveragesOptions,
    drawing: Option<&Path>,
    overwriting: Overwriting,
    report: &Report,
) -> Result<Status, Failure> {
    Destinations::reading(&arguments.files).writing("--plot", SVG, drawing).check(overwriting)?;
    let selected = selected(arguments, read(&arguments.files)?, report)?;
    if arguments.list {
        let names: Vec<String> = selected.into_iter().map(|(name, _)| name).collect();
        let text = names.join("\n");
        report.result(text, &Listing { schema_version: 1, files: arguments.files.clone(), names })?;
        return Ok(Status::Fine);
    }
    let mut correlators = Vec::new();
    for (name, samples) in selected {
        let Samples { is_baryon, values, .. } = samples;
        if values.iter().any(|sample| sample.len() != values[0].len()) {
            let failure = failure(format!("the correlator {name} has other lengths in some files"));
            return Err(failure.hint(ONE_ENSEMBLE));
        }
        if values.len() < arguments.files.len() {
            report.warning(format_args!("{name} is in {} of {} files", values.len(), arguments.files.len()));
        }
        let mass = arguments.mass.unwrap_or(if is_baryon { MassForm::Log } else { MassForm::Cosh });
        let averages = Averages::new(&values, mass);
        correlators.push(Averaged { name, configurations: values.len(), mass, averages });
    }
    if let (Some(path), Some(first)) = (drawing, correlators.first()) {
        plot_correlator(first, path, report)?;
    }
    let outcome = Analysis { schema_version: 1, files: arguments.files.clone(), correlators };
    report.result(text(&outcome), &outcome)?;
    Ok(Status::Fine)
}

fn failure(message: String) -> Failure {
    Failure::new(Status::File, anyhow::Error::msg(message))
}

/// Reads the correlators of all files.
///
/// # Errors
/// When a file is no result, a copy of another, or that of another lattice.
fn read(files: &[PathBuf]) -> Result<BTreeMap<String, Samples>, Failure> {
    let mut samples: BTreeMap<String, Samples> = BTreeMap::new();
    let mut fingerprints: Vec<Option<String>> = Vec::new();
    for (file, path) in files.iter().enumerate() {
        let result = io::read_results(path)?;
        let fingerprint = result.pointer("/configuration/blake3").and_then(|sum| sum.as_str());
        fingerprints.push(fingerprint.map(str::to_owned));
        for (name, Correlator { values, is_baryon, rank }) in correlators_of(&result) {
            let entry = samples.entry(name.clone()).or_insert_with(|| {
                let (values, files) = (Vec::new(), Vec::new());
                Samples { is_baryon, rank, dims: result.get("dims").cloned(), values, files }
            });
            let unlike = |dims: &serde_json::Value| result.get("dims").is_some_and(|own| !equal(own, dims));
            if entry.dims.as_ref().is_some_and(unlike) {
                return Err(unlike_lattices(&files[entry.files[0]], path));
            }
            for (&other, others) in entry.files.iter().zip(&entry.values) {
                let same = match (&fingerprints[other], &fingerprints[file]) {
                    (Some(other), Some(own)) => (other == own).then(|| format!("BLAKE3 {}", shortened(own))),
                    _ => {
                        let is_copy = others == &values && values.iter().any(|value| *value != 0.0);
                        is_copy.then(|| "the same numbers".to_owned())
                    }
                };
                if let Some(same) = same {
                    return Err(copies(&name, &files[other], path, &same));
                }
            }
            entry.values.push(values);
            entry.files.push(file);
        }
    }
    Ok(samples)
}

/// Returns the beginning of a sum in hexadecimal.
fn shortened(sum: &str) -> &str {
    sum.get(..16).unwrap_or(sum)
}

/// Returns the refusal of two results of one configuration.
fn copies(name: &str, one: &Path, other: &Path, same: &str) -> Failure {
    let shown = lattice_files::text::path;
    let message = format!("{} and {} have {name} of one configuration ({same})", shown(one), shown(other));
    failure(message).hint("name one result of each configuration: copies would make the errors too small")
}

fn unlike_lattices(one: &Path, other: &Path) -> Failure {
    let shown = lattice_files::text::path;
    let message = format!("{} and {} are results of lattices of other extents", shown(one), shown(other));
    failure(message).hint(ONE_ENSEMBLE)
}

/// Chooses the correlators that are asked for, hadrons at rest first.
///
/// # Errors
/// When there is none.
fn selected(
    arguments: &AveragesOptions,
    samples: BTreeMap<String, Samples>,
    report: &Report,
) -> Result<Vec<(String, Samples)>, Failure> {
    let all = samples.len();
    let has_ranks = samples.values().any(|samples| samples.rank.is_some());
    let is_wanted = |name: &str, samples: &Samples| match &arguments.only {
        Some(only) => name.contains(only.as_str()),
        None => arguments.all || arguments.list || !has_ranks || samples.rank.is_some(),
    };
    let mut selected: Vec<_> =
        samples.into_iter().filter(|(name, samples)| is_wanted(name, samples)).collect();
    selected.sort_by_key(|(_, samples)| samples.rank.unwrap_or(usize::MAX));
    if selected.is_empty() {
        let failure = failure("the files have no such correlators".to_owned());
        return Err(failure.hint("name results of spectrum; --list shows the names of all correlators"));
    }
    if arguments.only.is_none() && selected.len() < all {
        let others = all - selected.len();
        report
            .note(format_args!("{others} other correlators: --list names them, --only and --all show them"));
    }
    Ok(selected)
}

fn plot_correlator(averaged: &Averaged, path: &Path, report: &Report) -> Result<(), Failure> {
    let numbers = |estimates: &[Estimate]| -> Vec<f64> {
        estimates.iter().map(|estimate| estimate.value.unwrap_or(f64::NAN)).collect()
    };
    let title = format!("{}, {} configurations", averaged.name, averaged.configurations);
    let Averages { correlator, effective_mass } = &averaged.averages;
    let errors: Vec<f64> = effective_mass.iter().map(|estimate| estimate.error.unwrap_or(0.0)).collect();
    let (values, masses) = (numbers(correlator), numbers(effective_mass));
    drawn(plot::correlator_with_errors(path, &title, &values, &masses, &errors), report)
}

fn text(outcome: &Analysis) -> String {
    let mut parts = Vec::new();
    for Averaged { name, configurations, mass, averages } in &outcome.correlators {
        let mut head = Table::default();
        head.line("correlator", name);
        head.line("configurations", configurations);
        head.line("effective mass", mass.formula());
        let mut table = plain_table(["n", "C(n)", "error", "effective mass", "error"]);
        align_right(&mut table, &[0, 1, 2, 3, 4]);
        let number =
            |value: Option<f64>, digits| value.map_or("-".to_owned(), |value| scientific(value, digits));
        for (n, (value, mass)) in averages.correlator.iter().zip(&averages.effective_mass).enumerate() {
            let mass_text = mass.value.map_or("-".to_owned(), |mass| decimal(mass, 6));
            let error_text = mass.error.map_or("-".to_owned(), |error| decimal(error, 6));
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
