//! Dirac operators on lattice fields.

mod dirac;
mod hop;
mod schur_complement;
mod stencil;
mod systems;

pub use dirac::{Coupling, CouplingError, Kappa, Mass, Wilson, WilsonError, WilsonOptions};
pub use hop::{HopEvenOdd, HopOptions};
pub use schur_complement::SchurComplement;
pub use stencil::{Ending, Tuned, Tuning, kernels_to_tune, tune_stencil, tuning_steps};
pub(crate) use stencil::{Region, Task, known_key};
pub(crate) use systems::{BlockDiracOperator, DiracOperator, InPrecision};
pub use systems::{Normal, System};
