//! The method that solves the equation of a job, as options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lattice_cl::job::{Method, Solver, WantedPrecision};
use lattice_cl::multigrid::Block;
use lattice_cl::operator::System;
use lattice_cl::solve::{CrParams, Preconditioning};
use std::path::PathBuf;

/// The method that solves the equation.
#[derive(Debug, clap::Args)]
pub struct MethodOptions {
    /// The method; auto begins with bicgstab, goes on with cg where that gives up or costs more, and says so
    #[arg(long, value_name = "METHOD", value_parser = solver(), default_value = "auto")]
    solver: Solver,
    /// The system to iterate: normal (M†M x = M†b), hermitian (γ5M x = γ5b) or direct (M x = b) [default: that of the method.
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
    /// Levels of --solver multigrid, the finest included: 2 to 4 [default: as many as pay]
    #[arg(long, value_name = "N", hide_short_help = true)]
    multigrid_levels: Option<usize>,
    /// Near-null vectors of each level of --solver multigrid [default: 24, and fewer where blocks are small]
    #[arg(long, value_name = "N", hide_short_help = true)]
    multigrid_vectors: Option<usize>,
    /// Sites of a block of --solver multigrid in x, y, z, t, as in 4x4x4x4 [default: about 4 in each direction, such that it divides the lattice and the domains of its devices]
    #[arg(long, value_name = "BLOCK", hide_short_help = true)]
    multigrid_block: Option<Block>,
    /// The file of the near-null vectors of --solver multigrid, for other jobs on the same configuration: read if it is there, written if not
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    multigrid_setup: Option<PathBuf>,
}

impl MethodOptions {
    /// Returns the method of a job.
    pub fn method(&self) -> Method {
        Method {
            solver: self.solver,
            system: self.system,
            preconditioning: self.preconditioning,
            tol: self.tol,
            max_iterations: self.max_iterations,
            precision: self.precision,
            multigrid_levels: self.multigrid_levels,
            multigrid_vectors: self.multigrid_vectors,
            multigrid_block: self.multigrid_block,
            multigrid_setup: self.multigrid_setup.clone(),
        }
    }
}

fn solver() -> impl TypedValueParser<Value = Solver> {
    let names = Solver::all().map(|solver| PossibleValue::new(solver.name()).help(solver.summary()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Solver>())
}
