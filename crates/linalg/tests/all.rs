//! Tests of the library from outside, a module for each subject.

#[macro_use]
mod common;
mod matrices;

mod batch;
mod cholesky;
mod constrained;
mod eigen;
#[cfg(feature = "faer")]
mod faer_matrices;
mod grouped;
mod half;
mod lu;
mod market;
mod mixed;
#[cfg(feature = "ndarray")]
mod ndarray_views;
mod qr;
mod scale;
mod sparse_products;
mod sparse_solves;
mod sparse_systems;
mod sparse_teams;
mod split_factor;
mod svd;
mod triangular;
