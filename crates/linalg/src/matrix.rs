//! Matrices in device buffers.
//!
//! A view is a part of a buffer with a shape. Its constructor checks that every element lies in the
//! buffer. A view that is written borrows its buffer exclusively. So operations never run out of a
//! buffer, and an output never shares elements with another operand.

use super::error::{BlasError, BlasResult};
use bytemuck::Pod;
use lattice_compute::{BufferView, BufferViewMut, Device};
use std::ops::Range;

/// The elements of a matrix that are neighbours in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The elements of a column, as in Fortran.
    ColumnMajor,
    /// The elements of a row, as in C.
    RowMajor,
}

impl Order {
    pub(super) fn name(self) -> &'static str {
        match self {
            Order::ColumnMajor => "column-major",
            Order::RowMajor => "row-major",
        }
    }
}

/// Shape of a matrix, and the place of its elements in a buffer.
///
/// Element (i, j) is number `offset + i + j·leading_dimension` in a column-major matrix, and
/// `offset + i·leading_dimension + j` in a row-major one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixLayout {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// The elements that are neighbours.
    pub order: Order,
    /// Elements from one column (column-major) or row (row-major) to the next.
    pub leading_dimension: usize,
    /// Number of the first element.
    pub offset: usize,
}

impl MatrixLayout {
    /// Lays columns one after another, from the start of the buffer.
    pub fn column_major(rows: usize, columns: usize) -> Self {
        Self { rows, columns, order: Order::ColumnMajor, leading_dimension: rows.max(1), offset: 0 }
    }

    /// Lays rows one after another, from the start of the buffer.
    pub fn row_major(rows: usize, columns: usize) -> Self {
        Self { rows, columns, order: Order::RowMajor, leading_dimension: columns.max(1), offset: 0 }
    }

    /// Lays lines one after another in either order, from the start of the buffer.
    pub fn dense(order: Order, rows: usize, columns: usize) -> Self {
        match order {
            Order::ColumnMajor => Self::column_major(rows, columns),
            Order::RowMajor => Self::row_major(rows, columns),
        }
    }

    /// Sets the distance between columns or rows, in elements.
    pub fn leading_dimension(self, leading_dimension: usize) -> Self {
        Self { leading_dimension, ..self }
    }

    /// Sets the number of the first element.
    pub fn offset(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    /// Returns the layout of the same elements as the transposed matrix.
    pub fn transposed(self) -> Self {
        let order = match self.order {
            Order::ColumnMajor => Order::RowMajor,
            Order::RowMajor => Order::ColumnMajor,
        };
        Self { rows: self.columns, columns: self.rows, order, ..self }
    }

    /// Returns the number of element (i, j) in the buffer.
    pub fn index(&self, i: usize, j: usize) -> usize {
        match self.order {
            Order::ColumnMajor => self.offset + i + j * self.leading_dimension,
            Order::RowMajor => self.offset + i * self.leading_dimension + j,
        }
    }

    /// Returns the part with these rows and columns, at its place in the same buffer.
    ///
    /// # Errors
    /// [`BlasError::OutOfMatrix`] if a row or column is not in the matrix.
    pub fn submatrix(&self, rows: Range<usize>, columns: Range<usize>) -> BlasResult<Self> {
        for (extent, range, found) in [("rows", &rows, self.rows), ("columns", &columns, self.columns)] {
            if range.start > range.end || range.end > found {
                return Err(BlasError::OutOfMatrix { extent, start: range.start, end: range.end, found });
            }
        }
        // An empty part may have no element to start at.
        let empty = rows.is_empty() || columns.is_empty();
        let offset = if empty { self.offset } else { self.index(rows.start, columns.start) };
        Ok(Self { rows: rows.len(), columns: columns.len(), offset, ..*self })
    }

    /// `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    /// Returns the number of lines, and of elements in each.
    pub(super) fn lines(&self) -> (usize, usize) {
        match self.order {
            Order::ColumnMajor => (self.columns, self.rows),
            Order::RowMajor => (self.rows, self.columns),
        }
    }

    /// Counts elements from the first to one past the last.
    ///
    /// `None` if the number overflows.
    pub(super) fn span(&self) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        let (lines, length) = self.lines();
        (lines - 1).checked_mul(self.leading_dimension)?.checked_add(length)
    }

