//! When a method stops.

use derive_setters::Setters;

/// When a solver stops. Shared by all methods.
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Stopping {
    /// Wanted ‖b − A x‖ / ‖b‖, the true one. Default 1e-10.
    pub tolerance: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// Iterations from one look at the residual to the next.
    ///
    /// A look waits for the device. Default `None`: so many that looks cost little
    /// ([`VectorSpace::bytes_during_a_read`](crate::VectorSpace::bytes_during_a_read)), and fewer when the end is near.
    pub look_every: Option<usize>,
    /// Window of iterations in which the residual must fall. Default 1000.
    ///
    /// The solve gives up when the residual fell by less than one per cent over the window.
    pub stagnation_window: usize,
}

impl Default for Stopping {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 10_000, look_every: None, stagnation_window: 1000 }
    }
}
