//! Solving M x = b by one method.

use super::checkpoints::Checkpoints;
use super::error::InvertError;
use super::iteration::{Iteration, MethodResult};
use super::method_macros::method_functions;
use super::params::{self, CrParams, Plan, SolveParams, methods};
use super::precision::{Equation, norm, scale};
use super::sources::{Scaled, largest};
use super::start::{Deflate, PartOfModes, Start};
use crate::compute::DeviceError;
use crate::field::{ParityField, ParitySpace, SpinorField, SpinorSpace};
use crate::operator::{Dirac, SchurComplement};
use crate::scalar::Half;
use lattice_solvers::{
    Failure, LinearOperator, Preconditioner, Residual, SolverError, SolverInfo, VectorSpace, Work,
};
use std::time::Duration;

methods!(method_functions);

/// Solves like [`cr`], from the initial guess `guess`.
///
/// The solve starts from x = 0 if that is nearer.
///
/// # Errors
/// The errors of [`cr`].
pub fn cr_from(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    guess: &SpinorField<f64>,
    params: &CrParams,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(dirac, b, Some(guess), SolveParams::Cr(*params).into(), None)
}

/// Solves M x = b by the method of the parameters, from the initial guess `guess`.
///
/// The solve starts from x = 0 if that is nearer, or goes on from the state that `checkpoints` has.
///
/// # Errors
/// The errors of [`solve_with_checkpoints`].
pub fn solve_from(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    guess: &SpinorField<f64>,
    params: &SolveParams,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(dirac, b, Some(guess), (*params).into(), checkpoints)
}

/// Solves M x = b by the method of the parameters, with checkpoints.
///
/// `checkpoints` keeps the states of the solve. If `checkpoints` has a state, the solve goes on
/// from it. The result is then that of the solve without interruption, to the last bit on the same
/// device.
///
/// # Errors
/// * The errors of [`cr`].
/// * [`InvertError::NotConverged`] with [`Failure::Interrupted`] if `checkpoints` wishes to stop.
/// * [`InvertError::ForeignState`].
pub fn solve_with_checkpoints(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    params: &SolveParams,
    checkpoints: &mut dyn Checkpoints,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(dirac, b, None, (*params).into(), Some(checkpoints))
}

/// Solves M x = b from the part of the solution that modes span.
///
/// The modes have the preconditioning of the parameters.
pub(crate) fn solve_deflated(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    modes: &dyn Deflate,
    params: &SolveParams,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Solution {
    solve_by(dirac, b, Start::Modes(modes), (*params).into(), By::Method, checkpoints)
}

/// Solves M x = b by GCR on the Schur complement with this preconditioner.
///
/// The precision is mixed, with that of the preconditioner. Corrections are added up in double when
/// their residual has fallen to `replaced_at`.
pub(crate) fn solve_preconditioned(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    plan: Plan,
    replaced_at: f64,
    preconditioner: Cycles<'_>,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Solution {
    let by = By::Preconditioned(preconditioner, replaced_at);
    solve_by(dirac, b, Start::Zero, plan, by, checkpoints)
}

/// A preconditioner of the Schur complement, in its precision.
pub(crate) enum Cycles<'a> {
    Single(&'a mut (dyn Preconditioner<ParitySpace<f32>> + 'a)),
    Half(&'a mut (dyn Preconditioner<ParitySpace<Half>> + 'a)),
}

/// The method that solves the preconditioned equation.
enum By<'a> {
    /// The method of the plan.
    Method,
    /// GCR with this preconditioner.
    ///
    /// The number tells how far residuals fall before they are replaced.
    Preconditioned(Cycles<'a>, f64),
}

/// The result of a solve by one method.
pub(crate) type Solution = Result<(SpinorField<f64>, SolverInfo), InvertError>;

pub(crate) fn solve(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    guess: Option<&SpinorField<f64>>,
    plan: Plan,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Solution {
    solve_by(dirac, b, guess.into(), plan, By::Method, checkpoints)
}

fn solve_by(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    start: Start<'_>,
    plan: Plan,
    by: By<'_>,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Solution {
    let Some(scaled) = Scaled::of(b, &Norms::new(dirac, b)?.of(b)?)?? else {
        return solve_ordinary(dirac, b, start, plan, by, checkpoints);
    };
    let guess;
    let start = match start {
        Start::Guess(given) => {
            guess = scaled.scale(given)?;
            Start::Guess(&guess)
        }
        start => start,
    };
    let (mut x, mut info, mut failure) = match solve_ordinary(dirac, &scaled.b, start, plan, by, checkpoints)
    {
        Ok((x, info)) => (x, info, None),
        Err(InvertError::NotConverged { failure, best, info }) => (*best, *info, Some(failure)),
        Err(error) => return Err(error),
    };
    let mut residual_of = TrueResidual::of(dirac, &scaled.b)?;
    let left = scaled.restore(&mut x, |x| residual_of.of_columns(x))?;
    if let Some(true_residual) = left.as_deref().map(largest) {
        info.residual.true_residual = true_residual;
        // Written so that a NaN is not small enough.
        let small_enough = true_residual <= plan.stopping.tolerance;
        if failure.is_none() && !small_enough {
            failure = Some(Failure::OutOfRange { true_residual });
        }
    }
    match failure {
        None => Ok((x, info)),
        Some(failure) => Err(InvertError::NotConverged { failure, best: Box::new(x), info: Box::new(info) }),
    }
}

/// Returns ‖b − M x‖ / ‖b‖ of each column, by its definition.
pub(crate) fn true_residuals(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    x: &SpinorField<f64>,
) -> Result<Vec<f64>, InvertError> {
    Ok(TrueResidual::of(dirac, b)?.of_columns(x)?)
}

/// The norms of columns.
struct Norms {
    space: SpinorSpace<f64>,
    /// A column, if there are several.
    one: Option<SpinorField<f64>>,
}

impl Norms {
    /// Prepares solves for fields with as many columns as this one.
    fn new(dirac: &Dirac<f64>, like: &SpinorField<f64>) -> Result<Self, InvertError> {
        if like.columns() == 1 {
            return Ok(Self { space: dirac.spinor_space().clone(), one: None });
        }
        let space = dirac.lattice().spinor_space()?;
        let one = Some(space.scratch_vector()?);
        Ok(Self { space, one })
    }

    /// Returns the norm of each column.
    fn of(&mut self, field: &SpinorField<f64>) -> Result<Vec<f64>, DeviceError> {
        let Some(one) = &mut self.one else { return Ok(vec![norm(&self.space, field)?]) };
        let norm_of = |column| {
            field.copy_column_to(column, one)?;
            norm(&self.space, one)
        };
        (0..field.columns()).map(norm_of).collect()
    }
}

/// ‖b − M x‖ / ‖b‖ by its definition, for sources that are not far from 1.
struct TrueResidual<'a> {
    dirac: &'a Dirac<f64>,
    b: &'a SpinorField<f64>,
    /// The norm of all columns together.
    b_norm: f64,
    /// The norms of the columns, 1 for those that are zero.
    b_norms: Vec<f64>,
    norms: Norms,
    residual: SpinorField<f64>,
}

