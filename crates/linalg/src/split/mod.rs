//! Products of matrices on all devices of a team.
//!
//! There are two forms, and [`multiply`] for plain slices. [`gemm`] multiplies matrices in host memory: every device computes rows of
//! C, or columns. [`factor`] has factorisations by such products. [`gemm_resident`] multiplies matrices that lie on the devices already. Each
//! device has rows of A and C ([`RowShards`]) and all of B ([`Copies`]).
//!
//! ```
//! use lattice_linalg::split::{self, HostMut, HostRef, SplitParams};
//! use lattice_linalg::{MatrixLayout, Op};
//! use lattice_compute::{DeviceError, Selector, Team};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let team = Team::select(Selector::Auto)?; // several selectors: several devices
//! let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]; // rows (1 2 3), (4 5 6)
//! let mut c = [0.0; 4];
//! let a = HostRef::new(&a, MatrixLayout::row_major(2, 3))?;
//! let to = HostMut::new(&mut c, MatrixLayout::row_major(2, 2))?;
//! let report = split::gemm(&team, &SplitParams::default(), Op::N, Op::T, 1.0, a, a, 0.0, to)?;
//! assert_eq!(c, [14.0, 32.0, 32.0, 77.0]);
//! assert_eq!(report.shares.iter().map(|share| share.rows).sum::<usize>(), if team.is_host() { 0 } else { 2 });
//! # Ok(())
//! # }
//! ```
//!
//! # How the work is split
//! Each device starts with a share of the rows of C in proportion to its rate. The rate is measured
//! once for each element type, on matrices small enough to take milliseconds. A device that would
//! not shorten the product gets no rows. The decision uses these rates, and how fast each device is
//! sent its operands, which is measured once too. Rows are worked off in strips, large ones first.
//! A device that is done takes over the end of the share that would take longest.
//!
//! If C has more columns than rows, columns are shared instead, as the rows of Cᵀ = α op(B)ᵀ
//! op(A)ᵀ + β Cᵀ. So the smaller factor goes to every device, and there is more to share.
//!
//! A device computes C in tiles. A tile is the product of a strip of rows of op(A) and a panel of
//! columns of op(B). One thread brings strips and panels (`feeder`). Another one multiplies them
//! (`worker`) and sends tiles back. While the device computes, operands arrive and results leave,
//! through pinned buffers on the copy queue. Panels stay on the device if all of B fits. α op(A)
//! op(B) is computed on the devices. βC is added on the host, where C is.
//!
//! The devices of one host share the host's memory. So a piece of B is copied to pinned memory once
//! for all of them (`staged`). Pieces stay in the processor's cache until they are sent. The
//! threads that copy leave cores to the drivers (`copiers`).
//!
//! With the feature `ndarray`, views of its two-dimensional arrays become operands by `try_into`.
//! With the feature `faer`, a `HostMatrix` is a copy of one of its matrices, and an operand.
//!
//! Devices without double precision are in no team, so in no product either.

mod copiers;
pub mod factor;
#[cfg(feature = "faer")]
mod faer_matrices;
mod feeder;
mod host_matrix;
mod job;
#[cfg(feature = "ndarray")]
mod ndarray_views;
mod rate;
mod report;
mod resident;
mod room;
mod schedule;
mod staged;
mod supply;
mod transfer;
mod worker;

#[cfg(feature = "faer")]
pub use faer_matrices::HostMatrix;
pub use host_matrix::{HostMut, HostRef};
pub use rate::{rate, upload_rate};
pub use report::{Share, SplitReport};
pub use resident::{Copies, RowShards, gemm_resident};

use super::error::{BlasError, BlasResult, operand_name};
use super::gemm::{Arithmetic as Accuracy, GemmParams, GemmTuning};
use super::level2::check_extent;
use super::matrix::MatrixLayout;
use super::op::Op;
use crate::host;
use crate::host::level1::Arithmetic;
use copiers::copiers;
use derive_setters::Setters;
use job::Job;
use lattice_compute::scalar::{ElementType, Factor, Scalar};
use lattice_compute::{DeviceError, Team};
use lattice_files::threads::{self, joined};
use schedule::{Cost, LEAST_ROWS, Schedule};
use staged::SharedPieces;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;
use worker::{Piece, Worker};

