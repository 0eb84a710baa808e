//! Solving M x = b.

use super::systems::System;
use super::wilson::Wilson;
use crate::device::DeviceError;
use crate::lattice::{LatticeError, SpinorField};
use crate::scalar::{Precision, Storage};
use lattice_solvers::{self as solvers, Failure, Recurrence, SolverError, SolverInfo, Stopping, VectorSpace};
use num_complex::Complex64;

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
}

impl Default for CrParams {
    fn default() -> Self {
        let Stopping { tolerance, max_iterations, .. } = Stopping::default();
        Self { tol: tolerance, max_iterations, system: System::default(), precision: Precision::Double }
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
}

impl Default for CgParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, precision, .. } = CrParams::default();
        Self { tol, max_iterations, precision }
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
    solve(
        wilson,
        b,
        None,
        Method::Cr(params.system),
        params.precision,
        stopping(params.tol, params.max_iterations),
    )
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
    let stopping = stopping(params.tol, params.max_iterations);
    solve(wilson, b, Some(guess), Method::Cr(params.system), params.precision, stopping)
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
    solve(wilson, b, None, Method::Cg, params.precision, stopping(params.tol, params.max_iterations))
}

fn stopping(tolerance: f64, max_iterations: usize) -> Stopping {
    Stopping { tolerance, max_iterations, ..Default::default() }
}

fn solve(
    wilson: &Wilson<f64>,
    b: &SpinorField<f64>,
    guess: Option<&SpinorField<f64>>,
    method: Method,
    precision: Precision,
    stopping: Stopping,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
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
    match precision {
        Precision::Double => iterate(wilson, b, guess, method, stopping, &mut true_residual),
        Precision::Single => {
            let guess = guess.map(SpinorField::cast).transpose()?;
            let mut true_residual = |x: &SpinorField<f32>| true_residual(&x.cast()?);
            iterate(&wilson.cast()?, &b.cast()?, guess.as_ref(), method, stopping, &mut true_residual)
        }
    }
}

/// Runs the method on the system in precision `T`.
fn iterate<T: Storage>(
    wilson: &Wilson<T>,
    b: &SpinorField<T>,
    guess: Option<&SpinorField<T>>,
    method: Method,
    stopping: Stopping,
    true_residual: &mut dyn FnMut(&SpinorField<T>) -> Result<f64, DeviceError>,
) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
    let mut image = wilson.spinor_space().zero_vector()?;
    let cr = |recurrence| solvers::CrParams { stopping, recurrence, ..Default::default() };
    let outcome = match method {
        Method::Cr(System::Direct) => {
            let params = cr(Recurrence::General);
            solvers::conjugate_residual(wilson, b, guess, &params, Some(true_residual))
        }
        Method::Cr(System::Hermitian) => {
            wilson.gamma5()?.apply(b, &mut image)?;
            let params = cr(Recurrence::Hermitian);
            solvers::conjugate_residual(&wilson.times_gamma5()?, &image, guess, &params, Some(true_residual))
        }
        Method::Cr(System::Normal) => {
            let normal = wilson.normal()?;
            normal.adjoint().apply(b, &mut image)?;
            let params = cr(Recurrence::Hermitian);
            solvers::conjugate_residual(&normal, &image, guess, &params, Some(true_residual))
        }
        Method::Cg => {
            let normal = wilson.normal()?;
            normal.adjoint().apply(b, &mut image)?;
            let params = solvers::CgParams { stopping, ..Default::default() };
            solvers::conjugate_gradient(&normal, &image, guess, &params, Some(true_residual))
        }
    };
    match outcome {
        Ok((x, info)) => Ok((x.cast()?, info)),
        Err(SolverError::NotConverged { failure, best, info }) => {
            Err(InvertError::NotConverged { failure, best: Box::new(best.cast()?), info })
        }
        Err(SolverError::Parameter { name, value, allowed }) => {
            Err(InvertError::Parameter { name, value, allowed })
        }
        Err(SolverError::Operation(error)) => Err(error.into()),
    }
}
