//! A product of matrices in host memory, and how it is cut.

use super::host_matrix::HostRef;
use super::room::{Room, Sizes};
use super::schedule::LEAST_ROWS;
use super::transfer::Transfer;
use crate::gemm::{Arithmetic as Accuracy, GemmParams, GemmTuning};
use crate::host::level1::Arithmetic;
use crate::matrix::Order;
use crate::op::Op;
use lattice_compute::Device;
use lattice_compute::scalar::Factor;

/// Bytes of a panel of B, if the panel is to have more than [`LEAST_COLUMNS`].
const PANEL: usize = 512 << 20;

const LEAST_COLUMNS: usize = 256;
const MOST_COLUMNS: usize = 2048;

/// The product α op(A) op(B), cut into tiles.
///
/// *Strips* are rows of op(A), *panels* are columns of op(B). A strip and a panel make a *tile* of
/// C.
pub struct Job<'a, T> {
    pub ops: [Op; 2],
    pub alpha: Factor<T>,
    pub a: HostRef<'a, T>,
    pub b: HostRef<'a, T>,
    /// Order of C.
    pub order: Order,
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// Columns of a panel.
    pub panel: usize,
}

impl<'a, T: Arithmetic> Job<'a, T> {
    pub fn new(
        ops: [Op; 2],
        alpha: Factor<T>,
        a: HostRef<'a, T>,
        b: HostRef<'a, T>,
        order: Order,
        panel: Option<usize>,
    ) -> Self {
        let (m, k) = ops[0].shape(a.layout().rows, a.layout().columns);
        let (_, n) = ops[1].shape(b.layout().rows, b.layout().columns);
        let suitable = PANEL / (k * size_of::<T>()).max(1) / LEAST_COLUMNS * LEAST_COLUMNS;
        let panel = panel.unwrap_or(suitable.clamp(LEAST_COLUMNS, MOST_COLUMNS)).clamp(1, n.max(1));
        Self { ops, alpha, a, b, order, m, n, k, panel }
    }

    /// Returns the number of panels.
    pub fn panels(&self) -> usize {
        self.n.div_ceil(self.panel)
    }

    /// Makes the way to and from a device.
    ///
    /// It cuts all matrices in the same way for all devices.
    pub fn transfer(&self, device: &Device) -> Transfer<T> {
        let (rows, columns) = (self.m.max(self.n), self.k.max(self.n));
        Transfer::new(device, rows.max(columns), rows.saturating_mul(columns))
    }

    /// Returns the rows of a strip whose tiles keep a device busy.
    ///
    /// Multiples of these rows keep it busy too.
    pub fn strip(&self, device: &Device, params: &GemmParams) -> usize {
        let tuning = params.tuning.unwrap_or_else(|| GemmTuning::shipped::<T>(device, Accuracy::Ieee));
        let [first, second] = tuning.tile();
        // Products with a row-major C are computed transposed.
        let [rows, columns] =
            if self.order == Order::ColumnMajor { [first, second] } else { [second, first] };
        let groups = filling(device.info().compute_units.max(1), self.panel.div_ceil(columns));
        (rows * groups).max(LEAST_ROWS)
    }

    /// Returns the parts that fit in `memory` bytes.
    ///
    /// Strips have at most `rows` rows.
    pub fn room(&self, memory: u64, rows: usize) -> Room {
        let bytes = |lines: usize, length: usize| lines.saturating_mul(length).saturating_mul(size_of::<T>());
        Room::new(
            memory,
            Sizes {
                strip: bytes(rows, self.k),
                panel: bytes(self.panel, self.k),
                tile: bytes(rows, self.panel),
                b: bytes(self.n, self.k),
            },
        )
    }
}

/// Returns the rows of work-groups that fill the units of a device best.
///
/// A row has `groups_of_row` work-groups. The rows fill the units at least once. In the last round
/// nearly all units are busy.
fn filling(units: usize, groups_of_row: usize) -> usize {
    let least = units.div_ceil(groups_of_row);
    let busy = |rows: usize| {
        let groups = rows * groups_of_row;
        groups as f64 / groups.next_multiple_of(units) as f64
    };
    // The choice among equals is the one with the fewest rows.
    (least..=2 * least).rev().max_by(|&a, &b| busy(a).total_cmp(&busy(b))).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_fill_the_units() {
        assert_eq!(
            filling(132, 16),
            16,
            "256 groups on 2·132 units; 9·16 would leave nearly half of them idle"
        );
        assert_eq!(filling(132, 12), 11, "all of them");
        assert_eq!(filling(2, 1), 2);
        assert_eq!(filling(1, 7), 1);
        assert_eq!(filling(4, 100), 1);
    }
}
