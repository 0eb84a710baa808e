//! Least squares by the Levenberg-Marquardt method.

use crate::error::{StatisticsError, StatisticsResult};
use crate::hyper_dual::HyperDual;
use crate::model::Model;
use crate::scaling;
use crate::weighting::Whitening;
use nalgebra::{DMatrix, DVector};

/// A step below this part of the parameters' errors is the last.
const STEP: f64 = 1e-11;
/// A step below this part of the errors may be the last.
///
/// It is the last if it is no smaller than the one before, by rounding.
const SMALL_STEP: f64 = 1e-7;
/// The largest damping of steps that are tried.
const LARGEST_DAMPING: f64 = 1e12;
/// A step that rounding stopped is at most this part of the parameters' errors.
const ROUNDED_STEP: f64 = 1e-3;
/// Eigenvalues of the scaled curvature below this are 0 within rounding.
pub(crate) const SINGULAR: f64 = 1e-14;

/// Points and a model for them.
pub(crate) struct Problem<'a> {
    pub model: &'a dyn Model,
    pub x: &'a [f64],
    pub whitening: &'a Whitening,
    pub iterations: usize,
}

/// Parameters at a minimum of χ².
#[derive(Clone, Debug)]
pub(crate) struct Minimum {
    pub parameters: Vec<f64>,
    pub chi_squared: f64,
    pub iterations: usize,
}

impl Problem<'_> {
    /// Returns the weighed deviations of the points from the model.
    pub fn residuals(&self, y: &[f64], parameters: &[f64]) -> DVector<f64> {
        let parameters: Vec<_> = parameters.iter().copied().map(HyperDual::constant).collect();
        let deviation = |point: usize, _| y[point] - self.model.value(self.x[point], &parameters).value;
        self.whitening.apply(DVector::from_fn(y.len(), deviation))
    }

    /// Returns the weighed derivatives of the model: a column for each parameter.
    pub fn jacobian(&self, parameters: &[f64]) -> DMatrix<f64> {
        let columns: Vec<_> = (0..parameters.len())
            .map(|index| {
                self.whitening.apply(self.derivatives(parameters, index, index).map(|value| value.first))
            })
            .collect();
        DMatrix::from_columns(&columns)
    }

    /// Returns the weighed second derivatives of the model.
    pub fn curvature(&self, parameters: &[f64], first: usize, second: usize) -> DVector<f64> {
        self.whitening.apply(self.derivatives(parameters, first, second).map(|value| value.mixed))
    }

    /// Returns the model at all points, with derivatives in two parameters.
    fn derivatives(&self, parameters: &[f64], first: usize, second: usize) -> DVector<HyperDual> {
        let mut numbers: Vec<_> = parameters.iter().copied().map(HyperDual::constant).collect();
        numbers[first].first = 1.0;
        numbers[second].second = 1.0;
        DVector::from_iterator(self.x.len(), self.x.iter().map(|&x| self.model.value(x, &numbers)))
    }

    /// Returns the best minimum that is reached from one of these parameters.
    ///
    /// # Errors
    /// The model is finite at none of them, or no minimum is reached.
    pub fn best_minimum(&self, y: &[f64], starts: &[Vec<f64>]) -> StatisticsResult<Minimum> {
        let mut best: StatisticsResult<Minimum> = Err(StatisticsError::NoStart);
        for start in starts {
            match (self.minimum(y, start), &best) {
                (Ok(minimum), Ok(other)) if minimum.chi_squared >= other.chi_squared => {}
                (Ok(minimum), _) => best = Ok(minimum),
                (Err(error), Err(StatisticsError::NoStart)) => best = Err(error),
                _ => {}
            }
        }
        best
    }

    /// Returns the minimum that is reached from these parameters.
    ///
    /// # Errors
    /// The model is not finite there, or the minimum is not reached.
    pub fn minimum(&self, y: &[f64], start: &[f64]) -> StatisticsResult<Minimum> {
        let mut parameters = start.to_vec();
        let mut residuals = self.residuals(y, &parameters);
        let mut chi_squared = residuals.norm_squared();
        if !chi_squared.is_finite() {
            return Err(StatisticsError::NoStart);
        }
        let mut damping = 1e-3;
        let mut previous = f64::INFINITY;
        // Rounding of the values moves the minimum by about this part of the parameters' errors.
        let rounding = 1e3 * f64::EPSILON * self.whitening.largest_ratio(y);
        for iteration in 1..=self.iterations {
            let (jacobian, scales) = normalised(self.jacobian(&parameters));
            if jacobian.iter().any(|slope| !slope.is_finite()) {
                break;
            }
            let is_reached = |parameters: Vec<f64>, chi_squared| {
                Ok(Minimum { parameters, chi_squared, iterations: iteration })
            };
            loop {
                let step = damped_step(&jacobian, &residuals, damping);
                let moved: Vec<_> =
                    parameters.iter().enumerate().map(|(at, value)| value + step[at] / scales[at]).collect();
                let size = step.norm();
                let moved_residuals = self.residuals(y, &moved);
                let moved_chi_squared = moved_residuals.norm_squared();
                let is_rounded = size < SMALL_STEP.max(rounding) && size > 0.5 * previous;
                let is_last = damping < 1.0 && (size < STEP || is_rounded || moved == parameters);
                // χ² does not resolve the last steps, which shrink by themselves.
                let unresolved = if size < ROUNDED_STEP { rounding * (1.0 + chi_squared) } else { 0.0 };
                if moved_chi_squared <= chi_squared + unresolved {
                    parameters = moved;
                    residuals = moved_residuals;
                    chi_squared = moved_chi_squared;
                    damping = (damping * 0.1).max(1e-14);
                    previous = size;
                    if is_last {
                        return is_reached(parameters, chi_squared);
                    }
                    break;
                }
                if is_last {
                    return is_reached(parameters, chi_squared);
                }
                damping *= 10.0;
                if damping > LARGEST_DAMPING {
                    let undamped = damped_step(&jacobian, &residuals, 1e-14);
                    if undamped.norm() < ROUNDED_STEP * (1.0 + chi_squared.sqrt()) {
                        return is_reached(parameters, chi_squared);
                    }
                    return Err(self.failure(&parameters, iteration));
                }
            }
        }
        Err(self.failure(&parameters, self.iterations))
    }

    /// Returns why no minimum is reached.
    fn failure(&self, parameters: &[f64], iterations: usize) -> StatisticsError {
        let (jacobian, _) = normalised(self.jacobian(parameters));
        if jacobian.iter().all(|slope| slope.is_finite()) {
            let curvature = (jacobian.transpose() * jacobian).symmetric_eigen();
            if curvature.eigenvalues.min() < SINGULAR {
                let parameter = curvature.eigenvectors.column(curvature.eigenvalues.imin()).iamax();
                return StatisticsError::Undetermined { parameter };
            }
        }
        StatisticsError::NotConverged { iterations }
    }
}

