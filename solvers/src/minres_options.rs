//! Options of MINRES.

use crate::stopping::Stopping;
use derive_setters::Setters;

/// Options of [`minres`](crate::minres()).
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct MinresOptions {
    /// Conditions for stopping.
    pub stopping: Stopping,
    /// Bound of a breakdown. Default 1e-8.
    ///
    /// The method breaks down when ‖Ar‖ falls below this bound times ‖r‖ ‖Av‖: no step along a
    /// vector of the kernel makes r smaller. The default is large because errors by rounding are ε
    /// times the square of the condition number (G. L. G. Sleijpen, H. A. van der Vorst and J.
    /// Modersitzki, SIAM J. Matrix Anal. Appl. 22 (2000) 726).
    pub breakdown: f64,
}

impl Default for MinresOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), breakdown: 1e-8 }
    }
}
