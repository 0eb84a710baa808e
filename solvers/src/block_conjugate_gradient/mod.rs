//! Block Conjugate Gradient: several right-hand sides at once.
//!
//! The Krylov space is spanned by all of them.

mod state;

use crate::best::Best;
use crate::block_space::{Advance, BlockOperator, BlockSpace, gram_work};
use crate::clock::Clock;
use crate::convergence::Stopping;
use crate::keeper::{Look, StateKeeper};
use crate::outcome::{Failure, Residual, Solution, SolverError, SolverInfo};
use crate::source;
use crate::square_matrix::{Cholesky, SquareMatrix};
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};
use num_complex::Complex64;
use std::time::Duration;

/// Options of [`block_conjugate_gradient`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockCgOptions {
    /// Conditions for stopping.
    ///
    /// The tolerance is the one of every column. All residuals are known in every iteration, so the
    /// solve looks at them in every one.
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

/// A block of solutions, or the part of it that was reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<V> {
    /// X, one column for each right-hand side.
    pub x: V,
    /// Residual of each column.
    pub residuals: Vec<Residual>,
}

/// Callbacks of a block solve that is under way.
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

/// The result of [`block_conjugate_gradient`].
type Outcome<A> = Result<Solution<Block<VectorOf<A>>>, ErrorIn<A>>;

/// The reason why a block solve failed.
type ErrorIn<A> = SolverError<Block<VectorOf<A>>, ErrorOf<A>>;

/// Independent share of a stored column of Q below which Q is stored anew.
///
/// The share is independent of the columns before. With a hundredth, rounding errors grow to a
/// tenfold. The bound saves one of the passes over fields that an iteration makes besides the
/// operator's. There are ten of these passes otherwise.
const INDEPENDENT_ENOUGH: f64 = 0.01;

/// Number of replacements that may fail to make the residual smaller.
const FUTILE_REPLACEMENTS: usize = 3;

/// Solves A xⱼ = bⱼ for all columns bⱼ of a block by block Conjugate Gradient.
///
/// A is Hermitian and positive definite. The method has the form BCGrQ of A. Dubrulle, Electron.
/// Trans. Numer. Anal. 12 (2001) 216. M. A. Clark et al., Comput. Phys. Commun. 233 (2018) 29, use
/// it in this way.
///
/// ```text
/// R = B = Q C,  P = Q                       Q†Q = 1, C upper triangular
/// Z = A P,      δ = (P†Z)⁻¹
/// X = X + P δ C
/// Q = Q − Z δ,  S†S = Q†Q,  Q = Q S⁻¹       by Cholesky factorisation
/// C = S C,      P = Q + P S†
/// ```
///
/// All solutions are sought in the sum of the Krylov spaces of all columns. So the block takes
/// fewer iterations than one column alone. An iteration does one application of A to the block,
/// which may go on with Z in registers ([`BlockOperator::descend_block`]). It brings P and X up to
/// date in one pass. R = Q C is never made: the norms of its columns are the norms of the columns
/// of C.
///
/// The stored vectors are Q T with an upper triangular T. Q S⁻¹ goes into P, but is stored only
/// when columns of Q T have become too much alike. Until then S T takes the place of T.
///
/// If the space prefers it ([`BlockSpace::steps_in_pairs`]), X is brought up to date in every
/// second iteration, for two directions at once. The keeper is not asked in between.
///
/// Columns may depend on each other: equal ones, a column that is zero, residuals that vanish
/// together. Dependent columns are left out. Their columns of Q and P are zero, and the columns
/// before them stand for them. A badly conditioned block is orthogonalised twice.
///
/// The iteration starts from X = 0. When all iterated residuals are below the tolerance, the
/// residuals that count are computed from their definition, and decide. If one of them is too
/// large, the iterated ones have to become smaller by the ratio. The next time, the residuals are
/// replaced by B − A X. With [`BlockCallbacks::replaced_at`] above 0 they are replaced every time.
///
/// After a replacement the iteration goes on with its directions. With R = Q' C', in which C' is
/// upper triangular again, P becomes Q' + P S'† with S' = C' C⁻¹. If C' is far from the expected
/// one, P begins anew as Q'.
///
/// # Errors
/// [`SolverError::NotConverged`] with the iterate whose largest residual is smallest, to within a
/// factor of four, if
/// * P†AP is not positive,
/// * a number is not finite,
/// * the largest residual stagnates,
/// * true residuals do not follow, or
/// * the iteration limit is reached.
///
/// The space's own error if an operation fails. In the [`SolverInfo`] residuals and history are the
/// largest of all columns.
pub fn block_conjugate_gradient<A: BlockOperator>(
    a: &A,
    b: &VectorOf<A>,
    params: &BlockCgOptions,
    callbacks: BlockCallbacks<'_, A>,
) -> Outcome<A> {
    let tolerance = params.stopping.tolerance;
    if tolerance.is_nan() || tolerance <= 0.0 {
        return Err(SolverError::Parameter {
            name: "tolerance",
            value: tolerance,
            allowed: "a positive number",
        });
    }
    let mut solve = BlockSolve::new(a, b, params, callbacks)?;
    let begun = if solve.resume()? { None } else { solve.begin()? };
    let verdict = match begun {
        Some(verdict) => verdict,
        None => solve.iterate()?,
    };
    solve.finish(verdict)
}

