//! The results of all benchmarks, for output and for programs that read JSON.
//!
//! `bench/schema.json` describes the JSON.

use super::machine::{Machine, time_of_day};
use crate::statistics::Spread;
use lattice_cl::compute::{Device, DeviceInfo};
use lattice_cl::tuning::date::today;
use lattice_cli::provenance::COMMIT;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// Version of the JSON, which changes if programs that read results must change.
pub const SCHEMA_VERSION: u32 = 2;

/// The result of one run of `bench`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchmarkRun {
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// Commit of the program, with `-dirty` if there were changes; null if unknown.
    pub commit: Option<String>,
    /// The arguments of the program.
    pub command: Vec<String>,
    /// The day in UTC, for example 2026-11-21.
    pub date: String,
    /// The time of day in UTC, for example 14:03:22.
    ///
    /// Older results have neither time nor machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// `false` if Ctrl-C came before the end.
    pub complete: bool,
    pub devices: Vec<MeasuredDevice>,
    pub rows: Vec<Row>,
}

/// A device, or the host, and its measured ceilings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasuredDevice {
    pub label: String,
    /// `cpu`, `gpu`, `accelerator` or `other` of OpenCL, or `host`.
    pub kind: String,
    pub platform: String,
    pub driver: String,
    pub opencl_version: String,
    pub compute_units: usize,
    /// Clock that the driver reports; null if it reports none.
    pub clock_mhz: Option<u32>,
    pub memory_bytes: Option<u64>,
    pub cache_bytes: Option<u64>,
    pub triad_gb_s: f64,
    /// Largest measured rate of memory, by the triad or by a stream outside all caches.
    pub memory_gb_s: f64,
    /// Arithmetic in single precision; null if no benchmark needed it.
    pub single: Option<ArithmeticCeiling>,
    /// Arithmetic in double precision.
    pub double: Option<ArithmeticCeiling>,
}

/// The largest measured rates of a device's arithmetic units.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ArithmeticCeiling {
    pub fma_gflops: f64,
    /// Rate of the matrix units, in double or in TF32.
    pub matrix_gflops: Option<f64>,
}

/// One measurement, checked before it was timed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub benchmark: Benchmark,
    pub kernel: String,
    /// Requested parameters.
    ///
    /// Parameters, benchmark, kernel and device together identify the row.
    pub parameters: Map<String, Value>,
    /// Number of the device in `devices`; null for several devices together.
    pub device: Option<usize>,
    /// Always `true`, because wrong results are not timed.
    pub checked: bool,
    /// Bytes that a call must move at least; 0 if only time matters.
    pub bytes: u64,
    /// Floating-point operations of a call; 0 if only memory matters.
    pub flops: u64,
    pub event_seconds: Option<Spread>,
    pub wall_seconds: Option<Spread>,
    /// Clock that the rates below come from, by its median.
    pub rated_by: Clock,
    pub gb_s: Option<f64>,
    pub gflops: Option<f64>,
    pub ceiling: Option<Ceiling>,
    pub share_of_ceiling: Option<f64>,
    /// Further results.
    pub details: Map<String, Value>,
    pub samples: Samples,
}

/// Seconds of each call.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Samples {
    /// Times by the device's clock; empty if the call is no command of a device.
    pub event: Vec<f64>,
    /// Times by the wall clock, from the call until its end.
    pub wall: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Benchmark {
    Bandwidth,
    Blas,
    Gemm,
    Factor,
    Sparse,
    Fft,
    Poisson,
    Sums,
    Md,
    Xc,
    Stencil,
    Solver,
    Measure,
    Ladder,
}

impl fmt::Display for Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", format!("{self:?}").to_lowercase())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    Event,
    Wall,
}

/// The largest rate that a row could reach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// The limit: bytes or floating-point operations.
    pub of: Limit,
    /// The rate in 10⁹ bytes or operations per second.
    pub value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    Memory,
    Arithmetic,
}

/// The subject of a row, before its measurement.
#[derive(Clone, Debug)]
pub struct Subject {
    benchmark: Benchmark,
    kernel: String,
    device: Option<usize>,
    parameters: Map<String, Value>,
    bytes: u64,
    flops: u64,
    rated_by: Clock,
    limit: Option<Limit>,
    ceiling_gflops: f64,
    details: Map<String, Value>,
}

