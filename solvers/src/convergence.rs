//! When to stop: what every method shares.

use crate::best::Best;
use crate::callbacks::Callbacks;
use crate::clock::Clock;
use crate::keeper::{Look, StateKeeper, Wish};
use crate::outcome::{Failure, Residual, Solution, SolverError, SolverInfo};
use crate::pace::Pace;
use crate::shadow::HOPELESS_GROWTH;
use crate::source;
use crate::state::{ForeignState, Missing, NANOSECONDS, Names, Resumed, SolverState, named_values};
use crate::true_residual::{Replaced, TrueResidual};
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, ScalarOf, VectorOf, VectorSpace};
use num_complex::Complex64;
use std::time::Duration;

/// When a solver stops. Shared by all methods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopping {
    /// Wanted ‖b − A x‖ / ‖b‖, the true one. Default 1e-10.
    pub tolerance: f64,
    /// Most iterations. Default 10 000.
    pub max_iterations: usize,
    /// Iterations from one look at the residual to the next.
    ///
    /// A look waits for the device. Default `None`: so many that looks cost little
    /// ([`VectorSpace::bytes_during_a_read`]), and fewer when the end is near.
    pub look_every: Option<usize>,
    /// Window of iterations in which the residual must fall. Default 1000.
    ///
    /// The solve gives up when the residual fell by less than one per cent over the window.
    pub stagnation_window: usize,
}

impl Default for Stopping {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 10_000, look_every: None, stagnation_window: 1000 }
    }
}

/// The smallest iterated residual with a meaning, the square of double precision.
///
/// Below it there are only underflows and quotients of them.
const SMALLEST_MEANINGFUL: f64 = f64::EPSILON * f64::EPSILON;

/// The factor by which an iterated residual may be too small.
///
/// Beyond it, the iterated residual has lost touch with its system by rounding.
const DRIFT: f64 = 2.0;

/// The number of replaced residuals that may fail to be smaller than the last.
const FUTILE_REPLACEMENTS: usize = 3;

/// The result of a solve.
pub(crate) type SolveResult<A> = Result<Solution<VectorOf<A>>, ErrorIn<A>>;

/// The reason why a solve with an operator failed.
type ErrorIn<A> = SolverError<VectorOf<A>, ErrorOf<A>>;

/// A solve in progress: its history, its counters, and the decision when to stop.
pub(crate) struct Progress<'a, 'f, A: LinearOperator> {
    operator: &'a A,
    b: &'a VectorOf<A>,
    b_norm: f64,
    /// The vector at which the solve begins, if not at zero.
    guess: Option<&'a VectorOf<A>>,
    stopping: Stopping,
    true_residual: Option<TrueResidual<'f, A>>,
    keeper: Option<&'f mut dyn StateKeeper<VectorOf<A>, ErrorOf<A>>>,
    /// The iterated residual at which the true one is computed next.
    target: f64,
    last_true: f64,
    /// The iterated residual when it was replaced last.
    replaced: f64,
    futile: usize,
    best: Best<VectorOf<A>>,
    history: Vec<f64>,
    /// The length of the history before the stagnation window.
    ///
    /// The second field is the smallest residual in this part of the history.
    left_the_window: usize,
    smallest_before: f64,
    /// (r, r) of the iterations that have not been looked at.
    unseen: Vec<ScalarOf<A>>,
    /// The last (r, r) that was looked at.
    r_norm2: f64,
    next_look: usize,
    bytes_of_look: u64,
    pub iterations: usize,
    applications: usize,
    pub work: Work,
    clock: Clock,
    /// The time of the earlier solve whose state this solve resumes.
    earlier: Duration,
    scratch: VectorOf<A>,
}

/// The beginning of a solve.
pub(crate) struct Beginning<A: LinearOperator> {
    pub x: VectorOf<A>,
    pub r: VectorOf<A>,
    pub r_norm2: ScalarOf<A>,
    /// Set if there is nothing to do.
    pub verdict: Option<Verdict>,
}

/// The next step of a solve after a look.
pub(crate) enum Step<S> {
    Continue,
    /// x and r were replaced, and this is the new (r, r).
    Replaced(S),
    Done(Verdict),
}

/// The end of a solve.
pub(crate) enum Verdict {
    Converged,
    GaveUp(Failure),
}

