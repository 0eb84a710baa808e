//! How fast the host reads and writes its memory.

use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Elements of each array: 64 MiB, more than the caches of most processors.
const LEN: usize = 8 << 20;

/// How long to measure.
const MEASURE: Duration = Duration::from_millis(100);

/// Memory bandwidth of the host by the triad a = b + s·c in double precision, in bytes per second: two streams
/// read and one written, 24 bytes an element.
///
/// The best of some passes over all of rayon's threads; about a fifth of a second altogether.
pub fn triad_bandwidth() -> f64 {
    // Written by the threads that will use them, so that each has its part in its own memory.
    let array = |value: f64| -> Vec<f64> { (0..LEN).into_par_iter().map(|_| value).collect() };
    let (mut a, b, c) = (array(0.0), array(1.0), array(2.0));
    let piece = LEN.div_ceil(4 * rayon::current_num_threads());
    let start = Instant::now();
    let mut best = Duration::MAX;
    while start.elapsed() < MEASURE {
        let pass = Instant::now();
        a.par_chunks_mut(piece).zip(b.par_chunks(piece).zip(c.par_chunks(piece))).for_each(|(a, (b, c))| {
            a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (b, c))| *a = b + 3.0 * c);
        });
        best = best.min(pass.elapsed());
        std::hint::black_box(&mut a);
    }
    (3 * size_of::<f64>() * LEN) as f64 / best.as_secs_f64()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_bandwidth_is_a_positive_number() {
        let bandwidth = super::triad_bandwidth();
        assert!(bandwidth.is_finite() && bandwidth > 0.0);
    }
}
