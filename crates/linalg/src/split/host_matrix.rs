//! Matrices in the memory of the host.

use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::matrix::MatrixLayout;
use crate::op::Op;
use lattice_compute::parallel::*;
use lattice_compute::scalar::Factor;
use lattice_compute::sync::lock;
use std::ops::Range;
use std::sync::Mutex;

/// Most groups of lines that threads write independently of each other.
const MOST_GROUPS: usize = 4096;

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
    /// Makes the matrix of this layout.
    ///
    /// # Errors
    /// [`BlasError::LeadingDimension`](crate::BlasError::LeadingDimension);
    /// [`BlasError::BufferTooShort`](crate::BlasError::BufferTooShort).
    pub fn new(elements: &'a [T], layout: MatrixLayout) -> BlasResult<Self> {
        layout.check(elements.len())?;
        Ok(Self { elements, layout })
    }

    /// Returns the shape and place of the matrix.
    pub fn layout(&self) -> &MatrixLayout {
        &self.layout
    }

    /// Returns Xᵀ, in the same memory.
    pub(super) fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }

    /// Returns the part with these rows and columns.
    pub(super) fn part(&self, rows: Range<usize>, columns: Range<usize>) -> BlasResult<Self> {
        Ok(Self { layout: self.layout.submatrix(rows, columns)?, ..*self })
    }

    /// Returns the elements of the memory that the matrix lies in.
    pub(super) fn elements(&self) -> &'a [T] {
        self.elements
    }

    /// Returns these rows of op(X), as a part of X.
    pub(super) fn rows_of(&self, op: Op, rows: Range<usize>) -> BlasResult<Self> {
        let MatrixLayout { rows: all_rows, columns: all_columns, .. } = self.layout;
        let layout = match op {
            Op::N => self.layout.submatrix(rows, 0..all_columns),
            Op::T | Op::C => self.layout.submatrix(0..all_rows, rows),
        };
        Ok(Self { layout: layout?, ..*self })
    }

    /// Returns these columns of op(X), as a part of X.
    pub(super) fn columns_of(&self, op: Op, columns: Range<usize>) -> BlasResult<Self> {
        self.rows_of(if op == Op::N { Op::T } else { Op::N }, columns)
    }

    /// Returns the function of element (i, j) of op(X).
    pub(super) fn element_of(self, op: Op) -> impl Fn(usize, usize) -> T + Sync + use<'a, T> {
        move |i, j| {
            let (i, j) = if op == Op::N { (i, j) } else { (j, i) };
            let x = self.elements[self.layout.index(i, j)];
            if op == Op::C { T::from_complex(x.to_complex().conj()) } else { x }
        }
    }

    /// Copies lines from number `first` on, side by side.
    pub(super) fn copy_lines(&self, first: usize, to: &mut [T]) {
        let (_, length) = self.layout.lines();
        for (line, to) in to.chunks_mut(length.max(1)).enumerate() {
            let start = self.layout.offset + (first + line) * self.layout.leading_dimension;
            to.copy_from_slice(&self.elements[start..start + length]);
        }
    }
}

impl<'a, T: Arithmetic> HostMut<'a, T> {
    /// Makes the matrix of this layout.
    ///
    /// # Errors
    /// The errors of [`HostRef::new`].
    pub fn new(elements: &'a mut [T], layout: MatrixLayout) -> BlasResult<Self> {
        layout.check(elements.len())?;
        Ok(Self { elements, layout })
    }

