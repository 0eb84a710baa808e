//! Matrices that stay on the devices of a team, for repeated use.

use super::host_matrix::{HostMut, HostRef};
use super::transfer::Transfer;
use crate::blas::completion::Completion;
use crate::blas::error::{BlasError, BlasResult, operand_name};
use crate::blas::gemm::{GemmParams, gemm_with};
use crate::blas::level2::check_extent;
use crate::blas::matrix::{MatMut, MatRef, MatrixLayout, Op};
use crate::device::{Buffer, Device, PinnedBuffer, Team};
use crate::host::level1::Arithmetic;
use num_complex::Complex;

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
    /// [`BlasError::TeamSize`] unless there is a share for each device; [`BlasError::Shape`] unless they add up to the rows of the matrix;
    /// [`BlasError::Device`].
    pub fn upload(team: &Team, shares: &[usize], from: HostRef<'_, T>) -> BlasResult<Self> {
        if shares.len() != team.len() {
            return Err(BlasError::TeamSize { wanted: team.len(), found: shares.len() });
        }
        let MatrixLayout { rows, columns, .. } = *from.layout();
        check_extent("upload", "the matrix", "rows", shares.iter().sum(), rows, "the sum of the shares")?;
        let mut start = 0;
        let mut shards = Vec::with_capacity(team.len());
        for (device, &share) in team.devices().iter().zip(shares) {
            let part = from.rows_of(Op::N, start..start + share)?;
            start += share;
            shards.push(send(device, &part)?);
        }
        Ok(Self { shards, columns })
    }

    /// Rows on each device.
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
        for (buffer, layout) in &self.shards {
            let part = to.layout().submatrix(start..start + layout.rows, 0..self.columns)?;
            start += layout.rows;
            if part.order != layout.order {
                to.place(&part, layout, &buffer.to_vec()?);
                continue;
            }
            // Pinned buffers travel beside the kernels.
            buffer.device().finish()?;
            let (_, length) = layout.lines();
            let transfer = Transfer::new(buffer.device(), length, buffer.len());
            let take = |first, elements, pinned: PinnedBuffer<T>| {
                to.update_lines(&part, first, &pinned.as_slice()[..elements], T::default());
            };
            transfer.download(buffer, layout, || transfer.pinned(), take)?;
        }
        Ok(())
    }
}

impl<T: Arithmetic> Copies<T> {
    /// Sends the matrix to every device.
    ///
    /// # Errors
    /// [`BlasError::Device`].
    pub fn upload(team: &Team, from: HostRef<'_, T>) -> BlasResult<Self> {
        let copies = team.devices().iter().map(|device| send(device, &from));
        Ok(Self { copies: copies.collect::<BlasResult<_>>()? })
    }
}

/// Copies a matrix to a device; kernels that are launched later find it there.
fn send<T: Arithmetic>(device: &Device, from: &HostRef<'_, T>) -> BlasResult<(Buffer<T>, MatrixLayout)> {
    let MatrixLayout { rows, columns, .. } = *from.layout();
    let (_, length) = from.layout().lines();
    let mut buffer = Buffer::uninitialised(device, rows * columns)?;
    let (layout, arrival) = Transfer::new(device, length, rows * columns).upload(from, &mut buffer)?;
    device.compute_after(arrival.as_ref().as_slice())?;
    Ok((buffer, layout))
}

/// Starts C = α A op(B) + β C, each device with its own rows. Returns one handle for each device.
///
/// # Errors
/// [`BlasError::TeamSize`] for matrices of different teams' sizes, [`BlasError::Shape`] unless each device has as many rows of A as of C:
/// nothing is started then. Otherwise as [`blas::gemm`](crate::blas::gemm()), with the products of earlier devices started.
pub fn gemm_resident<T: Arithmetic>(
    params: &GemmParams,
    op_b: Op,
    alpha: impl Into<Complex<f64>>,
    a: &RowShards<T>,
    b: &Copies<T>,
    beta: impl Into<Complex<f64>>,
    c: &mut RowShards<T>,
) -> BlasResult<Vec<Completion>> {
    let (alpha, beta, wanted) = (alpha.into(), beta.into(), c.shards.len());
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
        // The other devices are not to wait for this one.
        device.flush()?;
    }
    Ok(started)
}
