//! Linear algebra on devices.

mod completion;
mod error;
pub mod gemm;
pub mod level1;
pub mod level2;
pub mod level3;
mod matrix;
mod op;
pub mod split;
mod vector;

pub use crate::scalar::{Factor, Scalar};
pub use completion::Completion;
pub use error::{BlasError, BlasResult};
pub use gemm::gemm;

pub use level1::{
    Sum, asum, axpby, axpy, axpy_norm2, copy, cr_direction, cr_step, dot, dot_norm2, dotc, dotu, iamax,
    norm2, nrm2, scal, swap, xpby,
};
pub use level2::{gemv, ger, gerc};
pub use level3::{Side, Triangle, hemm, herk, symm, syrk};
pub use matrix::{MatMut, MatRef, MatrixLayout, Order};
pub use op::Op;
pub use vector::{VecMut, VecRef, VectorLayout};
