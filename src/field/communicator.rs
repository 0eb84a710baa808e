//! The interface by which faces and sums travel between the domains of a lattice.

use super::faces::Exchange;
use crate::compute::{DeviceError, Meeting, Number, Reduction, TeamSums};
use crate::geometry::{Lattice, Shard};
use bytemuck::Pod;
use num_complex::Complex64;

/// The part of the code that knows where the other domains of a lattice are.
///
/// All other code knows its own domain alone.
pub(crate) trait Communicator {
    /// Makes faces for every domain of this process, in the directions that are cut.
    ///
    /// `numbers` gives the count of numbers on each side.
    ///
    /// # Errors
    /// When there is no memory for the faces.
    fn faces<R: Pod + Send>(
        &self,
        lattice: &Lattice,
        numbers: impl Fn(&Shard, usize) -> usize,
    ) -> Result<Exchange<R>, DeviceError>;

    /// Carries the packed faces of each domain to its neighbours.
    ///
    /// A neighbour receives from behind the data that a domain sends ahead.
    ///
    /// Kernels that are launched later find the received data. All faces are packed before any data
    /// is written. So no earlier kernel of these queues still reads the data received last.
    ///
    /// # Errors
    /// When a transfer fails.
    fn exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError>;

    /// Carries faces like [`exchange`](Self::exchange), without waiting for messages.
    ///
    /// If the result is `true`, the caller calls [`finish_exchange`](Self::finish_exchange) before
    /// it launches kernels that read received data. Other kernels may be launched before.
    ///
    /// # Errors
    /// When a transfer fails.
    fn start_exchange<R: Pod + Send>(&self, exchange: &mut Exchange<R>) -> Result<bool, DeviceError> {
        self.exchange(exchange).map(|()| false)
    }

    /// Finishes an exchange that [`start_exchange`](Self::start_exchange) has begun.
    ///
    /// # Errors
    /// When a transfer fails.
    fn finish_exchange<R: Pod + Send>(&self, _: &mut Exchange<R>) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Adds the sums of a launch on each device of this process over all domains.
    ///
    /// The sums are added in the order of the domains.
    ///
    /// # Errors
    /// When other processes do not deliver their sums.
    fn numbers(&self, running: Vec<Reduction>) -> Result<[Number; 2], DeviceError>;

    /// Prepares a sum that kernels add by themselves; `None` unless they can.
    fn meeting(&self) -> Option<Meeting<'_>>;

    /// Adds the sums of a launch like [`numbers`](Self::numbers), on the host.
    ///
    /// # Errors
    /// When other processes do not deliver their sums.
    fn numbers_by_host(&self, running: Vec<Reduction>) -> Result<[Number; 2], DeviceError> {
        for reduction in &running {
            reduction.device().flush_launches()?;
        }
        let parts = running.into_iter().map(Reduction::read).collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<&[f64]> = parts.iter().map(|part| &part[..]).collect();
        let mut sums = [0.0; 3];
        self.sum(&parts, &mut sums)?;
        let [re, im, real] = sums;
        Ok([Complex64::new(re, im), Complex64::from(real)].map(Number::of_host))
    }

    /// Returns `true` if [`numbers`](Self::numbers) stay on the devices.
    ///
    /// The host then waits for nothing.
    fn keeps_numbers(&self) -> bool;

    /// Returns the memory in which devices of several domains add sums.
    ///
    /// `None` if [`numbers`](Self::numbers) do not stay on the devices, or if there is one domain.
    fn team_sums(&self) -> Option<&TeamSums>;

    /// Sets `total` to the sum over all domains of equally long arrays.
    ///
    /// `parts` has the arrays of the domains of this process. All arrays are added in the order of
    /// the domains.
    ///
    /// # Errors
    /// When other processes do not deliver their arrays.
    fn sum(&self, parts: &[&[f64]], total: &mut [f64]) -> Result<(), DeviceError>;
}
