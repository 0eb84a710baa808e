//! Solving M x = b for several sources at once.

use super::best_solution::BestSolution;
use super::checkpoints::{Beside, Checkpoints, Keeper};
use super::error::InvertError;
use super::iteration;
use super::methods;
use super::params::stopping;
use super::plan::{Inner, IterationPrecision, Preconditioning};
use super::precision::relate;
use super::sources::{Scaled, largest, without_worse_than_zero};
use crate::compute::DeviceError;
use crate::field::{ParityField, SpinorField};
use crate::operator::{BlockDiracOperator, Dirac, InPrecision, Normal};
use crate::scalar::{Half, Storage};
use derive_setters::Setters;
use lattice_solvers::{
    Block, BlockCallbacks, BlockSpace, Failure, LinearOperator, Residual, SolverError, SolverInfo,
    SquareMatrix, StateKeeper, Stopping, VectorOf, VectorSpace, Work, block_conjugate_gradient,
};
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// Parameters of [`block_cg`].
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct BlockCgParams {
    /// Wanted ‖b − M x‖ / ‖b‖ of every source, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations, each for all sources. Default 10 000.
    pub max_iterations: usize,
    /// Precision of the iteration. Default double.
    ///
    /// The solutions are always in double, and the iteration finds corrections to them.
    /// [`IterationPrecision::Single`] is therefore the same as mixed with single.
    pub precision: IterationPrecision,
    /// The preconditioning. Default [`Preconditioning::None`].
    pub preconditioning: Preconditioning,
}

impl Default for BlockCgParams {
    fn default() -> Self {
        let Stopping { tolerance, max_iterations, .. } = Stopping::default();
        Self {
            tol: tolerance,
            max_iterations,
            precision: IterationPrecision::Double,
            preconditioning: Preconditioning::None,
        }
    }
}

/// The solutions of several sources.
#[derive(Debug)]
pub struct BlockSolution {
    /// The solutions, one for each source, in the order of the sources.
    pub x: SpinorField<f64>,
    /// The residuals, one for each source.
    pub residuals: Vec<Residual>,
    /// The report of the solve.
    ///
    /// Iterations are those of all sources together. Residuals and history are the largest of all
    /// sources.
    pub info: SolverInfo,
}

/// The fraction to which residuals from a guess fall before they are replaced, in double.
const LOOKED_AT: f64 = 0.01;

/// Most columns: their matrices have to fit in the local memory of a device.
const MOST_SOURCES: usize = 24;

/// Solves M xⱼ = bⱼ for all sources of `b` at once by block CG, from x = 0.
///
/// Block Conjugate Gradient works on M†M xⱼ = M†bⱼ (see [`block_conjugate_gradient`]). Block CG
/// takes fewer iterations than CG for one source. The operator is applied to all sources at once,
/// so each link is loaded once for all of them. `dirac` is an operator for one source, or for as
/// many as `b` has.
///
/// The solve stops when every source's ‖bⱼ − M xⱼ‖ / ‖bⱼ‖ is at most [`BlockCgParams::tol`]. The
/// residuals that decide are recomputed in double.
///
/// # Errors
/// * [`InvertError::NotConverged`] has the best iterates of all sources.
/// * [`InvertError::Parameter`] says that there are more than 24 sources.
pub fn block_cg(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    params: &BlockCgParams,
) -> Result<BlockSolution, InvertError> {
    solve_block(dirac, b, None, params, None)
}

