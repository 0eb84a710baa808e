//! Matrices in the memory of the host.

use crate::blas::error::BlasResult;
use crate::blas::matrix::{MatrixLayout, Op};
use crate::host::level1::Arithmetic;
use rayon::prelude::*;
use std::ops::Range;

/// A matrix in host memory that is read.
#[derive(Clone, Copy, Debug)]
pub struct HostRef<'a, T> {
    elements: &'a [T],
    layout: MatrixLayout,
}

/// A matrix in host memory that is written.
#[derive(Debug)]
pub struct HostMut<'a, T> {
    elements: &'a mut [T],
    layout: MatrixLayout,
}

impl<'a, T: Arithmetic> HostRef<'a, T> {
    /// The matrix of this layout.
    ///
    /// # Errors
    /// [`BlasError::LeadingDimension`](crate::blas::BlasError::LeadingDimension);
    /// [`BlasError::BufferTooShort`](crate::blas::BlasError::BufferTooShort).
    pub fn new(elements: &'a [T], layout: MatrixLayout) -> BlasResult<Self> {
        layout.check(elements.len())?;
        Ok(Self { elements, layout })
    }

    /// Shape and place.
    pub fn layout(&self) -> &MatrixLayout {
        &self.layout
    }

    /// Xᵀ, in the same memory.
    pub(super) fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }

    /// These rows of op(X), as a part of X.
    pub(super) fn rows_of(&self, op: Op, rows: Range<usize>) -> BlasResult<Self> {
        let MatrixLayout { rows: all_rows, columns: all_columns, .. } = self.layout;
        let layout = match op {
            Op::N => self.layout.submatrix(rows, 0..all_columns),
            Op::T | Op::C => self.layout.submatrix(0..all_rows, rows),
        };
        Ok(Self { layout: layout?, ..*self })
    }

    /// These columns of op(X), as a part of X.
    pub(super) fn columns_of(&self, op: Op, columns: Range<usize>) -> BlasResult<Self> {
        self.rows_of(if op == Op::N { Op::T } else { Op::N }, columns)
    }

    /// Element (i, j) of op(X).
    pub(super) fn element_of(self, op: Op) -> impl Fn(usize, usize) -> T + Sync + use<'a, T> {
        move |i, j| {
            let (i, j) = if op == Op::N { (i, j) } else { (j, i) };
            let x = self.elements[self.layout.index(i, j)];
            if op == Op::C { T::from_complex(x.to_complex().conj()) } else { x }
        }
    }

    /// Lines from number `first` on, side by side.
    pub(super) fn copy_lines(&self, first: usize, to: &mut [T]) {
        let (_, length) = self.layout.lines();
        to.par_chunks_mut(length.max(1)).enumerate().for_each(|(line, to)| {
            let start = self.layout.offset + (first + line) * self.layout.leading_dimension;
            to.copy_from_slice(&self.elements[start..start + length]);
        });
    }
}

impl<'a, T: Arithmetic> HostMut<'a, T> {
    /// The matrix of this layout.
    ///
    /// # Errors
    /// As [`HostRef::new`].
    pub fn new(elements: &'a mut [T], layout: MatrixLayout) -> BlasResult<Self> {
        layout.check(elements.len())?;
        Ok(Self { elements, layout })
    }

    /// The transposed matrix, in the same memory.
    pub(super) fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }

    /// Shape and place.
    pub fn layout(&self) -> &MatrixLayout {
        &self.layout
    }

    /// C = `from` + β C on the lines from number `first` on of a part of the matrix; with β = 0, C is not read.
    pub(super) fn update_lines(&mut self, part: &MatrixLayout, first: usize, from: &[T], beta: T) {
        let (_, length) = part.lines();
        let leading = part.leading_dimension;
        let start = part.offset + first * leading;
        // The last line may end before the next one would begin.
        let end = start + (from.len() / length.max(1)).saturating_sub(1) * leading + length;
        let lines = self.elements[start..end].par_chunks_mut(leading).zip(from.par_chunks(length.max(1)));
        lines.for_each(|(line, from)| {
            let line = &mut line[..length];
            if beta == T::default() {
                line.copy_from_slice(from);
            } else {
                line.iter_mut().zip(from).for_each(|(c, &sum)| *c = sum + beta * *c);
            }
        });
    }

    /// Sets a part of the matrix to the elements of another one, of any order.
    pub(super) fn place(&mut self, part: &MatrixLayout, layout: &MatrixLayout, elements: &[T]) {
        for i in 0..part.rows {
            for j in 0..part.columns {
                self.elements[part.index(i, j)] = elements[layout.index(i, j)];
            }
        }
    }

    /// C = β C
    pub(super) fn scale(&mut self, beta: T) {
        let (lines, length) = self.layout.lines();
        for line in 0..if length > 0 { lines } else { 0 } {
            let zeros = vec![T::default(); length];
            let layout = self.layout;
            self.update_lines(&layout, line, &zeros, beta);
        }
    }
}

/// A layout without gaps, for the copy of a matrix on a device.
pub(super) fn dense_of(layout: &MatrixLayout) -> MatrixLayout {
    MatrixLayout::dense(layout.order, layout.rows, layout.columns)
}