    /// Checks the layout against a buffer of `len` elements.
    pub(super) fn check(&self, len: usize) -> BlasResult<()> {
        let (_, length) = self.lines();
        if self.leading_dimension < length.max(1) {
            return Err(BlasError::LeadingDimension {
                rows: self.rows,
                columns: self.columns,
                order: self.order.name(),
                line: if self.order == Order::ColumnMajor { "column" } else { "row" },
                wanted: length.max(1),
                found: self.leading_dimension,
            });
        }
        let wanted = self.span().and_then(|span| span.checked_add(self.offset)).unwrap_or(usize::MAX);
        if wanted > len {
            return Err(BlasError::BufferTooShort {
                rows: self.rows,
                columns: self.columns,
                leading_dimension: self.leading_dimension,
                offset: self.offset,
                wanted,
                found: len,
            });
        }
        Ok(())
    }
}

/// A matrix that is read, or several of one shape.
///
/// Several matrices lie at equal distances in one buffer.
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a, T> {
    buffer: BufferView<'a, T>,
    layout: MatrixLayout,
    count: usize,
    stride: usize,
}

impl<'a, T: Pod> MatRef<'a, T> {
    /// Makes the matrix of this layout in a buffer or a part of one.
    ///
    /// The layout's offset counts from the start of the part.
    ///
    /// # Errors
    /// [`BlasError::LeadingDimension`]; [`BlasError::BufferTooShort`].
    pub fn new(buffer: impl Into<BufferView<'a, T>>, layout: MatrixLayout) -> BlasResult<Self> {
        let buffer = buffer.into();
        layout.check(buffer.len())?;
        Ok(Self { buffer, layout, count: 1, stride: 0 })
    }

    /// Makes a batch of `count` matrices, `stride` elements from one to the next.
    ///
    /// All have this layout. They may overlap. With a stride of 0 they are all one matrix.
    ///
    /// # Errors
    /// The errors of [`MatRef::new`]; [`BlasError::BatchTooLong`].
    pub fn batch(
        buffer: impl Into<BufferView<'a, T>>,
        layout: MatrixLayout,
        count: usize,
        stride: usize,
    ) -> BlasResult<Self> {
        let single = Self::new(buffer, layout)?;
        check_batch(&layout, single.buffer.len(), count, stride)?;
        Ok(Self { count, stride, ..single })
    }

    /// Returns the shape and place of the first matrix.
    pub fn layout(&self) -> &MatrixLayout {
        &self.layout
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.layout.columns
    }

    /// Returns the number of matrices.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Elements from one matrix to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Returns the device whose memory this is.
    pub fn device(&self) -> &'a Device {
        self.buffer.device()
    }

    /// Returns these rows and columns of every matrix.
    ///
    /// # Errors
    /// [`BlasError::OutOfMatrix`].
    pub fn submatrix(&self, rows: Range<usize>, columns: Range<usize>) -> BlasResult<Self> {
        Ok(Self { layout: self.layout.submatrix(rows, columns)?, ..*self })
    }

    /// Returns the whole buffer.
    pub(super) fn elements(&self) -> BufferView<'a, T> {
        self.buffer
    }
}

/// A matrix that is written, or several of one shape.
///
/// Several matrices lie at equal distances in one buffer, without common elements.
#[derive(Debug)]
pub struct MatMut<'a, T> {
    buffer: BufferViewMut<'a, T>,
    layout: MatrixLayout,
    count: usize,
    stride: usize,
}

