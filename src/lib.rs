//! lattice-cl.

pub mod blas;
pub mod device;
pub mod host;
pub mod scalar;

pub use host::{Dims, GaugeConfiguration};
pub use scalar::{Element, Precision, Real};
