//! Matrices that stay on the devices of a team, for repeated use.

use super::copiers::copiers;
use super::host_matrix::{HostMut, HostRef, SharedMut};
use super::staged::SharedPieces;
use super::transfer::Transfer;
use crate::completion::Completion;
use crate::error::{BlasError, BlasResult, operand_name};
use crate::gemm::{GemmParams, gemm_with};
use crate::host::level1::Arithmetic;
use crate::level2::check_extent;
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use crate::op::Op;
use lattice_compute::scalar::Scalar;
use lattice_compute::{Buffer, Device, DeviceError, PinnedBuffer, Team};
use lattice_files::threads::together;
use std::sync::mpsc;

/// A matrix of which each device of a team has consecutive rows.
#[derive(Debug)]
pub struct RowShards<T> {
    shards: Vec<(Buffer<T>, MatrixLayout)>,
    columns: usize,
}

/// A matrix of which each device of a team has a copy.
#[derive(Debug)]
pub struct Copies<T> {
    copies: Vec<(Buffer<T>, MatrixLayout)>,
}

impl<T: Arithmetic> RowShards<T> {
    /// Sends to each device as many rows as `shares` says.
    ///
    /// # Errors
    /// [`BlasError::TeamSize`] unless there is a share for each device. [`BlasError::Shape`] unless
    /// the shares add up to the rows of the matrix. [`BlasError::Device`].
    pub fn upload(team: &Team, shares: &[usize], from: HostRef<'_, T>) -> BlasResult<Self> {
        if shares.len() != team.len() {
            return Err(BlasError::TeamSize { wanted: team.len(), found: shares.len() });
        }
        let MatrixLayout { rows, columns, .. } = *from.layout();
        check_extent("upload", "the matrix", "rows", shares.iter().sum(), rows, "the sum of the shares")?;
        let mut start = 0;
        let mut parts = Vec::with_capacity(team.len());
        for &share in shares {
            parts.push(from.rows_of(Op::N, start..start + share)?);
            start += share;
        }
        Ok(Self { shards: send(team, |member| parts[member], None)?, columns })
    }

    /// Returns the number of rows on each device.
    pub fn shares(&self) -> Vec<usize> {
        self.shards.iter().map(|(_, layout)| layout.rows).collect()
    }

    /// Reads all rows.
    ///
    /// # Errors
    /// [`BlasError::Shape`] unless `to` has as many rows and columns; [`BlasError::Device`].
    pub fn download(&self, mut to: HostMut<'_, T>) -> BlasResult<()> {
        let rows = self.shares().iter().sum();
        check_extent("download", "the matrix", "rows", rows, to.layout().rows, "as the shards have")?;
        check_extent(
            "download",
            "the matrix",
            "columns",
            self.columns,
            to.layout().columns,
            "as the shards have",
        )?;
        let mut start = 0;
        let mut parts = Vec::with_capacity(self.shards.len());
        for (_, layout) in &self.shards {
            parts.push(to.layout().submatrix(start..start + layout.rows, 0..self.columns)?);
            start += layout.rows;
        }
        let shards = self.shards.iter().zip(&parts);
        if self.shards.iter().any(|(_, layout)| layout.order != to.layout().order) {
            for ((buffer, layout), part) in shards {
                to.place(part, layout, &buffer.to_vec()?);
            }
            return Ok(());
        }
        let to = &to.shared();
        on_all(shards.map(|((buffer, layout), part)| move || fetch(buffer, layout, to, part))).map(drop)
    }
}

/// Copies a matrix without gaps to a part of another one.
pub(super) fn fetch<T: Arithmetic>(
    from: &Buffer<T>,
    layout: &MatrixLayout,
    to: &SharedMut<'_, T>,
    part: &MatrixLayout,
) -> BlasResult<()> {
    // Pinned buffers travel beside the kernels.
    from.device().finish()?;
    let (_, length) = layout.lines();
    let transfer = Transfer::new(from.device(), length, from.len());
    copiers().in_place_scope(|copies| {
        let (back, returned) = mpsc::channel();
        let take = |first, elements, pinned: PinnedBuffer<T>| {
            let back = back.clone();
            copies.spawn(move |_| {
                to.update_lines(part, first, &pinned.as_slice()[..elements], 0.factor());
                // Nobody takes the buffer if a transfer has failed.
                let _ = back.send(pinned);
            });
        };
        Ok(transfer.download(from, layout, &mut transfer.downloads(returned), take)?)
    })
}

