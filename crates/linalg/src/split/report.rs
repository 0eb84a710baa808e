//! The way in which a product was shared.

use std::time::Duration;

/// The work of one device.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Share {
    /// The device.
    pub device: String,
    /// The device's rate, measured before, in flops per second, or as it was given.
    pub rate: f64,
    /// Rows of C, or columns, that the device was given at first.
    pub planned_rows: usize,
    /// Rows of C, or columns, that the device computed.
    pub rows: usize,
    /// Time that the device's kernels ran.
    ///
    /// `None` unless the device was opened with [`Profiling::On`](lattice_compute::Profiling::On).
    pub busy: Option<Duration>,
    /// Time from the start of the product until the device had nothing left to do.
    pub done: Duration,
}

/// The way in which a product was computed.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SplitReport {
    /// `true` if columns of C were shared, not rows.
    pub by_columns: bool,
    /// The work of each device.
    ///
    /// Empty if the host computed alone.
    pub shares: Vec<Share>,
    /// Time from the call to the last element of C, transfers included.
    pub wall: Duration,
}

impl SplitReport {
    /// Returns the longest time of the kernels on one device.
    ///
    /// This is the time of the product without transfers.
    pub fn slowest(&self) -> Option<Duration> {
        self.shares
            .iter()
            .map(|share| share.busy)
            .try_fold(Duration::ZERO, |longest, busy| Some(longest.max(busy?)))
    }

    /// Returns the mean time until a device was done, as a share of the longest.
    ///
    /// The mean is over the devices that took part. 1 is even.
    pub fn balance(&self) -> f64 {
        let times = self.shares.iter().filter(|share| share.rows > 0).map(|share| share.done.as_secs_f64());
        let (sum, longest, count) = times
            .fold((0.0, 0.0_f64, 0.0), |(sum, longest, n), time| (sum + time, longest.max(time), n + 1.0));
        if longest > 0.0 { sum / count / longest } else { 1.0 }
    }
}
