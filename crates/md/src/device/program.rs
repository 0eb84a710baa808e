//! The programs of pair forces, and their kernels.

use super::places::Place;
use super::table::Samples;
use crate::evaluation::SUMS;
use crate::host::Pairs;
use crate::options::{Fetch, Precision};
use crate::potential::{Potential, Shift};
use crate::table::Mode;
use lattice_compute::{Device, DeviceKind, Kernel, KernelFamily, KernelKey, Parameter, Program, Result};
use std::sync::Arc;

const PAIRS: KernelFamily = KernelFamily::new("md-pairs", &[include_str!("../../cl/pairs.cl")]);

/// Work-items of a group on GPUs.
const GROUP: usize = 64;

/// What a program of pair forces makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Makes {
    /// Forces.
    ForcesAlone,
    /// Energy, virial and counts too.
    SumsToo,
}

/// The kernels of forces that make the same things.
pub(super) struct ForceKernels {
    pub all_pairs: Kernel,
    pub listed_pairs: Kernel,
}

/// Returns the size of work-groups on a device.
pub(super) fn group(device: &Device) -> usize {
    let info = device.info();
    let by_memory = info.local_memory_bytes as usize / (16 * SUMS);
    match info.kind {
        DeviceKind::Cpu => 1,
        _ => GROUP.min(info.max_work_group_size).min(by_memory).max(1),
    }
}

/// Builds the program for one potential.
pub(super) fn program<T: Place>(
    device: &Device,
    pairs: &Pairs<'_>,
    samples: &Samples<T>,
    precision: Precision,
    makes: Makes,
) -> Result<Arc<Program>> {
    let shift = match pairs.shift {
        Shift::None => 0,
        Shift::Energy => 1,
        Shift::Force => 2,
    };
    let key = layout::<T>(device)
        .define("SUM", if precision == Precision::Single { "float" } else { "double" })
        .define("ONE_TYPE", u8::from(pairs.potential.types() == 1))
        .define("SHIFT", shift)
        .define("WITH_SUMS", u8::from(makes == Makes::SumsToo));
    let key = match pairs.potential {
        Potential::Formula { formula, .. } => {
            let (name, text) = formula.kernel_text();
            key.part(name, text)
        }
        Potential::Table { mode, .. } => key
            .define("IMAGE", u8::from(samples.fetch() == Some(Fetch::Image)))
            .define("POTENTIAL", u8::from(*mode == Mode::Potential))
            .part("table", include_str!("../../cl/pair_table.cl")),
    };
    let key = key
        .part("force", include_str!("../../cl/pair_force.cl"))
        .part("all-pairs", include_str!("../../cl/all_pairs.cl"))
        .part("listed-pairs", include_str!("../../cl/listed_pairs.cl"));
    // Only tests and errors of tables ask for a curve, which the slower program makes.
    device.program(&if makes == Makes::SumsToo {
        key.part("curve", include_str!("../../cl/curve.cl"))
    } else {
        key
    })
}

/// Builds the program of what does not depend on the potential: places, lists and motion.
pub(super) fn program_of_atoms<T: Place>(device: &Device) -> Result<Arc<Program>> {
    let key = layout::<T>(device)
        .part("places", include_str!("../../cl/places.cl"))
        .part("cells", include_str!("../../cl/cells.cl"))
        .part("neighbours", include_str!("../../cl/neighbours.cl"))
        .part("motion", include_str!("../../cl/motion.cl"));
    device.program(&key)
}

/// Returns the part of a key that every program has.
fn layout<T: Place>(device: &Device) -> KernelKey {
    KernelKey::of_real::<T>(PAIRS)
        .define("BY_ATOM", u8::from(device.info().kind == DeviceKind::Cpu))
        .define("LOCAL_SIZE", group(device))
}

impl ForceKernels {
    pub fn of<T: Place>(program: &Program, samples: &Samples<T>, makes: Makes) -> Result<Self> {
        let [constants, rows] = ["constants", "rows"].map(Parameter::input::<T>);
        let [types, atoms, capacity] = ["types", "atoms", "capacity"].map(Parameter::value::<u32>);
        let [neighbours, lengths] = ["neighbours", "lengths"].map(Parameter::input::<u32>);
        let places = Parameter::input::<T::Coordinate>("places");
        let mut last = vec![Parameter::output::<f64>("forces")];
        last.extend(samples.parameters());
        if makes == Makes::SumsToo {
            last.push(Parameter::output::<f64>("parts"));
        }
        let all = [&[places, constants, rows, types, atoms][..], &last].concat();
        let listed =
            [&[places, constants, rows, types, neighbours, lengths, atoms, capacity][..], &last].concat();
        Ok(Self {
            all_pairs: program.kernel("md_all_pairs", &all)?,
            listed_pairs: program.kernel("md_listed_pairs", &listed)?,
        })
    }
}
