//! Rates of the devices of a team.
//!
//! They are measured alone, at the same time, and between two devices.

use super::bandwidth::triad_bandwidth;
use crate::error::Result;
use crate::memory::{Buffer, Pending, PinnedBuffer};
use crate::open::{Device, PeerWay, Team};
use crate::peer::{PeerCopies, PeerLink, Peers};
use lattice_files::threads::together;
use std::time::{Duration, Instant};

/// Bytes of a short message and of a long one.
const MESSAGES: [usize; 2] = [4 << 10, 8 << 20];

/// Number of times that each message is sent. The quickest counts.
const REPEATS: usize = 5;

/// Rounds of question and answer by flags.
const ROUNDS: u32 = 1000;

/// Rates of the devices of a team.
#[derive(Clone, Debug, PartialEq)]
pub struct TeamRates {
    /// Bytes per second of each device in its memory, while the others rest.
    pub alone: Vec<f64>,
    /// Bytes per second of each device in its memory, while all devices work.
    ///
    /// The rates are lower if devices share memory or a processor.
    pub together: Vec<f64>,
    /// The way to each other's memory; `None` if messages go through the host.
    pub way: Option<PeerWay>,
    /// Time of a short message from the first device to the second.
    pub latency: Duration,
    /// Bytes per second of a long message.
    pub message: f64,
}

impl TeamRates {
    /// Measures a team; `None` unless the team has several devices.
    ///
    /// The measurement takes about half a second for each device.
    ///
    /// # Errors
    /// All errors of [`triad_bandwidth`] and of transfers.
    pub fn measure(team: &Team) -> Result<Option<Self>> {
        let [first, second, ..] = team.devices() else { return Ok(None) };
        let alone = team.devices().iter().map(triad_bandwidth).collect::<Result<_>>()?;
        let measured = together(team.devices().iter().map(|device| || triad_bandwidth(device)))?;
        let together = measured.into_iter().collect::<Result<_>>()?;
        let way = Peers::of(team.devices()).map(|peers| peers.way());
        let copies = if way.is_none() { Peers::copies(team.devices()) } else { None };
        let way = way.or(copies.map(|_| PeerWay::Amd));
        let mut times = [Duration::ZERO; 2];
        for (time, bytes) in times.iter_mut().zip(MESSAGES) {
            *time = match (way, copies) {
                (_, Some(copies)) => copy_time(copies, first, second, bytes)?,
                (Some(_), None) => write_time(first, second, bytes)?,
                (None, None) => staged_time(first, second, bytes)?,
            };
        }
        let [short, long] = times;
        let seconds = long.saturating_sub(short).max(long / 100).as_secs_f64();
        let round = match way.is_some_and(PeerWay::has_flags) {
            true => {
                PeerLink::new(second, first, 1 << 12)?.map(|mut link| link.round_trip(ROUNDS)).transpose()?
            }
            false => None,
        };
        Ok(Some(Self {
            alone,
            together,
            way,
            latency: round.flatten().map_or(short, |round| round / 2),
            message: (MESSAGES[1] - MESSAGES[0]) as f64 / seconds,
        }))
    }
}

/// Returns the least time of some calls.
fn quickest(mut call: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..=REPEATS {
        let begun = Instant::now();
        call()?;
        best = best.min(begun.elapsed());
    }
    Ok(best)
}

/// Returns the time of a kernel that writes into the other device's memory.
///
/// The time ends when the host knows it.
fn write_time(from: &Device, to: &Device, bytes: usize) -> Result<Duration> {
    match PeerLink::new(to, from, bytes)? {
        Some(mut link) => quickest(|| link.write()),
        None => staged_time(from, to, bytes),
    }
}

/// Returns the time of a copy by the driver from a device to another.
fn copy_time(copies: PeerCopies, from: &Device, to: &Device, bytes: usize) -> Result<Duration> {
    let source = Buffer::<u8>::zeroed(from, bytes)?;
    let mut destination = Buffer::<u8>::zeroed(to, bytes)?;
    quickest(|| copies.start(source.slice(..)?, destination.slice_mut(..)?, &[])?.wait())
}

/// Returns the time of a message from a device to another through pinned memory.
///
/// Without a common context the host copies from pinned memory of one device to that of the other.
fn staged_time(from: &Device, to: &Device, bytes: usize) -> Result<Duration> {
    let source = Buffer::<u8>::zeroed(from, bytes)?;
    let mut destination = Buffer::<u8>::zeroed(to, bytes)?;
    if from.shares_context(to) {
        let mut last = None;
        return quickest(|| {
            let read = match last.take() {
                Some(last) => Pending::read_start_from(last, &source, &[])?,
                None => PinnedBuffer::zeroed(from, bytes)?.read_start_from(&source, &[])?,
            };
            let passed = read.pass_to(&mut destination)?;
            passed.event().wait()?;
            last = Some(passed);
            Ok(())
        });
    }
    let pinned = |device| PinnedBuffer::<u8>::zeroed(device, bytes);
    let mut pinned = Some((pinned(from)?, pinned(to)?));
    quickest(|| {
        let Some((sent, mut arrival)) = pinned.take() else { return Ok(()) };
        let sent = sent.read_from(&source, &[])?.wait()?;
        arrival.copy_start(&sent, bytes)?;
        let arrival = arrival.write_to(&mut destination, &[])?.wait()?;
        pinned = Some((sent, arrival));
        Ok(())
    })
}