impl<'a> TrueResidual<'a> {
    fn of(dirac: &'a Dirac<f64>, b: &'a SpinorField<f64>) -> Result<Self, InvertError> {
        let space = dirac.spinor_space();
        let mut norms = Norms::new(dirac, b)?;
        let b_norms = norms.of(b)?.into_iter().map(|norm| if norm == 0.0 { 1.0 } else { norm }).collect();
        let (b_norm, residual) = (scale(space, b)?, space.zero_vector()?);
        Ok(Self { dirac, b, b_norm, b_norms, norms, residual })
    }

    /// Returns the residual of each column.
    fn of_columns(&mut self, x: &SpinorField<f64>) -> Result<Vec<f64>, DeviceError> {
        self.dirac.residual(self.b, x, &mut self.residual)?;
        let norms = self.norms.of(&self.residual)?.into_iter().zip(&self.b_norms);
        Ok(norms.map(|(norm, b_norm)| norm / b_norm).collect())
    }

    /// Returns the largest residual of a column.
    fn at(&mut self, x: &SpinorField<f64>) -> Result<f64, DeviceError> {
        Ok(largest(&self.of_columns(x)?))
    }
}

/// Solves for a source with a norm that is not far from 1.
fn solve_ordinary(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    start: Start<'_>,
    plan: Plan,
    by: By<'_>,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Solution {
    let space = dirac.spinor_space();
    let checkpoints = checkpoints.map(|checkpoints| checkpoints as &mut dyn Checkpoints);
    let mut by_definition = TrueResidual::of(dirac, b)?;
    let b_norm = by_definition.b_norm;
    let mut true_residual = |x: &SpinorField<f64>| by_definition.at(x);
    let (guess, modes) = match start {
        Start::Zero => (None, None),
        Start::Guess(guess) => (Some(guess), None),
        Start::Modes(modes) => (None, Some(modes)),
    };
    let outcome = match plan.params.preconditioning().schur_symmetry() {
        None => {
            let of_modes = modes.map(|modes| move |b: &_| modes.on_all_sites(dirac, b));
            let equation = Equation {
                operator: dirac,
                b,
                b_norm,
                true_residual: &mut true_residual,
                part_of_modes: of_modes.as_ref().map(|part| part as &PartOfModes<Dirac<f64>>),
                checkpoints,
            };
            finish(equation.solve(guess, plan)?, Ok)
        }
        Some(symmetry) => {
            let parts = dirac.even_odd_parts(b, symmetry)?;
            let source = parts.source(b)?;
            let guess = guess.map(|guess| parts.even_part(guess)).transpose()?;
            let mut x = space.zero_vector()?;
            let mut true_residual = |even: &ParityField<f64>| {
                parts.solution(even, &mut x)?;
                true_residual(&x)
            };
            let operator = &dirac.schur_complement_in(symmetry)?;
            let of_modes = modes.map(|modes| move |b: &_| modes.on_even_sites(operator, b));
            let equation = Equation {
                operator,
                b: &source,
                b_norm,
                true_residual: &mut true_residual,
                part_of_modes: of_modes.as_ref().map(|part| part as &PartOfModes<SchurComplement<f64>>),
                checkpoints,
            };
            let outcome = match by {
                By::Method => equation.solve(guess.as_ref(), plan)?,
                By::Preconditioned(Cycles::Single(cycles), replaced_at) => {
                    let iterate = |of: Iteration<'_, '_, _>| params::gcr_preconditioned(&plan, cycles, of);
                    equation.solve_mixed::<f32>(guess.as_ref(), plan, replaced_at, iterate)?
                }
                By::Preconditioned(Cycles::Half(cycles), replaced_at) => {
                    let iterate = |of: Iteration<'_, '_, _>| params::gcr_preconditioned(&plan, cycles, of);
                    equation.solve_mixed::<Half>(guess.as_ref(), plan, replaced_at, iterate)?
                }
            };
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
    // On even sites alone a solve begins elsewhere. Written so that a residual that is not a number
    // is not the best.
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

/// Returns the error of a solve in which nothing was done.
///
/// The source itself is finite here. So the operator has carried the source of the iterated system
/// out of the range of numbers.
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
pub(crate) fn finish<V>(
    outcome: MethodResult<V>,
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
