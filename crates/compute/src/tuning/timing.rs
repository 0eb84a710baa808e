//! The time of one launch of a kernel, by the wall clock.

use std::time::{Duration, Instant};

/// Number of batches that are timed; the median is taken.
const BATCHES: usize = 5;

/// Least time of a batch, long enough that waiting for its end does not count.
const LEAST_BATCH: Duration = Duration::from_millis(2);

/// Largest number of launches in a batch: the queue of a device is finite.
const MOST_LAUNCHES: u32 = 1024;

/// Returns the number of launches of the next batch, or `None`.
///
/// A longer batch follows if a batch of `launches` took too little time and the queue has room for
/// more.
pub fn longer_batch(launches: u32, taken: Duration) -> Option<u32> {
    (taken < LEAST_BATCH && launches < MOST_LAUNCHES).then_some(2 * launches)
}

/// Returns the median time of one launch over several batches.
///
/// A batch is waited for only at its end: the queues of a device usually record no times. The first
/// launch of all is not counted, because it may be slower.
///
/// # Errors
/// All errors of `launch` and `finish`.
pub fn time_of_launch<E>(
    launch: impl FnMut() -> Result<(), E>,
    finish: impl FnMut() -> Result<(), E>,
) -> Result<Duration, E> {
    let start = Instant::now();
    median_of_batches(launch, finish, || start.elapsed())
}

fn median_of_batches<E>(
    mut launch: impl FnMut() -> Result<(), E>,
    mut finish: impl FnMut() -> Result<(), E>,
    clock: impl Fn() -> Duration,
) -> Result<Duration, E> {
    let mut batch = |launches: u32| {
        let start = clock();
        (0..launches).try_for_each(|_| launch())?;
        finish()?;
        Ok(clock().saturating_sub(start))
    };
    batch(1)?;
    let mut launches = 1;
    while let Some(more) = longer_batch(launches, batch(launches)?) {
        launches = more;
    }
    let mut times = [Duration::ZERO; BATCHES];
    for time in &mut times {
        *time = batch(launches)? / launches;
    }
    times.sort();
    Ok(times[BATCHES / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Returns the time found for a kernel of this time, and the launches that it took.
    ///
    /// A few launches are disturbed.
    fn timed(kernel: Duration, disturbed: impl Fn(u32) -> bool) -> (Duration, u32) {
        let (now, launches) = (Cell::new(Duration::ZERO), Cell::new(0));
        let launch = || {
            launches.set(launches.get() + 1);
            let factor = if disturbed(launches.get()) { 1000 } else { 1 };
            now.set(now.get() + kernel * factor);
            Ok::<_, ()>(())
        };
        (median_of_batches(launch, || Ok(()), || now.get()).unwrap(), launches.get())
    }

    #[test]
    fn disturbances_do_not_count() {
        let kernel = Duration::from_micros(100);
        // The first launch, and one in each of two batches.
        let (time, launches) = timed(kernel, |launch| [1, 100, 150].contains(&launch));
        assert_eq!(time, kernel);
        assert!(launches > 150);
    }

    #[test]
    fn long_kernels_are_launched_few_times_and_short_ones_not_for_ever() {
        assert_eq!(timed(Duration::from_secs(1), |_| false), (Duration::from_secs(1), 2 + BATCHES as u32));
        let (time, launches) = timed(Duration::ZERO, |_| false);
        assert_eq!(time, Duration::ZERO);
        assert!(launches < 8 * MOST_LAUNCHES);
    }

    #[test]
    fn failures_come_through() {
        assert_eq!(time_of_launch(|| Err("launch"), || Ok(())), Err("launch"));
        assert_eq!(time_of_launch(|| Ok(()), || Err("finish")), Err("finish"));
    }
}
