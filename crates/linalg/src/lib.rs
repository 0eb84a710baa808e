//! Dense linear algebra on OpenCL devices, one or several.
//!
//! Matrices and vectors are views of device buffers ([`MatRef`], [`VecRef`] and their mutable
//! forms). Levels 1 and 2, the relatives of [`gemm`](gemm::gemm()) and the factorisations of
//! [`factor`] work on one device; [`split`] multiplies over a team. [`fft`] has Fourier transforms of
//! any length. Every kernel has a readable twin in [`host`].

mod block;
mod completion;
mod error;
pub mod factor;
pub mod fft;
pub mod gemm;
pub mod host;
pub mod level1;
pub mod level2;
pub mod level3;
mod matrix;
mod op;
pub mod sparse;
pub mod split;
pub mod triangular;
mod vector;

pub use completion::Completion;
pub use error::{BlasError, BlasResult};
pub use gemm::gemm;
pub use lattice_compute::scalar::{Factor, Scalar};
pub use level1::{
    Sum, asum, axpby, axpy, axpy_norm2, copy, cr_direction, cr_step, dot, dot_norm2, dotc, dotu, iamax,
    norm2, nrm2, scal, swap, xpby,
};
pub use level2::{gemv, ger, gerc};
pub use level3::{Diagonal, Side, Triangle, hemm, her2k, herk, symm, syr2k, syrk};
pub use matrix::{MatMut, MatRef, MatrixLayout, Order};
pub use op::Op;
pub use triangular::{trmm, trsm};
pub use vector::{VecMut, VecRef, VectorLayout};

/// The example of the book's page with matrices of faer, which runs as a test.
#[cfg(all(doctest, feature = "faer"))]
#[doc = include_str!("../../../docs/dense-algebra.md")]
struct PageExamples;
