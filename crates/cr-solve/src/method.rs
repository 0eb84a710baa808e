//! The method that solves the equation of a job, as options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lattice_cl::job::{Deflation, Method, Solver, WantedPrecision};
use lattice_cl::multigrid::{Block, CycleKind};
use lattice_cl::operator::System;
use lattice_cl::solve::{CrParams, Preconditioning};
use std::path::PathBuf;

/// The method that solves the equation.
#[derive(Debug, clap::Args)]
pub struct MethodOptions {
    /// The method; auto takes bicgstab, cg if that fails or costs more, or multigrid
    #[arg(long, value_name = "METHOD", value_parser = solver(), default_value = "auto")]
    solver: Solver,
    /// The system: normal (M†M x = M†b), hermitian (γ5M x = γ5b) or direct (M x = b)
    ///
    /// Default: the system of the method. Only cr can iterate every system; its default is normal.
    #[arg(long, hide_short_help = true)]
    system: Option<System>,
    /// The preconditioning: even-odd, even-odd-symmetric or none
    ///
    /// even-odd iterates the Schur complement on the even sites, in about half as many iterations.
    /// even-odd-symmetric multiplies the complement by the inverse site term, which takes fewer iterations
    /// with a clover term.
    #[arg(long, default_value_t = Preconditioning::EvenOdd, hide_short_help = true)]
    preconditioning: Preconditioning,
    /// Wanted ‖b − M x‖ / ‖b‖, in double [default: 1e-10, with --precision single 1e-5]
    #[arg(long)]
    tol: Option<f64>,
    /// Most iterations
    #[arg(long, value_name = "N", default_value_t = CrParams::default().max_iterations)]
    #[arg(hide_short_help = true)]
    max_iterations: usize,
    /// Precision of the iteration: double, single, mixed-single, mixed-half or mixed
    ///
    /// mixed-single and mixed-half keep the solution in double, and compute corrections in single or half
    /// precision. mixed is mixed-half if all devices are GPUs, and mixed-single otherwise. Default: mixed
    /// with --solver auto, which falls back to double, and with multigrid; double with other methods.
    #[arg(long, hide_short_help = true)]
    precision: Option<WantedPrecision>,
    /// Levels of multigrid with the finest: 2 to 4 [default: as many as pay]
    #[arg(long, value_name = "N", hide_short_help = true)]
    multigrid_levels: Option<usize>,
    /// Near-null vectors of each multigrid level, 1 to 128 [default: 24, less for small blocks]
    #[arg(long, value_name = "N", hide_short_help = true)]
    multigrid_vectors: Option<usize>,
    /// Iterations of BiCGStab that make a near-null vector, 1 to 1000 [default: 60]
    #[arg(long, value_name = "N", hide_short_help = true)]
    multigrid_iterations: Option<usize>,
    /// Extents of a multigrid block in x, y, z, t: 4x4x4x4 [default: about 4 each]
    ///
    /// The extents divide the lattice and the domains of its devices.
    #[arg(long, value_name = "BLOCK", hide_short_help = true)]
    multigrid_block: Option<Block>,
    /// Degree of the multigrid smoother of the finest level, 1 to 16 [default: 4]
    #[arg(long, value_name = "N", hide_short_help = true)]
    multigrid_smoother: Option<usize>,
    /// Multigrid cycle of coarse levels: v, or k with more work and fewer cycles [default: v]
    #[arg(long, value_name = "CYCLE", hide_short_help = true)]
    multigrid_cycle: Option<CycleKind>,
    /// File of the multigrid near-null vectors
    ///
    /// The file is read if it exists, and written otherwise. It serves all jobs on the same configuration.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    multigrid_setup: Option<PathBuf>,
    /// Deflation by lowest modes: their number, or a file of `cr-solve modes`
    ///
    /// cg, block-cg, cr and minres start from the part of the solution that the modes span. A number of
    /// modes is computed for each operator.
    #[arg(long, value_name = "FILE|N", hide_short_help = true)]
    deflate: Option<Deflation>,
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
            multigrid_iterations: self.multigrid_iterations,
            multigrid_block: self.multigrid_block,
            multigrid_smoother: self.multigrid_smoother,
            multigrid_cycle: self.multigrid_cycle,
            multigrid_setup: self.multigrid_setup.clone(),
            deflate: self.deflate.clone(),
        }
    }
}

fn solver() -> impl TypedValueParser<Value = Solver> {
    let names = Solver::all().map(|solver| PossibleValue::new(solver.name()).help(solver.summary()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Solver>())
}