impl<'a, 'f, A: LinearOperator> Progress<'a, 'f, A> {
    pub fn start(
        operator: &'a A,
        b: &'a VectorOf<A>,
        guess: Option<&'a VectorOf<A>>,
        stopping: Stopping,
        callbacks: impl Into<Callbacks<'f, A>>,
    ) -> Result<Self, ErrorIn<A>> {
        let clock = Clock::start(operator.space());
        let Callbacks { true_residual, keeper } = callbacks.into();
        if stopping.tolerance.is_nan() || stopping.tolerance <= 0.0 {
            return Err(SolverError::Parameter {
                name: "tolerance",
                value: stopping.tolerance,
                allowed: "a positive number",
            });
        }
        let space = operator.space();
        let [b_norm2] = space.read([&space.norm2(b)?])?;
        source::check(space, b, b_norm2.re, |x| Ok(space.read([&space.norm2(x)?])?[0].re))?
            .map_err(SolverError::Source)?;
        Ok(Self {
            operator,
            b,
            guess,
            b_norm: b_norm2.re.sqrt(),
            stopping,
            true_residual,
            keeper,
            target: stopping.tolerance,
            last_true: f64::NAN,
            replaced: f64::NAN,
            futile: 0,
            best: Best::none(space)?,
            history: Vec::new(),
            left_the_window: 0,
            smallest_before: f64::INFINITY,
            unseen: Vec::new(),
            r_norm2: f64::NAN,
            next_look: 0,
            bytes_of_look: 0,
            iterations: 0,
            applications: 0,
            work: Work::default(),
            clock,
            earlier: Duration::ZERO,
            scratch: space.zero_vector()?,
        })
    }

    /// Returns the time that the solve has taken so far.
    fn time(&self) -> Duration {
        self.earlier + self.clock.elapsed(self.operator.space())
    }

    /// Resumes from a kept state, if there is one.
    ///
    /// This takes the place of [`begin`](Self::begin).
    pub fn resume<const V: usize, const S: usize, const N: usize>(
        &mut self,
        names: &Names<V, S, N>,
    ) -> Result<Option<Resumed<A, V, S, N>>, ErrorIn<A>> {
        let Some(keeper) = &mut self.keeper else { return Ok(None) };
        let Some(mut state) = keeper.kept()? else { return Ok(None) };
        let found = state.method.to_string();
        let foreign = |needed: String| {
            SolverError::ForeignState(ForeignState { method: names.method, needed, found: found.clone() })
        };
        if state.method != names.method {
            return Err(foreign(format!("one of {}", names.method)));
        }
        let missing = |Missing(name)| foreign(format!("`{name}`"));
        self.take_back(&mut state).map_err(missing)?;
        let vectors = state.vectors(names.vectors).map_err(missing)?;
        let space = self.operator.space();
        let mut scalars = Vec::with_capacity(S);
        for name in names.scalars {
            scalars.push(space.inner_product(state.scalar(name).map_err(missing)?)?);
        }
        let mut numbers = [0.0; N];
        for (number, name) in numbers.iter_mut().zip(names.numbers) {
            *number = state.number(name).map_err(missing)?;
        }
        let Ok(scalars) = scalars.try_into() else { unreachable!("there are as many as names") };
        Ok(Some(Resumed { vectors, scalars, numbers }))
    }

    /// Takes the parts of a state that every method has.
    fn take_back(&mut self, state: &mut SolverState<VectorOf<A>>) -> Result<(), Missing> {
        self.iterations = state.count("iterations")? as usize;
        self.applications = state.count("applications")? as usize;
        self.next_look = state.count("next look")? as usize;
        self.futile = state.count("futile replacements")? as usize;
        self.work = Work { flops: state.count("flops")?, bytes: state.count("bytes")? };
        self.earlier = Duration::from_nanos(state.count(NANOSECONDS)?);
        self.target = state.number("target")?;
        self.last_true = state.number("true residual")?;
        self.replaced = state.number("replaced residual")?;
        self.r_norm2 = state.number("last (r, r)")?;
        let [x] = state.vectors(["best x"])?;
        self.best = Best { x, r_norm2: state.number("best (r, r)")? };
        self.history = std::mem::take(&mut state.history);
        Ok(())
    }

