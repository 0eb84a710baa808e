//! The reasons why a solve ends without a solution.

use super::attempts::{Attempt, InOrder};
use crate::compute::DeviceError;
use crate::field::SpinorField;
use crate::geometry::LatticeError;
use lattice_files::number::shown;
use lattice_solvers::{Failure, ForeignState, SolverInfo, SourceError};

/// The reason why there is no solution.
#[derive(Debug, thiserror::Error)]
pub enum InvertError {
    /// The method gave up. The best iterate is kept here.
    #[error("no convergence after {} iterations: {failure}", info.iterations)]
    NotConverged {
        /// The reason.
        failure: Failure,
        /// The best iterate.
        best: Box<SpinorField<f64>>,
        /// The report of the solve, with the residual of the best iterate.
        info: Box<SolverInfo>,
    },
    /// Every method that [`Auto`](super::Auto) tried gave up.
    #[error("no convergence after {} iterations: {}", info.iterations, InOrder(attempts))]
    AllGaveUp {
        /// The reason why the last method gave up.
        failure: Failure,
        /// The best iterate of all; zero if no iterate came nearer to the solution.
        best: Box<SpinorField<f64>>,
        /// The report of the solve, for all methods together.
        info: Box<SolverInfo>,
        /// The methods, in the order in which they were tried.
        attempts: Vec<Attempt>,
    },
    /// A parameter makes no sense.
    #[error("{name} = {value} is not allowed: {allowed}", value = shown(.value))]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The parameter's value.
        value: f64,
        /// The values that are allowed.
        allowed: &'static str,
    },
    /// The Hermitian system was asked for, but γ5 M is not Hermitian.
    #[error(
        "the Hermitian system γ5 M x = γ5 b is not Hermitian for this operator (one flavour of twisted mass, or a clover term with symmetric even-odd preconditioning); iterate the normal or the direct system"
    )]
    NotHermitian,
    /// The right-hand side cannot be solved for.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The state to go on from belongs to another method.
    #[error(transparent)]
    ForeignState(ForeignState),
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
}

impl From<DeviceError> for InvertError {
    fn from(error: DeviceError) -> Self {
        InvertError::Lattice(error.into())
    }
}
