//! Observables: what is measured on gauge configurations and quark propagators.

mod correlator;

pub use crate::gauge::{Plaquette, link_trace, plaquette, polyakov_loop};
pub use crate::host::{Unitarity, unitarity};
pub use correlator::{PionCorrelator, effective_mass};
