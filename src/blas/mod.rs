//! Linear algebra on devices.

pub mod level1;

pub use level1::{
    Sum, axpby, axpy, axpy_norm2, copy, cr_direction, cr_step, dot_norm2, dotc, dotu, norm2, nrm2, scal,
    swap, xpby,
};
