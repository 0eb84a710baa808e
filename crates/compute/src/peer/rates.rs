//! The rate at which kernels reach the memory of another device.

use super::memory::shared;
use super::peers::Peers;
use super::probe::Pair;
use crate::error::{DeviceError, Result};
use crate::kernel::{Argument, Range};
use crate::memory::Buffer;
use crate::open::{Device, PeerWay};
use crate::select::DeviceKind;
use std::time::{Duration, Instant};

/// Number of bytes that are written and read.
const BYTES: usize = 64 << 20;

/// Number of passes for each rate; the best counts.
const REPEATS: usize = 5;

/// Rounds of question and answer.
const ROUNDS: u32 = 10_000;

/// Work-items of a group on GPUs.
const GROUP: usize = 256;

/// The rates of a device's kernels on another device's memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeerRates {
    /// Bytes per second that are written there.
    pub write: f64,
    /// Bytes per second that are read there.
    pub read: f64,
    /// Time of a question and an answer by flags there, if the way has flags.
    pub round_trip: Option<Duration>,
}

/// Memory of one device, and kernels of another that write and read it.
pub struct PeerLink<'a> {
    way: PeerWay,
    pair: Pair<'a>,
    shared: Vec<Buffer<u32>>,
    plain: Buffer<u32>,
}

impl<'a> PeerLink<'a> {
    /// Allocates so many bytes of `owner`, for kernels of `user`.
    ///
    /// Returns `None` if the kernels cannot reach the memory.
    ///
    /// # Errors
    /// [`DeviceError::PeerMemory`]; [`DeviceError::OpenCl`].
    pub fn new(owner: &'a Device, user: &'a Device, bytes: usize) -> Result<Option<Self>> {
        let Some(way) = Peers::link(owner, user).filter(|way| way.is_memory()) else { return Ok(None) };
        let len = (bytes / size_of::<u32>()).max(1);
        let shared = shared(way, &[owner, user], len)?;
        Ok(Some(Self { way, pair: Pair::new(owner, user)?, shared, plain: Buffer::zeroed(user, len)? }))
    }

    /// Returns the way.
    pub fn way(&self) -> PeerWay {
        self.way
    }

    fn range_and_count(&self) -> (Range, Argument<'static>) {
        let info = self.pair.devices[1].info();
        let range = match info.kind {
            DeviceKind::Cpu => Range::groups(info.compute_units.max(1), 1),
            _ => Range::groups(8 * info.compute_units.max(1), GROUP),
        };
        (range, Argument::value(self.plain.len() as u32))
    }

    /// Writes all of the memory, and waits.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn write(&mut self) -> Result<()> {
        let (range, count) = self.range_and_count();
        let arguments = [Argument::from(&mut self.shared[1]), Argument::value(1_u32), count];
        self.pair.kernels[1].write.start(range, &arguments)?;
        self.pair.devices[1].finish()
    }

    /// Reads all of the memory, and waits.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn read(&mut self) -> Result<()> {
        let (range, count) = self.range_and_count();
        let arguments = [Argument::from(&self.shared[1]), Argument::from(&mut self.plain), count];
        self.pair.kernels[1].read.start(range, &arguments)?;
        self.pair.devices[1].finish()
    }

    /// Returns the mean time of a round of question and answer by flags there.
    ///
    /// The mean is over `rounds` rounds. The result is `None` if the way has no flags.
    ///
    /// # Errors
    /// [`DeviceError::PeerTimeout`]; [`DeviceError::OpenCl`].
    pub fn round_trip(&mut self, rounds: u32) -> Result<Option<Duration>> {
        if !self.way.has_flags() {
            return Ok(None);
        }
        let begun = Instant::now();
        self.pair.ping(&mut self.shared, rounds)?.ok_or_else(|| DeviceError::PeerTimeout {
            waiter: self.pair.devices[1].label().to_owned(),
            awaited: self.pair.devices[0].label().to_owned(),
            seconds: Pair::PATIENCE.as_secs_f64(),
        })?;
        Ok(Some(begun.elapsed() / rounds.max(1)))
    }
}

impl PeerRates {
    /// Measures kernels of `user` on memory of `owner`.
    ///
    /// Returns `None` if the kernels cannot reach the memory.
    ///
    /// # Errors
    /// All errors of [`PeerLink`].
    pub fn measure(owner: &Device, user: &Device) -> Result<Option<Self>> {
        let Some(mut link) = PeerLink::new(owner, user, BYTES)? else { return Ok(None) };
        let write = best_rate(|| link.write())?;
        let read = best_rate(|| link.read())?;
        Ok(Some(Self { write, read, round_trip: link.round_trip(ROUNDS)? }))
    }
}

/// Returns the bytes per second of the best pass.
fn best_rate(mut pass: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = Duration::MAX;
    for _ in 0..=REPEATS {
        let begun = Instant::now();
        pass()?;
        best = best.min(begun.elapsed());
    }
    Ok(BYTES as f64 / best.as_secs_f64())
}
