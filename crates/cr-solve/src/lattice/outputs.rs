//! The files that a job writes, checked before the work.

use crate::checkpoint::Checkpointing;
use lattice_cl::hadron::Source;
use lattice_cl::io::PropagatorFormat;
use lattice_cl::job::{Deflation, Flavour, Invalid, Job, Label, OneOrMore, Task};
use lattice_cli::destinations::{Destinations, HTML, PROPAGATOR, RESULT, SVG, TRACE};
use lattice_cli::failure::Failure;
use lattice_cli::ranks::Ranks;
use std::path::{Path, PathBuf};

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

/// Returns the files that a job reads and writes, with the options that name them.
///
/// The files beside a checkpoint are among them. Each of several ranks has a trace.
///
/// # Errors
/// When the job makes no sense.
pub fn destinations(job: &Job, ranks: &Ranks) -> Result<Destinations, Invalid> {
    let checkpointing = Checkpointing::of(&job.outputs);
    let (option, file) = checkpointing.file();
    let count = ranks.world().map_or(1, |world| world.size());
    let traces = (0..count).filter_map(|rank| trace_file(job, ranks, rank));
    Ok(Destinations::reading(inputs(job))
        .writing("--output", PROPAGATOR, solution_files(job)?)
        .writing("--plot", SVG, plot_files(job)?)
        .writing("--report", HTML, &job.outputs.report)
        .writing("--trace", TRACE, traces)
        .writing("--results", RESULT, result_files(job))
        .keeping(option, file)
        .keeping(option, kept_solutions(job, &checkpointing)?)
        .keeping("--multigrid-setup", &job.solver.multigrid.setup))
}

/// Returns the files that a job reads.
fn inputs(job: &Job) -> Vec<PathBuf> {
    let mut inputs: Vec<PathBuf> = job.configuration.file.iter().cloned().collect();
    if let Some(Deflation::File(modes)) = &job.solver.deflate {
        inputs.push(modes.clone());
    }
    for entry in job.sources.iter().chain(&job.source) {
        if let Source::File(columns) = &entry.source {
            inputs.push(columns.clone());
        }
    }
    inputs
}

/// Returns the file of a rank's trace, if there is one.
///
/// With several ranks the names have the number of the rank: `trace.0.json`.
pub fn trace_file(job: &Job, ranks: &Ranks, rank: usize) -> Option<PathBuf> {
    let path = job.outputs.trace.as_deref()?;
    let several = ranks.world().is_some_and(|world| world.size() > 1);
    Some(with_part(path, &if several { rank.to_string() } else { String::new() }))
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
    let both = job.action.site_term.flavour == Some(Flavour::Both);
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
    Ok(parts.map(|part| with_part(path, &part)).collect())
}

/// Returns a name with a part before its ending; the name itself if the part is empty.
fn with_part(path: &Path, part: &str) -> PathBuf {
    match path.extension() {
        _ if part.is_empty() => path.to_owned(),
        Some(ending) => {
            let mut ending_with_part = std::ffi::OsString::from(format!("{part}."));
            ending_with_part.push(ending);
            path.with_extension(ending_with_part)
        }
        None => path.with_extension(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_cl::job::{Action, SiteTermKeys};

    #[test]
    fn several_files_have_numbers_and_flavours() {
        let names = |path: &str, masses: &[f64], flavour, of_each| -> Vec<String> {
            let kappa = Some(OneOrMore::More(masses.to_vec()));
            let job = Job::default().with_action(
                Action::default()
                    .with_kappa(kappa)
                    .with_site_term(SiteTermKeys::default().with_mu(Some(0.1)).with_flavour(flavour)),
            );
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
