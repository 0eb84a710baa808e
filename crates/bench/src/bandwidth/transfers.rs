//! Transfers between the host and a device, and from device to device.
//!
//! The host's memory is pageable, pinned or mapped.

use super::{BandwidthSection, Run, subject};
use crate::session::wrong;
use crate::text::size;
use lattice_cl::compute::parallel::*;
use lattice_cl::compute::{Buffer, Device, PinnedBuffer};
use lattice_cli::failure::Failure;
use lattice_files::threads::{joined, start};
use std::thread;

/// Largest transfer that is measured; larger ones are no faster.
const LARGEST: u64 = 256 << 20;

/// Smallest transfer that is measured, unless all sizes are smaller.
///
/// A smaller transfer is all latency.
const SMALLEST: u64 = 64 << 10;

/// Memory on the host and on the device for transfers of one size.
struct Memory {
    numbers: Vec<f64>,
    back: Vec<f64>,
    there: Buffer<f64>,
    full: Buffer<f64>,
}

impl Memory {
    fn new(run: &Run<'_, '_>, device: &Device, bytes: u64) -> Result<Self, Failure> {
        let len = bytes as usize / size_of::<f64>();
        let numbers: Vec<f64> = run.b.repeated(len);
        Ok(Self {
            back: vec![f64::NAN; len],
            there: Buffer::zeroed(device, len)?,
            full: Buffer::from_slice(device, &numbers)?,
            numbers,
        })
    }

    /// Checks the numbers on the device, and overwrites them with NaN.
    fn check_there(&mut self, what: &str) -> Result<(), Failure> {
        let found = self.there.to_vec()?;
        self.there.fill(f64::NAN)?;
        self.there.device().finish()?;
        same(what, &self.numbers, &found)
    }

    /// Checks the numbers that came back, and overwrites them with NaN.
    fn check_back(&mut self, what: &str) -> Result<(), Failure> {
        same(what, &self.numbers, &self.back)?;
        self.back.fill(f64::NAN);
        Ok(())
    }
}

fn same(what: &str, expected: &[f64], found: &[f64]) -> Result<(), Failure> {
    match expected.par_iter().zip(found).find_first(|(expected, found)| expected != found) {
        Some((&expected, &found)) => Err(wrong(what, expected, found)),
        None => Ok(()),
    }
}

fn sizes_of_transfers(sizes: &[u64]) -> Vec<u64> {
    let fitting: Vec<u64> =
        sizes.iter().copied().filter(|bytes| (SMALLEST..=LARGEST).contains(bytes)).collect();
    if fitting.is_empty() {
        sizes.iter().copied().take(1).map(|bytes| bytes.min(LARGEST)).collect()
    } else {
        fitting
    }
}

