//! `cr-solve md run`: the motion of particles, with a trajectory and checkpoints.

use super::model::{Model, ModelArguments, unwritten};
use super::result::{Findings, Subject, below_warning, unit_names};
use super::trajectory::{Trajectory, frames_beside};
use crate::checkpoint::Lock;
use lattice_cl::compute::Team;
use lattice_cl::io::{self, CheckpointWriter};
use lattice_cl::job::Interval;
use lattice_cli::common::Common;
use lattice_cli::destinations::{ANY, Destinations, Overwriting, SVG, XYZ};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::interrupt::Interrupt;
use lattice_cli::plot::{self, Series, drawn};
use lattice_cli::report::{Report, align_right, decimal, plain_table, scientific};
use lattice_cli::team::{device_names, select_one};
use lattice_md::{BelowRange, Frame, MdError, Motion, MotionState, PairTuning, Units};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The command line of `md run`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// The duration of a step, in fs or in units of σ √(m/ε)
    #[arg(long, value_name = "TIME")]
    step: f64,
    /// The number of steps
    #[arg(long, value_name = "N")]
    steps: u64,
    /// Steps between two rows, and between two frames of the trajectory
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Write frames as extended XYZ, with positions moved into the box
    #[arg(long, value_name = "FILE.xyz")]
    trajectory: Option<PathBuf>,
    /// Plot the energies, as SVG
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Give the particles velocities of this temperature, in K or ε/k, if the file has none
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
    /// The seed of these velocities
    #[arg(long, value_name = "S", default_value_t = 1, requires = "temperature")]
    seed: u64,
    /// Keep the state of the motion in this file, and continue from it if it is there
    ///
    /// The state is kept at rows. The file is removed at the end. A motion that continues has the
    /// bits of one without a break, on one kind of device.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Least time between two checkpoints: 90s, 10m, 2h
    #[arg(long, value_name = "TIME", default_value = "60s", requires = "checkpoint")]
    checkpoint_every: Interval,
    #[command(flatten)]
    overwriting: Overwriting,
}

/// The energies at a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    step: u64,
    potential: f64,
    kinetic: f64,
    total: f64,
    temperature: f64,
    /// In energy per volume, with motion.
    pressure: f64,
}

#[derive(Serialize)]
struct Drift {
    /// The slope of the total energy by a straight line through all rows, over the whole motion, relative to the kinetic energy.
    relative: f64,
    /// The slope in energy, for each nanosecond and atom; null in reduced units.
    per_atom_per_ns: Option<f64>,
    /// That slope relative to the kinetic energy; null in reduced units.
    relative_per_atom_per_ns: Option<f64>,
}

#[derive(Serialize)]
struct Seconds {
    /// Compiling kernels, or loading them; the other times do not include it.
    compile: f64,
    setup: f64,
    motion: f64,
}

#[derive(Serialize)]
struct RunResult {
    #[serde(flatten)]
    subject: Subject,
    step: f64,
    /// Steps that were done.
    steps: u64,
    /// False if Ctrl-C came before the end.
    complete: bool,
    /// The step that the motion was continued from.
    resumed_from: Option<u64>,
    drift: Option<Drift>,
    rows: Vec<Row>,
    #[serde(flatten)]
    findings: Findings,
    rebuilds: u64,
    trajectory: Option<PathBuf>,
    plot: Option<PathBuf>,
    seconds: Seconds,
    steps_per_second: f64,
    ns_per_day: Option<f64>,
    warnings: Vec<String>,
}

/// What a checkpoint has beside the state.
#[derive(Serialize, Deserialize)]
struct About {
    /// What the motion is of: a checkpoint is not continued with anything else.
    motion: Value,
    /// The variant of the device's kernels, on which bits depend too.
    #[serde(default)]
    variant: Option<PairTuning>,
    rows: Vec<Row>,
    /// Bytes of the trajectory.
    trajectory: u64,
}

