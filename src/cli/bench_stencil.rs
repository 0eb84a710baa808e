//! `cr-solve bench stencil`: the Wilson operator and its hop from parity to parity in every storage, checked and then timed.

use super::Common;
use super::failure::{Failure, Status};
use super::report::Report;
use crate::device::{Device, DeviceError, Event, Profiling, Team, triad_bandwidth};
use crate::dirac::{HopEvenOdd, HopOptions, Kappa, Tuning, Wilson, WilsonOptions, tuning_steps};
use crate::host::{
    Boundary, Dims, GaugeConfiguration, Reconstruction, Spinor, WilsonForm, hop, random, signed_link,
};
use crate::lattice::{GaugeField, Lattice, ParityField, SpinorField};
use crate::scalar::{Half, Storage, StoragePrecision};
use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};
use lattice_solvers::{LinearOperator, Work};
use serde::Serialize;
use std::time::Duration;

/// The command line of `bench stencil`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Extents in x, y, z, t; several times for several lattices
    #[arg(long, value_name = "EXTENTS", default_values = ["16x16x16x32"])]
    dims: Vec<Dims>,
    /// Precisions: double, single, half or all
    #[arg(long, default_value = "all", value_parser = ["all", "double", "single", "half"])]
    precision: String,
    /// Reals stored for each link: 18, 12, 8 or all
    #[arg(long, default_value = "all", value_parser = ["all", "18", "12", "8"])]
    links: String,
    /// Right-hand sides: fields that the operator is applied to at once; several numbers for several kernels
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u8).range(1..=64))]
    rhs: Vec<u8>,
    /// The hop to one parity, or the full operator
    #[arg(long, value_enum, value_delimiter = ',', default_value = "hop")]
    operator: Vec<Operator>,
    /// Time all kernel variants instead of the one that solves use, and show the best: work-group sizes, register limits, sources in
    /// a work-item, cache hints, order of sites
    #[arg(long)]
    search: bool,
    /// Timed launches of each kernel
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    launches: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Operator {
    /// H from the odd sites to the even ones, 1320 flops a site
    Hop,
    /// M = 1 − κH on all sites, 1368 flops a site
    Full,
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
    operator: Operator,
    precision: StoragePrecision,
    links: usize,
    rhs: usize,
    tuning: Tuning,
    /// Relative deviation from the double twin, on the sites that were checked.
    deviation: f64,
    microseconds: Microseconds,
    /// By the median, at 1320 flops a site for the hop and 1368 for the full operator.
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
        if wanted("half") {
            case.measure::<Half>(1e-3, &mut outcome, report)?;
        }
    }
    report.result(table(&outcome), &outcome)?;
    Ok(Status::Fine)
}

/// κ of the full operator.
const KAPPA: f64 = 0.13;

impl Operator {
    fn form(self) -> WilsonForm {
        let (shift, coefficient) = match self {
            Operator::Hop => (0.0, 1.0),
            Operator::Full => (1.0, -KAPPA),
        };
        WilsonForm { shift, coefficient, dagger: false, gamma5: false }
    }
}

/// One lattice with its data.
struct Case<'a> {
    team: &'a Team,
    device: &'a Device,
    configuration: &'a GaugeConfiguration,
    psi: &'a [Spinor<f64>],
    arguments: &'a Arguments,
    triad: f64,
}

/// The fields of one row.
enum Fields<T: Storage> {
    Hop { psi: ParityField<T>, out: ParityField<T> },
    Full { psi: SpinorField<T>, out: SpinorField<T> },
}

/// A kernel variant.
enum Variant<T: Storage> {
    Hop(HopEvenOdd<T>),
    Full(Wilson<T>),
}

impl<T: Storage> Fields<T> {
    fn new(
        operator: Operator,
        lattice: &Lattice,
        psi: &[Spinor<f64>],
        sources: usize,
    ) -> Result<Self, Failure> {
        let dims = lattice.dims();
        let sites = |parity: Option<usize>| -> Vec<Spinor<T::Real>> {
            let all = (0..sources).flat_map(|source| (0..dims.volume()).map(move |site| (source, site)));
            all.filter(|&(_, site)| parity.is_none_or(|parity| dims.parity(site) == parity))
                .map(|(source, site)| spinor_of_source(psi, source, site).cast())
                .collect()
        };
        Ok(match operator {
            Operator::Hop => Fields::Hop {
                psi: lattice.parities_from_host(1, sources, &sites(Some(1)))?,
                out: lattice.parities(0, sources)?,
            },
            Operator::Full => Fields::Full {
                psi: lattice.spinors_from_host(sources, &sites(None))?,
                out: lattice.spinors(sources)?,
            },
        })
    }

