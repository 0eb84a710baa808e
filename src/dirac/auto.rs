//! A method chosen by how it behaves: the fastest first, and from where it gives up a safer one.

use super::checkpoints::Checkpoints;
use super::plan::{IterationPrecision, Plan, Preconditioning};
use super::solve::{BicgstabParams, CgParams, CrParams, InvertError, SolveParams, solve};
use super::wilson::Wilson;
use crate::device::{DeviceError, Team};
use crate::lattice::{SpinorField, StoredField};
use lattice_solvers::{Failure, Residual, SolverInfo, SolverState, Wish};
use std::fmt;

/// Iterations over which BiCGStab has to bring the residual down if another method can still take over; 1000 where none can.
const PATIENCE: usize = 200;

/// How many times the iterations of an earlier source a method may take until another one takes over.
const TOLERATED_GROWTH: usize = 3;

/// The least for which the iterations of an earlier source may stand: of a few, three times as many are few too.
const FEW_ITERATIONS: usize = 20;

/// Parameters of [`Auto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations of all methods together. Default 10 000.
    pub max_iterations: usize,
    /// Precision of every iteration. Default `None`: [`IterationPrecision::mixed_on`] the team, and double at the end.
    pub precision: Option<IterationPrecision>,
    /// Which form of the equation is iterated. Default [`Preconditioning::EvenOdd`].
    pub preconditioning: Preconditioning,
}

impl Default for AutoParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, .. } = CrParams::default();
        Self { tol, max_iterations, precision: None, preconditioning: Preconditioning::EvenOdd }
    }
}

/// One method's part in a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The method, with its own limit of iterations.
    pub params: SolveParams,
    /// Iterations done.
    pub iterations: usize,
    /// The relative residuals at its end.
    pub residual: Residual,
    /// Why it gave up; `None` if it found the solution.
    pub failure: Option<Failure>,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { params, iterations, residual, failure } = self;
        write!(f, "{params}: {iterations} iterations to {:.3e}", residual.true_residual)?;
        failure.as_ref().map_or(Ok(()), |failure| write!(f, " ({failure})"))
    }
}

/// Attempts in the order in which they were made, as text.
pub(super) struct InOrder<'a>(pub &'a [Attempt]);

impl fmt::Display for InOrder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.0.iter().map(Attempt::to_string).collect();
        f.write_str(&texts.join("; "))
    }
}

/// Who watches a solve of [`Auto`].
pub trait Watch {
    /// Whether to stop; asked between two iterations whenever the residual has been looked at, so it must be quick.
    fn stops(&mut self) -> bool;

    /// A method gave up, and another goes on from the best iterate so far, whose residual is `from`: 1 if that is still x = 0.
    fn falls_back(&mut self, failed: &Attempt, next: &SolveParams, from: f64);
}

/// A solution and how it was found.
pub struct AutoSolution {
    /// The solution.
    pub x: SpinorField<f64>,
    /// How it went: of all methods together, but for the residual, which is that at the end.
    pub info: SolverInfo,
    /// The methods that were tried, the last of which found the solution.
    pub attempts: Vec<Attempt>,
}

/// Solves M x = b by BiCGStab; when this breaks down, stagnates, meets the limit of its precision or takes too many iterations, CG on M†M goes on from the
/// best iterate so far, and at last CG in double. For the sources that follow it begins with what worked for the one before.
///
/// BiCGStab has half of the iterations that are allowed; for later sources every method but the last has three times as many as it needed before.
///
/// Which method goes on when depends on residuals and numbers of iterations alone, never on time: the same equation is solved in the same way each time.
pub struct Auto {
    params: AutoParams,
    worked: Option<Worked>,
}

/// What found the last solution.
#[derive(Clone, Copy)]
struct Worked {
    /// Its place among [`Auto::steps`].
    step: usize,
    iterations: usize,
}

impl Auto {
    /// Nothing is known of the equation yet.
    pub fn new(params: AutoParams) -> Self {
        Self { params, worked: None }
    }

    /// What is tried, in this order.
    fn steps(&self, team: &Team) -> Vec<SolveParams> {
        let AutoParams { tol, max_iterations, precision, preconditioning } = self.params;
        let first = precision.unwrap_or(IterationPrecision::mixed_on(team));
        let cg = |precision| SolveParams::Cg(CgParams { tol, max_iterations, precision, preconditioning });
        let bicgstab = BicgstabParams { tol, max_iterations, precision: first, preconditioning };
        let mut steps = vec![SolveParams::Bicgstab(bicgstab), cg(first)];
        if precision.is_none() {
            steps.push(cg(IterationPrecision::Double));
        }
        steps
    }

