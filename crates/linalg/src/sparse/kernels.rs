//! The kernels of `cl/sparse.cl` on one device.

use super::format::GPU_SLICE;
use crate::host::level1::Arithmetic;
use lattice_compute::{Device, DeviceKind, Kernel, KernelFamily, KernelKey, Range, Result};
use std::marker::PhantomData;
use std::sync::Arc;

const SPARSE: KernelFamily = KernelFamily::new(
    "sparse",
    &[
        include_str!("../../cl/elements.cl"),
        include_str!("../../cl/results.cl"),
        include_str!("../../cl/sparse.cl"),
    ],
);

/// Results that a group of a processor computes at least.
const FEWEST_RESULTS_OF_GROUP: usize = 64;

/// The kernels for elements of type `T` on one device, and how their work is cut.
pub(super) struct Kernels<T> {
    pub csr_rows: Kernel,
    pub csr_parts: Kernel,
    pub full_parts: Kernel,
    pub part_sums: Kernel,
    pub sell: Kernel,
    pub diagonals: Kernel,
    pub coo_segments: Kernel,
    pub coo_heads: Kernel,
    pub symmetric: Kernel,
    pub substitute: Kernel,
    pub sweep: Kernel,
    pub cut: Cut,
    element: PhantomData<fn() -> T>,
}

/// The division of work into work-groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Work-items of a group.
    pub local: usize,
    /// Groups that keep a processor busy; `None` where every result has a work-item.
    pub groups: Option<usize>,
    /// Rows of a slice.
    pub slice: usize,
    /// Rows of a slice, and of a diagonal, that a work-item computes at a time.
    pub rows_of_item: [usize; 2],
}

impl Cut {
    pub fn of(device: &Device) -> Self {
        let info = device.info();
        if info.kind == DeviceKind::Cpu {
            let groups = Some(16 * info.compute_units.max(1));
            return Self { local: 1, groups, slice: 8, rows_of_item: [8, 128] };
        }
        let local = 1 << info.max_work_group_size.clamp(1, 128).ilog2();
        Self { local, groups: None, slice: GPU_SLICE, rows_of_item: [1, 1] }
    }

    /// Returns the range for so many results, and the results of a work-item.
    ///
    /// `team` work-items compute each result.
    pub fn range(&self, results: usize, team: usize) -> (Range, u64) {
        match self.groups {
            None => (Range::covering(results * team, self.local), 1),
            Some(most) => {
                let groups = results.div_ceil(FEWEST_RESULTS_OF_GROUP).clamp(1, most);
                let chunk = results.div_ceil(groups);
                (Range::groups(results.div_ceil(chunk.max(1)).max(1), 1), chunk as u64)
            }
        }
    }

    /// Returns the number of work-items that share a row, a power of two.
    ///
    /// A row has `mean` entries on average.
    pub fn team(&self, mean: usize) -> usize {
        // Each has a few entries, or the sum over the team takes longer than its terms.
        (mean / 4).clamp(1, self.local.min(32)).next_power_of_two().min(self.local)
    }
}

/// The same with values in single precision.
struct OfSingleValues<T>(Arc<Kernels<T>>);

impl<T: Arithmetic> Kernels<T> {
    /// Returns the kernels of a device, for values in single precision if `single`.
    pub fn of(device: &Device, single: bool) -> Result<Arc<Self>> {
        if single {
            let kept = device
                .attached(|device| -> Result<_> { Ok(OfSingleValues(Arc::new(Self::new(device, true)?))) })?;
            return Ok(Arc::clone(&kept.0));
        }
        device.attached(|device| Self::new(device, false))
    }

    fn new(device: &Device, single: bool) -> Result<Self> {
        let cut = Cut::of(device);
        let key = KernelKey::of_element::<T>(SPARSE)
            .define("LOCAL_SIZE", cut.local)
            .define("SLICE", cut.slice)
            .define("SLICE_ROWS", cut.rows_of_item[0])
            .define("DIAGONAL_ROWS", cut.rows_of_item[1])
            .define("PART_SUMS", if cut.groups.is_some() { 8 } else { 2 })
            .define("SINGLE_VALUES", u8::from(single));
        let program = device.program(&key)?;
        Ok(Self {
            csr_rows: program.kernel("csr_rows")?,
            csr_parts: program.kernel("csr_parts")?,
            full_parts: program.kernel("full_parts")?,
            part_sums: program.kernel("part_sums")?,
            sell: program.kernel("sell")?,
            diagonals: program.kernel("diagonals")?,
            coo_segments: program.kernel("coo_segments")?,
            coo_heads: program.kernel("coo_heads")?,
            symmetric: program.kernel("symmetric")?,
            substitute: program.kernel("substitute")?,
            sweep: program.kernel("sweep")?,
            cut,
            element: PhantomData,
        })
    }
}
