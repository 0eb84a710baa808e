//! Tails of the distributions of χ².

use statrs::function::beta::checked_beta_reg;
use statrs::function::gamma::checked_gamma_ur;

/// Returns the probability that χ² is larger, `None` without degrees of freedom.
///
/// This is the regularised incomplete gamma function Q(ν/2, χ²/2) for ν degrees of freedom.
pub fn chi_squared_p_value(chi_squared: f64, degrees_of_freedom: usize) -> Option<f64> {
    if degrees_of_freedom == 0 || chi_squared.is_nan() || chi_squared < 0.0 {
        return None;
    }
    if chi_squared == 0.0 || chi_squared == f64::INFINITY {
        return Some(if chi_squared == 0.0 { 1.0 } else { 0.0 });
    }
    checked_gamma_ur(0.5 * degrees_of_freedom as f64, 0.5 * chi_squared).ok()
}

/// Returns the probability that Hotelling's T² is larger.
///
/// T² is χ² with a covariance from n measurements. T² (n − ν)/(ν (n − 1)) has the F distribution
/// with ν and n − ν degrees of freedom. `None` unless 0 < ν < n.
pub fn hotelling_p_value(chi_squared: f64, degrees_of_freedom: usize, measurements: usize) -> Option<f64> {
    if degrees_of_freedom == 0
        || degrees_of_freedom >= measurements
        || chi_squared.is_nan()
        || chi_squared < 0.0
    {
        return None;
    }
    let (above, below) = (degrees_of_freedom as f64, (measurements - degrees_of_freedom) as f64);
    // With ν F = T² (n − ν)/(n − 1), the argument (n − ν)/(n − ν + ν F) has no factor n − ν.
    let argument = 1.0 / (1.0 + chi_squared / (measurements as f64 - 1.0));
    checked_beta_reg(0.5 * below, 0.5 * above, argument).ok()
}
