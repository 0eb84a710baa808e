//! Dirac operators on lattice fields, and solving with them.

mod even_odd;
mod solve;
mod stencil;
mod stencil_kernels;
mod stencil_tuning;
mod systems;
mod wilson;

pub use even_odd::{HopEvenOdd, HopOptions};
pub use solve::{CgParams, CrParams, InvertError, cg, cr, cr_from};
pub use stencil::Products;
pub use stencil_kernels::Tuning;
pub use stencil_tuning::{Tuned, steps as tuning_steps, tune_stencil};
pub use systems::{Normal, System};
pub use wilson::{Coupling, CouplingError, Kappa, Mass, Wilson, WilsonError, WilsonOptions};