/// Solves like [`block_cg`], from an initial guess of as many columns.
///
/// A column starts from x = 0 if that is nearer. The solve goes on from the state that
/// `checkpoints` has, if it has one.
///
/// # Errors
/// The errors of [`block_cg_with_checkpoints`].
pub fn block_cg_from(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    guess: &SpinorField<f64>,
    params: &BlockCgParams,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Result<BlockSolution, InvertError> {
    solve_block(dirac, b, Some(guess), params, checkpoints)
}

/// Solves like [`block_cg`], while `checkpoints` keeps the states of the solve.
///
/// If `checkpoints` has a state, the solve goes on from it. The result is then that of the solve
/// without interruption, to the last bit on the same device.
///
/// # Errors
/// Fails like [`block_cg`], and with these errors:
/// * [`InvertError::NotConverged`] with
///   [`Failure::Interrupted`](lattice_solvers::Failure::Interrupted), if `checkpoints` wishes to
///   stop.
/// * [`InvertError::ForeignState`].
pub fn block_cg_with_checkpoints(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    params: &BlockCgParams,
    checkpoints: &mut dyn Checkpoints,
) -> Result<BlockSolution, InvertError> {
    solve_block(dirac, b, None, params, Some(checkpoints))
}

fn solve_block(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    guess: Option<&SpinorField<f64>>,
    params: &BlockCgParams,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Result<BlockSolution, InvertError> {
    let sources = b.columns();
    if sources > MOST_SOURCES {
        let (name, allowed) = ("number of sources", "1 to 24");
        return Err(InvertError::Parameter { name, value: sources as f64, allowed });
    }
    let dirac = dirac.for_columns(sources)?;
    let Some(scaled) = Scaled::of(b, &dirac.spinor_space().gram(b)?.norms_of_gram())?? else {
        return flattened(solve_ordinary(&dirac, b, guess, params, checkpoints)?);
    };
    let guess = guess.map(|guess| scaled.scale(guess)).transpose()?;
    let (BlockSolution { mut x, mut residuals, mut info }, mut failure) =
        solve_ordinary(&dirac, &scaled.b, guess.as_ref(), params, checkpoints)?;
    let left = scaled.restore(&mut x, |x| {
        let space = dirac.spinor_space();
        let mut residual = space.scratch_vector()?;
        dirac.residual(&scaled.b, x, &mut residual)?;
        Ok(relative(&space.gram(&residual)?, &scales(&space.gram(&scaled.b)?)))
    })?;
    if let Some(left) = left {
        set_true_residuals(&mut residuals, &left);
        let true_residual = largest(&left);
        info.residual.true_residual = true_residual;
        // Written so that a NaN is not small enough.
        let small_enough = true_residual <= params.tol;
        if failure.is_none() && !small_enough {
            failure = Some(Failure::OutOfRange { true_residual });
        }
    }
    flattened((BlockSolution { x, residuals, info }, failure))
}

/// The result for all sources, and the failure if it is not the solution.
type Reached = (BlockSolution, Option<Failure>);

fn flattened((solution, failure): Reached) -> Result<BlockSolution, InvertError> {
    let Some(failure) = failure else { return Ok(solution) };
    let BlockSolution { x, info, .. } = solution;
    Err(InvertError::NotConverged { failure, best: Box::new(x), info: Box::new(info) })
}

/// Returns the norms of the sources, by which residuals are divided.
///
/// The norm of a source that is zero is replaced by 1.
fn scales(gram: &SquareMatrix) -> Vec<f64> {
    let scale = |norm| if norm == 0.0 { 1.0 } else { norm };
    gram.norms_of_gram().into_iter().map(scale).collect()
}

/// Solves for sources that are not far from 1, by an operator for as many.
fn solve_ordinary(
    dirac: &Dirac<f64>,
    b: &SpinorField<f64>,
    guess: Option<&SpinorField<f64>>,
    params: &BlockCgParams,
    checkpoints: Option<&mut dyn Checkpoints>,
) -> Result<Reached, InvertError> {
    let BlockCgParams { tol, max_iterations, precision, preconditioning } = *params;
    let stopping = stopping(tol, max_iterations);
    let space = dirac.spinor_space();
    let b_norms = scales(&space.gram(b)?);
    let mut residual = space.scratch_vector()?;
    let mut true_residuals = |x: &SpinorField<f64>| {
        dirac.residual(b, x, &mut residual)?;
        Ok(relative(&space.gram(&residual)?, &b_norms))
    };
    let checkpoints = checkpoints.map(|checkpoints| checkpoints as &mut dyn Checkpoints);
    let mut of_use = None;
    if let Some(guess) = guess {
        let residuals = true_residuals(guess)?;
        let mut copy = space.scratch_vector()?;
        space.copy(guess, &mut copy)?;
        // Low precision could not tell that the guess is the solution.
        if residuals.iter().all(|&residual| residual <= tol) {
            return Ok((already_found(copy, &residuals, dirac.work()), None));
        }
        // A column that is farther away than x = 0 starts from there.
        without_worse_than_zero(&mut copy, residuals)?;
        of_use = Some(copy);
    }
    let guess = of_use;
    let common = Common { b_norms: &b_norms, stopping, checkpoints };
    match preconditioning.schur_symmetry() {
        None => {
            let (guess, true_residuals) = (guess.as_ref(), &mut true_residuals);
            let equation = BlockEquation { operator: dirac, b, guess, true_residuals, common };
            finish(equation.solve(precision)?, Ok)
        }
        Some(symmetry) => {
            let parts = dirac.even_odd_parts(b, symmetry)?;
            let source = parts.source(b)?;
            let guess = guess.map(|guess| parts.even_part(&guess)).transpose()?;
            let mut x = space.scratch_vector()?;
            let mut true_residuals = |even: &ParityField<f64>| {
                parts.solution(even, &mut x)?;
                true_residuals(&x)
            };
            let operator = &dirac.schur_complement_in(symmetry)?;
            let (guess, true_residuals) = (guess.as_ref(), &mut true_residuals);
            let equation = BlockEquation { operator, b: &source, guess, true_residuals, common };
            let outcome = equation.solve(precision)?;
            // A residual that was found small enough has left its solution in `x`.
            let found = outcome.is_ok();
            finish(outcome, |even| {
                if !found {
                    parts.solution(&even, &mut x)?;
                }
                Ok(x)
            })
        }
    }
}

/// Returns a guess that is the solution, with the work of finding out.
fn already_found(x: SpinorField<f64>, residuals: &[f64], work: Work) -> BlockSolution {
    let residual = |value| Residual { iterated: value, true_residual: value };
    let largest = largest(residuals);
    let info = SolverInfo {
        iterations: 0,
        residual: residual(largest),
        history: vec![largest],
        applications: 1,
        time: Duration::ZERO,
        work,
    };
    BlockSolution { x, residuals: residuals.iter().copied().map(residual).collect(), info }
}

/// The result of a block method: solutions or the best iterates.
type BlockResult<V> = iteration::MethodResult<Block<V>>;

/// A function that computes relative residuals of the equation from its definition.
type TrueResiduals<'a, A> = dyn FnMut(&VectorOf<A>) -> Result<Vec<f64>, DeviceError> + 'a;

/// The data of an equation, with any preconditioning.
struct Common<'a> {
    /// The norms by which the sources' residuals are divided.
    b_norms: &'a [f64],
    stopping: Stopping,
    /// The keeper of the solve's states, if there is one.
    checkpoints: Option<&'a mut dyn Checkpoints>,
}

/// The equation A X = B, preconditioned or not.
///
/// B − A X is the residual of the original equation.
struct BlockEquation<'a, A: LinearOperator> {
    operator: &'a A,
    b: &'a VectorOf<A>,
    guess: Option<&'a VectorOf<A>>,
    true_residuals: &'a mut TrueResiduals<'a, A>,
    common: Common<'a>,
}

