//! The kernels of `cl/sparse_team.cl` on one device.

use crate::host::level1::Arithmetic;
use lattice_compute::{Device, Kernel, KernelFamily, KernelKey, Range, Result};
use std::marker::PhantomData;

const TEAM: KernelFamily = KernelFamily::new(
    "sparse, teams",
    &[
        include_str!("../../../cl/elements.cl"),
        include_str!("../../../cl/results.cl"),
        include_str!("../../../cl/sparse_team.cl"),
    ],
);

/// The kernels for elements of type `T` on one device.
pub(super) struct Kernels<T> {
    pub gather: Kernel,
    pub add_at: Kernel,
    local: usize,
    element: PhantomData<fn() -> T>,
}

impl<T: Arithmetic> Kernels<T> {
    pub fn new(device: &Device) -> Result<Self> {
        let local = device.info().max_work_group_size.clamp(1, 64);
        let key = KernelKey::of_element::<T>(TEAM).define("LOCAL_SIZE", local).define("SINGLE_VALUES", 0);
        let program = device.program(&key)?;
        let (gather, add_at) = (program.kernel("gather")?, program.kernel("add_at")?);
        Ok(Self { gather, add_at, local, element: PhantomData })
    }

    /// Returns the range of so many results.
    pub fn range(&self, count: usize) -> Range {
        Range::covering(count.max(1), self.local)
    }
}
