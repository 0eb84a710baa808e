//! The caller's vectors and matrices, on the way to the device and back.

use lattice_cl::blas::{MatMut, MatRef, MatrixLayout, Order, VecMut, VecRef, VectorLayout};
use lattice_cl::device::{Buffer, Device, Selector, Team};
use lattice_cl::scalar::Element;
use std::fmt::Display;
use std::slice;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(|| {
    let team = done(Team::select(Selector::Auto));
    team.devices()
        .first()
        .expect("lattice-cl-blas: there is no OpenCL device; install one, for example PoCL")
        .clone()
});

/// Returns the value, or ends the process with a message.
pub fn done<T, E: Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("lattice-cl-blas: error: {error}"))
}

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
    pub unsafe fn new(len: usize, elements: *const T, increment: isize) -> Self {
        let stride = increment.max(1) as usize;
        let (logical, layout) = if increment > 0 {
            let span = if len == 0 { 0 } else { (len - 1) * stride + 1 };
            // SAFETY: the caller's vector reaches so far.
            (unsafe { read(elements, span) }, VectorLayout::dense(len).stride(stride))
        } else {
            // SAFETY: these are the elements of the caller's vector.
            let element = |i| unsafe { *elements.offset(place(len, increment, i)) };
            ((0..len).map(element).collect(), VectorLayout::dense(len))
        };
        let buffer = done(Buffer::from_slice(&DEVICE, &logical));
        Self { elements: elements.cast_mut(), len, increment, buffer, layout }
    }

    /// Copies `len` elements to the device, without the memory between them.
    ///
    /// # Safety
    /// `elements` refers to a vector of this length and increment, see [`Vector::new`].
    pub unsafe fn dense(len: usize, elements: *const T, increment: isize) -> Self {
        // SAFETY: these are the elements of the caller's vector.
        let element = |i| unsafe { *elements.offset(place(len, increment, i)) };
        let buffer = done(Buffer::from_slice(&DEVICE, &(0..len).map(element).collect::<Vec<T>>()));
        Self { elements: elements.cast_mut(), len, increment, buffer, layout: VectorLayout::dense(len) }
    }

    pub fn read(&self) -> VecRef<'_, T> {
        done(VecRef::new(&self.buffer, self.layout))
    }

    pub fn write(&mut self) -> VecMut<'_, T> {
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
    pub unsafe fn store(&self) {
        let values = done(self.buffer.to_vec());
        for (i, value) in values.into_iter().step_by(self.layout.stride).enumerate() {
            // SAFETY: this is an element of the caller's vector.
            unsafe { *self.elements.offset(place(self.len, self.increment, i)) = value }
        }
    }
}

/// Returns the offset of element `i` from the caller's pointer.
///
/// With a negative increment the first element is the last in memory.
fn place(len: usize, increment: isize, i: usize) -> isize {
    let first = if increment < 0 { (1 - len as isize) * increment } else { 0 };
    first + i as isize * increment
}

/// Copies `len` elements. A length of 0 allows any pointer.
///
/// # Safety
/// `elements` refers to `len` elements.
unsafe fn read<T: Element>(elements: *const T, len: usize) -> Vec<T> {
    // SAFETY: the caller guarantees `len` elements.
    if len == 0 { Vec::new() } else { unsafe { slice::from_raw_parts(elements, len) }.to_vec() }
}

/// A matrix of the caller.
pub struct Matrix<T> {
    elements: *mut T,
    buffer: Buffer<T>,
    layout: MatrixLayout,
}

impl<T: Element> Matrix<T> {
    /// Copies the matrix to the device, with the memory between its lines.
    ///
    /// # Safety
    /// `elements` refers to a matrix of this layout.
    pub unsafe fn new(layout: MatrixLayout, elements: *const T) -> Self {
        let (lines, length) = lines(&layout);
        let span = if layout.is_empty() { 0 } else { (lines - 1) * layout.leading_dimension + length };
        // SAFETY: the caller's matrix reaches so far.
        let buffer = done(Buffer::from_slice(&DEVICE, &unsafe { read(elements, span) }));
        Self { elements: elements.cast_mut(), buffer, layout }
    }

    pub fn read(&self) -> MatRef<'_, T> {
        done(MatRef::new(&self.buffer, self.layout))
    }

    pub fn write(&mut self) -> MatMut<'_, T> {
        done(MatMut::new(&mut self.buffer, self.layout))
    }

    /// Copies the matrix back, with the memory between its lines.
    ///
    /// Kernels must not write between the lines. The caller sees there if a kernel did.
    ///
    /// # Safety
    /// The caller's matrix still exists, see [`Matrix::new`], and may be written.
    pub unsafe fn store(&self) {
        for (i, value) in done(self.buffer.to_vec()).into_iter().enumerate() {
            // SAFETY: as many elements were read from here.
            unsafe { *self.elements.add(i) = value }
        }
    }
}

/// Returns the number of lines, and the number of elements in each.
pub fn lines(layout: &MatrixLayout) -> (usize, usize) {
    match layout.order {
        Order::ColumnMajor => (layout.columns, layout.rows),
        Order::RowMajor => (layout.rows, layout.columns),
    }
}
