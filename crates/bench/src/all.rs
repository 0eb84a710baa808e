//! `cr-solve bench all`: the other benchmarks, one after the other.

use super::Bench;
use super::session::{How, Session};
use clap::{Command, FromArgMatches, Subcommand};
use lattice_cli::failure::Failure;

/// The command line of `bench all`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    pub how: How,
}

/// The benchmarks that are run, as typed on the command line.
const LINES: [&str; 8] = [
    "bandwidth",
    "blas",
    "gemm --sizes 256,512,1024,2048,4096",
    "sparse",
    "stencil --dims 16x16x16x32 --operator hop,full",
    "solver",
    "measure",
    "ladder",
];

/// The benchmarks of a quick run, with smaller problems.
///
/// Most of the time goes into compiling kernels, on processors for the first time.
const QUICK: [&str; 8] = [
    "bandwidth",
    "blas --precision d,c",
    "gemm --sizes 64,128,256",
    "sparse --precision d --rhs 1",
    "stencil --dims 8x8x8x8 --links 18",
    "solver --dims 4x4x4x8 --precision double",
    "measure",
    "ladder --dims 4x4x4x8",
];

/// The only benchmark that needs no device.
const ON_HOST: &str = "bandwidth";

/// Runs every benchmark that the session's devices and options allow.
///
/// # Errors
/// The errors of the benchmarks.
pub fn measure(session: &mut Session<'_>) -> Result<(), Failure> {
    let without = session.without_device();
    if let Some(why) = &without {
        session.report.note(format_args!("only the host is measured, with bench bandwidth: {why}"));
    }
    for line in if session.how.quick { QUICK } else { LINES } {
        if session.interrupted() {
            break;
        }
        let mut words: Vec<&str> = line.split(' ').collect();
        if without.is_some() && words[0] != ON_HOST {
            continue;
        }
        if session.how.quick {
            words.push("--quick");
        }
        let parsed = Bench::augment_subcommands(Command::new("bench").no_binary_name(true))
            .try_get_matches_from(words)
            .and_then(|matches| Bench::from_arg_matches(&matches));
        parsed.expect("these lines are right").measure(session)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_command() {
        for line in LINES.into_iter().chain(QUICK) {
            let command = Bench::augment_subcommands(Command::new("bench").no_binary_name(true));
            let matches = command.try_get_matches_from(line.split(' ')).unwrap();
            Bench::from_arg_matches(&matches).unwrap();
        }
        assert!([LINES, QUICK].iter().all(|lines| lines.contains(&ON_HOST)));
    }
}
