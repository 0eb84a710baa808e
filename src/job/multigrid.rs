//! The multigrid method of a job: set up once, for all its masses and sources.

use super::callbacks::Callbacks;
use super::error::JobError;
use super::multigrid_news::MultigridNews;
use crate::multigrid::{Multigrid, MultigridParams, SetupError};
use crate::operator::Dirac;
use std::path::Path;
use std::time::{Duration, Instant};

/// The multigrid levels for the operators of a job, one operator after the other.
pub(super) struct Levels<'a> {
    params: MultigridParams,
    operators: &'a [Dirac<f64>],
    /// The file of near-null vectors, and the fingerprint of the configuration.
    file: Option<(&'a Path, &'a str)>,
    state: State,
    /// The numbers of the operators for which cycles gave up.
    given_up: Vec<usize>,
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
        operators: &'a [Dirac<f64>],
        file: Option<(&'a Path, &'a str)>,
    ) -> Self {
        Self { params, operators, file, state: State::NotYet, given_up: Vec::new() }
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
            let kappa = |k: &usize| self.operators[*k].coupling().kappa();
            let lightest = (0..self.operators.len())
                .max_by(|i, j| kappa(i).total_cmp(&kappa(j)).then(j.cmp(i)))
                .unwrap_or(number);
            self.make(lightest, callbacks)?;
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
        let mut tell = |progress| callbacks.multigrid(&MultigridNews::Progress(progress));
        let read = self.file.filter(|(path, _)| path.exists());
        let made = match read {
            None => Multigrid::new(dirac, self.params, &mut tell),
            Some((path, configuration)) => {
                match Multigrid::read(path, dirac, configuration, self.params, &mut tell) {
                    Ok(read) => Ok(read?),
                    Err(error) => Err(error),
                }
            }
        };
        self.take(made, number, clock, read.map(|(path, _)| path), callbacks);
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