/// An operator on columns that exists in another precision too.
trait BlockInPrecision<R: Storage>: InPrecision<R, Low: BlockDiracOperator> {}

impl<R: Storage, A: InPrecision<R, Low: BlockDiracOperator>> BlockInPrecision<R> for A {}

impl<A> BlockEquation<'_, A>
where
    A: BlockInPrecision<f64>
        + BlockInPrecision<f32>
        + BlockInPrecision<Half>
        + LinearOperator<Space: BlockSpace>,
{
    /// Solves the equation.
    ///
    /// # Errors
    /// Errors of making operators. The method's own errors are in the outcome.
    fn solve(self, precision: IterationPrecision) -> Result<BlockResult<VectorOf<A>>, InvertError> {
        match precision {
            // The iterated residuals of a guess are relative to its own, so the true ones are looked at.
            IterationPrecision::Double if self.guess.is_some() => self.iterate::<f64>(LOOKED_AT),
            IterationPrecision::Double => self.iterate::<f64>(0.0),
            IterationPrecision::Single | IterationPrecision::Mixed(Inner::Single) => {
                self.iterate::<f32>(Inner::Single.replaced_at())
            }
            IterationPrecision::Mixed(Inner::Half) => self.iterate::<Half>(Inner::Half.replaced_at()),
        }
    }
}

