//! Fits of nonlinear models with propagated errors.

use crate::covariance::Covariance;
use crate::distribution::{chi_squared_p_value, hotelling_p_value};
use crate::error::{StatisticsError, StatisticsResult};
use crate::minimise::{Minimum, Problem, SINGULAR, normalised};
use crate::model::Model;
use crate::quantity::{DifferentiableMap, Quantity};
use crate::weighting::{Weighting, Whitening};
use derive_setters::Setters;

/// How a model is fitted.
#[derive(Clone, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct FitOptions {
    /// How deviations are weighed.
    pub weighting: Weighting,
    /// Parameters from which the fit starts, `None` for those that the model guesses.
    #[setters(strip_option)]
    pub initial: Option<Vec<f64>>,
    /// The most iterations from one start.
    pub iterations: usize,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { weighting: Weighting::default(), initial: None, iterations: 500 }
    }
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fit<Q> {
    /// The parameters at the minimum of χ², in the units of the model.
    pub parameters: Vec<Q>,
    /// χ² at the minimum.
    pub chi_squared: f64,
    /// The χ² that a right model has on average, from the correlations of the points.
    ///
    /// For correlated fits this is the number of degrees of freedom
    /// (M. Bruno and R. Sommer, arXiv:2209.14188).
    pub expected_chi_squared: f64,
    /// Points less parameters.
    pub degrees_of_freedom: usize,
    /// The probability that χ² is larger for a right model with known covariance.
    ///
    /// `None` without degrees of freedom, and for shrunk or cut correlations. Fits without
    /// correlations assume independent points.
    pub p_value: Option<f64>,
    /// The same probability by Hotelling's distribution.
    ///
    /// It takes into account that few measurements estimate the covariance, but no autocorrelation.
    /// `None` unless the fit is correlated.
    pub hotelling_p_value: Option<f64>,
    /// Number of fitted points.
    pub points: usize,
    /// Iterations that led to the minimum.
    pub iterations: usize,
}

impl<Q> Fit<Q> {
    /// Returns χ² per degree of freedom, `None` without degrees of freedom.
    pub fn chi_squared_per_degree(&self) -> Option<f64> {
        (self.degrees_of_freedom > 0).then(|| self.chi_squared / self.degrees_of_freedom as f64)
    }
}

/// Fits a model to points (x_i, y_i), with fixed weights.
///
/// Errors of observables are propagated by the derivatives of the minimum, −H⁻¹ ∂²(χ²/2)/∂p∂y with
/// the exact Hessian H (implicit function theorem). Resampled points are fitted again on each
/// resample.
///
/// # Errors
/// The lengths differ, or a point has no error. Points are fewer than parameters, or too many for the
/// measurements of their correlations. The fit does not converge, or leaves parameters undetermined.
pub fn fit<Q: Quantity>(
    model: &dyn Model,
    x: &[f64],
    y: &[Q],
    covariance: &Covariance,
    options: &FitOptions,
) -> StatisticsResult<Fit<Q>> {
    let same_length = |what, found| match found == x.len() {
        true => Ok(()),
        false => Err(StatisticsError::Length { what, expected: x.len(), found }),
    };
    same_length("values", y.len())?;
    same_length("errors", covariance.len())?;
    let (points, parameters) = (x.len(), model.parameters());
    if points < parameters.max(1) {
        return Err(StatisticsError::TooFewPoints { points, parameters });
    }
    let whitening = Whitening::new(covariance, options.weighting)?;
    let problem = Problem { model, x, whitening: &whitening, iterations: options.iterations };
    let centre: Vec<_> = y.iter().map(Quantity::value).collect();
    let starts = match &options.initial {
        Some(initial) if initial.len() != parameters => {
            let (what, found) = ("initial parameters", initial.len());
            return Err(StatisticsError::Length { what, expected: parameters, found });
        }
        Some(initial) => vec![initial.clone()],
        None => model.starts(x, &centre),
    };
    let mut minimum = problem.best_minimum(&centre, &starts)?;
    model.arrange(&mut minimum.parameters);
    let solution = Solution { problem, centre: &centre, minimum: &minimum };
    let expected_chi_squared = solution.expected_chi_squared(covariance)?;
    let parameters = Q::mapped(&y.iter().collect::<Vec<_>>(), &solution)?;
    let degrees_of_freedom = points - parameters.len();
    let chi_squared = minimum.chi_squared;
    let p_value = match options.weighting {
        Weighting::Uncorrelated | Weighting::Correlated => {
            chi_squared_p_value(chi_squared, degrees_of_freedom)
        }
        Weighting::Shrunk(_) | Weighting::SvdCut(_) => None,
    };
    let hotelling_p_value = match options.weighting {
        Weighting::Correlated => {
            hotelling_p_value(chi_squared, degrees_of_freedom, covariance.measurements())
        }
        _ => None,
    };
    let iterations = minimum.iterations;
    Ok(Fit {
        parameters,
        chi_squared,
        expected_chi_squared,
        degrees_of_freedom,
        p_value,
        hotelling_p_value,
        points,
        iterations,
    })
}

