//! Solving M x = b.

use super::attempts::{Attempt, InOrder};
use super::checkpoints::Checkpoints;
use super::forms::{Form, Outcome, norm, scale};
use super::plan::{IterationPrecision, Method, Plan, Preconditioning};
use super::sources::Scaled;
use super::systems::System;
use super::wilson::Wilson;
use crate::device::DeviceError;
use crate::lattice::{LatticeError, ParityField, SpinorField};
use lattice_solvers::{
    Failure, ForeignState, LinearOperator, Residual, SolverError, SolverInfo, SourceError, Stopping,
    VectorSpace, Work,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Parameters of [`cr`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// Which system is iterated. Default [`System::Normal`].
    pub system: System,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for CrParams {
    fn default() -> Self {
        let Stopping { tolerance, max_iterations, .. } = Stopping::default();
        Self {
            tol: tolerance,
            max_iterations,
            system: System::default(),
            precision: IterationPrecision::Double,
            preconditioning: Preconditioning::None,
        }
    }
}

/// Parameters of [`cg`] and [`cgne`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CgParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for CgParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, precision, preconditioning }
    }
}

/// Parameters of [`bicgstab`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BicgstabParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations, of two applications of M each. Default 10 000.
    pub max_iterations: usize,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for BicgstabParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, precision, preconditioning }
    }
}

/// Parameters of [`bicgstab_l`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BicgstabLParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations, of 2ℓ applications of M each. Default 10 000.
    pub max_iterations: usize,
    /// ℓ, the degree of the polynomials by which the residual is made minimal. Default 2.
    pub degree: usize,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for BicgstabLParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, degree: 2, precision, preconditioning }
    }
}

/// Parameters of [`gcr`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GcrParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// m, the directions that are kept, each two fields. Default 16.
    pub restart: usize,
    /// Steps of Minimal Residual that make a direction of a residual; with none it is the residual itself. Default 4.
    pub smoothing: usize,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for GcrParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, restart: 16, smoothing: 4, precision, preconditioning }
    }
}

/// Parameters of [`mr`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MrParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// ω, more than 0 and less than 2. Default 1.
    pub relaxation: f64,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: IterationPrecision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for MrParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, relaxation: 1.0, precision, preconditioning }
    }
}

/// Why there is no solution.
#[derive(Debug, thiserror::Error)]
pub enum InvertError {
    /// The method gave up. What it reached is here, nothing is lost.
    #[error("no convergence after {} iterations: {failure}", info.iterations)]
    NotConverged {
        /// Why.
        failure: Failure,
        /// The best iterate.
        best: Box<SpinorField<f64>>,
        /// How far it came.
        info: Box<SolverInfo>,
    },
    /// Every method that [`Auto`](super::Auto) tried gave up.
    #[error("no convergence after {} iterations: {}", info.iterations, InOrder(attempts))]
    AllGaveUp {
        /// Why the last one did.
        failure: Failure,
        /// The best iterate of all; zero if none came nearer to the solution.
        best: Box<SpinorField<f64>>,
        /// How far it came, all methods together.
        info: Box<SolverInfo>,
        /// The methods, in the order in which they were tried.
        attempts: Vec<Attempt>,
    },
    /// A parameter makes no sense.
    #[error("{name} = {value} is not allowed: {allowed}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What would be allowed.
        allowed: &'static str,
    },
    /// The right-hand side cannot be solved for.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The state to go on from is another method's.
    #[error(transparent)]
    ForeignState(ForeignState),
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
}

impl From<DeviceError> for InvertError {
    fn from(error: DeviceError) -> Self {
        InvertError::Lattice(error.into())
    }
}

impl From<CrParams> for Plan {
    fn from(params: CrParams) -> Self {
        let CrParams { tol, max_iterations, system, precision, preconditioning } = params;
        Self {
            method: Method::Cr(system),
            precision,
            preconditioning,
            stopping: stopping(tol, max_iterations),
        }
    }
}

impl From<CgParams> for Plan {
    fn from(params: CgParams) -> Self {
        let CgParams { tol, max_iterations, precision, preconditioning } = params;
        Self { method: Method::Cg, precision, preconditioning, stopping: stopping(tol, max_iterations) }
    }
}

/// That of [`cgne`].
fn plan_of_cgne(params: CgParams) -> Plan {
    Plan { method: Method::Cgne, ..params.into() }
}