impl Subject {
    /// Makes the subject of a kernel that memory limits, on all devices together.
    ///
    /// [`Subject::on`] selects one device.
    pub fn new(benchmark: Benchmark, kernel: impl Into<String>) -> Self {
        Self {
            benchmark,
            kernel: kernel.into(),
            device: None,
            parameters: Map::new(),
            bytes: 0,
            flops: 0,
            rated_by: Clock::Event,
            limit: Some(Limit::Memory),
            ceiling_gflops: f64::NAN,
            details: Map::new(),
        }
    }

    /// Returns the subject on one device.
    pub fn on(self, device: usize) -> Self {
        Self { device: Some(device), ..self }
    }

    /// Adds a requested parameter.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.to_owned(), value.into());
        self
    }

    pub fn bytes(self, bytes: u64) -> Self {
        Self { bytes, ..self }
    }

    pub fn flops(self, flops: u64) -> Self {
        Self { flops, ..self }
    }

    /// Takes rates from the wall clock, even if the device has a clock.
    pub fn by_the_wall(self) -> Self {
        Self { rated_by: Clock::Wall, ..self }
    }

    /// Sets the limit to arithmetic with this many 10⁹ operations per second.
    pub fn limited_by_arithmetic(self, gflops: f64) -> Self {
        Self { limit: Some(Limit::Arithmetic), ceiling_gflops: gflops, ..self }
    }

    /// Sets the limit to arithmetic or to memory, whichever takes longer.
    ///
    /// `gflops` is in 10⁹ operations per second, `gb_s` in 10⁹ bytes per second. The bytes and
    /// operations of the subject must be set before.
    pub fn limited_by_the_slower(self, gflops: f64, gb_s: f64) -> Self {
        if self.bytes as f64 / gb_s > self.flops as f64 / gflops {
            Self { limit: Some(Limit::Memory), ..self }
        } else {
            self.limited_by_arithmetic(gflops)
        }
    }

    /// Removes the limit.
    pub fn unlimited(self) -> Self {
        Self { limit: None, ..self }
    }

    /// Adds a further result.
    pub fn found(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

impl Row {
    /// Returns the row in one line: what was measured, and its median time.
    pub fn line(&self) -> String {
        let mut line = format!("{} {}", self.benchmark, self.kernel);
        for (name, value) in &self.parameters {
            match value {
                Value::String(text) => line += &format!(", {name} {text}"),
                other => line += &format!(", {name} {other}"),
            }
        }
        let spread = match self.rated_by {
            Clock::Event => self.event_seconds,
            Clock::Wall => self.wall_seconds,
        };
        let microseconds = spread.map_or(f64::NAN, |spread| spread.median * 1e6);
        line + &format!(": {microseconds:.1} µs")
    }

    /// Makes a row; `None` without samples.
    ///
    /// An arithmetic ceiling is set here. The ceiling of memory is known after all measurements.
    pub fn new(subject: Subject, samples: Samples) -> Option<Self> {
        let wall_seconds = Spread::of(&samples.wall);
        let event_seconds = Spread::of(&samples.event);
        let rated_by = if event_seconds.is_none() { Clock::Wall } else { subject.rated_by };
        let by = match rated_by {
            Clock::Event => event_seconds?,
            Clock::Wall => wall_seconds?,
        };
        let rate = |count: u64| (count > 0).then(|| count as f64 / by.median / 1e9);
        let value = match subject.limit {
            Some(Limit::Arithmetic) => subject.ceiling_gflops,
            _ => f64::NAN,
        };
        let mut row = Self {
            benchmark: subject.benchmark,
            kernel: subject.kernel,
            parameters: subject.parameters,
            device: subject.device,
            checked: true,
            bytes: subject.bytes,
            flops: subject.flops,
            event_seconds,
            wall_seconds,
            rated_by,
            gb_s: rate(subject.bytes),
            gflops: rate(subject.flops),
            ceiling: subject.limit.map(|of| Ceiling { of, value }),
            share_of_ceiling: None,
            details: subject.details,
            samples,
        };
        row.share();
        Some(row)
    }

    /// Returns the times that the rates come from.
    pub fn seconds(&self) -> Option<Spread> {
        match self.rated_by {
            Clock::Event => self.event_seconds,
            Clock::Wall => self.wall_seconds,
        }
    }

    pub fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters.get(name)
    }

    /// Returns a parameter that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.parameter(name)?.as_str()
    }

    /// Adds speed-up and efficiency to a row of several devices together.
    ///
    /// The speed-up is relative to the fastest row of one device in `others` with the same subject.
    /// The efficiency is the speed-up divided by the number of devices. Times are by the wall clock.
    pub fn relate_to_one_device(&mut self, others: &[Row], devices: usize) {
        if self.device.is_some() || devices < 2 {
            return;
        }
        let parameters = |row: &Row| {
            let mut parameters = row.parameters.clone();
            for of_several in ["grid", "ranks", "ranks_grid"] {
                parameters.remove(of_several);
            }
            parameters
        };
        let own = parameters(self);
        let alone = others.iter().filter(|other| {
            other.device.is_some()
                && (other.benchmark, &other.kernel) == (self.benchmark, &self.kernel)
                && parameters(other) == own
        });
        let fastest = alone.filter_map(|other| Some(other.wall_seconds?.median)).min_by(f64::total_cmp);
        if let (Some(alone), Some(together)) = (fastest, self.wall_seconds) {
            let times = alone / together.median;
            self.details.insert("times_as_fast_as_one".to_owned(), times.into());
            self.details.insert("efficiency".to_owned(), (times / devices as f64).into());
        }
    }

    fn is_stream_of_memory(&self) -> bool {
        let is = |part| self.text("part") == Some(part);
        (is("streams") || is("host")) && self.parameter("in_cache") == Some(&Value::Bool(false))
    }

    fn share(&mut self) {
        let rate = self.ceiling.and_then(|ceiling| match ceiling.of {
            Limit::Memory => self.gb_s,
            Limit::Arithmetic => self.gflops,
        });
        let known = self.ceiling.filter(|ceiling| ceiling.value.is_finite());
        self.share_of_ceiling = rate.zip(known).map(|(rate, ceiling)| rate / ceiling.value);
    }
}

