//! Deflation of a job's solves by modes of its operators.

use super::callbacks::Callbacks;
use super::deflation::Deflation;
use super::error::JobError;
use super::invalid::Invalid;
use super::method::Method;
use super::modes_news::{DeflationOutcome, ModesNews};
use crate::geometry::LatticeError;
use crate::modes::{DiracModes, ModesError, ModesFileError, ModesParams};
use crate::operator::{Dirac, System};
use crate::solve::{Checkpoints, Preconditioning};
use lattice_solvers::range::larger;
use lattice_solvers::{Failure, LanczosLook, Wish};
use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

/// The modes of a job's operators, those of one operator at a time.
pub(super) struct Deflating<'a> {
    operators: &'a [Dirac<f64>],
    fingerprint: Option<&'a str>,
    /// The modes of the operator with this number.
    ready: Option<(usize, DiracModes, DeflationOutcome)>,
}

impl<'a> Deflating<'a> {
    pub fn new(operators: &'a [Dirac<f64>], fingerprint: Option<&'a str>) -> Self {
        Self { operators, fingerprint, ready: None }
    }

    /// Returns the modes of an operator, if they are ready.
    pub fn ready(&self, number: usize) -> Option<&DiracModes> {
        self.ready.as_ref().filter(|(own, ..)| *own == number).map(|(_, modes, _)| modes)
    }

    /// Returns the outcome for an operator, if its modes are ready.
    pub fn outcome(&self, number: usize) -> Option<&DeflationOutcome> {
        self.ready.as_ref().filter(|(own, ..)| *own == number).map(|(.., outcome)| outcome)
    }

    /// Makes or reads the modes of the operator with this number, unless they are ready.
    ///
    /// # Errors
    /// If modes cannot be found, or if a file cannot be read or is of another operator.
    pub fn prepare(
        &mut self,
        number: usize,
        method: &Method,
        callbacks: &mut dyn Callbacks,
    ) -> Result<(), JobError> {
        if self.ready(number).is_some() {
            return Ok(());
        }
        self.ready = None;
        let Some(deflation) = &method.deflate else { return Ok(()) };
        let dirac = &self.operators[number];
        let team = dirac.lattice().team();
        let (begun, compiled) = (Instant::now(), team.compile_time());
        let (modes, applications, file) = match deflation {
            Deflation::Count(count) => {
                let (modes, applications) = find(dirac, *count, method, callbacks)?;
                (modes, applications, None)
            }
            Deflation::File(path) => {
                let fingerprint = self.fingerprint.ok_or(Invalid::NoFingerprint { key: "deflate" })?;
                let modes = DiracModes::read(path, dirac, fingerprint)?;
                expect_preconditioning(path, &modes, method.preconditioning)?;
                (modes, 0, Some(path.clone()))
            }
        };
        team.finish().map_err(LatticeError::from)?;
        let time = begun.elapsed().saturating_sub(team.compile_time().saturating_sub(compiled));
        let outcome = DeflationOutcome {
            modes: modes.count(),
            file,
            applications,
            seconds: time.as_secs_f64(),
            largest_residual: modes.residuals().into_iter().fold(0.0, larger),
        };
        callbacks.modes(&ModesNews::Ready(&outcome));
        self.ready = Some((number, modes, outcome));
        Ok(())
    }
}

/// Searches for the lowest modes, and returns them with the number of applications.
fn find(
    dirac: &Dirac<f64>,
    count: usize,
    method: &Method,
    callbacks: &mut dyn Callbacks,
) -> Result<(DiracModes, usize), JobError> {
    let system = match method.iterated_system() {
        System::Hermitian => System::Hermitian,
        _ => System::Normal,
    };
    let params = ModesParams { system, preconditioning: method.preconditioning, ..ModesParams::new(count) };
    let callbacks = RefCell::new(callbacks);
    let mut watch =
        |look: &LanczosLook| callbacks.borrow_mut().modes(&ModesNews::Progress { look, wanted: count });
    match DiracModes::find(dirac, &params, &mut watch, Some(&mut Stopping(&callbacks))) {
        Ok((modes, info)) => Ok((modes, info.applications)),
        Err(ModesError::NotConverged { failure: Failure::Interrupted, found, info, .. }) => {
            Err(JobError::SearchInterrupted { found, of: count, applications: info.applications })
        }
        Err(error) => Err(error.into()),
    }
}

/// The callbacks of a job, for a search whose states are not kept.
///
/// The search of a job that goes on begins anew, and gives the same modes.
struct Stopping<'a, 'c>(&'a RefCell<&'c mut dyn Callbacks>);

impl Checkpoints for Stopping<'_, '_> {
    fn wish(&mut self) -> Wish {
        match self.0.borrow_mut().wish() {
            Wish::Stop | Wish::KeepAndStop => Wish::Stop,
            Wish::GoOn | Wish::Keep => Wish::GoOn,
        }
    }
}

fn expect_preconditioning(
    path: &Path,
    modes: &DiracModes,
    here: Preconditioning,
) -> Result<(), ModesFileError> {
    let found = modes.preconditioning();
    if found == here {
        return Ok(());
    }
    let (found, here) = (found.to_string(), here.to_string());
    Err(ModesFileError::Other { path: path.to_owned(), what: "preconditioning", found, here })
}
