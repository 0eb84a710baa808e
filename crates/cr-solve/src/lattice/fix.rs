//! `cr-solve fix`: a gauge configuration in Landau or Coulomb gauge.

use super::links_file::{self, Beginning, Destination, Rewritten};
use super::links_output::help_on_configuration;
use lattice_cl::compute::Team;
use lattice_cl::gauge::{FixError, FixParams, FixedStart, Gauge, fix_gauge};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::lattice::input::Input;
use lattice_cli::report::{Report, Table, scientific};
use serde::Serialize;
use std::path::PathBuf;

/// The command line of `fix`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[arg(value_name = "FILE", help = help_on_configuration())]
    input: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The gauge: landau or coulomb
    #[arg(long, value_name = "GAUGE")]
    gauge: Gauge,
    /// Number of starts: the configuration, then random gauge transformations of it
    ///
    /// The result with the largest functional is written.
    #[arg(long, value_name = "N", default_value_t = 1)]
    starts: usize,
    /// The theta to stop at
    #[arg(long, value_name = "THETA", default_value = "1e-14")]
    tolerance: f64,
    /// Fourier acceleration: fewer iterations on large lattices
    #[arg(long)]
    fourier: bool,
    /// Power of each step, from 1 to less than 2 [default: 1.7, with --fourier 1.3]
    #[arg(long, value_name = "OMEGA")]
    overrelaxation: Option<f64>,
    /// Most iterations from each start
    #[arg(long, value_name = "N", default_value_t = FixParams::new(Gauge::Landau).most_iterations)]
    max_iterations: usize,
    /// Seed of the random gauge transformations
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    destination: Destination,
    #[command(flatten)]
    reading: Input,
}

#[derive(Serialize)]
struct FixResult {
    #[serde(flatten)]
    rewritten: Rewritten,
    gauge: Gauge,
    /// Functional of the links in the file.
    functional_before: f64,
    theta_before: f64,
    functional: f64,
    theta: f64,
    iterations: usize,
    /// The functional of each start. Several values are Gribov copies.
    starts: Vec<f64>,
    /// All about each start.
    runs: Vec<FixedStart>,
    /// The start that is written, counted from 0.
    best: usize,
    tolerance: f64,
    overrelaxation: f64,
    fourier: bool,
}

/// Reads links, fixes their gauge and writes them.
///
/// # Errors
/// * If an option makes no sense, or if no start converges.
/// * If the input cannot be read.
/// * If the output cannot be written, or is the input.
pub fn run(arguments: &Arguments, report: &Report) -> Result<Status, Failure> {
    let beginning = Beginning::now(report);
    let defaults = match arguments.fourier {
        true => FixParams::accelerated(arguments.gauge),
        false => FixParams::new(arguments.gauge),
    };
    let params = defaults
        .with_tolerance(arguments.tolerance)
        .with_overrelaxation(arguments.overrelaxation.unwrap_or(defaults.overrelaxation))
        .with_most_iterations(arguments.max_iterations)
        .with_starts(arguments.starts)
        .with_seed(arguments.seed);
    let output = arguments.destination.prepare(&arguments.input, &arguments.output)?;
    let file = arguments.reading.read(&arguments.input, report)?;
    links_file::note_on_precision(&arguments.input, &file, report);
    let gauge = params.gauge;
    let before = [
        gauge.functional_in_su3(&file.configuration).map_err(FixError::from)?,
        gauge.theta(&file.configuration),
    ];
    let line = report.line();
    let mut watch = |start: usize, iterations: usize, theta: f64| {
        line.set_message(format!("start {start}, iteration {iterations}, theta {}", scientific(theta, 2)));
        tracing::info!(start, iterations, theta);
    };
    let fixed = fix_gauge(&file.configuration, &params, &mut watch);
    line.finish_and_clear();
    let fixed = fixed?;
    let best = fixed.starts[fixed.best];
    let done =
        format!("{gauge} gauge, functional {:.12}, theta {}", best.functional, scientific(best.theta, 2));
    links_file::write(&output, &fixed.links, &done, (&arguments.input, &file.facts), report)?;
    for (number, start) in fixed.starts.iter().enumerate().filter(|(_, start)| !start.converged) {
        report
            .warning(format_args!("start {number} has not converged: theta {}", scientific(start.theta, 2)));
    }
    let outcome = FixResult {
        rewritten: Rewritten::new(beginning, &Team::host(), (&arguments.input, &file), &output),
        gauge,
        functional_before: before[0],
        theta_before: before[1],
        functional: best.functional,
        theta: best.theta,
        iterations: best.iterations,
        starts: fixed.starts.iter().map(|start| start.functional).collect(),
        runs: fixed.starts,
        best: fixed.best,
        tolerance: params.tolerance,
        overrelaxation: params.overrelaxation,
        fourier: params.fourier,
    };
    report.result(table(&outcome), &outcome)?;
    Ok(Status::Fine)
}

fn table(outcome: &FixResult) -> Table {
    outcome.rewritten.table(|table| {
        table.line("gauge", outcome.gauge);
        let (functional, theta) = (outcome.functional_before, scientific(outcome.theta_before, 2));
        table.line("before", format_args!("functional {functional:.12}, theta {theta}"));
        for (number, run) in outcome.runs.iter().enumerate() {
            let (functional, theta, iterations) = (run.functional, scientific(run.theta, 2), run.iterations);
            let written = if number == outcome.best { ", written" } else { "" };
            table.line(
                "start",
                format_args!(
                    "{number}: functional {functional:.12}, theta {theta}, {iterations} iterations{written}"
                ),
            );
        }
    })
}
