//! Memory whose element type is a value.

use super::raw::{Blocking, Memory};
use crate::error::Result;
use crate::kernel::Argument;
use crate::open::Device;
use crate::parallel::*;
use crate::scalar::{ElementType, Precision};

/// Elements of a type that is a value, in the memory of one device.
///
/// Operations that know no element type when they are compiled keep their memory so.
pub struct AnyBuffer {
    memory: Memory,
    element: ElementType,
}

impl AnyBuffer {
    /// Makes a buffer of `len` elements whose reals are `value` of 0, 1, 2 and so on.
    ///
    /// Complex elements have two reals each.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`](crate::DeviceError::AllocationTooLarge);
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn from_reals(
        device: &Device,
        element: ElementType,
        len: usize,
        value: &(dyn Fn(usize) -> f64 + Sync),
    ) -> Result<Self> {
        let memory = Memory::allocate(device.core(), len, element.bytes())?;
        let reals = (0..len * element.reals()).into_par_iter();
        let write = |data: &[u8]| {
            // SAFETY: the call is blocking: `data` outlives it.
            unsafe { memory.write(&device.core().compute, Blocking::Yes, 0, data, &[]) }.map(drop)
        };
        if len > 0 {
            match element.precision {
                Precision::Single => {
                    write(bytemuck::cast_slice(&reals.map(|k| value(k) as f32).collect::<Vec<f32>>()))
                }
                Precision::Double => write(bytemuck::cast_slice(&reals.map(value).collect::<Vec<f64>>())),
            }?;
        }
        Ok(Self { memory, element })
    }

    /// Makes an argument that kernels read: the whole buffer.
    pub fn input(&self) -> Argument<'_> {
        self.memory.whole(self.element.into(), false)
    }

    /// Makes an argument that kernels write: the whole buffer.
    pub fn output(&mut self) -> Argument<'_> {
        self.memory.whole(self.element.into(), true)
    }
}
