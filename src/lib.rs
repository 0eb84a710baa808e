//! lattice-cl.

pub mod host;
pub mod io;
pub mod observables;
pub mod scalar;

pub use host::{Dims, GaugeConfiguration};
pub use scalar::{Element, Precision, Real};
