//! Averages of a fitted parameter over ranges.

use crate::error::{StatisticsError, StatisticsResult};
use crate::fit::Fit;
use crate::model_average::{Candidate, ModelAverage};
use crate::ranges::RangeFit;
use crate::uncertain::Uncertain;
use std::ops::Range;

/// The average of a parameter over fits of one model to several ranges.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RangeAverage<Q> {
    /// The average.
    pub average: ModelAverage,
    /// Ranges and fits, one for each weight of the average.
    pub fits: Vec<(Range<usize>, Fit<Q>)>,
    /// Number of the fit of the largest weight.
    pub heaviest: usize,
    /// Number of the parameter.
    parameter: usize,
}

impl<Q: Uncertain> RangeAverage<Q> {
    /// Returns the average of a parameter, with weights of [`ModelAverage`].
    ///
    /// Fits that failed are left out. Cut points are counted from the longest range.
    ///
    /// # Errors
    /// There are no fits, all failed, or the model has no such parameter. An estimate is not finite.
    pub fn of(fits: Vec<RangeFit<Q>>, parameter: usize, window_parameter: f64) -> StatisticsResult<Self> {
        let all_points = fits.iter().map(|one| one.range.len()).max();
        let all_points = all_points.ok_or(StatisticsError::NoRanges)?;
        let candidate = |fit: &Fit<Q>| -> StatisticsResult<Candidate> {
            let count = fit.parameters.len();
            let Some(estimate) = fit.parameters.get(parameter) else {
                return Err(StatisticsError::Time { what: "parameter", time: parameter, count });
            };
            let error = estimate.error(window_parameter)?.unwrap_or(f64::NAN);
            Ok(Candidate::of_fit(fit, all_points, estimate.value(), error))
        };
        let mut first_error = None;
        let (mut candidates, mut succeeded) = (Vec::new(), Vec::new());
        for RangeFit { range, fit } in fits {
            match fit.and_then(|fit| candidate(&fit).map(|candidate| (fit, candidate))) {
                Ok((fit, candidate)) => {
                    candidates.push(candidate);
                    succeeded.push((range, fit));
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        if let Some(error) = first_error.filter(|_| candidates.is_empty()) {
            return Err(error);
        }
        let average = ModelAverage::of(&candidates)?;
        let weight = |fit: usize| average.weights[fit];
        let heaviest = (0..candidates.len()).max_by(|&a, &b| weight(a).total_cmp(&weight(b))).unwrap_or(0);
        Ok(Self { average, fits: succeeded, heaviest, parameter })
    }

    /// Returns the average with fixed weights.
    ///
    /// Its error is statistical, with the correlations of the fits.
    ///
    /// # Errors
    /// The parameters are of different ensembles.
    pub fn combined(&self) -> StatisticsResult<Q> {
        let estimates: Vec<_> = self.fits.iter().map(|(_, fit)| &fit.parameters[self.parameter]).collect();
        self.average.combine(&estimates)
    }
}
