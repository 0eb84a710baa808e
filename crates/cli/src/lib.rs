//! The options, devices, results and failures that every command of `cr-solve` shares.
//!
//! Results go to standard output, as text or with `--json` as one object. Everything else goes to
//! standard error. [`failure`] has the exit statuses. [`lattice`] has what needs lattices.

pub mod agreement;
pub mod choices;
pub mod common;
pub mod destinations;
pub mod extents;
pub mod failure;
pub mod finite;
pub mod forces;
pub mod interrupt;
pub mod lattice;
pub mod matrix_source;
pub mod memory;
pub mod molecule;
pub mod numbers;
pub mod page;
pub mod plot;
pub mod precisions;
mod progress;
pub mod provenance;
pub mod ranks;
pub mod report;
pub mod team;
