//! An operator on its devices.

use super::Common;
use super::failure::Failure;
use super::provenance::{Configuration, Provenance};
use super::report::Report;
use lattice_cl::device::{Recorder, Team};
use lattice_cl::geometry::Dims;
use lattice_cl::operator::{Coupling, Dirac};
use std::time::Duration;

/// An operator that stands ready on its devices.
pub struct Problem {
    /// The operator.
    pub wilson: Dirac<f64>,
    /// κ or mass.
    pub coupling: Coupling,
    /// What tells the configuration from others.
    pub configuration: Configuration,
    /// Where results come from.
    pub provenance: Provenance,
    /// Time that all of it took, but for compilers.
    pub setup_seconds: f64,
}

impl Problem {
    /// The extents of the lattice.
    pub fn dims(&self) -> Dims {
        self.wilson.lattice().dims()
    }

    /// Time that compilers of kernels have taken so far.
    pub fn compile_time(&self) -> Duration {
        self.wilson.lattice().team().compile_time()
    }

    /// The devices' names; `host` if there are none.
    pub fn devices(&self) -> Vec<String> {
        device_names(self.wilson.lattice().team())
    }
}

/// The names of a team's devices, as results show them.
pub fn device_names(team: &Team) -> Vec<String> {
    if team.is_host() {
        return vec!["host".to_owned()];
    }
    team.devices().iter().map(|device| device.label().to_owned()).collect()
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
