//! The files that a job writes, checked before the work.

use super::checkpoint::Checkpointing;
use super::failure::{Failure, Status};
use super::report::Report;
use crate::plot::PlotError;
use lattice_cl::io::{self, PropagatorFormat};
use lattice_cl::job::{Flavour, Invalid, Job, Label, OneOrMore, Task};
use std::path::{Path, PathBuf};

/// Checks the file of `--plot`.
///
/// # Errors
/// When the file's name does not end in `.svg`.
pub fn check_plot(plot: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = plot else { return Ok(()) };
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        return Ok(());
    }
    let message = format!("--plot {}: plots are SVG, and the name does not end in .svg", path.display());
    Err(Failure::usage(message).hint(format!("write --plot {}", path.with_extension("svg").display())))
}

/// Checks that the format of `--output` can hold the solutions of the job.
///
/// The name tells the format.
///
/// # Errors
/// When a single solution is to go to a format that holds all twelve.
pub fn check_solutions(job: &Job) -> Result<(), Failure> {
    let Some(path) = job.outputs.output.as_deref().filter(|_| job.command == Task::Invert) else {
        return Ok(());
    };
    let format = solution_format(path);
    if !format.holds_all_columns() {
        return Ok(());
    }
    let message = format!("--output {}: {format} holds twelve solutions, and invert has one", path.display());
    let lime = path.with_extension("lime");
    Err(Failure::usage(message).hint(format!("write --output {}, or run spectrum", lime.display())))
}

/// Returns the format of a file of solutions: that of its name, or SciDAC.
pub fn solution_format(path: &Path) -> PropagatorFormat {
    PropagatorFormat::of_file_name(path).unwrap_or_default()
}

/// Returns the files that a job writes, with the options that name them.
///
/// The files beside a checkpoint are among them.
///
/// # Errors
/// When the job makes no sense.
pub fn named_outputs(job: &Job) -> Result<Vec<(&'static str, PathBuf)>, Invalid> {
    let checkpointing = Checkpointing::of(&job.outputs);
    let mut named = Vec::new();
    named.extend(solution_files(job)?.into_iter().map(|path| ("--output", path)));
    named.extend(plot_files(job)?.into_iter().map(|path| ("--plot", path)));
    named.extend(job.outputs.trace.clone().map(|path| ("--trace", path)));
    named.extend(result_files(job).map(|path| ("--results", path.clone())));
    let (option, file) = checkpointing.file();
    named.extend(file.map(|path| (option, path.to_owned())));
    named.extend(kept_solutions(job, &checkpointing)?.into_iter().map(|path| (option, path)));
    Ok(named)
}

/// Returns the files beside the checkpoint of a job.
///
/// # Errors
/// When the job makes no sense.
pub fn kept_solutions(job: &Job, checkpointing: &Checkpointing) -> Result<Vec<PathBuf>, Invalid> {
    let labels = job.labels()?.concat();
    // The solution of a single solve is its result.
    let kept: &[Label] = if labels.len() > 1 { &labels } else { &[] };
    Ok(checkpointing.solutions(kept.iter()))
}

/// Returns the files of `--output`, one for each propagator.
///
/// # Errors
/// When the job makes no sense.
pub fn solution_files(job: &Job) -> Result<Vec<PathBuf>, Invalid> {
    let Some(path) = &job.outputs.output else { return Ok(Vec::new()) };
    named(path, job, 1)
}

/// Returns the files of `--results`.
pub fn result_files(job: &Job) -> impl Iterator<Item = &PathBuf> {
    job.outputs.results.iter().flat_map(OneOrMore::as_slice)
}

/// Returns the files of `--plot`.
///
/// `invert` has one file, `spectrum` has one for each correlator.
///
/// # Errors
/// When the job makes no sense.
pub fn plot_files(job: &Job) -> Result<Vec<PathBuf>, Invalid> {
    let Some(path) = &job.outputs.plot else { return Ok(Vec::new()) };
    match job.command {
        Task::Invert => Ok(vec![path.clone()]),
        Task::Spectrum => named(path, job, job.observables()?.len()),
    }
}

