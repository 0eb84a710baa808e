//! Jobs: descriptions of computations, and their execution.
//!
//! Command lines, job files and programs make a [`Job`], which describes a whole computation.
//! [`Problem::open`] reads the configuration and puts the operators on devices.
//! [`Problem::run`] solves and measures. Every [`Task`] has a [`JobOutcome`] of the same structure.
//! [`Callbacks`] receive the progress and the solutions.
//!
//! ```
//! use lattice_cl::Dims;
//! use lattice_cl::compute::Team;
//! use lattice_cl::host::random;
//! use lattice_cl::job::{Action, Job, Problem, Progress, Task};
//! use lattice_solvers::Watching;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let job = Job::default().with_command(Task::Spectrum).with_action(Action::kappa(0.11));
//! let configuration = random::weak(Dims::new([4, 4, 4, 8])?, 0.2, 1); // or Problem::open, which reads a file
//! let problem = Problem::on(&job, configuration, &Team::host())?;
//! let outcome = problem.run(&mut Watching(|progress: &Progress<'_>| {
//!     eprintln!("{}: iteration {}, residual {:.1e}", progress.label, progress.iterations, progress.residual);
//! }))?;
//! let pion = &outcome.propagators[0].correlators[0];
//! println!("{:?}", pion.effective_mass());
//! # assert!(outcome.converged() && pion.values.len() == 8);
//! # assert!(pion.values[1] < pion.values[0]);
//! # Ok(())
//! # }
//! ```
//!
//! Serde reads and writes jobs as TOML or JSON, and refuses unknown keys. [`Job::schema`] describes
//! the keys.

mod action;
mod callbacks;
mod configuration;
mod deflating;
mod deflation;
mod document;
mod error;
mod fat_links;
mod hadrons;
mod invalid;
mod label;
mod method;
mod modes_news;
mod momenta;
mod multigrid;
mod multigrid_choice;
mod multigrid_keys;
mod multigrid_news;
mod named;
mod needs;
mod observables;
mod one_or_more;
mod outcome;
mod outputs;
mod problem;
mod quarks;
mod run;
mod sequential;
mod sink;
mod slices;
mod solver;
mod solving;
mod sources;
mod task;
mod wanted_precision;

pub use crate::operator::{Clover, Flavour, SiteTermKeys};
pub use action::{Action, Quark};
pub use callbacks::{CallbackError, Callbacks, EarlierSolve, Progress};
pub use configuration::Configuration;
pub use deflation::Deflation;
pub use document::Job;
pub use error::JobError;
pub use fat_links::FatLinks;
pub use hadrons::{HadronEntry, HadronTable};
pub use invalid::Invalid;
pub use label::{Columns, Label};
pub use method::{Method, Parameters};
pub use modes_news::{DeflationOutcome, ModesNews};
pub use multigrid_choice::MultigridChoice;
pub use multigrid_keys::MultigridKeys;
pub use multigrid_news::MultigridNews;
pub use needs::{DeviceNeed, Needs, NeedsError};
pub use observables::{Direction, ObservableEntry};
pub use one_or_more::OneOrMore;
pub use outcome::{JobOutcome, MixedHadrons, NamedHadronOutcome, PropagatorOutcome, SolveOutcome};
pub use outputs::{Devices, Interval, Outputs};
pub use problem::{Problem, build_programs, lattice_of, links_of, sites_of_rank};
pub use quarks::QuarkEntry;
pub use slices::Slices;
pub use solver::Solver;
pub use sources::{LabelledSource, SmearingEntry, SourceEntry, SourceSmearing};
pub use task::Task;
pub use wanted_precision::WantedPrecision;