impl<'a, T: Pod> MatMut<'a, T> {
    /// Makes the matrix of this layout in a buffer or a part of one.
    ///
    /// The layout's offset counts from the start of the part.
    ///
    /// # Errors
    /// [`BlasError::LeadingDimension`]; [`BlasError::BufferTooShort`].
    pub fn new(buffer: impl Into<BufferViewMut<'a, T>>, layout: MatrixLayout) -> BlasResult<Self> {
        let buffer = buffer.into();
        layout.check(buffer.len())?;
        Ok(Self { buffer, layout, count: 1, stride: 0 })
    }

    /// Makes a batch of `count` matrices, `stride` elements from one to the next.
    ///
    /// All have this layout, and no element in common. Their lines may alternate. With a stride of
    /// 2, columns of 2 elements that are 6 apart make 3 column-major matrices side by side.
    ///
    /// # Errors
    /// The errors of [`MatMut::new`]; [`BlasError::BatchTooLong`]; [`BlasError::BatchOverlaps`].
    pub fn batch(
        buffer: impl Into<BufferViewMut<'a, T>>,
        layout: MatrixLayout,
        count: usize,
        stride: usize,
    ) -> BlasResult<Self> {
        let single = Self::new(buffer, layout)?;
        check_batch(&layout, single.buffer.len(), count, stride)?;
        if overlap(&layout, count, stride) {
            let wanted = layout.span().unwrap_or(usize::MAX);
            return Err(BlasError::BatchOverlaps { count, wanted, found: stride });
        }
        Ok(Self { count, stride, ..single })
    }

    /// Returns the shape and place of the first matrix.
    pub fn layout(&self) -> &MatrixLayout {
        &self.layout
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.layout.columns
    }

    /// Returns the number of matrices.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Elements from one matrix to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Returns the device whose memory this is.
    pub fn device(&self) -> &'a Device {
        self.buffer.device()
    }

    /// Returns these rows and columns of every matrix, to write.
    ///
    /// # Errors
    /// [`BlasError::OutOfMatrix`].
    pub fn submatrix_mut(&mut self, rows: Range<usize>, columns: Range<usize>) -> BlasResult<MatMut<'_, T>> {
        let layout = self.layout.submatrix(rows, columns)?;
        Ok(MatMut { layout, ..self.reborrow() })
    }

    /// Returns the same matrices, to write, while `self` waits.
    pub fn reborrow(&mut self) -> MatMut<'_, T> {
        MatMut { buffer: self.buffer.reborrow(), layout: self.layout, count: self.count, stride: self.stride }
    }

    /// Returns the same matrices, to read.
    pub fn as_ref(&self) -> MatRef<'_, T> {
        MatRef { buffer: self.buffer.as_view(), layout: self.layout, count: self.count, stride: self.stride }
    }

    /// Returns the whole buffer, to write.
    pub(super) fn into_elements(self) -> BufferViewMut<'a, T> {
        self.buffer
    }
}

fn check_batch(layout: &MatrixLayout, len: usize, count: usize, stride: usize) -> BlasResult<()> {
    let wanted = || {
        let last = count.saturating_sub(1).checked_mul(stride)?;
        last.checked_add(layout.offset)?.checked_add(layout.span()?)
    };
    let wanted = if count == 0 { 0 } else { wanted().unwrap_or(usize::MAX) };
    if wanted > len { Err(BlasError::BatchTooLong { count, stride, wanted, found: len }) } else { Ok(()) }
}

