//! The residual that counts, if it is not the residual of the iterated system.

use crate::VectorSpace;

/// The computation of the relative residual that counts.
///
/// The iterated system need not be the one to be solved. For the normal equations M†M x = M†b the
/// residual that counts is ‖b − M x‖ / ‖b‖. `None` in a solver's argument stands for ‖b − A x‖ /
/// ‖b‖.
pub enum TrueResidual<'a, S: VectorSpace> {
    /// Computes the residual of an iterate, from its definition.
    Computed(&'a mut ResidualOf<'a, S>),
    /// Keeps an iteration in low precision on course by replacing its residual.
    ///
    /// The solution is kept elsewhere, in high precision, and the iteration finds corrections to
    /// it. Sources: H. A. van der Vorst and Q. Ye, SIAM J. Sci. Comput. 22 (2000) 835; M. A. Clark
    /// et al., Comput. Phys. Commun. 181 (2010) 1517.
    Replaced {
        /// Function that adds x to the solution and replaces the residual.
        ///
        /// It sets x = 0 and r = b − A·solution, and returns the new residual.
        replace: &'a mut Replacement<'a, S>,
        /// Fraction of ‖r‖ at which the residual is replaced.
        ///
        /// The fraction is relative to ‖r‖ after the last replacement.
        at: f64,
    },
}

/// The function of [`TrueResidual::Computed`].
pub type ResidualOf<'a, S> =
    dyn FnMut(&<S as VectorSpace>::Vector) -> Result<f64, <S as VectorSpace>::Error> + 'a;

/// The function of [`TrueResidual::Replaced`].
pub type Replacement<'a, S> =
    dyn FnMut(&mut <S as VectorSpace>::Vector, &mut <S as VectorSpace>::Vector) -> ReplacementOf<S> + 'a;

/// The result of a [`Replacement`].
type ReplacementOf<S> = Result<Replaced<<S as VectorSpace>::Scalar>, <S as VectorSpace>::Error>;

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