/// Measures transfers; `quiet` is `device`, opened another time.
pub fn measure(
    run: &mut Run<'_, '_>,
    number: usize,
    device: &Device,
    quiet: &Device,
    sizes: &[u64],
) -> Result<(), Failure> {
    for bytes in sizes_of_transfers(sizes) {
        if run.session.interrupted() {
            break;
        }
        run.session.report.note(format_args!("{}: transfers of {}", device.label(), size(bytes)));
        let mut memory = Memory::new(run, device, bytes)?;
        // Not every kind of transfer has an event, and all are to be compared.
        let subject = |kernel: &str, variant: &str, moved: u64| {
            let subject =
                subject(BandwidthSection::Transfers, kernel, variant).on(number).with("array_bytes", bytes);
            subject.bytes(moved).by_the_wall()
        };
        let what = |kernel: &str, variant: &str| format!("{}: {kernel}, {variant}", device.label());
        let (to, from, both) = ("to device", "from device", "both at once");

        memory.there.write(&memory.numbers)?;
        memory.check_there(&what(to, "pageable"))?;
        run.session.time(subject(to, "pageable", bytes), |_| {
            Ok(memory.there.write(&memory.numbers).map(|()| None)?)
        })?;
        memory.full.read(&mut memory.back)?;
        memory.check_back(&what(from, "pageable"))?;
        run.session.time(subject(from, "pageable", bytes), |_| {
            Ok(memory.full.read(&mut memory.back).map(|()| None)?)
        })?;

        memory.there.write_mapped(&memory.numbers)?;
        memory.check_there(&what(to, "mapped"))?;
        run.session.time(subject(to, "mapped", bytes), |_| {
            Ok(memory.there.write_mapped(&memory.numbers).map(|()| None)?)
        })?;
        memory.full.read_mapped(&mut memory.back)?;
        memory.check_back(&what(from, "mapped"))?;
        run.session.time(subject(from, "mapped", bytes), |_| {
            Ok(memory.full.read_mapped(&mut memory.back).map(|()| None)?)
        })?;

        let mut outward = PinnedBuffer::<f64>::zeroed(device, memory.numbers.len())?;
        outward.as_mut_slice().copy_from_slice(&memory.numbers);
        outward = outward.write_to(&mut memory.there, &[])?.wait()?;
        memory.check_there(&what(to, "pinned"))?;
        let mut kept = Some(outward);
        run.session.time(subject(to, "pinned", bytes), |_| {
            let pinned = kept.take().expect("the last call gave it back");
            let pending = pinned.write_to(&mut memory.there, &[])?;
            let duration = pending.event().duration()?;
            kept = Some(pending.wait()?);
            Ok(duration)
        })?;
        let mut inward = PinnedBuffer::<f64>::zeroed(device, memory.numbers.len())?;
        inward = inward.read_from(&memory.full, &[])?.wait()?;
        same(&what(from, "pinned"), &memory.numbers, inward.as_slice())?;
        let mut kept_inward = Some(inward);
        run.session.time(subject(from, "pinned", bytes), |_| {
            let pinned = kept_inward.take().expect("the last call gave it back");
            let pending = pinned.read_from(&memory.full, &[])?;
            let duration = pending.event().duration()?;
            kept_inward = Some(pending.wait()?);
            Ok(duration)
        })?;

        // One on the copy queue, the other on the compute queue.
        let mut both_pinned = |memory: &mut Memory| -> Result<(), Failure> {
            let out = kept.take().expect("the last call gave it back");
            let back = kept_inward.take().expect("the last call gave it back");
            let out = out.write_to(&mut memory.there, &[])?;
            let back = back.read_from_in_order(&memory.full)?;
            kept = Some(out.wait()?);
            let back = kept_inward.insert(back.wait()?);
            if memory.back[0].is_nan() {
                memory.back.copy_from_slice(back.as_slice());
            }
            Ok(())
        };
        memory.back.fill(f64::NAN);
        memory.there.fill(f64::NAN)?;
        device.finish()?;
        both_pinned(&mut memory)?;
        memory.check_there(&what(both, "pinned"))?;
        same(&what(both, "pinned"), &memory.numbers, &memory.back)?;
        run.session.time(subject(both, "pinned", 2 * bytes), |_| both_pinned(&mut memory).map(|()| None))?;

        // A blocking call blocks its queue, so the second call is on the device opened another
        // time.
        let source = Buffer::from_slice(quiet, &memory.numbers)?;
        let both_pageable = |memory: &mut Memory| -> Result<(), Failure> {
            let Memory { there, numbers, back, .. } = memory;
            thread::scope(|scope| {
                let reading = start(scope, || source.read(back))?;
                let written = there.write(numbers);
                Ok(joined(reading).and(written)?)
            })
        };
        memory.back.fill(f64::NAN);
        both_pageable(&mut memory)?;
        memory.check_there(&what(both, "pageable"))?;
        memory.check_back(&what(both, "pageable"))?;
        run.session
            .time(subject(both, "pageable", 2 * bytes), |_| both_pageable(&mut memory).map(|()| None))?;
    }
    Ok(())
}

/// Measures transfers from each device to the next one, through pinned host memory.
///
/// A transfer reads, copies on the host, and writes.
pub fn between(run: &mut Run<'_, '_>, devices: &[Device], sizes: &[u64]) -> Result<(), Failure> {
    let Some(&bytes) = sizes_of_transfers(sizes).last() else { return Ok(()) };
    let len = bytes as usize / size_of::<f64>();
    let numbers: Vec<f64> = run.b.repeated(len);
    for (number, source) in devices.iter().enumerate() {
        if run.session.interrupted() {
            break;
        }
        let target_number = (number + 1) % devices.len();
        let target = &devices[target_number];
        let full = Buffer::from_slice(source, &numbers)?;
        let mut there = Buffer::<f64>::zeroed(target, len)?;
        let mut kept =
            Some((PinnedBuffer::<f64>::zeroed(source, len)?, PinnedBuffer::<f64>::zeroed(target, len)?));
        let mut transfer = |there: &mut Buffer<f64>| -> Result<(), Failure> {
            let (inward, mut outward) = kept.take().expect("the last call gave it back");
            let inward = inward.read_from(&full, &[])?.wait()?;
            outward.as_mut_slice().copy_from_slice(inward.as_slice());
            kept = Some((inward, outward.write_to(there, &[])?.wait()?));
            Ok(())
        };
        transfer(&mut there)?;
        let what = format!("device to device: {} to {}", source.label(), target.label());
        same(&what, &numbers, &there.to_vec()?)?;
        let variant = format!("number {number} to {target_number}, through the host");
        let subject = subject(BandwidthSection::Transfers, "device to device", &variant);
        let subject = subject.with("array_bytes", bytes).bytes(bytes).by_the_wall();
        run.session.time(subject, |_| transfer(&mut there).map(|()| None))?;
    }
    Ok(())
}
