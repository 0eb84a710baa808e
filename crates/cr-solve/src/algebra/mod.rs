//! Commands for sparse and dense linear algebra.

pub mod dense;
pub mod solve;
pub mod spectral;