    fn result(&self) -> Result<Vec<Spinor<T::Real>>, DeviceError> {
        match self {
            Fields::Hop { out, .. } => out.to_host(),
            Fields::Full { out, .. } => out.to_host(),
        }
    }
}

impl<T: Storage> Variant<T> {
    fn new(
        operator: Operator,
        links: &GaugeField<T>,
        sources: usize,
        tuning: Option<Tuning>,
    ) -> Result<Self, Failure> {
        Ok(match operator {
            Operator::Hop => {
                let options = HopOptions { sources, tuning, ..Default::default() };
                Variant::Hop(HopEvenOdd::new(links, 0, operator.form(), options)?)
            }
            Operator::Full => {
                let options = WilsonOptions { sources, tuning };
                Variant::Full(Wilson::with_options(links, Kappa(KAPPA), options)?)
            }
        })
    }

    fn apply(&self, fields: &mut Fields<T>, launched: impl FnMut(Event)) -> Result<(), DeviceError> {
        match (self, fields) {
            (Variant::Hop(hop), Fields::Hop { psi, out }) => hop.apply_observed(psi, None, out, launched),
            (Variant::Full(wilson), Fields::Full { psi, out }) => wilson.apply_observed(psi, out, launched),
            _ => unreachable!("the fields are made for the operator"),
        }
    }

    fn work(&self) -> Work {
        match self {
            Variant::Hop(hop) => hop.work(),
            Variant::Full(wilson) => LinearOperator::work(wilson),
        }
    }
}

/// Every source is the random field with its sites moved on.
fn spinor_of_source(psi: &[Spinor<f64>], source: usize, site: usize) -> Spinor<f64> {
    psi[(site + 37 * source) % psi.len()]
}

