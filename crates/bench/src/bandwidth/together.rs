//! Streams on all devices at once, which show whether devices slow each other down.

use super::streams::{check, windows};
use super::{BandwidthSection, Run, subject};
use crate::outcome::Samples;
use crate::text::size;
use lattice_cl::compute::{Device, StreamArrays, StreamKernels};
use lattice_cl::host::Stream;
use lattice_cli::failure::Failure;
use lattice_files::threads::together;
use std::sync::Barrier;
use std::time::Instant;

/// Largest array of each device, unless all requested sizes are larger.
const LARGEST: u64 = 1 << 30;

pub fn measure(run: &mut Run<'_, '_>, devices: &[Device], sizes: &[u64]) -> Result<(), Failure> {
    let fitting = sizes.iter().rev().find(|&&bytes| bytes <= LARGEST);
    let Some(&bytes) = fitting.or(sizes.first()) else { return Ok(()) };
    run.session.report.note(format_args!("all devices: arrays of {}", size(bytes)));
    let len = bytes as usize / size_of::<f64>();
    let (in_cache, _) = windows(devices[0].info(), bytes);
    let mut parties = Vec::new();
    for device in devices {
        // They may share their memory, as processors do.
        let windows = windows(device.info(), bytes).1.div_ceil(devices.len());
        let kernels = StreamKernels::<f64>::new(device, StreamKernels::<f64>::native_lanes(device.info()))?;
        parties.push((device, kernels, StreamArrays::new(device, len, windows, &run.b, &run.c)?));
    }
    for stream in [Stream::Copy, Stream::Triad, Stream::Dot] {
        for (device, kernels, arrays) in &mut parties {
            check(run, device, kernels, stream, arrays)?;
        }
        if run.session.interrupted() {
            break;
        }
        let calls = run.session.how.samples as usize;
        let barrier = Barrier::new(parties.len());
        // The first call warms up. A thread that failed still comes to every barrier, or the others
        // would wait for ever.
        let one = |kernels: &StreamKernels<f64>, arrays: &mut StreamArrays<f64>| -> Result<_, Failure> {
            let mut samples = Samples::default();
            let mut times = Vec::new();
            let mut failed = None;
            for call in 0..=calls {
                barrier.wait();
                if failed.is_some() {
                    continue;
                }
                let begin = Instant::now();
                match kernels.launch(stream, arrays, call).and_then(|launch| launch.wait()) {
                    Ok((_, duration)) if call > 0 => {
                        let end = Instant::now();
                        times.push((begin, end));
                        samples.wall.push((end - begin).as_secs_f64());
                        samples.event.extend(duration.map(|duration| duration.as_secs_f64()));
                    }
                    Ok(_) => {}
                    Err(error) => failed = Some(error),
                }
            }
            failed.map_or(Ok((samples, times)), |error| Err(error.into()))
        };
        let one = &one;
        let measured = together(parties.iter_mut().map(|(_, kernels, arrays)| move || one(kernels, arrays)));
        let found = measured?;
        let found: Vec<_> = found.into_iter().collect::<Result<_, _>>()?;
        let array_bytes = (parties[0].2.len() * size_of::<f64>()) as u64;
        let moved_bytes = stream.arrays() as u64 * array_bytes;
        let subject = |variant: &str| {
            subject(BandwidthSection::Together, stream.name(), variant)
                .with("precision", "double")
                .with("array_bytes", array_bytes)
                .with("in_cache", in_cache)
        };
        // From the first that begins to the last that is done.
        let mut all = Samples::default();
        for call in 0..calls {
            let times = || found.iter().map(|(_, times)| times[call]);
            let (begin, end) = (times().map(|t| t.0).min(), times().map(|t| t.1).max());
            all.wall.extend(begin.zip(end).map(|(begin, end)| (end - begin).as_secs_f64()));
        }
        for (number, (samples, _)) in found.into_iter().enumerate() {
            run.session.push(subject("beside the others").on(number).bytes(moved_bytes), samples);
        }
        run.session.push(subject("all").bytes(moved_bytes * devices.len() as u64), all);
    }
    Ok(())
}
