//! `cr-solve md table`: the error of tables of a potential, on each device.

use super::model::{TableError, error_of};
use super::words::Range;
use lattice_cl::compute::{Profiling, Team};
use lattice_cli::choices::word;
use lattice_cli::common::Common;
use lattice_cli::destinations::{Destinations, Overwriting, SVG};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::forces::TableKinds;
use lattice_cli::plot::{self, Series, drawn};
use lattice_cli::report::{Report, align_right, plain_table, scientific};
use lattice_cli::team::device_names;
use lattice_files::number::shown;
use lattice_md::{
    Fetch, Forces, Grid, Interpolation, List, Mode, Options, Potential, Precision, System, Table, TableFile,
    Units,
};
use serde::Serialize;
use std::path::PathBuf;

/// The command line of `md table`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A file of LAMMPS tables
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The section, whose spline the tables are compared with
    #[arg(long, value_name = "NAME")]
    section: String,
    /// Numbers of samples
    #[arg(long, value_name = "M", value_delimiter = ',', default_values_t = [512, 4096, 32768])]
    samples: Vec<usize>,
    #[command(flatten)]
    kinds: TableKinds,
    /// The first and the last distance [default: those of the section]
    #[arg(long, value_name = "RMIN,RMAX")]
    range: Option<Range>,
    /// The units of results; a file with other UNITS: is converted
    #[arg(long, value_parser = word::<Units>(), default_value_t)]
    units: Units,
    /// Plot the errors of forces against the number of samples, as SVG
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
}

#[derive(Serialize)]
struct Row {
    device: String,
    /// The error of the device's filter, relative to the step between samples; null without images.
    filter_error: Option<f64>,
    mode: &'static str,
    fetch: &'static str,
    precision: &'static str,
    spacing: &'static str,
    interpolation: &'static str,
    samples: usize,
    /// The step of samples, in r or in its square.
    h: f64,
    /// The largest errors between the first sample and the longest cutoff.
    error: TableError,
    /// Whether this way of reading is the one that is taken by itself.
    default: bool,
}

#[derive(Serialize)]
struct TableResult {
    schema_version: u32,
    file: PathBuf,
    section: String,
    range: [f64; 2],
    inconsistency: f64,
    /// The largest |E| and |E'| of the section within the range.
    largest: TableError,
    rows: Vec<Row>,
    plot: Option<PathBuf>,
}

/// Measures tables of a section.
///
/// # Errors
/// When the file cannot be read, the range is not within the section, or a device fails.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    Destinations::reading([&arguments.file])
        .writing("--plot", SVG, &arguments.plot)
        .check(arguments.overwriting)?;
    let file = TableFile::read_in(&arguments.file, arguments.units)?;
    let curve = file.section(&arguments.section)?;
    let [first, last] = curve.range();
    let range = arguments.range.map_or([first, last], |Range(range)| range);
    if range[0] < first || range[1] > last {
        let message = format!(
            "--range {},{} is not within the section's {} to {}",
            shown(&range[0]),
            shown(&range[1]),
            shown(&first),
            shown(&last)
        );
        return Err(Failure::usage(message));
    }
    let team = common.team(Profiling::Off, report)?;
    let places: Vec<Team> = match team.devices() {
        [] => vec![Team::host()],
        devices => devices.iter().map(|device| Team::of([device.clone()])).collect(),
    };
    let mut rows = Vec::new();
    for place in &places {
        for &samples in &arguments.samples {
            for (spacing, interpolation) in arguments.kinds.all() {
                let grid = Grid::new(samples, range[0], range[1])?.spaced(spacing);
                let table = Table::sampled(1, grid, |_, r| curve.energy_and_slope(r))?;
                let table = table.interpolated(interpolation);
                for mode in [Mode::Derivative, Mode::Potential] {
                    rows.extend(rows_of(place, &table, mode, |r| curve.energy_and_slope(r))?);
                }
            }
        }
    }
    let step = (range[1] - range[0]) / 1e4;
    let largest = (0..=10_000).map(|i| curve.energy_and_slope(range[0] + step * f64::from(i)));
    let largest =
        largest.fold([0.0_f64; 2], |[e, s], [energy, slope]| [e.max(energy.abs()), s.max(slope.abs())]);
    if let Some(path) = &arguments.plot {
        let title =
            format!("errors of tables of {}, {}", arguments.section, plot::short_name(&arguments.file));
        let axes = ["samples", "largest error of a force"];
        drawn(path, plot::powers(&title, axes, &series(&rows)), report)?;
    }
    let outcome = TableResult {
        schema_version: 1,
        file: arguments.file.clone(),
        section: arguments.section.clone(),
        range,
        inconsistency: curve.inconsistency(),
        largest: TableError { energy: largest[0], force: largest[1] },
        rows,
        plot: arguments.plot.clone(),
    };
    report.result(text(&outcome), &outcome)?;
    Ok(Status::Fine)
}

