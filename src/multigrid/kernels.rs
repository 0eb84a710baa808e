//! The kernels between levels, and of coarse operators.

use super::coarse_space::SiteNumbers;
use super::kept;
use crate::device::{Device, DeviceError, Kernel, KernelFamily, KernelKey, Parameter};
use crate::scalar::Real;

const MULTIGRID: KernelFamily = KernelFamily::new(
    "multigrid",
    &[include_str!("../../cl/lanes.cl"), include_str!("../../cl/multigrid/transfer.cl")],
);

/// Work-items of a group.
pub(super) const LOCAL_SIZE: usize = 64;

/// The key of the kernels of a coarse level.
fn key<R: Real>(coarse: SiteNumbers, fine_lanes: usize) -> KernelKey {
    KernelKey::of_real::<R>(MULTIGRID)
        .lanes(coarse.lanes)
        .define("IN_LANES", fine_lanes)
        .define("FIXED", u8::from(kept::is_fixed::<R>()))
}

/// The kernel of this name.
pub(super) fn kernel<R: Real>(
    device: &Device,
    name: &str,
    coarse: SiteNumbers,
    fine_lanes: usize,
) -> Result<Kernel, DeviceError> {
    device.program(&key::<R>(coarse, fine_lanes))?.kernel(name, &parameters::<R>(name))
}

fn parameters<R: Real>(name: &str) -> Vec<Parameter> {
    let (input, output) = (Parameter::input::<R>, Parameter::output::<R>);
    let (numbers, count) = (Parameter::input::<u32>, Parameter::value::<u32>);
    let [vectors, units] = kept::parameters::<R>(if name == "coarse_hop" { "blocks" } else { "vectors" });
    match name {
        "restrict_vector" => vec![
            vectors,
            units,
            input("fine"),
            numbers("members"),
            output("even"),
            output("odd"),
            count("aggregates"),
            count("evens"),
            count("per_aggregate"),
            count("half_site"),
            count("fine_site"),
            count("chunks"),
        ],
        "prolong_vector" => vec![
            vectors,
            units,
            input("even"),
            input("odd"),
            numbers("aggregate_of"),
            output("fine"),
            count("sites"),
            count("evens"),
            count("half_site"),
            count("fine_site"),
            count("chunks"),
        ],
        "take_vector" => vec![
            vectors,
            units,
            numbers("flags"),
            output("fine"),
            count("sites"),
            count("column"),
            count("bit"),
            count("half_site"),
            count("fine_site"),
            count("chunks"),
        ],
        _ => vec![
            vectors,
            units,
            numbers("neighbours"),
            input("in"),
            input("own"),
            output("out"),
            count("first"),
            count("sites"),
            count("columns"),
            count("chunks"),
            count("mask"),
            Parameter::value::<R>("alpha"),
            Parameter::value::<R>("beta"),
        ],
    }
}
