//! `--trace`: what ran on the devices during a solve, in the Chrome trace format.
//!
//! Such a file opens in `chrome://tracing` and in <https://ui.perfetto.dev>. Every device is a
//! process with three rows. The rows are its compute queue, its copy queue, and the times when the
//! host waited for the device. Transfers from other devices of a context have a fourth row. Times are microseconds on one axis. Durations are those of the
//! device's events. (Format: "Trace Event Format", The Chromium Authors.)

use lattice_cl::compute::{DeviceRecord, Queue, RecordedSpan, Recorder};
use lattice_cl::io;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::Report;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The option `--trace`.
#[derive(Debug, Default, clap::Args)]
pub struct Trace {
    /// Write a timeline of the devices during the solve to this file (JSON)
    ///
    /// chrome://tracing and ui.perfetto.dev show the file. Every launch takes some microseconds longer.
    /// Several ranks of MPI write a file each, trace.0.json and so on for trace.json.
    #[arg(long, value_name = "FILE.json", hide_short_help = true)]
    trace: Option<PathBuf>,
}

impl Trace {
    /// Creates the option for this file, if there is one.
    pub fn to(trace: Option<PathBuf>) -> Self {
        Self { trace }
    }

    /// Returns the file, if one is to be written.
    pub fn path(&self) -> Option<&Path> {
        self.trace.as_deref()
    }

    /// Returns the recorder that the devices are to be opened with.
    pub fn recorder(&self) -> Recorder {
        if self.trace.is_some() { Recorder::new() } else { Recorder::default() }
    }

    /// Writes what was recorded.
    ///
    /// # Errors
    /// When a device or the file fails.
    pub fn write(&self, recorder: &Recorder, report: &Report) -> Result<(), Failure> {
        let Some(path) = &self.trace else { return Ok(()) };
        let devices = recorder.take()?;
        if devices.is_empty() {
            report.warning(format_args!("{} is empty: the host has no launches", path.display()));
        }
        for device in devices.iter().filter(|device| device.left_out > 0) {
            report.warning(format_args!(
                "{} has the beginning only: the last {} commands of {} are left out",
                path.display(),
                device.left_out,
                device.device
            ));
        }
        let text =
            serde_json::to_vec(&chrome(&devices)).map_err(|error| Failure::new(Status::File, error))?;
        Ok(io::write_file(path, &text)?)
    }
}

/// A whole trace file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    display_time_unit: &'static str,
    trace_events: Vec<Event<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "ph")]
enum Event<'a> {
    /// Something that took time.
    #[serde(rename = "X")]
    Complete {
        name: &'a str,
        cat: &'static str,
        pid: usize,
        tid: usize,
        /// Microseconds.
        ts: f64,
        dur: f64,
        args: Details,
    },
    /// The name of a process or a row.
    #[serde(rename = "M")]
    Metadata { name: &'static str, pid: usize, tid: usize, args: Name<'a> },
}

#[derive(Serialize)]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
}

const COMPUTE: usize = 0;
const COPY: usize = 1;
const HOST: usize = 2;
const ARRIVALS: usize = 3;
const ROWS: [(usize, &str); 4] =
    [(COMPUTE, "compute queue"), (COPY, "copy queue"), (HOST, "host waits"), (ARRIVALS, "arrivals queue")];

fn chrome(devices: &[DeviceRecord]) -> File<'_> {
    let mut events = Vec::new();
    for (pid, device) in devices.iter().enumerate() {
        let args = Name { name: &device.device };
        events.push(Event::Metadata { name: "process_name", pid, tid: COMPUTE, args });
        let has_arrivals = device.commands.iter().any(|command| command.queue == Queue::Arrivals);
        for (tid, name) in ROWS.into_iter().filter(|&(tid, _)| tid != ARRIVALS || has_arrivals) {
            events.push(Event::Metadata { name: "thread_name", pid, tid, args: Name { name } });
        }
        for command in &device.commands {
            let tid = match command.queue {
                Queue::Compute => COMPUTE,
                Queue::Copy => COPY,
                Queue::Arrivals => ARRIVALS,
            };
            let bytes = (command.bytes > 0).then_some(command.bytes);
            let category = if bytes.is_some() { "transfer" } else { "kernel" };
            events.push(event(&command.span, category, pid, tid, bytes));
        }
        events.extend(device.waits.iter().map(|wait| event(wait, "host", pid, HOST, None)));
    }
    File { display_time_unit: "ns", trace_events: events }
}

fn event<'a>(
    span: &'a RecordedSpan,
    cat: &'static str,
    pid: usize,
    tid: usize,
    bytes: Option<usize>,
) -> Event<'a> {
    let microseconds = |time: Duration| time.as_nanos() as f64 / 1e3;
    let (ts, dur) = (microseconds(span.start), microseconds(span.duration));
    Event::Complete { name: &span.name, cat, pid, tid, ts, dur, args: Details { bytes } }
}
