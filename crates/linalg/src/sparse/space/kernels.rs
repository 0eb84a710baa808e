//! The kernels of fused updates on one device.

use super::chebyshev::CHEBYSHEV_STEP;
use super::kernel_text::kernel_text;
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::vector::Vector;
use lattice_compute::sync::lock;
use lattice_compute::{
    Argument, ArgumentList, Device, DeviceKind, Kernel, KernelFamily, KernelKey, NUMBER_SOURCE, Number,
    Program, REDUCTION_SOURCE, Range, Result,
};
use lattice_solvers::update::{self, Formula};
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock, Mutex};

const UPDATES: KernelFamily = KernelFamily::new(
    "vector updates",
    &[
        REDUCTION_SOURCE,
        NUMBER_SOURCE,
        include_str!("../../../cl/elements.cl"),
        include_str!("../../../cl/packs.cl"),
        include_str!("../../../cl/updates.cl"),
    ],
);

/// The kernels of all updates that are known ahead.
static LISTED: LazyLock<String> = LazyLock::new(|| listed().map(kernel_text).collect::<Vec<_>>().join("\n"));

fn listed() -> impl Iterator<Item = &'static Formula> {
    static OWN: [Formula; 1] = [*CHEBYSHEV_STEP.formula()];
    update::ALL.iter().chain(&OWN)
}

/// Packs below which a group of a processor is not worth starting.
const FEWEST_PACKS_OF_GROUP: usize = 512;

/// Bytes of the widest load of a GPU's work-item.
const WIDEST_LOAD: usize = 16;

/// The kernels for elements of type `T` on one device.
pub(super) struct Kernels<T> {
    local: usize,
    /// Elements of a pack.
    pack: usize,
    most_groups: usize,
    key: KernelKey,
    /// Kernels of listed updates and of others used since, by the formula's text.
    kernels: Mutex<Vec<(&'static str, Arc<Kernel>)>>,
    element: PhantomData<fn() -> T>,
}

impl<T: Arithmetic> Kernels<T> {
    pub fn new(device: &Device) -> Result<Self> {
        let info = device.info();
        let real = size_of::<T::Real>();
        let (local, lanes, most_groups) = match info.kind {
            DeviceKind::Cpu => (1, if real == 4 { 16 } else { 8 }, 4 * info.compute_units.max(1)),
            _ => (info.max_work_group_size.min(256), WIDEST_LOAD / real, 8 * info.compute_units.max(1)),
        };
        let key = KernelKey::of_element::<T>(UPDATES)
            .lanes(lanes)
            .define("LOCAL_SIZE", local)
            .define("ALIGNED", u8::from(info.kind != DeviceKind::Cpu));
        let program = device.program(&key.clone().part("listed", LISTED.as_str()))?;
        let kernels = listed().map(|formula| kernel(&program, formula)).collect::<Result<_>>()?;
        Ok(Self {
            local,
            pack: lanes / T::REALS,
            most_groups,
            key,
            kernels: Mutex::new(kernels),
            element: PhantomData,
        })
    }

    /// Starts a fused update of vectors of this length, and returns its sums.
    pub fn update(
        &self,
        device: &Device,
        len: usize,
        formula: &Formula,
        factors: &[&Number],
        read: &[&Vector<T>],
        written: &mut [&mut Vector<T>],
    ) -> BlasResult<Vec<Number>> {
        if len == 0 {
            return Ok(vec![num_complex::Complex64::default().into(); formula.sums()]);
        }
        let kernel = self.kernel(device, formula)?;
        let packs = len.div_ceil(self.pack);
        let wanted =
            if self.local == 1 { packs.div_ceil(FEWEST_PACKS_OF_GROUP) } else { packs.div_ceil(self.local) };
        let groups = wanted.clamp(1, self.most_groups);
        let numbers = device.number_memory_argument()?;
        let mut arguments = ArgumentList::new([Argument::value(len as u64)]);
        if !factors.is_empty() {
            arguments.extend([numbers.argument()]);
        }
        for factor in factors {
            arguments.extend(factor.arguments()?);
        }
        for vector in read {
            arguments.extend(vector.argument());
        }
        for vector in written.iter_mut() {
            arguments.extend(vector.argument_mut());
        }
        let range = Range::groups(groups, self.local);
        if formula.sums() == 0 {
            kernel.start(range, arguments.as_slice())?;
            return Ok(Vec::new());
        }
        let mut reduction = device.reduction(groups)?;
        arguments.extend(reduction.arguments());
        kernel.start(range, arguments.as_slice())?;
        // A norm alone is the first sum of its kernel.
        Ok(reduction.numbers().into_iter().take(formula.sums()).collect())
    }

    /// Returns the kernel of a formula.
    ///
    /// A formula that is not listed is compiled at its first use.
    fn kernel(&self, device: &Device, formula: &Formula) -> Result<Arc<Kernel>> {
        let mut kernels = lock(&self.kernels);
        if let Some((_, kernel)) = kernels.iter().find(|(text, _)| *text == formula.text()) {
            return Ok(Arc::clone(kernel));
        }
        let program = device.program(&self.key.clone().part(formula.name(), kernel_text(formula)))?;
        kernels.push(kernel(&program, formula)?);
        Ok(Arc::clone(&kernels[kernels.len() - 1].1))
    }
}

fn kernel(program: &Program, formula: &Formula) -> Result<(&'static str, Arc<Kernel>)> {
    let kernel = program.kernel(formula.name())?;
    Ok((formula.text(), Arc::new(kernel)))
}
