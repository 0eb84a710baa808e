//! How a product was shared.

use std::time::Duration;

/// What one device did.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Share {
    /// The device.
    pub device: String,
    /// Its rate, measured before, in flops per second, or as it was given.
    pub rate: f64,
    /// Rows of C, or columns, that it was given at first.
    pub planned_rows: usize,
    /// Rows of C, or columns, that it computed.
    pub rows: usize,
    /// How long its kernels ran; `None` unless the device was opened with [`Profiling::On`](lattice_compute::Profiling::On).
    pub busy: Option<Duration>,
    /// From the start of the product until the device had nothing left to do.
    pub done: Duration,
}

/// How a product was computed.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SplitReport {
    /// Whether columns of C were shared, not rows.
    pub by_columns: bool,
    /// What each device did; nobody for the host alone.
    pub shares: Vec<Share>,
    /// From the call to the last element of C, transfers and all.
    pub wall: Duration,
}

impl SplitReport {
    /// The time of the kernels on the device where they took longest: the product without transfers.
    pub fn slowest(&self) -> Option<Duration> {
        self.shares
            .iter()
            .map(|share| share.busy)
            .try_fold(Duration::ZERO, |longest, busy| Some(longest.max(busy?)))
    }

    /// Mean time until a device was done as a share of the longest, over the devices that took part: 1 is even.
    pub fn balance(&self) -> f64 {
        let times = self.shares.iter().filter(|share| share.rows > 0).map(|share| share.done.as_secs_f64());
        let (sum, longest, count) = times
            .fold((0.0, 0.0_f64, 0.0), |(sum, longest, n), time| (sum + time, longest.max(time), n + 1.0));
        if longest > 0.0 { sum / count / longest } else { 1.0 }
    }
}
