//! lattice-cl.

pub mod host;
pub mod lattice;
pub mod io;
pub mod observables;
#[cfg(feature = "program")]
pub mod plot;
pub mod scalar;

pub use host::{Dims, GaugeConfiguration};
pub use scalar::{Element, Precision, Real};
