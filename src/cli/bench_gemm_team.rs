//! `cr-solve bench gemm` with several devices: products on each alone and on all of them, with transfers and without.

use super::bench_gemm::{Arguments, Case, LONGEST, number};
use super::failure::{Failure, Status};
use super::report::Report;
use crate::blas::gemm::{Arithmetic, GemmParams};
use crate::blas::split::{self, Copies, HostMut, HostRef, RowShards, Share, SplitParams};
use crate::blas::{MatrixLayout, Op};
use crate::device::Team;
use crate::host::level1::Arithmetic as HostArithmetic;
use comfy_table::{CellAlignment, Table, presets};
use num_complex::Complex;
use rayon::prelude::*;
use serde::Serialize;
use std::time::{Duration, Instant};

#[derive(Serialize)]
struct Outcome {
    schema_version: u32,
    devices: Vec<String>,
    drivers: Vec<String>,
    launches: u32,
    rows: Vec<Row>,
}

/// One product on one device or on all.
#[derive(Serialize)]
struct Row {
    /// `s`, `d`, `c` or `z`.
    element: &'static str,
    n: usize,
    ops: [Op; 2],
    /// The number of the device that is alone; null for all.
    member: Option<usize>,
    /// Matrices are on the devices before and after, or in host memory.
    resident: bool,
    share_of_error_bound: f64,
    /// Median by the wall clock.
    milliseconds: f64,
    gflops: f64,
    /// The longest time of one device's kernels.
    slowest_kernels_milliseconds: Option<f64>,
    /// By that time: the rate without transfers.
    kernels_gflops: Option<f64>,
    /// Mean time until a device was done over the longest.
    balance: Option<f64>,
    shares: Vec<Share>,
}

/// Checks and times products on each device of a team alone, and on all.
///
/// # Errors
/// When a device fails, or computes something wrong.
pub fn run(arguments: &Arguments, team: &Team, report: &Report) -> Result<Status, Failure> {
    if !arguments.variant.is_empty() {
        return Err(Failure::usage("--variant is for one device".to_owned()));
    }
    let infos = || team.devices().iter().map(|device| device.info());
    let mut outcome = Outcome {
        schema_version: 1,
        devices: team.devices().iter().map(|device| device.label().to_owned()).collect(),
        drivers: infos().map(|info| info.driver_version.clone()).collect(),
        launches: arguments.launches,
        rows: Vec::new(),
    };
    for letter in &arguments.precision {
        for &n in &arguments.sizes {
            for &ops in &arguments.ops {
                let bench = Bench { team, n: n as usize, ops, arguments, report };
                outcome.rows.extend(match letter.as_str() {
                    "s" => bench.measure::<f32>("s")?,
                    "d" => bench.measure::<f64>("d")?,
                    "c" => bench.measure::<Complex<f32>>("c")?,
                    _ => bench.measure::<Complex<f64>>("z")?,
                });
            }
        }
    }
    report.result(table(&outcome), &outcome)?;
    Ok(Status::Fine)
}

/// Products of one size in one form.
struct Bench<'a> {
    team: &'a Team,
    n: usize,
    ops: [Op; 2],
    arguments: &'a Arguments,
    report: &'a Report,
}

/// What one product took, and how it was shared.
struct Timed {
    wall: Duration,
    kernels: Option<Duration>,
    balance: Option<f64>,
    shares: Vec<Share>,
}