    /// Hands the state to the keeper if a state is wanted now.
    ///
    /// Returns a verdict if the solve is to stop. To be called between iterations.
    pub fn keep<const V: usize, const S: usize, const N: usize>(
        &mut self,
        names: &Names<V, S, N>,
        vectors: [&VectorOf<A>; V],
        scalars: [&ScalarOf<A>; S],
        numbers: [f64; N],
    ) -> Result<Option<Verdict>, ErrorOf<A>> {
        // After a look nothing has to be read but the scalars.
        if self.unseen.is_empty() { self.keep_now(names, vectors, scalars, numbers) } else { Ok(None) }
    }

    /// Hands the state over like [`keep`](Self::keep), but also between looks.
    ///
    /// The residual need not have just been looked at.
    pub fn keep_now<const V: usize, const S: usize, const N: usize>(
        &mut self,
        names: &Names<V, S, N>,
        vectors: [&VectorOf<A>; V],
        scalars: [&ScalarOf<A>; S],
        numbers: [f64; N],
    ) -> Result<Option<Verdict>, ErrorOf<A>> {
        let wish = self.keeper.as_mut().map_or(Wish::GoOn, |keeper| keeper.wish());
        if wish != Wish::GoOn {
            self.read([])?;
        }
        let nanoseconds = self.time().as_nanos() as u64;
        if let (Some(keeper), Wish::Keep | Wish::KeepAndStop) = (&mut self.keeper, wish) {
            let values = self.operator.space().read(scalars)?;
            let counts = [
                ("iterations", self.iterations as u64),
                ("applications", self.applications as u64),
                ("next look", self.next_look as u64),
                ("futile replacements", self.futile as u64),
                ("flops", self.work.flops),
                ("bytes", self.work.bytes),
                (NANOSECONDS, nanoseconds),
            ];
            let own = [
                ("target", self.target),
                ("true residual", self.last_true),
                ("replaced residual", self.replaced),
                ("last (r, r)", self.r_norm2),
                ("best (r, r)", self.best.r_norm2),
            ];
            keeper.keep(&SolverState {
                method: names.method.into(),
                vectors: named_values(
                    names.vectors.into_iter().zip(vectors).chain([("best x", &self.best.x)]),
                ),
                scalars: named_values(names.scalars.into_iter().zip(values)),
                numbers: named_values(names.numbers.into_iter().zip(numbers).chain(own)),
                counts: named_values(counts),
                history: self.history.clone(),
            })?;
        }
        let stops = matches!(wish, Wish::Stop | Wish::KeepAndStop);
        Ok(stops.then_some(Verdict::GaveUp(Failure::Interrupted)))
    }

    /// Computes x and r = b − A x from the guess or zero, and looks at r.
    ///
    /// A guess with a much larger residual than zero has is left: its rounding errors would stay.
    pub fn begin(&mut self) -> Result<Beginning<A>, ErrorOf<A>> {
        let space = self.operator.space();
        let (mut x, mut r) = (space.zero_vector()?, space.zero_vector()?);
        if let Some(guess) = self.guess {
            self.residual(guess, &mut r)?;
            let [norm2] = space.read([&space.norm2(&r)?])?;
            // Written so that NaN is dropped, too.
            let of_use = norm2.re <= HOPELESS_GROWTH * self.b_norm * self.b_norm;
            self.guess = self.guess.filter(|_| of_use);
        }
        match self.guess {
            None => space.copy(self.b, &mut r)?,
            Some(guess) => space.copy(guess, &mut x)?,
        }
        let mut r_norm2 = space.norm2(&r)?;
        self.unseen.push(r_norm2.clone());
        self.read([])?;
        self.replaced = self.r_norm2.sqrt() / self.scale();
        let verdict = match self.judge(&mut x, &mut r)? {
            Step::Continue => None,
            Step::Replaced(norm2) => {
                r_norm2 = norm2;
                None
            }
            Step::Done(verdict) => Some(verdict),
        };
        Ok(Beginning { x, r, r_norm2, verdict })
    }

    /// Computes r = b − A x.
    fn residual(&mut self, x: &VectorOf<A>, r: &mut VectorOf<A>) -> Result<(), ErrorOf<A>> {
        self.count_application();
        self.operator.residual(self.b, x, r)
    }

    pub fn count_application(&mut self) {
        self.applications += 1;
        self.work += self.operator.work();
    }

