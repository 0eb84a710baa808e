//! `cr-solve bench bandwidth`: memory, transfers and launches of the devices.
//!
//! Everything is checked first and then timed.

mod host;
mod latency;
mod patterns;
mod peers;
mod streams;
mod together;
mod transfers;

use super::outcome::{Benchmark, Subject};
use super::session::{How, Session};
use lattice_cl::compute::{DeviceInfo, DeviceKind};
use lattice_cl::host::PeriodicNumbers;
use lattice_cl::scalar::Precision;
use lattice_cli::choices::{is_wanted, word};
use lattice_cli::failure::Failure;
use lattice_cli::memory::Need;
use lattice_cli::precisions;

/// The command line of `bench bandwidth`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Bytes of one array, with K, M or G for KiB, MiB or GiB
    ///
    /// Default: from 16K until three arrays fill a quarter of the memory.
    #[arg(long, value_name = "BYTES,…", value_delimiter = ',', value_parser = parse_bytes)]
    sizes: Vec<u64>,
    /// Elements of a vector: 1, 2, 4, 8, 16 [default: all]
    ///
    /// By default widths that do not suit the device are measured at one size only.
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = parse_width)]
    widths: Vec<usize>,
    /// Parts to measure; by default everything
    #[arg(long, value_parser = word::<BandwidthSection>(), value_name = "PART,…", value_delimiter = ',')]
    only: Vec<BandwidthSection>,
    /// Precisions of the streams: double, single (or d, s) or all
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "all", value_parser = precisions::of_reals())]
    precision: Vec<String>,
    #[command(flatten)]
    pub how: How,
}

/// A section of the benchmark, which can be measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandwidthSection {
    Streams,
    Patterns,
    Transfers,
    Latency,
    Peers,
    Together,
    Host,
}

lattice_files::words! {
    BandwidthSection, "section":
    Streams = "streams", "Read, write, copy, scale, add, triad and dot";
    Patterns = "patterns", "Reads in a row, misaligned, with a stride and at random";
    Transfers = "transfers", "To the device, from it and both at once; from device to device";
    Latency = "latency", "Cost of a launch";
    Peers = "peers", "Kernels of each device on the memory of the others, and flags between them";
    Together = "together", "Streams on all devices at once";
    Host = "host", "Streams of the host itself, without OpenCL"
}

impl Arguments {
    fn wants(&self, section: BandwidthSection) -> bool {
        self.only.is_empty() || self.only.contains(&section)
    }

    fn wants_precision(&self, precision: Precision) -> bool {
        is_wanted(&self.precision, precision)
    }

    /// Returns the bytes of an array, in ascending order.
    fn sizes(&self, info: &DeviceInfo) -> Vec<u64> {
        // Three arrays fill a quarter of the memory, in whole MiB.
        let mib = 1 << 20;
        let largest = info.memory_bytes.min(4 * info.max_allocation_bytes) / (12 * mib) * mib;
        let mut sizes = if !self.sizes.is_empty() {
            self.sizes.clone()
        } else if self.how.quick {
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

/// The session of the run, and the numbers that all streams use.
struct Run<'s, 'a> {
    session: &'s mut Session<'a>,
    arguments: &'s Arguments,
    b: PeriodicNumbers,
    c: PeriodicNumbers,
}

/// Returns the subject of a row of this benchmark.
fn subject(section: BandwidthSection, kernel: &str, variant: &str) -> Subject {
    Subject::new(Benchmark::Bandwidth, kernel).with("part", section.name()).with("variant", variant)
}

/// Checks and times all parts on the devices, and on the host.
///
/// # Errors
/// When a device fails, or a result or a transfer is wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    let team = session.team();
    let devices = team.devices();
    let quiet = session.quiet_team()?;
    let numbers = |stream| PeriodicNumbers::new(stream, PeriodicNumbers::PERIOD);
    let run = &mut Run { session, arguments, b: numbers(1), c: numbers(2) };
    for (number, (device, quiet)) in devices.iter().zip(quiet.devices()).enumerate() {
        let sizes = arguments.sizes(device.info());
        let largest = u128::from(arguments.sizes.iter().copied().max().unwrap_or(0));
        let need = Need { on_host: 0, on_device: 3 * largest };
        need.expect_room(format_args!("three arrays of {largest} bytes"), Some(device))?;
        if arguments.wants(BandwidthSection::Streams) {
            streams::measure(run, number, device, &sizes)?;
        }
        if arguments.wants(BandwidthSection::Patterns) {
            patterns::measure(run, number, device, &sizes)?;
        }
        if arguments.wants(BandwidthSection::Transfers) {
            transfers::measure(run, number, device, quiet, &sizes)?;
        }
        if arguments.wants(BandwidthSection::Latency) {
            latency::measure(run, number, quiet)?;
        }
    }
    if devices.len() > 1 {
        let sizes = arguments.sizes(devices[0].info());
        if arguments.wants(BandwidthSection::Transfers) {
            transfers::between(run, devices, &sizes)?;
        }
        if arguments.wants(BandwidthSection::Peers) {
            peers::measure(run, devices, &sizes)?;
        }
        if arguments.wants(BandwidthSection::Together) {
            together::measure(run, devices, &sizes)?;
        }
    }
    if arguments.wants(BandwidthSection::Host) {
        host::measure(run)?;
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
