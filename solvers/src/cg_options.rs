//! Options of Conjugate Gradient.

use crate::stopping::Stopping;
use derive_setters::Setters;

/// Options of [`conjugate_gradient`](crate::conjugate_gradient()), and of [`cgne`](crate::cgne).
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct CgOptions {
    /// Conditions for stopping.
    pub stopping: Stopping,
    /// Bound of a breakdown. Default 1e-14.
    ///
    /// The method breaks down when the curvature (p, Ap) / (r, r) is negative. It also breaks down
    /// when the curvature falls below this bound times the curvature of the first direction. With a
    /// preconditioner the curvatures are (p, Ap) / (r, Kr) and (r, Kr) / (r, r).
    pub breakdown: f64,
    /// `true` for a preconditioner that is no fixed linear operator. Default `false`.
    ///
    /// The next direction is then made conjugate to the last one by an inner product of its own.
    pub flexible: bool,
}

impl Default for CgOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), breakdown: 1e-14, flexible: false }
    }
}
