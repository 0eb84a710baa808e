//! Krylov solvers over two traits.
//!
//! A solver needs a [`VectorSpace`] (make a vector, add vectors, take inner products) and a
//! [`LinearOperator`] on this space. A solver knows nothing of lattices or devices, and cannot tell
//! where the vectors live.
//!
//! | method | for | each iteration |
//! |---|---|---|
//! | [`conjugate_residual`] | Hermitian A, and with [`Recurrence::General`] any A | one application of A, ‖r‖ never grows |
//! | [`minres`] | Hermitian A, also where [`conjugate_residual`] breaks down | one application of A and of the preconditioner, two sums read, ‖r‖ never grows without one |
//! | [`conjugate_gradient`] | Hermitian positive definite A | one application of A and of the preconditioner |
//! | [`multi_shift_cg`] | Hermitian positive definite A, with many shifts A + σ at once | one application of A |
//! | [`block_conjugate_gradient`] | Hermitian positive definite A, with several columns at once, on a [`BlockSpace`] | one application of A to all columns |
//! | [`cgne`] | any A that is not singular, with its adjoint | one application of each, ‖x − A⁻¹b‖ never grows |
//! | [`bicgstab`] | any A whose Hermitian part is definite, or nearly so | two applications of A |
//! | [`bicgstab_l`] | the same, and complex eigenvalues far from the real axis | 2ℓ applications of A |
//! | [`gcr`] | any A whose Hermitian part is definite, with any other method as [`Preconditioner`] | one application of A and of the preconditioner, ‖r‖ never grows |
//! | [`minimal_residual`] | the same; a few steps of it smooth and precondition ([`MrSmoother`]) | one application of A, ‖r‖ never grows |
//!
//! A [`Preconditioner`] of [`conjugate_gradient`] and [`minres`] is Hermitian and positive definite.
//! The one of [`gcr`] may be anything; if it gives A z with z, like the [`Cycle`] of a multigrid
//! method, A is not applied. [`RightPreconditioned`] gives a fixed one to any other method.
//!
//! [`thick_restart_lanczos`] finds eigenvectors of Hermitian operators at an end of the spectrum, and
//! [`modes_nearest_zero`] those of indefinite ones.
//!
//! A method's other operations on vectors are written as formulas. A space carries out a formula in
//! one pass over memory ([`mod@update`]).
//!
//! Each method takes options with documented defaults. It returns the solution with a
//! [`SolverInfo`], or a [`SolverError`] that carries the best iterate and the residual history. A
//! solution is only ever returned after the *true* residual was computed from its definition and
//! found below the tolerance.
//!
//! On ordinary vectors an operator is a closure ([`mod@vec`]). The example solves −u″ = 1 on 100
//! points, with u = 0 at both ends:
//!
//! ```
//! use lattice_solvers::{CgOptions, conjugate_gradient, vec::from_fn};
//!
//! let laplacian = from_fn(100, |u: &[f64], out: &mut [f64]| {
//!     let at = |i: usize| u.get(i).copied().unwrap_or(0.0);
//!     (0..100).for_each(|i| out[i] = 2.0 * u[i] - at(i.wrapping_sub(1)) - at(i + 1));
//! });
//! let (u, info) = conjugate_gradient(&laplacian, &vec![1.0; 100], None, &CgOptions::default(), None, None)?;
//! assert!((u[49] - 50.0 * 51.0 / 2.0).abs() < 1e-6 && info.residual.true_residual <= 1e-10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The norm of a right-hand side must be between 10⁻⁵⁰ and 10⁵⁰, or b = 0. Products of other norms
//! would under- or overflow, and residuals would be false. So other right-hand sides are refused
//! ([`SourceError`]), with the power of two to multiply them by.
#![forbid(unsafe_code)]

