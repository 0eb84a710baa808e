//! The programs of pair forces, and their kernels.

use super::places::PairPrecision;
use super::table::Samples;
use crate::host::Pairs;
use crate::options::{Fetch, List, Options, Precision};
use crate::potential::{Potential, Shift};
use crate::table::{Interpolation, Mode, Spacing};
use lattice_compute::{Device, DeviceKind, Kernel, KernelFamily, KernelKey, Program, Result};
use std::sync::Arc;

const PAIRS: KernelFamily = KernelFamily::new("md-pairs", &[include_str!("../../cl/pairs.cl")]);

/// What a program of pair forces makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Makes {
    /// Forces, and the count of pairs below a table's first sample.
    ForcesAlone,
    /// Energy, virial and counts too.
    SumsToo,
}

/// Returns the name and the text of the kernel that finds pairs so.
fn pairs_text(list: List) -> (&'static str, &'static str) {
    match list {
        List::AllPairs => ("all-pairs", include_str!("../../cl/all_pairs.cl")),
        List::Cells { .. } => ("listed-pairs", include_str!("../../cl/listed_pairs.cl")),
        List::HalfCells { .. } => ("half-pairs", include_str!("../../cl/half_pairs.cl")),
        List::Matrix => ("matrix-pairs", include_str!("../../cl/matrix_pairs.cl")),
    }
}

/// Builds the program for one potential.
pub(super) fn program<T: PairPrecision>(
    device: &Device,
    pairs: &Pairs<'_>,
    samples: &Samples<T>,
    options: &Options,
    group: usize,
    makes: Makes,
) -> Result<Arc<Program>> {
    let shift = match pairs.shift {
        Shift::None => 0,
        Shift::Energy => 1,
        Shift::Force => 2,
    };
    let key = layout::<T>(device, group)
        .define("SUM", if options.precision == Precision::Single { "float" } else { "double" })
        .define("ONE_TYPE", u8::from(pairs.potential.types() == 1))
        .define("SHIFT", shift)
        .define("WITH_SUMS", u8::from(makes == Makes::SumsToo));
    let key = match pairs.potential {
        Potential::Formula { formula, .. } => {
            let (name, text) = formula.kernel_text();
            key.part(name, text)
        }
        Potential::Table { table, mode } => key
            .define("IMAGE", u8::from(samples.fetch() == Some(Fetch::Image)))
            .define("CUBIC", u8::from(table.interpolation() == Interpolation::Cubic))
            .define("SQUARES", u8::from(table.grid().spacing == Spacing::R2))
            .define("POTENTIAL", u8::from(*mode == Mode::Potential))
            .part("table", include_str!("../../cl/pair_table.cl")),
    };
    let (name, text) = pairs_text(options.list);
    let key = key.part("force", include_str!("../../cl/pair_force.cl")).part(name, text);
    // Only tests and errors of tables ask for a curve, which the slower program makes.
    device.program(&if makes == Makes::SumsToo {
        key.part("curve", include_str!("../../cl/curve.cl"))
    } else {
        key
    })
}

/// Builds the program of what does not depend on the potential: places, lists and motion.
pub(super) fn program_of_atoms<T: PairPrecision>(device: &Device, group: usize) -> Result<Arc<Program>> {
    let key = layout::<T>(device, group)
        .part("places", include_str!("../../cl/places.cl"))
        .part("cells", include_str!("../../cl/cells.cl"))
        .part("neighbours", include_str!("../../cl/neighbours.cl"))
        .part("motion", include_str!("../../cl/motion.cl"));
    device.program(&key)
}

/// Returns the part of a key that every program has.
fn layout<T: PairPrecision>(device: &Device, group: usize) -> KernelKey {
    KernelKey::of_real::<T>(PAIRS)
        .define("BY_ATOM", u8::from(device.info().kind == DeviceKind::Cpu))
        .define("LOCAL_SIZE", group)
}

/// Returns the kernel of forces of a program of [`program`].
pub(super) fn force_kernel(program: &Program, list: List) -> Result<Kernel> {
    let name = match list {
        List::AllPairs => "md_all_pairs",
        List::Cells { .. } => "md_listed_pairs",
        List::HalfCells { .. } => "md_half_pairs",
        List::Matrix => "md_matrix_pairs",
    };
    program.kernel(name)
}