impl Bench<'_> {
    fn measure<T: HostArithmetic>(&self, element: &'static str) -> Result<Vec<Row>, Failure> {
        let Self { team, n, ops, arguments, report } = *self;
        report.note(format_args!("{element}gemm {n} on {} devices", team.len()));
        let case = Case { device: &team.devices()[0], n, ops, arguments, report };
        let expected = case.expected::<T>();
        let [a, b] =
            [1, 2].map(|matrix| (0..n * n).into_par_iter().map(|i| number(matrix, i)).collect::<Vec<T>>());
        let mut rows = Vec::new();
        let alone =
            team.devices().iter().enumerate().map(|(member, device)| (Some(member), device.clone().into()));
        for (member, team) in alone.chain([(None, team.clone())]) {
            for resident in [false, true] {
                if resident && ops[0] != Op::N {
                    continue;
                }
                let mut c = vec![T::from_complex(Complex::new(f64::NAN, f64::NAN)); n * n];
                let mut times = if resident {
                    self.resident(&team, [&a, &b], &mut c)?
                } else {
                    self.through_host_memory(&team, [&a, &b], &mut c)?
                };
                let column = |j: usize, to: &mut [T]| {
                    to.copy_from_slice(&c[j * n..(j + 1) * n]);
                    Ok(())
                };
                let share = case.share_of_bound::<T>(Arithmetic::Ieee, column, &expected)?;
                if share.is_nan() || share > 1.0 {
                    let error = anyhow::anyhow!(
                        "{element}gemm {n} on {} has {share:.1e} times the error that is allowed",
                        member.map_or("the team".to_owned(), |member| format!("device {member}"))
                    );
                    return Err(Failure::new(Status::Failed, error));
                }
                times.sort_by_key(|timed| timed.wall);
                let Timed { wall, kernels, balance, shares } = times.swap_remove(times.len() / 2);
                let flops = (if T::IS_COMPLEX { 8.0 } else { 2.0 }) * (n as f64).powi(3);
                rows.push(Row {
                    element,
                    n,
                    ops,
                    member,
                    resident,
                    share_of_error_bound: share,
                    milliseconds: wall.as_secs_f64() * 1e3,
                    gflops: flops / wall.as_secs_f64() / 1e9,
                    slowest_kernels_milliseconds: kernels.map(|time| time.as_secs_f64() * 1e3),
                    kernels_gflops: kernels.map(|time| flops / time.as_secs_f64() / 1e9),
                    balance,
                    shares,
                });
            }
        }
        Ok(rows)
    }

    /// Times `product` as often as was asked for, after a first one that does not count.
    fn times(&self, mut product: impl FnMut() -> Result<Timed, Failure>) -> Result<Vec<Timed>, Failure> {
        product()?;
        let (mut times, start) = (Vec::new(), Instant::now());
        while times.len() < self.arguments.launches as usize && (times.len() < 2 || start.elapsed() < LONGEST)
        {
            times.push(product()?);
        }
        Ok(times)
    }

    fn through_host_memory<T: HostArithmetic>(
        &self,
        team: &Team,
        [a, b]: [&[T]; 2],
        c: &mut [T],
    ) -> Result<Vec<Timed>, Failure> {
        let layout = MatrixLayout::column_major(self.n, self.n);
        let (a, b) = (HostRef::new(a, layout)?, HostRef::new(b, layout)?);
        self.times(|| {
            let to = HostMut::new(&mut *c, layout)?;
            let [op_a, op_b] = self.ops;
            let done = split::gemm(team, &SplitParams::default(), op_a, op_b, 1.0, a, b, 0.0, to)?;
            let (kernels, balance) = (done.slowest(), Some(done.balance()));
            Ok(Timed { wall: done.wall, kernels, balance, shares: done.shares })
        })
    }

    fn resident<T: HostArithmetic>(
        &self,
        team: &Team,
        [a, b]: [&[T]; 2],
        c: &mut [T],
    ) -> Result<Vec<Timed>, Failure> {
        let layout = MatrixLayout::column_major(self.n, self.n);
        let shares = split::shares::<T>(team, &SplitParams::default(), [self.n; 3])?;
        let left = RowShards::upload(team, &shares, HostRef::new(a, layout)?)?;
        let right = Copies::upload(team, HostRef::new(b, layout)?)?;
        let mut result = RowShards::upload(team, &shares, HostRef::new(&*c, layout)?)?;
        team.finish()?;
        let params = GemmParams::default();
        let times = self.times(|| {
            let start = Instant::now();
            let started = split::gemm_resident(&params, self.ops[1], 1.0, &left, &right, 0.0, &mut result)?;
            team.finish()?;
            let wall = start.elapsed();
            let mut kernels = Some(Duration::ZERO);
            for completion in &started {
                kernels = kernels.zip(completion.duration()?).map(|(longest, time)| longest.max(time));
            }
            Ok(Timed { wall, kernels, balance: None, shares: Vec::new() })
        })?;
        result.download(HostMut::new(c, layout)?)?;
        Ok(times)
    }
}

fn table(outcome: &Outcome) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "type",
        "n",
        "ops",
        "devices",
        "matrices",
        "ms",
        "GFLOP/s",
        "kernels",
        "balance",
        "rows",
        "error/bound",
    ]);
    for row in &outcome.rows {
        let shares: Vec<String> = row.shares.iter().map(|share| share.rows.to_string()).collect();
        table.add_row([
            row.element.to_owned(),
            row.n.to_string(),
            format!("{:?}{:?}", row.ops[0], row.ops[1]),
            row.member.map_or("all".to_owned(), |member| format!("number {member}")),
            (if row.resident { "on devices" } else { "on host" }).to_owned(),
            format!("{:.3}", row.milliseconds),
            format!("{:.0}", row.gflops),
            row.kernels_gflops.map_or(String::new(), |rate| format!("{rate:.0}")),
            row.balance.map_or(String::new(), |balance| format!("{balance:.2}")),
            shares.join("+"),
            format!("{:.3}", row.share_of_error_bound),
        ]);
    }
    for column in [1, 5, 6, 7, 8, 9, 10] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let devices: Vec<String> = outcome
        .devices
        .iter()
        .enumerate()
        .map(|(number, label)| format!("number {number}: {label}"))
        .collect();
    format!(
        "{}\nmedian of at most {} products by the wall clock; kernels: by the time of the slowest device's kernels\n{table}",
        devices.join("\n"),
        outcome.launches
    )
}
