//! `cr-solve bench stencil`: the hop from parity to parity in every storage, checked and then timed.

use super::Common;
use super::failure::{Failure, Status};
use super::report::Report;
use crate::device::{Device, Profiling, Team, triad_bandwidth};
use crate::dirac::{HopEvenOdd, Tuning, tuning_steps};
use crate::host::{Boundary, Dims, GaugeConfiguration, Reconstruction, Spinor, WilsonForm, hop, random};
use crate::lattice::{GaugeField, Lattice, ParityField};
use crate::scalar::{Precision, Real};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::time::Duration;

/// The command line of `bench stencil`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Extents in x, y, z, t; several times for several lattices
    #[arg(long, value_name = "EXTENTS", default_values = ["16x16x16x32"])]
    dims: Vec<Dims>,
    /// Precisions: double, single or all
    #[arg(long, default_value = "all", value_parser = ["all", "double", "single"])]
    precision: String,
    /// Reals stored for each link: 18, 12, 8 or all
    #[arg(long, default_value = "all", value_parser = ["all", "18", "12", "8"])]
    links: String,
    /// Time all kernel variants instead of the one that solves use, and show the best: work-group sizes, register limits, cache
    /// hints, order of sites
    #[arg(long)]
    search: bool,
    /// Timed launches of each kernel
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    launches: u32,
}

#[derive(Serialize)]
struct Outcome {
    schema_version: u32,
    device: String,
    driver: String,
    triad_gb_s: f64,
    launches: u32,
    /// The variants that a solve uses, or with `--search` the best ones.
    rows: Vec<Row>,
    /// With `--search` everything that was timed.
    searched: Vec<Row>,
}

/// One kernel on one lattice.
#[derive(Clone, Serialize)]
struct Row {
    dims: [usize; 4],
    precision: Precision,
    links: usize,
    tuning: Tuning,
    /// Relative deviation from the double twin, on the sites that were checked.
    deviation: f64,
    microseconds: Microseconds,
    /// At 1320 flops a site, by the median.
    gflops: f64,
    /// By the least traffic: every link and every spinor once.
    bandwidth_gb_s: f64,
    share_of_triad: f64,
}

#[derive(Clone, Serialize)]
struct Microseconds {
    quartile: f64,
    median: f64,
    upper_quartile: f64,
}

/// Sites at which each kernel is compared with the twin.
const CHECKED_SITES: usize = 500;

/// Checks and times the kernels on one device.
///
/// # Errors
/// When there is no such device, it fails, or a kernel computes something wrong: that one is not timed.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let team = common.team(Profiling::On, report)?;
    let [device] = team.devices() else {
        return Err(Failure::usage(
            "bench stencil measures one OpenCL device; name it with --device".to_owned(),
        ));
    };
    let mut outcome = Outcome {
        schema_version: 1,
        device: device.label().to_owned(),
        driver: device.info().driver_version.clone(),
        triad_gb_s: triad_bandwidth(device)? / 1e9,
        launches: arguments.launches,
        rows: Vec::new(),
        searched: Vec::new(),
    };
    for &dims in &arguments.dims {
        report.note(format_args!("{dims}: random links and spinors"));
        let configuration = random::hot(dims, 1);
        let psi = random::spinor_field(dims, 2);
        let case = Case {
            team: &team,
            device,
            configuration: &configuration,
            psi: &psi,
            arguments,
            triad: outcome.triad_gb_s,
        };
        let wanted = |name: &str| arguments.precision == "all" || arguments.precision == name;
        if wanted("double") {
            case.measure::<f64>(1e-14, &mut outcome, report)?;
        }
        if wanted("single") {
            case.measure::<f32>(1e-6, &mut outcome, report)?;
        }
    }
    report.result(table(&outcome), &outcome)?;
    Ok(Status::Fine)
}

/// The bare hop.
const FORM: WilsonForm = WilsonForm { shift: 0.0, coefficient: 1.0, dagger: false, gamma5: false };

/// One lattice with its data.
struct Case<'a> {
    team: &'a Team,
    device: &'a Device,
    configuration: &'a GaugeConfiguration,
    psi: &'a [Spinor<f64>],
    arguments: &'a Arguments,
    triad: f64,
}

