//! The sizes of A along directions, by which Conjugate Gradient breaks down.

use crate::outcome::Failure;
use num_complex::Complex64;

/// The curvature (p, Ap) / (r, r), or another quantity in place of (p, Ap).
///
/// The curvature stays above the smallest eigenvalue of a positive definite A.
pub(crate) struct Curvature {
    quantity: &'static str,
    first: Option<f64>,
}

impl Curvature {
    /// Makes the curvature of a quantity.
    ///
    /// The name of the quantity is the one in the method's formula.
    pub fn of(quantity: &'static str) -> Self {
        Self { quantity, first: None }
    }

    /// Returns the first curvature, to be kept with the state of a solve.
    ///
    /// NaN before there is one.
    pub fn first(&self) -> f64 {
        self.first.unwrap_or(f64::NAN)
    }

    /// Goes on from a first curvature that was kept.
    pub fn resume(&mut self, first: f64) {
        self.first = Some(first).filter(|first| !first.is_nan());
    }

    /// Returns the reason why the next step cannot be taken, if there is one.
    pub fn failure(&mut self, p_ap: Complex64, r_norm2: f64, bound: f64) -> Option<Failure> {
        let quantity = self.quantity;
        if !p_ap.is_finite() {
            return Some(Failure::NotFinite { quantity });
        }
        let curvature = p_ap.re / r_norm2;
        let first = *self.first.get_or_insert(curvature.abs());
        let relative = curvature / first;
        // Written so that 0/0, an A p equal to zero, counts as breakdown.
        let usable = relative > bound;
        (!usable).then_some(Failure::Breakdown {
            quantity,
            relative: if relative.is_nan() { 0.0 } else { relative },
            bound,
        })
    }
}
