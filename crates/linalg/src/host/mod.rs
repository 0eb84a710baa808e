//! The twins of the kernels: ordinary memory, and the mathematics as directly as it can be said.

pub mod gemm;
pub mod level1;
pub mod level2;
mod safe_squares;

pub use safe_squares::SafeSquares;
