//! lattice-cl.

pub mod blas;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod cli;
pub mod device;
pub mod dirac;
pub mod host;
pub mod io;
pub mod lattice;
pub mod observables;
#[cfg(feature = "program")]
pub mod plot;
pub mod scalar;

pub use host::{Dims, GaugeConfiguration};
pub use scalar::{Element, Precision, Real};