/// A block solve in progress.
struct BlockSolve<'a, 'f, A: BlockOperator> {
    a: &'a A,
    b: &'a VectorOf<A>,
    params: &'a BlockCgOptions,
    callbacks: BlockCallbacks<'f, A>,
    x: VectorOf<A>,
    /// Q T.
    q: VectorOf<A>,
    p: VectorOf<A>,
    /// A second vector for directions, if the space prefers to step in pairs.
    ///
    /// It is the direction before P while the step of that direction is pending. Afterwards it is
    /// memory for the next direction.
    o: Option<VectorOf<A>>,
    /// δ C of the direction before P, if X lacks its step.
    pending: Option<SquareMatrix>,
    z: VectorOf<A>,
    /// The C of R = Q C.
    c: SquareMatrix,
    /// The upper triangular T, with 1 on the diagonal where columns of Q are zero.
    t: SquareMatrix,
    /// The norm to which the relative residual of each column refers.
    scales: Vec<f64>,
    /// The iterated residual of each column at which the true ones are computed next.
    targets: Vec<f64>,
    true_residuals: Vec<f64>,
    /// The largest iterated residual when the residuals were replaced last.
    replaced: f64,
    /// Iterations done when the residuals were replaced last.
    replaced_after: Option<usize>,
    futile: usize,
    /// The iterated residuals of X, older than C while a step is pending.
    residuals_of_x: Vec<f64>,
    best: Best<VectorOf<A>>,
    /// The iterated residuals of the best iterate.
    best_residuals: Vec<f64>,
    history: Vec<f64>,
    /// The smallest of the largest residuals, and the iterations done by then.
    ///
    /// Stagnation is measured from these.
    smallest: (f64, usize),
    iterations: usize,
    applications: usize,
    work: Work,
    clock: Clock,
    /// Time that the solve took before it was kept.
    earlier: Duration,
}

/// The end of a solve.
type Verdict = Result<(), Failure>;

impl<'a, 'f, A: BlockOperator> BlockSolve<'a, 'f, A> {
    fn new(
        a: &'a A,
        b: &'a VectorOf<A>,
        params: &'a BlockCgOptions,
        callbacks: BlockCallbacks<'f, A>,
    ) -> Result<Self, ErrorOf<A>> {
        let space = a.space();
        let clock = Clock::start(space);
        let columns = space.columns();
        let mut q = space.scratch_vector()?;
        space.copy(b, &mut q)?;
        Ok(Self {
            a,
            b,
            params,
            callbacks,
            x: space.zero_vector()?,
            q,
            p: space.zero_vector()?,
            o: space.steps_in_pairs().then(|| space.scratch_vector()).transpose()?,
            pending: None,
            z: space.scratch_vector()?,
            c: SquareMatrix::zero(columns),
            t: SquareMatrix::identity(columns),
            scales: vec![1.0; columns],
            targets: vec![params.stopping.tolerance; columns],
            true_residuals: vec![f64::NAN; columns],
            replaced: f64::NAN,
            replaced_after: None,
            futile: 0,
            residuals_of_x: vec![f64::NAN; columns],
            best: Best::none(space)?,
            best_residuals: vec![f64::NAN; columns],
            history: Vec::new(),
            smallest: (f64::INFINITY, 0),
            iterations: 0,
            applications: 0,
            work: Work::default(),
            clock,
            earlier: Duration::ZERO,
        })
    }

