//! Krylov solvers over two traits.
//!
//! A solver needs a [`VectorSpace`] (make a vector, add vectors, take inner products) and a
//! [`LinearOperator`] on it. It knows nothing of lattices or devices, and cannot tell where the vectors live.
//!
//! | method | for | each iteration |
//! |---|---|---|
//! | [`conjugate_residual`] | Hermitian A, and with [`Recurrence::General`] any A | one application of A, ‖r‖ never grows |
//! | [`conjugate_gradient`] | Hermitian positive definite A | one application of A |
//! | [`bicgstab`] | any A whose Hermitian part is definite, or nearly so | two applications of A |
//!
//! Each takes `Params` with documented defaults and returns the solution with a [`SolverInfo`], or a
//! [`SolverError`] that carries the best iterate and the residual history. A solution is only ever returned
//! after the *true* residual was computed from its definition and found below the tolerance.
#![forbid(unsafe_code)]

mod best;
mod bicgstab;
mod conjugate_gradient;
mod conjugate_residual;
mod convergence;
mod operator;
mod outcome;
mod space;

pub use bicgstab::{BicgstabParams, bicgstab};
pub use conjugate_gradient::{CgParams, conjugate_gradient};
pub use conjugate_residual::{CrParams, Recurrence, conjugate_residual};
pub use convergence::{Replacement, ResidualOf, Stopping, TrueResidual};
pub use operator::LinearOperator;
pub use outcome::{Failure, Residual, Solution, SolverError, SolverInfo, Work};
pub use space::VectorSpace;

/// The vectors that an operator acts on.
pub type VectorOf<A> = <<A as LinearOperator>::Space as VectorSpace>::Vector;
/// The numbers that vectors are multiplied with.
pub type ScalarOf<A> = <<A as LinearOperator>::Space as VectorSpace>::Scalar;
/// What can go wrong in the space that an operator acts on.
pub type ErrorOf<A> = <<A as LinearOperator>::Space as VectorSpace>::Error;
