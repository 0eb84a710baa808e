//! Streams through the memory of one device, by size and by width of vectors.

use super::{BandwidthSection, Run, subject};
use crate::session::wrong;
use crate::text::size;
use lattice_cl::compute::parallel::*;
use lattice_cl::compute::{Device, DeviceInfo, DeviceKind, StreamArrays, StreamKernels};
use lattice_cl::host::{PeriodicNumbers, Stream};
use lattice_cl::scalar::{Precision, Real};
use lattice_cli::failure::Failure;

/// Number of elements of an array that are compared with the host.
///
/// Longer arrays are compared in stretches, spread from beginning to end.
const CHECKED: usize = 8 << 20;

/// Stretches of long arrays that are compared.
const STRETCHES: usize = 64;

/// Largest array on which widths that do not suit a device are tried.
const LARGEST_FOR_WIDTHS: u64 = 256 << 20;

/// Elements that one thread compares at a time.
const PIECE: usize = 1 << 16;

pub const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];

/// Largest error of a sum, in units of the last place of its terms' magnitudes.
///
/// 1e-12 in double, 5e-7 in single. Random signs keep partial sums small, and with them their
/// rounding errors.
const SUM_TOLERANCE: f64 = 4500.0;

/// The cache size that is assumed where the driver reports a smaller one or none.
const CACHE_AT_LEAST: u64 = 1 << 20;

/// The largest cache that a GPU may have.
///
/// Drivers report a smaller one: NVIDIA's reports the first level, 4 MiB, on an H200 with 60 MB
/// behind it.
const CACHE_OF_GPU: u64 = 256 << 20;

/// Tells whether arrays stay in the cache, and returns the number of windows.
///
/// Calls go over several windows if arrays of so many bytes do not stay in the cache from call to
/// call. The windows make even one array four times as large as the cache, within a quarter of the
/// memory.
pub fn windows(info: &DeviceInfo, bytes: u64) -> (bool, usize) {
    let cache = info.cache_bytes.max(CACHE_AT_LEAST);
    if 3 * bytes <= cache / 2 {
        return (true, 1);
    }
    let largest = if info.kind == DeviceKind::Cpu { cache } else { cache.max(CACHE_OF_GPU) };
    (false, (4 * largest).div_ceil(bytes).min(room(info) / (3 * bytes)).max(1) as usize)
}

/// Returns the bytes that the arrays of one measurement may have.
pub fn room(info: &DeviceInfo) -> u64 {
    (info.memory_bytes / 4).min(info.max_allocation_bytes)
}

pub fn measure(run: &mut Run<'_, '_>, number: usize, device: &Device, sizes: &[u64]) -> Result<(), Failure> {
    if run.arguments.wants_precision(Precision::Double) {
        measure_in::<f64>(run, number, device, sizes)?;
    }
    if run.arguments.wants_precision(Precision::Single) {
        measure_in::<f32>(run, number, device, sizes)?;
    }
    Ok(())
}

fn measure_in<T: Real>(
    run: &mut Run<'_, '_>,
    number: usize,
    device: &Device,
    sizes: &[u64],
) -> Result<(), Failure> {
    let native = StreamKernels::<T>::native_lanes(device.info());
    let for_widths = sizes.iter().rev().find(|&&bytes| bytes <= LARGEST_FOR_WIDTHS);
    for &bytes in sizes {
        if run.session.interrupted() {
            break;
        }
        run.session.report.note(format_args!(
            "{}: arrays of {} in {} precision",
            device.label(),
            size(bytes),
            T::PRECISION
        ));
        let (in_cache, windows) = windows(device.info(), bytes);
        let elements = bytes as usize / size_of::<T>();
        let mut arrays = StreamArrays::<T>::new(device, elements, windows, &run.b, &run.c)?;
        let widths: Vec<usize> = if !run.arguments.widths.is_empty() {
            run.arguments.widths.clone()
        } else if run.session.how.quick || for_widths != Some(&bytes) {
            vec![native]
        } else {
            WIDTHS.to_vec()
        };
        for lanes in widths {
            let kernels = StreamKernels::new(device, lanes)?;
            for stream in Stream::ALL {
                if run.session.interrupted() {
                    return Ok(());
                }
                let array_bytes = (arrays.len() * size_of::<T>()) as u64;
                let subject =
                    subject(BandwidthSection::Streams, stream.name(), &format!("vectors of {lanes}"))
                        .on(number)
                        .with("precision", T::PRECISION.to_string())
                        .with("array_bytes", array_bytes)
                        .with("in_cache", in_cache)
                        .bytes(stream.arrays() as u64 * array_bytes);
                check(run, device, &kernels, stream, &mut arrays)?;
                run.session.time(subject, |call| Ok(kernels.launch(stream, &mut arrays, call)?.wait()?.1))?;
            }
        }
    }
    Ok(())
}

