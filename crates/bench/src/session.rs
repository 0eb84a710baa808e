//! One run of `bench`: its devices, its method of measurement and its rows.

use super::outcome::{ArithmeticCeiling, BenchmarkRun, MeasuredDevice, Row, Samples, Subject};
use lattice_cl::compute::mpi::{MpiError, World};
use lattice_cl::compute::{Device, DeviceError, Profiling, Team, arithmetic_rate, triad_bandwidth};
use lattice_cl::host;
use lattice_cl::scalar::Precision;
use lattice_cli::common::Common;
use lattice_cli::destinations::{Destinations, HTML, Overwriting};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::interrupt::Interrupt;
use lattice_cli::numbers::finite;
use lattice_cli::ranks::Ranks;
use lattice_cli::report::Report;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Least number of calls before the timed calls.
///
/// The clocks of an idle device rise within milliseconds.
const WARM_UP: usize = 2;
const WARM_UP_TIME: Duration = Duration::from_millis(10);

/// Samples below which time does not end a row.
const FEWEST_SAMPLES: usize = 3;

/// Options of measurements and results that all benchmarks have.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Measuring and reporting")]
pub struct How {
    /// Timed calls of each row, at most
    #[arg(long, visible_alias = "launches", value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: u32,
    /// Most seconds for each row, after three samples [default: 1, with --quick 0.2]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub seconds: Option<Duration>,
    /// Small problems, short measurements
    #[arg(long)]
    pub quick: bool,
    /// Print the rows as comma-separated values
    #[arg(long)]
    pub csv: bool,
    /// Write a page with tables and plots, too
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub overwriting: Overwriting,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    match finite(text).map(Duration::try_from_secs_f64) {
        Some(Ok(seconds)) if !seconds.is_zero() => Ok(seconds),
        _ => Err("a positive number of seconds is wanted".to_owned()),
    }
}

/// One run of the command.
pub struct Session<'a> {
    pub how: How,
    pub report: &'a Report,
    common: &'a Common,
    interrupt: Interrupt,
    team: Team,
    devices: Vec<MeasuredDevice>,
    rows: Vec<Row>,
}

impl<'a> Session<'a> {
    /// Opens the devices and measures their memory.
    ///
    /// # Errors
    /// When there is no such device, or it fails.
    pub fn new(how: &How, inputs: &[&Path], common: &'a Common, report: &'a Report) -> Result<Self, Failure> {
        if how.csv && common.output.json {
            return Err(Failure::usage(
                "--csv and --json are two forms of one result; give one of them".to_owned(),
            ));
        }
        // Before the work: nothing should be measured in vain.
        Destinations::reading(inputs.iter().copied())
            .writing("--report", HTML, &how.report)
            .check(how.overwriting)?;
        let team = common.team(Profiling::On, report)?;
        let mut devices = Vec::new();
        for device in team.devices() {
            devices.push(MeasuredDevice::new(device, triad_bandwidth(device)? / 1e9));
        }
        if let Some(world) = team.ranks() {
            devices = devices_of_ranks(world, &devices).map_err(DeviceError::from)?;
        }
        let interrupt = Interrupt::listen();
        Ok(Self { how: how.clone(), report, common, interrupt, team, devices, rows: Vec::new() })
    }

    /// The devices that `--device` names.
    pub fn team(&self) -> Team {
        self.team.clone()
    }

    /// Why there is no device, if there is none and the host alone is measured.
    pub fn without_device(&self) -> Option<String> {
        let why = || self.team.absence().map_or_else(|| "--device host".to_owned(), ToString::to_string);
        self.team.is_host().then(why)
    }

    /// Returns the devices, for a benchmark that needs one at least.
    ///
    /// # Errors
    /// If there are none, and the host alone is meant.
    pub fn opencl_devices(&self, benchmark: &str) -> Result<Vec<Device>, Failure> {
        if self.team.is_host() {
            return Err(no_device(&self.team, &format!("bench {benchmark}")));
        }
        Ok(self.team.devices().to_vec())
    }