impl From<BicgstabParams> for Plan {
    fn from(params: BicgstabParams) -> Self {
        let BicgstabParams { tol, max_iterations, precision, preconditioning } = params;
        Self { method: Method::Bicgstab, precision, preconditioning, stopping: stopping(tol, max_iterations) }
    }
}

impl From<BicgstabLParams> for Plan {
    fn from(params: BicgstabLParams) -> Self {
        let BicgstabLParams { tol, max_iterations, degree, precision, preconditioning } = params;
        Self {
            method: Method::BicgstabL { degree },
            precision,
            preconditioning,
            stopping: stopping(tol, max_iterations),
        }
    }
}

impl From<GcrParams> for Plan {
    fn from(params: GcrParams) -> Self {
        let GcrParams { tol, max_iterations, restart, smoothing, precision, preconditioning } = params;
        Self {
            method: Method::Gcr { restart, smoothing },
            precision,
            preconditioning,
            stopping: stopping(tol, max_iterations),
        }
    }
}

impl From<MrParams> for Plan {
    fn from(params: MrParams) -> Self {
        let MrParams { tol, max_iterations, relaxation, precision, preconditioning } = params;
        Self {
            method: Method::Mr { relaxation },
            precision,
            preconditioning,
            stopping: stopping(tol, max_iterations),
        }
    }
}

/// Solves M x = b by Conjugate Residual, from x = 0.
///
/// Which linear system is iterated says [`CrParams::system`]: M†M x = M†b and γ5M x = γ5b with the published recurrence, M x = b with
/// the general one (see [`lattice_solvers::conjugate_residual`]). All three stop when ‖b − M x‖ / ‖b‖, recomputed in
/// double, is at most [`CrParams::tol`].
///
/// # Errors
/// [`InvertError::NotConverged`] carries the best iterate and the residual history.
pub fn cr(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    params: &CrParams,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(wilson, b, None, (*params).into(), None)
}

/// As [`cr`], from the initial guess `guess`, or from x = 0 if that is nearer.
///
/// # Errors
/// As [`cr`].
pub fn cr_from(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    guess: &SpinorField<f64>,
    params: &CrParams,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(wilson, b, Some(guess), (*params).into(), None)
}

/// Solves M x = b by Conjugate Gradient on M†M x = M†b, from x = 0. Stops as [`cr`] does.
///
/// # Errors
/// As [`cr`].
pub fn cg(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    params: &CgParams,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(wilson, b, None, (*params).into(), None)
}

/// Solves M x = b by Conjugate Gradient on M M†y = b with x = M†y, from x = 0 (see [`lattice_solvers::cgne`]): the error falls in each iteration, where
/// with [`cg`] the residual does. Stops as [`cr`] does.
///
/// # Errors
/// As [`cr`].
pub fn cgne(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    params: &CgParams,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(wilson, b, None, plan_of_cgne(*params), None)
}

/// Solves M x = b by BiCGStab on this system itself, from x = 0 (see [`lattice_solvers::bicgstab`]). Stops as [`cr`] does.
///
/// # Errors
/// As [`cr`].
pub fn bicgstab(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    params: &BicgstabParams,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(wilson, b, None, (*params).into(), None)
}

/// Solves M x = b by BiCGStab(ℓ) on this system itself, from x = 0 (see [`lattice_solvers::bicgstab_l`]). Stops as [`cr`] does.
///
/// # Errors
/// As [`cr`].
pub fn bicgstab_l(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    params: &BicgstabLParams,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(wilson, b, None, (*params).into(), None)
}

/// Solves M x = b by GCR(m) on this system itself, from x = 0, preconditioned by [`GcrParams::smoothing`] (see [`lattice_solvers::gcr`]). Stops as [`cr`] does.
///
/// # Errors
/// As [`cr`].
pub fn gcr(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    params: &GcrParams,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(wilson, b, None, (*params).into(), None)
}

/// Solves M x = b by Minimal Residual on this system itself, from x = 0 (see [`lattice_solvers::minimal_residual`]). Stops as [`cr`] does.
///
/// # Errors
/// As [`cr`].
pub fn mr(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    params: &MrParams,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(wilson, b, None, (*params).into(), None)
}

/// The parameters of one of the methods.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SolveParams {
    /// Those of [`cr`].
    Cr(CrParams),
    /// Those of [`cg`].
    Cg(CgParams),
    /// Those of [`cgne`].
    Cgne(CgParams),
    /// Those of [`bicgstab`].
    Bicgstab(BicgstabParams),
    /// Those of [`bicgstab_l`].
    BicgstabL(BicgstabLParams),
    /// Those of [`gcr`].
    Gcr(GcrParams),
    /// Those of [`mr`].
    Mr(MrParams),
}