mod advance;
mod best;
mod bicgstab;
mod bicgstab_l;
mod block_conjugate_gradient;
mod block_recurrence;
mod block_space;
mod breakdown;
mod callbacks;
mod cg_options;
mod cgne;
mod clock;
mod conjugate_gradient;
mod conjugate_residual;
mod curvature;
mod cycle;
mod gcr;
mod hermitian_eigen;
mod keeper;
mod lanczos;
mod method;
mod minimal_residual;
mod minres;
mod minres_options;
mod minres_rotations;
mod multi_shift;
mod operator;
mod outcome;
mod pace;
mod polynomial;
mod preconditioned_cg;
mod preconditioned_minres;
mod preconditioner;
mod progress;
pub mod range;
mod rehearsal;
mod right_preconditioned;
mod shadow;
mod source;
mod space;
mod square_matrix;
mod state;
mod stopping;
mod task;
mod true_residual;
pub mod update;
pub mod vec;
mod work;

pub use advance::Advance;
pub use bicgstab::{BicgstabOptions, bicgstab};
pub use bicgstab_l::{BicgstabLOptions, bicgstab_l};
pub use block_conjugate_gradient::{
    Block, BlockCallbacks, BlockCgOptions, BlockResiduals, block_conjugate_gradient,
};
pub use block_recurrence::{BlockEvent, BlockRecurrence, Due, Limits};
pub use block_space::{BlockOperator, BlockSpace, RecurrenceOf, gram_work, subtraction_work};
pub use callbacks::Callbacks;
pub use cg_options::CgOptions;
pub use cgne::cgne;
pub use conjugate_gradient::conjugate_gradient;
pub use conjugate_residual::{CrOptions, Recurrence, conjugate_residual};
pub use cycle::{CoarseCorrection, CoarseSolve, Cycle};
pub use gcr::{GcrOptions, gcr};
pub use hermitian_eigen::{HermitianEigen, NoEigenvalue, tridiagonal_eigen};
pub use keeper::{Look, StateKeeper, Watching, Wish};
pub use lanczos::{
    Columns, LanczosCallbacks, LanczosError, LanczosInfo, LanczosLook, LanczosOptions, Mode, RandomVector,
    SpectrumEnd, modes_nearest_zero, modes_nearest_zero_on_columns, rayleigh_ritz, thick_restart_lanczos,
    thick_restart_lanczos_on_columns,
};
pub use method::Method;
pub use minimal_residual::{MrOptions, MrSmoother, minimal_residual};
pub use minres::minres;
pub use minres_options::MinresOptions;
pub use multi_shift::{MultiShiftOptions, Shifted, multi_shift_cg};
pub use operator::{LinearOperator, Operator};
pub use outcome::{Failure, Residual, Solution, SolverError, SolverInfo};
pub use polynomial::Polynomial;
pub use preconditioner::{OperatorPreconditioner, Preconditioned, Preconditioner};
pub use right_preconditioned::RightPreconditioned;
pub use source::{SourceError, power_of_source};
pub use space::VectorSpace;
pub use square_matrix::{Cholesky, SquareMatrix};
pub use state::{ForeignState, Name, SolverState};
pub use stopping::Stopping;
pub use task::{Accepts, MethodOptions, Needs, Task};
pub use true_residual::{Replaced, Replacement, ResidualOf, TrueResidual};
pub use work::Work;

/// The vectors that an operator acts on.
pub type VectorOf<A> = <<A as LinearOperator>::Space as VectorSpace>::Vector;
/// The numbers that vectors are multiplied with.
pub type ScalarOf<A> = <<A as LinearOperator>::Space as VectorSpace>::Scalar;
/// The errors of the space on which an operator acts.
pub type ErrorOf<A> = <<A as LinearOperator>::Space as VectorSpace>::Error;

// One program tests the crate from within and from outside.
#[cfg(test)]
extern crate self as lattice_solvers;
#[cfg(test)]
#[path = "../tests/all.rs"]
mod from_outside;