/// Lets particles move.
///
/// # Errors
/// When a file cannot be read or written, when options do not fit, when an energy or a position
/// stops being finite, or when a device fails.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    // The frames of an earlier run belong to its checkpoint.
    let is_resumed = arguments.checkpoint.as_deref().is_some_and(Path::exists);
    let frames = arguments.trajectory.as_deref().filter(|_| !is_resumed).map(frames_beside);
    Destinations::reading(arguments.model.inputs())
        .writing("--trajectory", XYZ, &arguments.trajectory)
        .writing("--trajectory", ANY, frames)
        .writing("--plot", SVG, &arguments.plot)
        .keeping("--checkpoint", &arguments.checkpoint)
        .check(arguments.overwriting)?;
    let _lock = arguments.checkpoint.as_deref().map(|path| Lock::take("--checkpoint", path)).transpose()?;
    let mut model = arguments.model.load()?;
    arguments.give_velocities(&mut model)?;
    let team = select_one(common, None, report)?;
    let began = report.stopwatch();
    let identity = arguments.motion(&model, &team);
    let kept = match &arguments.checkpoint {
        Some(path) if path.exists() => Some(arguments.read(path, &model, &identity)?),
        _ => None,
    };
    let resumed_from = kept.as_ref().map(|(_, state)| state.step);
    let (mut rows, bytes, mut motion) = match kept {
        Some((about, state)) => {
            model.options.tuning = about.variant;
            report.note(format_args!("the motion continues from step {}", state.step));
            let Model { system, potential, options, units, .. } = &model;
            let motion = Motion::resume(&team, system, potential, *options, *units, arguments.step, state)?;
            (about.rows, about.trajectory, motion)
        }
        None => {
            let Model { system, potential, options, units, .. } = &model;
            let motion = Motion::new(&team, system, potential, *options, *units, arguments.step)?;
            (Vec::new(), 0, motion)
        }
    };
    let mut trajectory = match &arguments.trajectory {
        Some(path) => Some(Trajectory::open(path, bytes)?),
        None => None,
    };
    let interrupt = Interrupt::listen();
    let setup = began.seconds();
    let bar = report.progress("motion", arguments.steps);
    let (began, first) = (report.stopwatch(), motion.step());
    let mut written = Instant::now();
    // A full disk ends no motion. What cannot be written is the failure of the end.
    let (mut without_frames, mut without_state) = (None, None);
    let mut frame = motion.frame()?;
    loop {
        if rows.last().is_none_or(|row| row.step < frame.step) {
            rows.push(model.row(&frame)?);
            if let Some(mut growing) = trajectory.take() {
                match growing.append(&model.system, &frame, arguments.step) {
                    Ok(()) => trajectory = Some(growing),
                    Err(failure) => {
                        report
                            .warning(format_args!("{}; the motion goes on for the energies", failure.error));
                        without_frames = Some(growing.give_up(failure));
                    }
                }
            }
        }
        bar.set_position(frame.step);
        let ends = frame.step >= arguments.steps || interrupt.pressed();
        if let Some(path) = &arguments.checkpoint
            && frame.step < arguments.steps
            // A state goes with all frames until then.
            && without_frames.is_none()
            && (ends || written.elapsed() >= arguments.checkpoint_every.duration())
        {
            let state = motion.state()?;
            let synced = trajectory.as_mut().map(Trajectory::sync).transpose();
            let kept = synced.and_then(|bytes| {
                let (variant, trajectory) = (motion.tuning(), bytes.unwrap_or(0));
                write(
                    path,
                    &About { motion: identity.clone(), variant, rows: rows.clone(), trajectory },
                    &state,
                )
            });
            match kept {
                Ok(()) => trajectory.iter_mut().for_each(Trajectory::keep),
                Err(failure) if ends => without_state = Some(failure),
                Err(failure) => report.warning(format_args!("the state is not kept: {}", failure.error)),
            }
            written = Instant::now();
        }
        if ends {
            break;
        }
        motion.advance((arguments.every - frame.step % arguments.every).min(arguments.steps - frame.step))?;
        frame = motion.frame()?;
    }
    let seconds = began.seconds();
    bar.finish_and_clear();
    let complete = frame.step >= arguments.steps;
    let state = motion.state()?;
    let table = model.table(&team)?;
    let below = motion.below();
    if let Some(warning) = below_warning(below, ", added over all steps,", table.as_ref()) {
        model.warnings.push(warning);
    }
    if !complete {
        model.warnings.push(format!("interrupted after {} of {} steps", frame.step, arguments.steps));
    }
    model.warnings.iter().for_each(|warning| report.warning(warning));
    let trajectory = trajectory.filter(|_| complete || arguments.checkpoint.is_none());
    let finished = without_frames.map_or_else(|| trajectory.map_or(Ok(()), Trajectory::finish), Err);
    let plot = arguments.plot.as_ref();
    let plotted = plot.map_or(Ok(()), |path| drawn(path, energies(arguments, &model, &rows), report));
    let steps_per_second = (frame.step - first) as f64 / seconds;
    let outcome = RunResult {
        subject: Subject::new(&model, &team, motion.fetch(), motion.tuning(), table),
        step: arguments.step,
        steps: frame.step,
        complete,
        resumed_from,
        drift: model.drift(&rows, arguments.step),
        findings: Findings::new(&model, &frame.sums, frame.kinetic, &state.forces, motion.lists()?, below),
        rebuilds: state.rebuilds,
        rows,
        trajectory: arguments.trajectory.clone().filter(|_| finished.is_ok()),
        plot: arguments.plot.clone().filter(|_| plotted.is_ok()),
        seconds: Seconds { compile: report.compile_seconds(), setup, motion: seconds },
        steps_per_second,
        ns_per_day: model.units.nanosecond().map(|ns| steps_per_second * 86400.0 * arguments.step / ns),
        warnings: model.warnings.clone(),
    };
    // The result is shown first: a full disk must not hide what was computed.
    report.result(text(&outcome, model.units), &outcome)?;
    finished?;
    without_state.map_or(Ok(()), Err)?;
    plotted?;
    if let Some(path) = arguments.checkpoint.as_deref().filter(|path| complete && path.exists()) {
        std::fs::remove_file(path).map_err(|error| unwritten(path, error))?;
    }
    Ok(if complete { Status::Fine } else { interrupt.status() })
}

