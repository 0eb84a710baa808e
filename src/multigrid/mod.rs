//! An adaptive multigrid method for Dirac operators.
//!
//! Near-null vectors of M span the space of a coarse operator V† M V, block by block and each
//! chirality for itself. A smoother removes the parts that this space cannot represent.
//!
//! Sources: J. Brannick, R. C. Brower, M. A. Clark, J. C. Osborn and C. Rebbi, Phys. Rev. Lett. 100
//! (2008) 041601; A. Frommer, K. Kahl, S. Krieg, B. Leder and M. Rottmann, SIAM J. Sci. Comput. 36
//! (2014) A1581.
//!
//! | file | content |
//! |---|---|
//! | `cycle_kind` | V-cycles and K-cycles |
//! | `params` | parameters, and the blocks that suit a lattice |
//! | `random` | random vectors to start from |
//! | `near_null` | near-null vectors |
//! | `orthonormal` | near-null vectors, orthonormal in blocks |
//! | `transfer` | restriction and prolongation |
//! | `galerkin` | the coarse operator V† M V |
//! | `raw_blocks` | the blocks of a coarse operator, as they are made |
//! | `coarse_operator` | a coarse operator and its Schur complement |
//! | `inverse` | the inverse of a dense matrix |
//! | `dense` | the inverse of the system of a small coarsest level |
//! | `expected` | the work expected of a method before its set-up |
//! | `finer` | the operations that a level needs to have a coarser one |
//! | `finer_sites` | the sites that a transfer restricts from |
//! | `room` | the memory that a set-up takes |
//! | `setup` | the set-up, level by level |
//! | `raw_vectors` | near-null vectors in host memory before they are orthonormal |
//! | `kept_setup` | the parts of a set-up that are kept |
//! | `setup_file` | the parts of a set-up in a file |
//! | `hierarchy` | the way of a residual through the levels |
//! | `finest` | the levels, with the finest one in the chosen precision |
//! | `solve` | [`Multigrid`], which solves |
//!
//! The cycle itself is in [`lattice_solvers`].

mod block;
mod coarse_lattice;
mod coarse_operator;
mod coarse_space;
mod cycle_kind;
mod dense;
mod error;
mod expected;
mod finer;
mod finer_sites;
mod finest;
mod galerkin;
mod hierarchy;
mod inverse;
mod kept;
mod kept_setup;
mod kernels;
mod near_null;
mod orthonormal;
mod params;
mod random;
mod raw_blocks;
mod raw_vectors;
mod room;
mod setup;
mod setup_file;
mod setup_kernels;
mod solve;
mod transfer;

pub use block::Block;
pub use cycle_kind::CycleKind;
pub use error::{SetupError, SetupFileError};
pub use expected::ExpectedWork;
pub use params::{MOST_DEGREE, MOST_SETUP_ITERATIONS, MOST_VECTORS, MultigridParams};
pub(crate) use room::{Bytes, bytes};
pub use setup::{LevelsInfo, SetupProgress, SetupWatch};
pub use solve::{Multigrid, SetupFile};

#[cfg(test)]
mod tests;
