//! The kernels of `cl/multigrid.cl` on one device.

use crate::host::level1::Arithmetic;
use lattice_compute::{Device, DeviceKind, Kernel, KernelFamily, KernelKey, Result};
use std::marker::PhantomData;

/// Sums are those of the host, so no product is kept without rounding.
const NO_CONTRACTION: &str = "#pragma OPENCL FP_CONTRACT OFF\n";

const MULTIGRID: KernelFamily = KernelFamily::new(
    "multigrid set-up",
    &[
        NO_CONTRACTION,
        include_str!("../../../../cl/elements.cl"),
        include_str!("../../../../cl/multigrid.cl"),
    ],
);

/// Lengths that a work-item adds up.
pub(super) const CHUNK: usize = 64;

/// Columns of a row of a product that have room in local memory, with gaps: a power of two.
const TABLE: usize = 1024;

/// Work-items of a group on GPUs and on processors.
const LOCALS: [usize; 2] = [128, 16];

/// Makes a structure of kernels.
macro_rules! kernels {
    ($( $name:ident, )*) => {
        /// The kernels for elements of type `T` on one device.
        pub(super) struct Kernels<T> {
            pub local: usize,
            $( pub $name: Kernel, )*
            element: PhantomData<fn() -> T>,
        }

        impl<T: Arithmetic> Kernels<T> {
            pub fn new(device: &Device) -> Result<Self> {
                let info = device.info();
                let wanted = LOCALS[usize::from(info.kind == DeviceKind::Cpu)];
                let local = wanted.min(info.max_work_group_size);
                let key = KernelKey::of_element::<T>(MULTIGRID)
                    .define("LOCAL_SIZE", local)
                    .define("CHUNK", CHUNK)
                    .define("TABLE", TABLE);
                let program = device.program(&key)?;
                Ok(Self {
                    local,
                    $( $name: program.kernel(stringify!($name))?, )*
                    element: PhantomData,
                })
            }
        }
    };
}

kernels! {
    chunk_sums, chunk_starts, row_facts, point_sizes, graph_lengths, graph_fill, seeds_begin,
    seeds_spread, seeds_decide, seed_flags, join_seeds, join_others, member_flags,
    member_columns, tentative_pattern, orthonormalise, count_columns, fill_columns,
    sort_columns, gather_conjugate, product_lengths, product_fill, product_lengths_by_groups,
    product_fill_by_groups, smooth_prolongator, mend_rows, scale_entries, slots, slice_lengths,
    slice_fill,
}
