//! What a solve asks and tells others while it goes on.

use crate::keeper::StateKeeper;
use crate::true_residual::TrueResidual;
use crate::{ErrorOf, LinearOperator, VectorOf};

/// What a solve asks and tells others while it goes on. Made of a [`TrueResidual`] alone, or of `None`, by `into`.
pub struct Callbacks<'a, A: LinearOperator> {
    /// Computes the residual that counts; `None` stands for ‖b − A x‖ / ‖b‖.
    pub true_residual: Option<TrueResidual<'a, A>>,
    /// Watches the solve and keeps its states, if anybody does.
    pub keeper: Option<&'a mut dyn StateKeeper<VectorOf<A>, ErrorOf<A>>>,
}

impl<'a, A: LinearOperator> From<Option<TrueResidual<'a, A>>> for Callbacks<'a, A> {
    fn from(true_residual: Option<TrueResidual<'a, A>>) -> Self {
        Self { true_residual, keeper: None }
    }
}

impl<'a, A: LinearOperator> Callbacks<'a, A> {
    /// The same for another operator on the same space.
    pub fn for_operator<B>(self) -> Callbacks<'a, B>
    where
        B: LinearOperator<Space = A::Space>,
    {
        let Self { true_residual, keeper } = self;
        Callbacks { true_residual: true_residual.map(TrueResidual::for_operator), keeper }
    }
}
