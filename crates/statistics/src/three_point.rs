//! Matrix elements from three-point functions.

use crate::covariance::Covariance;
use crate::error::{StatisticsError, StatisticsResult};
use crate::fit::{Fit, FitOptions, fit};
use crate::hyper_dual::HyperDual;
use crate::model::Polynomial;
use crate::quantity::Quantity;

/// Returns R(T, τ) = C_3(T, τ)/C_2(T) for each τ, at equal momenta.
///
/// # Errors
/// The quantities are of different ensembles, or C_2(T) is 0.
pub fn ratio<Q: Quantity>(three_point: &[Q], two_point_at_sink: &Q) -> StatisticsResult<Vec<Q>> {
    three_point.iter().map(|three| Q::derived(&[three, two_point_at_sink], |c| c[0] / c[1])).collect()
}

/// Returns the ratio for different momenta of source and sink, for τ = 0, 1, …, T.
///
/// R(T, τ) = C_3(T, τ)/C_f(T) · √(C_i(T − τ) C_f(τ) C_f(T)/(C_f(T − τ) C_i(τ) C_i(T))), with the
/// two-point functions C_i at the momentum of the source and C_f at that of the sink.
///
/// # Errors
/// A two-point function is shorter than T, the quantities are of different ensembles, or a product
/// under the root is not positive.
pub fn ratio_with_momenta<Q: Quantity>(
    three_point: &[Q],
    source: &[Q],
    sink: &[Q],
) -> StatisticsResult<Vec<Q>> {
    for found in [source.len(), sink.len()] {
        if found < three_point.len() {
            let (what, expected) = ("times of a two-point function", three_point.len());
            return Err(StatisticsError::Length { what, expected, found });
        }
    }
    let separation = three_point.len().saturating_sub(1);
    let at = |(time, three): (usize, &Q)| {
        let rest = separation - time;
        let inputs = [
            three,
            &source[rest],
            &sink[time],
            &sink[separation],
            &sink[rest],
            &source[time],
            &source[separation],
        ];
        Q::derived(&inputs, |c| c[0] / c[3] * ((c[1] / c[4]) * (c[2] / c[5]) * (c[3] / c[6])).sqrt())
    };
    three_point.iter().enumerate().map(at).collect()
}

/// Returns S(T) = Σ R(T, τ) for τ from `excluded` to T − `excluded`.
///
/// The ratio is given at τ = 0, 1, …, T.
///
/// # Errors
/// No τ is left, or the times are of different ensembles.
pub fn summed<Q: Quantity>(ratio: &[Q], excluded: usize) -> StatisticsResult<Q> {
    let times = ratio.get(excluded..ratio.len().saturating_sub(excluded)).filter(|times| !times.is_empty());
    let Some(times) = times else {
        let what = "the number of excluded times at each end";
        return Err(StatisticsError::Time { what, time: excluded, count: ratio.len() });
    };
    Q::derived(&times.iter().collect::<Vec<_>>(), |c| c.iter().copied().sum::<HyperDual>())
}

/// Fits a line to sums S(T) at source-sink separations T.
///
/// The parameters are its intercept and its slope. The slope is the matrix element: excited states
/// contribute exponentially little in T (L. Maiani et al., Nucl. Phys. B 293, 420).
///
/// # Errors
/// The fit fails.
pub fn summation<Q: Quantity>(
    separations: &[f64],
    sums: &[Q],
    covariance: &Covariance,
    options: &FitOptions,
) -> StatisticsResult<Fit<Q>> {
    fit(&Polynomial { degree: 1 }, separations, sums, covariance, options)
}