/// The parameters at the minimum, as functions of the fitted values.
struct Solution<'a> {
    problem: Problem<'a>,
    centre: &'a [f64],
    minimum: &'a Minimum,
}

impl Solution<'_> {
    /// Returns tr((1 − P) W C Wᵀ).
    ///
    /// P projects on the weighed derivatives of the model.
    fn expected_chi_squared(&self, covariance: &Covariance) -> StatisticsResult<f64> {
        let (jacobian, _) = normalised(self.problem.jacobian(&self.minimum.parameters));
        let basis = jacobian.qr().q();
        let weights = self.problem.whitening.of_unit_errors();
        let noise = &weights * covariance.matrix() * weights.transpose();
        Ok(noise.trace() - (basis.transpose() * noise * basis).trace())
    }
}

impl DifferentiableMap for Solution<'_> {
    fn values(&self, y: &[f64]) -> StatisticsResult<Vec<f64>> {
        if y == self.centre {
            return Ok(self.minimum.parameters.clone());
        }
        let mut minimum = self.problem.minimum(y, &self.minimum.parameters)?;
        self.problem.model.arrange(&mut minimum.parameters);
        Ok(minimum.parameters)
    }

    fn jacobian(&self, y: &[f64]) -> StatisticsResult<Vec<Vec<f64>>> {
        let parameters = self.values(y)?;
        let residuals = self.problem.residuals(y, &parameters);
        let (jacobian, scales) = normalised(self.problem.jacobian(&parameters));
        let mut hessian = jacobian.transpose() * &jacobian;
        for row in 0..parameters.len() {
            for column in 0..=row {
                let mut curvature = self.problem.curvature(&parameters, row, column);
                // One scale after the other: their product may be out of range.
                curvature.apply(|entry| *entry = *entry / scales[row] / scales[column]);
                hessian[(row, column)] -= residuals.dot(&curvature);
                hessian[(column, row)] = hessian[(row, column)];
            }
        }
        let eigen = hessian.clone().symmetric_eigen();
        let undetermined = StatisticsError::Undetermined {
            parameter: eigen.eigenvectors.column(eigen.eigenvalues.imin()).iamax(),
        };
        if eigen.eigenvalues.iter().any(|value| value.is_nan() || *value < SINGULAR) {
            return Err(undetermined);
        }
        let weighted = jacobian.transpose() * self.problem.whitening.of_unit_errors();
        let slopes = hessian.lu().solve(&weighted).ok_or(undetermined)?;
        let errors = self.problem.whitening.errors();
        let row = |parameter: usize| {
            (0..y.len()).map(|point| slopes[(parameter, point)] / scales[parameter] / errors[point]).collect()
        };
        Ok((0..parameters.len()).map(row).collect())
    }
}
