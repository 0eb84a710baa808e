//! Memory for sums that finish inside a launch (`cl/reduction.cl`).

use super::number::{Number, Slot};
use crate::error::Result;
use crate::kernel::{Argument, Parameter};
use crate::memory::Memory;
use crate::open::Device;
use crate::sync::lock;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Sums that one launch can make.
pub const REDUCTION_VALUES: usize = 3;

/// Work-groups for which a workspace is made, unless more are asked for.
const DEFAULT_GROUPS: usize = 1024;

/// OpenCL C text that kernels with a reduction are compiled with: part of the sources of their family.
pub const REDUCTION_SOURCE: &str = include_str!("../../cl/reduction.cl");

/// Work-groups in a bucket, `REDUCTION_BUCKET` of `cl/reduction.cl`.
const BUCKET: usize = 64;

/// What one reduction at a time needs on a device.
///
/// It holds no [`Device`], so that the device can keep it.
struct Workspace {
    /// Two words for each value of each work-group and of each bucket; all zero between launches.
    partials: Memory,
    /// Buckets that are done, then the work-groups that are, of each bucket; all zero between launches.
    counters: Memory,
    groups: usize,
}

/// The workspaces of a device that no launch is using.
#[derive(Default)]
struct WorkspacePool(Mutex<Vec<Workspace>>);

/// A workspace, taken from its device for one launch, and the place of its sums; dropping it gives both back.
///
/// Launches on a device run in order, so a workspace can serve the next launch as soon as it is back, whether
/// or not the sums of the last have been read.
pub struct Reduction {
    device: Device,
    /// Where the workspace goes back to.
    workspaces: Arc<WorkspacePool>,
    /// `None` only while being dropped.
    workspace: Option<Workspace>,
    /// `None` only while being dropped, or once the sums have become numbers.
    slot: Option<Slot>,
}

impl Device {
    /// A workspace for a launch of up to `groups` work-groups. Nothing is allocated if one is free.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`](crate::DeviceError::AllocationTooLarge),
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn reduction(&self, groups: usize) -> Result<Reduction> {
        let slot = self.slot()?;
        let workspaces = self.kept::<WorkspacePool>();
        let mut free = lock(&workspaces.0);
        let fitting =
            free.iter().rposition(|w| w.groups >= groups).map(|position| free.swap_remove(position));
        drop(free);
        let workspace = match fitting {
            Some(workspace) => workspace,
            None => Workspace::new(self, groups.max(DEFAULT_GROUPS))?,
        };
        Ok(Reduction { device: self.clone(), workspaces, workspace: Some(workspace), slot: Some(slot) })
    }
}

impl Workspace {
    fn new(device: &Device, groups: usize) -> Result<Self> {
        let zeroed = |count| Memory::zeroed(device.core(), count, size_of::<u32>());
        let buckets = groups.div_ceil(BUCKET);
        let entries = groups.saturating_add(buckets);
        Ok(Self {
            partials: zeroed(entries.saturating_mul(2 * REDUCTION_VALUES))?,
            counters: zeroed(1 + buckets)?,
            groups,
        })
    }
}

impl Reduction {
    /// The parameters that `REDUCTION_PARAMETERS` stands for, last in a kernel's declaration.
    pub fn parameters() -> [Parameter; 4] {
        [
            Parameter::output::<u32>("reduction_partials"),
            Parameter::output::<u32>("reduction_counters"),
            Parameter::output::<f64>("reduction_results"),
            Parameter::value::<u32>("reduction_slot"),
        ]
    }

    fn workspace(&self) -> &Workspace {
        self.workspace.as_ref().expect("a reduction has its workspace until it is dropped")
    }

    pub(super) fn slot(&self) -> &Slot {
        self.slot.as_ref().expect("a reduction has its slot until it is dropped")
    }

    /// The arguments for [`Reduction::parameters`].
    pub fn arguments(&mut self) -> [Argument<'_>; 4] {
        let workspace = self.workspace();
        let [results, slot] = self.slot().arguments();
        [workspace.partials.argument::<u32>(), workspace.counters.argument::<u32>(), results, slot]
    }

    /// The device of the launch.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Largest number of work-groups that a launch with this workspace may have.
    pub fn max_groups(&self) -> usize {
        self.workspace().groups
    }

    /// Waits for the launch and reads its sums; those that the kernel did not make are 0.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn read(self) -> Result<[f64; REDUCTION_VALUES]> {
        let [a, b, c, _] = self.slot().read()?;
        Ok([a, b, c])
    }

    /// The first two sums as one complex number, and the third, without waiting for them.
    pub fn numbers(mut self) -> [Number; 2] {
        Number::of_slot(self.slot.take().expect("a reduction has its slot until it is dropped"))
    }
}

impl Drop for Reduction {
    fn drop(&mut self) {
        if let Some(workspace) = self.workspace.take() {
            lock(&self.workspaces.0).push(workspace);
        }
    }
}

impl fmt::Debug for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reduction({} groups on {})", self.max_groups(), self.device.label())
    }
}
