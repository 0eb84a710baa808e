//! The multigrid cycle: what a coarser level can tell, then a smoother.

use crate::gcr::Directions;
use crate::polynomial::Polynomial;
use crate::update::{DOT, RESIDUAL, SOLUTION_AND_RESIDUAL};
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};

/// The correction of a solution of A z = r that a coarser level can give.
pub trait CoarseCorrection<A: LinearOperator> {
    /// Computes z ≈ P A_c⁻¹ R r. The earlier content of z does not matter.
    ///
    /// # Errors
    /// Errors of the space.
    fn correct(&mut self, r: &VectorOf<A>, z: &mut VectorOf<A>) -> Result<Work, ErrorOf<A>>;
}

/// A level of a multigrid method: a coarse correction, then a smoother.
///
/// The next coarser level gives the correction, if there is one. The cycle is a preconditioner that
/// knows the image A z of its result: r less the residual after smoothing. So no operator has to be
/// applied for the image.
pub struct Cycle<A: LinearOperator> {
    smoother: Polynomial,
    remaining: VectorOf<A>,
}

impl<A: LinearOperator> Cycle<A> {
    /// Makes a cycle with this smoother.
    ///
    /// # Errors
    /// Errors of the space.
    pub fn new(a: &A, smoother: Polynomial) -> Result<Self, ErrorOf<A>> {
        Ok(Self { smoother, remaining: a.space().zero_vector()? })
    }

    /// Returns the smoother.
    pub fn smoother(&self) -> &Polynomial {
        &self.smoother
    }

    /// Computes z ≈ A⁻¹ r and image = A z, without a wait of its own.
    ///
    /// # Errors
    /// Errors of the space.
    pub fn apply(
        &mut self,
        a: &A,
        correction: Option<&mut dyn CoarseCorrection<A>>,
        r: &VectorOf<A>,
        z: &mut VectorOf<A>,
        image: &mut VectorOf<A>,
    ) -> Result<Work, ErrorOf<A>> {
        let space = a.space();
        let mut work = Work::default();
        match correction {
            None => {
                space.set_zero(z)?;
                space.copy(r, &mut self.remaining)?;
            }
            Some(correction) => {
                work += correction.correct(r, z)?;
                a.residual(r, z, &mut self.remaining)?;
                work += a.work();
                work += Work::pass(space, 2, 3);
            }
        }
        work += self.smoother.smooth(a, z, &mut self.remaining, image)?;
        // The image is what of r is not left.
        space.xpby(r, &space.scalar((-1.0).into()), &mut self.remaining)?;
        std::mem::swap(image, &mut self.remaining);
        work += Work::pass(space, 2, 3);
        Ok(work)
    }

    /// Applications of A in [`apply`](Self::apply), with a correction or without.
    pub fn applications(&self, with_correction: bool) -> usize {
        self.smoother.degree() + usize::from(with_correction)
    }
}

/// A few steps of GCR on a coarse level, whose solution need not be a good one.
///
/// With a single step allowed it is the preconditioner alone, a V-cycle; with more, a K-cycle (Y.
/// Notay and P. S. Vassilevski, Numer. Linear Algebra Appl. 15 (2008) 473).
pub struct CoarseSolve<A: LinearOperator> {
    /// Most steps, one or more.
    steps: usize,
    /// The residual that is small enough, relative to the right-hand side.
    tolerance: f64,
    directions: Directions<A::Space>,
    r: VectorOf<A>,
}

impl<A: LinearOperator> CoarseSolve<A> {
    /// Makes a solver of at most `steps` steps, with a tolerance for the residual.
    ///
    /// # Errors
    /// Errors of the space.
    pub fn new(a: &A, steps: usize, tolerance: f64) -> Result<Self, ErrorOf<A>> {
        let r = a.space().zero_vector()?;
        Ok(Self { steps: steps.max(1), tolerance, directions: Directions::default(), r })
    }

    /// Solves x ≈ A⁻¹ b.
    ///
    /// The old contents of x do not matter. `precondition` makes a direction p and its image A p of
    /// r.
    ///
    /// # Errors
    /// Errors of the space.
    pub fn solve(
        &mut self,
        a: &A,
        b: &VectorOf<A>,
        x: &mut VectorOf<A>,
        mut precondition: impl FnMut(&VectorOf<A>, &mut VectorOf<A>, &mut VectorOf<A>) -> Result<Work, ErrorOf<A>>,
    ) -> Result<Work, ErrorOf<A>> {
        let space = a.space();
        if self.steps == 1 {
            return precondition(b, x, &mut self.r);
        }
        let mut work = Work::default();
        space.set_zero(x)?;
        space.copy(b, &mut self.r)?;
        let mut wanted = None;
        for step in 0..self.steps {
            let (before, next) = self.directions.next(space, step)?;
            work += precondition(&self.r, &mut next.p, &mut next.q)?;
            for direction in before {
                let minus_beta = space.quotient(&space.dot(&direction.q, &next.q)?, &direction.q_norm2);
                space.axpy(&space.negate(&minus_beta), &direction.q, &mut next.q)?;
                space.axpy(&space.negate(&minus_beta), &direction.p, &mut next.p)?;
                work += DOT.work(space);
                work += RESIDUAL.work(space).times(2);
            }
            next.q_norm2 = space.norm2(&next.q)?;
            let alpha = space.quotient(&space.dot(&next.q, &self.r)?, &next.q_norm2);
            let [r_norm2] =
                SOLUTION_AND_RESIDUAL.apply(space, [&alpha], [&next.p, &next.q], [&mut *x, &mut self.r])?;
            work += DOT.work(space).times(2);
            work += SOLUTION_AND_RESIDUAL.work(space);
            if step + 1 < self.steps {
                let [now] = space.read([&r_norm2])?;
                let wanted = match wanted {
                    Some(wanted) => wanted,
                    None => {
                        let [b_norm2] = space.read([&space.norm2(b)?])?;
                        *wanted.insert(b_norm2.re * self.tolerance * self.tolerance)
                    }
                };
                // A value that is not a number ends the loop too.
                let is_left = now.re > wanted;
                if !is_left {
                    break;
                }
            }
        }
        Ok(work)
    }
}