/// Returns `of_each` names for each propagator.
///
/// Several names have numbers before the ending. If there are both flavours, the names have the
/// flavour too: `p.0.lime`, `p.up.lime`, `p.0.down.lime`.
fn named(path: &Path, job: &Job, of_each: usize) -> Result<Vec<PathBuf>, Invalid> {
    let (quarks, numbers) = (job.quarks()?, job.propagators()?);
    let propagators = numbers.len();
    let both = job.action.flavour == Some(Flavour::Both);
    let flavours = Flavour::Both.each().len();
    // Quarks of one action have the same sources.
    let sources = propagators / quarks.len();
    let parts = (0..propagators * of_each).map(|k| {
        if !both {
            return if propagators * of_each > 1 { k.to_string() } else { String::new() };
        }
        let [quark, source] = numbers[k / of_each];
        let number = (quark / flavours * sources + source) * of_each + k % of_each;
        let number = (propagators * of_each > flavours).then(|| number.to_string());
        let flavour = quarks[quark].flavour.map(|flavour| flavour.to_string());
        number.into_iter().chain(flavour).collect::<Vec<_>>().join(".")
    });
    let with_part = |part: String| match path.extension() {
        _ if part.is_empty() => path.to_owned(),
        Some(ending) => {
            let mut ending_with_part = std::ffi::OsString::from(format!("{part}."));
            ending_with_part.push(ending);
            path.with_extension(ending_with_part)
        }
        None => path.with_extension(part),
    };
    Ok(parts.map(with_part).collect())
}

/// Checks the files of these options before any work.
///
/// All files must be writable. No file may overwrite the input or another file.
///
/// # Errors
/// When a file fails a check.
pub fn check_files(input: &Path, outputs: &[(&str, PathBuf)]) -> Result<(), Failure> {
    let given = || outputs.iter().map(|(option, path)| (*option, path.as_path()));
    for (option, path) in given() {
        if io::is_same_file(path, input) {
            let message =
                format!("{option} {} would overwrite the input {}", path.display(), input.display());
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

/// Turns the outcome of drawing a plot into a failure or a warning.
///
/// A plot that cannot be written is a failure. A plot with nothing to show is worth a warning.
///
/// # Errors
/// When the plot could not be drawn or written.
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

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_cl::job::Action;

    #[test]
    fn several_files_have_numbers_and_flavours() {
        let names = |path: &str, masses: &[f64], flavour, of_each| -> Vec<String> {
            let kappa = Some(OneOrMore::More(masses.to_vec()));
            let job = Job {
                action: Action { kappa, mu: Some(0.1), flavour, ..Action::default() },
                ..Job::default()
            };
            let paths = named(Path::new(path), &job, of_each).unwrap();
            paths.iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(names("a/p.lime", &[0.1], None, 1), ["a/p.lime"]);
        assert_eq!(names("a/p.lime", &[0.1], Some(Flavour::Down), 1), ["a/p.lime"]);
        assert_eq!(names("a/p.lime", &[0.1, 0.2], None, 1), ["a/p.0.lime", "a/p.1.lime"]);
        assert_eq!(names("p", &[0.1], None, 2), ["p.0", "p.1"]);
        let both = Some(Flavour::Both);
        assert_eq!(names("p.lime", &[0.1], both, 1), ["p.up.lime", "p.down.lime"]);
        assert_eq!(
            names("p.lime", &[0.1, 0.2], both, 1),
            ["p.0.up.lime", "p.0.down.lime", "p.1.up.lime", "p.1.down.lime"]
        );
        assert_eq!(names("p", &[0.1], both, 2), ["p.0.up", "p.1.up", "p.0.down", "p.1.down"]);
    }
}
