//! Shifted normal equations, all at the price of one.

use super::params::stopping;
use super::precision::norm;
use super::sources::Scaled;
use crate::compute::DeviceError;
use crate::field::SpinorField;
use crate::operator::Dirac;
use derive_setters::Setters;
use lattice_solvers::range::larger;
use lattice_solvers::{
    self as solvers, Failure, LinearOperator, Look, MultiShiftOptions, Shifted, SolverError, SolverInfo,
    Stopping, VectorSpace,
};

/// Parameters of [`multi_shift_cg`].
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct MultiShiftCgParams {
    /// Wanted ‖b − (M†M + σ) x‖ / ‖b‖ for every shift σ. Default 1e-10.
    ///
    /// The residual is recomputed in double.
    pub tol: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
}

impl Default for MultiShiftCgParams {
    fn default() -> Self {
        let Stopping { tolerance, max_iterations, .. } = Stopping::default();
        Self { tol: tolerance, max_iterations }
    }
}

/// The solutions, one for each shift.
///
/// Each has its true residual and the iterations after which it was found.
pub type ShiftedSolutions = Vec<Shifted<SpinorField<f64>>>;

/// Solves (M†M + σ) x = b for all shifts σ ≥ 0 by one iteration, from x = 0.
///
/// The iteration is Conjugate Gradient in double. A rational function of M†M is made of such
/// systems. [`lattice_solvers::multi_shift_cg`] has the formulas.
///
/// The solutions come in the order of the shifts. M is the operator on all sites. The shifted
/// equations of the Schur complement, (M̂†M̂ + σ) x = b, are others. The solutions of the Schur
/// complement's equations are no part of the solutions found here. For quark fields that live on
/// the even sites, call [`lattice_solvers::multi_shift_cg`] with the operator
/// [`SchurComplement::normal`](crate::operator::SchurComplement::normal).
///
/// ```
/// use lattice_cl::compute::Team;
/// use lattice_cl::operator::{Kappa, Dirac};
/// use lattice_cl::solve::{MultiShiftCgParams, multi_shift_cg};
/// use lattice_cl::geometry::Boundary;
/// use lattice_cl::host::random;
/// use lattice_cl::{Dims, geometry::Lattice};
///
/// let dims = Dims::new([4, 4, 4, 4])?;
/// let lattice = Lattice::new(&Team::host(), dims)?;
/// let links = lattice.gauge::<f64>(&random::weak(dims, 0.1, 1), Boundary::antiperiodic_t())?;
/// let dirac = Dirac::wilson(&links, Kappa(0.11))?;
/// let b = lattice.point_source([0; 4], 0, 0)?;
/// let (solutions, info) = multi_shift_cg(&dirac, &b, &[0.01, 0.1, 1.0], &MultiShiftCgParams::default())?;
/// for solution in &solutions {
///     assert!(solution.residual.true_residual <= 1e-10 && solution.iterations <= info.iterations);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// * [`SolverError::NotConverged`], with what was reached for each shift.
/// * [`SolverError::Parameter`], when there are no shifts or one is not a number ≥ 0.
/// * [`SolverError::Source`], when `b` is not finite.
/// * [`SolverError::Operation`], when a device fails.
pub fn multi_shift_cg(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    shifts: &[f64],
    params: &MultiShiftCgParams,
) -> Result<(ShiftedSolutions, SolverInfo), SolverError<ShiftedSolutions, DeviceError>> {
    solve(dirac, b, shifts, params, None)
}

/// Solves like [`multi_shift_cg`], and reports residuals to `watch`.
///
/// `watch` is called whenever the residual of the smallest shift has been looked at.
///
/// # Errors
/// Fails like [`multi_shift_cg`].
pub fn multi_shift_cg_watched(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    shifts: &[f64],
    params: &MultiShiftCgParams,
    watch: &mut dyn FnMut(&Look),
) -> Result<(ShiftedSolutions, SolverInfo), SolverError<ShiftedSolutions, DeviceError>> {
    solve(dirac, b, shifts, params, Some(watch))
}

type ShiftedResult = Result<(ShiftedSolutions, SolverInfo), SolverError<ShiftedSolutions, DeviceError>>;

fn solve(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    shifts: &[f64],
    params: &MultiShiftCgParams,
    watch: Option<&mut dyn FnMut(&Look)>,
) -> ShiftedResult {
    let scaled = Scaled::of(b, &[norm(dirac.spinor_space(), b)?])?.map_err(SolverError::Source)?;
    let Some(scaled) = scaled else { return solve_ordinary(dirac, b, shifts, params, watch) };
    match solve_ordinary(dirac, &scaled.b, shifts, params, watch) {
        Ok((mut all, info)) => {
            let left = restore(dirac, &scaled, &mut all)?;
            // Written so that a NaN is not small enough.
            let is_large = |true_residual: &f64| {
                let small_enough = *true_residual <= params.tol;
                !small_enough
            };
            match left.filter(is_large) {
                None => Ok((all, info)),
                Some(true_residual) => {
                    let failure = Failure::OutOfRange { true_residual };
                    Err(SolverError::NotConverged { failure, best: all, info: Box::new(info) })
                }
            }
        }
        Err(SolverError::NotConverged { failure, mut best, info }) => {
            restore(dirac, &scaled, &mut best)?;
            Err(SolverError::NotConverged { failure, best, info })
        }
        Err(error) => Err(error),
    }
}

/// Turns all solutions into solutions for the original source.
///
/// If digits are lost, the largest residual of the truncated solutions is returned.
fn restore(
    dirac: &Dirac<f64>,
    scaled: &Scaled,
    all: &mut ShiftedSolutions,
) -> Result<Option<f64>, DeviceError> {
    let (normal, space, b) = (dirac.normal()?, dirac.spinor_space(), &scaled.b);
    let mut largest = None;
    for Shifted { shift, x, residual, .. } in all {
        let left = scaled.restore(x, |x| {
            let mut difference = space.zero_vector()?;
            normal.residual(b, x, &mut difference)?;
            space.axpy(&space.scalar((-*shift).into()), x, &mut difference)?;
            Ok(vec![norm(space, &difference)? / norm(space, b)?])
        })?;
        if let Some(&left) = left.iter().flatten().next() {
            residual.true_residual = left;
            largest = Some(largest.map_or(left, |largest| larger(largest, left)));
        }
    }
    Ok(largest)
}

/// Solves for a source whose norm is not far from 1.
fn solve_ordinary(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    shifts: &[f64],
    params: &MultiShiftCgParams,
    watch: Option<&mut dyn FnMut(&Look)>,
) -> ShiftedResult {
    let MultiShiftCgParams { tol, max_iterations } = *params;
    let stopping = stopping(tol, max_iterations);
    let params = MultiShiftOptions::default().with_stopping(stopping);
    solvers::multi_shift_cg(&dirac.normal()?, shifts, b, &params, watch)
}
