//! The kernels of a space on its devices.

use super::kernel_text::kernel_text;
use crate::compute::{
    Argument, ArgumentList, Device, DeviceError, DeviceKind, Kernel, KernelFamily, KernelKey, NUMBER_SOURCE,
    Number, NumberMemory, REDUCTION_SOURCE, Range, Reduction,
};
use crate::field::key::field_key;
use crate::geometry::Layout;
use crate::scalar::Storage;
use crate::sync::lock;
use lattice_solvers::update::{self, Formula, KernelParameter, Operand, kernel_parameters};
use std::sync::{Arc, LazyLock, Mutex};

const SPINOR: KernelFamily = KernelFamily::new(
    "spinor",
    &[
        include_str!("../../../cl/lanes.cl"),
        include_str!("../../../cl/fields.cl"),
        REDUCTION_SOURCE,
        NUMBER_SOURCE,
        include_str!("../../../cl/spinor.cl"),
    ],
);

/// Least number of blocks in a work-group on a processor.
///
/// Fewer blocks are done before a thread has been woken up for them.
const FEWEST_BLOCKS_OF_GROUP: usize = 16;

/// The updates that nearly every method asks for, which are one program.
const BASIC: [&Formula; 4] =
    [update::AXPY.formula(), update::XPBY.formula(), update::DOT.formula(), update::NORM2.formula()];

static BASIC_TEXT: LazyLock<String> = LazyLock::new(|| BASIC.map(kernel_text).join("\n"));

/// The kernels of a space on one device.
pub(super) struct ShardKernels {
    pub(super) device: Device,
    parities: u32,
    /// Blocks in each parity.
    blocks: u32,
    range: Range,
    numbers: NumberMemory,
    /// The key without the kernels of formulas.
    key: KernelKey,
    /// The kernels that were asked for, by the formula's text.
    kernels: Mutex<Vec<(&'static str, Arc<Kernel>)>>,
}

impl ShardKernels {
    /// Makes the kernels for vectors of so many parities.
    pub(super) fn new<T: Storage>(
        device: &Device,
        layout: &Layout,
        parities: usize,
    ) -> Result<Self, DeviceError> {
        let local = local_size(device);
        let blocks_of_vector = parities * layout.blocks();
        let groups = match device.info().kind {
            DeviceKind::Cpu => {
                let most = 4 * device.info().compute_units.max(1);
                blocks_of_vector.div_ceil(FEWEST_BLOCKS_OF_GROUP).min(most)
            }
            _ => blocks_of_vector.div_ceil(local),
        };
        Ok(Self {
            range: Range::groups(groups, local),
            numbers: device.number_memory_argument()?,
            key: bare_key::<T>(device, layout),
            kernels: Mutex::default(),
            parities: parities as u32,
            blocks: layout.blocks() as u32,
            device: device.clone(),
        })
    }

    /// Starts the kernel of a formula; returns its sums, if it has some.
    pub(super) fn start(
        &self,
        formula: &Formula,
        factors: &[&Number],
        read: &[Argument<'_>],
        written: &[Argument<'_>],
    ) -> Result<Option<Reduction>, DeviceError> {
        let kernel = self.kernel(formula)?;
        let mut reduction = None;
        if formula.sums() > 0 {
            reduction = Some(self.device.reduction(self.range.group_count())?);
        }
        let mut arguments = ArgumentList::new([]);
        for parameter in kernel_parameters(formula) {
            match parameter {
                KernelParameter::Extents => {
                    arguments.extend([Argument::value(self.parities), Argument::value(self.blocks)]);
                }
                KernelParameter::Numbers => arguments.extend([self.numbers.argument()]),
                KernelParameter::Factor(k) => arguments.extend(factors[k].arguments()?),
                KernelParameter::Field(Operand::Read(k)) => arguments.extend([read[k]]),
                KernelParameter::Field(Operand::Written(k)) => arguments.extend([written[k]]),
                KernelParameter::Sums => {}
            }
        }
        if let Some(reduction) = &mut reduction {
            arguments.extend(reduction.arguments());
        }
        kernel.start(self.range, arguments.as_slice())?;
        Ok(reduction)
    }

    /// Returns the kernel of a formula, which is compiled at its first use at the latest.
    fn kernel(&self, formula: &Formula) -> Result<Arc<Kernel>, DeviceError> {
        let mut kernels = lock(&self.kernels);
        if let Some((_, kernel)) = kernels.iter().find(|(text, _)| *text == formula.text()) {
            return Ok(Arc::clone(kernel));
        }
        let program = self.device.program(&program_key(self.key.clone(), formula))?;
        let kernel = Arc::new(program.kernel(formula.name())?);
        kernels.push((formula.text(), Arc::clone(&kernel)));
        Ok(kernel)
    }
}

/// Returns the size of a work-group.
///
/// A CPU's work-item runs alone on long vectors. A GPU has one work-item for each site.
fn local_size(device: &Device) -> usize {
    if device.info().kind == DeviceKind::Cpu { 1 } else { 128 }
}

/// Returns the key of the program with a formula's kernel, for fields of this layout.
pub(crate) fn update_key<T: Storage>(device: &Device, layout: &Layout, formula: &Formula) -> KernelKey {
    program_key(bare_key::<T>(device, layout), formula)
}

/// Returns the key of the program with a formula's kernel.
///
/// A solve asks for some of the updates only, so that all but the [`BASIC`] ones are programs of their own.
fn program_key(bare: KernelKey, formula: &Formula) -> KernelKey {
    match BASIC.contains(&formula) {
        true => bare.part("basic updates", BASIC_TEXT.as_str()),
        false => bare.part(formula.name(), kernel_text(formula)),
    }
}

fn bare_key<T: Storage>(device: &Device, layout: &Layout) -> KernelKey {
    field_key::<T>(SPINOR, layout)
        .define("LOCAL_SIZE", local_size(device))
        .define("STREAM_LINKS", 0)
        .define("STREAM_OUTPUT", 0)
}
