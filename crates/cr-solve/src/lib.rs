//! The program `cr-solve`, with a file or a folder for each subcommand.
//!
//! Commands are in the groups `lattice`, `algebra` and `science`, none of which knows another. Beside
//! them is what concerns the program itself, jobs and devices. [`lattice_cli`] prints for all.

mod algebra;
mod arguments;
mod checkpoint;
mod comparison;
mod devices;
mod help;
pub mod job_file;
mod job_keys;
mod lattice;
mod numbers;
mod plan;
mod process;
mod reproduce;
mod run;
mod science;
mod shell;
mod solve_bar;
mod tune;

use algebra::{dense, solve, spectral};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use lattice::{analyse, convert, fix, flow, generate, info, invert, measure, modes, smear, spectrum};
use lattice_cl::compute::mpi::{LastWords, Launcher, MpiError};
use lattice_cl::compute::{CompileWorkers, DeviceError, serve_compile_requests};
use lattice_cli::agreement::{About, Facts};
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::ranks::{self, Ranks};
use lattice_cli::report::Report;
use lattice_files::text::printable_lines;
use science::{md, poisson, xc};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

/// Solve the Dirac equation of lattice QCD on gauge configurations, on any OpenCL device and on none
#[derive(Debug, Parser)]
#[command(name = "cr-solve", version, max_term_width = 100)]
struct Program {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a quenched SU(3) configuration by heat bath and over-relaxation
    Generate(generate::Arguments),
    /// Show what gauge configurations and propagators are, and verify them
    Info(info::Arguments),
    /// Write a gauge configuration in another format or precision
    Convert(convert::Arguments),
    /// Measure energy, topological charge, Wilson loops and the static potential
    Measure(measure::Arguments),
    /// Smear the links of a gauge configuration: APE, stout or HYP
    Smear(smear::Arguments),
    /// Compute the gradient flow of a gauge configuration, with t0 and w0
    Flow(flow::Arguments),
    /// Bring a gauge configuration into Landau or Coulomb gauge
    Fix(fix::Arguments),
    /// Solve the Dirac equation M x = b for one point source
    Invert(Box<invert::Arguments>),
    /// Solve for all twelve spins and colours of a point source; gives the pion correlator
    Spectrum(Box<spectrum::Arguments>),
    /// Find the lowest modes of the Dirac operator, for deflation
    Modes(Box<modes::Arguments>),
    /// Solve A x = b with a matrix, sparse or dense: Matrix Market, .npy or a model problem
    Solve(Box<solve::Arguments>),
    /// Solve equations with more, or fewer, rows than unknowns: least squares
    LeastSquares(dense::LeastSquares),
    /// Compute eigenvalues and eigenvectors of a dense Hermitian matrix
    Eigen(spectral::eigen::Arguments),
    /// Compute singular values and vectors of a dense matrix
    Svd(spectral::svd::Arguments),
    /// Do what a job file says: invert or spectrum, with their options as TOML
    Run(run::Arguments),
    /// Tell the memory, disk space and time of a job file before it runs
    Plan(plan::Arguments),
    /// Do the job of an earlier result again, and compare
    Reproduce(reproduce::Arguments),
    /// Give errors of what several configurations have: masses, t0 and w0, means of histories
    Analyse(analyse::Arguments),
    /// Compute the electrostatic potential of a charge density on a mesh
    Poisson(Box<poisson::Arguments>),
    /// Compute an exchange-correlation energy of density-functional theory, its matrix and gradient
    Xc(Box<xc::Arguments>),
    /// Compute forces of particles that interact in pairs, and let them move
    #[command(subcommand)]
    Md(md::Md),
    /// List the OpenCL devices and the host, with their measured bandwidth
    Devices(devices::Arguments),
    /// Find the fastest kernel variants of a device, and keep them for later runs
    Tune(tune::Arguments),
    /// Measure what the devices do
    #[command(subcommand)]
    Bench(lattice_bench::Bench),
    /// Print the script that completes command lines in a shell
    Completions(shell::Completions),
    /// Write manual pages, one for each command, into a folder
    #[command(hide = true)]
    Man(shell::Man),
}

