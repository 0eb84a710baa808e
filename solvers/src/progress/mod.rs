//! A solve in progress: what every method shares.

mod end;
mod judgement;
mod states;

use crate::best::Best;
use crate::callbacks::Callbacks;
use crate::clock::Clock;
use crate::keeper::StateKeeper;
use crate::outcome::{Failure, Solution, SolverError};
use crate::shadow::HOPELESS_GROWTH;
use crate::source;
use crate::stopping::Stopping;
use crate::true_residual::TrueResidual;
use crate::work::Work;
use crate::{Operator, VectorSpace};
use num_complex::Complex64;
use std::time::Duration;

/// The result of a solve.
pub(crate) type SolveResult<S> = Result<Solution<<S as VectorSpace>::Vector>, ErrorIn<S>>;

/// The reason why a solve with an operator failed.
pub(crate) type ErrorIn<S> = SolverError<<S as VectorSpace>::Vector, <S as VectorSpace>::Error>;

/// A solve in progress: its history, its counters, and the decision when to stop.
pub(crate) struct Progress<'a, 'f, S: VectorSpace> {
    operator: &'a Operator<'a, S>,
    b: &'a S::Vector,
    b_norm: f64,
    /// The vector at which the solve begins, if not at zero.
    guess: Option<&'a S::Vector>,
    stopping: Stopping,
    true_residual: Option<TrueResidual<'f, S>>,
    keeper: Option<&'f mut dyn StateKeeper<S::Vector, S::Error>>,
    /// The iterated residual at which the true one is computed next.
    target: f64,
    last_true: f64,
    /// The iterated residual when it was replaced last.
    replaced: f64,
    futile: usize,
    best: Best<S::Vector>,
    history: Vec<f64>,
    /// The length of the history before the stagnation window.
    ///
    /// The second field is the smallest residual in this part of the history.
    left_the_window: usize,
    smallest_before: f64,
    /// (r, r) of the iterations that have not been looked at.
    unseen: Vec<S::Scalar>,
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
    scratch: S::Vector,
}

/// The beginning of a solve.
pub(crate) struct Beginning<S: VectorSpace> {
    pub x: S::Vector,
    pub r: S::Vector,
    pub r_norm2: S::Scalar,
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

impl<'a, 'f, S: VectorSpace> Progress<'a, 'f, S> {
    pub fn start(
        operator: &'a Operator<'a, S>,
        b: &'a S::Vector,
        guess: Option<&'a S::Vector>,
        stopping: Stopping,
        callbacks: impl Into<Callbacks<'f, S>>,
    ) -> Result<Self, ErrorIn<S>> {
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

    /// Computes x and r = b − A x from the guess or zero, and looks at r.
    ///
    /// A guess with a much larger residual than zero has is left: its rounding errors would stay.
    pub fn begin(&mut self) -> Result<Beginning<S>, S::Error> {
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
    fn residual(&mut self, x: &S::Vector, r: &mut S::Vector) -> Result<(), S::Error> {
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
    pub fn iterated(&mut self, r_norm2: &S::Scalar) {
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
    pub fn read<const N: usize>(&mut self, scalars: [&S::Scalar; N]) -> Result<[Complex64; N], S::Error> {
        let values = self.read_list(&scalars)?;
        Ok(std::array::from_fn(|k| values[k]))
    }

    fn read_list(&mut self, scalars: &[&S::Scalar]) -> Result<Vec<Complex64>, S::Error> {
        let all: Vec<_> = scalars.iter().copied().chain(&self.unseen).collect();
        let mut values = self.operator.space().read_all(&all)?;
        let (_, unseen) = values.split_at(scalars.len());
        let scale = self.scale();
        self.history.extend(unseen.iter().map(|norm2| norm2.re.sqrt() / scale));
        self.r_norm2 = unseen.last().map_or(self.r_norm2, |norm2| norm2.re);
        self.unseen.clear();
        values.truncate(scalars.len());
        Ok(values)
    }

    /// Returns the norm to which relative residuals refer.
    fn scale(&self) -> f64 {
        // A source equal to zero has the solution zero: its residual is counted absolutely.
        if self.b_norm == 0.0 { 1.0 } else { self.b_norm }
    }
}
