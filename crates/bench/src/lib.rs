//! `cr-solve bench`: measures devices.
//!
//! Everything is checked against the host, and then timed.

mod all;
mod bandwidth;
mod blas;
mod compare;
mod factor;
pub mod fft;
mod gemm;
mod gemm_team;
mod joined;
mod kept;
pub mod ladder;
mod machine;
pub mod md;
mod measure;
mod multigrid;
mod outcome;
mod page;
mod poisson;
mod publish;
mod session;
mod solver;
pub mod sparse;
mod statistics;
mod stencil;
mod sums;
mod text;
mod triads;
mod xc;

use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::Report;
use publish::publish;
use session::Session;
pub use session::no_device;
use std::path::Path;

/// The benchmarks, a command each.
#[derive(Debug, clap::Subcommand)]
pub enum Bench {
    /// Memory: streams, access patterns, transfers and the cost of launches
    Bandwidth(bandwidth::Arguments),
    /// Vector and matrix-vector operations, compared with the bandwidth of memory
    Blas(blas::Arguments),
    /// Products of matrices, C = A B, in every precision
    Gemm(Box<gemm::Arguments>),
    /// Factorisations of matrices and triangular systems, compared with products
    Factor(factor::Arguments),
    /// Products with sparse matrices in each format, and solves with them
    Sparse(sparse::Arguments),
    /// Fourier transforms of any size, compared with the bandwidth of memory
    Fft(fft::Arguments),
    /// Potentials of charge densities, kernels alone and from host memory
    Poisson(poisson::Arguments),
    /// Several sums in one pass, in two orders of local memory
    Sums(sums::Arguments),
    /// Steps of particles that interact in pairs, by formulas and tables
    Md(md::Arguments),
    /// The stages of an exchange-correlation energy, compared with products and memory
    Xc(xc::Arguments),
    /// The hop of the Wilson operator from parity to parity, in every storage
    Stencil(stencil::Arguments),
    /// Cost of an iteration of each method
    Solver(solver::Arguments),
    /// Steps of the flow and of smearing, contractions of hadrons
    Measure(measure::Arguments),
    /// How a port of the Wilson operator to a GPU became fast, step by step
    Ladder(ladder::Arguments),
    /// A little of everything
    All(all::Arguments),
    /// Results of two runs against each other: what moved by more than noise
    Compare(compare::Arguments),
    /// Results that were kept, as tables, comma-separated values or a page
    Show(kept::Arguments),
}

impl Bench {
    /// Checks and times the requested benchmarks.
    ///
    /// Ctrl-C or a failure ends the run with the measurements so far.
    ///
    /// # Errors
    /// When there is no such device, when a device fails, or when a result is wrong. A wrong result
    /// is not timed.
    pub fn run(&self, common: &Common, report: &Report) -> Result<Status, Failure> {
        let how = match self {
            Bench::Bandwidth(arguments) => &arguments.how,
            Bench::Blas(arguments) => &arguments.how,
            Bench::Gemm(arguments) => &arguments.how,
            Bench::Factor(arguments) => &arguments.how,
            Bench::Sparse(arguments) => &arguments.how,
            Bench::Fft(arguments) => &arguments.how,
            Bench::Poisson(arguments) => &arguments.how,
            Bench::Sums(arguments) => &arguments.how,
            Bench::Md(arguments) => &arguments.how,
            Bench::Xc(arguments) => &arguments.how,
            Bench::Stencil(arguments) => &arguments.how,
            Bench::Solver(arguments) => &arguments.how,
            Bench::Measure(arguments) => &arguments.how,
            Bench::Ladder(arguments) => &arguments.how,
            Bench::All(arguments) => &arguments.how,
            Bench::Compare(arguments) => return compare::compare(arguments, report),
            Bench::Show(arguments) => return kept::show(arguments, common, report),
        };
        let mut session = Session::new(how, &self.inputs(), common, report)?;
        let measured = self.measure(&mut session);
        let interrupted = session.interrupted();
        let ended_by_signal = session.status_when_interrupted();
        let outcome = session.into_outcome(measured.is_ok() && !interrupted);
        if interrupted {
            // The failure may be a consequence: an interrupted compiler removes its files and fails.
            report.warning("interrupted: these are the rows that were measured before");
        } else if let Err(failure) = measured {
            // Earlier measurements are not lost.
            if !outcome.rows.is_empty() {
                publish(&[outcome], how.csv, how.report.as_deref(), report)?;
            }
            return Err(failure);
        }
        publish(&[outcome], how.csv, how.report.as_deref(), report)?;
        Ok(if interrupted { ended_by_signal } else { Status::Fine })
    }

    /// Returns the files that the benchmark reads.
    fn inputs(&self) -> Vec<&Path> {
        match self {
            Bench::Sparse(arguments) => arguments.matrices.iter().map(Path::new).collect(),
            Bench::Xc(arguments) => vec![&arguments.input],
            Bench::Solver(arguments) => arguments.configuration.as_deref().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Tells whether the ranks of MPI measure together.
    pub fn is_done_together(&self) -> bool {
        matches!(self, Bench::Stencil(_) | Bench::Solver(_))
    }

    fn measure(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        match self {
            Bench::Bandwidth(arguments) => bandwidth::measure(arguments, session),
            Bench::Blas(arguments) => blas::measure(arguments, session),
            Bench::Gemm(arguments) => match &session.opencl_devices("gemm")?[..] {
                [device] => gemm::measure(device, arguments, session),
                _ => gemm_team::measure(arguments, session),
            },
            Bench::Factor(arguments) => factor::measure(arguments, session),
            Bench::Sparse(arguments) => sparse::measure(arguments, session),
            Bench::Fft(arguments) => fft::measure(arguments, session),
            Bench::Poisson(arguments) => poisson::measure(arguments, session),
            Bench::Sums(arguments) => sums::measure(arguments, session),
            Bench::Md(arguments) => md::measure(arguments, session),
            Bench::Xc(arguments) => xc::measure(arguments, session),
            Bench::Stencil(arguments) => stencil::measure(arguments, session),
            Bench::Solver(arguments) => solver::measure(arguments, session),
            Bench::Measure(arguments) => measure::measure(arguments, session),
            Bench::Ladder(arguments) => ladder::measure(arguments, session),
            Bench::All(_) => all::measure(session),
            Bench::Compare(_) | Bench::Show(_) => Ok(()),
        }
    }
}
