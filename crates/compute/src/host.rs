//! The host as a device: stream kernels and the bandwidth of its memory.

use crate::Stream;
use crate::parallel::*;
use crate::scalar::{Precision, Real};
use bytemuck::{cast_slice, cast_slice_mut};
use std::time::{Duration, Instant};

/// Elements of each array: 64 MiB, more than the caches of most processors.
const LEN: usize = 8 << 20;

/// Time of the measurement.
const MEASURE: Duration = Duration::from_millis(100);

/// Goes through memory on all of rayon's threads.
///
/// Writes `a`, or returns the sum of a stream that makes one, accumulated in double.
///
/// # Panics
/// If the arrays have different lengths.
pub fn stream<T: Real>(stream: Stream, a: &mut [T], b: &[T], c: &[T]) -> Option<f64> {
    // Functions without a type parameter are compiled here, with the optimisation of this crate.
    match T::PRECISION {
        Precision::Single => stream_of_singles(stream, cast_slice_mut(a), cast_slice(b), cast_slice(c)),
        Precision::Double => stream_of_doubles(stream, cast_slice_mut(a), cast_slice(b), cast_slice(c)),
    }
}

fn stream_of_singles(stream: Stream, a: &mut [f32], b: &[f32], c: &[f32]) -> Option<f64> {
    stream_of(stream, a, b, c)
}

fn stream_of_doubles(stream: Stream, a: &mut [f64], b: &[f64], c: &[f64]) -> Option<f64> {
    stream_of(stream, a, b, c)
}

fn stream_of<T: Real>(stream: Stream, a: &mut [T], b: &[T], c: &[T]) -> Option<f64> {
    assert_eq!((a.len(), b.len()), (c.len(), c.len()), "arrays of one length");
    let factor = T::from_f64(Stream::FACTOR);
    let piece = a.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    // A loop for each stream, so that none has to ask which it is.
    let write = |a: &mut [T], one: fn(&mut [T], &[T], &[T], T)| {
        let pieces = a.par_chunks_mut(piece).zip(b.par_chunks(piece).zip(c.par_chunks(piece)));
        pieces.for_each(|(a, (b, c))| one(a, b, c, factor));
        None
    };
    let sum = |one: fn(&[T], &[T]) -> f64| {
        let pieces = b.par_chunks(piece).zip(c.par_chunks(piece));
        Some(pieces.map(|(b, c)| one(b, c)).sum())
    };
    match stream {
        Stream::Read => sum(|b, _| sum_of(b.chunks(SUMS), |b| std::array::from_fn(|i| value(b, i)))),
        Stream::Dot => sum(|b, c| {
            let pairs = b.chunks(SUMS).zip(c.chunks(SUMS));
            sum_of(pairs, |(b, c)| std::array::from_fn(|i| value(b, i) * value(c, i)))
        }),
        Stream::Write => write(a, |a, _, _, s| a.fill(s)),
        Stream::Copy => write(a, |a, b, _, _| a.copy_from_slice(b)),
        Stream::Scale => write(a, |a, b, _, s| a.iter_mut().zip(b).for_each(|(a, &b)| *a = s * b)),
        Stream::Add => {
            write(a, |a, b, c, _| a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (&b, &c))| *a = b + c))
        }
        Stream::Triad => {
            write(a, |a, b, c, s| a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (&b, &c))| *a = b + s * c))
        }
    }
}

/// Number of sums that run side by side.
///
/// A single sum would always wait for its own last addition.
const SUMS: usize = 16;

/// Returns element `i` in double, and 0 behind the end.
#[inline(always)]
fn value<T: Real>(x: &[T], i: usize) -> f64 {
    x.get(i).map_or(0.0, |&x| Real::to_f64(x))
}

#[inline(always)]
fn sum_of<I>(pieces: impl Iterator<Item = I>, terms: impl Fn(I) -> [f64; SUMS]) -> f64 {
    let mut sums = [0.0; SUMS];
    for piece in pieces {
        for (sum, term) in sums.iter_mut().zip(terms(piece)) {
            *sum += term;
        }
    }
    sums.iter().sum()
}

/// Measures the host's memory bandwidth by the triad a = b + s·c in double.
///
/// The unit is bytes per second. Two streams are read and one is written, 24 bytes an element. The
/// result is the best of some passes over all of rayon's threads. The measurement takes about a
/// fifth of a second.
pub fn triad_bandwidth() -> f64 {
    // Written by the threads that will use them, so that each has its part in its own memory.
    let array = |value: f64| -> Vec<f64> { (0..LEN).into_par_iter().map(|_| value).collect() };
    let (mut a, b, c) = (array(0.0), array(1.0), array(2.0));
    let start = Instant::now();
    let mut best = Duration::MAX;
    while start.elapsed() < MEASURE {
        let pass = Instant::now();
        stream(Stream::Triad, &mut a, &b, &c);
        best = best.min(pass.elapsed());
        std::hint::black_box(&mut a);
    }
    (Stream::Triad.arrays() * size_of::<f64>() * LEN) as f64 / best.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PeriodicNumbers;

    #[test]
    fn a_bandwidth_is_a_positive_number() {
        let bandwidth = triad_bandwidth();
        assert!(bandwidth.is_finite() && bandwidth > 0.0);
    }

    #[test]
    fn streams_are_those_of_one_element_after_the_other() {
        let (b, c) = (PeriodicNumbers::new(1, 1013), PeriodicNumbers::new(2, 1013));
        let [left, right] = [&b, &c].map(PeriodicNumbers::to_vec::<f32>);
        for kind in Stream::ALL {
            let mut a = vec![f32::NAN; 1013];
            if let Some(sum) = stream(kind, &mut a, &left, &right) {
                let (expected, magnitudes) = kind.sum::<f32>(&b, &c, 0, 1013);
                assert!((sum - expected).abs() <= 1e-13 * magnitudes, "{kind:?}");
                continue;
            }
            for ((&a, &b), &c) in a.iter().zip(&left).zip(&right) {
                assert!((a - kind.value(b, c)).abs() <= kind.tolerance(c), "{kind:?}");
            }
        }
    }
}
