//! Callbacks of a solve: computation of the residual, and a keeper of states.

use crate::VectorSpace;
use crate::keeper::StateKeeper;
use crate::true_residual::TrueResidual;
use derive_setters::Setters;

/// Callbacks of a solve that is under way.
///
/// `into` makes them from a [`TrueResidual`] alone, or from `None`.
#[derive(Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Callbacks<'a, S: VectorSpace> {
    /// Computation of the residual that counts.
    ///
    /// `None` stands for ‖b − A x‖ / ‖b‖.
    pub true_residual: Option<TrueResidual<'a, S>>,
    /// Observer of the solve and keeper of its states, if there is one.
    pub keeper: Option<&'a mut dyn StateKeeper<S::Vector, S::Error>>,
}

impl<S: VectorSpace> Default for Callbacks<'_, S> {
    fn default() -> Self {
        Self { true_residual: None, keeper: None }
    }
}

impl<'a, S: VectorSpace> From<Option<TrueResidual<'a, S>>> for Callbacks<'a, S> {
    fn from(true_residual: Option<TrueResidual<'a, S>>) -> Self {
        Self { true_residual, keeper: None }
    }
}
