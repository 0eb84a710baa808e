//! The cost of a launch whose kernel does next to nothing.

use super::{BandwidthSection, Run, subject};
use crate::session::wrong;
use lattice_cl::compute::{Device, StreamArrays, StreamKernels};
use lattice_cl::host::{PeriodicNumbers, Stream};
use lattice_cli::failure::Failure;
use std::time::{Duration, Instant};

/// Launches in a row; their mean is one sample.
const IN_A_ROW: u32 = 200;

/// Measures launches on a device that does not record when commands run.
pub fn measure(run: &mut Run<'_, '_>, number: usize, device: &Device) -> Result<(), Failure> {
    let kernels = StreamKernels::<f64>::new(device, StreamKernels::<f64>::native_lanes(device.info()))?;
    let few = PeriodicNumbers::new(1, StreamArrays::<f64>::ALIGNMENT);
    let mut arrays = StreamArrays::new(device, StreamArrays::<f64>::ALIGNMENT, 1, &few, &few)?;
    arrays.clear_output()?;
    kernels.launch(Stream::Write, &mut arrays, 0)?.wait()?;
    let found = arrays.output(0)?.to_vec()?;
    if let Some(&found) = found.iter().find(|&&found| found != Stream::FACTOR) {
        return Err(wrong(format!("{}: a launch", device.label()), Stream::FACTOR, found));
    }
    let subject =
        |variant: &str| subject(BandwidthSection::Latency, "launch", variant).on(number).unlimited();
    run.session.time_by(subject("200 in a row"), |_| {
        let begin = Instant::now();
        for _ in 0..IN_A_ROW {
            kernels.launch(Stream::Write, &mut arrays, 0)?;
        }
        device.finish()?;
        Ok((begin.elapsed() / IN_A_ROW, None))
    })?;
    run.session.time(subject("and wait"), |_| -> Result<Option<Duration>, Failure> {
        kernels.launch(Stream::Write, &mut arrays, 0)?;
        device.finish()?;
        Ok(None)
    })?;
    run.session.time(subject("and read one number"), |_| {
        kernels.launch(Stream::Write, &mut arrays, 0)?;
        arrays.output(0)?.slice(..1)?.read(&mut [0.0])?;
        Ok(None)
    })?;
    run.session.time(subject("and read a sum"), |_| {
        kernels.launch(Stream::Read, &mut arrays, 0)?.wait()?;
        Ok(None)
    })
}
