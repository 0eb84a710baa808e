//! The distribution of rows among devices.
//!
//! Shares follow the rates. A device that is done first takes over the end of another's share.

use lattice_compute::sync::lock;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Fewest rows of a share, or of a strip.
pub const LEAST_ROWS: usize = 64;

/// Most rows of C that are handed out together.
///
/// There are more only if these would not keep the device busy.
const MOST_ROWS: usize = 4096;

/// Least time of a share of the work, in seconds.
///
/// A share that takes less is not worth its transfers.
const LEAST_SECONDS: f64 = 4e-3;

/// Factor by which another device has to shorten the product to take part.
///
/// The times are estimates.
const LEAST_GAIN: f64 = 1.05;

/// The costs of a product for a device.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Floating-point operations for a row of C.
    pub flops_of_row: f64,
    /// Bytes of a row of op(A).
    pub bytes_of_row: f64,
    /// Bytes of op(B), which goes to every device.
    pub bytes_of_b: f64,
}

impl Cost {
    /// Returns the seconds until the devices are done with `rows` rows.
    ///
    /// A device is its rate, in flops per second, and its uploads, in bytes per second.
    fn time(&self, rows: f64, devices: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
        let total: f64 = devices.clone().map(|(rate, _)| rate).sum();
        let time = |(rate, upload): (f64, f64)| {
            let bytes = self.bytes_of_b + rows * rate / total * self.bytes_of_row;
            (rows * self.flops_of_row / total).max(bytes / upload)
        };
        devices.map(time).fold(0.0, f64::max)
    }
}

/// Returns how many of `rows` rows each device takes, by its rate.
///
/// Rates are in flops per second.
///
/// All but the fastest have a multiple of [`LEAST_ROWS`], so that every row of a share begins where
/// the widest loads may. Shares of two strips or more consist of whole strips. `strips` has the
/// rows of each device's strip.
///
/// Devices for which less than [`LEAST_ROWS`] would be left take none: the slowest leave first. If
/// `cost` is given, devices with too little work to be worth it take none either. `cost` holds the
/// costs of the product, and how many bytes per second each device is sent. The fastest always
/// stays.
pub fn shares(rows: usize, rates: &[f64], cost: Option<(Cost, &[f64])>, strips: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rates.len()).collect();
    order.sort_by(|&a, &b| rates[b].total_cmp(&rates[a]));
    let worth = |members: &[usize]| {
        let total: f64 = members.iter().map(|&member| rates[member]).sum();
        let slowest = members.last().map_or(0.0, |&member| rates[member]);
        let seconds = cost.map_or(f64::INFINITY, |(cost, _)| rows as f64 * cost.flops_of_row / total);
        rows as f64 * slowest / total >= LEAST_ROWS as f64 && seconds >= LEAST_SECONDS
    };
    while order.len() > 1 && !worth(&order) {
        order.pop();
    }
    if let Some((cost, uploads)) = cost {
        let device = |&member: &usize| (rates[member], uploads[member]);
        let times: Vec<f64> = (1..=order.len())
            .map(|count| cost.time(rows as f64, order[..count].iter().map(device)))
            .collect();
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        order.truncate(times.iter().position(|&time| time <= least * LEAST_GAIN).map_or(1, |last| last + 1));
    }
    let total: f64 = order.iter().map(|&member| rates[member]).sum();
    let mut shares = vec![0; rates.len()];
    let mut left = rows;
    for &member in order.iter().skip(1) {
        let share = rows as f64 * rates[member] / total;
        let multiple = if share >= 2.0 * strips[member] as f64 { strips[member] } else { LEAST_ROWS };
        let share = (share / multiple as f64).round() as usize * multiple;
        shares[member] = share.min(left);
        left -= shares[member];
    }
    if let Some(&fastest) = order.first() {
        shares[fastest] = left;
    }
    shares
}

/// The rows that are still to be handed out.
pub struct Schedule {
    rates: Vec<f64>,
    /// Rows that keep each device busy.
    strips: Vec<usize>,
    /// Flags of the devices that take part: those that had a share.
    members: Vec<bool>,
    rows: usize,
    left: Mutex<Vec<Range<usize>>>,
    abandoned: AtomicBool,
}

impl Schedule {
    /// Makes a schedule of consecutive ranges of these lengths.
    ///
    /// A device that has none at first never gets any. Each device is given whole multiples of its
    /// entry of `strips`, except for the remainder.
    pub fn new(shares: &[usize], rates: &[f64], strips: Vec<usize>) -> Self {
        let mut rows = 0;
        let ranges = shares.iter().map(|&share| {
            rows += share;
            rows - share..rows
        });
        let left = Mutex::new(ranges.collect());
        let members = shares.iter().map(|&share| share > 0).collect();
        Self { left, rates: rates.to_vec(), strips, members, rows, abandoned: AtomicBool::new(false) }
    }

    /// Returns the most rows that a device is given together.
    pub fn most_rows(&self, member: usize) -> usize {
        let strip = self.strips[member];
        (MOST_ROWS / strip * strip).max(strip).min(self.rows)
    }

    /// Returns the next rows for a device.
    ///
    /// `None` if no rows are left that this device would finish before the one that has them.
    pub fn next(&self, member: usize) -> Option<Range<usize>> {
        let mut left = lock(&self.left);
        if left[member].is_empty() {
            if !self.members[member] {
                return None;
            }
            let stolen = self.steal(member, &mut left)?;
            left[member] = stolen;
        }
        let (own, strip) = (&mut left[member], self.strips[member]);
        // Large pieces come first. Small ones come towards the end, when others may be waiting.
        let rows = (own.len() / 4 / strip * strip).max(strip).min(self.most_rows(member)).min(own.len());
        let piece = own.start..own.start + rows;
        own.start += rows;
        Some(piece)
    }

