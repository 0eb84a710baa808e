//! The multigrid method of a job: set up once, for all its masses and sources.

use super::callbacks::Callbacks;
use super::error::JobError;
use super::multigrid_choice::{MultigridChoice, SetUp};
use super::multigrid_news::MultigridNews;
use crate::multigrid::{Multigrid, MultigridParams, SetupError, SetupFile, SetupProgress, SetupWatch};
use crate::operator::Dirac;
use lattice_solvers::Wish;
use std::path::Path;
use std::time::{Duration, Instant};

/// The multigrid levels for the operators of a job, one operator after the other.
pub(super) struct Levels<'a> {
    params: MultigridParams,
    /// `true` if multigrid was asked for by its name.
    by_name: bool,
    operators: &'a [Dirac<f64>],
    /// The file of near-null vectors, and the fingerprint of the configuration.
    file: Option<(&'a Path, &'a str)>,
    state: State,
    /// The numbers of the operators for which cycles gave up.
    given_up: Vec<usize>,
    /// The decisions of an automatic choice for each operator.
    choices: Vec<Option<MultigridChoice>>,
}

enum State {
    NotYet,
    /// Levels exist for the operator of this number.
    Ready(Box<Multigrid>, usize),
    /// The set-up failed, and the callbacks know why.
    Failed,
}

impl<'a> Levels<'a> {
    pub fn new(
        params: MultigridParams,
        by_name: bool,
        operators: &'a [Dirac<f64>],
        file: Option<(&'a Path, &'a str)>,
    ) -> Self {
        let choices = vec![None; operators.len()];
        Self { params, by_name, operators, file, state: State::NotYet, given_up: Vec::new(), choices }
    }

    /// Weighs multigrid for an operator, after a solve without it.
    ///
    /// The solve moved `krylov_bytes`. `left` solves and `masses_after` masses follow, `columns` solves for
    /// each propagator. The choice stands for all later solves with this operator.
    pub fn weigh(
        &mut self,
        number: usize,
        krylov_bytes: u64,
        [left, masses_after]: [usize; 2],
        columns: usize,
    ) {
        if left == 0 || self.choices[number].is_some() || self.given_up.contains(&number) {
            return;
        }
        let (set_up, first) = match self.state {
            State::Failed => return,
            State::Ready(_, made_for) if made_for == number => (SetUp::Ready, number),
            State::Ready(..) => (SetUp::ForAnother, number),
            State::NotYet if self.has_file() => (SetUp::Ready, number),
            State::NotYet => (SetUp::Missing, self.lightest()),
        };
        // Without a possible method there is nothing to report.
        let Ok(expected) = self.params.expected_work(&self.operators[number], columns) else { return };
        let masses = masses_after + usize::from(first != number);
        self.choices[number] = Some(MultigridChoice::new(&expected, krylov_bytes, left, masses, set_up));
    }

    /// Returns the decision of an automatic choice for the operator of this number.
    pub fn choice(&self, number: usize) -> Option<&MultigridChoice> {
        self.choices[number].as_ref()
    }

    /// Tells whether the first rank sees the file.
    fn has_file(&self) -> bool {
        let Some((path, _)) = self.file else { return false };
        let here = path.exists();
        let world = self.operators.first().and_then(|dirac| dirac.lattice().ranks());
        // Ranks that do not understand each other end with the next sum.
        world.map_or(here, |world| world.gather(&[u8::from(here)]).is_ok_and(|all| all[0] == 1))
    }

    /// The number of the operator with the lightest quarks.
    fn lightest(&self) -> usize {
        let kappa = |k: &usize| self.operators[*k].coupling().kappa();
        let lightest = (0..self.operators.len()).max_by(|i, j| kappa(i).total_cmp(&kappa(j)).then(j.cmp(i)));
        lightest.unwrap_or(0)
    }

    /// Returns the method for this operator, or `None` if its set-up failed.
    ///
    /// The vectors are those of the lightest quarks, whichever operator comes first. A job that
    /// continues from a checkpoint therefore solves like the job that began.
    pub fn of(
        &mut self,
        number: usize,
        callbacks: &mut dyn Callbacks,
    ) -> Result<Option<&mut Multigrid>, JobError> {
        if self.given_up.contains(&number) {
            return Ok(None);
        }
        if matches!(self.state, State::NotYet) {
            self.make(self.lightest(), callbacks)?;
        }
        if let State::Ready(_, made_for) = self.state
            && made_for != number
        {
            self.make_over(number, callbacks);
        }
        Ok(self.ready(number))
    }

