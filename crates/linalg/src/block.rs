//! Parts of one matrix that the kernels of an operation read and write.
//!
//! An operation that works on its operand piece by piece reads some parts of a matrix and writes
//! others. The lines of the parts alternate in memory, so that views cannot be borrowed apart. A
//! [`Block`] is made of a checked view, and its parts lie within it. The operation answers for no
//! kernel writing what another part of the same kernel reads.

use super::matrix::{MatMut, MatRef, MatrixLayout, Order};
use bytemuck::Pod;
use lattice_compute::scalar::ElementType;
use lattice_compute::{Argument, Device};
use std::ops::Range;

/// A part of a matrix, for the kernels of one operation.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub element: ElementType,
    /// The elements from the first one on.
    pub elements: Argument<'a>,
    pub rows: usize,
    pub columns: usize,
    pub order: Order,
    pub leading_dimension: usize,
}

impl<'a> Block<'a> {
    /// Makes the block of a matrix that is read.
    pub fn of<T: Pod>(matrix: MatRef<'a, T>) -> Self {
        Self::at(matrix.elements().into(), matrix.layout())
    }

    /// Makes the block of a matrix that is written.
    pub fn of_mut<T: Pod>(matrix: MatMut<'a, T>) -> Self {
        let layout = *matrix.layout();
        Self::at(matrix.into_elements().into(), &layout)
    }

    /// Makes the block of this layout in memory that holds it.
    ///
    /// # Panics
    /// If the memory holds numbers that are no elements of vectors.
    pub fn at(elements: Argument<'a>, layout: &MatrixLayout) -> Self {
        let MatrixLayout { rows, columns, order, leading_dimension, offset } = *layout;
        let element = elements.element().expect("matrices are made of elements of vectors");
        Self { element, elements: elements.skip(offset), rows, columns, order, leading_dimension }
    }

    /// Returns the same elements as the transposed matrix.
    pub fn transposed(self) -> Self {
        let order = match self.order {
            Order::ColumnMajor => Order::RowMajor,
            Order::RowMajor => Order::ColumnMajor,
        };
        Self { rows: self.columns, columns: self.rows, order, ..self }
    }

    /// Returns these rows and columns.
    pub fn part(self, rows: Range<usize>, columns: Range<usize>) -> Self {
        debug_assert!(rows.end <= self.rows && columns.end <= self.columns, "a part lies in its block");
        let [down, across] = self.steps();
        let elements = self.elements.skip(rows.start * down + columns.start * across);
        Self { elements, rows: rows.len(), columns: columns.len(), ..self }
    }

    /// Returns all columns of these rows.
    pub fn rows_of(self, rows: Range<usize>) -> Self {
        self.part(rows, 0..self.columns)
    }

    /// Returns the elements on the diagonal of a square as one column.
    pub fn diagonal(self) -> Self {
        // From one element of the diagonal to the next it is a row and a column.
        let lines = self.along_columns().transposed();
        Self { columns: 1, leading_dimension: self.leading_dimension + 1, ..lines }
    }

    /// Returns the elements from one row to the next, and from one column to the next.
    pub fn steps(&self) -> [usize; 2] {
        match self.order {
            Order::ColumnMajor => [1, self.leading_dimension],
            Order::RowMajor => [self.leading_dimension, 1],
        }
    }

    /// Returns the layout of a copy without gaps between lines, in the same order.
    pub fn dense_layout(&self) -> MatrixLayout {
        MatrixLayout::dense(self.order, self.rows, self.columns)
    }

    /// Returns elements and the distances of [`steps`](Self::steps) as arguments.
    pub fn arguments(&self) -> [Argument<'a>; 3] {
        let [down, across] = self.steps();
        [self.elements, Argument::value(down as u64), Argument::value(across as u64)]
    }

    /// Returns the block, or its transpose, in column-major order.
    pub fn along_columns(self) -> Self {
        if self.order == Order::ColumnMajor { self } else { self.transposed() }
    }
}

/// A matrix that an operation is given, or several of one shape.
///
/// The type of the elements is a value. The matrix is made of a checked view.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    /// The first matrix.
    pub block: Block<'a>,
    pub count: usize,
    /// Elements from one matrix to the next.
    pub stride: usize,
    pub device: &'a Device,
}

impl<'a, T: Pod> From<MatRef<'a, T>> for Operand<'a> {
    fn from(matrix: MatRef<'a, T>) -> Self {
        let (count, stride, device) = (matrix.count(), matrix.stride(), matrix.device());
        Self { block: Block::of(matrix), count, stride, device }
    }
}

impl<'a, T: Pod> From<MatMut<'a, T>> for Operand<'a> {
    fn from(matrix: MatMut<'a, T>) -> Self {
        let (count, stride, device) = (matrix.count(), matrix.stride(), matrix.device());
        Self { block: Block::of_mut(matrix), count, stride, device }
    }
}
