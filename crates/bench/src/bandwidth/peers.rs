//! Kernels of one device on the memory of another, and flags between them.

use super::{BandwidthSection, Run, subject};
use crate::text::size;
use lattice_cl::compute::{Device, DeviceError, PeerLink, Peers, TeamSums};
use lattice_cli::failure::Failure;
use lattice_files::threads::{joined, start};
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Most bytes that are written and read, unless all requested sizes are larger.
const LARGEST: u64 = 64 << 20;

/// Rounds of question and answer; their mean is one sample.
const ROUNDS: u32 = 1000;

/// Sums over all devices; their mean is one sample.
const SUMS: u32 = 200;

/// Measures every device on the memory of every other device that it can reach.
pub fn measure(run: &mut Run<'_, '_>, devices: &[Device], sizes: &[u64]) -> Result<(), Failure> {
    let fitting = sizes.iter().rev().find(|&&bytes| bytes <= LARGEST);
    let Some(&bytes) = fitting.or(sizes.first()) else { return Ok(()) };
    one_by_one(run, devices, bytes)?;
    if devices.len() > 1 && !run.session.interrupted() {
        writes_at_once(run, devices, bytes)?;
        sums(run, devices)?;
    }
    Ok(())
}

/// Measures each pair of devices while the other devices are idle.
fn one_by_one(run: &mut Run<'_, '_>, devices: &[Device], bytes: u64) -> Result<(), Failure> {
    let pairs = (0..devices.len()).flat_map(|owner| (0..devices.len()).map(move |user| (owner, user)));
    for (owner, user) in pairs.filter(|(owner, user)| owner != user) {
        if run.session.interrupted() {
            break;
        }
        // The link has been tried with numbers that differ from place to place.
        let Some(mut link) = PeerLink::new(&devices[owner], &devices[user], bytes as usize)? else {
            let between = format!("kernels of {user} do not reach the memory of {owner}");
            run.session.report.note(between);
            continue;
        };
        let way = link.way();
        run.session.report.note(format_args!("{user} on the memory of {owner}: {}", size(bytes)));
        let of = |kernel: &str| {
            subject(BandwidthSection::Peers, kernel, &format!("{user} on the memory of {owner}, {way}"))
        };
        let moved = |kernel: &str| of(kernel).with("array_bytes", bytes).bytes(bytes).by_the_wall();
        run.session.time(moved("write"), |_| Ok(link.write().map(|()| None)?))?;
        run.session.time(moved("read"), |_| Ok(link.read().map(|()| None)?))?;
        if way.has_flags() {
            run.session.time_by(of("flag there and back").unlimited(), |_| {
                let time = link.round_trip(ROUNDS)?.unwrap_or_default();
                Ok((time, None))
            })?;
        }
    }
    Ok(())
}

/// Measures kernels of all devices that write to all other devices at the same time.
///
/// Each device writes to all others in turn. No two devices write to the same device at one time.
fn writes_at_once(run: &mut Run<'_, '_>, devices: &[Device], bytes: u64) -> Result<(), Failure> {
    let count = devices.len();
    let links_of = |user: usize| -> Result<Vec<PeerLink<'_>>, DeviceError> {
        let owners = (1..count).map(|shift| &devices[(user + shift) % count]);
        let links = owners.map(|owner| PeerLink::new(owner, &devices[user], bytes as usize));
        links.filter_map(Result::transpose).collect()
    };
    let mut links = (0..count).map(links_of).collect::<Result<Vec<_>, _>>()?;
    if links.iter().any(|links| links.len() + 1 < count) {
        return Ok(());
    }
    let all = bytes * (count * (count - 1)) as u64;
    let subject = subject(BandwidthSection::Peers, "write", "each on the memory of all others, at once");
    run.session.time_by(subject.with("array_bytes", bytes).bytes(all).by_the_wall(), |_| {
        // A gate and not a barrier: a thread that does not start would let the others wait for ever.
        let (ready, gate) = (AtomicUsize::new(0), RwLock::new(()));
        let write = |links: &mut Vec<PeerLink<'_>>| {
            ready.fetch_add(1, Ordering::Release);
            drop(gate.read());
            links.iter_mut().try_for_each(PeerLink::write)
        };
        let write = &write;
        thread::scope(|scope| {
            let closed = gate.write();
            let threads = links.iter_mut().map(|links| start(scope, move || write(links)));
            let threads = threads.collect::<Result<Vec<_>, _>>()?;
            while ready.load(Ordering::Acquire) < count {
                thread::yield_now();
            }
            let begun = Instant::now();
            drop(closed);
            threads.into_iter().try_for_each(joined)?;
            Ok((begun.elapsed(), None))
        })
    })?;
    Ok(())
}

/// Measures sums over all devices: every device tells every other one its part, and waits for all.
fn sums(run: &mut Run<'_, '_>, devices: &[Device]) -> Result<(), Failure> {
    let Some(peers) = Peers::of(devices).filter(|peers| peers.way().has_flags()) else { return Ok(()) };
    let sums = TeamSums::new(&peers)?;
    let subject = subject(BandwidthSection::Peers, "sum", &format!("over all devices, {}", peers.way()));
    run.session.time_by(subject.unlimited(), |_| {
        let begun = Instant::now();
        for _ in 0..SUMS {
            let parts = devices.iter().map(|device| device.reduction(1)).collect::<Result<_, _>>()?;
            sums.add(parts)?;
        }
        devices.iter().try_for_each(Device::finish)?;
        peers.check()?;
        Ok((begun.elapsed() / SUMS, None))
    })?;
    Ok(())
}
