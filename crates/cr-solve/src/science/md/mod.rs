//! `cr-solve md`: forces of particles that interact in pairs, and the motion that they make.

mod forces;
mod model;
mod result;
mod run;
mod table;
mod trajectory;
pub(crate) mod words;

use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::Report;

#[derive(Debug, clap::Subcommand)]
pub enum Md {
    /// Compute energy, virial and forces of a configuration
    Forces(Box<forces::Arguments>),
    /// Let the particles move, by velocity Verlet
    Run(Box<run::Arguments>),
    /// Measure the error of tables of a potential on each device
    Table(table::Arguments),
}

impl Md {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// When a file cannot be read or written, when options do not fit, or when a device fails.
    pub fn run(&self, common: &Common, report: &Report) -> Result<Status, Failure> {
        match self {
            Md::Forces(arguments) => forces::run(arguments, common, report),
            Md::Run(arguments) => run::run(arguments, common, report),
            Md::Table(arguments) => table::run(arguments, common, report),
        }
    }
}
