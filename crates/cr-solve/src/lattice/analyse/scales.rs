//! The scales t0 and w0 from flows of several configurations.

use super::drawing::{Drawing, PageTable};
use super::error_estimation::ErrorEstimation;
use super::estimates::Estimate;
use super::samples::FlowSamples;
use super::scale_table::{FlowScale, ScaleTable};
use super::table_file;
use super::uncertain_numbers::UncertainNumbers;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::plot::{self, Plot, PlotError};
use lattice_cli::report::{
    Report, Table, align_right, decimal, fixed, path_texts, plain_table, rounded, with_error,
};
use lattice_files::text;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The mean energy at a flow time.
#[derive(Serialize)]
struct EnergyRow {
    time: f64,
    energy: Estimate,
    t2_energy: Estimate,
}

/// The result of `analyse` for flows.
#[derive(Serialize)]
struct FlowAnalysis {
    schema_version: u32,
    #[serde(serialize_with = "path_texts")]
    files: Vec<PathBuf>,
    #[serde(flatten)]
    estimation: ErrorEstimation,
    configurations: usize,
    /// Scale of the first reference value.
    t0: Estimate,
    w0: Estimate,
    /// Scales of all reference values.
    scales: Vec<FlowScale>,
    rows: Vec<EnergyRow>,
}

/// Estimates the scales, and prints them.
///
/// # Errors
/// When energies are not finite, or bins are too long.
pub fn run(
    files: &[PathBuf],
    flows: FlowSamples,
    estimation: ErrorEstimation,
    drawing: Drawing<'_>,
    table: Option<&Path>,
    report: &Report,
) -> Result<Status, Failure> {
    let FlowSamples { first, energies, .. } = flows;
    let configurations = energies.values.len();
    let numbers = UncertainNumbers::new(&energies.values, estimation)?;
    let scale = |&reference: &f64| -> Result<FlowScale, Failure> {
        let t0 = numbers.t0(&first.times, reference)?;
        let w0 = numbers.w0(&first.times, reference)?;
        for (name, scale) in [("t0", &t0), ("w0", &w0)] {
            if scale.value.is_none() {
                let reference = rounded(reference, 6);
                report.warning(format_args!("the flow ends before {name} at the reference {reference}"));
            }
        }
        Ok(FlowScale { reference, t0, w0 })
    };
    let scales: Vec<FlowScale> = first.references.iter().map(scale).collect::<Result<_, _>>()?;
    let row =
        |(&time, energy): (&f64, Estimate)| EnergyRow { time, energy, t2_energy: energy.times(time * time) };
    let rows: Vec<EnergyRow> = first.times.iter().zip(numbers.estimates()?).map(row).collect();
    let (t0, w0) = scales.first().map_or_else(Default::default, |scale| (scale.t0, scale.w0));
    let files = files.to_vec();
    let outcome = FlowAnalysis { schema_version: 1, files, estimation, configurations, t0, w0, scales, rows };
    if let Some(path) = table {
        table_file::write(path, &ScaleTable { configurations, scales: &outcome.scales })?;
    }
    if drawing.wants_one() {
        let energies =
            PageTable { title: "Energies".to_owned(), header: HEADER.to_vec(), rows: energy_rows(&outcome) };
        let scales = PageTable {
            title: "Scales".to_owned(),
            header: SCALES_HEADER.to_vec(),
            rows: scale_rows(&outcome),
        };
        let files = outcome.files.iter().map(|path| text::path(path)).collect::<Vec<_>>().join(", ");
        let facts = [("Files", files), ("Errors", estimation.to_string())];
        drawing.write(
            "Scales of the gradient flow",
            &facts,
            [plotted(&outcome)],
            [scales, energies],
            report,
        )?;
    }
    report.result(shown(&outcome), &outcome)?;
    Ok(Status::Fine)
}

/// Draws t² E with a band of its error, and the reference values.
fn plotted(outcome: &FlowAnalysis) -> Result<Plot, PlotError> {
    let curve = |sign: f64| {
        let point = |row: &EnergyRow| {
            let EnergyRow { time, t2_energy: Estimate { value, error }, .. } = row;
            (*time, value.unwrap_or(f64::NAN) + sign * error.unwrap_or(0.0))
        };
        outcome.rows.iter().map(point).collect()
    };
    let line = |name: &str, points| plot::Series { name: name.to_owned(), points };
    let end = outcome.rows.last().map_or(0.0, |row| row.time);
    let mut lines =
        vec![line("t²E", curve(0.0)), line("t²E + error", curve(1.0)), line("t²E − error", curve(-1.0))];
    for FlowScale { reference, .. } in &outcome.scales {
        let name = format!("reference {}", rounded(*reference, 4));
        lines.push(line(&name, vec![(0.0, *reference), (end, *reference)]));
    }
    let title = format!("gradient flow, {} configurations", outcome.configurations);
    plot::lines(&title, ["flow time t/a²", "t²E"], &lines)
}

const HEADER: [&str; 5] = ["t", "E", "error", "t²E", "error"];

const SCALES_HEADER: [&str; 3] = ["reference", "t0", "w0"];

/// Returns the rows of the table of energies.
fn energy_rows(outcome: &FlowAnalysis) -> Vec<Vec<String>> {
    let cell = |number: Option<f64>| number.map_or("-".to_owned(), |number| decimal(number, 8));
    let row = |EnergyRow { time, energy, t2_energy }: &EnergyRow| {
        let numbers = [energy.value, energy.error, t2_energy.value, t2_energy.error];
        std::iter::once(fixed(*time, 6)).chain(numbers.map(cell)).collect()
    };
    outcome.rows.iter().map(row).collect()
}

/// Returns reference, t0 and w0, a row for each reference value.
fn scale_rows(outcome: &FlowAnalysis) -> Vec<Vec<String>> {
    let number = |estimate: &Estimate| match estimate {
        Estimate { value: Some(value), error: Some(error) } => with_error(*value, *error),
        Estimate { value: Some(value), error: None } => rounded(*value, 8),
        _ => "not reached".to_owned(),
    };
    let row = |scale: &FlowScale| vec![rounded(scale.reference, 6), number(&scale.t0), number(&scale.w0)];
    outcome.scales.iter().map(row).collect()
}

fn shown(outcome: &FlowAnalysis) -> String {
    let mut head = Table::default();
    head.line("configurations", outcome.configurations);
    head.line("errors", outcome.estimation);
    for row in scale_rows(outcome) {
        head.line("scales", format_args!("t0 {}, w0 {} at the reference {}", row[1], row[2], row[0]));
    }
    let mut table = plain_table(HEADER);
    align_right(&mut table, &[0, 1, 2, 3, 4]);
    table.add_rows(energy_rows(outcome));
    format!("{head}\n\n{table}")
}
