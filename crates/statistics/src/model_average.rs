//! Averages over models and fit ranges.

use crate::error::{StatisticsError, StatisticsResult};
use crate::fit::Fit;
use crate::quantity::{DifferentiableMap, Quantity};

/// A model's estimate of a number, and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The estimate.
    pub value: f64,
    /// Its statistical error, in the same unit.
    pub error: f64,
    /// χ² of the fit.
    pub chi_squared: f64,
    /// Number of the model's parameters.
    pub parameters: usize,
    /// Number of points that are left out.
    pub cut_points: usize,
}

impl Candidate {
    /// Returns the candidate of a fit to some of `all_points`.
    pub fn of_fit<Q>(fit: &Fit<Q>, all_points: usize, value: f64, error: f64) -> Self {
        let (parameters, cut_points) = (fit.parameters.len(), all_points.saturating_sub(fit.points));
        Self { value, error, chi_squared: fit.chi_squared, parameters, cut_points }
    }

    /// Returns the Akaike information criterion χ² + 2 k + 2 N_cut.
    pub fn information_criterion(&self) -> f64 {
        self.chi_squared + 2.0 * (self.parameters + self.cut_points) as f64
    }
}

/// An average over models.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelAverage {
    /// The mean, Σ w a.
    pub value: f64,
    /// The statistical error, √(Σ w σ²).
    pub statistical: f64,
    /// The error from the choice of the model, √(Σ w a² − (Σ w a)²).
    pub systematic: f64,
    /// The weight of each model. Their sum is 1.
    pub weights: Vec<f64>,
}

impl ModelAverage {
    /// Returns the average with weights w proportional to exp(−AIC/2).
    ///
    /// The formulas are those of E. T. Neil and J. W. Sitison, arXiv:2208.14983, for models of
    /// equal prior probability.
    ///
    /// # Errors
    /// There are no candidates, or one is not finite.
    pub fn of(candidates: &[Candidate]) -> StatisticsResult<Self> {
        let is_finite =
            |one: &Candidate| one.value.is_finite() && one.error.is_finite() && one.chi_squared.is_finite();
        let bad = candidates.iter().position(|one| !is_finite(one));
        if let Some(index) = bad.or(candidates.is_empty().then_some(0)) {
            return Err(StatisticsError::Candidate { index });
        }
        let best = candidates.iter().map(Candidate::information_criterion).fold(f64::INFINITY, f64::min);
        let likelihoods: Vec<_> =
            candidates.iter().map(|one| (0.5 * (best - one.information_criterion())).exp()).collect();
        let sum: f64 = likelihoods.iter().sum();
        let weights: Vec<_> = likelihoods.into_iter().map(|likelihood| likelihood / sum).collect();
        let weighted = |number: &dyn Fn(&Candidate) -> f64| -> f64 {
            candidates.iter().zip(&weights).map(|(one, weight)| weight * number(one)).sum()
        };
        // Differences from one of the values do not cancel.
        let origin = candidates[0].value;
        let value = origin + weighted(&|one| one.value - origin);
        let root = |number: &dyn Fn(&Candidate) -> f64| {
            let scale = crate::scaling::power_of_two(candidates.iter().map(number));
            weighted(&|one| (number(one) / scale).powi(2)).sqrt() * scale
        };
        let (statistical, systematic) = (root(&|one| one.error), root(&|one| one.value - value));
        Ok(Self { value, statistical, systematic, weights })
    }

    /// Returns the statistical and systematic error, added in quadrature.
    pub fn error(&self) -> f64 {
        self.statistical.hypot(self.systematic)
    }

    /// Returns the average of the models' estimates with fixed weights.
    ///
    /// Its error has their correlations.
    ///
    /// # Errors
    /// There is not an estimate for each weight, or they are of different ensembles.
    pub fn combine<Q: Quantity>(&self, estimates: &[&Q]) -> StatisticsResult<Q> {
        let (expected, found) = (self.weights.len(), estimates.len());
        if expected != found {
            return Err(StatisticsError::Length { what: "estimates", expected, found });
        }
        Q::mapped(estimates, &WeightedSum(&self.weights)).map(|mut sums| sums.remove(0))
    }
}

/// A sum with fixed weights.
struct WeightedSum<'a>(&'a [f64]);

impl DifferentiableMap for WeightedSum<'_> {
    fn values(&self, inputs: &[f64]) -> StatisticsResult<Vec<f64>> {
        Ok(vec![inputs.iter().zip(self.0).map(|(input, weight)| input * weight).sum()])
    }

    fn jacobian(&self, _inputs: &[f64]) -> StatisticsResult<Vec<Vec<f64>>> {
        Ok(vec![self.0.to_vec()])
    }
}