impl Command {
    /// Its name, if it computes on the host whatever devices there are.
    fn on_host_only(&self) -> Option<&'static str> {
        match self {
            Command::Generate(_) => Some("generate"),
            Command::Info(_) => Some("info"),
            Command::Convert(_) => Some("convert"),
            Command::Measure(_) => Some("measure"),
            Command::Fix(_) => Some("fix"),
            Command::Analyse(_) => Some("analyse"),
            _ => None,
        }
    }

    /// Tells whether the ranks of MPI work together.
    ///
    /// Any other command is done by the first rank alone.
    fn is_done_together(&self) -> bool {
        match self {
            Command::Invert(_)
            | Command::Spectrum(_)
            | Command::Modes(_)
            | Command::Run(_)
            | Command::Reproduce(_) => true,
            Command::Bench(bench) => bench.is_done_together(),
            _ => false,
        }
    }

    fn run(self, common: &Common, report: &Report) -> Result<Status, Failure> {
        if let Some(name) = self.on_host_only() {
            common.expect_no_device(name)?;
        }
        match self {
            Command::Bench(bench) => bench.run(common, report),
            Command::Devices(arguments) => devices::run(&arguments, common, report),
            Command::Generate(arguments) => generate::run(&arguments, report),
            Command::Tune(arguments) => tune::run(&arguments, common, report),
            Command::Info(arguments) => info::run(&arguments, common, report),
            Command::Convert(arguments) => convert::run(&arguments, report),
            Command::Measure(arguments) => measure::run(&arguments, report),
            Command::Smear(arguments) => smear::run(&arguments, common, report),
            Command::Fix(arguments) => fix::run(&arguments, report),
            Command::Flow(arguments) => flow::run(&arguments, common, report),
            Command::Invert(arguments) => invert::run(&arguments, common, report),
            Command::Spectrum(arguments) => spectrum::run(&arguments, common, report),
            Command::Modes(arguments) => modes::run(&arguments, common, report),
            Command::Solve(arguments) => solve::run(&arguments, common, report),
            Command::LeastSquares(arguments) => dense::least_squares(&arguments, common, report),
            Command::Eigen(arguments) => spectral::eigen::run(&arguments, common, report),
            Command::Svd(arguments) => spectral::svd::run(&arguments, common, report),
            Command::Run(arguments) => run::run(&arguments, common, report),
            Command::Plan(arguments) => plan::run(&arguments, common, report),
            Command::Reproduce(arguments) => reproduce::run(&arguments, common, report),
            Command::Analyse(arguments) => analyse::run(&arguments, report),
            Command::Poisson(arguments) => poisson::run(&arguments, common, report),
            Command::Xc(arguments) => xc::run(&arguments, common, report),
            Command::Md(md) => md.run(common, report),
            Command::Completions(arguments) => shell::completions(&arguments, command_line(&[]), report),
            Command::Man(arguments) => shell::man(&arguments, command_line(&[])),
        }
    }
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|word| word == COMPILE_WORKER) {
        return serve().into();
    }
    let worker = std::env::current_exe();
    let workers = worker.ok().map(|program| CompileWorkers::new(program, [COMPILE_WORKER.into()]));
    run_with(arguments, workers).into()
}

/// The word by which the program starts itself to compile kernels. It is no command for people.
const COMPILE_WORKER: &str = "compile-programs";

/// Compiles kernels as another process of the program asks for them.
fn serve() -> Status {
    match serve_compile_requests(std::io::stdin().lock(), std::io::stdout().lock()) {
        Ok(()) => Status::Fine,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {COMPILE_WORKER}: {error}");
            Status::Failed
        }
    }
}

/// Returns the command line, with all that help says.
pub fn command_line(arguments: &[OsString]) -> clap::Command {
    help::complete(numbers::take_reals(Program::command()), arguments)
}

/// Returns arguments as the parser understands them.
fn prepared(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let arguments = arguments::tell_colours_apart(arguments::join_extents(arguments));
    numbers::join_negative(arguments, &Program::command())
}

/// Returns the program that the arguments ask for, with the facts that all ranks compare.
fn parse(arguments: &[OsString]) -> Result<(Program, Facts), clap::Error> {
    let mut command = command_line(arguments);
    let matches = command.try_get_matches_from_mut(arguments)?;
    let program = Program::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    let Common { no_cache, no_tune, .. } = program.common;
    let meaning = format!("{:?} {no_cache} {no_tune}", program.command);
    let facts = Facts::of_command_line(&command, &matches, &meaning);
    Ok((program, facts))
}

/// Compares the command line with those of the other ranks, although it is refused.
///
/// Without that the others would wait for this rank. The first rank has said why it refuses.
fn tell_refusal(launcher: &Launcher, message: clap::Error) {
    let facts = Facts::refused(&message.to_string());
    let is_first = launcher.rank == 0;
    // The other ranks have not come.
    let words: LastWords = Arc::new(move |_| {
        if !is_first {
            let _ = message.print();
        }
        Status::Usage as u8
    });
    match Ranks::open(launcher, words) {
        Ok(ranks) => {
            let _ = ranks.expect_alike(About::CommandLine, || facts);
            ranks.end_refused();
        }
        Err(_) => ranks::leave_the_word_to_the_first(Some(launcher)),
    }
}

