//! Steps of a panel, in one launch where work-groups can meet between them.

use lattice_compute::Device;
use std::ops::Range;

/// The source of the barrier between work-groups.
pub const MEETING: &str = include_str!("../../cl/meeting.cl");

/// Returns the steps of each launch.
///
/// A single group does all steps in one launch. Several groups do so on NVIDIA GPUs, if each finds a
/// compute unit: they wait for each other. Otherwise each step is a launch.
pub fn launches(device: &Device, groups: usize, steps: usize) -> Vec<Range<usize>> {
    let meet = device.supports_inline_ptx() && groups <= device.info().compute_units;
    let most = if groups == 1 || meet { steps.max(1) } else { 1 };
    (0..steps).step_by(most).map(|first| first..(first + most).min(steps)).collect()
}
