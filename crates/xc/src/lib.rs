//! Exchange-correlation energies, matrices and gradients of density-functional theory.
//!
//! Densities are matrices in Gaussian functions; integrals are sums over the points of a grid.
//! Hartree atomic units: bohr, hartree, e. Matrices are row after row.
//!
//! [`Plan`] is where to begin. A plan cuts the grid into groups of points that lie together. Each
//! group takes only the functions that are significant there, so that nearly all work is in small
//! matrix products, which devices do in one launch ([`lattice_linalg::gemm::Grouped`]). The kernels
//! are in `cl/`, their readable twin is in `host/`. A team without a device is the host, which
//! computes in double by the twin.

mod basis;
mod density;
mod device;
mod error;
pub mod functional;
mod grid;
mod groups;
mod harmonics;
mod host;
mod molden;
mod overlap;
mod plan;
mod stages;
mod tables;

pub use basis::{Atom, Basis, Shell};
pub use density::Density;
pub use error::{XcError, XcResult};
pub use functional::Functional;
pub use grid::Grid;
pub use lattice_compute::schedule::Move;
pub use molden::{Molden, MoldenError};
pub use plan::{Numbers, Options, Plan, PlanInfo, Share, Spread, Xc};
pub use stages::{Stage, StageTime};

/// The examples of the book's page, which run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/xc.md")]
struct PageExamples;

// One program tests the crate from within and from outside.
#[cfg(test)]
extern crate self as lattice_xc;
#[cfg(test)]
#[path = "../tests/all.rs"]
mod from_outside;
