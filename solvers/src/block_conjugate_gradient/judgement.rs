//! Decides after a look how a block solve goes on.

use super::{BlockSolve, Verdict, largest};
use crate::ErrorOf;
use crate::block_recurrence::{BlockEvent, BlockRecurrence, Due};
use crate::block_space::{BlockOperator, BlockSpace, gram_work};
use crate::outcome::Failure;
use crate::square_matrix::SquareMatrix;

/// Name of the curvature of the directions in failures.
const CURVATURE: &str = "P†AP";

/// Number of replacements that may fail to make the residual smaller.
const FUTILE_REPLACEMENTS: usize = 3;

impl<A: BlockOperator> BlockSolve<'_, '_, A> {
    /// Deals with the event that ended an iteration, if there was one.
    ///
    /// Returns a verdict if nothing more is to do.
    pub(super) fn decide(&mut self, seen: BlockRecurrence) -> Result<Option<Verdict>, ErrorOf<A>> {
        match seen.event {
            None => Ok(None),
            Some(BlockEvent::InfiniteCurvature) => Ok(Some(Err(Failure::NotFinite { quantity: CURVATURE }))),
            Some(BlockEvent::InfiniteResidual) => Ok(Some(Err(Failure::NotFinite { quantity: "Q†Q" }))),
            Some(BlockEvent::Breakdown(relative)) => {
                // Directions that have come to depend on each other begin anew, once.
                if self.replaced_after == Some(self.iterations) {
                    let bound = seen.limits.breakdown;
                    return Ok(Some(Err(Failure::Breakdown { quantity: CURVATURE, relative, bound })));
                }
                self.disturbed_after = self.iterations;
                self.settle()?;
                self.replace(&SquareMatrix::zero(self.c.size()))
            }
            Some(BlockEvent::Due) if seen.due.replaces => {
                // Q is replaced and took no part in P.
                self.settle()?;
                self.replace(&seen.last_c.triangular_inverse())
            }
            Some(BlockEvent::Due) => self.look(),
            Some(BlockEvent::Alike) => {
                self.disturbed_after = self.iterations;
                // P is the direction of the iteration that ended.
                let cholesky = self.gram_of_q()?.cholesky(self.dependent());
                let s = &cholesky.factor * &seen.t_inverse;
                let s = self.orthogonalise(cholesky, s, SquareMatrix::adjoint)?;
                self.c = &s * &seen.last_c;
                self.residuals_of_x = self.iterated(&self.c);
                if self.due().is_due(&self.residuals_of_x) { self.look() } else { Ok(None) }
            }
        }
    }

    /// Returns the residuals at which the host decides.
    pub(super) fn due(&self) -> Due {
        Due {
            scales: self.scales.clone(),
            targets: self.targets.clone(),
            bound: self.callbacks.replaced_at * self.replaced,
            replaces: !self.looks_first(),
        }
    }

    /// Tells whether the residuals that count are only looked at.
    ///
    /// No residual that counts is known yet then.
    pub(super) fn looks_first(&self) -> bool {
        self.callbacks.replaced_at == 0.0 && self.true_residuals.iter().all(|residual| residual.is_nan())
    }

    /// Computes the residuals that count.
    ///
    /// Returns a verdict, or `None` if the iteration goes on to smaller residuals.
    pub(super) fn look(&mut self) -> Result<Option<Verdict>, ErrorOf<A>> {
        self.settle()?;
        self.compute_residuals(false)?;
        let true_residual = largest(&self.true_residuals);
        if true_residual <= self.params.stopping.tolerance {
            return Ok(Some(Ok(())));
        }
        if true_residual.is_nan() {
            let iterated = largest(&self.residuals_of_x);
            return Ok(Some(Err(Failure::PrecisionLimit { iterated, true_residual })));
        }
        self.set_targets();
        Ok(None)
    }

    /// Replaces the residuals by the ones that count, and goes on from there.
    ///
    /// `inverse` is the inverse of the C that the directions belong to. With zero the iteration
    /// begins with new directions.
    pub(super) fn replace(&mut self, inverse: &SquareMatrix) -> Result<Option<Verdict>, ErrorOf<A>> {
        self.residuals_of_x = self.iterated(&self.c);
        let iterated = largest(&self.residuals_of_x);
        let last = largest(&self.true_residuals);
        self.compute_residuals(true)?;
        let true_residual = largest(&self.true_residuals);
        let tolerance = self.params.stopping.tolerance;
        if true_residual <= tolerance {
            return Ok(Some(Ok(())));
        }
        let improved = last.is_nan() || true_residual < 0.9 * last;
        self.futile = if improved { 0 } else { self.futile + 1 };
        if true_residual.is_nan() || self.futile >= FUTILE_REPLACEMENTS {
            return Ok(Some(Err(Failure::PrecisionLimit { iterated, true_residual })));
        }
        let cholesky = self.gram_of_q()?.cholesky(self.dependent());
        let zero = SquareMatrix::zero(self.c.size());
        let expected = std::mem::replace(&mut self.c, zero.clone());
        let keep = |c: &SquareMatrix| {
            if is_near(c, &expected) { (c * inverse).adjoint() } else { zero.clone() }
        };
        let s = cholesky.factor.clone();
        self.c = self.orthogonalise(cholesky, s, keep)?;
        self.residuals_of_x = self.iterated(&self.c);
        self.replaced = largest(&self.residuals_of_x);
        self.replaced_after = Some(self.iterations);
        self.set_targets();
        Ok(None)
    }

    /// Sets the iterated residuals at which the true ones ought to be small enough.
    ///
    /// The residuals are those of X. The true ones have just been computed.
    pub(super) fn set_targets(&mut self) {
        let tolerance = self.params.stopping.tolerance;
        let target = |(&iterated, &true_residual): (&f64, &f64)| {
            if true_residual > 0.0 { 0.95 * iterated * tolerance / true_residual } else { f64::INFINITY }
        };
        self.targets = self.residuals_of_x.iter().zip(&self.true_residuals).map(target).collect();
    }

    /// Computes the residuals that count.
    ///
    /// With `replace`, the stored vectors of Q become the residual of the system.
    pub(super) fn compute_residuals(&mut self, replace: bool) -> Result<(), ErrorOf<A>> {
        self.applications += 1;
        // The iterate that was kept may be a correction to another solution.
        self.best.r_norm2 = f64::INFINITY;
        if replace {
            self.t = SquareMatrix::identity(self.t.size());
        }
        if let Some(residuals) = &mut self.callbacks.residuals {
            self.true_residuals = residuals(&mut self.x, replace.then_some(&mut self.q))?;
            return Ok(());
        }
        let (space, r) = (self.a.space(), if replace { &mut self.q } else { &mut self.z });
        self.a.residual(self.b, &self.x, r)?;
        self.work += self.a.work();
        self.work += gram_work(space);
        let norms = space.gram(r)?.norms_of_gram();
        self.true_residuals = norms.iter().zip(&self.scales).map(|(norm, scale)| norm / scale).collect();
        Ok(())
    }
}

/// Tells whether two factors of a residual are equal within bearable errors.
///
/// The difference of each column from the expected one is at most half of its length.
fn is_near(c: &SquareMatrix, expected: &SquareMatrix) -> bool {
    let difference = SquareMatrix::from_fn(c.size(), |i, j| c[(i, j)] - expected[(i, j)]);
    let lengths = c.column_norms();
    difference.column_norms().iter().zip(lengths).all(|(difference, length)| *difference <= 0.5 * length)
}
