//! Loops that all cores of the host share.
//!
//! Methods have the names and the meaning of `rayon`, whose threads do the work. The difference is
//! in the machine code: one function for all loops hands their pieces to threads. Every loop of
//! `rayon` is compiled with a scheduler of its own.
//!
//! Results do not depend on the number of threads, unless an ending says so.
//!
//! ```
//! use lattice_compute::parallel::*;
//!
//! let squares: Vec<usize> = (0..1000).into_par_iter().map(|k| k * k).collect();
//! let mut sums = vec![0; 10];
//! sums.par_iter_mut().zip(squares.par_chunks(100)).for_each(|(sum, squares)| *sum = squares.iter().sum());
//! assert_eq!(sums.iter().sum::<usize>(), 332_833_500);
//! ```

mod adapters;
mod collect;
mod endings;
mod pieces;
mod sequence;
mod sources;

pub use adapters::{Adapters, IndexedAdapters};
pub use collect::FromParallel;
pub use endings::Endings;
pub use sequence::{Indexed, Parallel};
pub use sources::{IntoParallel, ParallelSlice};

#[cfg(test)]
mod tests;
