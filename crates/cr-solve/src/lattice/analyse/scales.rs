//! The scales t0 and w0 from flows of several configurations.

use super::error_estimation::ErrorEstimation;
use super::estimates::Estimate;
use super::samples::FlowSamples;
use super::scale_table::{FlowScale, ScaleTable};
use super::table_file;
use super::uncertain_numbers::UncertainNumbers;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::plot::{self, drawn};
use lattice_cli::report::{
    Report, Table, align_right, decimal, fixed, path_texts, plain_table, rounded, with_error,
};
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
    drawing: Option<&Path>,
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
    if let Some(path) = drawing {
        plot_energy(&outcome, path, report)?;
    }
    report.result(shown(&outcome), &outcome)?;
    Ok(Status::Fine)
}

/// Draws t² E with a band of its error, and the reference values.
fn plot_energy(outcome: &FlowAnalysis, path: &Path, report: &Report) -> Result<(), Failure> {
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
    drawn(plot::lines(path, &title, ["flow time t/a²", "t²E"], &lines), report)
}

fn shown(outcome: &FlowAnalysis) -> String {
    let number = |estimate: &Estimate| match estimate {
        Estimate { value: Some(value), error: Some(error) } => with_error(*value, *error),
        Estimate { value: Some(value), error: None } => rounded(*value, 8),
        _ => "not reached".to_owned(),
    };
    let mut head = Table::default();
    head.line("configurations", outcome.configurations);
    head.line("errors", outcome.estimation);
    for FlowScale { reference, t0, w0 } in &outcome.scales {
        let reference = rounded(*reference, 6);
        head.line(
            "scales",
            format_args!("t0 {}, w0 {} at the reference {reference}", number(t0), number(w0)),
        );
    }
    let mut table = plain_table(["t", "E", "error", "t²E", "error"]);
    align_right(&mut table, &[0, 1, 2, 3, 4]);
    let cell = |number: Option<f64>| number.map_or("-".to_owned(), |number| decimal(number, 8));
    for EnergyRow { time, energy, t2_energy } in &outcome.rows {
        let [energy, t2_energy] = [energy, t2_energy].map(|one| [cell(one.value), cell(one.error)]);
        let [e, e_error] = energy;
        let [t2e, t2e_error] = t2_energy;
        table.add_row([fixed(*time, 6), e, e_error, t2e, t2e_error]);
    }
    format!("{head}\n\n{table}")
}
