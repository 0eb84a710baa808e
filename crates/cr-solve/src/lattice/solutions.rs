//! Files and norms of a job's solutions, as these are found.

use super::outputs::solution_format;
use lattice_cl::hadron::Column;
use lattice_cl::host::Spinor;
use lattice_cl::io::{self, PropagatorWriter};
use lattice_cl::job::{Problem, SolveOutcome, Task};
use lattice_cl::scalar::Precision;
use lattice_cli::report::Report;
use std::path::PathBuf;

/// Takes the solutions of a job, one after the other.
pub struct Solutions<'a> {
    problem: &'a Problem,
    report: &'a Report,
    /// One file for each propagator, or none at all.
    files: Vec<PathBuf>,
    writer: Option<PropagatorWriter>,
    /// The propagator under way.
    propagator: usize,
    /// Error because of which files are no longer written.
    error: Option<io::Error>,
    /// Squared norm of each solution of `invert`.
    pub norms2: Vec<f64>,
}

impl<'a> Solutions<'a> {
    /// Prepares for a job that writes these files.
    pub fn new(problem: &'a Problem, files: Vec<PathBuf>, report: &'a Report) -> Self {
        Self { problem, report, files, writer: None, propagator: 0, error: None, norms2: Vec::new() }
    }

    /// Takes a solution, or the best iterate of a solve of `invert`.
    ///
    /// A file that cannot be written ends no job. [`finish`](Self::finish) returns the error.
    pub fn take(&mut self, solve: &SolveOutcome, x: &[Spinor<f64>]) {
        if self.problem.job().command == Task::Invert {
            self.norms2.push(x.iter().map(Spinor::norm2).sum());
        } else if solve.failure.is_some() {
            return;
        }
        if self.files.is_empty() || self.error.is_some() {
            return;
        }
        if let Err(error) = self.write(solve, x) {
            if self.problem.labels().len() > 1 {
                self.report.warning(format_args!("{error}; the solves go on for the correlator"));
            }
            self.error = Some(error);
            self.writer = None;
        }
    }

    fn write(&mut self, solve: &SolveOutcome, x: &[Spinor<f64>]) -> Result<(), io::Error> {
        let number = solve.label.propagator();
        if number != self.propagator {
            self.close()?;
            self.propagator = number;
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(PropagatorWriter::create_as(
                &self.files[number],
                solution_format(&self.files[number]),
                self.problem.dims(),
                Precision::Double,
                &about(self.problem, solve),
            )?),
        };
        let Column { spin, colour } = solve.label.column();
        writer.write(spin, colour, x)
    }

    fn close(&mut self) -> Result<(), io::Error> {
        self.writer.take().map_or(Ok(()), PropagatorWriter::finish)
    }

    /// Completes the last file.
    ///
    /// # Errors
    /// The first error that a file met.
    pub fn finish(&mut self) -> Result<(), io::Error> {
        let closed = self.close();
        self.error.take().map_or(closed, Err)
    }
}

/// Returns the description of a solution for its file.
fn about(problem: &Problem, solve: &SolveOutcome) -> String {
    let job = problem.job();
    let number = solve.label.propagator();
    let (quark, (_, source)) = (problem.quark(number), problem.propagator(number));
    let equation = quark.action.equation_words(quark.coupling, quark.flavour, &source.source);
    match job.command {
        Task::Invert => {
            let residual = solve.info.residual.true_residual;
            format!("solution of {equation}, true residual {residual:e}")
        }
        Task::Spectrum => format!("solutions of {equation}"),
    }
}
