//! The kernels of `cl/multigrid.cl` on one device.

use crate::host::level1::Arithmetic;
use lattice_compute::{Device, DeviceKind, Kernel, KernelFamily, KernelKey, Parameter, Result};
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

/// Makes a structure of kernels with their parameters.
macro_rules! kernels {
    ($( $name:ident($( $kind:ident $parameter:ident: $type:ty ),*); )*) => {
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
                    $( $name: program.kernel(
                        stringify!($name),
                        &[$( Parameter::$kind::<$type>(stringify!($parameter)) ),*],
                    )?, )*
                    element: PhantomData,
                })
            }
        }
    };
}

kernels! {
    chunk_sums(value count: u32, input lengths: u32, output sums: u64);
    chunk_starts(value count: u32, input lengths: u32, input before: u64, output starts: u64);
    row_facts(
        value rows: u32, input starts: u64, input columns: u32, input values: T, output diagonal: T, output inverse: T,
        output ratios: f64, output least: f64, output zeros: u32
    );
    point_sizes(
        value points: u32, value block: u32, input starts: u64, input columns: u32, input values: T, output sizes: f64
    );
    graph_lengths(
        value points: u32, value block: u32, value least: f32, input starts: u64, input columns: u32, input values: T,
        input sizes: f64, output lengths: u32
    );
    graph_fill(
        value points: u32, value block: u32, value least: f32, input starts: u64, input columns: u32, input values: T,
        input sizes: f64, input graph_starts: u64, output neighbours: u32, output strengths: f32
    );
    seeds_begin(value points: u32, input graph_starts: u64, output states: u64);
    seeds_spread(
        value points: u32, input graph_starts: u64, input neighbours: u32, input states: u64, output around: u64
    );
    seeds_decide(
        value points: u32, input graph_starts: u64, input neighbours: u32, input around: u64, output states: u64,
        output left: u32
    );
    seed_flags(value points: u32, input states: u64, output flags: u32);
    join_seeds(
        value points: u32, input graph_starts: u64, input neighbours: u32, input states: u64, input numbers: u64,
        output aggregates: u32
    );
    join_others(
        value points: u32, input graph_starts: u64, input neighbours: u32, input strengths: f32, input aggregates: u32,
        output joined: u32
    );
    member_flags(value points: u32, input aggregates: u32, output flags: u32);
    member_columns(value points: u32, input aggregates: u32, input member_starts: u64, output columns: u32);
    tentative_pattern(
        value rows: u32, value block: u32, value modes: u32, input aggregates: u32, input member_starts: u64,
        output starts: u64, output columns: u32
    );
    orthonormalise(
        value aggregates: u32, value block: u32, value modes: u32, value dependent: f64, input member_starts: u64,
        input members: u32, input starts: u64, input near_null: T, output q: T, output coarse: T
    );
    count_columns(value entries: u64, input columns: u32, output lengths: u32);
    fill_columns(
        value rows: u32, input starts: u64, input columns: u32, input column_starts: u64, output filled: u32,
        output rows_of: u32, output entries_of: u64
    );
    sort_columns(value columns: u32, input starts: u64, output rows_of: u32, output entries_of: u64);
    gather_conjugate(value entries: u64, input entries_of: u64, input values: T, output gathered: T);
    product_lengths(
        value rows: u32, input a_starts: u64, input a_columns: u32, input b_starts: u64, input b_columns: u32,
        output lengths: u32
    );
    product_fill(
        value rows: u32, input a_starts: u64, input a_columns: u32, input a_values: T, input b_starts: u64,
        input b_columns: u32, input b_values: T, input starts: u64, output columns: u32, output values: T
    );
    product_lengths_by_groups(
        input a_starts: u64, input a_columns: u32, input b_starts: u64, input b_columns: u32, output lengths: u32
    );
    product_fill_by_groups(
        input a_starts: u64, input a_columns: u32, input a_values: T, input b_starts: u64, input b_columns: u32,
        input b_values: T, input starts: u64, output columns: u32, output values: T
    );
    smooth_prolongator(
        value rows: u32, value omega: f64, input starts: u64, input columns: u32, input diagonal: T, input t_starts: u64,
        input t_columns: u32, input t_values: T, output values: T
    );
    mend_rows(value rows: u32, input starts: u64, input columns: u32, output values: T);
    scale_entries(
        value rows: u32, value by_columns: u32, value by_rows: u32, input starts: u64, input columns: u32,
        input values: T, input of_columns: T, input of_rows: T, output scaled_values: T
    );
    slots(value rows: u32, value window: u32, input starts: u64, output rows_of: u32, output lengths: u32);
    slice_lengths(value slices: u32, value height: u32, input lengths: u32, output padded: u32);
    slice_fill(
        value slots: u32, value height: u32, input starts: u64, input columns: u32, input values: T,
        input slice_starts: u64, input rows_of: u32, input lengths: u32, output slice_columns: u32,
        output slice_values: T
    );
}