    /// With what the next solve on this team begins.
    pub fn first_step(&self, team: &Team) -> SolveParams {
        self.steps(team)[self.worked.map_or(0, |worked| worked.step)]
    }

    /// Iterations that a step may take when `left` are left.
    fn limit(&self, step: usize, steps: usize, left: usize) -> usize {
        let limit = if step == 0 { left.div_ceil(2) } else { left };
        match self.worked {
            Some(worked) if worked.step == step && step + 1 < steps => {
                limit.min(TOLERATED_GROWTH * worked.iterations.max(FEW_ITERATIONS))
            }
            _ => limit,
        }
    }

    /// Solves M x = b, from x = 0.
    ///
    /// # Errors
    /// [`InvertError::AllGaveUp`] with the best iterate and all attempts; [`InvertError::NotConverged`] with [`Failure::Interrupted`] if `watch` stops it.
    pub fn solve(
        &mut self,
        wilson: &Wilson<f64>,
        b: &SpinorField<f64>,
        watch: &mut dyn Watch,
    ) -> Result<AutoSolution, InvertError> {
        let steps = self.steps(wilson.lattice().team());
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut whole: Option<SolverInfo> = None;
        // That of x = 0 is 1: an iterate with a larger one is worth nothing.
        let (mut best, mut smallest) = (None::<SpinorField<f64>>, 1.0);
        let mut left = self.params.max_iterations;
        for (k, params) in steps.iter().enumerate().skip(self.worked.map_or(0, |worked| worked.step)) {
            let params = params.with_limit(self.limit(k, steps.len(), left));
            if let Some(failed) = attempts.last() {
                if left == 0 {
                    break;
                }
                watch.falls_back(failed, &params, smallest);
            }
            let mut plan = Plan::from(params);
            if let SolveParams::Bicgstab(_) = params {
                plan.stopping.stagnation_window = PATIENCE;
            }
            let (x, info, failure) =
                match solve(wilson, b, best.as_ref(), plan, Some(&mut Stops(&mut *watch))) {
                    Ok((x, info)) => (x, info, None),
                    Err(InvertError::NotConverged { failure, best, info }) => (*best, *info, Some(failure)),
                    Err(error) => return Err(error),
                };
            let (iterations, residual) = (info.iterations, info.residual);
            left = left.saturating_sub(iterations);
            attempts.push(Attempt { params, iterations, residual, failure });
            let mut info = joined(whole.take(), info);
            let Some(failure) = failure else {
                self.worked = Some(Worked { step: k, iterations });
                return Ok(AutoSolution { x, info, attempts });
            };
            // Written so that a residual that is not a number is not the smallest.
            if residual.true_residual < smallest {
                (best, smallest) = (Some(x), residual.true_residual);
            }
            if failure == Failure::Interrupted {
                info.residual.true_residual = smallest;
                let best = Box::new(best.map_or_else(|| wilson.lattice().spinor(), Ok)?);
                return Err(InvertError::NotConverged { failure, best, info: Box::new(info) });
            }
            whole = Some(info);
        }
        let mut info = whole.expect("the first step is always taken");
        info.residual.true_residual = smallest;
        let best = Box::new(best.map_or_else(|| wilson.lattice().spinor(), Ok)?);
        Err(InvertError::AllGaveUp { best, info: Box::new(info), attempts })
    }
}

/// What two attempts did together, one after the other.
fn joined(before: Option<SolverInfo>, after: SolverInfo) -> SolverInfo {
    let Some(mut whole) = before else { return after };
    whole.iterations += after.iterations;
    whole.residual = after.residual;
    // Where the second begins the first has ended.
    whole.history.extend(after.history.into_iter().skip(1));
    whole.applications += after.applications;
    whole.time += after.time;
    whole.work += after.work;
    whole
}

/// Ends a solve when it is wished, and keeps no states: they do not know what was tried before.
struct Stops<'a>(&'a mut dyn Watch);

impl Checkpoints for Stops<'_> {
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        None
    }

    fn wish(&mut self) -> Wish {
        if self.0.stops() { Wish::Stop } else { Wish::GoOn }
    }

    fn keep(&mut self, _: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        Ok(())
    }
}
