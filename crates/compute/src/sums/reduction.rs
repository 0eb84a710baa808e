//! Memory for sums that finish inside a launch (`cl/reduction.cl`).

use super::number::{Number, Slot};
use crate::error::Result;
use crate::kernel::Argument;
use crate::memory::Memory;
use crate::open::Device;
use crate::sync::lock;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Number of sums that a launch can make by [`Device::reduction`].
pub const REDUCTION_VALUES: usize = 3;

/// Largest number of sums that a launch can make by [`Device::many_sums`].
pub const MOST_SUMS: usize = 8;

/// Number of work-groups that a workspace is made for, unless more are asked for.
const DEFAULT_GROUPS: usize = 1024;

/// OpenCL C text of reductions, part of the sources of families that use them.
pub const REDUCTION_SOURCE: &str = include_str!("../../cl/reduction.cl");

/// Work-groups in a bucket, `REDUCTION_BUCKET` of `cl/reduction.cl`.
const BUCKET: usize = 64;

/// The memory that one reduction at a time needs on a device.
///
/// The workspace holds no [`Device`], so that the device can keep it.
struct Workspace {
    /// Two words for each value of each work-group and of each bucket.
    ///
    /// All words are zero between launches.
    partials: Memory,
    /// Number of finished buckets, then the finished work-groups of each bucket.
    ///
    /// All counters are zero between launches.
    counters: Memory,
    groups: usize,
}

/// The workspaces of a device that no launch is using.
#[derive(Default)]
struct WorkspacePool(Mutex<Vec<Workspace>>);

/// A workspace, taken from its device for one launch, and the place of its sums.
///
/// Dropping gives workspace and place back.
///
/// Launches on a device run in order. So a workspace that is back can serve the next launch at
/// once. The sums of the last launch need not be read before.
pub struct Reduction {
    device: Device,
    /// The pool that the workspace goes back to.
    workspaces: Arc<WorkspacePool>,
    /// The workspace; `None` only while being dropped.
    workspace: Option<Workspace>,
    /// The place of the sums; `None` once they have become numbers.
    ///
    /// The field is `None` while being dropped as well.
    slot: Option<Slot>,
}

impl Device {
    /// Returns a workspace for a launch of up to `groups` work-groups.
    ///
    /// Nothing is allocated if a workspace is free.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`](crate::DeviceError::AllocationTooLarge),
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn reduction(&self, groups: usize) -> Result<Reduction> {
        let slot = self.slot()?;
        let (workspaces, workspace) = self.workspace(groups)?;
        Ok(Reduction { device: self.clone(), workspaces, workspace: Some(workspace), slot: Some(slot) })
    }

    /// Returns a workspace for a launch of up to `groups` work-groups that makes `count` real sums.
    ///
    /// The kernel takes `MANY_SUMS_PARAMETERS` of `cl/reduction.cl`.
    ///
    /// # Errors
    /// All errors of [`Device::reduction`].
    ///
    /// # Panics
    /// Unless `count` is from 1 to [`MOST_SUMS`].
    pub fn many_sums(&self, groups: usize, count: usize) -> Result<ManySums> {
        assert!((1..=MOST_SUMS).contains(&count), "{count} sums");
        let slots = (0..count.div_ceil(2)).map(|_| self.slot()).collect::<Result<_>>()?;
        let (workspaces, workspace) = self.workspace(groups)?;
        Ok(ManySums { count, workspaces, workspace: Some(workspace), slots })
    }

    /// Takes a workspace, and returns it with its pool.
    fn workspace(&self, groups: usize) -> Result<(Arc<WorkspacePool>, Workspace)> {
        let workspaces = self.kept::<WorkspacePool>();
        let mut free = lock(&workspaces.0);
        let fitting =
            free.iter().rposition(|w| w.groups >= groups).map(|position| free.swap_remove(position));
        drop(free);
        let workspace = match fitting {
            Some(workspace) => workspace,
            None => Workspace::new(self, groups.max(DEFAULT_GROUPS))?,
        };
        Ok((workspaces, workspace))
    }
}

impl Workspace {
    fn new(device: &Device, groups: usize) -> Result<Self> {
        let zeroed = |count| Memory::zeroed(device.core(), count, size_of::<u32>());
        let buckets = groups.div_ceil(BUCKET);
        let entries = groups.saturating_add(buckets);
        Ok(Self {
            partials: zeroed(entries.saturating_mul(2 * MOST_SUMS))?,
            counters: zeroed(1 + buckets)?,
            groups,
        })
    }
}

impl Reduction {
    fn workspace(&self) -> &Workspace {
        self.workspace.as_ref().expect("a reduction has its workspace until it is dropped")
    }

    pub(super) fn slot(&self) -> &Slot {
        self.slot.as_ref().expect("a reduction has its slot until it is dropped")
    }

    /// Returns the arguments for `REDUCTION_PARAMETERS`, which come last.
    pub fn arguments(&mut self) -> [Argument<'_>; 4] {
        let workspace = self.workspace();
        let [results, slot] = self.slot().arguments();
        [workspace.partials.argument::<u32>(), workspace.counters.argument::<u32>(), results, slot]
    }

    /// Returns the device of the launch.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the largest number of work-groups of a launch with this workspace.
    pub fn max_groups(&self) -> usize {
        self.workspace().groups
    }

    /// Waits for the launch and reads its sums.
    ///
    /// Sums that the kernel did not make are 0.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn read(self) -> Result<[f64; REDUCTION_VALUES]> {
        let [a, b, c, _] = self.slot().read()?;
        Ok([a, b, c])
    }

    /// Returns the first two sums as one complex number, and the third.
    ///
    /// The function does not wait for the sums.
    pub fn numbers(mut self) -> [Number; 2] {
        Number::of_slot(self.slot.take().expect("a reduction has its slot until it is dropped"))
    }
}

/// A workspace for one launch that makes up to [`MOST_SUMS`] real sums, and the places of the sums.
///
/// Dropping gives workspace and places back.
pub struct ManySums {
    count: usize,
    /// The pool that the workspace goes back to.
    workspaces: Arc<WorkspacePool>,
    /// The workspace; `None` only while being dropped.
    workspace: Option<Workspace>,
    /// Two sums have a slot.
    slots: Vec<Slot>,
}

impl ManySums {
    /// Returns the arguments for `MANY_SUMS_PARAMETERS`, which come last.
    pub fn arguments(&mut self) -> [Argument<'_>; 4] {
        let workspace = self.workspace.as_ref().expect("sums have their workspace until they are dropped");
        let mut indices = [0; 4];
        self.slots.iter().zip(&mut indices).for_each(|(slot, index)| *index = slot.index());
        let [results, _] = self.slots[0].arguments();
        let (partials, counters) = (&workspace.partials, &workspace.counters);
        [partials.argument::<u32>(), counters.argument::<u32>(), results, Argument::value(indices)]
    }

    /// Returns the sums as numbers, without waiting for them.
    pub fn numbers(mut self) -> Vec<Number> {
        let mut numbers: Vec<Number> = self.slots.drain(..).flat_map(Number::of_slot).collect();
        numbers.truncate(self.count);
        numbers
    }
}

impl Drop for ManySums {
    fn drop(&mut self) {
        if let Some(workspace) = self.workspace.take() {
            lock(&self.workspaces.0).push(workspace);
        }
    }
}

impl fmt::Debug for ManySums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManySums({})", self.count)
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
