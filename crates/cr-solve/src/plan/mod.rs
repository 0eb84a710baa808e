//! `cr-solve plan`: the memory, the disk space and the time of a job, before it runs.

mod kept;
mod remedies;
mod room;

use super::job_file::JobFile;
use super::run::hint_of_keys;
use kept::Measured;
use lattice_cl::Dims;
use lattice_cl::compute::{Profiling, Team};
use lattice_cl::io;
use lattice_cl::job::{Invalid, Job, Needs, NeedsError, OneOrMore};
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::{Report, Table};
use lattice_cli::team::device_names;
use room::{Room, bytes_text};
use serde::Serialize;
use std::path::PathBuf;

/// The command line of `plan`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The job file; - for standard input
    file: PathBuf,
    /// Give a key this TOML value, whatever the file says; several times for several keys
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Extents in x, y, z, t, whatever those of the configuration are: 32x32x32x64
    #[arg(long, value_name = "EXTENTS")]
    dims: Option<Dims>,
    /// Result of an earlier job on these devices, for the time; several for a choice of masses
    #[arg(long, value_name = "RESULT")]
    like: Vec<PathBuf>,
}

/// The plan as JSON.
#[derive(Serialize)]
struct Plan {
    schema_version: u32,
    dims: [usize; 4],
    devices: Vec<String>,
    method: String,
    /// Solves of the job, and columns of each.
    solves: usize,
    columns: usize,
    memory: Vec<Room>,
    checkpoint_bytes: u64,
    solutions_bytes: u64,
    /// Time of all solves, `null` without an earlier result of this kind.
    time: Option<Time>,
    fits: bool,
    /// Changes with which the job fits, each alone.
    remedies: Vec<String>,
}

/// The time of the solves, by an earlier result.
#[derive(Serialize)]
struct Time {
    seconds: f64,
    iterations_of_solve: f64,
    seconds_of_iteration: f64,
    /// The file of the earlier result.
    like: String,
}

/// Shows the plan of a job, and refuses a job that cannot fit.
///
/// # Errors
/// * When the job makes no sense.
/// * When a file or a device is at fault.
/// * When memory is too small for the job.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let hint = |failure| hint_of_keys(failure, &arguments.file);
    let job = JobFile::read(&arguments.file, &arguments.set, &common.ranks).map_err(hint)?.job;
    let mut common = common.clone();
    if common.device.is_empty() {
        common.device = job.devices.device.iter().flat_map(OneOrMore::as_slice).cloned().collect();
    }
    let dims = dims_of(&job, arguments.dims)?;
    let measured = arguments.like.iter().map(|file| Measured::read(file)).collect::<Result<Vec<_>, _>>()?;
    let team = common.team(Profiling::Off, report)?;
    let needs = Needs::of(&job, &team, dims).map_err(hint_of_needs)?;
    let memory = room::compare(&needs);
    let fits = memory.iter().all(Room::fits);
    let remedies = if fits { Vec::new() } else { remedies::find(&job, &team, dims, &memory) };
    let time = time_of(&job, &team, dims, &needs, &measured, report);
    let plan = Plan {
        schema_version: 1,
        dims: dims.extents(),
        devices: device_names(&team),
        method: needs.method.to_string(),
        solves: needs.solves,
        columns: needs.columns,
        checkpoint_bytes: if job.outputs.checkpoint.is_some() { needs.checkpoint } else { 0 },
        solutions_bytes: if job.outputs.output.is_some() { needs.solutions } else { 0 },
        memory,
        time,
        fits,
        remedies,
    };
    report.result(table(&plan), &plan)?;
    if plan.fits { Ok(Status::Fine) } else { Err(refusal(&plan)) }
}

/// Returns the extents of the job's lattice.
fn dims_of(job: &Job, given: Option<Dims>) -> Result<Dims, Failure> {
    if let Some(dims) = given {
        return Ok(dims);
    }
    let file = job.configuration.file.as_deref().ok_or(Invalid::NoConfiguration)?;
    let found = io::read_extents(file, &job.configuration.read_options()).map_err(Failure::from);
    found.map_err(|failure| match file.exists() {
        true => failure,
        false => failure.hint("give the extents with --dims, if the file is made later"),
    })
}

fn hint_of_needs(error: NeedsError) -> Failure {
    match error {
        NeedsError::Invalid(invalid) => invalid.into(),
        NeedsError::Lattice(error) => error.into(),
        NeedsError::Multigrid(error) => Failure::new(Status::Usage, error),
    }
}

/// Returns the time of the solves if an earlier result is of this kind.
fn time_of(
    job: &Job,
    team: &Team,
    dims: Dims,
    needs: &Needs,
    measured: &[Measured],
    report: &Report,
) -> Option<Time> {
    let kappa = job.quarks().ok()?.first()?.coupling.kappa();
    let wanted = kept::PlannedJob { devices: device_names(team), kappa, dims, job, method: needs.method };
    let nearest = match kept::nearest(measured, &wanted) {
        Ok(nearest) => nearest?,
        Err(why) => {
            report.warning(why);
            return None;
        }
    };
    let seconds_of_iteration = nearest.seconds_of_iteration_and_site * dims.volume() as f64;
    Some(Time {
        seconds: seconds_of_iteration * nearest.iterations_of_solve * (needs.solves * needs.columns) as f64,
        iterations_of_solve: nearest.iterations_of_solve,
        seconds_of_iteration,
        like: nearest.file.display().to_string(),
    })
}

fn refusal(plan: &Plan) -> Failure {
    let short: Vec<String> = plan.memory.iter().filter(|room| !room.fits()).map(Room::shortage).collect();
    let failure = Failure::usage(format!("the job does not fit: {}", short.join("; ")));
    plan.remedies.iter().fold(failure, |failure, remedy| failure.hint(remedy))
}

/// Returns a time as text.
fn time_text(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", 1e3 * s),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn table(plan: &Plan) -> Table {
    let mut table = Table::default();
    table.line("extents", plan.dims.map(|extent| extent.to_string()).join("x"));
    table.line("devices", plan.devices.join(", "));
    let of_columns = if plan.columns > 1 { format!(" of {} columns", plan.columns) } else { String::new() };
    table.line("solves", format_args!("{}{of_columns}, {}", plan.solves, plan.method));
    for room in &plan.memory {
        table.line("memory", room);
    }
    let files = [("checkpoint", plan.checkpoint_bytes), ("solutions", plan.solutions_bytes)];
    for (name, bytes) in files.into_iter().filter(|(_, bytes)| *bytes > 0) {
        table.line(name, format_args!("{} on disk", bytes_text(bytes)));
    }
    match &plan.time {
        Some(time) => table.line(
            "time",
            format_args!(
                "{}: {:.0} iterations a solve, {:.3} ms each, as in {}",
                time_text(time.seconds),
                time.iterations_of_solve,
                1e3 * time.seconds_of_iteration,
                time.like
            ),
        ),
        None => table.line("time", "not known; name a result of an earlier job with --like"),
    }
    table.line("fits", if plan.fits { "yes" } else { "NO" });
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_times_are_short() {
        assert_eq!(["2.0 kB", "3.5 MB", "80.0 GB"], [2000, 3_500_000, 80_000_000_000].map(bytes_text)[..]);
        let times = [0.0123, 4.56, 600.0, 9000.0].map(time_text);
        assert_eq!(times, ["12 ms", "4.6 s", "10 min", "2.5 h"]);
    }
}
