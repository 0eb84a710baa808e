//! The kernels of a set-up.

use super::coarse_space::SiteNumbers;
use crate::device::{Device, DeviceError, Kernel, KernelFamily, KernelKey, Parameter};
use crate::scalar::{Precision, Real};

const SETUP: KernelFamily = KernelFamily::new(
    "multigrid_setup",
    &[
        include_str!("../../cl/lanes.cl"),
        include_str!("../../cl/multigrid/chunks.cl"),
        include_str!("../../cl/multigrid/setup.cl"),
    ],
);

/// Tells whether numbers of this precision are kept in 16 bits.
pub(super) fn is_fixed<R: Real>() -> bool {
    R::PRECISION == Precision::Single
}

/// Columns that a work-item of the kernels of rows has.
const TILE: usize = 8;

/// Returns the number of tiles of a row of so many vectors.
pub(super) fn tiles(vectors: usize) -> usize {
    vectors.div_ceil(TILE)
}

/// Returns the number of reals of such a row.
pub(super) fn reals_of_row(vectors: usize) -> usize {
    2 * TILE * tiles(vectors)
}

/// Returns the kernel of this name.
///
/// `fine_lanes` are the lanes of vectors of the finer level.
pub(super) fn kernel<R: Real>(
    device: &Device,
    name: &str,
    coarse: SiteNumbers,
    fine_lanes: usize,
) -> Result<Kernel, DeviceError> {
    let key = KernelKey::of_real::<R>(SETUP)
        .lanes(coarse.lanes)
        .define("IN_LANES", fine_lanes)
        .define("VECTORS", coarse.columns / 2)
        .define("FIXED", u8::from(is_fixed::<R>()));
    device.program(&key)?.kernel(name, &parameters::<R>(name))
}

fn parameters<R: Real>(name: &str) -> Vec<Parameter> {
    let (input, output, count) = (Parameter::input::<R>, Parameter::output::<R>, Parameter::value::<u32>);
    let kept = |name| {
        if is_fixed::<R>() { Parameter::output::<i16>(name) } else { Parameter::output::<R>(name) }
    };
    let counts = |names: &[&'static str]| names.iter().map(|name| count(name)).collect::<Vec<_>>();
    let (others, counts) = match name {
        "collect_vectors" => (
            vec![input("fine"), output("rows")],
            counts(&["first", "sources", "sites", "half_site", "fine_site", "fine_stride"]),
        ),
        "gram_matrices" => (
            vec![input("rows"), Parameter::input::<u32>("members"), Parameter::output::<f64>("grams")],
            counts(&["aggregates", "per_aggregate", "half_site"]),
        ),
        "factor_grams" => (
            vec![Parameter::output::<f64>("grams"), Parameter::output::<u32>("flags")],
            counts(&["matrices"]),
        ),
        "multiply_rows" => {
            let mut all = vec![
                output("rows"),
                Parameter::input::<f64>("factors"),
                Parameter::input::<u32>("aggregate_of"),
            ];
            all.extend(counts(&["count", "half_site"]));
            all.push(Parameter::local::<R>("own"));
            (all, Vec::new())
        }
        "keep_vectors" => (
            vec![input("rows"), kept("vectors"), Parameter::output::<f32>("units")],
            counts(&["count", "chunks"]),
        ),
        "keep_numbers" => {
            let mut all = vec![input("from"), kept("to"), Parameter::output::<f32>("units")];
            all.extend(counts(&["reals"]));
            all.push(Parameter::local::<f32>("largest"));
            (all, Vec::new())
        }
        "store_columns" => (
            vec![input("even"), input("odd"), output("blocks")],
            counts(&["volume", "evens", "columns", "chunks", "block", "column", "sources", "stride"]),
        ),
        "complete_blocks" => (
            vec![output("blocks"), Parameter::input::<u32>("neighbours")],
            counts(&["volume", "evens", "columns", "chunks", "directions"]),
        ),
        "invert_sites" => {
            let mut all = vec![
                output("blocks"),
                Parameter::output::<f64>("scratch"),
                Parameter::output::<u32>("flags"),
            ];
            all.extend(counts(&["first", "n", "chunks"]));
            all.extend([Parameter::local::<f64>("factors"), Parameter::local::<u32>("order")]);
            (all, Vec::new())
        }
        _ => (vec![input("from"), output("to")], counts(&["volume", "columns", "chunks"])),
    };
    others.into_iter().chain(counts).collect()
}
