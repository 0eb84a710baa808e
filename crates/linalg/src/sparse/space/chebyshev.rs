//! The fused update of Chebyshev's iteration.

use lattice_solvers::update::FusedUpdate;

/// A step of Chebyshev's iteration: solution, residual and the next direction.
pub(in crate::sparse) const CHEBYSHEV_STEP: FusedUpdate<2, 1, 3, 0> =
    FusedUpdate::new("chebyshev_step", "x = x + a p; r = r - a q; p = r + b p");