impl<A: LinearOperator<Space: BlockSpace>> BlockEquation<'_, A> {
    /// Finds corrections in precision `R` to solutions in double.
    fn iterate<R: Storage>(self, replaced_at: f64) -> Result<BlockResult<VectorOf<A>>, InvertError>
    where
        A: BlockInPrecision<R>,
    {
        let Self { operator, b, guess, true_residuals, common } = self;
        let Common { b_norms, stopping, checkpoints } = common;
        let space = operator.space();
        let normal = Normal::new(&operator.in_precision()?)?;
        let low = normal.space();
        let (mut low_residual, mut source) = (low.scratch_vector()?, low.scratch_vector()?);
        A::lower(b, &mut low_residual)?;
        normal.adjoint().apply(&low_residual, &mut source)?;
        let mut residual = space.scratch_vector()?;
        let mut solution = space.zero_vector()?;
        // To the method the residual of the guess is the source. All its residuals are relative to it.
        let mut begun_at = vec![1.0; b_norms.len()];
        if let Some(guess) = guess {
            let whole = scales(&low.gram(&source)?);
            space.copy(guess, &mut solution)?;
            operator.residual(b, guess, &mut residual)?;
            A::lower(&residual, &mut low_residual)?;
            normal.adjoint().apply(&low_residual, &mut source)?;
            begun_at = relative(&low.gram(&source)?, &whole);
        }
        // Corrections may make the residual larger.
        let mut best = BestSolution::new(space.scratch_vector()?, f64::INFINITY);
        let (solution, replacements) = (RefCell::new(solution), Cell::new(0));
        let mut residuals = |x: &mut VectorOf<A::Low>, r: Option<&mut VectorOf<A::Low>>| {
            replacements.set(replacements.get() + 1);
            let mut solution = solution.borrow_mut();
            best.correct(&mut solution, &mut residual, |from, to| A::sum_with_raised(x, from, to))?;
            low.set_zero(x)?;
            let small = |relative: &[f64]| relative.iter().all(|&residual| residual <= stopping.tolerance);
            // Double precision replaces residuals only when the ones that count ought to be small
            // enough but are not. The residuals that count are therefore computed first.
            let known =
                if replaced_at == 0.0 && r.is_some() { Some(true_residuals(&solution)?) } else { None };
            if !known.as_deref().is_some_and(small) {
                operator.residual(b, &solution, &mut residual)?;
            }
            let relative = match known {
                Some(known) => known,
                None => {
                    let relative = relative(&space.gram(&residual)?, b_norms);
                    if small(&relative) { true_residuals(&solution)? } else { relative }
                }
            };
            best.judge(largest(&relative));
            if let Some(r) = r.filter(|_| !small(&relative)) {
                A::lower(&residual, &mut low_residual)?;
                normal.adjoint().apply(&low_residual, r)?;
            }
            Ok(relative)
        };
        let beside = Beside { solution: &solution, replacements: &replacements };
        let mut keeper = checkpoints.map(|checkpoints| Keeper {
            space: low,
            checkpoints,
            begun_at: largest(&begun_at),
            beside: Some(beside),
        });
        let keeper = keeper.as_mut().map(|keeper| keeper as &mut dyn StateKeeper<_, _>);
        let callbacks = BlockCallbacks::default()
            .with_residuals(Some(&mut residuals))
            .with_replaced_at(replaced_at)
            .with_keeper(keeper);
        let params = lattice_solvers::BlockCgOptions::default().with_stopping(stopping);
        let outcome = block_conjugate_gradient(&normal, &source, &params, callbacks);
        let work = operator.work().times(replacements.get());
        let solution = solution.into_inner();
        let with_solution = |mut residuals: Vec<Residual>| {
            residuals.iter_mut().zip(&begun_at).for_each(|(residual, begun)| residual.iterated *= begun);
            Block { x: solution, residuals }
        };
        Ok(match outcome {
            Ok((Block { residuals, .. }, mut info)) => {
                info.work += work;
                relate(&mut info, largest(&begun_at));
                Ok((with_solution(residuals), info))
            }
            Err(error) => {
                let mut error = error.map_best(|Block { residuals, .. }, _| Ok(with_solution(residuals)));
                if let SolverError::NotConverged { best: last, info, .. } = &mut error {
                    info.work += work;
                    relate(info, largest(&begun_at));
                    if let Some(better) = best.better_than_last() {
                        last.x = better;
                        set_true_residuals(&mut last.residuals, &true_residuals(&last.x)?);
                    }
                }
                Err(error)
            }
        })
    }
}

fn relative(gram: &SquareMatrix, b_norms: &[f64]) -> Vec<f64> {
    gram.norms_of_gram().into_iter().zip(b_norms).map(|(norm, b_norm)| norm / b_norm).collect()
}

fn true_residuals_of(residuals: &[Residual]) -> Vec<f64> {
    residuals.iter().map(|residual| residual.true_residual).collect()
}

fn set_true_residuals(residuals: &mut [Residual], found: &[f64]) {
    residuals.iter_mut().zip(found).for_each(|(residual, &found)| residual.true_residual = found);
}

/// Extends the result of the method to all sites.
fn finish<V>(
    outcome: BlockResult<V>,
    full: impl FnOnce(V) -> Result<SpinorField<f64>, DeviceError>,
) -> Result<Reached, InvertError> {
    let mut residuals = Vec::new();
    let full = |block: Block<V>| {
        residuals = block.residuals;
        full(block.x)
    };
    match methods::finish(outcome, full) {
        Ok((x, info)) => Ok((BlockSolution { x, residuals, info }, None)),
        Err(InvertError::NotConverged { failure, best, mut info }) => {
            let mut x = *best;
            let found = without_worse_than_zero(&mut x, true_residuals_of(&residuals))?;
            set_true_residuals(&mut residuals, &found);
            info.residual.true_residual = largest(&found);
            Ok((BlockSolution { x, residuals, info: *info }, Some(failure)))
        }
        Err(error) => Err(error),
    }
}
