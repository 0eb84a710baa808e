//! The residual that counts, where it is not that of the system that is iterated.

use crate::{ErrorOf, LinearOperator, ScalarOf, VectorOf};

/// What computes the relative residual that counts.
///
/// The system that is iterated need not be the one that is to be solved: for the normal equations
/// M†M x = M†b it is ‖b − M x‖ / ‖b‖ that counts. `None` in a solver's argument stands for ‖b − A x‖ / ‖b‖.
pub enum TrueResidual<'a, A: LinearOperator> {
    /// Computes it for an iterate, from its definition.
    Computed(&'a mut ResidualOf<'a, A>),
    /// Keeps an iteration in low precision on course (H. A. van der Vorst and Q. Ye, SIAM J. Sci. Comput. 22 (2000) 835; M. A. Clark et al.,
    /// Comput. Phys. Commun. 181 (2010) 1517). The solution is kept elsewhere, in high precision, and the iteration finds corrections to it.
    Replaced {
        /// Adds x to the solution, sets x = 0 and r = b − A·solution, and says what that is.
        replace: &'a mut Replacement<'a, A>,
        /// It is done when ‖r‖ has fallen to this fraction of what it was after the last time.
        at: f64,
    },
}

impl<'a, A: LinearOperator> TrueResidual<'a, A> {
    /// The same for another operator on the same space: which one is iterated does not matter to it.
    pub fn for_operator<B>(self) -> TrueResidual<'a, B>
    where
        B: LinearOperator<Space = A::Space>,
    {
        match self {
            TrueResidual::Computed(residual) => TrueResidual::Computed(residual),
            TrueResidual::Replaced { replace, at } => TrueResidual::Replaced { replace, at },
        }
    }
}

/// See [`TrueResidual::Computed`].
pub type ResidualOf<'a, A> = dyn FnMut(&VectorOf<A>) -> Result<f64, ErrorOf<A>> + 'a;

/// See [`TrueResidual::Replaced`].
pub type Replacement<'a, A> =
    dyn FnMut(&mut VectorOf<A>, &mut VectorOf<A>) -> Result<Replaced<ScalarOf<A>>, ErrorOf<A>> + 'a;

/// A residual that was replaced.
#[derive(Clone, Debug)]
pub struct Replaced<S> {
    /// The residual of the solution that counts.
    pub true_residual: f64,
    /// (r, r), and its value: whoever replaces reads both at once.
    pub r_norm2: S,
    /// The value of `r_norm2`.
    pub value: f64,
}
