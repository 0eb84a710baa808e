//! Solving M x = b.

use super::systems::{DiracOperator, Normal, System};
use super::wilson::Wilson;
use crate::device::DeviceError;
use crate::lattice::{LatticeError, ParityField, SpinorField};
use crate::scalar::Precision;
use lattice_solvers::{
    self as solvers, Failure, Recurrence, SolverError, SolverInfo, Stopping, TrueResidual, VectorOf,
    VectorSpace,
};
use num_complex::Complex64;
use std::cell::RefCell;
use std::fmt;
use std::str::FromStr;

/// Parameters of [`cr`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// Which system is iterated. Default [`System::Normal`].
    pub system: System,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: Precision,
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
            precision: Precision::Double,
            preconditioning: Preconditioning::None,
        }
    }
}

/// Parameters of [`cg`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CgParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: Precision,
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BicgstabParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations, of two applications of M each. Default 10 000.
    pub max_iterations: usize,
    /// Precision of the iteration; the residual that decides is always in double. Default double.
    pub precision: Precision,
    /// Which form of the equation is iterated. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for BicgstabParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, preconditioning, .. } = CrParams::default();
        Self { tol, max_iterations, precision, preconditioning }
    }
}

/// Which form of M x = b is iterated. The residual that decides is that of M x = b itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Preconditioning {
    /// As it is.
    #[default]
    None,
    /// The equation of the Schur complement on the even sites, see [`SchurComplement`](super::SchurComplement).
    EvenOdd,
}

impl fmt::Display for Preconditioning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Preconditioning::None => "none",
            Preconditioning::EvenOdd => "even-odd",
        })
    }
}

impl FromStr for Preconditioning {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Preconditioning::None, Preconditioning::EvenOdd]
            .into_iter()
            .find(|preconditioning| preconditioning.to_string() == text)
            .ok_or_else(|| format!("`{text}` is no preconditioning; choose none or even-odd"))
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
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
}

impl From<DeviceError> for InvertError {
    fn from(error: DeviceError) -> Self {
        InvertError::Lattice(error.into())
    }
}

#[derive(Clone, Copy)]
enum Method {
    Cr(System),
    Cg,
    Bicgstab,
}

