//! Solving with Dirac operators.

mod attempts;
mod auto;
mod best_solution;
mod checkpoints;
mod columns;
mod error;
mod experience;
mod iteration;
mod method_macros;
mod methods;
mod multi_shift;
mod needs;
mod params;
mod plan;
mod precision;
mod programs;
mod sources;
mod start;

pub use attempts::{Attempt, Earlier, KeptChoice};
pub(crate) use auto::First;
pub use auto::{Auto, AutoParams, AutoSolution, Watch};
pub use checkpoints::Checkpoints;
pub(crate) use checkpoints::Keeper;
pub use columns::{BlockCgParams, BlockSolution, block_cg, block_cg_from, block_cg_with_checkpoints};
pub use error::InvertError;
pub use methods::*;
pub(crate) use methods::{Cycles, solve_deflated, solve_preconditioned, true_residuals};
pub use multi_shift::{MultiShiftCgParams, ShiftedSolutions, multi_shift_cg, multi_shift_cg_watched};
pub(crate) use needs::{FieldSizes, Fields};
pub use params::*;
pub use plan::{Inner, IterationPrecision, Preconditioning};
pub use programs::{build_programs_of_solve, programs_of_solve};
pub(crate) use start::Deflate;

#[cfg(test)]
mod tests;
