//! Streams of the host itself: the bandwidth of its processors without OpenCL.

use super::streams::difference;
use super::{BandwidthSection, Run, subject};
use crate::session::wrong;
use crate::text::size;
use lattice_cl::compute::parallel::*;
use lattice_cl::host::{Stream, stream};
use lattice_cl::scalar::{Precision, Real};
use lattice_cli::failure::Failure;
use lattice_cli::memory::Need;

/// Least bytes of an array; smaller ones may stay in a large processor's caches.
const OUT_OF_CACHE: u64 = 64 << 20;

/// Largest error of a sum, as a share of the magnitudes of its terms.
const SUM_TOLERANCE: f64 = 1e-12;

pub fn measure(run: &mut Run<'_, '_>) -> Result<(), Failure> {
    let sizes = match (&run.arguments.sizes[..], run.session.how.quick) {
        ([], true) => vec![64 << 10, OUT_OF_CACHE],
        ([], false) => vec![64 << 10, 1 << 20, 16 << 20, OUT_OF_CACHE, 4 * OUT_OF_CACHE],
        (sizes, _) => sizes.to_vec(),
    };
    if run.arguments.wants_precision(Precision::Double) {
        measure_in::<f64>(run, &sizes)?;
    }
    if run.arguments.wants_precision(Precision::Single) {
        measure_in::<f32>(run, &sizes)?;
    }
    Ok(())
}

fn measure_in<T: Real>(run: &mut Run<'_, '_>, sizes: &[u64]) -> Result<(), Failure> {
    let number = run.session.host();
    for &bytes in sizes {
        let need = Need { on_host: 3 * u128::from(bytes), on_device: 0 };
        need.expect_room(format_args!("three arrays of {bytes} bytes"), None)?;
        run.session.report.note(format_args!("the host: arrays of {}", size(bytes)));
        let len = bytes as usize / size_of::<T>();
        let [b, c] = [&run.b, &run.c].map(|numbers| numbers.repeated::<T>(len));
        let mut a = vec![T::nan(); len];
        for kind in Stream::ALL {
            if run.session.interrupted() {
                return Ok(());
            }
            a.par_iter_mut().for_each(|number| *number = T::nan());
            let what = || format!("the host: {} on arrays of {}", kind.name(), size(bytes));
            if let Some(found) = stream(kind, &mut a, &b, &c) {
                let (expected, magnitudes) = kind.sum::<T>(&run.b, &run.c, 0, len);
                if (found - expected).abs() > SUM_TOLERANCE * magnitudes || found.is_nan() {
                    return Err(wrong(what(), expected, found));
                }
            } else if let Some((expected, found)) = difference(kind, &run.b, &run.c, 0, &a) {
                return Err(wrong(what(), expected, found));
            }
            let subject = subject(BandwidthSection::Host, kind.name(), "all threads")
                .on(number)
                .with("precision", T::PRECISION.to_string())
                .with("array_bytes", bytes)
                .with("in_cache", bytes < OUT_OF_CACHE)
                .bytes(kind.arrays() as u64 * bytes);
            run.session.time(subject, |_| {
                std::hint::black_box((stream(kind, &mut a, &b, &c), &mut a));
                Ok(None)
            })?;
        }
    }
    Ok(())
}