impl Arguments {
    /// Draws velocities, if a temperature is given.
    fn give_velocities(&self, model: &mut Model) -> Result<(), Failure> {
        let Some(temperature) = self.temperature else { return Ok(()) };
        if model.system.velocities().is_some() {
            model.warnings.push("the file has velocities, so --temperature is not used".to_owned());
            return Ok(());
        }
        model.system = model.system.clone().with_temperature(temperature, self.seed, model.units)?;
        Ok(())
    }

    /// Describes the motion: everything that its bits depend on.
    fn motion(&self, model: &Model, team: &Team) -> Value {
        let mut sum = blake3::Hasher::new();
        let system = &model.system;
        let mut add = |numbers: &[f64]| {
            for number in numbers {
                sum.update(&number.to_le_bytes());
            }
        };
        system.positions().iter().for_each(|position| add(position));
        system.velocities().into_iter().flatten().for_each(|velocity| add(velocity));
        for row in 0..system.names().len().pow(2) {
            (1..64).for_each(|k| {
                add(&model.potential.energy_and_slope(row, model.options.cutoff * f64::from(k) / 64.0))
            });
        }
        system.types().iter().for_each(|of_type| add(&[f64::from(*of_type)]));
        system.masses().iter().flatten().for_each(|mass| add(&[*mass]));
        json!({
            "device": device_names(team),
            "box": system.edges(),
            // The variant goes on with the state. No bit depends on whether pairs below a table end the motion.
            "options": format!("{:?}", model.options.with_tuning(None).with_below_range(BelowRange::Line)),
            "units": format!("{:?}", model.units),
            "step": self.step,
            "every": self.every,
            "trajectory": self.trajectory.is_some(),
            "particles and potential": sum.finalize().to_hex().to_string(),
        })
    }

    /// Reads a checkpoint of this motion.
    fn read(&self, path: &Path, model: &Model, wanted: &Value) -> Result<(About, MotionState), Failure> {
        let file = io::read_checkpoint(path)?;
        let about: About = serde_json::from_str(&file.about).map_err(|_| {
            let message = format!("--checkpoint {} is the state of something else", path.display());
            Failure::usage(message).hint("give the motion a checkpoint of its own")
        })?;
        let mut keys = wanted.as_object().into_iter().flatten();
        if let Some((key, _)) = keys.find(|(key, value)| about.motion.get(key) != Some(value)) {
            let message = format!("--checkpoint {} is of another motion: its {key} differs", path.display());
            return Err(Failure::usage(message)
                .hint("give the options of that motion, or remove the file to begin anew"));
        }
        let state = MotionState::from_blocks(model.system.atoms(), &file.blocks).map_err(|error| {
            let error = anyhow::Error::new(error).context(format!("{}: cannot be continued", path.display()));
            Failure::new(Status::File, error)
        })?;
        if state.step > self.steps {
            let message = format!("--steps {}: the checkpoint is at step {} already", self.steps, state.step);
            return Err(Failure::usage(message));
        }
        Ok((about, state))
    }
}

/// Keeps a state.
fn write(path: &Path, about: &About, state: &MotionState) -> Result<(), Failure> {
    let about = serde_json::to_string(about).map_err(|error| Failure::new(Status::Failed, error))?;
    let mut writer = CheckpointWriter::create(path, &about)?;
    for block in state.to_blocks() {
        writer.block(&block)?;
    }
    Ok(writer.finish()?)
}

