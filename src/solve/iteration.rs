//! The input and the result of a method.

use crate::compute::DeviceError;
use crate::operator::DiracOperator;
use lattice_solvers::{Callbacks, Solution, SolverError, Stopping, VectorOf};

/// The result of a method: a solution or the best iterate.
pub(crate) type MethodResult<V> = Result<Solution<V>, SolverError<V, DeviceError>>;

/// The result of running a method. The errors come from making its system.
pub(crate) type Iterated<A> = Result<MethodResult<VectorOf<A>>, DeviceError>;

/// The input of a method.
pub(crate) struct Iteration<'a, 'c, A: DiracOperator> {
    /// The operator A. The method iterates the system of its row: A itself, γ5A or A†A.
    pub operator: &'a A,
    /// The right-hand side of the system of `operator`.
    pub source: &'a VectorOf<A>,
    /// The initial guess.
    pub guess: Option<&'a VectorOf<A>>,
    /// When to stop.
    pub stopping: Stopping,
    /// The residual that counts, and the keeper of states.
    pub callbacks: Callbacks<'c, A::Space>,
}
