//! `cr-solve flow`: the gradient flow of a gauge configuration.

use super::fingerprint::Configuration;
use super::links_file::{self, Destination, FileSummary};
use super::links_output::help_on_configuration;
use lattice_cl::gauge::{FlowAction, FlowParams, FlowRow, FlowScales, flow_on};
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::interrupt::Interrupt;
use lattice_cli::lattice::input::Input;
use lattice_cli::provenance::Provenance;
use lattice_cli::report::{Report, Table, align_right, plain_table};
use lattice_cli::team::{device_names, select_one};
use lattice_files::number::shown;
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::SystemTime;

/// The command line of `flow`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[arg(value_name = "FILE", help = help_on_configuration())]
    input: PathBuf,
    /// The file to write the links at the end of the flow to
    #[arg(value_name = "OUT")]
    output: Option<PathBuf>,
    /// The action whose gradient the links follow: wilson or symanzik
    #[arg(long, value_name = "ACTION", default_value_t)]
    action: FlowAction,
    /// The flow time to end at, in units of the lattice spacing squared
    #[arg(long, value_name = "T")]
    time: f64,
    /// The time step
    #[arg(long, value_name = "STEP", default_value_t = FlowParams::default().step)]
    step: f64,
    /// Distance of two rows: a number of steps (10), or a flow time (0.1)
    #[arg(long, value_name = "D", default_value = "1")]
    every: Distance,
    /// The reference values of t0 and w0, with commas
    #[arg(long, value_name = "C", value_delimiter = ',', default_values_t = [0.3])]
    reference: Vec<f64>,
    /// Cut each step into as many as keep the error of a link below this
    #[arg(long, value_name = "TOLERANCE")]
    adaptive: Option<f64>,
    #[command(flatten)]
    destination: Destination,
    #[command(flatten)]
    reading: Input,
}

/// The distance between rows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Distance {
    Steps(usize),
    Time(f64),
}

impl FromStr for Distance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.parse(), text.parse()) {
            (Ok(steps), _) if steps > 0 => Ok(Self::Steps(steps)),
            (Err(_), Ok(time)) if time > 0.0 && time < f64::MAX => Ok(Self::Time(time)),
            _ => Err(format!(
                "`{text}` is no distance; write a number of steps, as 10, or a flow time, as 0.1"
            )),
        }
    }
}

impl std::fmt::Display for Distance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Steps(steps) => write!(f, "{steps}"),
            Self::Time(time) => write!(f, "{time:?}"),
        }
    }
}

#[derive(Serialize)]
struct FlowResult {
    schema_version: u32,
    configuration: Configuration,
    provenance: Provenance,
    dims: [usize; 4],
    devices: Vec<String>,
    action: FlowAction,
    step: f64,
    /// Steps that were done.
    steps: usize,
    integrator_steps: usize,
    adaptive: Option<f64>,
    /// False if Ctrl-C came before the end.
    complete: bool,
    rows: Vec<FlowRow>,
    /// Scale of the first reference value; null if the flow ends before.
    t0: Option<f64>,
    w0: Option<f64>,
    /// Scales of all reference values.
    scales: Vec<FlowScales>,
    input: FileSummary,
    output: Option<FileSummary>,
    seconds: f64,
    /// Compiling kernels, or loading them; `seconds` does not include it.
    compile_seconds: f64,
}

/// Most steps of a flow.
const MOST_STEPS: f64 = 1e7;

impl Arguments {
    /// Steps that end at the flow time exactly.
    fn params(&self, report: &Report) -> Result<FlowParams, Failure> {
        let (time, step) = (self.time, self.step);
        // Written so that NaN is refused.
        if !(time > 0.0 && step > 0.0 && time / step <= MOST_STEPS) {
            let (time, step) = (shown(&time), shown(&step));
            let message = format!("a flow to the time {time} in steps of {step} is not possible");
            return Err(Failure::usage(message).hint(
                "both are positive, for example --time 2 --step 0.01, and make 10 million steps at most",
            ));
        }
        let steps = whole(time / step).unwrap_or((time / step).ceil() as usize).max(1);
        let step = match whole(time / step) {
            Some(_) => step,
            None => {
                let shorter = time / steps as f64;
                let (step, end) = (shown(&shorter), shown(&time));
                report.note(format_args!("the step is {step}, so that {steps} steps end at {end}"));
                shorter
            }
        };
        let every = match self.every {
            Distance::Steps(steps) => steps,
            Distance::Time(distance) => {
                whole(distance / step).filter(|&every| every > 0).ok_or_else(|| {
                    Failure::usage(format!(
                        "rows at a distance of {} are no multiples of the step {}",
                        shown(&distance),
                        shown(&step)
                    ))
                    .hint("give --every as a number of steps, or choose another --step")
                })?
            }
        };
        Ok(FlowParams::default()
            .with_action(self.action)
            .with_step(step)
            .with_steps(steps)
            .with_every(every)
            .with_tolerance(self.adaptive))
    }
}

/// Returns a number of steps, if it is whole but for rounding.
fn whole(steps: f64) -> Option<usize> {
    let rounded = steps.round();
    ((steps - rounded).abs() < 1e-9 * rounded.max(1.0)).then_some(rounded as usize)
}