    /// Returns the teams that share a lattice: each device alone with its number, then all of them.
    ///
    /// Of several ranks each has its first device alone, unless `--quick` is given, and then all ranks
    /// work together.
    /// With `together` there are no devices alone, if there are several.
    ///
    /// # Errors
    /// If there are no devices, and the host alone is meant.
    pub fn teams(&self, benchmark: &str, together: bool) -> Result<Vec<(Option<usize>, Team)>, Failure> {
        let devices = self.opencl_devices(benchmark)?;
        let has_ranks = self.ranks().world().is_some();
        let several = has_ranks || devices.len() > 1;
        let alone = match (together && several, has_ranks) {
            (true, _) => 0,
            (false, true) => usize::from(!self.how.quick),
            (false, false) => devices.len(),
        };
        let alone = devices.into_iter().take(alone).enumerate();
        let alone = alone.map(|(number, device)| (Some(number), Team::from(device)));
        Ok(alone.chain(several.then(|| (None, self.team()))).collect())
    }

    /// Opens the same devices again, without profiling.
    ///
    /// Profiling costs some microseconds per launch.
    ///
    /// # Errors
    /// If a device fails.
    pub fn quiet_team(&self) -> Result<Team, Failure> {
        self.common.team(Profiling::Off, self.report)
    }

    /// The number of the host among the devices.
    pub fn host(&mut self) -> usize {
        if let Some(number) = self.devices.iter().position(|device| device.kind == "host") {
            return number;
        }
        self.devices.push(MeasuredDevice::host(host::triad_bandwidth() / 1e9));
        self.devices.len() - 1
    }

    /// Returns the measured rate of a device's memory, in 10⁹ bytes per second.
    pub fn memory(&self, number: usize) -> f64 {
        self.devices[number].memory_gb_s
    }

    /// Returns the ceilings of a device's arithmetic, measured on first use.
    ///
    /// # Errors
    /// If the device fails.
    pub fn arithmetic(&mut self, number: usize, precision: Precision) -> Result<ArithmeticCeiling, Failure> {
        let device = &self.team.devices()[number];
        let (known, measure): (_, fn(&Device) -> _) = match precision {
            Precision::Single => (&mut self.devices[number].single, arithmetic_rate::<f32>),
            Precision::Double => (&mut self.devices[number].double, arithmetic_rate::<f64>),
        };
        if let Some(known) = known {
            return Ok(*known);
        }
        let rate = measure(device)?;
        let matrix_gflops = rate.mma.map(|rate| rate / 1e9);
        Ok(*known.insert(ArithmeticCeiling { fma_gflops: rate.fma / 1e9, matrix_gflops }))
    }

    /// The processes that measure together.
    pub fn ranks(&self) -> &Ranks {
        &self.common.ranks
    }

    /// Tells whether Ctrl-C was pressed on any rank.
    pub fn interrupted(&self) -> bool {
        let own = u8::from(self.interrupt.pressed());
        self.ranks().answers(own).map_or(true, |all| all.iter().any(|&pressed| pressed != 0))
    }

    /// Returns the first rank's value, because its clock decides for all ranks.
    fn decided(&self, own: bool) -> Result<bool, Failure> {
        Ok(self.ranks().first_decides([u8::from(own)])? != [0])
    }

    /// With what status the program then ends.
    pub fn status_when_interrupted(&self) -> Status {
        self.interrupt.status()
    }

    /// Times `call`, and adds a row.
    ///
    /// `call` gets the number of the call, and returns its time on the device if that is known. A row
    /// that Ctrl-C cuts short is left out.
    ///
    /// # Errors
    /// All errors of `call`.
    pub fn time(
        &mut self,
        subject: Subject,
        call: impl FnMut(usize) -> Result<Option<Duration>, Failure>,
    ) -> Result<(), Failure> {
        let samples = self.samples_of(call)?;
        self.push(subject, samples);
        Ok(())
    }

    /// Takes samples like [`Session::samples`], with times on the device.
    ///
    /// `call` returns the times.
    ///
    /// # Errors
    /// All errors of `call`.
    pub fn samples_of(
        &self,
        mut call: impl FnMut(usize) -> Result<Option<Duration>, Failure>,
    ) -> Result<Samples, Failure> {
        self.samples(|number| {
            let begin = Instant::now();
            let on_device = call(number)?;
            Ok((begin.elapsed(), on_device))
        })
    }

