//! Vectors at a place.

use super::processor::Processor;
use crate::error::BlasResult;
use lattice_compute::scalar::Element;
use lattice_compute::{Argument, Buffer, DeviceError};

/// A vector in the memory of a [`Processor`].
#[derive(Debug)]
pub enum Vector<T> {
    /// In the host's memory.
    Host(Vec<T>),
    /// In the memory of a device.
    Device(Box<Buffer<T>>),
}

impl<T: Element> Vector<T> {
    /// Copies a slice to a place.
    ///
    /// # Errors
    /// If the device has not the memory, or fails.
    pub fn from_slice(place: &Processor, values: &[T]) -> BlasResult<Self> {
        Ok(match place {
            Processor::Host => Self::Host(values.to_vec()),
            Processor::Device(device) => Self::Device(Box::new(Buffer::from_slice(device, values)?)),
        })
    }

    /// Makes a vector of zeros.
    ///
    /// # Errors
    /// If memory is short, or the device fails.
    pub fn zero(place: &Processor, len: usize) -> BlasResult<Self> {
        Ok(match place {
            Processor::Host => Self::Host(zeros(len)?),
            Processor::Device(device) => Self::Device(Box::new(Buffer::zeroed(device, len)?)),
        })
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Host(values) => values.len(),
            Self::Device(buffer) => buffer.len(),
        }
    }

    /// Tells whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the place.
    pub fn place(&self) -> Processor {
        match self {
            Self::Host(_) => Processor::Host,
            Self::Device(buffer) => Processor::Device(buffer.device().clone()),
        }
    }

    /// Copies the elements to the host. Waits for the device.
    ///
    /// # Errors
    /// If the device fails.
    pub fn to_vec(&self) -> BlasResult<Vec<T>> {
        Ok(match self {
            Self::Host(values) => values.clone(),
            Self::Device(buffer) => buffer.to_vec()?,
        })
    }

    /// The argument of a kernel that reads the vector; none for a vector of the host.
    pub(super) fn argument(&self) -> Option<Argument<'_>> {
        match self {
            Self::Host(_) => None,
            Self::Device(buffer) => Some((&**buffer).into()),
        }
    }

    /// The argument of a kernel that writes the vector; none for a vector of the host.
    pub(super) fn argument_mut(&mut self) -> Option<Argument<'_>> {
        match self {
            Self::Host(_) => None,
            Self::Device(buffer) => Some((&mut **buffer).into()),
        }
    }

    /// Sets all elements to zero.
    ///
    /// # Errors
    /// If the device fails.
    pub fn set_zero(&mut self) -> BlasResult<()> {
        match self {
            Self::Host(values) => values.fill(T::default()),
            Self::Device(buffer) => buffer.fill(T::default())?,
        }
        Ok(())
    }
}

fn zeros<T: Element>(len: usize) -> Result<Vec<T>, DeviceError> {
    let mut values = Vec::new();
    lattice_compute::reserve(&mut values, len).map_err(DeviceError::HostMemory)?;
    values.resize(len, T::default());
    Ok(values)
}
