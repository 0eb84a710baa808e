//! The twins of the kernels.
//!
//! They work on ordinary memory and follow the mathematics as directly as possible. Dense ones obey
//! f(sA) = sᵖ f(A) for every power of two s. `tests/scale.rs` has a table of them.

pub mod cholesky;
mod elements;
pub mod fft;
pub mod gemm;
pub mod jacobi;
pub mod level1;
pub mod level2;
pub mod lu;
pub mod mixed;
pub mod qr;
mod reflector;
mod safe_squares;
pub mod secular;
pub mod sparse;
pub mod triangular;
pub mod tridiagonal;

pub use safe_squares::SafeSquares;
