//! Averages of correlators over configurations, and masses of hadrons.

use super::configurations::Configurations;
use super::drawing::{Drawing, PageTable};
use super::error_estimation::{ErrorEstimation, ErrorOptions};
use super::estimates::{Averages, Estimate};
use super::fitted_mass::{FitChoice, FittedMass};
use super::mass_form::MassForm;
use super::mass_table::{MassRow, MassTable, short_names};
use super::samples::{Gathered, ONE_ENSEMBLE, Samples, failure, read};
use super::scales;
use super::table_file;
use super::uncertain_numbers::UncertainNumbers;
use lattice_cli::choices::word;
use lattice_cli::destinations::{Overwriting, TABLE};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::plot::{self, MassBand, Plot, PlotError};
use lattice_cli::report::{Report, Table, align_right, decimal, path_texts, plain_table, scientific};
use lattice_files::text;
use lattice_statistics::Weighting;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Options for results with correlators.
#[derive(Debug, clap::Args)]
pub struct AveragesOptions {
    /// Results of spectrum, run or flow, one for each configuration: HDF5 or JSON
    #[arg(required_unless_present = "series", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only correlators with this text in their names [default: pion, rho and nucleon at rest]
    #[arg(long, value_name = "TEXT", conflicts_with = "series")]
    only: Option<String>,
    /// All correlators, with those of every matrix and momentum
    #[arg(long, conflicts_with_all = ["only", "series"])]
    all: bool,
    /// List the names of the correlators instead of averaging; all of them without --only
    #[arg(long, conflicts_with_all = ["plot", "mass", "fit", "table", "series"])]
    list: bool,
    /// The effective mass: cosh for a periodic correlator, log for ln C(n)/C(n+1) [default: log for baryons, else cosh]
    #[arg(long, value_parser = word::<MassForm>(), conflicts_with = "series")]
    mass: Option<MassForm>,
    /// Fit one state at distances FIRST,LAST, or average the fits that begin at each distance: average
    #[arg(long, value_name = "RANGE", conflicts_with = "series")]
    fit: Option<FitChoice>,
    /// With fits: leave out correlations between distances, which few configurations do not tell
    #[arg(long, conflicts_with = "series")]
    uncorrelated: bool,
    /// Write the masses, or t0 and w0 of flows, as a table: .tex, .csv or .json
    ///
    /// Masses are those of --fit average unless --fit is given.
    #[arg(long, value_name = "FILE", conflicts_with = "series")]
    table: Option<PathBuf>,
    #[command(flatten)]
    errors: ErrorOptions,
}

impl AveragesOptions {
    /// Refuses options for correlators.
    fn expect_flows(&self) -> Result<(), Failure> {
        let options = [
            ("--only", self.only.is_some()),
            ("--all", self.all),
            ("--list", self.list),
            ("--mass", self.mass.is_some()),
            ("--fit", self.fit.is_some()),
            ("--uncorrelated", self.uncorrelated),
        ];
        match options.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                let message = format!("{option} is for correlators, and the files are results of flow");
                Err(Failure::usage(message).hint("leave it out"))
            }
            None => Ok(()),
        }
    }
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
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<FittedMass>,
}

