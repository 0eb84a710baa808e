//! Observables: what is measured on gauge configurations.

pub use crate::host::{Plaquette, Unitarity, link_trace, plaquette, polyakov_loop, unitarity};