    /// Returns the time that the solve took so far.
    fn time(&self) -> Duration {
        self.earlier + self.clock.elapsed(self.a.space())
    }

    /// Makes Q and P of B.
    ///
    /// Returns a verdict if nothing more is to do.
    fn begin(&mut self) -> Result<Option<Verdict>, ErrorIn<A>> {
        let columns = self.a.space().columns();
        let zero = SquareMatrix::zero(columns);
        let gram = self.gram_of_q()?;
        self.check_sources(&gram)?;
        // A column equal to zero has the solution zero: its residual is counted absolutely.
        let scale = |norm| if norm > 0.0 { norm } else { 1.0 };
        self.scales = gram.norms_of_gram().into_iter().map(scale).collect();
        let cholesky = gram.cholesky(self.dependent());
        let s = cholesky.factor.clone();
        self.c = self.orthogonalise(cholesky, s, None, |_| zero.clone())?;
        self.residuals_of_x = self.iterated(&self.c);
        self.replaced = largest(&self.residuals_of_x);
        self.history.push(self.replaced);
        if self.is_due(&self.residuals_of_x) { Ok(self.replace(&zero)?) } else { Ok(None) }
    }

    /// Refuses columns that cannot be solved for.
    ///
    /// `gram` is B†B.
    fn check_sources(&self, gram: &SquareMatrix) -> Result<(), ErrorIn<A>> {
        let space = self.a.space();
        for source in 0..space.columns() {
            let norm2 = |block: &_| Ok(space.gram(block)?[(source, source)].re);
            source::check(space, self.b, gram[(source, source)].re, norm2)?.map_err(SolverError::Source)?;
        }
        Ok(())
    }

    fn iterate(&mut self) -> Result<Verdict, ErrorOf<A>> {
        let zero = SquareMatrix::zero(self.a.space().columns());
        loop {
            if let Some(failure) = self.gives_up()? {
                return Ok(Err(failure));
            }
            self.tell();
            let bound = self.params.breakdown.max(self.dependent());
            // The inverse is computed while devices are busy with the last iteration.
            let t_inverse = self.t.triangular_inverse();
            let Self { a, p, z, q, c, t, .. } = &mut *self;
            let mut step = zero.clone();
            let gram = a.descend_block(p, z, q, |curvature| {
                let delta = inverse_of_curvature(curvature, c, bound)?;
                step = &delta * c;
                Ok(&delta * t)
            })?;
            self.applications += 1;
            let gram = match gram {
                Ok(gram) => {
                    self.work += self.a.work_of_block_descent();
                    gram
                }
                Err(failure) => {
                    self.work += self.a.work();
                    // Directions that have come to depend on each other begin anew, once.
                    let again = self.replaced_after == Some(self.iterations);
                    if again || matches!(failure, Failure::NotFinite { .. }) {
                        return Ok(Err(failure));
                    }
                    self.settle()?;
                    if let Some(verdict) = self.replace(&zero)? {
                        return Ok(verdict);
                    }
                    continue;
                }
            };
            if !gram.is_finite() {
                return Ok(Err(Failure::NotFinite { quantity: "Q†Q" }));
            }
            self.iterations += 1;
            // `next` is the next C, except for a second orthogonalisation, which changes no norm of
            // a column.
            let cholesky = gram.cholesky(self.dependent());
            let s = &cholesky.factor * &t_inverse;
            let next = &s * &self.c;
            let residuals = self.iterated(&next);
            self.history.push(largest(&residuals));
            let due = self.is_due(&residuals);
            if due && !self.looks_first() {
                // Q is replaced and takes no part in P before.
                self.step(Some(&step))?;
                let inverse = self.c.triangular_inverse();
                self.c = next;
                if let Some(verdict) = self.replace(&inverse)? {
                    return Ok(verdict);
                }
            } else {
                let s = self.orthogonalise(cholesky, s, Some(step), SquareMatrix::adjoint)?;
                self.c = &s * &self.c;
                if self.pending.is_none() {
                    self.residuals_of_x = self.iterated(&self.c);
                }
                if due && let Some(verdict) = self.look()? {
                    return Ok(verdict);
                }
            }
        }
    }