/// The way in which a product is split.
#[derive(Clone, Debug, Default, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct SplitParams {
    /// Accuracy of products in single precision.
    pub arithmetic: Accuracy,
    /// The kernel of each device, in the order of the team.
    ///
    /// `None`, and the lack of an entry, choose the kernel that suits the device.
    pub tunings: Vec<Option<GemmTuning>>,
    /// The rate of each device, in any unit.
    ///
    /// `None` to measure the rates.
    pub rates: Option<Vec<f64>>,
    /// Columns of B that are sent to a device at a time.
    ///
    /// `None` for a number that suits the matrices.
    pub panel: Option<usize>,
    /// Bytes that a product may take of each device's memory.
    ///
    /// A product that needs more takes more. `None` for eight tenths of the memory.
    pub memory: Option<u64>,
}

/// A watch over a product: a function of the elements of C that are written so far.
///
/// The product ends early when the function returns `false`. It is called by one thread.
#[derive(Clone, Copy)]
pub struct SplitWatch<'a>(pub &'a dyn Fn(usize) -> bool);

impl SplitParams {
    fn of_member(&self, member: usize) -> GemmParams {
        let tuning = self.tunings.get(member).copied().flatten();
        GemmParams { arithmetic: self.arithmetic, tuning, parts: None }
    }
}

/// Returns how many rows of C each device would be given.
///
/// The numbers are for [`RowShards::upload`]. The product is C = op(A) op(B) with `extents` m, n
/// and k.
///
/// # Errors
/// [`BlasError::TeamSize`]; [`BlasError::Device`] if a rate cannot be measured.
pub fn shares<T: Arithmetic>(
    team: &Team,
    params: &SplitParams,
    extents: [usize; 3],
) -> BlasResult<Vec<usize>> {
    Ok(plan::<T>(team, params, extents, &vec![LEAST_ROWS; team.len()], false)?.1)
}

/// Returns the devices' rates, and how many rows each is given.
///
/// `strips` has the rows of a strip for each device. `sent` is `true` if the operands are in host
/// memory.
fn plan<T: Arithmetic>(
    team: &Team,
    params: &SplitParams,
    [m, n, k]: [usize; 3],
    strips: &[usize],
    sent: bool,
) -> BlasResult<(Vec<f64>, Vec<usize>)> {
    let wanted = team.len();
    if params.tunings.len() > wanted {
        return Err(BlasError::TeamSize { wanted, found: params.tunings.len() });
    }
    if let Some(rates) = &params.rates {
        if rates.len() != wanted {
            return Err(BlasError::TeamSize { wanted, found: rates.len() });
        }
        // The rates may be in any unit: all that counts is how they compare.
        return Ok((rates.clone(), schedule::shares(m, rates, None, strips)));
    }
    let members = team.devices().iter().enumerate();
    let rates = members.map(|(member, device)| rate::<T>(device, &params.of_member(member)));
    let rates = rates.collect::<BlasResult<Vec<f64>>>()?;
    let (n, k) = (n as f64, k as f64);
    let bytes = if sent { size_of::<T>() as f64 } else { 0.0 };
    let flops_of_row = rate::flops_of_term::<T>() * n * k;
    let cost = Cost { flops_of_row, bytes_of_row: bytes * k, bytes_of_b: bytes * k * n };
    let uploads = if sent && wanted > 1 {
        team.devices().iter().map(rate::upload_rate).collect::<BlasResult<_>>()?
    } else {
        vec![f64::INFINITY; wanted]
    };
    let planned = schedule::shares(m, &rates, Some((cost, &uploads)), strips);
    Ok((rates, planned))
}

