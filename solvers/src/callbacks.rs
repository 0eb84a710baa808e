//! Callbacks of a solve: computation of the residual, and a keeper of states.

use crate::keeper::StateKeeper;
use crate::true_residual::TrueResidual;
use crate::{ErrorOf, LinearOperator, VectorOf};

/// Callbacks of a solve that is under way.
///
/// `into` makes them from a [`TrueResidual`] alone, or from `None`.
pub struct Callbacks<'a, A: LinearOperator> {
    /// Computation of the residual that counts.
    ///
    /// `None` stands for ‖b − A x‖ / ‖b‖.
    pub true_residual: Option<TrueResidual<'a, A>>,
    /// Observer of the solve and keeper of its states, if there is one.
    pub keeper: Option<&'a mut dyn StateKeeper<VectorOf<A>, ErrorOf<A>>>,
}

impl<'a, A: LinearOperator> From<Option<TrueResidual<'a, A>>> for Callbacks<'a, A> {
    fn from(true_residual: Option<TrueResidual<'a, A>>) -> Self {
        Self { true_residual, keeper: None }
    }
}

impl<'a, A: LinearOperator> Callbacks<'a, A> {
    /// Returns the same callbacks for another operator on the same space.
    pub fn for_operator<B>(self) -> Callbacks<'a, B>
    where
        B: LinearOperator<Space = A::Space>,
    {
        let Self { true_residual, keeper } = self;
        Callbacks { true_residual: true_residual.map(TrueResidual::for_operator), keeper }
    }
}