    /// Returns the transposed matrix, in the same memory.
    pub(super) fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }

    /// Returns the shape and place of the matrix.
    pub fn layout(&self) -> &MatrixLayout {
        &self.layout
    }

    /// Returns the matrix for reading.
    pub(super) fn as_ref(&self) -> HostRef<'_, T> {
        HostRef { elements: self.elements, layout: self.layout }
    }

    /// Returns the elements of the memory that the matrix lies in.
    pub(super) fn elements(&mut self) -> &mut [T] {
        self.elements
    }

    /// Shares the matrix among several threads that write parts of it.
    pub(super) fn shared(&mut self) -> SharedMut<'_, T> {
        let MatrixLayout { offset, leading_dimension, .. } = self.layout;
        let (lines, _) = self.layout.lines();
        let lines_of_group = lines.div_ceil(MOST_GROUPS).max(1);
        let used = self.layout.span().map_or(offset..offset, |span| offset..offset + span);
        let groups = self.elements[used].chunks_mut(lines_of_group * leading_dimension);
        let groups = groups.map(Mutex::new).collect();
        SharedMut { groups, lines_of_group, layout: self.layout }
    }

    /// Sets a part of the matrix to the elements of another one, of any order.
    pub(super) fn place(&mut self, part: &MatrixLayout, layout: &MatrixLayout, elements: &[T]) {
        for i in 0..part.rows {
            for j in 0..part.columns {
                self.elements[part.index(i, j)] = elements[layout.index(i, j)];
            }
        }
    }

    /// Computes C = β C; with β = 0, C is not read.
    pub(super) fn scale(&mut self, beta: Factor<T>) {
        let MatrixLayout { offset, leading_dimension, .. } = self.layout;
        let (lines, length) = self.layout.lines();
        if beta.is_one() || length == 0 {
            return;
        }
        self.elements[offset..].par_chunks_mut(leading_dimension).take(lines).for_each(|line| {
            if beta.is_zero() {
                line[..length].fill(T::default());
            } else {
                line[..length].iter_mut().for_each(|c| *c = beta.times(*c));
            }
        });
    }
}

/// A matrix in host memory that several threads write.
///
/// Each thread holds a group of consecutive lines while it writes there.
pub(super) struct SharedMut<'a, T> {
    groups: Vec<Mutex<&'a mut [T]>>,
    lines_of_group: usize,
    layout: MatrixLayout,
}

impl<T: Arithmetic> SharedMut<'_, T> {
    /// Returns the shape and place of the matrix.
    pub(super) fn layout(&self) -> &MatrixLayout {
        &self.layout
    }

    /// Computes C = `from` + β C on some lines of a part of the matrix.
    ///
    /// The lines begin with number `first`. With β = 0, C is not read.
    pub(super) fn update_lines(&self, part: &MatrixLayout, first: usize, from: &[T], beta: Factor<T>) {
        let (_, length) = part.lines();
        if length == 0 {
            return;
        }
        let leading = self.layout.leading_dimension;
        let start = part.offset - self.layout.offset + first * leading;
        let (mut next, column) = (start / leading, start % leading);
        let mut from = from.chunks(length);
        while from.len() > 0 {
            let (group, within) = (next / self.lines_of_group, next % self.lines_of_group);
            let mut lines = lock(&self.groups[group]);
            let lines = lines[within * leading + column..].chunks_mut(leading);
            for (line, from) in lines.zip(from.by_ref().take(self.lines_of_group - within)) {
                let line = &mut line[..length];
                if beta.is_zero() {
                    line.copy_from_slice(from);
                } else {
                    line.iter_mut().zip(from).for_each(|(c, &sum)| *c = sum + beta.times(*c));
                }
            }
            next += self.lines_of_group - within;
        }
    }
}

/// Returns a layout without gaps, for the copy of a matrix on a device.
pub(super) fn dense_of(layout: &MatrixLayout) -> MatrixLayout {
    MatrixLayout::dense(layout.order, layout.rows, layout.columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_compute::scalar::Scalar;

    #[test]
    fn a_part_is_written_across_groups_of_lines_and_nothing_beside_it() {
        let (lines, length, leading, offset) = (2 * MOST_GROUPS + 5, 3, 4, 6);
        let layout = MatrixLayout::row_major(lines, length).leading_dimension(leading).offset(offset);
        let mut elements = vec![1.0; layout.index(lines - 1, length - 1) + 1];
        let mut matrix = HostMut::new(&mut elements, layout).unwrap();
        // Rows 4, 5, ... of columns 1 and 2, in two pieces.
        let part = layout.submatrix(4..lines, 1..3).unwrap();
        let from: Vec<f64> = (0..2 * (lines - 4)).map(|element| element as f64).collect();
        let shared = matrix.shared();
        assert!(shared.groups.len() > 1 && shared.lines_of_group > 1);
        shared.update_lines(&part, 0, &from[..2 * 1000], 10.0.factor());
        shared.update_lines(&part, 1000, &from[2 * 1000..], 10.0.factor());
        let mut expected = vec![1.0; elements.len()];
        for (element, sum) in from.iter().enumerate() {
            expected[layout.index(4 + element / 2, 1 + element % 2)] = sum + 10.0;
        }
        assert_eq!(elements, expected);
    }
}
