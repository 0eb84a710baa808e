//! Dirac operators on lattice fields, and solving with them.

mod attempts;
mod auto;
mod block;
mod checkpoints;
mod even_odd;
mod experience;
mod forms;
mod multi_shift;
mod plan;
mod programs;
mod schur_complement;
mod solve;
mod sources;
mod stencil;
mod stencil_kernels;
mod stencil_tuning;
mod stencil_variants;
mod systems;
mod traversal;
mod wilson;

pub use attempts::{Attempt, Earlier, KeptChoice};
pub use auto::{Auto, AutoParams, AutoSolution, Watch};
pub use block::{BlockCgParams, BlockSolution, block_cg, block_cg_with_checkpoints};
pub use checkpoints::Checkpoints;
pub use even_odd::{HopEvenOdd, HopOptions};
pub use multi_shift::{MultiShiftCgParams, ShiftedSolutions, multi_shift_cg, multi_shift_cg_watched};
pub use plan::{Inner, IterationPrecision, Preconditioning};
pub use programs::{build_programs_of_solve, programs_of_solve};
pub use schur_complement::SchurComplement;
pub use solve::{
    BicgstabLParams, BicgstabParams, CgParams, CrParams, GcrParams, InvertError, MrParams, SolveParams,
    bicgstab, bicgstab_l, cg, cgne, cr, cr_from, gcr, mr, solve_with_checkpoints,
};
pub use stencil_kernels::Ending;
pub use stencil_tuning::{Tuned, kernels_to_tune, steps as tuning_steps, tune_stencil};
pub use stencil_variants::Tuning;
pub use systems::{Normal, System};
pub use wilson::{Coupling, CouplingError, Kappa, Mass, Wilson, WilsonError, WilsonOptions};
