//! Generalised Conjugate Residual with restarts.
//!
//! The preconditioner may change from one iteration to the next.

use crate::breakdown::vanishes;
use crate::callbacks::Callbacks;
use crate::outcome::SolverError;
use crate::preconditioner::{Preconditioner, precondition_with_image};
use crate::progress::{Progress, SolveResult, Step, Verdict};
use crate::state::{Names, Resumed};
use crate::stopping::Stopping;
use crate::update::{AXPY, DOT, NORM2, RESIDUAL, SOLUTION_AND_RESIDUAL};
use crate::{Operator, VectorSpace};
use derive_setters::Setters;

/// Options of [`gcr`].
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct GcrOptions {
    /// When to stop.
    pub stopping: Stopping,
    /// Number of directions that are kept, each two vectors. Default 16.
    ///
    /// After this number of iterations the method starts again.
    pub restart: usize,
    /// Threshold of a new start and of a breakdown. Default 1e-14.
    ///
    /// The method starts again when the new part of an image falls below this times the image. It
    /// breaks down when |(Ap, r)| of the first direction after a start falls below this times ‖Ap‖
    /// ‖r‖.
    pub breakdown: f64,
}

impl Default for GcrOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), restart: 16, breakdown: 1e-14 }
    }
}

/// Solves A x = b by Generalised Conjugate Residuals with restarts, GCR(m).
///
/// Source: S. C. Eisenstat, H. C. Elman and M. H. Schultz, SIAM J. Numer. Anal. 20 (1983) 345. The
/// preconditioner K may change in each iteration (H. A. van der Vorst and C. Vuik, Numer. Linear
/// Algebra Appl. 1 (1994) 369).
///
/// With no more than m directions since the last start, each iteration does
///
/// ```text
/// p = K r,   q = A p                                  K = 1 without preconditioner
/// β = −(qᵢ, q) / (qᵢ, qᵢ),   q = q + β qᵢ,   p = p + β pᵢ      for each direction i since the start
/// α = (q, r) / (q, q)                                  the α that makes ‖r‖ minimal
/// x = x + α p,   r = r − α q
/// ```
///
/// ‖r‖ is the smallest that these directions allow, and never grows. From the same start with the
/// same preconditioner, flexible GMRES has this residual (Y. Saad, SIAM J. Sci. Comput. 14 (1993)
/// 461). So the method is FGMRES(m), and without preconditioner GMRES(m), as long as it does not
/// break down. Unlike GMRES it has x and r in every iteration.
///
/// An iteration takes one application of A and one of K, and the work on up to m pairs of vectors.
/// The method starts again when A p is a combination of the images since the start. To know this,
/// it waits for the device once in each iteration but the first after a start. The method also
/// starts again when the residual was replaced (see [`TrueResidual`](crate::TrueResidual)).
///
/// States are kept when the method starts again.
///
/// `guess` is x₀: zero if absent, or if it is 10⁴ times worse than zero. [`Callbacks`] compute the
/// residual that counts and keep states.
///
/// The [`SolverInfo`](crate::SolverInfo) includes the work of the preconditioner. It leaves out its
/// applications of an operator, which need not be A.
///
/// # Errors
/// [`SolverError::NotConverged`] with the last iterate, which has the smallest residual, if
/// * the first direction after a start does not make the residual smaller,
/// * a scalar is not finite,
/// * the residual stagnates, or
/// * the iteration limit is reached.
///
/// [`SolverError::Parameter`] if m is zero. The preconditioner's own error, unless it gave up. The
/// space's own error if an operation fails.
pub fn gcr<'c, S: VectorSpace>(
    a: &Operator<'_, S>,
    b: &S::Vector,
    guess: Option<&S::Vector>,
    params: &GcrOptions,
    mut preconditioner: Option<&mut dyn Preconditioner<S>>,
    callbacks: impl Into<Callbacks<'c, S>>,
) -> SolveResult<S> {
    if params.restart == 0 {
        return Err(SolverError::Parameter { name: "restart", value: 0.0, allowed: "1 or more" });
    }
    let space = a.space();
    let mut progress = Progress::start(a, b, guess, params.stopping, callbacks)?;
    let step = SOLUTION_AND_RESIDUAL.work(space);
    let orthogonalise = [DOT.work(space), RESIDUAL.work(space), AXPY.work(space)];

    let (mut x, mut r, mut r_norm2);
    if let Some(Resumed { vectors, scalars, .. }) = progress.resume(&STATE)? {
        ([x, r], [r_norm2]) = (vectors, scalars);
    } else {
        let beginning = progress.begin()?;
        (x, r, r_norm2) = (beginning.x, beginning.r, beginning.r_norm2);
        if let Some(verdict) = beginning.verdict {
            return progress.finish(x, verdict);
        }
    }
    // The directions needed so far. The first `used` of them exist since the last start.
    let mut directions = Directions::default();
    let mut used = 0;
    loop {
        // At a start there are no directions to keep.
        if used == 0
            && let Some(verdict) = progress.keep_now(&STATE, [&x, &r], [&r_norm2], [])?
        {
            return progress.finish(x, verdict);
        }
        let (before, Direction { p, q, q_norm2 }) = directions.next(space, used)?;
        let mut has_image = false;
        match preconditioner.as_deref_mut() {
            None => space.copy(&r, p)?,
            Some(preconditioner) => {
                let (work, applications) = precondition_with_image(preconditioner, &r, p, q)?;
                progress.work += work;
                progress.count_applications_of_preconditioner(applications.unwrap_or(0));
                has_image = applications.is_some();
            }
        }
        // (w, q) and (q, q) for q = A p
        let mut image_with_products = |p: &S::Vector, w: &S::Vector, q: &mut S::Vector| {
            if has_image {
                progress.work += DOT.work(space);
                progress.work += NORM2.work(space);
                return Ok([space.dot(w, q)?, space.norm2(q)?]);
            }
            progress.count_application_with_products();
            a.apply_products(p, w, q)
        };
        let (product, image_norm2);
        let q_r = if let Some(first) = before.first() {
            [product, image_norm2] = image_with_products(p, &first.q, q)?;
            let mut projection = product;
            for (k, direction) in before.iter().enumerate() {
                if k > 0 {
                    projection = space.dot(&direction.q, q)?;
                }
                let minus_beta = space.quotient(&projection, &direction.q_norm2);
                [*q_norm2] = RESIDUAL.apply(space, [&minus_beta], [&direction.q], [&mut *q])?;
                space.axpy(&space.negate(&minus_beta), &direction.p, p)?;
                orthogonalise.into_iter().for_each(|pass| progress.work += pass);
            }
            // The rounding left of a dependent direction would take x and r apart.
            let [image_norm2, q_norm2] = space.read([&image_norm2, q_norm2])?;
            if vanishes("‖Ap‖", q_norm2.sqrt(), image_norm2.re, params.breakdown).is_some() {
                used = 0;
                continue;
            }
            space.dot(q, &r)?
        } else {
            [product, image_norm2] = image_with_products(p, &r, q)?;
            *q_norm2 = image_norm2;
            space.conjugate(&product)
        };
        let alpha = space.quotient(&q_r, q_norm2);
        let [new_norm2] = SOLUTION_AND_RESIDUAL.apply(space, [&alpha], [p, q], [&mut x, &mut r])?;
        progress.work += step;
        progress.iterated(&new_norm2);
        let old_norm2 = std::mem::replace(&mut r_norm2, new_norm2);
        if progress.looks() {
            let [q_r, q_norm2, old_norm2] = progress.read([&q_r, q_norm2, &old_norm2])?;
            match progress.judge(&mut x, &mut r)? {
                Step::Done(verdict) => return progress.finish(x, verdict),
                // The new residual has parts along the old images, which no later direction could
                // remove.
                Step::Replaced(norm2) => {
                    r_norm2 = norm2;
                    used = 0;
                    continue;
                }
                Step::Continue => {}
            }
            let norms2 = q_norm2.re * old_norm2.re;
            let failure = vanishes("(Ap, r)", q_r, norms2, params.breakdown).filter(|_| used == 0);
            if let Some(failure) = failure {
                return progress.finish(x, Verdict::GaveUp(failure));
            }
        }
        used = (used + 1) % params.restart;
    }
}