impl MeasuredDevice {
    pub fn new(device: &Device, triad_gb_s: f64) -> Self {
        let info: &DeviceInfo = device.info();
        Self {
            label: device.label().to_owned(),
            kind: info.kind.to_string(),
            platform: info.platform.clone(),
            driver: info.driver_version.clone(),
            opencl_version: info.opencl_version.clone(),
            compute_units: info.compute_units,
            clock_mhz: Some(info.clock_mhz).filter(|&mhz| mhz > 0),
            memory_bytes: Some(info.memory_bytes),
            cache_bytes: Some(info.cache_bytes),
            triad_gb_s,
            memory_gb_s: triad_gb_s,
            single: None,
            double: None,
        }
    }

    /// Describes this machine without OpenCL.
    pub fn host(triad_gb_s: f64) -> Self {
        Self {
            label: "the host, without OpenCL".to_owned(),
            kind: "host".to_owned(),
            platform: std::env::consts::OS.to_owned(),
            driver: std::env::consts::ARCH.to_owned(),
            opencl_version: String::new(),
            compute_units: rayon::current_num_threads(),
            clock_mhz: None,
            memory_bytes: None,
            cache_bytes: None,
            triad_gb_s,
            memory_gb_s: triad_gb_s,
            single: None,
            double: None,
        }
    }
}

