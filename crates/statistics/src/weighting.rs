//! How deviations of a fit are weighed.

use crate::covariance::Covariance;
use crate::error::{StatisticsError, StatisticsResult};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn, SymmetricEigen};

/// The matrix that weighs the deviations of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Weighting {
    /// Errors without correlations.
    ///
    /// The parameters' errors have all correlations. χ² is too small or too large.
    Uncorrelated,
    /// The inverse of the covariance matrix.
    #[default]
    Correlated,
    /// The inverse, with correlations R replaced by (1 − λ) R + λ, for λ from 0 to 1.
    Shrunk(f64),
    /// The inverse, with small eigenvalues of R raised to this part of the largest.
    SvdCut(f64),
}

/// A matrix W with WᵀW the inverse of a covariance matrix.
pub(crate) struct Whitening {
    errors: Vec<f64>,
    factor: Option<Cholesky<f64, Dyn>>,
}

impl Whitening {
    /// Returns the matrix for a weighting.
    ///
    /// # Errors
    /// A quantity has no error, an option is out of range, or correlations have no inverse.
    pub fn new(covariance: &Covariance, weighting: Weighting) -> StatisticsResult<Self> {
        let errors = covariance.errors().to_vec();
        if let Some(index) = errors.iter().position(|error| !(*error > 0.0 && error.is_finite())) {
            return Err(StatisticsError::NoError { index, error: errors[index] });
        }
        let correlation = match weighting {
            Weighting::Uncorrelated => return Ok(Self { errors, factor: None }),
            Weighting::Correlated => {
                let (points, measurements) = (covariance.len(), covariance.measurements());
                if points >= measurements {
                    return Err(StatisticsError::TooFewMeasurements { points, measurements });
                }
                covariance.matrix().clone()
            }
            Weighting::Shrunk(strength) => {
                in_unit_interval("the shrinkage", strength)?;
                let identity = DMatrix::identity(covariance.len(), covariance.len());
                covariance.matrix() * (1.0 - strength) + identity * strength
            }
            Weighting::SvdCut(cut) => {
                in_unit_interval("the cut of singular values", cut)?;
                let mut eigen = SymmetricEigen::new(covariance.matrix().clone());
                let least = eigen.eigenvalues.max() * cut;
                eigen.eigenvalues.apply(|value| *value = value.max(least));
                eigen.recompose()
            }
        };
        let eigenvalues = correlation.symmetric_eigenvalues();
        if eigenvalues.min() <= eigenvalues.max() * f64::EPSILON * covariance.len() as f64 {
            return Err(StatisticsError::SingularCorrelation);
        }
        let factor = Cholesky::new(correlation).ok_or(StatisticsError::SingularCorrelation)?;
        Ok(Self { errors, factor: Some(factor) })
    }

    /// Returns W v.
    pub fn apply(&self, mut vector: DVector<f64>) -> DVector<f64> {
        vector.iter_mut().zip(&self.errors).for_each(|(entry, error)| *entry /= error);
        match &self.factor {
            Some(factor) => factor.l_dirty().solve_lower_triangular(&vector).unwrap_or(vector),
            None => vector,
        }
    }

    /// Returns the largest |v|/error.
    pub fn largest_ratio(&self, vector: &[f64]) -> f64 {
        vector.iter().zip(&self.errors).map(|(entry, error)| (entry / error).abs()).fold(0.0, f64::max)
    }

    /// Returns W D for the diagonal matrix D of errors.
    pub fn of_unit_errors(&self) -> DMatrix<f64> {
        let points = self.errors.len();
        let columns: Vec<_> = (0..points)
            .map(|point| {
                self.apply(DVector::from_fn(
                    points,
                    |row, _| if row == point { self.errors[row] } else { 0.0 },
                ))
            })
            .collect();
        DMatrix::from_columns(&columns)
    }

    /// Returns the errors D.
    pub fn errors(&self) -> &[f64] {
        &self.errors
    }
}

/// Refuses options that are not above 0 and at most 1.
fn in_unit_interval(option: &'static str, value: f64) -> StatisticsResult<()> {
    if value > 0.0 && value <= 1.0 {
        return Ok(());
    }
    Err(StatisticsError::Option { option, value, range: "above 0 and at most 1" })
}