/// Returns C = A B for matrices that lie row after row, computed on all devices of a team.
///
/// `extents` has m, n and k: A is m×k, B is k×n and C is m×n.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let team = lattice_compute::Team::select(lattice_compute::Selector::Auto)?;
/// let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]; // rows (1 2 3), (4 5 6)
/// let b = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]; // rows (1 0), (0 1), (1 1)
/// let c = lattice_linalg::split::multiply(&team, [2, 2, 3], &a, &b)?;
/// assert_eq!(c, [4.0, 5.0, 10.0, 11.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`BlasError::BufferTooShort`] if a slice has fewer elements than its matrix, and the errors of
/// [`gemm`].
pub fn multiply<T: Arithmetic>(team: &Team, extents: [usize; 3], a: &[T], b: &[T]) -> BlasResult<Vec<T>> {
    let [m, n, k] = extents;
    let a = HostRef::new(a, MatrixLayout::row_major(m, k))?;
    let b = HostRef::new(b, MatrixLayout::row_major(k, n))?;
    let mut c = vec![T::default(); m * n];
    let to = HostMut::new(&mut c, MatrixLayout::row_major(m, n))?;
    gemm(team, &SplitParams::default(), Op::N, Op::N, 1, a, b, 0, to)?;
    Ok(c)
}

/// Computes C = α op(A) op(B) + β C on all devices of a team, and waits for it.
///
/// For a team without devices the host computes. Contract, elements and shapes are those of
/// [`blas::gemm`](crate::gemm()).
///
/// # Errors
/// [`BlasError::Shape`], [`BlasError::TeamSize`], [`BlasError::Variant`]: nothing is written then.
/// [`BlasError::Unfinished`] if a device fails in the middle: it says which device, and how much of
/// C is written. [`BlasError::Device`] if a device fails before.
#[allow(clippy::too_many_arguments)]
pub fn gemm<T: Arithmetic>(
    team: &Team,
    params: &SplitParams,
    op_a: Op,
    op_b: Op,
    alpha: impl Scalar<T>,
    a: HostRef<'_, T>,
    b: HostRef<'_, T>,
    beta: impl Scalar<T>,
    c: HostMut<'_, T>,
) -> BlasResult<SplitReport> {
    gemm_watched(team, params, SplitWatch(&|_| true), [op_a, op_b], alpha, a, b, beta, c)
}

