//! One method with its preconditioner: a solve, and its refinement.

use super::options::{Method, SolveOptions, Watch};
use super::outcome::{Attempt, PreconditionerInfo, SolveError};
use super::system::System;
use crate::error::BlasError;
use crate::host::level1::{self, Arithmetic};
use crate::sparse::csr::Csr;
use lattice_solvers::range::larger;
use lattice_solvers::{
    Callbacks, Failure, LinearOperator, Look, MethodOptions, Needs, Operator, OperatorPreconditioner,
    Preconditioner, SolverError, SolverInfo, StateKeeper, Stopping, Task, VectorOf, Wish,
};

/// Bound of BiCGStab's breakdown, some hundred roundings of a sum in double.
///
/// Ill-conditioned matrices bring the residual near 1e-12 of orthogonal to the first one. A start
/// from there loses the directions that are known by then.
const BREAKDOWN: f64 = 1e-13;

/// A method with everything but the right-hand side.
pub(super) struct PreparedMethod<'a, T, S: System<T>> {
    pub system: &'a S,
    pub source: &'a Csr<T>,
    pub method: Method,
    pub preconditioner: Option<&'a dyn LinearOperator<Space = S::Space>>,
    pub changes: bool,
    pub options: &'a SolveOptions<T>,
}

/// Most steps of refinement.
const MOST_STEPS: usize = 30;

/// Residual to which a system with rounded values is solved in a step of refinement.
const TOLERANCE_OF_STEP: f64 = 1e-6;

impl<T: Arithmetic, S: System<T>> PreparedMethod<'_, T, S> {
    /// Solves, and refines the solution while values are rounded.
    ///
    /// Returns the steps of refinement as well.
    pub(super) fn refined(
        &self,
        b: &[T],
        preconditioner: PreconditionerInfo,
        watch: &mut Option<Watch<'_>>,
    ) -> Result<(Vec<T>, Attempt, usize), SolveError> {
        let tolerance = self.options.stopping.tolerance;
        let is_rounded = self.options.single_values && !is_single(self.source);
        let scale = level1::nrm2(b);
        let began = self.system.stopwatch();
        let mut attempt = Attempt {
            method: self.method,
            preconditioner,
            iterations: 0,
            iterated: f64::INFINITY,
            true_residual: f64::INFINITY,
            history: Vec::new(),
            seconds: 0.0,
            failure: None,
        };
        let mut x = vec![T::default(); b.len()];
        let mut right_side = b.to_vec();
        let mut steps = 0;
        loop {
            // The share of the first residual that is left.
            let share = if scale == 0.0 { 1.0 } else { level1::nrm2(&right_side) / scale };
            let of_step = if is_rounded { (tolerance / share).max(TOLERANCE_OF_STEP) } else { tolerance };
            let (step, info, failure) = self.once(&right_side, of_step, watch)?;
            level1::axpy(T::from_complex(1.0.into()), &step, &mut x);
            attempt.iterations += info.iterations;
            attempt.iterated = share * info.residual.iterated;
            let skipped = usize::from(steps > 0);
            attempt.history.extend(info.history.iter().skip(skipped).map(|residual| share * residual));
            attempt.failure = failure;
            let before = attempt.true_residual;
            [attempt.true_residual, _] = residuals(self.source, b, &x);
            let gains = attempt.true_residual < 0.5 * before;
            if !is_rounded
                || failure.is_some()
                || attempt.true_residual <= tolerance
                || !gains
                || steps == MOST_STEPS
            {
                break;
            }
            self.source.multiply(&x, &mut right_side);
            right_side.iter_mut().zip(b).for_each(|(r, b)| *r = *b - *r);
            steps += 1;
        }
        attempt.seconds = began.seconds();
        Ok((x, attempt, steps))
    }

    /// Solves once, to a tolerance.
    fn once(
        &self,
        b: &[T],
        tolerance: f64,
        watch: &mut Option<Watch<'_>>,
    ) -> Result<(Vec<T>, SolverInfo, Option<Failure>), SolveError> {
        let stopping = self.options.stopping.with_tolerance(tolerance);
        let right_side = self.system.vector(b)?;
        let mut keeper = Watcher {
            method: self.method,
            watch: watch.as_mut().map(|watch| &mut **watch as Watch<'_>),
            stop: false,
        };
        let (x, info, failure) = match self.attempt(&right_side, stopping, &mut keeper) {
            Ok((x, info)) => (x, info, None),
            Err(SolverError::NotConverged { failure, best, info }) => (best, *info, Some(failure)),
            Err(SolverError::Source(error)) => return Err(error.into()),
            Err(SolverError::Operation(error)) => return Err(error.into()),
            Err(SolverError::Parameter { name, value, allowed }) => {
                return Err(SolveError::Parameter { name, value, allowed });
            }
            Err(SolverError::ForeignState(_)) => unreachable!("no state is kept"),
        };
        self.system.finish()?;
        Ok((self.system.values(&x)?, info, failure))
    }

    /// Solves by the method, with its preconditioner, which may be no fixed operator.
    fn attempt(
        &self,
        b: &VectorOf<S::Matrix>,
        stopping: Stopping,
        keeper: &mut dyn StateKeeper<VectorOf<S::Matrix>, BlasError>,
    ) -> MethodResult<VectorOf<S::Matrix>> {
        let method = self.method.krylov();
        let adjoint = if method.needs() == Needs::Adjoint { Some(self.system.adjoint()?) } else { None };
        let breakdown = (self.method == Method::Bicgstab).then_some(BREAKDOWN);
        let changes = self.changes && self.method.bears_changes();
        let mut preconditioner =
            self.preconditioner.map(|operator| OperatorPreconditioner { operator, changes });
        method.solve(Task {
            operator: self.system.matrix(),
            adjoint: adjoint.as_ref().map(|adjoint| adjoint as &Operator<'_, S::Space>),
            b,
            guess: None,
            options: MethodOptions::default()
                .with_stopping(stopping)
                .with_breakdown(breakdown)
                .with_restart(self.options.restart),
            preconditioner: preconditioner.as_mut().map(|k| k as &mut dyn Preconditioner<_>),
            callbacks: Callbacks::default().with_keeper(Some(keeper)),
        })
    }
}

/// Hands looks at the residual to a watch.
struct Watcher<'a> {
    method: Method,
    watch: Option<Watch<'a>>,
    stop: bool,
}

