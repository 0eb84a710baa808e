//! The attempts of several methods at one source, one after the other.

use super::params::SolveParams;
use lattice_solvers::{Residual, SolverInfo, SolverState, Work};
use std::fmt;
use std::time::Duration;

/// One method's part in a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The method, with its own limit of iterations.
    pub params: SolveParams,
    /// `true` if cycles of a multigrid method preconditioned it.
    pub multigrid: bool,
    /// Iterations done.
    pub iterations: usize,
    /// Applications of the operator, including those for the true residual.
    pub applications: usize,
    /// The relative residuals at the end of the attempt.
    pub residual: Residual,
    /// Time in the method.
    pub time: Duration,
    /// Operations and memory traffic of the iterations.
    pub work: Work,
    /// The reason why the method gave up, in words; `None` if it found the solution.
    pub failure: Option<String>,
}

impl Attempt {
    /// Returns the attempt of multigrid cycles that have found a solution.
    pub(crate) fn of_cycles(params: SolveParams, info: &SolverInfo) -> Self {
        let SolverInfo { iterations, residual, applications, time, work, .. } = *info;
        Self { params, multigrid: true, iterations, applications, residual, time, work, failure: None }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { params, iterations, residual, failure, .. } = self;
        match self.multigrid {
            true => write!(f, "multigrid: {iterations} cycles to {:.3e}", residual.true_residual)?,
            false => write!(f, "{params}: {iterations} iterations to {:.3e}", residual.true_residual)?,
        }
        failure.as_ref().map_or(Ok(()), |failure| write!(f, " ({failure})"))
    }
}

/// Attempts in the order in which they were made, as text.
pub(crate) struct InOrder<'a>(pub &'a [Attempt]);

impl fmt::Display for InOrder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.0.iter().map(Attempt::to_string).collect();
        f.write_str(&texts.join("; "))
    }
}

/// The record of a source's attempts before the method that is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier<V> {
    /// The methods, in the order in which they were tried.
    pub attempts: Vec<Attempt>,
    /// The relative residuals by the recurrence.
    ///
    /// The first is taken before the first iteration, and one more after each iteration.
    pub history: Vec<f64>,
    /// The iterate with the smallest true residual; `None` if x = 0 has the smallest.
    pub best: Option<V>,
}

/// The state of an interrupted solve.
///
/// The first part is the record of the attempts before. The second part is the state of the method
/// that was under way.
pub type KeptChoice = (Earlier<Vec<u8>>, SolverState<Vec<u8>>);

impl<V> Default for Earlier<V> {
    /// Returns a record without attempts.
    fn default() -> Self {
        Self { attempts: Vec::new(), history: Vec::new(), best: None }
    }
}

impl<V> Earlier<V> {
    /// Returns the time in all attempts.
    pub fn time(&self) -> Duration {
        self.attempts.iter().map(|attempt| attempt.time).sum()
    }

    /// Returns the true residual of the best iterate.
    pub(crate) fn smallest(&self) -> f64 {
        let residuals = self.attempts.iter().map(|attempt| attempt.residual.true_residual);
        // The residual of x = 0 is 1: an iterate with a larger one is worth nothing. The smaller of
        // a number and NaN is the number.
        residuals.fold(1.0, f64::min)
    }

    /// Returns the iterations of all attempts.
    pub(crate) fn iterations(&self) -> usize {
        self.attempts.iter().map(|attempt| attempt.iterations).sum()
    }

    /// Takes note of an attempt that has ended.
    pub(crate) fn add(
        &mut self,
        params: SolveParams,
        multigrid: bool,
        info: SolverInfo,
        failure: Option<String>,
    ) {
        let SolverInfo { iterations, residual, history, applications, time, work } = info;
        self.attempts.push(Attempt {
            params,
            multigrid,
            iterations,
            applications,
            residual,
            time,
            work,
            failure,
        });
        // The first residual of an attempt repeats the last one of the attempt before.
        let repeated = usize::from(!self.history.is_empty());
        self.history.extend(history.into_iter().skip(repeated));
    }

    /// Returns how the attempts went together, with this true residual at the end.
    pub(crate) fn info(&self, true_residual: f64) -> SolverInfo {
        let mut work = Work::default();
        self.attempts.iter().for_each(|attempt| work += attempt.work);
        let iterated = self.attempts.last().map_or(f64::NAN, |attempt| attempt.residual.iterated);
        SolverInfo {
            iterations: self.iterations(),
            residual: Residual { iterated, true_residual },
            history: self.history.clone(),
            applications: self.attempts.iter().map(|attempt| attempt.applications).sum(),
            time: self.time(),
            work,
        }
    }

    /// Returns the record with the best iterate converted.
    pub(crate) fn map<'a, W>(&'a self, convert: impl FnOnce(&'a V) -> W) -> Earlier<W> {
        let Self { attempts, history, best } = self;
        Earlier { attempts: attempts.clone(), history: history.clone(), best: best.as_ref().map(convert) }
    }
}