    /// Counts applications whose work is in the work of a preconditioner.
    pub fn count_applications_of_preconditioner(&mut self, count: usize) {
        self.applications += count;
    }

    pub fn count_application_with_products(&mut self) {
        self.applications += 1;
        self.work += self.operator.work_with_products();
    }

    pub fn count_descent(&mut self) {
        self.applications += 1;
        self.work += self.operator.work_of_descent();
    }

    pub fn count_subtraction(&mut self) {
        self.applications += 1;
        self.work += self.operator.work_of_subtraction();
    }

    /// Counts an iteration, with its (r, r).
    pub fn iterated(&mut self, r_norm2: &ScalarOf<A>) {
        self.iterations += 1;
        self.unseen.push(r_norm2.clone());
    }

    /// Sets the number of additional bytes that an iteration with a look moves.
    pub fn looks_move(&mut self, bytes: u64) {
        self.bytes_of_look = bytes;
    }

    /// Tells whether the residual is looked at now.
    pub fn looks(&self) -> bool {
        self.iterations >= self.next_look || self.iterations >= self.stopping.max_iterations
    }

    /// Reads some scalars, and all (r, r) that have not been seen.
    pub fn read<const N: usize>(&mut self, scalars: [&ScalarOf<A>; N]) -> Result<[Complex64; N], ErrorOf<A>> {
        let all: Vec<_> = scalars.into_iter().chain(&self.unseen).collect();
        let values = self.operator.space().read_all(&all)?;
        let scale = self.scale();
        self.history.extend(values[N..].iter().map(|norm2| norm2.re.sqrt() / scale));
        self.r_norm2 = values[N..].last().map_or(self.r_norm2, |norm2| norm2.re);
        self.unseen.clear();
        Ok(std::array::from_fn(|k| values[k]))
    }

    /// Returns the norm to which relative residuals refer.
    fn scale(&self) -> f64 {
        // A source equal to zero has the solution zero: its residual is counted absolutely.
        if self.b_norm == 0.0 { 1.0 } else { self.b_norm }
    }

    /// Decides if `x` solves the system, or why to give up.
    ///
    /// To be called after [`read`](Self::read). The watcher is told.
    pub fn judge(
        &mut self,
        x: &mut VectorOf<A>,
        r: &mut VectorOf<A>,
    ) -> Result<Step<ScalarOf<A>>, ErrorOf<A>> {
        let iterated = self.r_norm2.sqrt() / self.scale();
        let step = self.decide(iterated, x, r)?;
        if let Some(keeper) = &mut self.keeper {
            let residual = Residual { iterated, true_residual: self.last_true };
            keeper.looked(&Look { iterations: self.iterations, residual });
        }
        Ok(step)
    }

    /// Returns the decision of [`judge`](Self::judge) for this iterated residual.
    fn decide(
        &mut self,
        iterated: f64,
        x: &mut VectorOf<A>,
        r: &mut VectorOf<A>,
    ) -> Result<Step<ScalarOf<A>>, ErrorOf<A>> {
        if !iterated.is_finite() {
            return Ok(Step::Done(Verdict::GaveUp(Failure::NotFinite { quantity: "‖r‖" })));
        }
        let mut step = Step::Continue;
        if let Some(TrueResidual::Replaced { at, .. }) = self.true_residual {
            if iterated <= self.target.max(SMALLEST_MEANINGFUL) || iterated <= at * self.replaced {
                match self.replace(x, r)? {
                    (_, Some(verdict)) => return Ok(Step::Done(verdict)),
                    (norm2, None) => step = Step::Replaced(norm2),
                }
            }
        } else {
            // Iterates that are corrections are not kept: nothing is lost with the last one.
            self.best.offer(self.operator.space(), x, self.r_norm2)?;
            if iterated <= self.target.max(SMALLEST_MEANINGFUL)
                && let Some(verdict) = self.judge_true(iterated, x)?
            {
                return Ok(Step::Done(verdict));
            }
        }
        if self.iterations >= self.stopping.max_iterations {
            let limit = self.stopping.max_iterations;
            return Ok(Step::Done(Verdict::GaveUp(Failure::IterationLimit { limit })));
        }
        if let Some(failure) = self.stagnated(iterated) {
            return Ok(Step::Done(Verdict::GaveUp(failure)));
        }
        self.schedule(iterated);
        Ok(step)
    }

