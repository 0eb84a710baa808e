//! The kernels of `cl/sparse_vectors.cl` on one device.

use super::format::block_slice;
use super::kernels::Cut;
use crate::host::level1::Arithmetic;
use lattice_compute::sync::lock;
use lattice_compute::{Device, DeviceKind, Kernel, KernelFamily, KernelKey, Result};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

const SEVERAL_VECTORS: KernelFamily = KernelFamily::new(
    "sparse, several vectors",
    &[
        include_str!("../../cl/elements.cl"),
        include_str!("../../cl/results.cl"),
        include_str!("../../cl/sparse_vectors.cl"),
    ],
);

/// Vectors that a work-item of a processor computes at most.
const WIDEST_OF_PROCESSOR: usize = 8;

/// Bytes of the widest load of a GPU's work-item.
const WIDEST_LOAD: usize = 16;

/// The variable sizes of a product with several vectors. They do not change its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Packs {
    /// Vectors that a work-item computes.
    pub pack: usize,
    /// Rows of a stencil that a work-item computes at once.
    pub rows: usize,
    /// Work-items of a group.
    pub local: usize,
}

impl Packs {
    /// Returns the untuned sizes for so many vectors; `None` where each vector is computed alone.
    pub fn shipped<T: Arithmetic>(device: &Device, vectors: usize, of_blocks: bool) -> Option<Self> {
        let cut = Cut::of(device);
        let widest = match device.info().kind {
            _ if T::IS_COMPLEX => 1,
            DeviceKind::Cpu => WIDEST_OF_PROCESSOR,
            _ => WIDEST_LOAD / size_of::<T>(),
        };
        let divisor = 1 << vectors.max(1).trailing_zeros().min(widest.ilog2());
        let rows = if cut.groups.is_some() { 1 } else { 2 };
        (divisor > 1 || of_blocks).then_some(Self { pack: divisor, rows, local: cut.local })
    }

    /// Returns the reason why sizes cannot be used, if they cannot.
    pub fn complaint<T: Arithmetic>(&self, device: &Device, vectors: usize) -> Option<String> {
        let Self { pack, rows, local } = *self;
        let widest = if T::IS_COMPLEX { 1 } else { 16 };
        if !(pack.is_power_of_two() && pack <= widest && vectors.is_multiple_of(pack)) {
            return Some(format!("packs must be powers of two up to {widest} that divide {vectors} vectors"));
        }
        if Cut::of(device).groups.is_some() && [rows, local] != [1, 1] {
            return Some("on a processor a work-item is alone and computes a row at a time".to_owned());
        }
        let most = device.info().max_work_group_size;
        if !(1..=16).contains(&rows) || !local.is_power_of_two() || local > most {
            return Some(format!("1 to 16 rows and groups of at most {most} work-items, a power of two"));
        }
        None
    }
}

/// The kernels of some sizes for elements of type `T`.
pub(super) struct PackKernels<T> {
    pub packs: Packs,
    pub csr: Kernel,
    pub sell: Kernel,
    pub blocks: Kernel,
    pub diagonals: Kernel,
    element: PhantomData<fn() -> T>,
}

/// The kernels for each number of vectors; `None` where each vector is computed alone.
pub(super) type Several<T> = Mutex<Vec<(usize, Option<Arc<PackKernels<T>>>)>>;

/// The kernels that a device has compiled so far.
struct Compiled<T>(Mutex<Vec<(bool, Arc<PackKernels<T>>)>>);

impl<T: Arithmetic> PackKernels<T> {
    /// Returns the kernels of these sizes, which are compiled at the first call.
    ///
    /// Values are in single precision if `single`.
    pub fn of(device: &Device, packs: Packs, single: bool) -> Result<Arc<Self>> {
        let compiled: Arc<Compiled<T>> =
            device.attached(|_| -> Result<_> { Ok(Compiled(Mutex::default())) })?;
        let mut compiled = lock(&compiled.0);
        if let Some((_, known)) = compiled.iter().find(|(of, known)| (*of, known.packs) == (single, packs)) {
            return Ok(Arc::clone(known));
        }
        let kernels = Arc::new(Self::new(device, packs, single)?);
        compiled.push((single, Arc::clone(&kernels)));
        Ok(kernels)
    }

    fn new(device: &Device, packs: Packs, single: bool) -> Result<Self> {
        let slice = Cut::of(device).slice;
        let key = KernelKey::of_element::<T>(SEVERAL_VECTORS)
            .define("LOCAL_SIZE", packs.local)
            .define("PACK", packs.pack)
            .define("ROWS", packs.rows)
            .define("SLICE", slice)
            .define("BLOCK_SLICE", block_slice(slice))
            .define("SINGLE_VALUES", u8::from(single));
        let program = device.program(&key)?;
        Ok(Self {
            packs,
            csr: program.kernel("csr_packs")?,
            sell: program.kernel("sell_packs")?,
            blocks: program.kernel("blocks")?,
            diagonals: program.kernel("diagonals_packs")?,
            element: PhantomData,
        })
    }
}
