//! Inner products that cannot be divided by.

use crate::outcome::Failure;
use num_complex::Complex64;

/// Returns the reason why an inner product cannot be divided by, if there is one.
///
/// `norms2` is the product of the two vectors' (x, x).
pub(crate) fn vanishes(
    quantity: &'static str,
    product: Complex64,
    norms2: f64,
    bound: f64,
) -> Option<Failure> {
    if !product.is_finite() || !norms2.is_finite() {
        return Some(Failure::NotFinite { quantity });
    }
    let relative = product.norm() / norms2.sqrt();
    // Written so that 0/0 counts as breakdown.
    let usable = relative > bound;
    (!usable).then_some(Failure::Breakdown {
        quantity,
        relative: if relative.is_nan() { 0.0 } else { relative },
        bound,
    })
}