    /// Tells whether the residuals that count are only looked at.
    ///
    /// No residual that counts is known yet then.
    fn looks_first(&self) -> bool {
        self.callbacks.replaced_at == 0.0 && self.true_residuals.iter().all(|residual| residual.is_nan())
    }

    /// Computes the residuals that count.
    ///
    /// Returns a verdict, or `None` if the iteration goes on to smaller residuals.
    fn look(&mut self) -> Result<Option<Verdict>, ErrorOf<A>> {
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

    /// Makes Q orthonormal, and brings P and X up to date.
    ///
    /// `cholesky` has the factors of (Q T)†Q T. `s` is the first factor times T⁻¹. X = X + P·step
    /// at once or later, then P = Q + P·`keep`(S). Returns S, by which the new Q is multiplied to
    /// give the old one.
    fn orthogonalise(
        &mut self,
        cholesky: Cholesky,
        mut s: SquareMatrix,
        step: Option<SquareMatrix>,
        keep: impl FnOnce(&SquareMatrix) -> SquareMatrix,
    ) -> Result<SquareMatrix, ErrorOf<A>> {
        let space = self.a.space();
        let Cholesky { factor, inverse: mut turn, independent } = cholesky;
        let badly_conditioned = space.roundoff().sqrt();
        let overwrite = independent.iter().any(|&share| share < INDEPENDENT_ENOUGH.max(badly_conditioned));
        if independent.iter().any(|&share| share > 0.0 && share < badly_conditioned) {
            // Z is of no use any more, and takes the place of P.
            let zero = SquareMatrix::zero(space.columns());
            let matrices = Advance { earlier: None, step: None, turn: &turn, keep: &zero, overwrite };
            space.advance_block(matrices, &mut self.x, &mut self.q, &mut self.z, None)?;
            self.work += self.advance_work(matrices);
            let second = self.gram_of_q()?.cholesky(self.dependent());
            s = &second.factor * &s;
            turn = second.inverse;
        }
        let keep = keep(&s);
        let matrices = Advance { earlier: None, step: None, turn: &turn, keep: &keep, overwrite };
        if self.o.is_some() && self.pending.is_none() {
            self.advance(matrices)?;
            self.pending = step;
        } else {
            let earlier = self.pending.take();
            self.advance(Advance { earlier: earlier.as_ref(), step: step.as_ref(), ..matrices })?;
        }
        self.t = if overwrite { SquareMatrix::identity(space.columns()) } else { factor };
        Ok(s)
    }

    /// Computes X = X + P·`step`, with the pending step before.
    fn step(&mut self, step: Option<&SquareMatrix>) -> Result<(), ErrorOf<A>> {
        let columns = self.c.size();
        let (zero, one) = (SquareMatrix::zero(columns), SquareMatrix::identity(columns));
        let earlier = self.pending.take();
        self.advance(Advance { earlier: earlier.as_ref(), step, turn: &zero, keep: &one, overwrite: false })
    }

    /// Brings X up to date.
    fn settle(&mut self) -> Result<(), ErrorOf<A>> {
        if self.pending.is_some() {
            self.step(None)?;
            self.residuals_of_x = self.iterated(&self.c);
        }
        Ok(())
    }

    fn advance(&mut self, matrices: Advance<'_>) -> Result<(), ErrorOf<A>> {
        if matrices.earlier.is_some() || matrices.step.is_some() {
            self.offer_best()?;
        }
        self.work += self.advance_work(matrices);
        let Self { x, q, p, o, .. } = self;
        self.a.space().advance_block(matrices, x, q, p, o.as_mut())?;
        if let Some(o) = o {
            std::mem::swap(p, o);
        }
        Ok(())
    }

    /// Keeps X before it changes, if X is the best iterate.
    ///
    /// X is not kept if its successor is better.
    fn offer_best(&mut self) -> Result<(), ErrorOf<A>> {
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

    fn advance_work(&self, matrices: Advance<'_>) -> Work {
        let Advance { earlier, step, overwrite, .. } = matrices;
        let space = self.a.space();
        // Two triangular products make one.
        let products = 1 + u64::from(earlier.is_some()) + u64::from(step.is_some());
        let passes = match (earlier, step) {
            (None, None) => 3,
            (None, Some(_)) => 5,
            (Some(_), _) => 6,
        };
        Work::pass(space, 8 * space.columns() as u64 * products + 8, passes + u64::from(overwrite))
    }

    fn gram_of_q(&mut self) -> Result<SquareMatrix, ErrorOf<A>> {
        let space = self.a.space();
        self.work += gram_work(space);
        space.gram(&self.q)
    }

    /// Returns the independent share of a column below which it is rounding.
    fn dependent(&self) -> f64 {
        let space = self.a.space();
        16.0 * space.columns() as f64 * space.roundoff()
    }

    /// Returns the relative residuals of R = Q C.
    fn iterated(&self, c: &SquareMatrix) -> Vec<f64> {
        c.column_norms().iter().zip(&self.scales).map(|(norm, scale)| norm / scale).collect()
    }

    /// Tells whether the residuals that count are to be computed.
    fn is_due(&self, iterated: &[f64]) -> bool {
        largest(iterated) <= self.callbacks.replaced_at * self.replaced
            || iterated.iter().zip(&self.targets).all(|(residual, target)| residual <= target)
    }

    /// Replaces the residuals by the ones that count, and goes on from there.
    ///
    /// `inverse` is the inverse of the C that the directions belong to. With zero the iteration
    /// begins with new directions.
    fn replace(&mut self, inverse: &SquareMatrix) -> Result<Option<Verdict>, ErrorOf<A>> {
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
        self.c = self.orthogonalise(cholesky, s, None, keep)?;
        self.residuals_of_x = self.iterated(&self.c);
        self.replaced = largest(&self.residuals_of_x);
        self.replaced_after = Some(self.iterations);
        self.set_targets();
        Ok(None)
    }

    /// Sets the iterated residuals at which the true ones ought to be small enough.
    ///
    /// The residuals are those of X. The true ones have just been computed.
    fn set_targets(&mut self) {
        let tolerance = self.params.stopping.tolerance;
        let target = |(&iterated, &true_residual): (&f64, &f64)| {
            if true_residual > 0.0 { 0.95 * iterated * tolerance / true_residual } else { f64::INFINITY }
        };
        self.targets = self.residuals_of_x.iter().zip(&self.true_residuals).map(target).collect();
    }

    /// Computes the residuals that count.
    ///
    /// With `replace`, the stored vectors of Q become the residual of the system.
    fn compute_residuals(&mut self, replace: bool) -> Result<(), ErrorOf<A>> {
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

    /// Tells the observer the largest residual, which is known after each iteration.
    fn tell(&mut self) {
        let iterated = self.history.last().copied().unwrap_or(f64::NAN);
        let residual = Residual { iterated, true_residual: largest(&self.true_residuals) };
        if let Some(keeper) = &mut self.callbacks.keeper {
            keeper.looked(&Look { iterations: self.iterations, residual });
        }
    }

    /// Returns the reason why there is no next iteration, if there is one.
    fn gives_up(&mut self) -> Result<Option<Failure>, ErrorOf<A>> {
        let Stopping { max_iterations: limit, stagnation_window: window, .. } = self.params.stopping;
        if self.iterations >= limit {
            return Ok(Some(Failure::IterationLimit { limit }));
        }
        // While a step is pending the keeper is not asked: the state would need its direction, too.
        if self.pending.is_none() && self.keep()? {
            return Ok(Some(Failure::Interrupted));
        }
        let residual = self.history[self.iterations];
        if residual <= 0.99 * self.smallest.0 {
            self.smallest = (residual, self.iterations);
        }
        let stagnates = self.iterations - self.smallest.1 >= window.max(1);
        Ok(stagnates.then_some(Failure::Stagnation { residual, window }))
    }

    /// Ends the solve, in failure with the best iterate.
    ///
    /// The solve does not fail if the residuals of that iterate are found to be small enough.
    fn finish(mut self, mut verdict: Verdict) -> Outcome<A> {
        if let Err(failure) = verdict {
            self.settle()?;
            let last = largest(&self.residuals_of_x);
            // Written so that a residual that is not a number is not the best.
            let last_is_best = last * last <= self.best.r_norm2;
            if self.best.r_norm2.is_finite() && !last_is_best {
                self.a.space().copy(&self.best.x, &mut self.x)?;
                self.residuals_of_x.clone_from(&self.best_residuals);
            }
            self.compute_residuals(true)?;
            // Written so that a NaN is not better. The residual of X = 0 is 1.
            let better_than_zero = largest(&self.true_residuals) <= 1.0;
            if self.callbacks.residuals.is_none() && !better_than_zero {
                self.a.space().set_zero(&mut self.x)?;
                self.compute_residuals(true)?;
            }
            let small_enough = largest(&self.true_residuals) <= self.params.stopping.tolerance;
            if small_enough && failure != Failure::Interrupted {
                verdict = Ok(());
            }
        }
        let residual = Residual {
            iterated: self.history.last().copied().unwrap_or(f64::NAN),
            true_residual: largest(&self.true_residuals),
        };
        self.tell();
        let time = self.time();
        let of_source = |(iterated, &true_residual)| Residual { iterated, true_residual };
        let residuals = self.residuals_of_x.into_iter().zip(&self.true_residuals).map(of_source).collect();
        let block = Block { x: self.x, residuals };
        let info = SolverInfo {
            iterations: self.iterations,
            residual,
            history: self.history,
            applications: self.applications,
            time,
            work: self.work,
        };
        match verdict {
            Ok(()) => Ok((block, info)),
            Err(failure) => Err(SolverError::NotConverged { failure, best: block, info: Box::new(info) }),
        }
    }
}

/// Returns δ of the curvature P†AP, with R = Q C.
fn inverse_of_curvature(
    curvature: &SquareMatrix,
    c: &SquareMatrix,
    bound: f64,
) -> Result<SquareMatrix, Failure> {
    let quantity = "P†AP";
    if !curvature.is_finite() {
        return Err(Failure::NotFinite { quantity });
    }
    let cholesky = curvature.cholesky(bound);
    // The directions of columns that were left out are zero.
    let lost = |j: &usize| c[(*j, *j)] != Complex64::default() && cholesky.independent[*j] == 0.0;
    let Some(j) = (0..curvature.size()).find(lost) else { return Ok(cholesky.inverse_of_product()) };
    let known: f64 = (0..j).map(|i| cholesky.factor[(i, j)].norm_sqr()).sum();
    let diagonal = curvature[(j, j)].re;
    let relative = if diagonal == 0.0 { 0.0 } else { (diagonal - known) / diagonal.abs() };
    Err(Failure::Breakdown { quantity, relative, bound })
}

/// Tells whether two factors of a residual are equal within bearable errors.
///
/// The difference of each column from the expected one is at most half of its length.
fn is_near(c: &SquareMatrix, expected: &SquareMatrix) -> bool {
    let difference = SquareMatrix::from_fn(c.size(), |i, j| c[(i, j)] - expected[(i, j)]);
    let lengths = c.column_norms();
    difference.column_norms().iter().zip(lengths).all(|(difference, length)| *difference <= 0.5 * length)
}

/// Returns the largest of some residuals, or NaN if one of them is NaN.
fn largest(residuals: &[f64]) -> f64 {
    residuals.iter().fold(
        0.0,
        |largest: f64, &residual| {
            if residual.is_nan() || residual > largest { residual } else { largest }
        },
    )
}
