//! What block Conjugate Gradient takes and returns.

use crate::block_recurrence::Limits;
use crate::block_space::BlockSpace;
use crate::keeper::StateKeeper;
use crate::outcome::Residual;
use crate::stopping::Stopping;
use crate::{ErrorOf, LinearOperator, VectorOf};
use derive_setters::Setters;

/// Independent share of a stored column of Q below which Q is stored anew.
///
/// The share is independent of the columns before. With a hundredth, rounding errors grow to a
/// tenfold. The bound saves one of the passes over fields that an iteration makes besides the
/// operator's. There are ten of these passes otherwise.
const INDEPENDENT_ENOUGH: f64 = 0.01;

/// Options of [`block_conjugate_gradient`](crate::block_conjugate_gradient).
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct BlockCgOptions {
    /// Conditions for stopping.
    ///
    /// The tolerance is the one of every column. At most 32 iterations pass between two looks.
    ///
    /// The steps of the solve do not depend on when it looks, except for when it gives up: iterations
    /// after the one that is due change nothing.
    pub stopping: Stopping,
    /// Bound of a breakdown. Default 1e-14.
    ///
    /// The curvature of a direction is its element of P†AP on the diagonal. The method breaks down
    /// when the curvature is negative. It also breaks down when no more than this share of the
    /// curvature is independent of the curvatures of the other directions.
    pub breakdown: f64,
}

impl Default for BlockCgOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), breakdown: 1e-14 }
    }
}

impl BlockCgOptions {
    /// Returns the limits of shares in a space.
    pub(super) fn limits<S: BlockSpace>(&self, space: &S) -> Limits {
        let dependent = 16.0 * space.columns() as f64 * space.roundoff();
        let alike = space.roundoff().sqrt();
        Limits {
            breakdown: self.breakdown.max(dependent),
            dependent,
            alike,
            overwritten: INDEPENDENT_ENOUGH.max(alike),
        }
    }
}

/// A block of solutions, or the part of it that was reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<V> {
    /// X, one column for each right-hand side.
    pub x: V,
    /// Residual of each column.
    pub residuals: Vec<Residual>,
}

/// Callbacks of a block solve that is under way.
#[derive(Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct BlockCallbacks<'a, A: LinearOperator> {
    /// Computation of the residuals that count.
    ///
    /// `None` stands for ‖b − A x‖ / ‖b‖ of each column.
    pub residuals: Option<&'a mut BlockResiduals<'a, A>>,
    /// Fraction of the largest residual at which residuals are replaced. Default 0.
    ///
    /// Residuals are replaced when the largest has fallen to this fraction of its value after the
    /// last replacement. They are also replaced when all ought to be small enough and the residuals
    /// that count are not. With 0 only the second case remains, and the first time the residuals
    /// that count are only looked at.
    pub replaced_at: f64,
    /// Observer of the solve and keeper of its states, if there is one.
    ///
    /// The observer is told the largest residuals.
    pub keeper: Option<&'a mut dyn StateKeeper<VectorOf<A>, ErrorOf<A>>>,
}

/// A function that gives the relative residuals that count, one for each column.
///
/// It computes the residuals from their definition. X is the solution, or a correction to it. The
/// function may move X elsewhere, and then sets X to zero: an iteration in low precision finds
/// corrections to a solution in high precision. If there is an R, it becomes B − A·(solution),
/// unless all residuals are small enough.
pub type BlockResiduals<'a, A> =
    dyn FnMut(&mut VectorOf<A>, Option<&mut VectorOf<A>>) -> Result<Vec<f64>, ErrorOf<A>> + 'a;

impl<A: LinearOperator> Default for BlockCallbacks<'_, A> {
    fn default() -> Self {
        Self { residuals: None, replaced_at: 0.0, keeper: None }
    }
}