impl<T: Arithmetic> Copies<T> {
    /// Sends the matrix to every device.
    ///
    /// # Errors
    /// [`BlasError::Device`].
    pub fn upload(team: &Team, from: HostRef<'_, T>) -> BlasResult<Self> {
        Ok(Self { copies: send(team, |_| from, Some(&SharedPieces::new(team.len())))? })
    }
}

/// Copies a matrix to each device, to all at the same time.
///
/// Kernels that are launched later find it there. `shared` has a value if all devices are sent the
/// same matrix.
fn send<'a, T: Arithmetic>(
    team: &Team,
    matrix: impl Fn(usize) -> HostRef<'a, T> + Sync,
    shared: Option<&SharedPieces<T>>,
) -> BlasResult<Vec<(Buffer<T>, MatrixLayout)>> {
    let send = |member: usize, device: &Device| send_one(device, matrix(member), shared);
    let members = team.devices().iter().enumerate();
    on_all(members.map(|(member, device)| move || send(member, device)))
}

/// Copies a matrix to one device.
pub(super) fn send_one<T: Arithmetic>(
    device: &Device,
    from: HostRef<'_, T>,
    shared: Option<&SharedPieces<T>>,
) -> BlasResult<(Buffer<T>, MatrixLayout)> {
    let MatrixLayout { rows, columns, .. } = *from.layout();
    let (_, length) = from.layout().lines();
    let mut buffer = Buffer::uninitialised(device, rows * columns)?;
    let shared = shared.map(|pieces| (pieces, 0));
    let mut transfer = Transfer::new(device, length, rows * columns);
    let (layout, arrival) = transfer.upload(&from, &mut buffer, shared)?;
    device.compute_after(arrival.as_ref().as_slice())?;
    Ok((buffer, layout))
}

/// Does the work of all devices at the same time.
pub(super) fn on_all<R: Send>(
    work: impl Iterator<Item = impl FnOnce() -> BlasResult<R> + Send>,
) -> BlasResult<Vec<R>> {
    together(work).map_err(DeviceError::from)?.into_iter().collect()
}

/// Starts C = α A op(B) + β C, each device with its own rows.
///
/// Returns one handle for each device.
///
/// # Errors
/// [`BlasError::TeamSize`] for matrices of different teams' sizes, [`BlasError::Shape`] unless each
/// device has as many rows of A as of C: nothing is started then. Otherwise the errors of
/// [`blas::gemm`](crate::gemm()), with the products of earlier devices started.
pub fn gemm_resident<T: Arithmetic>(
    params: &GemmParams,
    op_b: Op,
    alpha: impl Scalar<T>,
    a: &RowShards<T>,
    b: &Copies<T>,
    beta: impl Scalar<T>,
    c: &mut RowShards<T>,
) -> BlasResult<Vec<Completion>> {
    let (alpha, beta, wanted) = (alpha.factor(), beta.factor(), c.shards.len());
    for found in [a.shards.len(), b.copies.len()] {
        if found != wanted {
            return Err(BlasError::TeamSize { wanted, found });
        }
    }
    for ((_, c), (_, a)) in c.shards.iter().zip(&a.shards) {
        check_extent("gemm", "A on each device", "rows", c.rows, a.rows, "as C has there")?;
    }
    if let Some((_, b)) = b.copies.first() {
        let (rows, columns) = op_b.shape(b.rows, b.columns);
        let name = operand_name("B", op_b);
        check_extent("gemm", &name, "columns", c.columns, columns, "as C has")?;
        check_extent("gemm", &name, "rows", a.columns, rows, "as A has columns")?;
    }
    let mut started = Vec::with_capacity(wanted);
    for (((a, a_layout), (b, b_layout)), (c, c_layout)) in a.shards.iter().zip(&b.copies).zip(&mut c.shards) {
        let device = c.device().clone();
        let (a, b) = (MatRef::new(a, *a_layout)?, MatRef::new(b, *b_layout)?);
        started.push(gemm_with(params, Op::N, op_b, alpha, a, b, beta, MatMut::new(c, *c_layout)?)?);
        // The other devices must not wait for this one.
        device.flush()?;
    }
    Ok(started)
}