impl Case<'_> {
    fn measure<T: Storage>(&self, bound: f64, outcome: &mut Outcome, report: &Report) -> Result<(), Failure> {
        let dims = self.configuration.dims();
        let lattice = Lattice::new(self.team, dims)?;
        for reconstruction in Reconstruction::ALL {
            if self.arguments.links != "all" && self.arguments.links != reconstruction.to_string() {
                continue;
            }
            let links =
                lattice.gauge_in::<T>(self.configuration, Boundary::antiperiodic_t(), reconstruction)?;
            for &operator in &self.arguments.operator {
                for &sources in &self.arguments.rhs {
                    let row =
                        self.best(&links, operator, sources.into(), bound, &mut outcome.searched, report)?;
                    outcome.rows.push(row);
                }
            }
        }
        Ok(())
    }

    /// The default variant, or with `--search` the best.
    fn best<T: Storage>(
        &self,
        links: &GaugeField<T>,
        operator: Operator,
        sources: usize,
        bound: f64,
        searched: &mut Vec<Row>,
        report: &Report,
    ) -> Result<Row, Failure> {
        // What a solve would use now.
        let chosen = match Variant::new(operator, links, sources, None)? {
            Variant::Hop(hop) => hop.tuning(),
            Variant::Full(wilson) => wilson.tuning(),
        };
        let chosen = chosen.expect("the kernels of a device are of some variant");
        let mut fields = Fields::new(operator, links.lattice(), self.psi, sources)?;
        let mut time = |tuning| {
            let variant = Variant::new(operator, links, sources, Some(tuning))?;
            self.time(&variant, &mut fields, (operator, links.reconstruction(), sources, tuning), bound)
        };
        let mut best = time(chosen)?;
        if !self.arguments.search {
            return Ok(best);
        }
        let layout = links.lattice().slabs()[0].layout(self.configuration.dims(), T::STORAGE);
        // One after the other: what a step tries starts from the best of the step before.
        for step in tuning_steps(self.device, layout.sub_extents(), sources) {
            for tuning in step(&best.tuning) {
                match time(tuning) {
                    Ok(row) => {
                        if row.gflops > best.gflops {
                            best = row.clone();
                        }
                        searched.push(row);
                    }
                    // A group that is too large for so many registers.
                    Err(failure) if failure.status == Status::Device => {
                        report.note(format_args!("{tuning:?}: {}", failure.error));
                    }
                    Err(failure) => return Err(failure),
                }
            }
        }
        Ok(best)
    }

    /// Checks one variant, then times it.
    fn time<T: Storage>(
        &self,
        variant: &Variant<T>,
        fields: &mut Fields<T>,
        (operator, reconstruction, sources, tuning): (Operator, Reconstruction, usize, Tuning),
        bound: f64,
    ) -> Result<Row, Failure> {
        let dims = self.configuration.dims();
        variant.apply(fields, drop)?;
        let found = fields.result()?;
        let deviation = found
            .chunks(found.len() / sources)
            .enumerate()
            .map(|(source, found)| self.deviation(operator, source, found))
            .fold(
                0.0,
                |largest: f64, deviation| {
                    if deviation > largest || deviation.is_nan() { deviation } else { largest }
                },
            );
        if deviation > bound || deviation.is_nan() {
            let error = anyhow::anyhow!(
                "{dims} {} with {reconstruction} reals a link and {sources} sources deviates by {deviation:.1e} from the \
                 host (at most {bound:.0e} allowed): not timed",
                T::STORAGE
            );
            return Err(Failure::new(Status::Failed, error));
        }
        let mut times = Vec::new();
        for _ in 0..self.arguments.launches {
            let mut taken = Ok(None);
            variant.apply(fields, |event| taken = event.duration())?;
            times.extend(taken?);
        }
        times.sort();
        let at = |share: f64| -> Duration { times[((times.len() - 1) as f64 * share).round() as usize] };
        let seconds = at(0.5).as_secs_f64();
        let work = variant.work();
        let bandwidth = work.bytes as f64 / seconds / 1e9;
        Ok(Row {
            dims: dims.extents(),
            operator,
            precision: T::STORAGE,
            links: reconstruction.reals(),
            rhs: sources,
            tuning,
            deviation,
            microseconds: Microseconds {
                quartile: at(0.25).as_secs_f64() * 1e6,
                median: seconds * 1e6,
                upper_quartile: at(0.75).as_secs_f64() * 1e6,
            },
            gflops: work.flops as f64 / seconds / 1e9,
            bandwidth_gb_s: bandwidth,
            share_of_triad: bandwidth / self.triad,
        })
    }

    /// How far the result for a source is from the twin, relative to its norm, on sites spread over the lattice.
    fn deviation<R: crate::Real>(&self, operator: Operator, source: usize, found: &[Spinor<R>]) -> f64 {
        let dims = self.configuration.dims();
        let step = (found.len() / CHECKED_SITES).max(1) | 1;
        let link = |site, mu| signed_link(self.configuration, Boundary::antiperiodic_t(), site, mu);
        let psi = |site: usize| spinor_of_source(self.psi, source, site);
        let (mut difference, mut norm) = (0.0, 0.0);
        for index in (0..found.len()).step_by(step) {
            let (site, own) = match operator {
                Operator::Hop => (2 * index + dims.parity(2 * index), None),
                Operator::Full => (index, Some(psi(index))),
            };
            let expected = operator.form().combine(own.as_ref(), &hop(dims, false, link, psi, site));
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
        "operator",
        "precision",
        "links",
        "rhs",
        "variant",
        "µs",
        "GFLOP/s",
        "GB/s",
        "of triad",
        "deviation",
    ]);
    for row in &outcome.rows {
        let Tuning {
            work_group,
            sources_per_item,
            max_registers,
            stream_links,
            stream_output,
            tile_z,
            prefetch,
        } = row.tuning;
        let mut variant = format!("group {work_group}");
        if sources_per_item > 1 {
            variant += &format!(", sources {sources_per_item}");
        }
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
        if prefetch != 0 {
            variant += &format!(", prefetch {prefetch}");
        }
        table.add_row([
            row.dims.map(|extent| extent.to_string()).join("x"),
            format!("{:?}", row.operator).to_lowercase(),
            row.precision.to_string(),
            row.links.to_string(),
            row.rhs.to_string(),
            variant,
            format!("{:.1}", row.microseconds.median),
            format!("{:.0}", row.gflops),
            format!("{:.0}", row.bandwidth_gb_s),
            format!("{:.2}", row.share_of_triad),
            format!("{:.1e}", row.deviation),
        ]);
    }
    for column in [3, 4, 6, 7, 8, 9, 10] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!(
        "{}, driver {}: triad {:.0} GB/s; 1320 flops a site (full operator: 1368), median of {} launches\n{table}",
        outcome.device, outcome.driver, outcome.triad_gb_s, outcome.launches
    )
}