    /// Hands out nothing more: a device has failed.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
        lock(&self.left).iter_mut().for_each(|range| range.start = range.end);
    }

    /// `true` if a device has failed.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Takes the end of the range that would take longest.
    ///
    /// The end is so long that both devices are done at the same time.
    fn steal(&self, member: usize, left: &mut [Range<usize>]) -> Option<Range<usize>> {
        let time = |other: usize| left[other].len() as f64 / self.rates[other];
        let victim = (0..left.len()).max_by(|&a, &b| time(a).total_cmp(&time(b)))?;
        let (own, others) = (self.rates[member], self.rates[victim]);
        let strip = self.strips[member];
        let rows = (left[victim].len() as f64 * own / (own + others)) as usize / strip * strip;
        if rows == 0 {
            return None;
        }
        let end = left[victim].end;
        left[victim].end -= rows;
        Some(end - rows..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOPS: f64 = 1e9;
    const STRIP: usize = 256;

    #[test]
    fn shares_follow_the_rates() {
        let shares = |rows, flops_of_row, rates: &[f64]| {
            let cost = Cost { flops_of_row, bytes_of_row: 0.0, bytes_of_b: 0.0 };
            shares(rows, rates, Some((cost, &vec![1.0; rates.len()])), &vec![STRIP; rates.len()])
        };
        assert_eq!(shares(1000, FLOPS, &[3e12, 1e12]), [744, 256]);
        assert_eq!(shares(1000, FLOPS, &[1e12]), [1000]);
        assert_eq!(shares(0, FLOPS, &[1e12, 1e12]), [0, 0]);
        assert_eq!(
            shares(1000, FLOPS, &[1e12, 50e12]),
            [0, 1000],
            "a device for which 20 rows would be left"
        );
        assert_eq!(shares(999, FLOPS, &[1e12, 1e12, 1e12]).iter().sum::<usize>(), 999);
        assert_eq!(shares(1000, 1e6, &[1e12, 2e12]), [0, 1000], "a millisecond in all");
    }

    #[test]
    fn a_device_that_would_be_sent_its_operands_too_slowly_takes_none() {
        let cost = Cost { flops_of_row: 1e9, bytes_of_row: 8e4, bytes_of_b: 8e8 };
        let shares = |rates: &[f64], uploads: &[f64]| {
            shares(10_000, rates, Some((cost, uploads)), &vec![STRIP; rates.len()])
        };
        // One device needs 0.2 s. 0.8 GB take 0.016 s to the first and 0.16 or 1.6 s to the second.
        assert_eq!(shares(&[50e12, 50e12], &[50e9, 50e9]), [4880, 5120]);
        assert_eq!(shares(&[50e12, 50e12], &[50e9, 0.5e9]), [10_000, 0]);
        assert_eq!(shares(&[50e12, 5e12], &[50e9, 5e9]), [8976, 1024], "0.18 s together");
        assert_eq!(shares(&[50e12, 1e12], &[50e9, 5e9]), [10_000, 0], "a gain of 2 %");
    }

    /// Works a schedule off with devices of these true rates, in simulated time.
    ///
    /// Returns when each device was done, and its rows.
    fn simulate(shares: &[usize], believed: &[f64], real: &[f64]) -> (Vec<f64>, Vec<usize>) {
        let schedule = Schedule::new(shares, believed, vec![STRIP; shares.len()]);
        let total: usize = shares.iter().sum();
        let (mut now, mut rows, mut seen) = (vec![0.0; real.len()], vec![0; real.len()], vec![0; total]);
        let mut active: Vec<usize> = (0..real.len()).collect();
        while let Some(&member) = active.iter().min_by(|&&a, &&b| f64::total_cmp(&now[a], &now[b])) {
            match schedule.next(member) {
                Some(piece) => {
                    now[member] += piece.len() as f64 / real[member];
                    rows[member] += piece.len();
                    piece.for_each(|row| seen[row] += 1);
                }
                None => active.retain(|&other| other != member),
            }
        }
        assert!(seen.iter().all(|&times| times == 1), "every row once");
        (now, rows)
    }

    #[test]
    fn every_row_is_handed_out_once_and_the_end_is_even() {
        for shares in [vec![5000, 5000], vec![10_000, 0, 0], vec![1, 63, 64], vec![0, 0], vec![4097]] {
            let rates = vec![1.0; shares.len()];
            let total: usize = shares.iter().sum();
            let (times, _) = simulate(&shares, &rates, &rates);
            let longest = times.iter().copied().fold(0.0, f64::max);
            assert!(
                longest <= total as f64 / shares.len() as f64 + 2.0 * MOST_ROWS.min(total) as f64,
                "{times:?}"
            );
        }
    }

    #[test]
    fn a_device_that_is_slower_than_believed_is_relieved() {
        let (times, rows) = simulate(&[8192, 8192], &[1.0, 1.0], &[1.0, 0.25]);
        assert!(rows[0] > 10_000, "{rows:?}");
        // Alone the slow device would take 32768 for its share.
        assert!(times[1] < 20_000.0, "{times:?}");
    }
}
