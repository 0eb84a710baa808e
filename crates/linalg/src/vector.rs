//! Vectors in device buffers whose elements need not be neighbours.

use super::error::{BlasError, BlasResult};
use bytemuck::Pod;
use lattice_compute::{Argument, Buffer, BufferView, BufferViewMut, Device};

/// The place of a vector's elements in a buffer.
///
/// Element i is number `offset + i·stride` of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VectorLayout {
    /// Number of elements.
    pub len: usize,
    /// Elements of the buffer from one element of the vector to the next.
    pub stride: usize,
    /// Number of the first element.
    pub offset: usize,
}

impl VectorLayout {
    /// Lays elements one after another, from the start of the buffer.
    pub fn dense(len: usize) -> Self {
        Self { len, stride: 1, offset: 0 }
    }

    /// Sets the distance between elements.
    pub fn stride(self, stride: usize) -> Self {
        Self { stride, ..self }
    }

    /// Sets the number of the first element.
    pub fn offset(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    fn check(&self, len: usize) -> BlasResult<()> {
        if self.stride == 0 {
            return Err(BlasError::NoStride { len: self.len });
        }
        let end = || (self.len - 1).checked_mul(self.stride)?.checked_add(self.offset)?.checked_add(1);
        let wanted = if self.len == 0 { self.offset } else { end().unwrap_or(usize::MAX) };
        if wanted > len {
            let Self { len: elements, stride, offset } = *self;
            return Err(BlasError::VectorTooLong { elements, stride, offset, wanted, found: len });
        }
        Ok(())
    }
}

/// A vector that is read.
///
/// A whole buffer, or a part of one, is a vector of its elements.
#[derive(Clone, Copy, Debug)]
pub struct VecRef<'a, T> {
    buffer: BufferView<'a, T>,
    layout: VectorLayout,
}

/// A vector that is written.
///
/// A whole buffer, or a part of one, is a vector of its elements.
#[derive(Debug)]
pub struct VecMut<'a, T> {
    buffer: BufferViewMut<'a, T>,
    layout: VectorLayout,
}

impl<'a, T: Pod> VecRef<'a, T> {
    /// Makes the vector of this layout in a buffer or a part of one.
    ///
    /// The layout's offset counts from the start of the part.
    ///
    /// # Errors
    /// [`BlasError::NoStride`]; [`BlasError::VectorTooLong`].
    pub fn new(buffer: impl Into<BufferView<'a, T>>, layout: VectorLayout) -> BlasResult<Self> {
        let buffer = buffer.into();
        layout.check(buffer.len())?;
        Ok(Self { buffer, layout })
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.layout.len
    }

    /// `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.layout.len == 0
    }

    /// Returns the place of the elements.
    pub fn layout(&self) -> &VectorLayout {
        &self.layout
    }

    /// Returns the device whose memory this is.
    pub fn device(&self) -> &'a Device {
        self.buffer.device()
    }
}

impl<'a, T: Pod> VecMut<'a, T> {
    /// Makes the vector of this layout in a buffer or a part of one.
    ///
    /// The layout's offset counts from the start of the part.
    ///
    /// # Errors
    /// [`BlasError::NoStride`]; [`BlasError::VectorTooLong`].
    pub fn new(buffer: impl Into<BufferViewMut<'a, T>>, layout: VectorLayout) -> BlasResult<Self> {
        let buffer = buffer.into();
        layout.check(buffer.len())?;
        Ok(Self { buffer, layout })
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.layout.len
    }

    /// `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.layout.len == 0
    }

    /// Returns the place of the elements.
    pub fn layout(&self) -> &VectorLayout {
        &self.layout
    }

    /// Returns the device whose memory this is.
    pub fn device(&self) -> &'a Device {
        self.buffer.device()
    }
}

impl<'a, T: Pod> From<BufferView<'a, T>> for VecRef<'a, T> {
    fn from(buffer: BufferView<'a, T>) -> Self {
        Self { buffer, layout: VectorLayout::dense(buffer.len()) }
    }
}

impl<'a, T: Pod> From<&'a Buffer<T>> for VecRef<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        buffer.view().into()
    }
}

impl<'a, T: Pod> From<BufferViewMut<'a, T>> for VecMut<'a, T> {
    fn from(buffer: BufferViewMut<'a, T>) -> Self {
        let layout = VectorLayout::dense(buffer.len());
        Self { buffer, layout }
    }
}

impl<'a, T: Pod> From<&'a mut Buffer<T>> for VecMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        buffer.view_mut().into()
    }
}

/// A vector that an operation is given.
///
/// The type of the elements is a value. The vector is made of a checked view.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// The elements from the first one on.
    pub elements: Argument<'a>,
    pub len: usize,
    pub stride: usize,
    pub device: &'a Device,
}

impl<'a> Line<'a> {
    /// Returns elements and stride as arguments.
    pub fn arguments(&self) -> [Argument<'a>; 2] {
        [self.elements, Argument::value(self.stride as u64)]
    }
}

impl<'a, T: Pod> From<VecRef<'a, T>> for Line<'a> {
    fn from(VecRef { buffer, layout }: VecRef<'a, T>) -> Self {
        let VectorLayout { len, stride, offset } = layout;
        Self { elements: Argument::from(buffer).skip(offset), len, stride, device: buffer.device() }
    }
}

impl<'a, T: Pod> From<VecMut<'a, T>> for Line<'a> {
    fn from(VecMut { buffer, layout }: VecMut<'a, T>) -> Self {
        let (device, VectorLayout { len, stride, offset }) = (buffer.device(), layout);
        Self { elements: Argument::from(buffer).skip(offset), len, stride, device }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_checked_against_its_buffer() {
        let layout = VectorLayout::dense(4).stride(3).offset(2);
        assert_eq!(layout.check(12), Ok(()));
        assert!(matches!(layout.check(11), Err(BlasError::VectorTooLong { wanted: 12, found: 11, .. })));
        assert!(matches!(layout.stride(0).check(12), Err(BlasError::NoStride { len: 4 })));
        let huge = VectorLayout::dense(usize::MAX).stride(2);
        assert!(matches!(huge.check(12), Err(BlasError::VectorTooLong { wanted: usize::MAX, .. })));
        assert_eq!(VectorLayout::dense(0).check(0), Ok(()));
    }
}
