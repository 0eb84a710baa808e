//! Poisson's equation ∇²V = −4πρ for charge densities on meshes.
//!
//! Hartree atomic units: bohr, hartree, e. Rows of a [`Cell`] are its vectors a₁, a₂, a₃. Meshes
//! have the third index fastest, unless a [`MeshOrder`] says otherwise. Mesh point (i, j, k) of an
//! n₁×n₂×n₃ mesh lies at (i/n₁) a₁ + (j/n₂) a₂ + (k/n₃) a₃.
//!
//! [`Plan`] is where to begin. The kernels are in `cl/poisson.cl`. The host solves in double, by
//! the plain algorithm that is the kernels' twin.

mod cell;
mod coulomb;
mod device;
mod error;
mod host;
mod numbers;
mod order;
mod plan;
mod share;
mod slabs;
mod sums;
mod transfer;

pub use cell::{Cell, CellError};
pub use coulomb::Cutoff;
pub use error::{PoissonError, PoissonResult};
pub use order::{MeshOrder, reorder};
pub use plan::{Boundary, Options, Plan, Solution, Units};
pub use sums::{Stress, TENSOR_AXES, Tensor};
pub use transfer::Times;

/// The examples of the book's page, which run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/poisson.md")]
struct PageExamples;

// One program tests the crate from within and from outside.
#[cfg(test)]
extern crate self as lattice_poisson;
#[cfg(test)]
#[path = "../tests/all.rs"]
mod from_outside;
