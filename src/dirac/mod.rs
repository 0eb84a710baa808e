//! Dirac operators on lattice fields, and solving with them.

mod solve;
mod stencil;
mod systems;
mod wilson;

pub use solve::{CgParams, CrParams, InvertError, cg, cr, cr_from};
pub use systems::{Normal, System};
pub use wilson::{Coupling, CouplingError, Kappa, Mass, Wilson, WilsonError};
