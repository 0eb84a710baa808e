//! The steps of a block solve: X, Q and the directions.

use super::{BlockSolve, largest};
use crate::ErrorOf;
use crate::advance::Advance;
use crate::block_recurrence::{BlockRecurrence, Limits};
use crate::block_space::{BlockOperator, BlockSpace, gram_work};
use crate::square_matrix::{Cholesky, SquareMatrix};
use crate::work::Work;

impl<A: BlockOperator> BlockSolve<'_, '_, A> {
    /// Does so many iterations, and waits for their matrices.
    pub(super) fn run(&mut self, count: usize) -> Result<BlockRecurrence, ErrorOf<A>> {
        let space = self.a.space();
        let limits = self.params.limits(space);
        let mut begun = BlockRecurrence::new(limits, self.due(), self.c.clone(), self.t.clone());
        let mut pending = self.pending.take();
        let mut is_pending = pending.is_some();
        begun.step = pending.take().unwrap_or(begun.step);
        space.renew(&mut self.there, begun)?;
        let mut last_of_x = None;
        for k in 0..count {
            self.a.descend_block(&self.p, &mut self.z, &mut self.q, &mut self.there)?;
            self.applications += 1;
            self.work += self.a.work_of_block_descent();
            if k + 1 < count {
                is_pending = self.go_on(is_pending)?;
                last_of_x = if is_pending { last_of_x } else { Some(k) };
            }
        }
        let seen = space.see(&self.there)?;
        let known = |k: usize| seen.residuals.get(k).or(seen.residuals.last());
        if let Some(residuals) = last_of_x.and_then(known) {
            self.residuals_of_x.clone_from(residuals);
        }
        seen.residuals.iter().for_each(|residuals| self.record(largest(residuals)));
        self.iterations += seen.residuals.len();
        self.work += Work::pass(space, 0, seen.overwrites);
        let changes_x = is_pending || self.o.is_none();
        if changes_x && seen.residuals.len() == count {
            self.offer_best()?;
        }
        is_pending = self.go_on(is_pending)?;
        if is_pending {
            self.pending = Some(seen.step.clone());
        } else if let Some(residuals) = seen.residuals.last() {
            self.residuals_of_x.clone_from(residuals);
        }
        self.c.clone_from(&seen.c);
        self.t.clone_from(&seen.t);
        Ok(seen)
    }

    /// Brings X and the directions up to date with the matrices that are there.
    ///
    /// `pending` tells whether X lacks the step of an earlier direction. Returns whether it does now.
    pub(super) fn go_on(&mut self, pending: bool) -> Result<bool, ErrorOf<A>> {
        let steps = pending || self.o.is_none();
        self.work += self.advance_work(pending, steps);
        let Self { x, q, p, o, there, .. } = self;
        self.a.space().advance_by(there, [pending, steps], x, q, p, o.as_mut())?;
        if let Some(o) = o {
            std::mem::swap(p, o);
        }
        Ok(!steps)
    }

    /// Makes Q orthonormal, and brings P up to date, and X if a step is pending.
    ///
    /// `cholesky` has the factors of (Q T)†Q T. `s` is the first factor times T⁻¹.
    /// P = Q + P·`keep`(S). Returns S, by which the new Q is multiplied to give the old one.
    pub(super) fn orthogonalise(
        &mut self,
        cholesky: Cholesky,
        mut s: SquareMatrix,
        keep: impl FnOnce(&SquareMatrix) -> SquareMatrix,
    ) -> Result<SquareMatrix, ErrorOf<A>> {
        let space = self.a.space();
        let Limits { alike, overwritten, .. } = self.params.limits(space);
        let Cholesky { factor, inverse: mut turn, independent, .. } = cholesky;
        let overwrite = independent.iter().any(|&share| share < overwritten);
        if independent.iter().any(|&share| share > 0.0 && share < alike) {
            // Z is of no use any more, and takes the place of P.
            let zero = SquareMatrix::zero(space.columns());
            let matrices = Advance { earlier: None, step: None, turn: &turn, keep: &zero, overwrite };
            space.advance_block(matrices, &mut self.x, &mut self.q, &mut self.z, None)?;
            self.work += self.advance_work(false, false);
            self.work += Work::pass(space, 0, u64::from(overwrite));
            let second = self.gram_of_q()?.cholesky(self.dependent());
            s = &second.factor * &s;
            turn = second.inverse;
        }
        let keep = keep(&s);
        self.advance(&turn, &keep, overwrite)?;
        self.t = if overwrite { SquareMatrix::identity(space.columns()) } else { factor };
        Ok(s)
    }

    /// Brings X up to date.
    pub(super) fn settle(&mut self) -> Result<(), ErrorOf<A>> {
        if self.pending.is_some() {
            let columns = self.c.size();
            self.advance(&SquareMatrix::zero(columns), &SquareMatrix::identity(columns), false)?;
            self.residuals_of_x = self.iterated(&self.c);
        }
        Ok(())
    }

    /// Takes the pending step of X, and makes the next direction Q·`turn` + P·`keep`.
    pub(super) fn advance(
        &mut self,
        turn: &SquareMatrix,
        keep: &SquareMatrix,
        overwrite: bool,
    ) -> Result<(), ErrorOf<A>> {
        let pending = self.pending.take();
        if pending.is_some() {
            self.offer_best()?;
        }
        self.work += self.advance_work(pending.is_some(), false);
        self.work += Work::pass(self.a.space(), 0, u64::from(overwrite));
        let Self { x, q, p, o, .. } = self;
        let matrices = Advance { earlier: pending.as_ref(), step: None, turn, keep, overwrite };
        self.a.space().advance_block(matrices, x, q, p, o.as_mut())?;
        if let Some(o) = o {
            std::mem::swap(p, o);
        }
        Ok(())
    }

    /// Keeps X before it changes, if X is the best iterate.
    ///
    /// X is not kept if its successor is better.
    pub(super) fn offer_best(&mut self) -> Result<(), ErrorOf<A>> {
        let (residual, last) = (largest(&self.residuals_of_x), self.best.r_norm2);
        // Written so that a NaN is not better.
        let better = self.history[self.iterations] <= residual;
        if !better {
            self.best.offer(self.a.space(), &self.x, residual * residual)?;
            if self.best.r_norm2 < last {
                self.best_residuals.clone_from(&self.residuals_of_x);
            }
        }
        Ok(())
    }

    /// Returns the work of an advance that leaves Q as it is.
    pub(super) fn advance_work(&self, earlier: bool, step: bool) -> Work {
        let space = self.a.space();
        // Two triangular products make one.
        let products = 1 + u64::from(earlier) + u64::from(step);
        let passes = match (earlier, step) {
            (false, false) => 3,
            (false, true) => 5,
            (true, _) => 6,
        };
        Work::pass(space, 8 * space.columns() as u64 * products + 8, passes)
    }

    pub(super) fn gram_of_q(&mut self) -> Result<SquareMatrix, ErrorOf<A>> {
        let space = self.a.space();
        self.work += gram_work(space);
        space.gram(&self.q)
    }

    /// Returns the independent share of a column below which it is rounding.
    pub(super) fn dependent(&self) -> f64 {
        self.params.limits(self.a.space()).dependent
    }
}