/// Finds the other ranks, and makes sure that they do the same.
///
/// `None` if the first rank does the command alone, and this one is another.
///
/// # Errors
/// When the ranks differ, or cannot find each other. Then the ranks, as far as they have.
fn join(
    launcher: &Launcher,
    facts: Facts,
    is_done_together: bool,
    report: &Arc<Report>,
) -> Result<Option<Ranks>, (Ranks, Failure)> {
    let (rank, own) = (launcher.rank, Arc::clone(report));
    let words: LastWords = Arc::new(move |error: &MpiError| {
        let failure = Failure::from(DeviceError::from(error.clone()));
        own.failure_of_rank(rank, &failure);
        failure.status as u8
    });
    match Ranks::open(launcher, words) {
        Ok(ranks) => match ranks.expect_alike(About::CommandLine, || facts) {
            Err(failure) => Err((ranks, failure)),
            Ok(()) if is_done_together => Ok(Some(ranks)),
            Ok(()) => Ok(ranks.part()),
        },
        Err(failure) if is_done_together => Err((Ranks::default(), failure)),
        // The first rank needs no library to work alone.
        Err(_) => Ok((launcher.rank == 0).then(Ranks::default)),
    }
}

/// Prints what the parser of the command line says.
///
/// Arguments are repeated without their control characters, and then without colours.
fn said(message: &clap::Error, arguments: &[OsString]) -> std::io::Result<()> {
    let is_printable = |text: &str| text == printable_lines(text);
    if !message.use_stderr() || arguments.iter().all(|argument| is_printable(&argument.to_string_lossy())) {
        return message.print();
    }
    std::io::stderr().write_all(printable_lines(&message.render().to_string()).as_bytes())
}

/// Runs the program with these arguments, the first of which is its name.
///
/// The Python package calls it.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Status {
    run_with(arguments, None)
}

/// Runs the program, with processes that compile kernels beside this one.
fn run_with(arguments: impl IntoIterator<Item = OsString>, workers: Option<CompileWorkers>) -> Status {
    let launcher = Launcher::of_this_process();
    let is_first = launcher.as_ref().is_none_or(|launcher| launcher.rank == 0);
    if launcher.is_some() {
        process::have_mpi_return_errors();
    }
    let arguments = prepared(arguments);
    let (mut program, facts) = match parse(&arguments) {
        Ok(parsed) => parsed,
        Err(message) if message.use_stderr() && launcher.is_some() => {
            if is_first {
                let _ = message.print();
            }
            if let Some(launcher) = &launcher {
                tell_refusal(launcher, message);
            }
            return Status::Usage;
        }
        Err(_) if !is_first => return Status::Fine,
        Err(message) => {
            // Help and version come this way too. If nobody reads them, that is no failure.
            let written = said(&message, &arguments).and_then(|()| std::io::stdout().flush());
            return match written {
                _ if message.use_stderr() => Status::Usage,
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                    let _ = writeln!(std::io::stderr(), "error: standard output cannot be written: {error}");
                    Status::File
                }
                _ => Status::Fine,
            };
        }
    };
    program.common.workers = workers;
    if program.common.cache().is_off() {
        process::switch_off_caches_of_drivers();
    }
    let _cache = process::give_pocl_a_cache();
    let report = Arc::new(Report::new(&program.common.output, is_first));
    let joined =
        launcher.as_ref().map(|launcher| join(launcher, facts, program.command.is_done_together(), &report));
    match joined {
        Some(Ok(Some(ranks))) => program.common.ranks = ranks,
        Some(Ok(None)) => return Status::Fine,
        Some(Err((ranks, failure))) => {
            if ranks.world().is_some() {
                return ranks.end(Err(failure), &report);
            }
            if is_first {
                report.failure(&failure);
            }
            ranks::leave_the_word_to_the_first(launcher.as_ref());
            return failure.status;
        }
        None => {}
    }
    match process::set_up(&report) {
        // The watch lasts until all ranks have ended.
        Ok(_watch) => {
            let result = program.command.run(&program.common, &report);
            program.common.ranks.end(result, &report)
        }
        Err(failure) => program.common.ranks.end(Err(failure), &report),
    }
}

#[cfg(test)]
mod documents;
#[cfg(test)]
mod options_page;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Program::command().debug_assert();
    }
}
