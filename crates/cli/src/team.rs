//! The devices of a job.

use super::common::Common;
use super::failure::Failure;
use super::report::Report;
use lattice_compute::{Profiling, Recorder, Team};

/// Returns the names of a team's devices, as results show them.
pub fn device_names(team: &Team) -> Vec<String> {
    if team.is_host() {
        return vec!["host".to_owned()];
    }
    team.labels()
}

/// Opens the one device of a command that works on a field as a whole.
///
/// A note says which device `auto` has chosen.
///
/// # Errors
/// When no device can be opened. When a device is named, but `host_only` names something that has
/// no kernels.
pub fn select_one(common: &Common, host_only: Option<&str>, report: &Report) -> Result<Team, Failure> {
    if let Some(what) = host_only {
        common.expect_no_device(what)?;
        return Ok(Team::host());
    }
    Ok(first_of(common.team(Profiling::Off, report)?, report))
}

/// Operations that the host does in less time than a device takes to compile its kernels.
const SMALL: f64 = 2e8;

/// Returns the host as the team of a job of so few operations, if no device is named.
///
/// Compilation of kernels takes seconds, and a first job has to wait for all of them.
pub fn host_if_small(common: &Common, operations: f64, report: &Report) -> Option<Team> {
    let chooses = common.device.iter().all(|device| device == "auto");
    (chooses && operations <= SMALL).then(|| {
        report.note("running on the host: the problem is small (--device names a device)");
        Team::host()
    })
}

/// Returns the first device of a team as a team of its own, and says so.
pub fn first_of(team: Team, report: &Report) -> Team {
    if let Some(absence) = team.absence() {
        report.note(format_args!("running on the host: {absence}"));
    }
    let Some(first) = team.devices().first() else { return team };
    report.note(format_args!("running on {}", first.label()));
    if team.len() > 1 {
        report.note("the other devices are not used: the field lies on one");
    }
    Team::of([first.clone()])
}

/// Opens the devices of a command that cuts its work by rows, and says what `auto` has chosen.
///
/// # Errors
/// When no device can be opened.
pub fn select_all(common: &Common, report: &Report) -> Result<Team, Failure> {
    let team = common.team(Profiling::Off, report)?;
    match team.absence() {
        Some(absence) => report.note(format_args!("running on the host: {absence}")),
        None => report.note(format_args!("running on {}", device_names(&team).join(", "))),
    }
    Ok(team)
}

/// Opens the devices of `--device`, and says what `auto` has chosen.
pub fn select_team(common: &Common, recorder: Recorder, report: &Report) -> Result<Team, Failure> {
    let team = common.recorded_team(recorder, report)?;
    match team.absence() {
        Some(absence) => report.note(format_args!("running on the host: {absence}")),
        None => report.note(format_args!("running on {}", device_names(&team).join(", "))),
    }
    Ok(team)
}