/// Computes a product like [`gemm`], with a watch over its progress.
///
/// A product by the host alone is not watched.
///
/// # Errors
/// The errors of [`gemm`], and [`BlasError::Interrupted`].
#[allow(clippy::too_many_arguments)]
pub fn gemm_watched<T: Arithmetic>(
    team: &Team,
    params: &SplitParams,
    watch: SplitWatch<'_>,
    [op_a, op_b]: [Op; 2],
    alpha: impl Scalar<T>,
    a: HostRef<'_, T>,
    b: HostRef<'_, T>,
    beta: impl Scalar<T>,
    mut c: HostMut<'_, T>,
) -> BlasResult<SplitReport> {
    let start = Instant::now();
    let (m, n) = (c.layout().rows, c.layout().columns);
    let (a_rows, k) = op_a.shape(a.layout().rows, a.layout().columns);
    let (b_rows, b_columns) = op_b.shape(b.layout().rows, b.layout().columns);
    let [a_name, b_name] = [operand_name("A", op_a), operand_name("B", op_b)];
    check_extent("gemm", &a_name, "rows", m, a_rows, "as C has")?;
    check_extent("gemm", &b_name, "columns", n, b_columns, "as C has")?;
    check_extent("gemm", &b_name, "rows", k, b_rows, "as A, so transposed, has columns")?;
    let (alpha, beta) = (alpha.factor(), beta.factor().keeping());
    let empty = m == 0 || n == 0 || k == 0 || alpha.is_zero();
    if empty || team.is_host() {
        if empty {
            c.scale(beta);
        } else {
            on_the_host([op_a, op_b], alpha, a, b, beta, &mut c);
        }
        return Ok(SplitReport { by_columns: false, shares: Vec::new(), wall: start.elapsed() });
    }
    if n > m {
        let (a, b, c) = (a.transposed(), b.transposed(), c.transposed());
        let report = gemm_watched(team, params, watch, [op_b, op_a], alpha, b, a, beta, c)?;
        return Ok(SplitReport { by_columns: true, ..report });
    }

    // The tiles of the variants cut the work.
    for tuning in params.tunings.iter().flatten() {
        if let Some(reason) = tuning.complaint(ElementType::of::<T>()) {
            return Err(BlasError::Variant { variant: tuning.to_string(), reason });
        }
    }
    let job = Job::new([op_a, op_b], alpha, a, b, c.layout().order, params.panel);
    let members = team.devices().iter().enumerate();
    let strips: Vec<usize> =
        members.map(|(member, device)| job.strip(device, &params.of_member(member))).collect();
    let (rates, planned) = plan::<T>(team, params, [m, n, k], &strips, true)?;
    let schedule = Schedule::new(&planned, &rates, strips);
    let shared = SharedPieces::new(planned.iter().filter(|&&rows| rows > 0).count());

    let written = AtomicUsize::new(0);
    let mut interrupted = false;
    let (pieces_in, pieces) = mpsc::channel::<Piece<T>>();
    let results: Vec<BlasResult<Share>> = std::thread::scope(|scope| {
        let mut backs = Vec::new();
        let mut workers = Vec::new();
        for (member, device) in team.devices().iter().enumerate() {
            let (back, returned) = mpsc::channel();
            backs.push(back);
            let memory = params.memory.unwrap_or(device.info().memory_bytes / 10 * 8);
            let room = job.room(memory, schedule.most_rows(member));
            let params = params.of_member(member);
            let (job, schedule, shared) = (&job, &schedule, &shared);
            let worker = Worker { member, device, params, job, schedule, shared, room };
            let (pieces, share) = (pieces_in.clone(), (rates[member], planned[member]));
            let thread = threads::start(scope, move || worker.run(start, share, pieces, returned));
            if thread.is_err() {
                schedule.abandon();
            }
            workers.push(thread);
        }
        drop(pieces_in);
        let (c, written) = (&c.shared(), &written);
        copiers().in_place_scope(|copies| {
            for Piece { member, rows, columns, first, elements, pinned } in pieces {
                if !interrupted && !(watch.0)(written.load(Ordering::Relaxed)) {
                    interrupted = true;
                    schedule.abandon();
                }
                let back = backs[member].clone();
                copies.spawn(move |_| {
                    if let Ok(part) = c.layout().submatrix(rows, columns) {
                        c.update_lines(&part, first, &pinned.as_slice()[..elements], beta);
                        written.fetch_add(elements, Ordering::Relaxed);
                    }
                    // Nobody takes the buffer once the device has failed.
                    let _ = back.send(pinned);
                });
            }
        });
        workers.into_iter().map(|worker| joined(worker.map_err(DeviceError::from)?)).collect()
    });
    let mut shares = Vec::with_capacity(results.len());
    for (member, result) in results.into_iter().enumerate() {
        match result {
            Ok(share) => shares.push(share),
            Err(source) => {
                let device = team.devices()[member].label().to_owned();
                let source = Box::new(source);
                let (written, elements) = (written.into_inner(), m * n);
                return Err(BlasError::Unfinished { device, member, written, elements, source });
            }
        }
    }
    if interrupted {
        return Err(BlasError::Interrupted { written: written.into_inner(), elements: m * n });
    }
    Ok(SplitReport { by_columns: false, shares, wall: start.elapsed() })
}

/// Computes the product on the host by the definition.
fn on_the_host<T: Arithmetic>(
    ops: [Op; 2],
    alpha: Factor<T>,
    a: HostRef<'_, T>,
    b: HostRef<'_, T>,
    beta: Factor<T>,
    c: &mut HostMut<'_, T>,
) {
    let layout = *c.layout();
    let (_, k) = ops[0].shape(a.layout().rows, a.layout().columns);
    let mut product = vec![T::default(); layout.rows * layout.columns];
    let (a, b) = (a.element_of(ops[0]), b.element_of(ops[1]));
    host::gemm::gemm(k, alpha, a, b, 0, &mut product, layout.rows);
    let element = |i: usize, j: usize| product[i + j * layout.rows];
    let (lines, length) = layout.lines();
    let by_column = layout.order == super::matrix::Order::ColumnMajor;
    let to = c.shared();
    for line in 0..lines {
        let sums: Vec<T> =
            (0..length).map(|at| if by_column { element(at, line) } else { element(line, at) }).collect();
        to.update_lines(&layout, line, &sums, beta);
    }
}
