//! The caller's vectors and matrices, on the way to the device and back.

use crate::calls::compared;
use crate::check::{self, Compared, ReturnValue, epsilon};
use crate::devices::{device, done};
use lattice_compute::scalar::Element;
use lattice_compute::{Buffer, Device};
use lattice_linalg::{MatMut, MatRef, MatrixLayout, Order, Triangle, VecMut, VecRef, VectorLayout};
use std::ops::Range;
use std::slice;

/// A vector of the caller.
pub struct Vector<T> {
    elements: *mut T,
    len: usize,
    increment: isize,
    buffer: Buffer<T>,
    layout: VectorLayout,
}

impl<T: Element> Vector<T> {
    /// Copies `len` elements to the device.
    ///
    /// A positive increment stays the distance of the elements. Otherwise the copy is dense, in
    /// logical order.
    ///
    /// # Safety
    /// `elements` refers to a vector of this length and increment, counted like the BLAS does.
    pub unsafe fn new(len: usize, elements: *const T, increment: isize) -> Option<Self> {
        let stride = increment.max(1) as usize;
        let (logical, layout) = if increment > 0 {
            let span = if len == 0 { 0 } else { (len - 1) * stride + 1 };
            // SAFETY: the caller's vector reaches so far.
            (unsafe { elements_of(elements, span) }.to_vec(), VectorLayout::dense(len).stride(stride))
        } else {
            // SAFETY: these are the elements of the caller's vector.
            let element = |i| unsafe { *elements.offset(place(len, increment, i)) };
            ((0..len).map(element).collect(), VectorLayout::dense(len))
        };
        let buffer = done(Buffer::from_slice(device()?, &logical))?;
        Some(Self { elements: elements.cast_mut(), len, increment, buffer, layout })
    }

    /// Copies `len` elements to the device, without the memory between them.
    ///
    /// # Safety
    /// `elements` refers to a vector of this length and increment, see [`Vector::new`].
    pub unsafe fn dense(len: usize, elements: *const T, increment: isize) -> Option<Self> {
        // SAFETY: these are the elements of the caller's vector.
        let element = |i| unsafe { *elements.offset(place(len, increment, i)) };
        let buffer = done(Buffer::from_slice(device()?, &(0..len).map(element).collect::<Vec<T>>()))?;
        Some(Self { elements: elements.cast_mut(), len, increment, buffer, layout: VectorLayout::dense(len) })
    }

    pub fn read(&self) -> Option<VecRef<'_, T>> {
        done(VecRef::new(&self.buffer, self.layout))
    }

    pub fn write(&mut self) -> Option<VecMut<'_, T>> {
        done(VecMut::new(&mut self.buffer, self.layout))
    }

    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    pub fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }

    /// Copies the elements back, and nothing that is between them.
    ///
    /// # Safety
    /// The caller's vector still exists, see [`Vector::new`], and may be written.
    pub unsafe fn store(&self) -> Option<()> {
        let values = done(self.buffer.to_vec())?.into_iter().step_by(self.layout.stride);
        let (elements, len, increment) = (self.elements, self.len, self.increment);
        let at = move |i| elements.wrapping_offset(place(len, increment, i));
        if let Some(work) = compared() {
            check::keep(move || {
                // SAFETY: this is an element of the caller's vector, which the next library has written.
                let pairs =
                    values.enumerate().map(|(i, value)| [value, unsafe { *at(i) }].map(T::to_complex));
                check::ratio(pairs, Compared::Values, work.length, epsilon::<T>())
            });
            return Some(());
        }
        for (i, value) in values.enumerate() {
            // SAFETY: this is an element of the caller's vector.
            unsafe { *at(i) = value }
        }
        Some(())
    }
}

/// Returns the offset of element `i` from the caller's pointer.
///
/// With a negative increment the first element is the last in memory.
fn place(len: usize, increment: isize, i: usize) -> isize {
    let first = if increment < 0 { (1 - len as isize) * increment } else { 0 };
    first + i as isize * increment
}

/// Returns `len` elements. A length of 0 allows any pointer.
///
/// # Safety
/// `elements` refers to `len` elements.
pub unsafe fn elements_of<'a, T: Element>(elements: *const T, len: usize) -> &'a [T] {
    // SAFETY: the caller guarantees `len` elements.
    if len == 0 { &[] } else { unsafe { slice::from_raw_parts(elements, len) } }
}

/// Bytes of the lines that come back at once, if only parts of them are wanted.
const PIECE: usize = 16 << 20;

/// A matrix of the caller, which lies on the device without gaps.
pub struct Matrix<T> {
    elements: *mut T,
    leading: usize,
    buffer: Buffer<T>,
    layout: MatrixLayout,
}

impl<T: Element> Matrix<T> {
    /// Copies the matrix to the device.
    ///
    /// # Safety
    /// `elements` refers to a matrix of this layout.
    pub unsafe fn new(layout: MatrixLayout, elements: *const T) -> Option<Self> {
        let (leading, (lines, length)) = (layout.leading_dimension, lines(&layout));
        let buffer = if length == leading || lines <= 1 || length == 0 {
            // SAFETY: the caller's matrix has these elements, one after another. Without elements
            // nothing is read.
            let all = unsafe { elements_of(elements, if length == 0 { 0 } else { lines * length }) };
            Buffer::from_slice(device()?, all)
        } else {
            let mut packed = Vec::with_capacity(lines * length);
            for line in 0..lines {
                // SAFETY: this is a line of the caller's matrix.
                packed.extend_from_slice(unsafe {
                    slice::from_raw_parts(elements.add(line * leading), length)
                });
            }
            Buffer::from_slice(device()?, &packed)
        };
        let layout = layout.leading_dimension(length.max(1));
        Some(Self { elements: elements.cast_mut(), leading, buffer: done(buffer)?, layout })
    }

