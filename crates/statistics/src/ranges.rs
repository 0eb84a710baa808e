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

/// Errors of this part of a quantity end the ranges of an average.
const LARGEST_RELATIVE_ERROR: f64 = 0.2;

/// Returns ranges that end where points are lost in noise.
///
/// They begin at each point from `first` on, and have at least `least` points. A point is lost if
/// its error exceeds a fifth of it.
pub fn ranges_above_noise<Q: Quantity>(
    points: &[Q],
    errors: &[f64],
    first: usize,
    least: usize,
) -> Vec<Range<usize>> {
    let is_lost = |(point, error): (&Q, &f64)| *error > LARGEST_RELATIVE_ERROR * point.value().abs();
    let lost = points.iter().zip(errors).skip(first).position(is_lost);
    let end = lost.map_or(points.len(), |lost| first + lost);
    (first..(end + 1).saturating_sub(least.max(1)).max(first)).map(|first| first..end).collect()
}
