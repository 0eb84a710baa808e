//! Generalised Conjugate Residual with restarts, with a preconditioner that may change from one iteration to the next.

use crate::breakdown::vanishes;
use crate::convergence::{Outcome, Progress, Stopping, TrueResidual, Verdict};
use crate::outcome::{Failure, SolverError, Work};
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};

/// Parameters of [`gcr`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GcrParams {
    /// When to stop.
    pub stopping: Stopping,
    /// Directions that are kept, each two vectors: after as many iterations the method starts again. Default 16.
    pub restart: usize,
    /// Breakdown when the new part of an image falls below this times the image, or the (Ap, r) of a first direction below this times
    /// ‖Ap‖ ‖r‖. Default 1e-14.
    pub breakdown: f64,
}

impl Default for GcrParams {
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
/// One application of A and one of K an iteration, and the work on up to m pairs of vectors. When A p is a combination of the directions
/// since the start, the method starts again.
///
/// `guess` is x₀ (zero if absent); `true_residual` computes the residual that counts (see [`TrueResidual`]). Of the preconditioner the work is in
/// the [`SolverInfo`](crate::SolverInfo), but not its applications of an operator, which need not be A.
///
/// # Errors
/// [`SolverError::NotConverged`] with the last iterate, which for this method is the one with the smallest residual, when the first
/// direction after a start does not make the residual smaller, when a scalar is not finite, when the residual stagnates or the
/// iteration limit is reached; [`SolverError::Parameter`] when m is zero; what the preconditioner says other than that it gave up; the
/// space's own error when an operation fails.
pub fn gcr<A: LinearOperator>(
    a: &A,
    b: &VectorOf<A>,
    guess: Option<&VectorOf<A>>,
    params: &GcrParams,
    mut preconditioner: Option<Preconditioner<'_, A>>,
    true_residual: Option<TrueResidual<'_, A>>,
) -> Outcome<A> {
    if params.restart == 0 {
        return Err(SolverError::Parameter { name: "restart", value: 0.0, allowed: "1 or more" });
    }
    let space = a.space();
    let mut progress = Progress::start(a, b, params.stopping, true_residual)?;
    let advance = Work::pass(space, 20, 6);
    let update = Work::pass(space, 8, 3);
    let dot = Work::pass(space, 8, 2);
    let norm = Work::pass(space, 4, 1);

    let mut x = space.zero_vector()?;
    if let Some(guess) = guess {
        space.copy(guess, &mut x)?;
    }
    let mut r = space.zero_vector()?;
    let r_norm2 = progress.initial_residual(guess, &mut r)?;
    let [mut r_norm2_seen] = space.read([&r_norm2])?;
    if let Some(verdict) = progress.look(r_norm2_seen, &x)? {
        return progress.finish(x, verdict);
    }

    // As many as were needed so far; the first `used` of them since the last start.
    let mut directions = Vec::new();
    let mut used = 0;
    loop {
        if used == directions.len() {
            directions.push(Direction::zero(space)?);
        }
        let (before, rest) = directions.split_at_mut(used);
        let Direction { p, q, q_norm2 } = &mut rest[0];
        match preconditioner.as_mut() {
            None => space.copy(&r, p)?,
            Some(precondition) => match precondition(&r, p) {
                Ok(work) => progress.work += work,
                Err(SolverError::NotConverged { best, info, .. }) => {
                    *p = best;
                    progress.work += info.work;
                }
                Err(other) => return Err(other),
            },
        }
        a.apply(p, q)?;
        progress.count_application();
        let image_norm2 = if progress.looks() { Some(space.norm2(q)?) } else { None };
        for direction in before {
            let beta = space.negate(&space.quotient(&space.dot(&direction.q, q)?, &direction.q_norm2));
            space.axpy(&beta, &direction.q, q)?;
            space.axpy(&beta, &direction.p, p)?;
            [dot, update, update].into_iter().for_each(|pass| progress.work += pass);
        }
        *q_norm2 = space.norm2(q)?;
        let q_r = space.dot(q, &r)?;
        [norm, dot].into_iter().for_each(|pass| progress.work += pass);
        if let Some(image_norm2) = image_norm2 {
            let [image_norm2, q_norm2, q_r] = space.read([&image_norm2, q_norm2, &q_r])?;
            let mut failure = vanishes("‖Ap‖", q_norm2.sqrt(), image_norm2.re, params.breakdown);
            if used == 0 {
                let norms2 = q_norm2.re * r_norm2_seen.re;
                failure = failure.or_else(|| vanishes("(Ap, r)", q_r, norms2, params.breakdown));
            }
            if let Some(failure) = failure {
                if used == 0 || matches!(failure, Failure::NotFinite { .. }) {
                    return progress.finish(x, Verdict::GaveUp(failure));
                }
                used = 0;
                continue;
            }
        }
        let alpha = space.quotient(&q_r, q_norm2);
        let r_norm2 = space.advance(&alpha, p, &mut x, q, &mut r)?;
        progress.work += advance;
        progress.iterations += 1;
        used = (used + 1) % params.restart;
        if progress.looks() {
            [r_norm2_seen] = space.read([&r_norm2])?;
            if let Some(verdict) = progress.look(r_norm2_seen, &x)? {
                return progress.finish(x, verdict);
            }
        }
    }
}

/// A direction and its image, which is orthogonal to those of the other directions since the last start.
struct Direction<S: VectorSpace> {
    p: S::Vector,
    /// A p
    q: S::Vector,
    q_norm2: S::Scalar,
}

impl<S: VectorSpace> Direction<S> {
    fn zero(space: &S) -> Result<Self, S::Error> {
        Ok(Self { p: space.zero_vector()?, q: space.zero_vector()?, q_norm2: space.scalar(0.0.into()) })
    }
}