    /// Compares the true residual of `x` with the tolerance.
    fn judge_true(&mut self, iterated: f64, x: &VectorOf<A>) -> Result<Option<Verdict>, ErrorOf<A>> {
        let true_residual = self.compute_true(x)?;
        if true_residual <= self.stopping.tolerance {
            self.last_true = true_residual;
            return Ok(Some(Verdict::Converged));
        }
        // The iterated residual may be that of another system (normal equations) or have drifted by
        // rounding: it has to fall further by as much as the true one is above the tolerance.
        let improved = self.last_true.is_nan() || true_residual < 0.9 * self.last_true;
        self.last_true = true_residual;
        // The residual of another system may follow slowly. Only rounding keeps it from following
        // at all.
        let stuck = !improved && self.own_residual(x)? > DRIFT * iterated;
        if stuck || true_residual.is_nan() || iterated <= SMALLEST_MEANINGFUL {
            return Ok(Some(Verdict::GaveUp(Failure::PrecisionLimit { iterated, true_residual })));
        }
        self.target = 0.95 * iterated * self.stopping.tolerance / true_residual;
        Ok(None)
    }

    /// Moves x to the solution that is kept elsewhere, and replaces the residual.
    ///
    /// Returns the new (r, r).
    fn replace(
        &mut self,
        x: &mut VectorOf<A>,
        r: &mut VectorOf<A>,
    ) -> Result<(ScalarOf<A>, Option<Verdict>), ErrorOf<A>> {
        let Some(TrueResidual::Replaced { replace, .. }) = &mut self.true_residual else {
            unreachable!("only a residual that is to be replaced is");
        };
        let Replaced { true_residual, r_norm2, value } = replace(x, r)?;
        // x is zero now, as the best one was made.
        self.best.r_norm2 = value;
        let iterated = value.sqrt() / self.scale();
        let improved = self.last_true.is_nan() || true_residual < 0.9 * self.last_true;
        self.futile = if improved { 0 } else { self.futile + 1 };
        self.last_true = true_residual;
        self.replaced = iterated;
        // The residual of another system may fall far before the true one follows. After a
        // replacement in vain it therefore falls as far as low precision lets it.
        self.target = if improved { 0.95 * iterated * self.stopping.tolerance / true_residual } else { 0.0 };
        let verdict = if true_residual <= self.stopping.tolerance {
            Some(Verdict::Converged)
        } else if true_residual.is_nan() || self.futile >= FUTILE_REPLACEMENTS {
            Some(Verdict::GaveUp(Failure::PrecisionLimit { iterated, true_residual }))
        } else {
            None
        };
        Ok((r_norm2, verdict))
    }

    /// Goes back to the best iterate: x, r and its (r, r).
    pub fn restore(&mut self, x: &mut VectorOf<A>, r: &mut VectorOf<A>) -> Result<ScalarOf<A>, ErrorOf<A>> {
        let space = self.operator.space();
        space.copy(&self.best.x, x)?;
        if let Some(TrueResidual::Replaced { replace, .. }) = &mut self.true_residual {
            let Replaced { true_residual, r_norm2, value } = replace(x, r)?;
            self.last_true = true_residual;
            self.r_norm2 = value;
            self.best.r_norm2 = value;
            self.replaced = value.sqrt() / self.scale();
            return Ok(r_norm2);
        }
        self.residual(x, r)?;
        let norm2 = space.norm2(r)?;
        let [value] = space.read([&norm2])?;
        self.r_norm2 = value.re;
        Ok(norm2)
    }

    /// Returns the (r, r) of the last look, as a multiple of the best one.
    pub fn growth(&self) -> f64 {
        self.r_norm2 / self.best.r_norm2
    }

    /// Returns the (r, r) of the last look.
    pub fn r_norm2(&self) -> f64 {
        self.r_norm2
    }

    /// Decides when the next look is.
    fn schedule(&mut self, iterated: f64) {
        let step = self.stopping.look_every.unwrap_or_else(|| {
            let (due, replaces) = match self.true_residual {
                Some(TrueResidual::Replaced { at, .. }) => (self.target.max(at * self.replaced), true),
                _ => (self.target, false),
            };
            let pace = Pace {
                bytes_of_look: self.operator.space().bytes_during_a_read() + self.bytes_of_look,
                bytes_of_iteration: self.work.bytes / self.iterations.max(1) as u64,
                replaces,
                due,
                iterated,
                history: &self.history,
                undisturbed: self.iterations,
            };
            pace.step()
        });
        self.next_look = self.iterations + step.max(1);
    }

