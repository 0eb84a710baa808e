//! The files that a job writes, checked before the work.

use super::checkpoint::Checkpointing;
use super::failure::{Failure, Status};
use super::report::Report;
use super::trace::Trace;
use crate::plot::PlotError;
use lattice_cl::io;
use std::path::Path;

/// The file of `--plot`.
///
/// # Errors
/// When its name says that it is no SVG.
pub fn check_plot(plot: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = plot else { return Ok(()) };
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        return Ok(());
    }
    let message = format!("--plot {}: plots are SVG, and the name does not end in .svg", path.display());
    Err(Failure::usage(message).hint(format!("write --plot {}", path.with_extension("svg").display())))
}

/// The files that a job writes, with the options that name them.
pub fn named_outputs<'a>(
    output: Option<&'a Path>,
    plot: Option<&'a Path>,
    trace: &'a Trace,
    checkpointing: &'a Checkpointing,
) -> [(&'static str, Option<&'a Path>); 4] {
    [("--output", output), ("--plot", plot), ("--trace", trace.path()), checkpointing.file()]
}

/// Checks, before any work, that the files of these options can be written and that none overwrites the configuration or another.
///
/// # Errors
/// When they cannot, or do.
pub fn check_files(configuration: &Path, outputs: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    let given = || outputs.iter().filter_map(|(option, path)| Some((*option, (*path)?)));
    for (option, path) in given() {
        if io::is_same_file(path, configuration) {
            let message = format!(
                "{option} {} would overwrite the configuration {}",
                path.display(),
                configuration.display()
            );
            return Err(Failure::usage(message).hint("give it another name"));
        }
        io::check_writable(path)?;
    }
    for (k, (option, path)) in given().enumerate() {
        if let Some((other, _)) = given().take(k).find(|(_, other)| io::is_same_file(other, path)) {
            let message = format!("{other} and {option} are both the file {}", path.display());
            return Err(Failure::usage(message).hint("give one of them another name"));
        }
    }
    Ok(())
}

/// What becomes of a plot: one that cannot be written is a failure, one with nothing to show is worth a warning.
///
/// # Errors
/// When it could not be drawn or written.
pub fn drawn(plot: Result<(), PlotError>, report: &Report) -> Result<(), Failure> {
    match plot {
        Ok(()) => Ok(()),
        Err(error @ PlotError::NothingToShow { .. }) => {
            report.warning(error);
            Ok(())
        }
        Err(error) => Err(Failure::new(Status::File, error)),
    }
}
