//! Fits of one model to several ranges of points.

use crate::covariance::Covariance;
use crate::error::{StatisticsError, StatisticsResult};
use crate::fit::{Fit, FitOptions, fit};
use crate::model::Model;
use crate::quantity::Quantity;
use std::ops::Range;

/// A fit to some of the points.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeFit<Q> {
    /// Numbers of the fitted points.
    pub range: Range<usize>,
    /// The fit, or why there is none.
    pub fit: StatisticsResult<Fit<Q>>,
}

/// Fits a model to each of these ranges of the points (x_i, y_i).
///
/// # Errors
/// The lengths differ, or a range ends behind the points. The error of one fit is returned with its
/// range.
pub fn fit_ranges<Q: Quantity>(
    model: &dyn Model,
    x: &[f64],
    y: &[Q],
    covariance: &Covariance,
    ranges: &[Range<usize>],
    options: &FitOptions,
) -> StatisticsResult<Vec<RangeFit<Q>>> {
    for (what, found) in [("values", y.len()), ("errors", covariance.len())] {
        if found != x.len() {
            return Err(StatisticsError::Length { what, expected: x.len(), found });
        }
    }
    if let Some(range) = ranges.iter().find(|range| range.end > x.len() || range.start > range.end) {
        return Err(StatisticsError::Time {
            what: "the end of a fit range",
            time: range.end,
            count: x.len(),
        });
    }
    let one = |range: &Range<usize>| {
        let points = range.clone();
        let covariance = covariance.range(points.clone());
        let fit = fit(model, &x[points.clone()], &y[points], &covariance, options);
        RangeFit { range: range.clone(), fit }
    };
    Ok(ranges.iter().map(one).collect())
}

/// Returns all ranges within `points` that have at least `least` of them.
pub fn ranges_within(points: Range<usize>, least: usize) -> Vec<Range<usize>> {
    let least = least.max(1);
    let from = |first: usize| (first + least..=points.end).map(move |end| first..end);
    points.clone().flat_map(from).collect()
}
