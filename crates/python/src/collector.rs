//! A job that is run for Python, with its solutions in memory.

use super::building::Building;
use super::numbers::of_spinors;
use super::report::report;
use super::work::{Exchange, News};
use lattice_cl::geometry::Dims;
use lattice_cl::hadron::QuarkPropagator;
use lattice_cl::host::Spinor;
use lattice_cl::job::{
    CallbackError, Callbacks, JobError, JobOutcome, Label, Problem, Progress, SolveOutcome, Task,
};
use lattice_solvers::Wish;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem::take;
use std::time::Instant;

/// The outcome of a job, with its solutions.
pub struct Collected {
    /// The outcome.
    pub outcome: JobOutcome,
    /// The extents of the lattice.
    pub dims: Dims,
    /// The propagators of `spectrum`; none if a solve gave up.
    pub propagators: Vec<QuarkPropagator>,
    /// The solutions of `invert`.
    pub solutions: Vec<Vec<Spinor<f64>>>,
    /// The best iterate of the solve that gave up.
    best: Option<Vec<Spinor<f64>>>,
    /// The begin of the call.
    begun: Instant,
}

/// Runs a job, for a call that began at `begun`.
///
/// # Errors
/// The errors of [`Problem::run`]. A solve that gave up is no error here: see
/// [`Collected::expect_converged`].
pub fn run(problem: &Problem, exchange: &Exchange, begun: Instant) -> Result<Collected, JobError> {
    let job = problem.job();
    let solves = if job.solves_at_once() { problem.propagators_wanted() } else { problem.labels().len() };
    let mut collector = Collector {
        problem,
        exchange,
        solves,
        done: 0,
        propagators: Vec::new(),
        solutions: Vec::new(),
        best: None,
    };
    let outcome = problem.run(&mut collector)?;
    let Collector { propagators, solutions, best, .. } = collector;
    let propagators = match outcome.converged() {
        true => {
            let finished =
                |building: Building| Ok(building.finish()?.with_time_phases(problem.time_phases().clone()));
            propagators.into_iter().map(finished).collect::<Result<_, _>>()
        }
        false => Ok(Vec::new()),
    };
    let propagators = propagators.map_err(JobError::Callback)?;
    Ok(Collected { outcome, dims: problem.dims(), propagators, solutions, best, begun })
}

impl Collected {
    /// Checks that every solve found its solution.
    ///
    /// # Errors
    /// `NotConverged` with the best iterate of the one that did not.
    pub fn expect_converged(&mut self, py: Python<'_>, devices: Vec<String>) -> PyResult<()> {
        let best = self.best.take().map(|best| of_spinors(py, best, self.dims)).transpose()?;
        let Some(failed) = self.outcome.failed() else { return Ok(()) };
        let SolveOutcome { label, info, failure, attempts, .. } = failed;
        let reason = match &attempts[..] {
            [] => failure.as_ref().map(ToString::to_string).unwrap_or_default(),
            attempts => attempts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        };
        let fields = PyDict::new(py);
        fields.set_item("label", label.as_str())?;
        fields.set_item("reason", reason)?;
        fields.set_item("iterations", info.iterations)?;
        fields.set_item("residual", info.residual.true_residual)?;
        fields.set_item("history", PyArray1::from_slice(py, &info.history))?;
        fields.set_item("best", best)?;
        fields.set_item("report", self.report(py, devices)?)?;
        let class = py.import("lattice_cl.errors")?.getattr("NotConverged")?;
        Err(PyErr::from_value(class.call((), Some(&fields))?))
    }

    /// Makes the report of all solves.
    pub fn report(&self, py: Python<'_>, devices: Vec<String>) -> PyResult<Py<PyAny>> {
        report(py, &self.outcome, self.begun.elapsed(), devices)
    }
}

/// Keeps the solutions, tells the progress, and asks whether to stop.
struct Collector<'a> {
    problem: &'a Problem,
    exchange: &'a Exchange,
    solves: usize,
    done: usize,
    propagators: Vec<Building>,
    solutions: Vec<Vec<Spinor<f64>>>,
    best: Option<Vec<Spinor<f64>>>,
}

impl Callbacks for Collector<'_> {
    fn progress(&mut self, progress: &Progress<'_>) {
        let tolerance = self.problem.job().solver.tolerance();
        let part = (progress.residual.ln() / tolerance.ln()).clamp(0.0, 1.0);
        self.exchange.tell(News {
            label: progress.label.to_string(),
            done: (self.done as f64 + part) / self.solves as f64,
            iterations: Some(progress.iterations),
            residual: Some(progress.residual),
        });
    }

    fn begins(&mut self, label: &Label) {
        if self.problem.job().command == Task::Spectrum && self.propagators.len() <= label.propagator() {
            self.propagators.push(Building::new(self.problem.dims()));
        }
    }

    fn ended(&mut self, _: &Label) {
        self.done += 1;
    }

    fn spent(&mut self, solve: &SolveOutcome, x: &mut Vec<Spinor<f64>>) -> Result<(), CallbackError> {
        match (solve.failure, self.problem.job().command) {
            (Some(_), _) => self.best = Some(take(x)),
            (None, Task::Invert) => self.solutions.push(take(x)),
            (None, _) => {
                self.propagators[solve.label.propagator()].take(solve.label.column(), x)?;
            }
        }
        Ok(())
    }

    fn wish(&mut self) -> Wish {
        if self.exchange.is_to_stop() { Wish::Stop } else { Wish::GoOn }
    }
}
