//! Covariances of the statistical errors of several quantities.

use crate::error::{StatisticsError, StatisticsResult};
use crate::gamma_method::gamma_method;
use crate::observable::{Fluctuations, Observable};
use crate::resample::Resampled;
use crate::scaling::power_of_two;
use nalgebra::DMatrix;
use std::ops::Range;

/// Errors and correlations of several quantities.
///
/// The two are apart, so that squares of small or large errors stay in range.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariance {
    errors: Vec<f64>,
    correlation: DMatrix<f64>,
    measurements: usize,
}

impl Covariance {
    /// Returns the errors of the Γ method, with correlations of equal trajectories.
    ///
    /// Correlations are those at lag 0, so the matrix is positive semi-definite. This assumes that
    /// τ_int of a product is the geometric mean of both. Correlations are of trajectories that both
    /// quantities have.
    ///
    /// # Errors
    /// The quantities are of different replica, the Γ method fails, or there is only one
    /// measurement.
    pub fn of_observables(observables: &[Observable], window_parameter: f64) -> StatisticsResult<Self> {
        let names = |observable: &Observable| -> Vec<String> {
            observable.replica().iter().map(|chain| chain.name().to_owned()).collect()
        };
        if let Some(index) = observables.iter().position(|other| names(other) != names(&observables[0])) {
            return Err(StatisticsError::DifferentEnsembles { index, what: "replica" });
        }
        let error = |observable| match gamma_method(observable, window_parameter)? {
            Some(estimate) => Ok(estimate.error),
            None => Err(StatisticsError::TooFewBins { bins: 1, length: 1 }),
        };
        let errors = observables.iter().map(error).collect::<StatisticsResult<_>>()?;
        let measurements = observables.iter().map(Observable::measurements).min().unwrap_or(0);
        let correlation = |row: usize, column: usize| correlation(&observables[row], &observables[column]);
        Ok(Self { errors, correlation: symmetric(observables.len(), correlation), measurements })
    }

    /// Returns the errors and correlations of resampled quantities.
    ///
    /// # Errors
    /// The quantities are of different resamples.
    pub fn of_resampled(quantities: &[Resampled]) -> StatisticsResult<Self> {
        Resampled::expect_same_resamples(&quantities.iter().collect::<Vec<_>>())?;
        let errors = quantities.iter().map(Resampled::error).collect();
        let measurements = quantities.first().map_or(0, Resampled::bins);
        let correlation = |row: usize, column: usize| quantities[row].correlation(&quantities[column]);
        Ok(Self { errors, correlation: symmetric(quantities.len(), correlation), measurements })
    }

    /// Returns the number of quantities.
    pub fn len(&self) -> usize {
        self.errors.len()
    }

    /// Tells whether there are no quantities.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Returns the error of each quantity.
    pub fn errors(&self) -> &[f64] {
        &self.errors
    }

    /// Returns the correlation of two quantities, from −1 to 1.
    ///
    /// # Panics
    /// There are not as many quantities.
    pub fn correlation(&self, row: usize, column: usize) -> f64 {
        self.correlation[(row, column)]
    }

    /// Returns the covariance of two quantities, in the product of their units.
    ///
    /// # Panics
    /// There are not as many quantities.
    pub fn covariance(&self, row: usize, column: usize) -> f64 {
        self.errors[row] * self.correlation[(row, column)] * self.errors[column]
    }

    /// Returns the number of measurements or bins that the correlations are from.
    pub fn measurements(&self) -> usize {
        self.measurements
    }

    /// Returns the covariance of some of the quantities.
    ///
    /// # Panics
    /// There are not as many quantities.
    pub fn range(&self, range: Range<usize>) -> Self {
        let correlation =
            self.correlation.view((range.start, range.start), (range.len(), range.len())).into_owned();
        Self { errors: self.errors[range].to_vec(), correlation, measurements: self.measurements }
    }

    /// Returns the matrix of correlations.
    pub(crate) fn matrix(&self) -> &DMatrix<f64> {
        &self.correlation
    }
}

/// Returns a symmetric matrix with 1 on the diagonal.
fn symmetric(extent: usize, entry: impl Fn(usize, usize) -> f64) -> DMatrix<f64> {
    let mut matrix = DMatrix::identity(extent, extent);
    for row in 0..extent {
        for column in 0..row {
            matrix[(row, column)] = entry(row, column);
            matrix[(column, row)] = matrix[(row, column)];
        }
    }
    matrix
}

/// Returns the correlation of two observables at lag 0, 0 for constants.
fn correlation(left: &Observable, right: &Observable) -> f64 {
    let scale = |observable: &Observable| {
        power_of_two(observable.replica().iter().flat_map(|chain| chain.deviations().iter().copied()))
    };
    let (left_scale, right_scale) = (scale(left), scale(right));
    let (mut product, mut norm) = (0.0, 0.0);
    for (left, right) in left.replica().iter().zip(right.replica()) {
        let (mut squares_left, mut squares_right) = (0.0, 0.0);
        for_common_trajectories(left, right, |left, right| {
            let (left, right) = (left / left_scale, right / right_scale);
            product += left * right;
            squares_left += left * left;
            squares_right += right * right;
        });
        norm += (squares_left * squares_right).sqrt();
    }
    if norm == 0.0 { 0.0 } else { product / norm }
}

/// Calls `visit` with both deviations of each trajectory that both have.
fn for_common_trajectories(left: &Fluctuations, right: &Fluctuations, mut visit: impl FnMut(f64, f64)) {
    if left.trajectories() == right.trajectories() {
        left.deviations().iter().zip(right.deviations()).for_each(|(left, right)| visit(*left, *right));
        return;
    }
    for (number, deviation) in left.trajectories().numbers().iter().zip(left.deviations()) {
        if let Ok(place) = right.trajectories().numbers().binary_search(number) {
            visit(*deviation, right.deviations()[place]);
        }
    }
}