    /// Returns the method, if its levels are those of the operator of this number.
    pub fn ready(&mut self, number: usize) -> Option<&mut Multigrid> {
        match &mut self.state {
            State::Ready(multigrid, made_for) if *made_for == number && !self.given_up.contains(&number) => {
                Some(multigrid)
            }
            _ => None,
        }
    }

    /// Does without the method for the operator of this number.
    pub fn give_up(&mut self, number: usize) {
        if !self.given_up.contains(&number) {
            self.given_up.push(number);
        }
    }

    /// Makes vectors and levels, or reads the vectors.
    fn make(&mut self, number: usize, callbacks: &mut dyn Callbacks) -> Result<(), JobError> {
        let dirac = &self.operators[number];
        let clock = Clock::start(dirac);
        let exists = self.has_file();
        let file = self.file.map(|(path, configuration)| SetupFile { path, configuration, exists });
        let (made, is_read) = match Multigrid::set_up(dirac, self.params, file, &mut Watcher(callbacks)) {
            Ok((made, is_read)) => (Ok(made), is_read),
            Err(SetupError::File(error)) => return Err(JobError::SetupFile(*error)),
            Err(SetupError::Interrupted { done, of }) => {
                let kept = self.file.map(|(path, _)| path.to_owned());
                return Err(JobError::SetUpInterrupted { done, of, kept });
            }
            Err(error) if self.by_name && error.is_of_the_request() => {
                return Err(JobError::Multigrid(Box::new(error)));
            }
            Err(error) => (Err(error), false),
        };
        let read = self.file.filter(|_| is_read).map(|(path, _)| path);
        self.take(made, number, clock, read, callbacks);
        if let (State::Ready(multigrid, _), None, Some((path, configuration))) =
            (&self.state, read, self.file)
        {
            multigrid.write(path, dirac, configuration)?;
            callbacks.multigrid(&MultigridNews::Written(path));
        }
        Ok(())
    }

    /// Makes levels for another operator, from the known vectors.
    fn make_over(&mut self, number: usize, callbacks: &mut dyn Callbacks) {
        let dirac = &self.operators[number];
        let clock = Clock::start(dirac);
        if let State::Ready(multigrid, _) = std::mem::replace(&mut self.state, State::Failed) {
            let tell = |progress| callbacks.multigrid(&MultigridNews::Progress(progress));
            let made = multigrid.for_operator(dirac, tell);
            self.take(made, number, clock, None, callbacks);
        }
    }

    fn take(
        &mut self,
        made: Result<Multigrid, SetupError>,
        number: usize,
        clock: Clock,
        read: Option<&Path>,
        callbacks: &mut dyn Callbacks,
    ) {
        match made {
            Ok(multigrid) => {
                let (levels, time) = (multigrid.levels(), clock.elapsed(&self.operators[number]));
                callbacks.multigrid(&MultigridNews::Ready { levels, time, read });
                self.state = State::Ready(Box::new(multigrid), number);
            }
            Err(error) => {
                callbacks.multigrid(&MultigridNews::Without(&error));
                self.state = State::Failed;
            }
        }
    }
}

/// The callbacks of a job, for a set-up.
struct Watcher<'a>(&'a mut dyn Callbacks);

impl SetupWatch for Watcher<'_> {
    fn progress(&mut self, progress: SetupProgress) {
        self.0.multigrid(&MultigridNews::Progress(progress));
    }

    fn stops(&mut self) -> bool {
        matches!(self.0.wish(), Wish::Stop | Wish::KeepAndStop)
    }
}

/// A clock that stands still while compilers run.
struct Clock {
    begun: Instant,
    compiled: Duration,
}

impl Clock {
    fn start(dirac: &Dirac<f64>) -> Self {
        Self { begun: Instant::now(), compiled: dirac.lattice().team().compile_time() }
    }

    fn elapsed(&self, dirac: &Dirac<f64>) -> Duration {
        let compiled = dirac.lattice().team().compile_time().saturating_sub(self.compiled);
        self.begun.elapsed().saturating_sub(compiled)
    }
}