const STATE: Names<2, 1, 0> =
    Names { method: "Generalised Conjugate Residual", vectors: ["x", "r"], scalars: ["(r, r)"], numbers: [] };

/// A direction and its image.
///
/// The image is orthogonal to the images of the other directions since the last start.
pub(crate) struct Direction<S: VectorSpace> {
    pub p: S::Vector,
    /// A p
    pub q: S::Vector,
    pub q_norm2: S::Scalar,
}

/// Directions, made as they are wanted and used again after a start.
pub(crate) struct Directions<S: VectorSpace>(Vec<Direction<S>>);

impl<S: VectorSpace> Default for Directions<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Directions since a start, and the next one.
type Split<'a, S> = (&'a [Direction<S>], &'a mut Direction<S>);

impl<S: VectorSpace> Directions<S> {
    /// Returns the first `used` directions, and the next one.
    pub fn next(&mut self, space: &S, used: usize) -> Result<Split<'_, S>, S::Error> {
        if used == self.0.len() {
            self.0.push(Direction::zero(space)?);
        }
        let (before, rest) = self.0.split_at_mut(used);
        Ok((before, &mut rest[0]))
    }
}

impl<S: VectorSpace> Direction<S> {
    fn zero(space: &S) -> Result<Self, S::Error> {
        Ok(Self { p: space.zero_vector()?, q: space.zero_vector()?, q_norm2: space.scalar(0.0.into()) })
    }
}