/// Compares the result on the last window with the host.
pub fn check<T: Real>(
    run: &Run<'_, '_>,
    device: &Device,
    kernels: &StreamKernels<T>,
    stream: Stream,
    arrays: &mut StreamArrays<T>,
) -> Result<(), Failure> {
    let what = || {
        let bytes = (arrays.len() * size_of::<T>()) as u64;
        format!("{}: {} on arrays of {}", device.label(), stream.name(), size(bytes))
    };
    let what = what();
    if !stream.is_sum() {
        arrays.clear_output()?;
    }
    let window = arrays.windows() - 1;
    let (sum, _) = kernels.launch(stream, arrays, window)?.wait()?;
    let start = arrays.start(window);
    if let Some(found) = sum {
        let (expected, magnitudes) = stream.sum::<T>(&run.b, &run.c, start, arrays.len());
        let right = (found - expected).abs() <= SUM_TOLERANCE * T::epsilon().to_f64() * magnitudes;
        return if right { Ok(()) } else { Err(wrong(what, expected, found)) };
    }
    let output = arrays.output(window)?;
    for (offset, len) in stretches(arrays.len()) {
        let found = output.slice(offset..offset + len)?.to_vec()?;
        if let Some((expected, found)) = difference(stream, &run.b, &run.c, start + offset, &found) {
            return Err(wrong(what, expected, found));
        }
    }
    Ok(())
}

/// Returns beginning and length of each compared stretch of an array.
pub fn stretches(len: usize) -> Vec<(usize, usize)> {
    if len <= CHECKED {
        return vec![(0, len)];
    }
    let stretch = CHECKED / STRETCHES;
    (0..STRETCHES)
        .map(|i| ((len - stretch) / (STRETCHES - 1) * i, stretch))
        .chain([(len - stretch, stretch)])
        .collect()
}

/// Returns the first wrong element: its expected value and the value found.
pub fn difference<T: Real>(
    stream: Stream,
    b: &PeriodicNumbers,
    c: &PeriodicNumbers,
    start: usize,
    found: &[T],
) -> Option<(T, T)> {
    found.par_chunks(PIECE).enumerate().find_map_first(|(piece, found)| {
        let start = start + piece * PIECE;
        let numbers = b.stretches(start, found.len()).zip(c.stretches(start, found.len()));
        let numbers = numbers.flat_map(|(b, c)| b.iter().zip(c));
        found.iter().zip(numbers).find_map(|(&found, (&b, &c))| {
            let (b, c) = (T::from_f64(b), T::from_f64(c));
            let expected = stream.value(b, c);
            let right = (found - expected).abs() <= stream.tolerance(c);
            (!right).then_some((expected, found))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_has_both_ends_of_an_array() {
        assert_eq!(stretches(100), [(0, 100)]);
        for len in [CHECKED + 1, 3 * CHECKED + 12345] {
            let stretches = stretches(len);
            assert_eq!(stretches[0].0, 0);
            let (offset, stretch) = *stretches.last().unwrap();
            assert_eq!(offset + stretch, len);
            assert!(stretches.iter().all(|(offset, stretch)| offset + stretch <= len));
        }
    }

    #[test]
    fn a_wrong_element_is_found() {
        let (b, c) = (PeriodicNumbers::new(1, 11), PeriodicNumbers::new(2, 11));
        for stream in [Stream::Write, Stream::Copy, Stream::Scale, Stream::Add, Stream::Triad] {
            let mut result: Vec<f64> = (5..105).map(|i| stream.value(b.at(i), c.at(i))).collect();
            assert_eq!(difference(stream, &b, &c, 5, &result), None, "{stream:?}");
            result[70] = f64::NAN;
            assert!(difference(stream, &b, &c, 5, &result).is_some(), "{stream:?}");
            result[70] = stream.value::<f64>(b.at(75), c.at(75)) + 1e-12;
            assert!(difference(stream, &b, &c, 5, &result).is_some(), "{stream:?}");
        }
    }
}
