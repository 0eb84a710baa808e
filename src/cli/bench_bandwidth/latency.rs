//! What a launch costs when the kernel does next to nothing.

use super::Part;
use super::session::{Session, Subject, wrong};
use crate::cli::failure::Failure;
use crate::device::{Device, StreamArrays, StreamKernels};
use crate::host::{PeriodicNumbers, Stream};
use std::time::{Duration, Instant};

/// Launches in a row of which the mean is one sample.
const IN_A_ROW: u32 = 200;

/// The device is one that does not record when commands run.
pub fn measure(session: &mut Session<'_>, number: usize, device: &Device) -> Result<(), Failure> {
    let kernels = StreamKernels::new(device, StreamKernels::native_lanes(device.info()))?;
    let few = PeriodicNumbers::new(1, StreamArrays::ALIGNMENT);
    let mut arrays = StreamArrays::new(device, StreamArrays::ALIGNMENT, 1, &few, &few)?;
    arrays.clear_output()?;
    kernels.launch(Stream::Write, &mut arrays, 0)?.wait()?;
    let found = arrays.output(0)?.to_vec()?;
    if let Some(&found) = found.iter().find(|&&found| found != Stream::FACTOR) {
        return Err(wrong(format!("{}: a launch", device.label()), Stream::FACTOR, found));
    }
    let subject = |kernel: &str, variant: &str| Subject {
        device: Some(number),
        part: Part::Latency,
        kernel: kernel.to_owned(),
        variant: variant.to_owned(),
        array_bytes: 0,
        moved_bytes: 0,
        in_cache: false,
    };
    session.time_by(subject("launch", "200 in a row"), |_| {
        let begin = Instant::now();
        for _ in 0..IN_A_ROW {
            kernels.launch(Stream::Write, &mut arrays, 0)?;
        }
        device.finish()?;
        Ok((begin.elapsed() / IN_A_ROW, None))
    })?;
    session.time(subject("launch", "and wait"), |_| -> Result<Option<Duration>, Failure> {
        kernels.launch(Stream::Write, &mut arrays, 0)?;
        device.finish()?;
        Ok(None)
    })?;
    session.time(subject("launch", "and read one number"), |_| {
        kernels.launch(Stream::Write, &mut arrays, 0)?;
        arrays.output(0)?.slice(..1)?.read(&mut [0.0])?;
        Ok(None)
    })?;
    session.time(subject("launch", "and read a sum"), |_| {
        kernels.launch(Stream::Read, &mut arrays, 0)?.wait()?;
        Ok(None)
    })
}