impl SolveParams {
    /// The name of the method.
    pub fn method(&self) -> &'static str {
        match self {
            SolveParams::Cr(_) => "cr",
            SolveParams::Cg(_) => "cg",
            SolveParams::Cgne(_) => "cgne",
            SolveParams::Bicgstab(_) => "bicgstab",
            SolveParams::BicgstabL(_) => "bicgstab-l",
            SolveParams::Gcr(_) => "gcr",
            SolveParams::Mr(_) => "mr",
        }
    }

    /// The system that is iterated.
    pub fn system(&self) -> System {
        Plan::from(*self).method.system()
    }

    /// Precision of the iteration.
    pub fn precision(&self) -> IterationPrecision {
        Plan::from(*self).precision
    }

    /// Which form of the equation is iterated.
    pub fn preconditioning(&self) -> Preconditioning {
        Plan::from(*self).preconditioning
    }

    /// The same with another limit of iterations.
    pub(super) fn with_limit(mut self, limit: usize) -> Self {
        let max_iterations = match &mut self {
            SolveParams::Cr(params) => &mut params.max_iterations,
            SolveParams::Cg(params) => &mut params.max_iterations,
            SolveParams::Cgne(params) => &mut params.max_iterations,
            SolveParams::Bicgstab(params) => &mut params.max_iterations,
            SolveParams::BicgstabL(params) => &mut params.max_iterations,
            SolveParams::Gcr(params) => &mut params.max_iterations,
            SolveParams::Mr(params) => &mut params.max_iterations,
        };
        *max_iterations = limit;
        self
    }
}

impl fmt::Display for SolveParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method())?;
        if self.preconditioning() != Preconditioning::None {
            write!(f, " {}", self.preconditioning())?;
        }
        write!(f, " in {}", self.precision())
    }
}

impl From<SolveParams> for Plan {
    fn from(params: SolveParams) -> Self {
        match params {
            SolveParams::Cr(params) => params.into(),
            SolveParams::Cg(params) => params.into(),
            SolveParams::Cgne(params) => plan_of_cgne(params),
            SolveParams::Bicgstab(params) => params.into(),
            SolveParams::BicgstabL(params) => params.into(),
            SolveParams::Gcr(params) => params.into(),
            SolveParams::Mr(params) => params.into(),
        }
    }
}

/// Solves M x = b by the method that the parameters are of, while `checkpoints` keeps the states of the solve; it goes on from
/// the state that `checkpoints` has, if it has one. The result is then that of the solve which the state is of, to the last bit if it runs on the same
/// device.
///
/// # Errors
/// As [`cr`]; [`InvertError::NotConverged`] with [`Failure::Interrupted`] if `checkpoints` wishes to stop; [`InvertError::ForeignState`].
pub fn solve_with_checkpoints(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    params: &SolveParams,
    checkpoints: &mut dyn Checkpoints,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(wilson, b, None, (*params).into(), Some(checkpoints))
}

pub(super) fn stopping(tolerance: f64, max_iterations: usize) -> Stopping {
    Stopping { tolerance, max_iterations, ..Default::default() }
}

type Solution = Result<(SpinorField<f64>, SolverInfo), InvertError>;

pub(super) fn solve(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    guess: Option<&SpinorField<f64>>,
    plan: Plan,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Solution {
    let Some(scaled) = Scaled::of(b, &[norm(wilson.spinor_space(), b)?])?? else {
        return solve_ordinary(wilson, b, guess, plan, checkpoints);
    };
    let guess = guess.map(|guess| scaled.scale(guess)).transpose()?;
    let (mut x, mut info, mut failure) =
        match solve_ordinary(wilson, &scaled.b, guess.as_ref(), plan, checkpoints) {
            Ok((x, info)) => (x, info, None),
            Err(InvertError::NotConverged { failure, best, info }) => (*best, *info, Some(failure)),
            Err(error) => return Err(error),
        };
    let left = scaled.restore(&mut x, |x| Ok(vec![TrueResidual::of(wilson, &scaled.b)?.at(x)?]))?;
    if let Some(&true_residual) = left.iter().flatten().next() {
        info.residual.true_residual = true_residual;
        if failure.is_none() && true_residual > plan.stopping.tolerance {
            failure = Some(Failure::OutOfRange { true_residual });
        }
    }
    match failure {
        None => Ok((x, info)),
        Some(failure) => Err(InvertError::NotConverged { failure, best: Box::new(x), info: Box::new(info) }),
    }
}

/// ‖b − M x‖ / ‖b‖ by its definition, for a source that is not far from 1.
struct TrueResidual<'a> {
    wilson: &'a Wilson<f64>,
    b: &'a SpinorField<f64>,
    b_norm: f64,
    residual: SpinorField<f64>,
}

