//! `cr-solve bench bandwidth`: what memory, transfers and launches of the devices give, checked and then timed.

mod latency;
mod patterns;
mod result;
mod session;
mod streams;
mod together;
mod transfers;

use super::Common;
use super::failure::{Failure, Status};
use super::interrupt::Interrupt;
use super::report::Report;
use crate::device::{Device, DeviceInfo, DeviceKind, Profiling, triad_bandwidth};
use result::{MeasuredDevice, Outcome};
use serde::Serialize;
use session::Session;

/// The command line of `bench bandwidth`.
#[derive(Debug, clap::Args, Serialize)]
pub struct Arguments {
    /// Bytes of one array, with K, M or G for KiB, MiB or GiB; by default from 16K until three arrays fill a quarter of the memory
    #[arg(long, value_name = "BYTES,…", value_delimiter = ',', value_parser = parse_bytes)]
    sizes: Vec<u64>,
    /// Doubles in a vector: 1, 2, 4, 8, 16; by default all, the ones that do not suit the device at one size only
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = parse_width)]
    widths: Vec<usize>,
    /// Few sizes, one width, short measurements
    #[arg(long)]
    quick: bool,
    /// What to measure; by default everything
    #[arg(long, value_enum, value_name = "PART,…", value_delimiter = ',')]
    only: Vec<Part>,
    /// Timed calls of each row, at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Seconds for each row, at most, as long as there are three samples; by default 1, with --quick 0.2
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Print the rows as comma-separated values
    #[arg(long)]
    csv: bool,
}

/// What can be measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Read, write, copy, scale, add, triad and dot
    Streams,
    /// Reads in a row, misaligned, with a stride and at random
    Patterns,
    /// To the device, from it and both at once; from device to device
    Transfers,
    /// What a launch costs
    Latency,
    /// Streams on all devices at once
    Together,
}

impl Arguments {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    fn longest_seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.quick { 0.2 } else { 1.0 })
    }

    /// Bytes of an array, ascending.
    fn sizes(&self, info: &DeviceInfo) -> Vec<u64> {
        // Of three arrays in a quarter of the memory, in whole MiB.
        let mib = 1 << 20;
        let largest = info.memory_bytes.min(4 * info.max_allocation_bytes) / (12 * mib) * mib;
        let mut sizes = if !self.sizes.is_empty() {
            self.sizes.clone()
        } else if self.quick {
            vec![64 << 10, 4 << 20, if info.kind == DeviceKind::Cpu { 64 << 20 } else { 256 << 20 }]
        } else {
            let powers = (7..20).map(|power| 1 << (2 * power)).filter(|&bytes| bytes < largest);
            powers.chain([largest]).collect()
        };
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

fn parse_bytes(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.trim().to_uppercase() {
        text if text.ends_with('K') => (text, 10),
        text if text.ends_with('M') => (text, 20),
        text if text.ends_with('G') => (text, 30),
        text => (text, 0),
    };
    let number: u64 = number
        .trim_end_matches(['K', 'M', 'G'])
        .parse()
        .map_err(|_| "a number of bytes is wanted, as in 65536, 64K, 4M or 1G".to_owned())?;
    let bytes = number.checked_mul(1 << shift).ok_or("more bytes than can be counted")?;
    if bytes < 128 {
        Err("an array has at least 128 bytes, one vector of 16 doubles".to_owned())
    } else {
        Ok(bytes)
    }
}

fn parse_width(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(width @ (1 | 2 | 4 | 8 | 16)) => Ok(width),
        _ => Err("a vector has 1, 2, 4, 8 or 16 doubles".to_owned()),
    }
}

/// Checks and times everything on the devices. Ctrl-C ends it with what has been measured.
///
/// # Errors
/// When there is no such device, it fails, or something is computed or transferred wrongly: that is not timed.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    if arguments.csv && common.json {
        return Err(Failure::usage(
            "--csv and --json are two forms of one result; give one of them".to_owned(),
        ));
    }
    if arguments.seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
        return Err(Failure::usage("--seconds must be a positive number".to_owned()));
    }
    let interrupt = Interrupt::listen()?;
    let team = common.team(Profiling::On, report)?;
    if team.is_host() {
        return Err(Failure::usage(
            "bench bandwidth measures OpenCL devices; name them with --device".to_owned(),
        ));
    }
    // Recording when commands run costs some microseconds a launch: latencies are those of queues that do not.
    let quiet = common.team(Profiling::Off, report)?;
    let mut devices = Vec::new();
    for device in team.devices() {
        devices.push(MeasuredDevice::new(device, triad_bandwidth(device)? / 1e9));
    }
    let mut session = Session::new(arguments, report, interrupt);
    measure(&mut session, team.devices(), quiet.devices())?;
    let interrupted = session.interrupted();
    let outcome = Outcome::new(arguments, devices, session.into_rows(), !interrupted);
    if interrupted {
        report.warning("interrupted: these are the rows that were measured before");
    }
    if arguments.csv {
        report.result(outcome.csv(), &outcome)?;
    } else {
        report.result(outcome.table(), &outcome)?;
    }
    Ok(if interrupted { Status::Failed } else { Status::Fine })
}

fn measure(session: &mut Session<'_>, devices: &[Device], quiet: &[Device]) -> Result<(), Failure> {
    for (number, (device, quiet)) in devices.iter().zip(quiet).enumerate() {
        let sizes = session.arguments.sizes(device.info());
        if session.arguments.wants(Part::Streams) {
            streams::measure(session, number, device, &sizes)?;
        }
        if session.arguments.wants(Part::Patterns) {
            patterns::measure(session, number, device, &sizes)?;
        }
        if session.arguments.wants(Part::Transfers) {
            transfers::measure(session, number, device, quiet, &sizes)?;
        }
        if session.arguments.wants(Part::Latency) {
            latency::measure(session, number, quiet)?;
        }
    }
    if devices.len() > 1 {
        let sizes = session.arguments.sizes(devices[0].info());
        if session.arguments.wants(Part::Transfers) {
            transfers::between(session, devices, &sizes)?;
        }
        if session.arguments.wants(Part::Together) {
            together::measure(session, devices, &sizes)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(parse_bytes("65536"), Ok(65536));
        assert_eq!(parse_bytes("64k"), Ok(65536));
        assert_eq!(parse_bytes("3M"), Ok(3 << 20));
        assert_eq!(parse_bytes("2G"), Ok(2 << 30));
        for wrong in ["", "M", "1.5M", "-1", "64", "99999999999G", "1KM x"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