    /// Times calls like [`Session::time`], if the calls measure both times themselves.
    ///
    /// # Errors
    /// All errors of `call`.
    pub fn time_by(
        &mut self,
        subject: Subject,
        call: impl FnMut(usize) -> Result<(Duration, Option<Duration>), Failure>,
    ) -> Result<(), Failure> {
        let samples = self.samples(call)?;
        self.push(subject, samples);
        Ok(())
    }

    /// Returns samples of `call` after a warm-up; no samples after Ctrl-C.
    ///
    /// # Errors
    /// All errors of `call`.
    pub fn samples(
        &self,
        mut call: impl FnMut(usize) -> Result<(Duration, Option<Duration>), Failure>,
    ) -> Result<Samples, Failure> {
        let mut samples = Samples::default();
        let longest =
            self.how.seconds.map_or(if self.how.quick { 0.2 } else { 1.0 }, |seconds| seconds.as_secs_f64());
        let first = Instant::now();
        let mut warm_up = 0;
        // Slow calls warm up in one.
        while self.decided(
            (warm_up < WARM_UP || first.elapsed() < WARM_UP_TIME)
                && (warm_up == 0 || first.elapsed().as_secs_f64() <= longest),
        )? {
            if self.interrupted() {
                return Ok(Samples::default());
            }
            call(warm_up)?;
            warm_up += 1;
        }
        let start = Instant::now();
        while self.decided(
            samples.wall.len() < self.how.samples as usize
                && (samples.wall.len() < FEWEST_SAMPLES || start.elapsed().as_secs_f64() < longest),
        )? {
            if self.interrupted() {
                return Ok(Samples::default());
            }
            let (wall, on_device) = call(warm_up + samples.wall.len())?;
            samples.wall.push(wall.as_secs_f64());
            samples.event.extend(on_device.map(|duration| duration.as_secs_f64()));
        }
        Ok(samples)
    }

    /// Adds a row that was measured elsewhere, unless it has no samples.
    ///
    /// The row's time is told at once, because the tables come at the end.
    pub fn push(&mut self, subject: Subject, samples: Samples) {
        let Some(mut row) = Row::new(subject, samples) else { return };
        row.relate_to_one_device(&self.rows, self.team.labels().len());
        self.report.note(row.line());
        self.rows.push(row);
    }

    /// Returns the outcome, with a note whether the run was complete.
    pub fn into_outcome(self, complete: bool) -> BenchmarkRun {
        let mut outcome =
            BenchmarkRun { devices: self.devices, rows: self.rows, ..BenchmarkRun::new(complete) };
        outcome.set_memory_ceilings();
        outcome
    }
}

/// Returns the devices of all ranks, which are of one kind.
///
/// Each rank has measured the bandwidth of its own devices.
fn devices_of_ranks(world: &World, own: &[MeasuredDevice]) -> Result<Vec<MeasuredDevice>, MpiError> {
    let triads: Vec<u8> = own.iter().flat_map(|device| device.triad_gb_s.to_le_bytes()).collect();
    let all = world.gather(&triads)?;
    let measured = all.chunks_exact(8).zip(own.iter().cycle()).enumerate().map(|(k, (bytes, device))| {
        let triad_gb_s = f64::from_le_bytes(std::array::from_fn(|k| bytes[k]));
        let label = format!("rank {}: {}", k / own.len(), device.label);
        MeasuredDevice { label, triad_gb_s, memory_gb_s: triad_gb_s, ..device.clone() }
    });
    Ok(measured.collect())
}

/// Returns the reason why a command that needs an OpenCL device does not run.
pub fn no_device(team: &Team, command: &str) -> Failure {
    match team.absence() {
        Some(absence) => {
            let message = absence.to_string();
            let hint = format!("{command} needs one; `cr-solve devices` shows what there is");
            Failure::new(Status::Device, anyhow::Error::msg(message)).hint(hint)
        }
        None => Failure::usage(format!("{command} measures OpenCL devices; name them with --device")),
    }
}

/// Returns the failure of a wrong result, which is not timed.
pub fn wrong(what: impl Display, expected: impl Display, found: impl Display) -> Failure {
    let error = anyhow::anyhow!("{what} gives {found} where the host has {expected}: not timed");
    Failure::new(Status::Failed, error)
}
