//! `cr-solve analyse`: errors of what was measured on several configurations.

mod averages;
mod configurations;
pub(in crate::lattice) mod correlators;
mod drawing;
mod error_estimation;
mod estimates;
mod fitted_mass;
mod flow_rows;
pub(in crate::lattice) mod mass_form;
mod mass_table;
mod samples;
mod scale_table;
mod scales;
mod series;
mod table_file;
mod uncertain_numbers;

use averages::AveragesOptions;
use drawing::Drawing;
use lattice_cli::destinations::Overwriting;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::Report;
use series::SeriesOptions;
use std::path::PathBuf;

/// The command line of `analyse`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    averages: AveragesOptions,
    /// Draw the first of the correlators that are averaged, and its effective mass (SVG)
    ///
    /// With --series the normalised autocorrelation of the first column, and its window.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write a page with all plots and tables (HTML)
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// S of the window that ends the sum of an autocorrelation: 1 to 2, or 0 for none [default: 2]
    ///
    /// With --series and --errors gamma.
    #[arg(long, value_name = "S")]
    window_parameter: Option<f64>,
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    series: SeriesOptions,
}

/// Analyses results or histories, and prints.
///
/// # Errors
/// When a file cannot be read, and when there is nothing that has an error.
pub fn run(arguments: &Arguments, report: &Report) -> Result<Status, Failure> {
    let Arguments { averages, series, plot, report: page, window_parameter, overwriting } = arguments;
    let drawing = Drawing { plot: plot.as_deref(), report: page.as_deref() };
    match series.series.is_empty() {
        true => averages::run(averages, drawing, *window_parameter, *overwriting, report),
        false => series::run(series, drawing, *window_parameter, *overwriting, report),
    }
}