/// Measures every way in which a place reads a table, from its first sample to the longest cutoff.
fn rows_of(
    place: &Team,
    table: &Table,
    mode: Mode,
    exact: impl Fn(f64) -> [f64; 2],
) -> Result<Vec<Row>, Failure> {
    let grid = table.grid();
    let potential = Potential::Table { table: table.clone(), mode };
    let cutoff = grid.at((grid.samples - 1) as f64 - 2.5);
    // One atom in a box that the cutoff fits in: only its potential is of interest.
    let system = System::new([2.5 * cutoff; 3], vec!["X".to_owned()], vec![0], vec![[0.0; 3]])?;
    let images = place.devices().first().and_then(|device| device.linear_images());
    let width = match table.interpolation() {
        Interpolation::Linear => grid.samples,
        Interpolation::Cubic => 4 * (grid.samples - 1),
    };
    let fits = images.is_some_and(|images| width <= images.max_width);
    let within = [grid.rmin, cutoff];
    let mut rows = Vec::new();
    for precision in [Precision::Double, Precision::Mixed] {
        for fetch in [Fetch::Buffer, Fetch::Image] {
            if (fetch == Fetch::Image && !fits) || (place.is_host() && precision != Precision::Double) {
                continue;
            }
            let options =
                Options::new(cutoff).with_precision(precision).with_fetch(fetch).with_list(List::AllPairs);
            let forces = Forces::new(place, &system, &potential, options)?;
            let by_itself = options.with_fetch(Fetch::Auto);
            let taken = Forces::new(place, &system, &potential, by_itself)?.fetch();
            rows.push(Row {
                device: device_names(place).join(", "),
                filter_error: images.map(|images| images.filter_error),
                mode: mode.name(),
                fetch: forces.fetch().map_or("host", Fetch::name),
                precision: precision.name(),
                spacing: grid.spacing.name(),
                interpolation: table.interpolation().name(),
                samples: grid.samples,
                h: grid.step(),
                error: error_of(&forces, [0, 0], within, &exact)?,
                default: taken == forces.fetch(),
            });
        }
    }
    Ok(rows)
}

/// Returns a line for each way of reading, in mixed precision where there is one.
fn series(rows: &[Row]) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for row in rows.iter().filter(|row| row.precision == "mixed" || row.fetch == "host") {
        let (spacing, interpolation) = (row.spacing, row.interpolation);
        let name = format!("{}, {} by {}, {interpolation} in {spacing}", row.device, row.mode, row.fetch);
        let point = (row.samples as f64, row.error.force);
        match series.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => series.push(Series { name, points: vec![point] }),
        }
    }
    series
}

fn text(outcome: &TableResult) -> String {
    let header = [
        "device",
        "mode",
        "spacing",
        "interpolation",
        "fetch",
        "precision",
        "samples",
        "h",
        "energy",
        "force",
        "default",
    ];
    let mut table = plain_table(header);
    for row in &outcome.rows {
        table.add_row([
            row.device.clone(),
            row.mode.to_owned(),
            row.spacing.to_owned(),
            row.interpolation.to_owned(),
            row.fetch.to_owned(),
            row.precision.to_owned(),
            row.samples.to_string(),
            scientific(row.h, 3),
            scientific(row.error.energy, 2),
            scientific(row.error.force, 2),
            if row.default { "yes" } else { "" }.to_owned(),
        ]);
    }
    align_right(&mut table, &[6, 7, 8, 9]);
    let TableError { energy, force } = outcome.largest;
    let [first, last] = outcome.range.map(|r| shown(&r));
    let (energy, force, apart) =
        (scientific(energy, 2), scientific(force, 2), scientific(outcome.inconsistency, 1));
    format!(
        "section {} from {first} to {last}: largest |E| {energy}, |E'| {force}, F and -dE/dr differ by {apart}\n\n\
         largest errors:\n{table}",
        outcome.section
    )
}
