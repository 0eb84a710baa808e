//! Generalised Conjugate Residual with restarts, with a preconditioner that may change from one iteration to the next.

use crate::breakdown::vanishes;
use crate::callbacks::Callbacks;
use crate::convergence::{Outcome, Progress, Step, Stopping, Verdict};
use crate::outcome::SolverError;
use crate::state::{Names, Resumed};
use crate::update::{AXPY, DOT, NORM2, RESIDUAL, SOLUTION_AND_RESIDUAL};
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};

/// Options of [`gcr`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GcrOptions {
    /// When to stop.
    pub stopping: Stopping,
    /// Directions that are kept, each two vectors: after as many iterations the method starts again. Default 16.
    pub restart: usize,
    /// A new start when the new part of an image falls below this times the image; breakdown when |(Ap, r)| of the first direction after a
    /// start falls below this times ‖Ap‖ ‖r‖. Default 1e-14.
    pub breakdown: f64,
}

impl Default for GcrOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), restart: 16, breakdown: 1e-14 }
    }
}

/// Computes z ≈ A⁻¹ r, and says what work that was.
///
/// What z holds before is anything. Any method of this crate will do, and need not do the same each time. One that gives up leaves its best
/// iterate as z, so that its error can be passed on:
///
/// ```text
/// |r, z| smoother.apply(r, z)                                        a fixed number of steps, an MrSmoother
/// |r, z| bicgstab(&a, r, None, &loose, None).map(|(x, info)| { *z = x; info.work })
/// ```
pub type Preconditioner<'a, A> =
    &'a mut (dyn FnMut(&VectorOf<A>, &mut VectorOf<A>) -> Preconditioned<A> + 'a);

/// The work of a preconditioner, or why there is none of it.
pub type Preconditioned<A> = Result<Work, SolverError<VectorOf<A>, ErrorOf<A>>>;

/// A preconditioner that knows the image of what it gives, for [`gcr_with_images`].
pub trait ImagingPreconditioner<A: LinearOperator> {
    /// z ≈ A⁻¹ r and image = A z, and the work of it, applications of A included. What both hold before is anything.
    ///
    /// # Errors
    /// Those of the space.
    fn apply(
        &mut self,
        r: &VectorOf<A>,
        z: &mut VectorOf<A>,
        image: &mut VectorOf<A>,
    ) -> Result<Work, ErrorOf<A>>;

    /// How often A is applied meanwhile.
    fn applications(&self) -> usize;
}

/// What makes the directions.
enum Maker<'a, A: LinearOperator + 'a> {
    Residual,
    Preconditioner(Preconditioner<'a, A>),
    Imaging(&'a mut (dyn ImagingPreconditioner<A> + 'a)),
}

/// Solves A x = b by the method of Generalised Conjugate Residuals with restarts, GCR(m) (S. C. Eisenstat, H. C. Elman and M. H. Schultz,
/// SIAM J. Numer. Anal. 20 (1983) 345), with a preconditioner K that may be another one in each iteration (H. A. van der Vorst and C. Vuik,
/// Numer. Linear Algebra Appl. 1 (1994) 369).
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
/// ‖r‖ is the smallest that these directions allow and never grows. From the same start with the same preconditioner that is the residual of flexible GMRES
/// (Y. Saad, SIAM J. Sci. Comput. 14 (1993) 461), so that this is FGMRES(m) and without preconditioner GMRES(m), as long as it does not
/// break down; in return x and r are there in every iteration.
///
/// One application of A and one of K an iteration, and the work on up to m pairs of vectors. When A p is a combination of the images
/// since the start, the method starts again; to know that, it waits for the device once in each iteration but the first after a start.
/// It starts again too when the residual was replaced (see [`TrueResidual`](crate::TrueResidual)).
///
/// States are kept where the method starts again.
///
/// `guess` is x₀ (zero if absent, or if it is 10⁴ times worse than zero); `callbacks` says what computes the residual that counts and who keeps states (see [`Callbacks`]). Of the preconditioner the work is in
/// the [`SolverInfo`](crate::SolverInfo), but not its applications of an operator, which need not be A.
///
/// # Errors
/// [`SolverError::NotConverged`] with the last iterate, which for this method is the one with the smallest residual, when the first
/// direction after a start does not make the residual smaller, when a scalar is not finite, when the residual stagnates or the
/// iteration limit is reached; [`SolverError::Parameter`] when m is zero; what the preconditioner says other than that it gave up; the
/// space's own error when an operation fails.
pub fn gcr<'p, 'c, A>(
    a: &A,
    b: &VectorOf<A>,
    guess: Option<&VectorOf<A>>,
    params: &GcrOptions,
    preconditioner: Option<Preconditioner<'p, A>>,
    callbacks: impl Into<Callbacks<'c, A>>,
) -> Outcome<A>
where
    A: LinearOperator<Space: VectorSpace<Vector: 'c, Scalar: 'c, Error: 'c>> + 'p,
{
    let maker = preconditioner.map_or(Maker::Residual, Maker::Preconditioner);
    iterate(a, b, guess, params, maker, callbacks.into())
}

/// As [`gcr`], with a preconditioner that gives A K r with K r, as a smoother does which leaves a residual: A is not applied for it.
///
/// # Errors
/// As [`gcr`].
pub fn gcr_with_images<'p, 'c, A>(
    a: &A,
    b: &VectorOf<A>,
    guess: Option<&VectorOf<A>>,
    params: &GcrOptions,
    preconditioner: &'p mut (dyn ImagingPreconditioner<A> + 'p),
    callbacks: impl Into<Callbacks<'c, A>>,
) -> Outcome<A>
where
    A: LinearOperator<Space: VectorSpace<Vector: 'c, Scalar: 'c, Error: 'c>> + 'p,
{
    iterate(a, b, guess, params, Maker::Imaging(preconditioner), callbacks.into())
}

fn iterate<'p, 'c, A>(
    a: &A,
    b: &VectorOf<A>,
    guess: Option<&VectorOf<A>>,
    params: &GcrOptions,
    mut maker: Maker<'p, A>,
    callbacks: Callbacks<'c, A>,
) -> Outcome<A>
where
    A: LinearOperator<Space: VectorSpace<Vector: 'c, Scalar: 'c, Error: 'c>> + 'p,
{
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
    // As many as were needed so far; the first `used` of them since the last start.
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
        match &mut maker {
            Maker::Residual => space.copy(&r, p)?,
            Maker::Preconditioner(precondition) => match precondition(&r, p) {
                Ok(work) => progress.work += work,
                Err(SolverError::NotConverged { best, info, .. }) => {
                    *p = best;
                    progress.work += info.work;
                }
                Err(other) => return Err(other),
            },
            Maker::Imaging(preconditioner) => {
                progress.work += preconditioner.apply(&r, p, q)?;
                progress.count_applications_of_preconditioner(preconditioner.applications());
                has_image = true;
            }
        }
        // (w, q) and (q, q) for q = A p
        let mut image_with_products = |p: &VectorOf<A>, w: &VectorOf<A>, q: &mut VectorOf<A>| {
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
            // What rounding leaves of a direction that is none would take x and r apart.
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
                // The new residual has parts along the old images, which no later direction could remove.
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

/// A direction and its image, which is orthogonal to those of the other directions since the last start.
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
    /// The first `used` of them, and the one behind.
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
