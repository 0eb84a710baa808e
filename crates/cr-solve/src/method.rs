//! How the equation of a job is solved, as options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lattice_cl::job::{Method, Solver, WantedPrecision};
use lattice_cl::operator::System;
use lattice_cl::solve::{CrParams, Preconditioning};

/// How the equation is solved.
#[derive(Debug, clap::Args)]
pub struct MethodOptions {
    /// The method; auto begins with bicgstab, goes on with cg where that gives up or costs more, and says so
    #[arg(long, value_name = "METHOD", value_parser = solver(), default_value = "auto")]
    solver: Solver,
    /// What is iterated: normal (M†M x = M†b), hermitian (γ5M x = γ5b) or direct (M x = b) [default: that of the method.
    /// Only cr can iterate each, and takes normal]
    #[arg(long, hide_short_help = true)]
    system: Option<System>,
    /// Which form of the equation is iterated: even-odd (its Schur complement on the even sites, in about half as many iterations), even-odd-symmetric (the same times the inverse within the sites: fewer with a clover term) or none
    /// (as it is)
    #[arg(long, default_value_t = Preconditioning::EvenOdd, hide_short_help = true)]
    preconditioning: Preconditioning,
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double [default: 1e-10, with --precision single 1e-5]
    #[arg(long, allow_negative_numbers = true)]
    tol: Option<f64>,
    /// Most iterations
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = CrParams::default().max_iterations)]
    #[arg(hide_short_help = true)]
    max_iterations: usize,
    /// Precision of the iteration: double, single, mixed-single or mixed-half (the solution in double, corrections to it in single or half precision), or
    /// mixed: mixed-half where all devices are GPUs, mixed-single elsewhere [default: mixed with --solver auto, which ends in double if it must;
    /// double with a method by name]
    #[arg(long, hide_short_help = true)]
    precision: Option<WantedPrecision>,
}

impl MethodOptions {
    /// The table of a job.
    pub fn method(&self) -> Method {
        let Self { solver, system, preconditioning, tol, max_iterations, precision } = *self;
        Method { solver, system, preconditioning, tol, max_iterations, precision }
    }
}

fn solver() -> impl TypedValueParser<Value = Solver> {
    let names = Solver::all().map(|solver| PossibleValue::new(solver.name()).help(solver.summary()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Solver>())
}
