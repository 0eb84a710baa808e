//! The devices of a job.

use super::Common;
use super::failure::Failure;
use super::report::Report;
use lattice_cl::device::{Recorder, Team};

/// The names of a team's devices, as results show them.
pub fn device_names(team: &Team) -> Vec<String> {
    if team.is_host() {
        return vec!["host".to_owned()];
    }
    team.labels()
}

/// Opens the devices of `--device`, and says where `auto` landed.
pub fn select_team(common: &Common, recorder: Recorder, report: &Report) -> Result<Team, Failure> {
    let team = common.recorded_team(recorder, report)?;
    match team.absence() {
        Some(absence) => report.note(format_args!("running on the host: {absence}")),
        None => report.note(format_args!("running on {}", device_names(&team).join(", "))),
    }
    Ok(team)
}
