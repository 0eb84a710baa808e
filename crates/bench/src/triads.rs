//! Triads that move as many bytes as another launch: the rate that it can reach.

use super::session::Session;
use crate::statistics::Spread;
use lattice_cl::compute::{Device, StreamArrays, StreamKernels};
use lattice_cl::host::{PeriodicNumbers, Stream};
use lattice_cli::failure::Failure;
use std::collections::BTreeMap;

/// Triads of one device, each measured once.
pub struct Triads<'a> {
    device: &'a Device,
    kernels: StreamKernels<f64>,
    /// Seconds of the triad, by bytes.
    known: BTreeMap<u64, f64>,
}

impl<'a> Triads<'a> {
    /// Prepares the triads of a device, without measuring one.
    ///
    /// # Errors
    /// When a driver does not accept the kernels.
    pub fn new(device: &'a Device) -> Result<Self, Failure> {
        let kernels = StreamKernels::new(device, StreamKernels::<f64>::native_lanes(device.info()))?;
        Ok(Self { device, kernels, known: BTreeMap::new() })
    }

    /// Returns the median time of the triad that moves so many bytes.
    ///
    /// The time is by the device's clock. `None` if the device has no clock, or after Ctrl-C.
    ///
    /// # Errors
    /// When the device fails.
    pub fn seconds(&mut self, bytes: u64, session: &Session<'_>) -> Result<Option<f64>, Failure> {
        if let Some(&seconds) = self.known.get(&bytes) {
            return Ok(Some(seconds));
        }
        let numbers = [1, 2].map(|stream| PeriodicNumbers::new(stream, 1021));
        let len = bytes as usize / (Stream::Triad.arrays() * size_of::<f64>());
        let mut arrays = StreamArrays::new(self.device, len, 1, &numbers[0], &numbers[1])?;
        let samples =
            session.samples_of(|_| Ok(self.kernels.launch(Stream::Triad, &mut arrays, 0)?.wait()?.1))?;
        let seconds = Spread::of(&samples.event).map(|spread| spread.median);
        self.known.extend(seconds.map(|seconds| (bytes, seconds)));
        Ok(seconds)
    }
}
