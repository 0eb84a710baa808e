//! lattice-cl.

pub mod host;
pub mod lattice;
pub mod observables;
pub mod scalar;

pub use host::{Dims, GaugeConfiguration};
pub use scalar::{Element, Precision, Real};