/// Returns a matrix with columns of norm 1, and their norms.
///
/// A step in the scaled parameters is in units of their errors. A column of zeros stays, with the
/// norm 1.
pub(crate) fn normalised(mut matrix: DMatrix<f64>) -> (DMatrix<f64>, Vec<f64>) {
    let scale = |mut column: nalgebra::DVectorViewMut<f64>| {
        let norm = scaling::norm(column.as_slice());
        if norm == 0.0 {
            return 1.0;
        }
        column.iter_mut().for_each(|entry| *entry /= norm);
        norm
    };
    let scales = matrix.column_iter_mut().map(scale).collect();
    (matrix, scales)
}

/// Returns the step d with the least |r − J d|² + λ |d|².
///
/// The QR factorisation of both terms does not square the condition number, as normal equations do.
fn damped_step(jacobian: &DMatrix<f64>, residuals: &DVector<f64>, damping: f64) -> DVector<f64> {
    let (points, parameters) = jacobian.shape();
    let stacked =
        DMatrix::from_fn(points + parameters, parameters, |row, column| match row.checked_sub(points) {
            None => jacobian[(row, column)],
            Some(diagonal) if diagonal == column => damping.sqrt(),
            Some(_) => 0.0,
        });
    let mut target = residuals.clone().resize_vertically(points + parameters, 0.0);
    let factors = stacked.qr();
    factors.q_tr_mul(&mut target);
    let target = target.rows(0, parameters).into_owned();
    factors.unpack_r().solve_upper_triangular(&target).unwrap_or_else(|| DVector::zeros(parameters))
}