impl Model {
    /// Returns the energies of a frame, which must be finite.
    fn row(&self, frame: &Frame) -> Result<Row, Failure> {
        let freedom = (3 * self.system.atoms()).saturating_sub(3).max(1) as f64;
        let row = Row {
            step: frame.step,
            potential: frame.sums.energy,
            kinetic: frame.kinetic,
            total: frame.energy(),
            temperature: 2.0 * frame.kinetic / (freedom * self.units.boltzmann()),
            pressure: frame.sums.pressure(frame.kinetic, self.system.volume()),
        };
        if !row.total.is_finite() {
            return Err(MdError::Energy(row.total).into());
        }
        Ok(row)
    }

    /// Returns the slope of the total energy; `None` of fewer than three rows.
    fn drift(&self, rows: &[Row], duration: f64) -> Option<Drift> {
        if rows.len() < 3 {
            return None;
        }
        let count = rows.len() as f64;
        let mean = |value: &dyn Fn(&Row) -> f64| rows.iter().map(value).sum::<f64>() / count;
        let (step, total) = (mean(&|row| row.step as f64), mean(&|row| row.total));
        let square = mean(&|row| (row.step as f64 - step).powi(2));
        let slope = mean(&|row| (row.step as f64 - step) * (row.total - total)) / square;
        let steps = (rows[rows.len() - 1].step - rows[0].step) as f64;
        let kinetic = mean(&|row| row.kinetic);
        let per_atom_per_ns =
            self.units.nanosecond().map(|ns| slope * ns / duration / self.system.atoms() as f64);
        Some(Drift {
            relative: slope * steps / kinetic,
            per_atom_per_ns,
            relative_per_atom_per_ns: per_atom_per_ns.map(|drift| drift / kinetic),
        })
    }
}

/// Draws potential, kinetic and total energy, each from its mean.
fn energies(arguments: &Arguments, model: &Model, rows: &[Row]) -> Result<plot::Plot, plot::PlotError> {
    let (time, energy) = match model.units {
        Units::Real => ("time (fs)", "energy from its mean (kcal/mol)"),
        Units::Reduced => ("time", "energy from its mean"),
    };
    let line = |name: &str, value: &dyn Fn(&Row) -> f64| {
        let mean = rows.iter().map(value).sum::<f64>() / rows.len() as f64;
        let points = rows.iter().map(|row| (row.step as f64 * arguments.step, value(row) - mean)).collect();
        Series { name: name.to_owned(), points }
    };
    let series = [
        line("potential", &|row| row.potential),
        line("kinetic", &|row| row.kinetic),
        line("total", &|row| row.total),
    ];
    plot::lines("energies of the motion", [time, energy], &series)
}

/// Most rows that are shown to people.
const SHOWN: usize = 20;

fn text(outcome: &RunResult, units: Units) -> String {
    let [energy, _] = unit_names(units);
    let mut table = lattice_cli::report::Table::default();
    table.line("atoms", outcome.subject.atoms);
    outcome.subject.lines(&mut table);
    table.line("steps", format_args!("{} of {}", outcome.steps, outcome.step));
    if let Some(step) = outcome.resumed_from {
        table.line("continued from", format_args!("step {step}"));
    }
    if let Some(drift) = &outcome.drift {
        let relative = scientific(drift.relative, 2);
        let by_atom = drift.per_atom_per_ns.map_or(String::new(), |drift| {
            format!(", {} {energy} for each ns and atom", scientific(drift, 2))
        });
        table.line("drift", format_args!("{relative} of the kinetic energy{by_atom}"));
    }
    table.line("lists", format_args!("made {} times", outcome.rebuilds + 1));
    for (name, path) in [("trajectory", &outcome.trajectory), ("plot", &outcome.plot)] {
        if let Some(path) = path {
            table.line(name, path.display());
        }
    }
    let rate = outcome.ns_per_day.map_or(String::new(), |rate| format!(", {rate:.3} ns/day"));
    let Seconds { compile, setup, motion } = outcome.seconds;
    table.line(
        "seconds",
        format_args!(
            "compile {compile:.3}, set-up {setup:.3}, motion {motion:.3}: {:.1} steps/s{rate}",
            outcome.steps_per_second
        ),
    );
    let mut rows = plain_table(["step", "potential", "kinetic", "total", "temperature", "pressure"]);
    let stride = outcome.rows.len().div_ceil(SHOWN).max(1);
    let last = outcome.rows.len().saturating_sub(1);
    for (_, row) in outcome.rows.iter().enumerate().filter(|(i, _)| i % stride == 0 || *i == last) {
        rows.add_row([
            row.step.to_string(),
            decimal(row.potential, 9),
            decimal(row.kinetic, 9),
            decimal(row.total, 9),
            decimal(row.temperature, 3),
            scientific(row.pressure, 4),
        ]);
    }
    align_right(&mut rows, &[0, 1, 2, 3, 4, 5]);
    format!("{table}\n\n{rows}")
}
