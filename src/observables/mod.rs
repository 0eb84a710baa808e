//! Observables: what is measured on gauge configurations and quark propagators.

mod correlator;

pub use crate::host::{Plaquette, Unitarity, link_trace, plaquette, polyakov_loop, unitarity};
pub use correlator::{PionCorrelator, effective_mass};
