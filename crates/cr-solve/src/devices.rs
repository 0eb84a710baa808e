//! `cr-solve devices`: the devices to compute on.

use comfy_table::Table;
use lattice_cl::compute::{
    Device, DeviceError, DeviceInfo, PeerRates, PeerWay, Peers, Profiling, Team, discover, triad_bandwidth,
};
use lattice_cl::host;
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::report::{Report, align_right, plain_table};
use serde::Serialize;

/// The command line of `devices`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Measure how fast kernels of each device reach the memory of the others
    #[arg(long)]
    rates: bool,
}

#[derive(Serialize)]
struct DevicesResult {
    schema_version: u32,
    devices: Vec<ListedDevice>,
    /// Reason why there is no OpenCL device, if there is none.
    absence: Option<String>,
    /// `null` if `--device` names others.
    host: Option<Host>,
    /// One entry for every two devices.
    links: Vec<Link>,
}

/// The connection of two devices.
#[derive(Serialize)]
struct Link {
    between: [String; 2],
    /// The way by which kernels reach the other device's memory.
    ///
    /// `null` if everything goes through the host.
    way: Option<&'static str>,
    /// Rates of each device's kernels in the memory of the other device.
    ///
    /// `null` if the rates were not measured.
    rates: Option<[Rates; 2]>,
}

#[derive(Serialize)]
struct Rates {
    write_gb_s: f64,
    read_gb_s: f64,
    /// Microseconds of a question and its answer by flags.
    ///
    /// `null` if the host waits instead.
    flags_us: Option<f64>,
}

#[derive(Serialize)]
struct ListedDevice {
    /// The value of `--device` that selects the device.
    selector: String,
    #[serde(flatten)]
    info: DeviceInfo,
    /// Bandwidth of the triad, `null` if it could not be measured.
    bandwidth_gb_s: Option<f64>,
}

#[derive(Serialize)]
struct Host {
    selector: &'static str,
    threads: usize,
    bandwidth_gb_s: f64,
}

/// Lists the devices of `--device`, or all and the host, each with its measured bandwidth.
///
/// # Errors
/// When there is no such device, and when the result cannot be written.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let named = match &common.device[..] {
        [] => None,
        _ => Some(common.team(Profiling::Off, report)?),
    };
    let spinner = report.spinner("measuring bandwidth");
    let (mut devices, mut open) = (Vec::new(), Vec::new());
    let mut add = |selector: String, info: &DeviceInfo, label: &str, opened: Result<Device, DeviceError>| {
        let measured = opened.and_then(|device| {
            let measured = triad_bandwidth(&device);
            open.push(device);
            measured
        });
        if let Err(error) = &measured {
            report.warning(format_args!("{label}: {error}"));
        }
        let bandwidth_gb_s = measured.ok().map(|bytes| bytes / 1e9);
        devices.push(ListedDevice { selector, info: info.clone(), bandwidth_gb_s });
    };
    let absence = match &named {
        Some(team) => {
            for device in team.devices() {
                add(device.index().to_string(), device.info(), device.label(), Ok(device.clone()));
            }
            team.absence().map(ToString::to_string)
        }
        None => {
            let discovery = discover();
            let options = common.device_options(Profiling::Off);
            for found in &discovery.devices {
                let opened = Device::open(found, &options);
                add(found.index.to_string(), &found.info, &found.label(), opened);
            }
            discovery.absence.map(|absence| absence.to_string())
        }
    };
    let host = || Host {
        selector: "host",
        threads: rayon::current_num_threads(),
        bandwidth_gb_s: host::triad_bandwidth() / 1e9,
    };
    let outcome = DevicesResult {
        schema_version: 1,
        devices,
        absence,
        host: named.as_ref().is_none_or(Team::is_host).then(host),
        links: links(&open, arguments.rates)?,
    };
    spinner.finish_and_clear();
    if let Some(absence) = &outcome.absence {
        report.note(absence);
    }
    let mut text = table(&outcome).to_string();
    if !outcome.links.is_empty() {
        text += &format!("\n\n{}", table_of_links(&outcome.links));
    }
    report.result(text, &outcome)?;
    Ok(Status::Fine)
}

/// Tries the connection of every two devices, and measures it if wanted.
fn links(devices: &[Device], measured: bool) -> Result<Vec<Link>, Failure> {
    let pairs = devices.iter().enumerate().flat_map(|(k, a)| devices[k + 1..].iter().map(move |b| (a, b)));
    pairs
        .map(|(a, b)| {
            let mut rates = None;
            if measured
                && let (Some(there), Some(back)) = (PeerRates::measure(a, b)?, PeerRates::measure(b, a)?)
            {
                rates = Some([there, back].map(Rates::from));
            }
            let between = [a, b].map(|device| device.index().to_string());
            Ok(Link { between, way: Peers::link(a, b).map(PeerWay::name), rates })
        })
        .collect()
}

impl From<PeerRates> for Rates {
    fn from(rates: PeerRates) -> Self {
        Self {
            write_gb_s: rates.write / 1e9,
            read_gb_s: rates.read / 1e9,
            flags_us: rates.round_trip.map(|time| time.as_secs_f64() * 1e6),
        }
    }
}

fn table_of_links(links: &[Link]) -> Table {
    let mut table = plain_table(["between", "memory", "writes", "reads", "flags, round trip"]);
    let both = |link: &Link, value: &dyn Fn(&Rates) -> Option<String>| match &link.rates {
        Some(rates) => {
            rates.each_ref().map(|rates| value(rates).unwrap_or_else(|| "-".to_owned())).join(" / ")
        }
        None => "-".to_owned(),
    };
    for link in links {
        table.add_row([
            link.between.join(" and "),
            link.way.unwrap_or("through the host").to_owned(),
            both(link, &|rates| Some(format!("{:.1} GB/s", rates.write_gb_s))),
            both(link, &|rates| Some(format!("{:.1} GB/s", rates.read_gb_s))),
            both(link, &|rates| rates.flags_us.map(|time| format!("{time:.1} µs"))),
        ]);
    }
    table
}

fn table(outcome: &DevicesResult) -> Table {
    let mut table = plain_table(["--device", "name", "platform", "kind", "fp64", "memory", "units", "triad"]);
    for found in &outcome.devices {
        let info = &found.info;
        table.add_row([
            found.selector.clone(),
            info.name.clone(),
            info.platform.clone(),
            info.kind.to_string(),
            if info.fp64 { "yes" } else { "no" }.to_owned(),
            format!("{:.1} GiB", info.memory_bytes as f64 / f64::from(1 << 30)),
            info.compute_units.to_string(),
            found.bandwidth_gb_s.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1} GB/s")),
        ]);
    }
    if let Some(host) = &outcome.host {
        table.add_row([
            host.selector.to_owned(),
            "this machine, without OpenCL".to_owned(),
            "-".to_owned(),
            "cpu".to_owned(),
            "yes".to_owned(),
            "-".to_owned(),
            host.threads.to_string(),
            format!("{:.1} GB/s", host.bandwidth_gb_s),
        ]);
    }
    align_right(&mut table, &[5, 6, 7]);
    table
}
