//! Several processes of one job, by whichever MPI library is there at run time.
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
//! * A [`Launcher`] says that a process is one of several. Without one no library is opened.
//! * A [`World`] is all of them. Its methods are collective but for [`exchange`](World::exchange) and [`abort`](World::abort): every rank calls
//!   them in the same order.
//! * Everything travels as bytes. Sums are gathered, and added by who wants them in the order of the ranks, so that they have the same
//!   bits everywhere.
//! * No header of an MPI is needed: `abi` has the few constants in which libraries differ.
//!
//! *Architecture invariant:* no other crate of the workspace names a function of MPI.

#![allow(unsafe_code)]
#![deny(clippy::undocumented_unsafe_blocks)]

mod abi;
mod error;
mod launcher;
mod library;
mod world;

pub use error::MpiError;
pub use launcher::{Family, LIBRARY_VARIABLE, Launcher};
pub use world::{Incoming, Outgoing, World};
