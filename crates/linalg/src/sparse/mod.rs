//! Sparse matrices: files, formats, products, preconditioners.
//!
//! A [`Csr`] lies in the host's memory. It comes from a file ([`market`]), from a list of entries
//! ([`Coo`]) or from a model [`Problem`]. A [`Matrix`] is the same matrix on a [`Processor`], a device
//! or the host, in the [`Format`] of the fewest bytes. It multiplies, and it is a
//! [`LinearOperator`](lattice_solvers::LinearOperator) on the [`Space`] of [`Vector`]s there.
//! [`precondition`] has preconditioners for the methods of `lattice-solvers`.
//!
//! Sums are made in an order that depends on nothing but matrix and device. So a product has the
//! same bits every time.

mod arithmetic;
mod colouring;
mod columns;
mod coo;
mod csr;
mod extents;
mod format;
mod kernels;
pub mod market;
mod matching;
mod matrix;
mod packs;
pub mod precondition;
mod problem;
mod processor;
pub mod solve;
mod space;
pub mod team;
mod vector;

pub use columns::{Columns, ColumnsError, read_vectors};
pub use coo::{Coo, Entry, Mirror};
pub use csr::{Asymmetry, Csr};
pub use extents::{TooEmpty, expect_dense, expect_supported};
pub use format::{Format, natural_block, zero_on_diagonal};
pub use matching::{Matching, Unmatched};
pub use matrix::{FormatError, Matrix, MatrixOptions, TunedFormat, tune_format};
pub use problem::{NoProblem, Problem};
pub use processor::Processor;
pub use space::Space;
pub use vector::Vector;
