//! Kernels of one device on the memory of another, and flags between them.

use super::{Part, Run, subject};
use crate::bench::text::size;
use crate::failure::Failure;
use lattice_cl::device::{Device, PeerLink};

/// Most bytes that are written and read, unless all requested sizes are larger.
const LARGEST: u64 = 64 << 20;

/// Rounds of question and answer; their mean is one sample.
const ROUNDS: u32 = 1000;

/// Measures every device on the memory of every other device that it can reach.
pub fn measure(run: &mut Run<'_, '_>, devices: &[Device], sizes: &[u64]) -> Result<(), Failure> {
    let fitting = sizes.iter().rev().find(|&&bytes| bytes <= LARGEST);
    let Some(&bytes) = fitting.or(sizes.first()) else { return Ok(()) };
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
        let of =
            |kernel: &str| subject(Part::Peers, kernel, &format!("{user} on the memory of {owner}, {way}"));
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