/// What every method needs to know.
#[derive(Clone, Copy)]
struct Plan {
    method: Method,
    precision: Precision,
    preconditioning: Preconditioning,
    stopping: Stopping,
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

impl From<BicgstabParams> for Plan {
    fn from(params: BicgstabParams) -> Self {
        let BicgstabParams { tol, max_iterations, precision, preconditioning } = params;
        Self { method: Method::Bicgstab, precision, preconditioning, stopping: stopping(tol, max_iterations) }
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
    solve(wilson, b, None, (*params).into())
}

/// As [`cr`], from the initial guess `guess`.
///
/// # Errors
/// As [`cr`].
pub fn cr_from(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    guess: &SpinorField<f64>,
    params: &CrParams,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    solve(wilson, b, Some(guess), (*params).into())
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
    solve(wilson, b, None, (*params).into())
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
    solve(wilson, b, None, (*params).into())
}

fn stopping(tolerance: f64, max_iterations: usize) -> Stopping {
    Stopping { tolerance, max_iterations, ..Default::default() }
}

type Solution = Result<(SpinorField<f64>, SolverInfo), InvertError>;

fn solve(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    guess: Option<&SpinorField<f64>>,
    plan: Plan,
) -> Solution {
    let space = wilson.spinor_space();
    let mut residual = space.zero_vector()?;
    let [b_norm2] = space.read([&space.norm2(b)?])?;
    let b_norm = if b_norm2.re == 0.0 { 1.0 } else { b_norm2.re.sqrt() };
    let mut true_residual = |x: &SpinorField<f64>| {
        wilson.apply(x, &mut residual)?;
        space.xpby(b, &space.scalar(Complex64::new(-1.0, 0.0)), &mut residual)?;
        let [norm2] = space.read([&space.norm2(&residual)?])?;
        Ok(norm2.re.sqrt() / b_norm)
    };
    match plan.preconditioning {
        Preconditioning::None => match plan.precision {
            Precision::Double => finish(iterate(wilson, b, guess, plan, &mut true_residual)?, Ok),
            Precision::Single => {
                let guess = guess.map(SpinorField::cast).transpose()?;
                let mut true_residual = |x: &SpinorField<f32>| true_residual(&x.cast()?);
                let outcome = iterate(&wilson.cast()?, &b.cast()?, guess.as_ref(), plan, &mut true_residual)?;
                finish(outcome, |x| x.cast())
            }
        },
        Preconditioning::EvenOdd => {
            let parts = wilson.even_odd_parts(b)?;
            let source = parts.source()?;
            let guess = guess.map(|guess| parts.even_part(guess)).transpose()?;
            let full = RefCell::new(space.zero_vector()?);
            let mut true_residual = |even: &ParityField<f64>| {
                let mut x = full.borrow_mut();
                parts.solution(even, &mut x)?;
                true_residual(&x)
            };
            let reconstruct = |even: &ParityField<f64>| {
                let mut x = space.zero_vector()?;
                parts.solution(even, &mut x)?;
                Ok(x)
            };
            match plan.precision {
                Precision::Double => {
                    let operator = wilson.schur_complement()?;
                    let outcome = iterate(&operator, &source, guess.as_ref(), plan, &mut true_residual)?;
                    finish(outcome, |even| reconstruct(&even))
                }
                Precision::Single => {
                    let operator = wilson.cast::<f32>()?.schur_complement()?;
                    let guess = guess.map(|guess| guess.cast()).transpose()?;
                    let mut true_residual = |even: &ParityField<f32>| true_residual(&even.cast()?);
                    let outcome =
                        iterate(&operator, &source.cast()?, guess.as_ref(), plan, &mut true_residual)?;
                    finish(outcome, |even| reconstruct(&even.cast()?))
                }
            }
        }
    }
}

/// What a method returns: a solution or the best iterate.
type Outcome<V> = Result<solvers::Solution<V>, SolverError<V, DeviceError>>;

/// Runs the method on A x = b, or on a system with the same solution that suits it.
///
/// # Errors
/// Only those of making that system; the method's own are in the outcome.
fn iterate<A>(
    operator: &A,
    b: &VectorOf<A>,
    guess: Option<&VectorOf<A>>,
    plan: Plan,
    true_residual: TrueResidual<'_, A>,
) -> Result<Outcome<VectorOf<A>>, DeviceError>
where
    A: DiracOperator<Space: VectorSpace<Error = DeviceError>>,
{
    let stopping = plan.stopping;
    let mut image = operator.space().zero_vector()?;
    let cr = |recurrence| solvers::CrParams { stopping, recurrence, ..Default::default() };
    Ok(match plan.method {
        Method::Cr(System::Direct) => {
            let params = cr(Recurrence::General);
            solvers::conjugate_residual(operator, b, guess, &params, Some(true_residual))
        }
        Method::Cr(System::Hermitian) => {
            operator.gamma5()?.apply(b, &mut image)?;
            let params = cr(Recurrence::Hermitian);
            let hermitian = operator.times_gamma5()?;
            solvers::conjugate_residual(&hermitian, &image, guess, &params, Some(true_residual))
        }
        Method::Cr(System::Normal) => {
            let normal = Normal::new(operator)?;
            normal.adjoint().apply(b, &mut image)?;
            let params = cr(Recurrence::Hermitian);
            solvers::conjugate_residual(&normal, &image, guess, &params, Some(true_residual))
        }
        Method::Cg => {
            let normal = Normal::new(operator)?;
            normal.adjoint().apply(b, &mut image)?;
            let params = solvers::CgParams { stopping, ..Default::default() };
            solvers::conjugate_gradient(&normal, &image, guess, &params, Some(true_residual))
        }
        Method::Bicgstab => {
            let params = solvers::BicgstabParams { stopping, ..Default::default() };
            solvers::bicgstab(operator, b, guess, &params, Some(true_residual))
        }
    })
}

/// Brings what a method returned to double precision on all sites.
fn finish<V>(outcome: Outcome<V>, full: impl FnOnce(V) -> Result<SpinorField<f64>, DeviceError>) -> Solution {
    match outcome {
        Ok((x, info)) => Ok((full(x)?, info)),
        Err(SolverError::NotConverged { failure, best, info }) => {
            Err(InvertError::NotConverged { failure, best: Box::new(full(best)?), info })
        }
        Err(SolverError::Parameter { name, value, allowed }) => {
            Err(InvertError::Parameter { name, value, allowed })
        }
        Err(SolverError::Operation(error)) => Err(error.into()),
    }
}
