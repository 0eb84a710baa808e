//! The probe of memory that two devices are said to share.

use super::kernels::{PeerKernels, written};
use super::memory::{allocate, shared};
use crate::error::Result;
use crate::kernel::{Argument, Range};
use crate::memory::Buffer;
use crate::open::{Device, PeerWay};
use std::sync::Arc;
use std::time::Duration;

/// Words that one device sends the other: no round number, and more than a page.
pub(super) const WORDS: usize = 10_007;

/// Rounds of question and answer.
const ROUNDS: u32 = 100;

/// Work-items of a group on GPUs.
pub(super) const GROUP: usize = 64;

/// Two devices, and a kernel for each.
pub(super) struct Pair<'a> {
    pub devices: [&'a Device; 2],
    pub kernels: [Arc<PeerKernels>; 2],
}

/// Writes and reads memory of either device by kernels of both.
///
/// If the way has flags, kernels also wait for each other.
pub(super) fn probe(way: PeerWay, a: &Device, b: &Device) -> Result<(), String> {
    // Before anything is compiled.
    drop(allocate(way, &[a, b], 1)?);
    let words = |error: crate::DeviceError| error.to_string();
    let pair = Pair::new(a, b).map_err(words)?;
    for owner in [0, 1] {
        let users = [pair.devices[owner], pair.devices[1 - owner]];
        let mut shared = shared::<u32>(way, &users, WORDS).map_err(words)?;
        if owner == 1 {
            shared.reverse();
        }
        for (writer, seed) in [(0, 0x5eed_0001), (1, 0x0b5e_55ed), (0, 0x0dd_ba11)] {
            let found = pair.pass(&mut shared, writer, seed).map_err(words)?;
            if let Some(place) = (0..WORDS).find(|&place| found[place] != word(seed, place)) {
                let [from, to] = [writer, 1 - writer].map(|k| pair.devices[k].label());
                return Err(format!("word {place} that {from} wrote did not come to {to}"));
            }
        }
        if way.has_flags() {
            pair.ping(&mut shared, ROUNDS).map_err(words)?.ok_or("a kernel waited in vain")?;
        }
    }
    Ok(())
}

/// `WORD` of `cl/peer.cl`.
pub(super) fn word(seed: u32, place: usize) -> u32 {
    (place as u32).wrapping_mul(2_654_435_761) ^ seed
}

impl<'a> Pair<'a> {
    /// The longest time that a device waits for the other.
    pub const PATIENCE: Duration = Duration::from_secs(2);

    pub fn new(a: &'a Device, b: &'a Device) -> Result<Self> {
        Ok(Self { devices: [a, b], kernels: [PeerKernels::of(a)?, PeerKernels::of(b)?] })
    }

    /// Returns the words that one device reads after the other has written everywhere.
    fn pass(&self, shared: &mut [Buffer<u32>], writer: usize, seed: u32) -> Result<Vec<u32>> {
        let [by, reader] = [writer, 1 - writer];
        let range = Range::covering(shared[by].len(), GROUP);
        let count = Argument::value(shared[by].len() as u32);
        self.kernels[by].write.start(range, &[(&mut shared[by]).into(), Argument::value(seed), count])?;
        self.devices[by].finish()?;
        let mut copy = Buffer::uninitialised(self.devices[reader], WORDS)?;
        self.kernels[reader].read.start(range, &[(&shared[reader]).into(), (&mut copy).into(), count])?;
        copy.to_vec()
    }

    /// Plays rounds of question and answer by flags; `None` if a device waited in vain.
    pub fn ping(&self, shared: &mut [Buffer<u32>], rounds: u32) -> Result<Option<()>> {
        let mut marks = [Buffer::<u32>::zeroed(self.devices[0], 1)?, Buffer::zeroed(self.devices[1], 1)?];
        shared[0].fill(0)?;
        self.devices[0].finish()?;
        // Without rounds first: what a first launch waits for must not be the other device.
        for rounds in [0, rounds] {
            for (k, shared) in shared.iter_mut().enumerate() {
                let arguments = [
                    Argument::from(shared),
                    Argument::value(k as u32),
                    Argument::value(rounds),
                    Argument::value(Self::PATIENCE.as_millis() as u32),
                    written(&marks[k]),
                ];
                self.kernels[k].ping.start(Range::groups(1, 1), &arguments)?;
                self.devices[k].flush()?;
            }
        }
        self.devices.iter().try_for_each(|device| device.finish())?;
        let marks = marks.each_mut().map(|mark| mark.to_vec());
        let [first, second] = marks;
        Ok((first? == [0] && second? == [0]).then_some(()))
    }
}
