//! How faces and sums travel between the domains of a lattice.

use super::faces::Exchange;
use crate::device::{DeviceError, Number, Reduction};
use crate::geometry::{Lattice, Shard};
use bytemuck::Pod;
use num_complex::Complex64;

/// What knows where the other domains of a lattice are. Everything else knows its own domain alone.
pub(crate) trait Communicator {
    /// Faces for every domain of this process, in the directions that are cut: with so many numbers on each side.
    ///
    /// # Errors
    /// When there is no memory for them.
    fn faces<R: Pod>(
        &self,
        lattice: &Lattice,
        numbers: impl Fn(&Shard, usize) -> usize,
    ) -> Result<Exchange<R>, DeviceError>;

    /// Carries the packed faces of each domain to its neighbours: what one sends ahead the next one receives from behind.
    ///
    /// Kernels that are launched later find there what was received. Before anything is written, all faces have been packed,
    /// so that no earlier kernel of these queues still reads what was received last.
    ///
    /// # Errors
    /// When a transfer fails.
    fn exchange<R: Pod>(&self, exchange: &mut Exchange<R>) -> Result<(), DeviceError>;

    /// As [`exchange`](Self::exchange), but the host may have to wait for messages: true if [`finish_exchange`](Self::finish_exchange) is still to be
    /// called before kernels are launched that read what is received. Others may be launched before.
    ///
    /// # Errors
    /// When a transfer fails.
    fn start_exchange<R: Pod>(&self, exchange: &mut Exchange<R>) -> Result<bool, DeviceError> {
        self.exchange(exchange).map(|()| false)
    }

    /// Ends what [`start_exchange`](Self::start_exchange) has begun.
    ///
    /// # Errors
    /// When a transfer fails.
    fn finish_exchange<R: Pod>(&self, _: &mut Exchange<R>) -> Result<(), DeviceError> {
        Ok(())
    }

    /// The sums of a launch on each device of this process, added over all domains in their order.
    ///
    /// # Errors
    /// When numbers cannot be had from elsewhere.
    fn numbers(&self, running: Vec<Reduction>) -> Result<[Number; 2], DeviceError>;

    /// Adds the sums of a launch on each device of this process on the host, over all domains in their order.
    ///
    /// # Errors
    /// When numbers cannot be had from elsewhere.
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

    /// Whether [`numbers`](Self::numbers) stay on the devices, and the host waits for nothing.
    fn keeps_numbers(&self) -> bool;

    /// total = the sum over all domains of equally long arrays; `parts` has those of this process, which are added in their order.
    ///
    /// # Errors
    /// When numbers cannot be had from elsewhere.
    fn sum(&self, parts: &[&[f64]], total: &mut [f64]) -> Result<(), DeviceError>;
}
