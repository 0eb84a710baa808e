//! The caller's vectors and matrices, on the way to the device and back.

use crate::settings;
use lattice_cl::blas::{MatMut, MatRef, MatrixLayout, Order, Triangle, VecMut, VecRef, VectorLayout};
use lattice_cl::device::{Buffer, Device, Team};
use lattice_cl::scalar::Element;
use std::fmt::Display;
use std::ops::Range;
use std::slice;
use std::sync::LazyLock;

/// The device, and the process that has opened it.
static DEVICE: LazyLock<(u32, Option<Device>)> = LazyLock::new(|| (std::process::id(), open()));

fn open() -> Option<Device> {
    let device = done(Team::select(settings::device()))?.devices().first().cloned();
    if device.is_none() {
        eprintln!(
            "lattice-cl-blas: warning: there is no OpenCL device; the next library answers all calls. Install one, for \
             example PoCL"
        );
    }
    device
}

/// Returns the device, if there is one in this process.
///
/// A process that was forked cannot use the device of its parent.
fn device() -> Option<&'static Device> {
    let (process, device) = &*DEVICE;
    if *process == std::process::id() { device.as_ref() } else { None }
}

/// Tells whether this process has a device.
pub fn has_device() -> bool {
    device().is_some()
}

/// Returns the value, or warns that the next library answers this call.
pub fn done<T, E: Display>(result: Result<T, E>) -> Option<T> {
    result
        .map_err(|error| eprintln!("lattice-cl-blas: warning: the next library answers a call: {error}"))
        .ok()
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
        let values = done(self.buffer.to_vec())?;
        for (i, value) in values.into_iter().step_by(self.layout.stride).enumerate() {
            // SAFETY: this is an element of the caller's vector.
            unsafe { *self.elements.offset(place(self.len, self.increment, i)) = value }
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
        unsafe { self.store_lines(|_, length| 0..length) }
    }

    /// Copies a triangle of the matrix back.
    ///
    /// # Safety
    /// See [`store`](Self::store).
    pub unsafe fn store_triangle(&self, triangle: Triangle) -> Option<()> {
        let first_in_line = (triangle == Triangle::Upper) == (self.layout.order == Order::ColumnMajor);
        // SAFETY: the caller guarantees the same.
        unsafe { self.store_lines(|line, length| if first_in_line { 0..line + 1 } else { line..length }) }
    }

    /// Copies a range of each line back.
    ///
    /// # Safety
    /// See [`store`](Self::store). A range lies within its line.
    unsafe fn store_lines(&self, range: impl Fn(usize, usize) -> Range<usize>) -> Option<()> {
        let values = done(self.buffer.to_vec())?;
        let (lines, length) = lines(&self.layout);
        for line in 0..lines {
            let range = range(line, length);
            let from = &values[line * length..][range.clone()];
            // SAFETY: this is a part of a line of the caller's matrix, which nobody reads meanwhile.
            let to = unsafe { self.elements.add(line * self.leading + range.start) };
            // SAFETY: as above; `values` is memory of its own.
            unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        }
        Some(())
    }
}

/// Returns the number of lines, and the number of elements in each.
pub fn lines(layout: &MatrixLayout) -> (usize, usize) {
    match layout.order {
        Order::ColumnMajor => (layout.columns, layout.rows),
        Order::RowMajor => (layout.rows, layout.columns),
    }
}
