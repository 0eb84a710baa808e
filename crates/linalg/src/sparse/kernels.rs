//! The kernels of `cl/sparse.cl` on one device.

use super::format::GPU_SLICE;
use crate::host::level1::Arithmetic;
use lattice_compute::{Device, DeviceKind, Kernel, KernelFamily, KernelKey, Parameter, Range, Result};
use num_complex::Complex;
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

/// Returns the parameter of a matrix's values.
pub(super) fn values_parameter<T: Arithmetic>(single: bool) -> Parameter {
    match (single, T::IS_COMPLEX) {
        (false, _) => Parameter::input::<T>("values"),
        (true, false) => Parameter::input::<f32>("values"),
        (true, true) => Parameter::input::<Complex<f32>>("values"),
    }
}

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
        let (long, int) = (Parameter::value::<u64>, Parameter::value::<u32>);
        let (starts, indices) = (Parameter::input::<u64>, Parameter::input::<u32>);
        let values = values_parameter::<T>(single);
        let (x, y) = (Parameter::input::<T>("x"), Parameter::output::<T>("y"));
        let (results, vectors, chunk) = (long("results"), int("vectors"), long("chunk"));
        let columns = indices("columns");
        Ok(Self {
            csr_rows: program.kernel(
                "csr_rows",
                &[
                    results,
                    vectors,
                    chunk,
                    int("team"),
                    int("longest"),
                    starts("starts"),
                    columns,
                    values,
                    x,
                    y,
                ],
            )?,
            csr_parts: program.kernel(
                "csr_parts",
                &[vectors, starts("bounds"), columns, values, x, Parameter::output::<T>("partials")],
            )?,
            full_parts: program.kernel(
                "full_parts",
                &[
                    vectors,
                    starts("bounds"),
                    indices("first_columns"),
                    values,
                    x,
                    Parameter::output::<T>("partials"),
                ],
            )?,
            part_sums: program.kernel(
                "part_sums",
                &[results, vectors, indices("rows"), indices("first"), Parameter::input::<T>("partials"), y],
            )?,
            sell: program.kernel(
                "sell",
                &[
                    results,
                    vectors,
                    chunk,
                    int("rows"),
                    starts("starts"),
                    indices("lengths"),
                    indices("rows_of"),
                    columns,
                    values,
                    x,
                    y,
                ],
            )?,
            diagonals: program.kernel(
                "diagonals",
                &[
                    results,
                    vectors,
                    chunk,
                    long("rows"),
                    long("column_count"),
                    int("count"),
                    Parameter::input::<i64>("offsets"),
                    values,
                    x,
                    y,
                ],
            )?,
            coo_segments: program.kernel(
                "coo_segments",
                &[
                    results,
                    vectors,
                    long("entries"),
                    long("segment"),
                    indices("rows_of"),
                    columns,
                    values,
                    x,
                    Parameter::output::<T>("heads"),
                    y,
                ],
            )?,
            coo_heads: program.kernel(
                "coo_heads",
                &[
                    results,
                    vectors,
                    long("entries"),
                    long("segment"),
                    indices("rows_of"),
                    Parameter::input::<T>("heads"),
                    y,
                ],
            )?,
            symmetric: program.kernel(
                "symmetric",
                &[
                    int("count"),
                    int("first"),
                    vectors,
                    int("rows"),
                    int("block_rows"),
                    indices("order"),
                    starts("starts"),
                    columns,
                    values,
                    x,
                    y,
                ],
            )?,
            substitute: program.kernel(
                "substitute",
                &[
                    int("first_level"),
                    int("last_level"),
                    indices("level_starts"),
                    indices("order"),
                    starts("starts"),
                    columns,
                    Parameter::input::<T>("values"),
                    Parameter::input::<T>("inverse"),
                    Parameter::input::<T>("b"),
                    Parameter::output::<T>("x"),
                ],
            )?,
            sweep: program.kernel(
                "sweep",
                &[
                    int("rows"),
                    chunk,
                    int("from_zero"),
                    starts("starts"),
                    columns,
                    Parameter::input::<T>("values"),
                    Parameter::input::<T>("inverse"),
                    Parameter::input::<T>("b"),
                    Parameter::input::<T>("before"),
                    Parameter::output::<T>("x"),
                ],
            )?,
            cut,
            element: PhantomData,
        })
    }
}