impl BenchmarkRun {
    /// Makes the outcome of this run of the program, without devices and rows.
    pub fn new(complete: bool) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: COMMIT.map(str::to_owned),
            command: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            date: today(),
            time: Some(time_of_day()),
            machine: Some(Machine::here()),
            complete,
            devices: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Sets the memory ceiling of all rows that memory limits.
    pub fn set_memory_ceilings(&mut self) {
        let Self { devices, rows, .. } = self;
        for row in rows.iter().filter(|row| row.is_stream_of_memory()) {
            if let (Some(number), Some(rate)) = (row.device, row.gb_s) {
                devices[number].memory_gb_s = devices[number].memory_gb_s.max(rate);
            }
        }
        // The devices of OpenCL are measured together, without the host.
        let all =
            devices.iter().filter(|device| device.kind != "host").map(|device| device.memory_gb_s).sum();
        for row in rows {
            if let Some(Ceiling { of: Limit::Memory, value }) = &mut row.ceiling {
                *value = row.device.map_or(all, |number| devices[number].memory_gb_s);
            }
            row.share();
            if row.share_of_ceiling.is_none() {
                row.ceiling = None;
            }
        }
        self.leave_out_ceilings_of_caches();
    }

    /// Memory limits no row whose data stay in a cache.
    pub fn leave_out_ceilings_of_caches(&mut self) {
        for row in &mut self.rows {
            let of_memory = row.ceiling.is_some_and(|ceiling| ceiling.of == Limit::Memory);
            let cache = row.device.and_then(|number| self.devices.get(number)?.cache_bytes);
            let stays = row.parameter("in_cache") == Some(&Value::Bool(true))
                || cache.is_some_and(|cache| row.bytes <= cache / 2);
            if of_memory && stays {
                (row.ceiling, row.share_of_ceiling) = (None, None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_by_the_device_and_else_by_the_wall() {
        let subject = Subject::new(Benchmark::Bandwidth, "copy").on(0).bytes(2_000_000_000);
        let both = Samples { event: vec![1.0, 1.0], wall: vec![2.0, 2.0] };
        let row = Row::new(subject.clone(), both.clone()).unwrap();
        assert_eq!((row.gb_s, row.rated_by), (Some(2.0), Clock::Event));
        let row = Row::new(subject.clone().by_the_wall(), both).unwrap();
        assert_eq!((row.gb_s, row.rated_by), (Some(1.0), Clock::Wall));
        let wall = Samples { event: vec![], wall: vec![4.0] };
        let row = Row::new(subject.clone(), wall).unwrap();
        assert_eq!((row.gb_s, row.rated_by), (Some(0.5), Clock::Wall));
        assert!(Row::new(subject, Samples::default()).is_none());
    }

    #[test]
    fn the_fastest_stream_is_the_ceiling_of_memory_unless_it_is_in_a_cache() {
        let stream = |in_cache: bool, seconds: f64| {
            let subject = Subject::new(Benchmark::Bandwidth, "copy").on(0).bytes(1_000_000_000);
            let subject = subject.with("part", "streams").with("in_cache", in_cache);
            Row::new(subject, Samples { event: vec![seconds], wall: vec![seconds] }).unwrap()
        };
        let arithmetic = Subject::new(Benchmark::Gemm, "dgemm").on(0).flops(4_000_000_000);
        let arithmetic = arithmetic.limited_by_arithmetic(8.0);
        let product = Row::new(arithmetic, Samples { event: vec![1.0], wall: vec![] }).unwrap();
        let in_cache = |bytes| {
            Row::new(
                Subject::new(Benchmark::Blas, "axpy").on(0).bytes(bytes),
                Samples { event: vec![1.0], wall: vec![] },
            )
        };
        let device = MeasuredDevice { cache_bytes: Some(2_000_000), ..MeasuredDevice::host(10.0) };
        let streams = [stream(true, 0.001), stream(false, 0.05), stream(false, 0.1)];
        let others = [product, in_cache(1_000_000).unwrap(), in_cache(1_000_001).unwrap()];
        let rows = streams.into_iter().chain(others).collect();
        let mut outcome = BenchmarkRun { devices: vec![device], rows, ..BenchmarkRun::new(true) };
        outcome.set_memory_ceilings();
        assert_eq!(outcome.devices[0].memory_gb_s, 20.0);
        let shares: Vec<Option<f64>> = outcome.rows.iter().map(|row| row.share_of_ceiling).collect();
        let of_vector = 1_000_001.0 / 1e9 / 20.0;
        assert_eq!(shares, [None, Some(1.0), Some(0.5), Some(0.5), None, Some(of_vector)]);
        assert_eq!(outcome.rows[0].ceiling, None);
    }
}