    /// Makes a matrix on the device whose elements are to be computed.
    ///
    /// # Safety
    /// `elements` refers to a matrix of this layout.
    pub unsafe fn output(layout: MatrixLayout, elements: *mut T) -> Option<Self> {
        let (lines, length) = lines(&layout);
        let buffer = done(Buffer::uninitialised(device()?, lines * length))?;
        let leading = layout.leading_dimension;
        Some(Self { elements, leading, buffer, layout: layout.leading_dimension(length.max(1)) })
    }

    pub fn read(&self) -> Option<MatRef<'_, T>> {
        done(MatRef::new(&self.buffer, self.layout))
    }

    pub fn write(&mut self) -> Option<MatMut<'_, T>> {
        done(MatMut::new(&mut self.buffer, self.layout))
    }

    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    pub fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }

    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// Copies the matrix back.
    ///
    /// # Safety
    /// The caller's matrix still exists, see [`Matrix::new`], and may be written.
    pub unsafe fn store(&self) -> Option<()> {
        // SAFETY: the caller guarantees the same.
        unsafe { self.store_lines(|_, length| 0..length, Compared::Values, |_, length| 0..length) }
    }

    /// Copies the matrix back, of which only a part has to agree with that of another library.
    ///
    /// # Safety
    /// See [`store`](Self::store). A range lies within its line.
    pub unsafe fn store_unlike(
        &self,
        how: Compared,
        part: impl Fn(usize, usize) -> Range<usize> + 'static,
    ) -> Option<()> {
        // SAFETY: the caller guarantees the same.
        unsafe { self.store_lines(|_, length| 0..length, how, part) }
    }

    /// Copies a triangle of the matrix back.
    ///
    /// # Safety
    /// See [`store`](Self::store).
    pub unsafe fn store_triangle(&self, triangle: Triangle) -> Option<()> {
        let first_in_line = (triangle == Triangle::Upper) == (self.layout.order == Order::ColumnMajor);
        let range = move |line, length| if first_in_line { 0..line + 1 } else { line..length };
        // SAFETY: the caller guarantees the same.
        unsafe { self.store_lines(range, Compared::Values, range) }
    }

    /// Copies a range of each line back.
    ///
    /// If the next library computes the call too, ranges of its lines are compared later instead.
    ///
    /// # Safety
    /// See [`store`](Self::store). A range lies within its line.
    unsafe fn store_lines(
        &self,
        range: impl Fn(usize, usize) -> Range<usize>,
        how: Compared,
        part: impl Fn(usize, usize) -> Range<usize> + 'static,
    ) -> Option<()> {
        let (lines, length) = lines(&self.layout);
        let (elements, leading) = (self.elements, self.leading);
        if compared().is_some() && how == Compared::Nothing {
            return Some(());
        }
        if let Some(work) = compared() {
            let values = done(self.buffer.to_vec())?;
            check::keep(move || {
                let pairs = (0..lines).flat_map(|line| part(line, length).map(move |i| (line, i)));
                let pairs = pairs.map(|(line, i)| {
                    // SAFETY: this is an element of the caller's matrix, which the next library has written.
                    let expected = unsafe { *elements.add(line * leading + i) };
                    [values[line * length + i], expected].map(T::to_complex)
                });
                check::ratio(pairs, how, work.length, epsilon::<T>())
            });
            return Some(());
        }
        if lines == 0 || length == 0 {
            return Some(());
        }
        let whole = (0..lines).all(|line| range(line, length) == (0..length));
        if whole && (length == leading || lines == 1) {
            // SAFETY: these are all elements of the caller's matrix, which nobody reads meanwhile.
            let to = unsafe { slice::from_raw_parts_mut(elements, lines * length) };
            return done(self.buffer.read(to));
        }
        let at_once = (PIECE / (length * size_of::<T>())).clamp(1, lines);
        let mut values = vec![T::default(); at_once * length];
        for first in (0..lines).step_by(at_once) {
            let count = at_once.min(lines - first);
            let piece = done(self.buffer.slice(first * length..(first + count) * length))?;
            done(piece.read(&mut values[..count * length]))?;
            for (line, from) in (first..).zip(values[..count * length].chunks_exact(length)) {
                let range = range(line, length);
                let from = &from[range.clone()];
                // SAFETY: this is a part of a line of the caller's matrix, which nobody reads meanwhile.
                let to = unsafe { elements.add(line * leading + range.start) };
                // SAFETY: as above; `values` is memory of its own.
                unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
            }
        }
        Some(())
    }
}

/// Writes numbers to the caller, or compares them with those of the next library.
///
/// # Safety
/// `to` has room for all.
pub unsafe fn store_numbers<V: ReturnValue + Copy + 'static>(numbers: Vec<V>, to: *mut V) {
    if let Some(work) = compared() {
        check::keep(move || {
            // SAFETY: the next library has written these numbers.
            let pairs = numbers.iter().enumerate().map(|(i, number)| [*number, unsafe { *to.add(i) }]);
            check::ratio(pairs.map(|pair| pair.map(|n| n.wide())), Compared::Values, work.length, V::EPSILON)
        });
        return;
    }
    for (i, number) in numbers.into_iter().enumerate() {
        // SAFETY: the caller guarantees the room.
        unsafe { *to.add(i) = number };
    }
}

/// Returns the number of lines, and the number of elements in each.
pub fn lines(layout: &MatrixLayout) -> (usize, usize) {
    match layout.order {
        Order::ColumnMajor => (layout.columns, layout.rows),
        Order::RowMajor => (layout.rows, layout.columns),
    }
}