    /// Called once for each look.
    fn stagnated(&mut self, residual: f64) -> Option<Failure> {
        let window = self.stopping.stagnation_window;
        let recent = self.history.len().checked_sub(window.max(1))?;
        let smallest = |first: f64, part: &[f64]| part.iter().copied().fold(first, f64::min);
        // Only values that left the window since the last look are compared.
        self.smallest_before = smallest(self.smallest_before, &self.history[self.left_the_window..recent]);
        self.left_the_window = recent;
        let since = smallest(f64::INFINITY, &self.history[recent..]);
        (since > 0.99 * self.smallest_before).then_some(Failure::Stagnation { residual, window })
    }

    fn compute_true(&mut self, x: &VectorOf<A>) -> Result<f64, ErrorOf<A>> {
        match &mut self.true_residual {
            Some(TrueResidual::Computed(residual)) => residual(x),
            _ => self.own_residual(x),
        }
    }

    /// Computes ‖b − A x‖ / ‖b‖ of the iterated system, from the definition.
    fn own_residual(&mut self, x: &VectorOf<A>) -> Result<f64, ErrorOf<A>> {
        let space = self.operator.space();
        self.operator.residual(self.b, x, &mut self.scratch)?;
        self.applications += 1;
        let [norm2] = space.read([&space.norm2(&self.scratch)?])?;
        Ok(norm2.re.sqrt() / self.scale())
    }

    /// Goes back to the start of the solve if x is worse.
    ///
    /// The iterated residual does not show this if it belongs to another system, or has lost touch.
    fn prefer_beginning(&mut self, x: &mut VectorOf<A>) -> Result<(), ErrorOf<A>> {
        let corrections = matches!(self.true_residual, Some(TrueResidual::Replaced { .. }));
        // The relative residual of x = 0 is 1.
        if corrections || (self.guess.is_none() && self.last_true <= 1.0) {
            return Ok(());
        }
        let beginning = match self.guess {
            Some(guess) => self.compute_true(guess)?,
            None => {
                let zero = self.operator.space().zero_vector()?;
                self.compute_true(&zero)?
            }
        };
        // Written so that NaN is not the best residual.
        let best = self.last_true <= beginning;
        if !best {
            let space = self.operator.space();
            match self.guess {
                None => space.set_zero(x)?,
                Some(guess) => space.copy(guess, x)?,
            }
            self.last_true = beginning;
        }
        Ok(())
    }

    /// Ends the solve.
    ///
    /// A failure carries the best iterate. The solve succeeds if the residual of the best iterate
    /// is found to be small enough.
    pub fn finish(mut self, mut x: VectorOf<A>, verdict: Verdict) -> SolveResult<A> {
        if let Verdict::GaveUp(_) = verdict {
            // Written so that NaN is not the best residual.
            let last_is_best = self.r_norm2 <= self.best.r_norm2;
            if !last_is_best {
                self.operator.space().copy(&self.best.x, &mut x)?;
            }
            self.last_true = match &mut self.true_residual {
                Some(TrueResidual::Replaced { replace, .. }) => {
                    replace(&mut x, &mut self.scratch)?.true_residual
                }
                _ => self.compute_true(&x)?,
            };
            self.prefer_beginning(&mut x)?;
        }
        let small_enough = self.last_true <= self.stopping.tolerance;
        let verdict = match verdict {
            // It may have given up for another reason in the iteration that converged.
            Verdict::GaveUp(failure) if small_enough && failure != Failure::Interrupted => Verdict::Converged,
            other => other,
        };
        let time = self.time();
        let info = SolverInfo {
            iterations: self.iterations,
            residual: Residual {
                iterated: self.history.last().copied().unwrap_or(f64::NAN),
                true_residual: self.last_true,
            },
            history: self.history,
            applications: self.applications,
            time,
            work: self.work,
        };
        match verdict {
            Verdict::Converged => Ok((x, info)),
            Verdict::GaveUp(failure) => {
                Err(SolverError::NotConverged { failure, best: x, info: Box::new(info) })
            }
        }
    }
}
