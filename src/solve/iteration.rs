//! What a method is run on, and what it returns.

use crate::device::DeviceError;
use crate::operator::DiracOperator;
use lattice_solvers::{Callbacks, Solution, SolverError, Stopping, VectorOf};

/// What a method returns: a solution or the best iterate.
pub(crate) type Outcome<V> = Result<Solution<V>, SolverError<V, DeviceError>>;

/// What running a method ends with. Errors are those of making its system.
pub(crate) type Iterated<A> = Result<Outcome<VectorOf<A>>, DeviceError>;

/// What a method is run on.
pub(crate) struct Iteration<'a, 'c, A: DiracOperator> {
    /// A, of which the method iterates the system of its row: A itself, γ5A or A†A.
    pub operator: &'a A,
    /// The right-hand side of that system.
    pub source: &'a VectorOf<A>,
    /// The initial guess.
    pub guess: Option<&'a VectorOf<A>>,
    /// When to stop.
    pub stopping: Stopping,
    /// The residual that counts, and who keeps states.
    pub callbacks: Callbacks<'c, A>,
}
