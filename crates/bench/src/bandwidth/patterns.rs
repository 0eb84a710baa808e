//! Reads in a row, misaligned, with a stride and at random.
//!
//! Places are computed from an index, or read from a list.

use super::streams::{room, stretches};
use super::{BandwidthSection, Run, subject};
use crate::session::wrong;
use lattice_cl::compute::parallel::*;
use lattice_cl::compute::{AccessKernels, Buffer, Device, GatherList, repeated};
use lattice_cl::host::streams::random_places;
use lattice_cli::failure::Failure;

/// The stride, and the number of elements by which misaligned reads are off.
const SEVEN: usize = 7;

/// Largest array that is written.
///
/// The array that is read is seven times as large, and its places are 32-bit numbers.
const LARGEST: u64 = 512 << 20;

/// The rule that gives the element of x for element i of y.
enum Pattern {
    Strided { start: usize, stride: usize },
    Listed { list: GatherList, places: Vec<u32> },
}

impl Pattern {
    fn place(&self, i: usize) -> usize {
        match self {
            Pattern::Strided { start, stride } => start + stride * i,
            Pattern::Listed { places, .. } => places[i] as usize,
        }
    }
}

pub fn measure(run: &mut Run<'_, '_>, number: usize, device: &Device, sizes: &[u64]) -> Result<(), Failure> {
    // Beyond the cache if the device has room: nothing is rotated here.
    let room = room(device.info());
    let Some(&bytes) =
        sizes.iter().rev().find(|&&bytes| bytes <= LARGEST && (SEVEN as u64 + 2) * bytes <= room)
    else {
        run.session
            .report
            .note(format_args!("{}: no size is small enough for patterns of access", device.label()));
        return Ok(());
    };
    let count = bytes as usize / size_of::<f64>();
    let kernels = AccessKernels::new(device)?;
    let x = repeated(device, &run.b.to_vec::<f64>(), SEVEN * count + SEVEN)?;
    let mut y = Buffer::<f64>::zeroed(device, count)?;
    for (name, start, stride) in
        [("coalesced", 0, 1), ("misaligned by 7", SEVEN, 1), ("stride 7", 0, SEVEN), ("random", 0, 0)]
    {
        for listed in [false, true] {
            let random = stride == 0;
            if run.session.interrupted() || random && !listed {
                continue;
            }
            let pattern = if listed {
                let places: Vec<u32> = if random {
                    random_places(count, count as u32)
                } else {
                    (0..count).into_par_iter().map(|i| (start + stride * i) as u32).collect()
                };
                Pattern::Listed { list: GatherList::new(device, &places)?, places }
            } else {
                Pattern::Strided { start, stride }
            };
            let launch = |y: &mut Buffer<f64>| match &pattern {
                Pattern::Strided { start, stride } => kernels.strided(y, &x, *start, *stride),
                Pattern::Listed { list, .. } => kernels.gather(y, &x, list),
            };
            let variant = if listed { "by list" } else { "by arithmetic" };
            run.session.report.note(format_args!("{}: reads {name}, {variant}", device.label()));
            y.fill(f64::NAN)?;
            launch(&mut y)?.wait()?;
            for (offset, len) in stretches(count) {
                let found = y.slice(offset..offset + len)?.to_vec()?;
                let expected = |i: usize| -> f64 { run.b.at(pattern.place(offset + i)) };
                let mismatch = found.par_iter().enumerate().find_first(|(i, found)| **found != expected(*i));
                if let Some((i, &found)) = mismatch {
                    return Err(wrong(format!("{}: {name} {variant}", device.label()), expected(i), found));
                }
            }
            let array_bytes = (count * size_of::<f64>()) as u64;
            let list_bytes = if listed { (count * size_of::<u32>()) as u64 } else { 0 };
            let subject = subject(BandwidthSection::Patterns, name, variant)
                .on(number)
                .with("precision", "double")
                .with("array_bytes", array_bytes)
                .with("in_cache", 3 * array_bytes <= device.info().cache_bytes / 2)
                .bytes(2 * array_bytes + list_bytes);
            run.session.time(subject, |_| Ok(launch(&mut y)?.duration()?))?;
        }
    }
    Ok(())
}
