//! Block Conjugate Gradient: several right-hand sides at once.
//!
//! The Krylov space is spanned by all of them.

mod state;

use crate::advance::Advance;
use crate::best::Best;
use crate::block_recurrence::{BlockEvent, BlockRecurrence, Due, Limits};
use crate::block_space::{BlockOperator, BlockSpace, RecurrenceOf, gram_work};
use crate::clock::Clock;
use crate::keeper::{Look, StateKeeper};
use crate::outcome::{Failure, Residual, Solution, SolverError, SolverInfo};
use crate::pace::Pace;
use crate::range::larger;
use crate::source;
use crate::square_matrix::{Cholesky, SquareMatrix};
use crate::stopping::Stopping;
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};
use std::time::Duration;

/// Options of [`block_conjugate_gradient`].
#[derive(Clone, Copy, Debug, PartialEq)]
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
    fn limits<S: BlockSpace>(&self, space: &S) -> Limits {
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
type BlockResult<A> = Result<Solution<Block<VectorOf<A>>>, ErrorIn<A>>;

/// The reason why a block solve failed.
type ErrorIn<A> = SolverError<Block<VectorOf<A>>, ErrorOf<A>>;

/// Independent share of a stored column of Q below which Q is stored anew.
///
/// The share is independent of the columns before. With a hundredth, rounding errors grow to a
/// tenfold. The bound saves one of the passes over fields that an iteration makes besides the
/// operator's. There are ten of these passes otherwise.
const INDEPENDENT_ENOUGH: f64 = 0.01;

/// Name of the curvature of the directions in failures.
const CURVATURE: &str = "P†AP";

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
/// The small matrices stay where the space keeps them. The host reads them when it looks at the
/// residuals.
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
) -> BlockResult<A> {
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
    /// The matrices of the iteration, where the space keeps them.
    there: RecurrenceOf<A>,
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
    /// Iterations done when columns were last found too much alike.
    disturbed_after: usize,
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
        let (c, t) = (SquareMatrix::zero(columns), SquareMatrix::identity(columns));
        let due =
            Due { scales: vec![1.0; columns], targets: vec![0.0; columns], bound: 0.0, replaces: false };
        let begun = BlockRecurrence::new(params.limits(space), due, c.clone(), t.clone());
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
            there: space.recurrence(begun)?,
            c,
            t,
            scales: vec![1.0; columns],
            targets: vec![params.stopping.tolerance; columns],
            true_residuals: vec![f64::NAN; columns],
            replaced: f64::NAN,
            replaced_after: None,
            disturbed_after: 0,
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
        self.c = self.orthogonalise(cholesky, s, |_| zero.clone())?;
        self.residuals_of_x = self.iterated(&self.c);
        self.replaced = largest(&self.residuals_of_x);
        self.record(self.replaced);
        if self.due().is_due(&self.residuals_of_x) { Ok(self.replace(&zero)?) } else { Ok(None) }
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
        loop {
            if let Some(failure) = self.gives_up()? {
                return Ok(Err(failure));
            }
            self.tell();
            let seen = self.run(self.iterations_until_look())?;
            if let Some(verdict) = self.decide(seen)? {
                return Ok(verdict);
            }
        }
    }

    /// Returns the number of iterations until the next look.
    fn iterations_until_look(&self) -> usize {
        let Stopping { look_every, max_iterations, .. } = self.params.stopping;
        let (due, residuals) = (self.due(), self.iterated(&self.c));
        let iterated = largest(&residuals);
        let excess = residuals.iter().zip(&due.targets).map(|(residual, target)| residual / target);
        let pace = Pace {
            bytes_of_look: self.a.space().bytes_during_a_read(),
            bytes_of_iteration: self.work.bytes / self.iterations.max(1) as u64,
            replaces: self.callbacks.replaced_at > 0.0,
            due: due.bound.max(iterated / largest(&excess.collect::<Vec<_>>())),
            iterated,
            history: &self.history,
            undisturbed: self.iterations - self.disturbed_after,
        };
        let step = look_every.unwrap_or_else(|| pace.step()).clamp(1, BlockRecurrence::MOST_ITERATIONS);
        // The keeper is asked when no step is pending.
        let odd = self.o.is_some() && (step + usize::from(self.pending.is_some())) % 2 == 1;
        let step = if odd && step > 1 { step - 1 } else { step };
        step.min(max_iterations - self.iterations)
    }

    /// Does so many iterations, and waits for their matrices.
    fn run(&mut self, count: usize) -> Result<BlockRecurrence, ErrorOf<A>> {
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
    fn go_on(&mut self, pending: bool) -> Result<bool, ErrorOf<A>> {
        let steps = pending || self.o.is_none();
        self.work += self.advance_work(pending, steps);
        let Self { x, q, p, o, there, .. } = self;
        self.a.space().advance_by(there, [pending, steps], x, q, p, o.as_mut())?;
        if let Some(o) = o {
            std::mem::swap(p, o);
        }
        Ok(!steps)
    }

    /// Deals with the event that ended an iteration, if there was one.
    ///
    /// Returns a verdict if nothing more is to do.
    fn decide(&mut self, seen: BlockRecurrence) -> Result<Option<Verdict>, ErrorOf<A>> {
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
    fn due(&self) -> Due {
        Due {
            scales: self.scales.clone(),
            targets: self.targets.clone(),
            bound: self.callbacks.replaced_at * self.replaced,
            replaces: !self.looks_first(),
        }
    }

    /// Takes note of the largest residual after an iteration.
    fn record(&mut self, residual: f64) {
        if residual <= 0.99 * self.smallest.0 {
            self.smallest = (residual, self.history.len());
        }
        self.history.push(residual);
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

    /// Makes Q orthonormal, and brings P up to date, and X if a step is pending.
    ///
    /// `cholesky` has the factors of (Q T)†Q T. `s` is the first factor times T⁻¹.
    /// P = Q + P·`keep`(S). Returns S, by which the new Q is multiplied to give the old one.
    fn orthogonalise(
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
    fn settle(&mut self) -> Result<(), ErrorOf<A>> {
        if self.pending.is_some() {
            let columns = self.c.size();
            self.advance(&SquareMatrix::zero(columns), &SquareMatrix::identity(columns), false)?;
            self.residuals_of_x = self.iterated(&self.c);
        }
        Ok(())
    }

    /// Takes the pending step of X, and makes the next direction Q·`turn` + P·`keep`.
    fn advance(
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

    /// Returns the work of an advance that leaves Q as it is.
    fn advance_work(&self, earlier: bool, step: bool) -> Work {
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

    fn gram_of_q(&mut self) -> Result<SquareMatrix, ErrorOf<A>> {
        let space = self.a.space();
        self.work += gram_work(space);
        space.gram(&self.q)
    }

    /// Returns the independent share of a column below which it is rounding.
    fn dependent(&self) -> f64 {
        self.params.limits(self.a.space()).dependent
    }

    /// Returns the relative residuals of R = Q C.
    fn iterated(&self, c: &SquareMatrix) -> Vec<f64> {
        c.column_norms().iter().zip(&self.scales).map(|(norm, scale)| norm / scale).collect()
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
        let stagnates = self.iterations - self.smallest.1 >= window.max(1);
        Ok(stagnates.then_some(Failure::Stagnation { residual, window }))
    }

    /// Ends the solve, in failure with the best iterate.
    ///
    /// The solve does not fail if the residuals of that iterate are found to be small enough.
    fn finish(mut self, mut verdict: Verdict) -> BlockResult<A> {
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
    residuals.iter().copied().fold(0.0, larger)
}
