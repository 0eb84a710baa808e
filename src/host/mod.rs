//! The host: plain lattice data, and the readable twin of every kernel.
//!
//! Everything here works on ordinary memory, sites in lexicographic order with x fastest, and says the
//! mathematics as directly as it can. It is the reference that every device kernel is tested against, and
//! what runs when there is no OpenCL device.

mod bandwidth;
mod configuration;
mod dims;
pub mod level1;
mod matrix3;
mod spinor;

pub use bandwidth::triad_bandwidth;
pub use configuration::{GaugeConfiguration, Links};
pub use dims::{Dims, DimsError, NDIM};
pub use matrix3::Matrix3;
pub use spinor::Spinor;
