//! The residual that counts, if it is not the residual of the iterated system.

use crate::{ErrorOf, LinearOperator, ScalarOf, VectorOf};

/// The computation of the relative residual that counts.
///
/// The iterated system need not be the one to be solved. For the normal equations M†M x = M†b the
/// residual that counts is ‖b − M x‖ / ‖b‖. `None` in a solver's argument stands for ‖b − A x‖ /
/// ‖b‖.
pub enum TrueResidual<'a, A: LinearOperator> {
    /// Computes the residual of an iterate, from its definition.
    Computed(&'a mut ResidualOf<'a, A>),
    /// Keeps an iteration in low precision on course by replacing its residual.
    ///
    /// The solution is kept elsewhere, in high precision, and the iteration finds corrections to
    /// it. Sources: H. A. van der Vorst and Q. Ye, SIAM J. Sci. Comput. 22 (2000) 835; M. A. Clark
    /// et al., Comput. Phys. Commun. 181 (2010) 1517.
    Replaced {
        /// Function that adds x to the solution and replaces the residual.
        ///
        /// It sets x = 0 and r = b − A·solution, and returns the new residual.
        replace: &'a mut Replacement<'a, A>,
        /// Fraction of ‖r‖ at which the residual is replaced.
        ///
        /// The fraction is relative to ‖r‖ after the last replacement.
        at: f64,
    },
}

impl<'a, A: LinearOperator> TrueResidual<'a, A> {
    /// Returns the same computation for another operator on the same space.
    ///
    /// The computation does not depend on the iterated operator.
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

/// The function of [`TrueResidual::Computed`].
pub type ResidualOf<'a, A> = dyn FnMut(&VectorOf<A>) -> Result<f64, ErrorOf<A>> + 'a;

/// The function of [`TrueResidual::Replaced`].
pub type Replacement<'a, A> =
    dyn FnMut(&mut VectorOf<A>, &mut VectorOf<A>) -> Result<Replaced<ScalarOf<A>>, ErrorOf<A>> + 'a;

/// A residual that was replaced.
#[derive(Clone, Debug)]
pub struct Replaced<S> {
    /// The residual of the solution that counts.
    pub true_residual: f64,
    /// The scalar (r, r).
    ///
    /// The function that replaces reads it and its value at once.
    pub r_norm2: S,
    /// The value of `r_norm2`.
    pub value: f64,
}
