//! Dirac operators on lattice fields.

mod coupling;
mod dirac;
mod even_odd_parts;
mod expectation;
mod four_blocks;
mod hop;
mod schur_complement;
mod site_terms;
mod stencil;
mod systems;

pub use coupling::{Coupling, CouplingError, Kappa, Mass};
pub use dirac::{Dirac, DiracError, DiracOptions};
pub(crate) use even_odd_parts::sides_of;
pub use expectation::Expectation;
pub use hop::{HopEvenOdd, HopOptions};
pub(crate) use schur_complement::hops_of;
pub use schur_complement::{SchurComplement, SchurSymmetry};
pub use site_terms::{Clover, Flavour, SiteTerm, SiteTermError, SiteTermKeys, SiteTermResult};
pub use stencil::{Ending, Tuned, Tuning, kernels_to_tune, tune_stencil, tuning_steps};
pub(crate) use stencil::{Region, Task, known_key};
pub(crate) use systems::{BlockDiracOperator, DiracOperator, InPrecision};
pub use systems::{Normal, System};
