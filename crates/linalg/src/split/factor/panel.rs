//! Columns of a matrix in host memory, copied out of it and on their way through a device.

use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::matrix::{MatMut, MatrixLayout, Order};
use crate::split::host_matrix::{HostMut, HostRef};
use crate::split::resident::{fetch, send_one};
use lattice_compute::Device;
use lattice_compute::parallel::*;
use std::ops::Range;

/// A matrix without gaps, column after column.
pub struct Panel<T> {
    elements: Vec<T>,
    layout: MatrixLayout,
}

impl<T: Arithmetic> Panel<T> {
    /// Copies a matrix.
    pub fn of(from: HostRef<'_, T>) -> Self {
        let MatrixLayout { rows, columns, order, leading_dimension, .. } = *from.layout();
        let mut elements = vec![T::default(); rows * columns];
        let (all, layout) = (from.elements(), *from.layout());
        elements.par_chunks_mut(rows.max(1)).enumerate().for_each(|(j, column)| {
            let first = layout.index(0, j);
            match order {
                Order::ColumnMajor => column.copy_from_slice(&all[first..first + rows]),
                Order::RowMajor => {
                    let lines = all[first..].iter().step_by(leading_dimension);
                    column.iter_mut().zip(lines).for_each(|(to, &from)| *to = from);
                }
            }
        });
        Self { elements, layout: MatrixLayout::column_major(rows, columns) }
    }

    /// Returns the elements, column after column.
    pub fn into_elements(self) -> Vec<T> {
        self.elements
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.layout.columns
    }

    /// `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// Divides the columns into parts of so many, which add up to all.
    pub fn split_columns(&mut self, shares: &[usize]) -> BlasResult<Vec<HostMut<'_, T>>> {
        let (rows, mut rest) = (self.layout.rows, &mut self.elements[..]);
        let part = |&share: &usize| {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(rows * share);
            rest = behind;
            HostMut::new(part, MatrixLayout::column_major(rows, share))
        };
        shares.iter().map(part).collect()
    }

    /// Returns the matrix for reading.
    pub fn as_ref(&self) -> BlasResult<HostRef<'_, T>> {
        HostRef::new(&self.elements, self.layout)
    }

    /// Returns these rows for writing.
    pub fn rows_mut(&mut self, rows: Range<usize>) -> BlasResult<HostMut<'_, T>> {
        let layout = self.layout.submatrix(rows, 0..self.layout.columns)?;
        HostMut::new(&mut self.elements, layout)
    }

    /// Copies these rows.
    pub fn copy_rows(&self, rows: Range<usize>) -> BlasResult<Self> {
        Ok(Self::of(self.as_ref()?.part(rows, 0..self.layout.columns)?))
    }

    /// Returns the columns.
    pub fn columns_mut(&mut self) -> impl Indexed<Item = &mut [T]> {
        self.elements.par_chunks_mut(self.layout.rows.max(1))
    }

    /// Copies the matrix to a place of the same shape; only its lower triangle if `lower`.
    pub fn write(&self, to: HostMut<'_, T>, lower: bool) {
        write(&self.elements, self.layout.rows, to, lower);
    }

    /// Copies rows to a device, lets `work` change them there, and copies them back.
    pub fn on_device<R>(
        &mut self,
        device: &Device,
        rows: Range<usize>,
        work: impl FnOnce(MatMut<'_, T>) -> BlasResult<R>,
    ) -> BlasResult<R> {
        through(device, self.rows_mut(rows)?, work)
    }
}

/// Copies a matrix to a device, lets `work` change it there, and copies it back.
pub fn through<T: Arithmetic, R>(
    device: &Device,
    mut matrix: HostMut<'_, T>,
    work: impl FnOnce(MatMut<'_, T>) -> BlasResult<R>,
) -> BlasResult<R> {
    let (mut buffer, layout) = send_one(device, matrix.as_ref(), None)?;
    let result = work(MatMut::new(&mut buffer, layout)?)?;
    let part = *matrix.layout();
    fetch(&buffer, &layout, &matrix.shared(), &part)?;
    Ok(result)
}

/// Copies columns of `rows` elements to a matrix, or their lower triangle.
pub fn write<T: Arithmetic>(from: &[T], rows: usize, mut to: HostMut<'_, T>, lower: bool) {
    let layout = *to.layout();
    let (lines, length) = layout.lines();
    if length == 0 {
        return;
    }
    let elements = &mut to.elements()[layout.offset..];
    let lines = elements.par_chunks_mut(layout.leading_dimension).take(lines).enumerate();
    lines.for_each(|(line, to)| match layout.order {
        Order::ColumnMajor => {
            let first = if lower { line.min(length) } else { 0 };
            to[first..length].copy_from_slice(&from[line * rows + first..line * rows + length]);
        }
        Order::RowMajor => {
            let count = if lower { (line + 1).min(length) } else { length };
            let column = from[line..].iter().step_by(rows);
            to[..count].iter_mut().zip(column).for_each(|(to, &from)| *to = from);
        }
    });
}
