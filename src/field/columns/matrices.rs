//! Transfers of small matrices to a device.

use crate::compute::{Argument, Buffer, Device, DeviceError, Pending};
use lattice_solvers::SquareMatrix;

/// Some matrices on a device, row after row, as pairs of numbers, and a flag behind them.
pub(crate) struct Matrices {
    there: Buffer<f64>,
    /// The transfer under way, whose memory on the host has to stay.
    sent: Option<Pending<Vec<f64>>>,
}

impl Matrices {
    /// Makes room for `count` matrices of so many columns.
    pub fn new(device: &Device, columns: usize, count: usize) -> Result<Self, DeviceError> {
        Ok(Self { there: Buffer::zeroed(device, count * 2 * columns * columns + 2)?, sent: None })
    }

    /// Starts to send matrices and a flag to the device, and returns their kernel argument.
    ///
    /// The queue runs in order. The matrices may therefore overwrite earlier ones that a kernel
    /// before still reads.
    pub fn send<const N: usize>(
        &mut self,
        matrices: [&SquareMatrix; N],
        flag: bool,
    ) -> Result<Argument<'_>, DeviceError> {
        let elements = matrices.into_iter().flat_map(SquareMatrix::elements);
        let numbers = elements.flat_map(|z| [z.re, z.im]).chain([f64::from(u8::from(flag)), 0.0]).collect();
        self.sent = Some(self.there.upload(numbers)?);
        Ok(Argument::from(&self.there))
    }
}