#[derive(Serialize)]
struct Analysis {
    schema_version: u32,
    #[serde(serialize_with = "path_texts")]
    files: Vec<PathBuf>,
    #[serde(flatten)]
    estimation: ErrorEstimation,
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

/// Reads the results, averages and prints.
///
/// # Errors
/// When a file is no result, when two files have the same correlator of one configuration, when
/// files have correlators of other lengths, and when there is nothing to average.
pub fn run(
    arguments: &AveragesOptions,
    drawing: Drawing<'_>,
    window_parameter: Option<f64>,
    overwriting: Overwriting,
    report: &Report,
) -> Result<Status, Failure> {
    let estimation = ErrorEstimation::new(&arguments.errors, window_parameter)?;
    let choice = arguments.fit.or(arguments.table.is_some().then_some(FitChoice::Average));
    let weighting = if arguments.uncorrelated { Weighting::Uncorrelated } else { Weighting::Correlated };
    if arguments.uncorrelated && choice.is_none() {
        return Err(Failure::usage("--uncorrelated is for fits".to_owned()).hint("give --fit or --table"));
    }
    drawing.destinations(&arguments.files).writing("--table", TABLE, &arguments.table).check(overwriting)?;
    let Gathered { correlators, flows } = read(&arguments.files)?;
    if let Some(flows) = flows {
        arguments.expect_flows()?;
        return scales::run(&arguments.files, flows, estimation, drawing, arguments.table.as_deref(), report);
    }
    let selected = selected(arguments, correlators, report)?;
    if arguments.list {
        let names: Vec<String> = selected.into_iter().map(|(name, _)| name).collect();
        report.result(
            names.join("\n"),
            &Listing { schema_version: 1, files: arguments.files.clone(), names },
        )?;
        return Ok(Status::Fine);
    }
    let (mut correlators, mut failed_fits) = (Vec::new(), Vec::new());
    for (name, samples) in selected {
        let Samples { is_baryon, configurations, .. } = samples;
        let other_length = configurations.of_other_length();
        let Configurations { values, files, .. } = configurations;
        if let Some(other) = other_length {
            let has =
                |k: usize| format!("{} has {}", text::path(&arguments.files[files[k]]), values[k].len());
            let message = format!("{name} has other lengths: {}, and {} distances", has(0), has(other));
            return Err(failure(message).hint(ONE_ENSEMBLE));
        }
        if values.len() < arguments.files.len() {
            report.warning(format_args!("{name} is in {} of {} files", values.len(), arguments.files.len()));
        }
        let mass = arguments.mass.unwrap_or(MassForm::usual(is_baryon));
        let correlator = UncertainNumbers::new(&values, estimation)?;
        let averages = correlator.averages(mass)?;
        if let (Some(same), true) = (same_everywhere(&averages), values.len() > 1) {
            report.warning(format_args!("{name} is the same on all configurations at n = {same}: no error"));
        }
        let fit = match choice.map(|choice| correlator.mass(&name, mass, choice, weighting)) {
            Some(Err(failure)) if failure.status == Status::Usage => return Err(failure),
            Some(Err(failure)) => {
                failed_fits.push(failure);
                None
            }
            Some(Ok(fit)) => Some(fit),
            None => None,
        };
        correlators.push(Averaged { name, configurations: values.len(), mass, averages, fit });
    }
    if failed_fits.len() == correlators.len() && !failed_fits.is_empty() {
        return Err(failed_fits.remove(0));
    }
    failed_fits.iter().for_each(|failure| report.warning(format_args!("{:#}", failure.error)));
    if let Some(path) = &arguments.table {
        let fits = correlators.iter().filter_map(|one| Some((one, one.fit.as_ref()?)));
        let (fitted, fits): (Vec<&Averaged>, Vec<&FittedMass>) = fits.unzip();
        let names: Vec<&str> = fitted.iter().map(|one| one.name.as_str()).collect();
        let mut rows = Vec::new();
        for ((one, fit), hadron) in fitted.iter().zip(fits).zip(short_names(&names)) {
            rows.push(MassRow { hadron, name: &one.name, configurations: one.configurations, fit });
        }
        table_file::write(path, &MassTable::new(&rows))?;
    }
    let outcome = Analysis { schema_version: 1, files: arguments.files.clone(), estimation, correlators };
    outcome.draw(drawing, report)?;
    report.result(shown(&outcome), &outcome)?;
    Ok(Status::Fine)
}

/// Returns the distances without an error, if there are any.
fn same_everywhere(averages: &Averages) -> Option<String> {
    let without = averages.correlator.iter().enumerate().filter(|(_, estimate)| estimate.error.is_none());
    let distances: Vec<String> = without.map(|(n, _)| n.to_string()).collect();
    (!distances.is_empty()).then(|| distances.join(", "))
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

impl Analysis {
    /// Draws the first correlator, and writes the page of all.
    fn draw(&self, drawing: Drawing<'_>, report: &Report) -> Result<(), Failure> {
        let drawn = if drawing.wants_all() { self.correlators.len() } else { 1 };
        let drawn = if drawing.wants_one() { drawn } else { 0 };
        let masses = self.correlators.iter().filter_map(|one| Some((one, one.fit.as_ref()?)));
        let masses = masses.map(|(one, fit)| vec![one.name.clone(), fit.to_string()]).collect::<Vec<_>>();
        let masses =
            PageTable { title: "Masses".to_owned(), header: vec!["correlator", "mass"], rows: masses };
        let tables = self.correlators.iter().map(|one| PageTable {
            title: one.name.clone(),
            header: HEADER.to_vec(),
            rows: rows(&one.averages),
        });
        let files = self.files.iter().map(|path| text::path(path)).collect::<Vec<_>>().join(", ");
        drawing.write(
            "Averages of correlators",
            &[("Files", files), ("Errors", self.estimation.to_string())],
            self.correlators.iter().take(drawn).map(plotted),
            std::iter::once(masses).filter(|masses| !masses.rows.is_empty()).chain(tables),
            report,
        )
    }
}

fn plotted(averaged: &Averaged) -> Result<Plot, PlotError> {
    let numbers = |estimates: &[Estimate]| -> Vec<f64> {
        estimates.iter().map(|estimate| estimate.value.unwrap_or(f64::NAN)).collect()
    };
    let title = format!("{}, {} configurations", averaged.name, averaged.configurations);
    let Averages { correlator, effective_mass } = &averaged.averages;
    let errors: Vec<f64> = effective_mass.iter().map(|estimate| estimate.error.unwrap_or(0.0)).collect();
    let (values, masses) = (numbers(correlator), numbers(effective_mass));
    let band = averaged.fit.as_ref().map(|fit| MassBand {
        first: fit.first,
        last: fit.last,
        mass: fit.mass,
        error: fit.error,
    });
    plot::correlator_with_errors(&title, &values, &masses, &errors, band)
}

const HEADER: [&str; 5] = ["n", "C(n)", "error", "effective mass", "error"];

/// Returns the rows of the table of a correlator.
fn rows(averages: &Averages) -> Vec<Vec<String>> {
    let number = |value: Option<f64>, digits| value.map_or("-".to_owned(), |value| scientific(value, digits));
    let mass = |value: Option<f64>| value.map_or("-".to_owned(), |value| decimal(value, 6));
    let all = averages.correlator.iter().zip(&averages.effective_mass).enumerate();
    let row = |(n, (value, effective)): (usize, (&Estimate, &Estimate))| {
        vec![
            n.to_string(),
            number(value.value, 10),
            number(value.error, 2),
            mass(effective.value),
            mass(effective.error),
        ]
    };
    all.map(row).collect()
}

fn shown(outcome: &Analysis) -> String {
    let mut parts = Vec::new();
    for Averaged { name, configurations, mass, averages, fit } in &outcome.correlators {
        let mut head = Table::default();
        head.line("correlator", name);
        head.line("configurations", configurations);
        head.line("errors", outcome.estimation);
        head.line("effective mass", mass.formula());
        if let Some(fit) = fit {
            head.line("mass", fit);
        }
        let mut table = plain_table(HEADER);
        align_right(&mut table, &[0, 1, 2, 3, 4]);
        table.add_rows(rows(averages));
        parts.push(format!("{head}\n{table}"));
    }
    parts.join("\n\n")
}
