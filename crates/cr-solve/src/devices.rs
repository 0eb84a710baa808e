//! `cr-solve devices`: what is here to compute on.

use super::Common;
use super::failure::{Failure, Status};
use super::report::{Report, align_right, plain_table};
use comfy_table::Table;
use lattice_cl::device::{Device, DeviceInfo, Profiling, discover, triad_bandwidth};
use lattice_cl::host;
use serde::Serialize;

#[derive(Serialize)]
struct DevicesResult {
    schema_version: u32,
    devices: Vec<Found>,
    /// Why there is no OpenCL device, if so.
    absence: Option<String>,
    host: Host,
}

#[derive(Serialize)]
struct Found {
    /// What `--device` takes.
    selector: String,
    #[serde(flatten)]
    info: DeviceInfo,
    /// Triad; null where it could not be measured.
    bandwidth_gb_s: Option<f64>,
}

#[derive(Serialize)]
struct Host {
    selector: &'static str,
    threads: usize,
    bandwidth_gb_s: f64,
}

/// Lists every device and the host, each with its measured bandwidth.
///
/// # Errors
/// When the result cannot be written.
pub fn run(common: &Common, report: &Report) -> Result<Status, Failure> {
    let discovery = discover();
    let options = common.device_options(Profiling::Off);
    let spinner = report.spinner("measuring bandwidth");
    let devices = discovery.devices.iter().map(|found| {
        let measured = Device::open(found, &options).and_then(|device| triad_bandwidth(&device));
        if let Err(error) = &measured {
            report.warning(format_args!("{}: {error}", found.label()));
        }
        Found {
            selector: found.index.to_string(),
            info: found.info.clone(),
            bandwidth_gb_s: measured.ok().map(|bytes| bytes / 1e9),
        }
    });
    let outcome = DevicesResult {
        schema_version: 1,
        devices: devices.collect(),
        absence: discovery.absence.map(|absence| absence.to_string()),
        host: Host {
            selector: "host",
            threads: rayon::current_num_threads(),
            bandwidth_gb_s: host::triad_bandwidth() / 1e9,
        },
    };
    spinner.finish_and_clear();
    if let Some(absence) = &outcome.absence {
        report.note(absence);
    }
    report.result(table(&outcome), &outcome)?;
    Ok(Status::Fine)
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
    let host = &outcome.host;
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
    align_right(&mut table, &[5, 6, 7]);
    table
}