impl<V, E> StateKeeper<V, E> for Watcher<'_> {
    fn looked(&mut self, look: &Look) {
        if let Some(watch) = &mut self.watch {
            self.stop = !watch(self.method, look);
        }
    }

    fn wish(&mut self) -> Wish {
        if self.stop { Wish::Stop } else { Wish::GoOn }
    }
}

type MethodResult<V> = Result<(V, SolverInfo), SolverError<V, BlasError>>;

/// Tells whether all values are numbers of single precision.
fn is_single<T: Arithmetic>(matrix: &Csr<T>) -> bool {
    matrix.values().iter().all(|value| {
        let value = value.to_complex();
        let same = |part: f64| f64::from(part as f32) == part;
        same(value.re) && same(value.im)
    })
}

/// Returns ‖b − A x‖ / ‖b‖ and the backward error, computed on the host.
pub(super) fn residuals<T: Arithmetic>(matrix: &Csr<T>, b: &[T], x: &[T]) -> [f64; 2] {
    let mut r = vec![T::default(); b.len()];
    matrix.multiply(x, &mut r);
    r.iter_mut().zip(b).for_each(|(r, b)| *r = *b - *r);
    let largest = |x: &[T]| x.iter().map(|x| x.to_complex().norm()).fold(0.0, larger);
    let (size, scale) = (level1::nrm2(&r), level1::nrm2(b));
    let relative = if scale == 0.0 { size } else { size / scale };
    let below = matrix.norm_infinity() * largest(x) + largest(b);
    [relative, if below == 0.0 { 0.0 } else { largest(&r) / below }]
}
