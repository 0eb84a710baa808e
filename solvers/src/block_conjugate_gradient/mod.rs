//! Block Conjugate Gradient: several right-hand sides at once.
//!
//! The Krylov space is spanned by all of them.

mod end;
mod judgement;
mod options;
mod state;
mod steps;

pub use options::{Block, BlockCallbacks, BlockCgOptions, BlockResiduals};

use crate::best::Best;
use crate::block_recurrence::{BlockRecurrence, Due};
use crate::block_space::{BlockOperator, BlockSpace, RecurrenceOf};
use crate::clock::Clock;
use crate::outcome::{Failure, Solution, SolverError};
use crate::pace::Pace;
use crate::range::larger;
use crate::source;
use crate::square_matrix::SquareMatrix;
use crate::stopping::Stopping;
use crate::work::Work;
use crate::{ErrorOf, VectorOf, VectorSpace};
use std::time::Duration;

/// The result of [`block_conjugate_gradient`].
type BlockResult<A> = Result<Solution<Block<VectorOf<A>>>, ErrorIn<A>>;

/// The reason why a block solve failed.
type ErrorIn<A> = SolverError<Block<VectorOf<A>>, ErrorOf<A>>;

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
/// The space's own error if an operation fails. In the [`SolverInfo`](crate::SolverInfo) residuals and history are the
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
    /// Takes note of the largest residual after an iteration.
    fn record(&mut self, residual: f64) {
        if residual <= 0.99 * self.smallest.0 {
            self.smallest = (residual, self.history.len());
        }
        self.history.push(residual);
    }

    /// Returns the relative residuals of R = Q C.
    fn iterated(&self, c: &SquareMatrix) -> Vec<f64> {
        c.column_norms().iter().zip(&self.scales).map(|(norm, scale)| norm / scale).collect()
    }
}

/// Returns the largest of some residuals, or NaN if one of them is NaN.
fn largest(residuals: &[f64]) -> f64 {
    residuals.iter().copied().fold(0.0, larger)
}
