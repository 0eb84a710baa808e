//! The results of a solver.
//!
//! A result is a solution with its history, or an error that keeps the best iterate.

use crate::source::SourceError;
use crate::state::ForeignState;
use crate::work::Work;
use std::fmt;
use std::time::Duration;

/// Relative residuals at the end of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// ‖r‖ / ‖b‖ of the system that was iterated, by the solver's recurrence.
    pub iterated: f64,
    /// The residual that counts, recomputed from its definition.
    ///
    /// NaN if it was never computed.
    pub true_residual: f64,
}

/// The course of a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverInfo {
    /// Iterations done.
    pub iterations: usize,
    /// The relative residuals at the end.
    pub residual: Residual,
    /// Relative residual by the recurrence, before the first iteration and after each.
    pub history: Vec<f64>,
    /// Applications of the operator, true residuals included.
    pub applications: usize,
    /// Time in the solver.
    pub time: Duration,
    /// Operations and memory traffic of the iterations.
    pub work: Work,
}

/// A solution and the course of its solve.
pub type Solution<V> = (V, SolverInfo);

/// The reason why a solver gave up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// A number that the recurrence divides by vanished.
    Breakdown {
        /// The quantity, in the notation of the method's formula.
        quantity: &'static str,
        /// The size of the quantity relative to its natural scale.
        relative: f64,
        /// The bound that the size fell below.
        bound: f64,
    },
    /// A scalar became infinite or not a number.
    ///
    /// The operator or the right-hand side holds such values, or the method overflowed.
    NotFinite {
        /// The quantity, in the notation of the method's formula.
        quantity: &'static str,
    },
    /// The residual stopped falling.
    Stagnation {
        /// Relative residual at which it stays.
        residual: f64,
        /// Iterations without progress.
        window: usize,
    },
    /// The true residual no longer follows the iterated one.
    ///
    /// The limit of the precision is reached.
    PrecisionLimit {
        /// The iterated residual.
        iterated: f64,
        /// The true residual.
        true_residual: f64,
    },
    /// The iteration limit was reached.
    IterationLimit {
        /// The limit.
        limit: usize,
    },
    /// The solution is out of the range of double precision.
    ///
    /// Rounded to the available exponents it is no solution.
    OutOfRange {
        /// The true residual of the rounded solution.
        true_residual: f64,
    },
    /// The keeper of the states wished that the solve stops.
    Interrupted,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Breakdown { quantity, relative, bound } => {
                write!(f, "breakdown: {quantity} fell to {relative:.1e} of its scale (bound {bound:.1e})")
            }
            Self::NotFinite { quantity } => write!(f, "{quantity} is infinite or not a number"),
            Self::Stagnation { residual, window } => {
                write!(f, "stagnation: the relative residual stays at {residual:.3e} for {window} iterations")
            }
            Self::PrecisionLimit { iterated, true_residual } => write!(
                f,
                "precision limit: the iterated residual fell to {iterated:.3e} but the true one stays at {true_residual:.3e}"
            ),
            Self::IterationLimit { limit } => write!(f, "the limit of {limit} iterations was reached"),
            Self::OutOfRange { true_residual } => write!(
                f,
                "the solution is out of the range of double precision: rounded to it, its true residual is {true_residual:.3e}"
            ),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// The reason why there is no solution.
#[derive(Debug, thiserror::Error)]
pub enum SolverError<V, E: std::error::Error> {
    /// The method gave up.
    ///
    /// The best iterate is here, nothing is lost.
    #[error("no convergence after {} iterations: {failure}", info.iterations)]
    NotConverged {
        /// The reason.
        failure: Failure,
        /// The iterate with the smallest residual that the method can name.
        ///
        /// It is never worse than the beginning of the method: x = 0 or the guess.
        best: V,
        /// The course of the solve.
        info: Box<SolverInfo>,
    },
    /// A parameter makes no sense.
    #[error("{name} = {value} is not allowed: {allowed}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The value of the parameter.
        value: f64,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The right-hand side cannot be solved for.
    #[error(transparent)]
    Source(SourceError),
    /// The state to go on from is another method's.
    #[error(transparent)]
    ForeignState(ForeignState),
    /// The vector space or the operator failed.
    #[error(transparent)]
    Operation(#[from] E),
}

impl<V, E: std::error::Error> SolverError<V, E> {
    /// Returns the same error with something else as the best iterate.
    ///
    /// It is the error of `map` if that fails.
    pub fn map_best<W>(self, map: impl FnOnce(V, &SolverInfo) -> Result<W, E>) -> SolverError<W, E> {
        match self {
            Self::NotConverged { failure, best, info } => match map(best, &info) {
                Ok(best) => SolverError::NotConverged { failure, best, info },
                Err(error) => SolverError::Operation(error),
            },
            Self::Parameter { name, value, allowed } => SolverError::Parameter { name, value, allowed },
            Self::Source(error) => SolverError::Source(error),
            Self::ForeignState(error) => SolverError::ForeignState(error),
            Self::Operation(error) => SolverError::Operation(error),
        }
    }
}