impl Case<'_> {
    fn measure<T: Real>(&self, bound: f64, outcome: &mut Outcome, report: &Report) -> Result<(), Failure> {
        let dims = self.configuration.dims();
        let lattice = Lattice::new(self.team, dims)?;
        let odd: Vec<Spinor<T>> = (0..dims.volume())
            .filter(|&site| dims.parity(site) == 1)
            .map(|site| self.psi[site].cast())
            .collect();
        let source = lattice.parity_from_host(1, &odd)?;
        for reconstruction in Reconstruction::ALL {
            if self.arguments.links != "all" && self.arguments.links != reconstruction.to_string() {
                continue;
            }
            let links =
                lattice.gauge_in::<T>(self.configuration, Boundary::antiperiodic_t(), reconstruction)?;
            // What a solve would use now.
            let chosen = HopEvenOdd::new(&links, 0, FORM, false)?.tuning();
            let shipped = || Tuning::shipped(self.device, T::PRECISION, reconstruction);
            let mut best = self.time(&links, &source, chosen.unwrap_or_else(shipped), bound)?;
            if self.arguments.search {
                let extents = lattice.slabs()[0].layout(dims, T::PRECISION).sub_extents();
                // One after the other: what a step tries starts from the best of the step before.
                for step in tuning_steps(self.device, extents) {
                    for tuning in step(&best.tuning) {
                        match self.time(&links, &source, tuning, bound) {
                            Ok(row) => {
                                if row.gflops > best.gflops {
                                    best = row.clone();
                                }
                                outcome.searched.push(row);
                            }
                            // A group that is too large for so many registers.
                            Err(failure) if failure.status == Status::Device => {
                                report.note(format_args!("{tuning:?}: {}", failure.error));
                            }
                            Err(failure) => return Err(failure),
                        }
                    }
                }
            }
            outcome.rows.push(best);
        }
        Ok(())
    }

    /// Checks one variant, then times it.
    fn time<T: Real>(
        &self,
        links: &GaugeField<T>,
        source: &ParityField<T>,
        tuning: Tuning,
        bound: f64,
    ) -> Result<Row, Failure> {
        let (dims, reconstruction) = (self.configuration.dims(), links.reconstruction());
        let hop = HopEvenOdd::tuned(links, 0, FORM, false, tuning)?;
        let mut out = hop.target()?;
        hop.apply(source, None, &mut out)?;
        let deviation = self.deviation(&out.to_host()?);
        if deviation > bound || deviation.is_nan() {
            let error = anyhow::anyhow!(
                "{dims} {} with {reconstruction} reals a link deviates by {deviation:.1e} from the host (at most \
                 {bound:.0e} allowed): not timed",
                T::PRECISION
            );
            return Err(Failure::new(Status::Failed, error));
        }
        let mut times = Vec::new();
        for _ in 0..self.arguments.launches {
            let mut taken = Ok(None);
            hop.apply_observed(source, None, &mut out, |event| taken = event.duration())?;
            times.extend(taken?);
        }
        times.sort();
        let at = |share: f64| -> Duration { times[((times.len() - 1) as f64 * share).round() as usize] };
        let seconds = at(0.5).as_secs_f64();
        let bandwidth = hop.work().bytes as f64 / seconds / 1e9;
        Ok(Row {
            dims: dims.extents(),
            precision: T::PRECISION,
            links: reconstruction.reals(),
            tuning,
            deviation,
            microseconds: Microseconds {
                quartile: at(0.25).as_secs_f64() * 1e6,
                median: seconds * 1e6,
                upper_quartile: at(0.75).as_secs_f64() * 1e6,
            },
            gflops: hop.work().flops as f64 / seconds / 1e9,
            bandwidth_gb_s: bandwidth,
            share_of_triad: bandwidth / self.triad,
        })
    }

    /// How far the even sites of `found` are from the twin, relative to its norm, on sites spread over the lattice.
    fn deviation<T: Real>(&self, found: &[Spinor<T>]) -> f64 {
        let dims = self.configuration.dims();
        let step = (found.len() / CHECKED_SITES).max(1) | 1;
        let (mut difference, mut norm) = (0.0, 0.0);
        for index in (0..found.len()).step_by(step) {
            let site = 2 * index + dims.parity(2 * index);
            let link = |site: usize, mu: usize| {
                let wraps = dims.coordinates(site)[mu] + 1 == dims[mu];
                let sign = if wraps { f64::from(Boundary::antiperiodic_t().signs()[mu]) } else { 1.0 };
                self.configuration.link(site, mu).scale(sign)
            };
            let expected = hop(dims, false, link, |site| self.psi[site], site);
            let found = found[index].cast::<f64>();
            difference += Spinor::from_fn(|s, c| found.0[s][c] - expected.0[s][c]).norm2();
            norm += expected.norm2();
        }
        (difference / norm).sqrt()
    }
}

fn table(outcome: &Outcome) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "extents",
        "precision",
        "links",
        "variant",
        "µs",
        "GFLOP/s",
        "GB/s",
        "of triad",
        "deviation",
    ]);
    for row in &outcome.rows {
        let Tuning { work_group, max_registers, stream_links, stream_output, tile_z } = row.tuning;
        let mut variant = format!("group {work_group}");
        if let Some(count) = max_registers {
            variant += &format!(", registers {count}");
        }
        if stream_links {
            variant += ", links streamed";
        }
        if stream_output {
            variant += ", output streamed";
        }
        if tile_z != 0 {
            variant += &format!(", tile {tile_z}");
        }
        table.add_row([
            row.dims.map(|extent| extent.to_string()).join("x"),
            row.precision.to_string(),
            row.links.to_string(),
            variant,
            format!("{:.1}", row.microseconds.median),
            format!("{:.0}", row.gflops),
            format!("{:.0}", row.bandwidth_gb_s),
            format!("{:.2}", row.share_of_triad),
            format!("{:.1e}", row.deviation),
        ]);
    }
    for column in [2, 4, 5, 6, 7, 8] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!(
        "{}, driver {}: triad {:.0} GB/s; hop to even sites, 1320 flops a site, median of {} launches\n{table}",
        outcome.device, outcome.driver, outcome.triad_gb_s, outcome.launches
    )
}