impl<'a> TrueResidual<'a> {
    fn of(wilson: &'a Wilson<f64>, b: &'a SpinorField<f64>) -> Result<Self, DeviceError> {
        let space = wilson.spinor_space();
        Ok(Self { wilson, b, b_norm: scale(space, b)?, residual: space.zero_vector()? })
    }

    fn at(&mut self, x: &SpinorField<f64>) -> Result<f64, DeviceError> {
        self.wilson.residual(self.b, x, &mut self.residual)?;
        Ok(norm(self.wilson.spinor_space(), &self.residual)? / self.b_norm)
    }
}

/// For a source that is not far from 1.
fn solve_ordinary(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    guess: Option<&SpinorField<f64>>,
    plan: Plan,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Solution {
    let space = wilson.spinor_space();
    let checkpoints = checkpoints.map(|checkpoints| checkpoints as &mut dyn Checkpoints);
    let mut by_definition = TrueResidual::of(wilson, b)?;
    let b_norm = by_definition.b_norm;
    let mut true_residual = |x: &SpinorField<f64>| by_definition.at(x);
    let outcome = match plan.preconditioning {
        Preconditioning::None => {
            let form = Form { operator: wilson, b, b_norm, true_residual: &mut true_residual, checkpoints };
            finish(form.solve(guess, plan)?, Ok)
        }
        Preconditioning::EvenOdd => {
            let parts = wilson.even_odd_parts(b)?;
            let source = parts.source(b)?;
            let guess = guess.map(|guess| parts.even_part(guess)).transpose()?;
            let mut x = space.zero_vector()?;
            let mut true_residual = |even: &ParityField<f64>| {
                parts.solution(even, &mut x)?;
                true_residual(&x)
            };
            let operator = &wilson.schur_complement()?;
            let form = Form { operator, b: &source, b_norm, true_residual: &mut true_residual, checkpoints };
            let outcome = form.solve(guess.as_ref(), plan)?;
            finish(outcome, |even| {
                parts.solution(&even, &mut x)?;
                Ok(x)
            })
        }
    };
    if let Err(InvertError::Source(_)) = outcome {
        return Err(nothing_done(space.zero_vector()?));
    }
    let Err(InvertError::NotConverged { failure, mut best, mut info }) = outcome else { return outcome };
    // On even sites alone a solve begins elsewhere. Written so that a residual that is not a number is not the best.
    let reached = &mut info.residual.true_residual;
    let better_than_zero = *reached <= 1.0;
    if !better_than_zero {
        space.set_zero(&mut best)?;
        *reached = 1.0;
    }
    if let Some(guess) = guess {
        let begun = by_definition.at(guess)?;
        if begun < *reached {
            space.copy(guess, &mut best)?;
            *reached = begun;
        }
    }
    Err(InvertError::NotConverged { failure, best, info })
}

/// The source itself is finite here, so the operator has carried that of the iterated system out of the range of numbers.
fn nothing_done(zero: SpinorField<f64>) -> InvertError {
    InvertError::NotConverged {
        failure: Failure::NotFinite { quantity: "the right-hand side of the iterated system" },
        best: Box::new(zero),
        info: Box::new(SolverInfo {
            iterations: 0,
            residual: Residual { iterated: 1.0, true_residual: 1.0 },
            history: vec![1.0],
            applications: 0,
            time: Duration::ZERO,
            work: Work::default(),
        }),
    }
}

/// Brings what a method returned to all sites.
pub(super) fn finish<V>(
    outcome: Outcome<V>,
    full: impl FnOnce(V) -> Result<SpinorField<f64>, DeviceError>,
) -> Solution {
    match outcome {
        Ok((x, info)) => Ok((full(x)?, info)),
        Err(SolverError::NotConverged { failure, best, info }) => {
            Err(InvertError::NotConverged { failure, best: Box::new(full(best)?), info })
        }
        Err(SolverError::Parameter { name, value, allowed }) => {
            Err(InvertError::Parameter { name, value, allowed })
        }
        Err(SolverError::Source(error)) => Err(InvertError::Source(error)),
        Err(SolverError::ForeignState(error)) => Err(InvertError::ForeignState(error)),
        Err(SolverError::Operation(error)) => Err(error.into()),
    }
}
