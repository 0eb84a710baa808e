//! `cr-solve md forces`: energy, virial and forces of a configuration.

use super::model::ModelArguments;
use super::result::{Findings, Subject, below_warning, unit_names};
use lattice_cl::io;
use lattice_cli::common::Common;
use lattice_cli::destinations::{Destinations, NPY, Overwriting};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::{Report, Table, decimal, scientific};
use lattice_cli::team::{host_if_small, select_one};
use lattice_files::number::shown;
use lattice_md::{Forces, System, Units};
use serde::Serialize;
use std::path::PathBuf;

/// The command line of `md forces`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// Write the forces as .npy: a row of three doubles for each atom
    #[arg(long, value_name = "FILE.npy")]
    forces: Option<PathBuf>,
    /// Add what pairs beyond the cutoff would, at uniform density; for Lennard-Jones
    #[arg(long)]
    tail: bool,
    #[command(flatten)]
    overwriting: Overwriting,
}

#[derive(Serialize)]
struct TailSummary {
    energy: f64,
    pressure: f64,
}

#[derive(Serialize)]
struct Seconds {
    read: f64,
    /// Compiling kernels, or loading them; the other times do not include it.
    compile: f64,
    setup: f64,
    compute: f64,
}

#[derive(Serialize)]
struct ForcesResult {
    #[serde(flatten)]
    subject: Subject,
    #[serde(flatten)]
    findings: Findings,
    tail: Option<TailSummary>,
    output: Option<PathBuf>,
    seconds: Seconds,
    pairs_per_second: f64,
    warnings: Vec<String>,
}

/// Operations of an atom and its neighbours, roughly, for the decision between host and device.
const OPERATIONS_OF_AN_ATOM: f64 = 5e3;

/// Computes forces, and writes them.
///
/// # Errors
/// When a file cannot be read or written, when options do not fit, or when a device fails.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    Destinations::reading(arguments.model.inputs())
        .writing("--forces", NPY, &arguments.forces)
        .check(arguments.overwriting)?;
    let began = report.stopwatch();
    let mut model = arguments.model.load()?;
    let read = began.seconds();
    let operations = OPERATIONS_OF_AN_ATOM * model.system.positions().len() as f64;
    let team =
        host_if_small(common, operations, report).map_or_else(|| select_one(common, None, report), Ok)?;
    let system = &model.system;
    let tail = if arguments.tail {
        let tail = model.potential.tail(&system.counts(), system.volume(), model.options.cutoff);
        let [energy, virial] = tail.ok_or_else(|| {
            Failure::usage("--tail is known for Lennard-Jones formulas alone".to_owned())
                .hint("take --mode direct, or leave --tail out")
        })?;
        Some(TailSummary { energy, pressure: virial / (3.0 * system.volume()) })
    } else {
        None
    };
    let began = report.stopwatch();
    let mut forces = Forces::new(&team, system, &model.potential, model.options)?;
    let setup = began.seconds();
    // Drivers finish their compilation at the first launches, which are not timed.
    forces.evaluate(system.positions())?;
    let began = report.stopwatch();
    let found = forces.evaluate(system.positions())?;
    let compute = began.seconds();
    let table = model.table(&team)?;
    if let Some(warning) = below_warning(found.sums.below, "", table.as_ref()) {
        model.warnings.push(warning);
    }
    model.warnings.iter().for_each(|warning| report.warning(warning));
    if let Some(path) = &arguments.forces {
        io::write_file(path, &npy(&found.forces))?;
    }
    let outcome = ForcesResult {
        subject: Subject::new(&model, &team, forces.fetch(), forces.tuning(), table),
        findings: Findings::new(&model, &found.sums, 0.0, &found.forces, forces.lists()?, found.sums.below),
        tail,
        output: arguments.forces.clone(),
        seconds: Seconds { read, compile: report.compile_seconds(), setup, compute },
        pairs_per_second: found.sums.pairs as f64 / compute,
        warnings: model.warnings.clone(),
    };
    report.result(text(&outcome, system, model.units), &outcome)?;
    Ok(Status::Fine)
}

/// Returns a file of version 1.0 with an array of (atoms, 3) doubles.
fn npy(vectors: &[[f64; 3]]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 3), }}", vectors.len());
    // The numbers begin at a multiple of 64 bytes.
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(vectors.iter().flatten().flat_map(|number| number.to_le_bytes()));
    bytes
}

fn text(outcome: &ForcesResult, system: &System, units: Units) -> Table {
    let [energy, length] = unit_names(units);
    let (subject, findings) = (&outcome.subject, &outcome.findings);
    let mut table = Table::default();
    let names = system.names().iter().zip(system.counts()).map(|(name, count)| format!("{count} {name}"));
    table.line("atoms", names.collect::<Vec<_>>().join(", "));
    let edges = subject.edges.map(|edge| shown(&edge)).join(" x ");
    table.line("box", format_args!("{edges} {length}, cutoff {}", shown(&subject.cutoff)));
    subject.lines(&mut table);
    table.line("pairs", findings.pairs);
    table.line("energy", format_args!("{} {energy}", decimal(findings.energy, 12)));
    let virial = findings.virial.map(|w| scientific(w, 10)).join(" ");
    table.line("virial", format_args!("{virial} {energy} (xx yy zz yz xz xy)"));
    let atmospheres = findings.pressure_atm.map_or(String::new(), |p| format!(", {} atm", decimal(p, 6)));
    let pressure = scientific(findings.pressure, 10);
    table.line("pressure", format_args!("{pressure} {energy}/{length}³{atmospheres}, without motion"));
    if let Some(tail) = &outcome.tail {
        let pressure = scientific(tail.pressure, 6);
        table.line(
            "tail",
            format_args!("{} {energy}, pressure {pressure} {energy}/{length}³", decimal(tail.energy, 9)),
        );
    }
    let force = &findings.force;
    table.line(
        "force",
        format_args!(
            "rms {}, largest {} {energy}/{length} on atom {}",
            decimal(force.rms, 9),
            decimal(force.largest, 9),
            force.atom
        ),
    );
    if let Some(path) = &outcome.output {
        table.line("output", path.display());
    }
    let Seconds { read, compile, setup, compute } = outcome.seconds;
    let rate = scientific(outcome.pairs_per_second, 3);
    table.line(
        "seconds",
        format_args!(
            "read {read:.3}, compile {compile:.3}, set-up {setup:.3}, compute {compute:.6}: {rate} pairs/s"
        ),
    );
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_of_forces_has_a_header_of_whole_lines() {
        let bytes = npy(&[[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]]);
        assert_eq!(bytes.len() % 64, 48);
        assert!(bytes.windows(6).any(|part| part == b"(2, 3)"));
        assert_eq!(bytes[bytes.len() - 8..], (-6.0_f64).to_le_bytes());
    }
}