/// Tells whether matrices of a batch in a buffer have elements in common.
fn overlap(layout: &MatrixLayout, count: usize, stride: usize) -> bool {
    let Some(last) = layout.span().and_then(|span| span.checked_sub(1)) else { return false };
    if count < 2 || stride > last {
        return false;
    }
    if stride == 0 {
        return true;
    }
    let ((lines, length), leading) = (layout.lines(), layout.leading_dimension);
    // Most often all matrices begin within the distance of two lines.
    if (count - 1) * stride + length <= leading {
        return stride < length;
    }
    // A line of one matrix can meet two of another: the last that begins before it, or the next.
    (1..count.min(last / stride + 1)).any(|apart| {
        let (line, rest) = (apart * stride / leading, apart * stride % leading);
        line < lines && rest < length || line + 1 < lines && leading - rest < length
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_checked_against_its_buffer() {
        let layout = MatrixLayout::column_major(3, 4).leading_dimension(5).offset(2);
        assert_eq!(layout.index(2, 3), 19);
        assert_eq!(layout.check(20), Ok(()));
        assert!(matches!(layout.check(19), Err(BlasError::BufferTooShort { wanted: 20, found: 19, .. })));
        assert_eq!(layout.transposed().index(3, 2), 19);
        assert_eq!(layout.transposed().check(20), Ok(()));
        let narrow = MatrixLayout::row_major(3, 4).leading_dimension(3);
        assert!(matches!(narrow.check(99), Err(BlasError::LeadingDimension { wanted: 4, found: 3, .. })));
        let huge = MatrixLayout::column_major(2, usize::MAX).leading_dimension(usize::MAX);
        assert!(matches!(huge.check(99), Err(BlasError::BufferTooShort { wanted: usize::MAX, .. })));
    }

    #[test]
    fn a_part_of_a_matrix_lies_where_its_elements_are() {
        for layout in
            [MatrixLayout::column_major(5, 4), MatrixLayout::row_major(5, 4).leading_dimension(7).offset(3)]
        {
            let part = layout.submatrix(1..3, 2..4).unwrap();
            assert_eq!((part.rows, part.columns, part.index(1, 0)), (2, 2, layout.index(2, 2)));
            assert!(layout.submatrix(5..5, 0..4).unwrap().is_empty());
            let error = layout.submatrix(0..5, 3..5).unwrap_err();
            assert_eq!(error.to_string(), "columns 3..5 do not lie in a matrix with 4 columns");
        }
    }

    #[test]
    fn matrices_without_elements_need_none() {
        for (rows, columns) in [(0, 0), (0, 7), (7, 0)] {
            assert_eq!(MatrixLayout::column_major(rows, columns).check(0), Ok(()));
            assert_eq!(MatrixLayout::row_major(rows, columns).check(0), Ok(()));
        }
        assert!(MatrixLayout::column_major(0, 0).offset(1).check(0).is_err());
    }

    #[test]
    fn matrices_of_a_batch_overlap_if_they_have_an_element_in_common() {
        let (mut disjoint, mut common) = (0, 0);
        for lines in 0..5 {
            for length in 0..5 {
                for leading in length.max(1)..9 {
                    for stride in 0..26 {
                        for count in 0..6 {
                            let layout = MatrixLayout::column_major(length, lines).leading_dimension(leading);
                            let mut elements: Vec<usize> = (0..count)
                                .flat_map(|number| (0..lines).map(move |j| (number, j)))
                                .flat_map(|(number, j)| (0..length).map(move |i| (number, i, j)))
                                .map(|(number, i, j)| number * stride + layout.index(i, j))
                                .collect();
                            let all = elements.len();
                            elements.sort_unstable();
                            elements.dedup();
                            let expected = elements.len() < all;
                            *(if expected { &mut common } else { &mut disjoint }) += 1;
                            for layout in [layout, layout.transposed()] {
                                assert_eq!(
                                    overlap(&layout, count, stride),
                                    expected,
                                    "{count} times {layout:?}, {stride} apart"
                                );
                            }
                        }
                    }
                }
            }
        }
        assert!(disjoint > 1000 && common > 1000, "{disjoint} and {common}");
    }

    #[test]
    fn a_batch_ends_in_its_buffer() {
        let layout = MatrixLayout::column_major(2, 2);
        assert_eq!(check_batch(&layout, 14, 3, 5), Ok(()));
        assert!(matches!(
            check_batch(&layout, 13, 3, 5),
            Err(BlasError::BatchTooLong { wanted: 14, found: 13, .. })
        ));
        assert!(check_batch(&layout, 13, usize::MAX, 5).is_err());
        assert_eq!(check_batch(&layout, 0, 0, 5), Ok(()));
    }
}
