//! `cr-solve bench gemm` with several devices: products on each alone and on all.
//!
//! Products are measured with transfers and without.

use super::gemm::{Arguments, Case, limit};
use super::outcome::Samples;
use super::session::Session;
use lattice_cl::compute::Team;
use lattice_cl::compute::parallel::*;
use lattice_cl::host::level1::Arithmetic as HostArithmetic;
use lattice_cl::linalg::Op;
use lattice_cl::linalg::gemm::{Arithmetic, GemmParams, GemmTuning};
use lattice_cl::linalg::split::{self, Copies, HostMut, HostRef, RowShards, Share, SplitParams};
use lattice_cl::scalar::Real;
use lattice_cli::failure::Failure;
use num_complex::Complex;
use std::time::{Duration, Instant};

/// Checks and times products on each device of a team alone, and on all.
///
/// # Errors
/// When a device fails, or computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    if !arguments.variant.is_empty() {
        return Err(Failure::usage("--variant is for one device".to_owned()));
    }
    let team = &session.team();
    for letter in &arguments.precision {
        for &extents in &arguments.sizes {
            for &ops in &arguments.ops {
                let case = Case { device: &team.devices()[0], extents, ops, arguments };
                let bench = Bench { team, case };
                match letter.as_str() {
                    "s" => bench.measure::<f32>("s", session)?,
                    "d" => bench.measure::<f64>("d", session)?,
                    "c" => bench.measure::<Complex<f32>>("c", session)?,
                    _ => bench.measure::<Complex<f64>>("z", session)?,
                }
            }
        }
    }
    Ok(())
}

/// Products of one size with one pair op(A), op(B).
struct Bench<'a> {
    team: &'a Team,
    case: Case<'a>,
}

/// Timed products, and the division of the last one among the devices.
struct Timed {
    samples: Samples,
    /// Mean time until a device was done, divided by the longest time.
    balance: Option<f64>,
    shares: Vec<Share>,
}

impl Bench<'_> {
    fn measure<T: HostArithmetic>(&self, element: &str, session: &mut Session<'_>) -> Result<(), Failure> {
        let Self { team, ref case } = *self;
        let extents = case.extents;
        let [m, n, _] = extents.0;
        session.report.note(format_args!("{element}gemm {extents} on {} devices", team.len()));
        case.expect_room::<T>()?;
        let expected = case.expected::<T>();
        let [a, b] = [1, 2].map(|matrix| case.values::<T>(matrix));
        let mut limits: Vec<f64> = Vec::new();
        for (number, device) in team.devices().iter().enumerate() {
            let shipped = GemmTuning::shipped::<T>(device, Arithmetic::Ieee);
            let ceiling = session.arithmetic(number, T::Real::PRECISION)?;
            limits.push(limit(ceiling, shipped, Arithmetic::Ieee));
        }
        let alone =
            team.devices().iter().enumerate().map(|(member, device)| (Some(member), device.clone().into()));
        let nan = T::from_complex(Complex::new(f64::NAN, f64::NAN));
        // All threads touch the pages first: one thread alone would take longer than the products.
        let mut c: Vec<T> = (0..m * n).into_par_iter().map(|_| nan).collect();
        for (member, team) in alone.chain([(None, team.clone())]) {
            for resident in [false, true] {
                if session.interrupted() {
                    return Ok(());
                }
                if resident && case.ops[0] != Op::N {
                    continue;
                }
                c.par_iter_mut().for_each(|c| *c = nan);
                let timed = if resident {
                    self.resident(&team, [&a, &b], &mut c, session)?
                } else {
                    self.through_host_memory(&team, [&a, &b], &mut c, session)?
                };
                let column = |j: usize, to: &mut [T]| {
                    to.copy_from_slice(&c[j * m..(j + 1) * m]);
                    Ok(())
                };
                let who = member.map_or("the team".to_owned(), |member| format!("device {member}"));
                let what = format_args!("{element}gemm {extents} on {who}");
                let share = case.checked::<T>(Arithmetic::Ieee, column, &expected, what)?;
                let shares: Vec<usize> = timed.shares.iter().map(|share| share.rows).collect();
                let matrices = if resident { "on devices" } else { "in host memory" };
                let members = member.map_or(0..limits.len(), |member| member..member + 1);
                let memory = members.clone().map(|member| session.memory(member)).sum();
                let ceiling = limits[members].iter().sum();
                let mut subject = case
                    .subject::<T>(element, "gemm".to_owned(), &timed.samples)
                    .with("matrices", matrices)
                    .by_the_wall()
                    .limited_by_the_slower(ceiling, memory)
                    .found("share_of_error_bound", share);
                if let Some(member) = member {
                    subject = subject.on(member);
                }
                if let Some(balance) = timed.balance {
                    subject = subject.found("balance", balance).found("rows", shares);
                }
                session.push(subject, timed.samples);
            }
        }
        Ok(())
    }

    /// Measures products whose matrices are on the host.
    ///
    /// The event of a sample is the longest time of one device's kernels.
    fn through_host_memory<T: HostArithmetic>(
        &self,
        team: &Team,
        [a, b]: [&[T]; 2],
        c: &mut [T],
        session: &Session<'_>,
    ) -> Result<Timed, Failure> {
        let [a_layout, b_layout, c_layout] = self.case.layouts();
        let (a, b) = (HostRef::new(a, a_layout)?, HostRef::new(b, b_layout)?);
        let (mut balance, mut shares) = (None, Vec::new());
        let samples = session.samples(|_| {
            let to = HostMut::new(&mut *c, c_layout)?;
            let [op_a, op_b] = self.case.ops;
            let done = split::gemm(team, &SplitParams::default(), op_a, op_b, 1, a, b, 0, to)?;
            balance = Some(done.balance());
            let times = (done.wall, done.slowest());
            shares = done.shares;
            Ok(times)
        })?;
        Ok(Timed { samples, balance, shares })
    }

    fn resident<T: HostArithmetic>(
        &self,
        team: &Team,
        [a, b]: [&[T]; 2],
        c: &mut [T],
        session: &Session<'_>,
    ) -> Result<Timed, Failure> {
        let [a_layout, b_layout, c_layout] = self.case.layouts();
        let shares = split::shares::<T>(team, &SplitParams::default(), self.case.extents.0)?;
        let left = RowShards::upload(team, &shares, HostRef::new(a, a_layout)?)?;
        let right = Copies::upload(team, HostRef::new(b, b_layout)?)?;
        let mut result = RowShards::upload(team, &shares, HostRef::new(&*c, c_layout)?)?;
        team.finish()?;
        let params = GemmParams::default();
        let samples = session.samples(|_| {
            let start = Instant::now();
            let started = split::gemm_resident(&params, self.case.ops[1], 1, &left, &right, 0, &mut result)?;
            team.finish()?;
            let wall = start.elapsed();
            let mut kernels = Some(Duration::ZERO);
            for completion in &started {
                kernels = kernels.zip(completion.duration()?).map(|(longest, time)| longest.max(time));
            }
            Ok((wall, kernels))
        })?;
        result.download(HostMut::new(c, c_layout)?)?;
        Ok(Timed { samples, balance: None, shares: Vec::new() })
    }
}