/// Reads links and lets them flow.
///
/// After Ctrl-C the current step is the last.
///
/// # Errors
/// * If an option makes no sense.
/// * If the input cannot be read.
/// * If the output cannot be written, or is the input.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let (began, started) = (report.stopwatch(), SystemTime::now());
    let params = arguments.params(report)?;
    let output = match &arguments.output {
        Some(path) => Some(arguments.destination.prepare(&arguments.input, path)?),
        None => None,
    };
    let team = select_one(common, None, report)?;
    let file = arguments.reading.read(&arguments.input, report)?;
    links_file::note_on_precision(&arguments.input, &file, report);
    let interrupt = Interrupt::listen();
    let bar = report.progress("flow", params.steps as u64);
    let mut watch = |step: usize, energy: f64| {
        bar.set_position(step as u64);
        let time = step as f64 * params.step;
        bar.set_message(format!("t²E {:.5}", time * time * energy));
        tracing::info!(time, energy);
        if interrupt.pressed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let flowed = flow_on(&team, &file.configuration, &params, &mut watch);
    bar.finish_and_clear();
    let flowed = flowed?;
    let steps = flowed.energies.len() - 1;
    if let Some(output) = &output {
        let done = format!("{} flow, {steps} steps of {}", params.action, params.step);
        links_file::write(output, &flowed.links, &done, (&arguments.input, &file.facts), report)?;
    }
    let complete = steps == params.steps;
    if !complete {
        report.warning(format_args!("interrupted after {steps} of {} steps", params.steps));
    }
    let scale = |&reference: &f64| FlowScales::new(&flowed.energies, params.step, reference);
    let scales: Vec<FlowScales> = arguments.reference.iter().map(scale).collect();
    let outcome = FlowResult {
        schema_version: 1,
        configuration: Configuration::new(&arguments.input, &file.configuration),
        provenance: Provenance::new(&team, started),
        dims: file.configuration.dims().extents(),
        devices: device_names(&team),
        action: params.action,
        step: params.step,
        steps,
        integrator_steps: flowed.integrator_steps,
        adaptive: params.tolerance,
        complete,
        rows: flowed.rows,
        t0: scales.first().and_then(|scales| scales.t0),
        w0: scales.first().and_then(|scales| scales.w0),
        scales,
        input: FileSummary::of_input(&arguments.input, &file),
        output: output.as_ref().map(FileSummary::of_output),
        seconds: began.seconds(),
        compile_seconds: report.compile_seconds(),
    };
    report.result(text(&outcome), &outcome)?;
    Ok(if complete { Status::Fine } else { interrupt.status() })
}

fn text(outcome: &FlowResult) -> String {
    let mut table = Table::default();
    table.line("extents", outcome.dims.map(|extent| extent.to_string()).join("x"));
    table.line("configuration", outcome.configuration.fingerprint());
    table.line("device", outcome.devices.join(", "));
    table.line("flow", format_args!("{}, {} steps of {}", outcome.action, outcome.steps, outcome.step));
    if let Some(tolerance) = outcome.adaptive {
        let steps = outcome.integrator_steps;
        table.line("adaptive", format_args!("tolerance {tolerance:e}, {steps} steps of the integrator"));
    }
    let value = |value: Option<f64>| value.map_or("not reached".to_owned(), |value| format!("{value:.8}"));
    for scales in &outcome.scales {
        let (t0, w0) = (value(scales.t0), value(scales.w0));
        table.line("scales", format_args!("t0 {t0}, w0 {w0} at the reference {}", scales.reference));
    }
    if let Some(output) = &outcome.output {
        table.line("output", output);
    }
    let (seconds, compile) = (outcome.seconds, outcome.compile_seconds);
    table.line("seconds", format_args!("flow {seconds:.2}, compile {compile:.2}"));
    format!("{table}\n\n{}", table_of_rows(&outcome.rows))
}

fn table_of_rows(rows: &[FlowRow]) -> String {
    let header = ["t", "E clover", "E plaquette", "E improved", "t²E", "Q clover", "Q improved", "plaquette"];
    let mut table = plain_table(header);
    for row in rows {
        let mut cells = vec![format!("{:.6}", row.time)];
        let numbers = [
            row.energy.clover,
            row.energy.plaquette,
            row.energy.improved,
            row.t2_energy,
            row.charge.clover,
            row.charge.improved,
            row.plaquette,
        ];
        cells.extend(numbers.map(|number| format!("{number:.8}")));
        table.add_row(cells);
    }
    align_right(&mut table, &(0..header.len()).collect::<Vec<_>>());
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_steps_or_flow_times() {
        assert_eq!("10".parse(), Ok(Distance::Steps(10)));
        assert_eq!("0.1".parse(), Ok(Distance::Time(0.1)));
        assert_eq!("1.0".parse(), Ok(Distance::Time(1.0)));
        for text in ["0", "-1", "-0.1", "x", "", "nan", "inf"] {
            assert!(text.parse::<Distance>().is_err(), "{text}");
        }
    }

    #[test]
    fn steps_are_whole_but_for_rounding() {
        assert_eq!(whole(0.3 / 0.1), Some(3));
        assert_eq!(whole(2.0 / 0.01), Some(200));
        assert_eq!(whole(1.0 / 0.03), None);
    }
}
