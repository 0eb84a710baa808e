//! Several processes of one job, by the MPI library that is there at run time.
//!
//! ```no_run
//! use lattice_mpi::{Launcher, World};
//!
//! # fn main() -> Result<(), lattice_mpi::MpiError> {
//! if let Some(launcher) = Launcher::of_this_process() {
//!     let world = World::open(&launcher)?;
//!     let squares = world.gather(&[(world.rank() * world.rank()) as u8])?;
//!     assert_eq!(squares.len(), world.size());
//!     world.end(0, None);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! * A [`Launcher`] says that a process is one of several. Without a launcher no library is opened.
//! * A [`World`] is all processes. Every rank calls its methods in the same order, except
//!   [`exchange`](World::exchange) and [`abort`](World::abort), which are not collective.
//! * A [`Post`] hands file descriptors from rank to rank, if all ranks are on one machine.
//! * Ranks give each other signs of life. Nobody waits for a rank that is stopped or gone for
//!   longer than the [`Patience`].
//! * Everything travels as bytes. Sums are gathered, and each rank adds them in the order of the
//!   ranks. So sums have the same bits everywhere.
//! * No header of an MPI is needed: `abi` has the few constants in which libraries differ.
//!
//! *Architecture invariant:* no other crate of the workspace names a function of MPI.

#![allow(unsafe_code)]
#![deny(clippy::undocumented_unsafe_blocks)]

mod abi;
mod beginning;
mod error;
mod launcher;
mod library;
mod patience;
#[cfg(target_os = "linux")]
mod post;
#[cfg(not(target_os = "linux"))]
#[path = "post_elsewhere.rs"]
mod post;
mod ring;
mod world;

pub use error::MpiError;
pub use launcher::{Family, LIBRARY_VARIABLE, Launcher, PATIENCE_VARIABLE};
pub use patience::{LastWords, Patience};
pub use post::Post;
pub use world::{Incoming, Outgoing, World};

// One program tests the crate from within and from outside.
#[cfg(test)]
extern crate self as lattice_mpi;
#[cfg(test)]
#[path = "../tests/all.rs"]
mod from_outside;
