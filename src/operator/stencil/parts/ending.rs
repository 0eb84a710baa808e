//! The ending of a stencil: twin of `cl/stencil/ending_….cl`.

use super::{Cost, KernelPart};
use crate::device::{
    Argument, ArgumentList, Buffer, Device, DeviceError, KernelKey, Number, NumberMemory, Parameter,
    Reduction,
};
use crate::field::{GramSums, MATRIX_TILE, Matrices, PendingGram, matrix};
use crate::host::{self, Spinor};
use crate::scalar::{Real, Storage};
use crate::sync::lock;
use lattice_solvers::SquareMatrix;
use num_complex::Complex64;
use std::cell::OnceCell;
use std::sync::Mutex;

/// What becomes of a stencil's result. The first is for any number of sources, the next three are for one, the last two for several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Ending {
    /// It is stored.
    #[default]
    Store,
    /// It is stored, and its norm summed up.
    Norm2,
    /// It is stored, and its product with a field and its norm are summed up.
    Products,
    /// A multiple of it is subtracted from what is stored, and the norm of the difference summed up.
    Subtract,
    /// It is stored, and its Gram matrix summed up.
    Gram,
    /// Its product with a matrix is subtracted from what is stored, and the Gram matrix of the difference summed up.
    SubtractBlock,
}

impl Ending {
    /// Whether it is one for several sources. Devices take it in double, in one lane, and for an even number of sources from 4 to 12; it is fast where they have
    /// matrix units.
    pub fn is_of_block(self) -> bool {
        matches!(self, Ending::Gram | Ending::SubtractBlock)
    }

    /// Whether it is one for so many sources.
    pub(crate) fn is_for(self, sources: usize) -> bool {
        match self {
            Ending::Store => sources > 0,
            Ending::Norm2 | Ending::Products | Ending::Subtract => sources == 1,
            Ending::Gram | Ending::SubtractBlock => sources > 1,
        }
    }

    /// Whether it sums up numbers, which stay on the device.
    pub(crate) fn makes_numbers(self) -> bool {
        matches!(self, Ending::Norm2 | Ending::Products | Ending::Subtract)
    }

    /// Whether it takes something from what is stored.
    pub(crate) fn subtracts(self) -> bool {
        matches!(self, Ending::Subtract | Ending::SubtractBlock)
    }
}

/// Something for each ending, made when it is wanted first.
pub(crate) struct ByEnding<S>([OnceCell<Box<S>>; 6]);

impl<S> Default for ByEnding<S> {
    fn default() -> Self {
        Self(Default::default())
    }
}

impl<S> ByEnding<S> {
    pub fn get<E>(&self, ending: Ending, make: impl FnOnce() -> Result<S, E>) -> Result<&S, E> {
        let cell = &self.0[ending as usize];
        if let Some(made) = cell.get() {
            return Ok(made);
        }
        let made = Box::new(make()?);
        Ok(cell.get_or_init(|| made))
    }
}

impl KernelPart for Ending {
    fn add_to(&self, key: KernelKey) -> KernelKey {
        let of_block = |key: KernelKey, name, subtract: u8| {
            key.define("SUBTRACT_BLOCK", subtract)
                .part("quads", include_str!("../../../../cl/quads.cl"))
                .part("fragments", include_str!("../../../../cl/fragments.cl"))
                .part(name, include_str!("../../../../cl/stencil/ending_block.cl"))
        };
        match self {
            Ending::Store => key.part("store", include_str!("../../../../cl/stencil/ending_store.cl")),
            Ending::Norm2 => key.part("norm2", include_str!("../../../../cl/stencil/ending_norm2.cl")),
            Ending::Products => {
                key.part("products", include_str!("../../../../cl/stencil/ending_products.cl"))
            }
            Ending::Subtract => {
                key.part("subtract", include_str!("../../../../cl/stencil/ending_subtract.cl"))
            }
            Ending::Gram => of_block(key, "gram", 0),
            Ending::SubtractBlock => of_block(key, "subtract_block", 1),
        }
    }

    fn parameters<T: Storage>(&self) -> Vec<Parameter> {
        let mut parameters = match self {
            Ending::Store | Ending::Norm2 | Ending::Gram => Vec::new(),
            Ending::Products => vec![Parameter::input::<T::Stored>("against")],
            Ending::Subtract => {
                let number = Number::parameters(["a_re", "a_im", "a_ratios"]);
                std::iter::once(Number::memory_parameter()).chain(number).collect()
            }
            Ending::SubtractBlock => vec![Parameter::input::<f64>("matrix")],
        };
        if self.makes_numbers() {
            parameters.extend(Reduction::parameters());
        } else if self.is_of_block() {
            parameters.push(Parameter::output::<f64>("partials"));
        }
        parameters
    }

    /// 48 flops for a norm, and with it 96 for a product or a subtraction; for each column of a block 96 for a product with a matrix, and 48 for a
    /// Gram matrix, of which half is made.
    fn cost(&self, sources: usize) -> Cost {
        let sources = sources as u64;
        let (spinors, flops) = match self {
            Ending::Store => (0, 0),
            Ending::Norm2 => (0, 48),
            Ending::Products | Ending::Subtract => (1, 144),
            Ending::Gram => (0, 48 * (sources + 1)),
            Ending::SubtractBlock => (1, 48 * (3 * sources + 1)),
        };
        Cost { flops, spinors, blocks: Vec::new() }
    }
}

/// The operands of an ending besides the result, with fields of whatever kind.
pub(crate) struct EndingFields<'a, F: ?Sized> {
    /// The field that `out` is multiplied with, for [`Ending::Products`].
    pub against: Option<&'a F>,
    /// The factor of the result that is subtracted, for [`Ending::Subtract`].
    pub multiple: Option<&'a Number>,
    /// The matrix that multiplies the result before it is subtracted, for [`Ending::SubtractBlock`].
    pub matrix: Option<&'a SquareMatrix>,
}

impl<F: ?Sized> Default for EndingFields<'_, F> {
    fn default() -> Self {
        Self { against: None, multiple: None, matrix: None }
    }
}

impl<'a, F> EndingFields<'a, F> {
    /// The same with another kind of field.
    pub fn map<G: ?Sized>(&self, as_other: impl FnOnce(&'a F) -> &'a G) -> EndingFields<'a, G> {
        EndingFields { against: self.against.map(as_other), multiple: self.multiple, matrix: self.matrix }
    }

    /// Panics unless what the ending needs is there, and nothing else.
    pub fn check(&self, ending: Ending, sources: usize) {
        let multiplies = ending == Ending::Products;
        assert_eq!(self.against.is_some(), multiplies, "whether there is a field to multiply with");
        assert_eq!(self.multiple.is_some(), ending == Ending::Subtract, "whether there is a multiple");
        let size = self.matrix.map(SquareMatrix::size);
        let wanted = (ending == Ending::SubtractBlock).then_some(sources);
        assert_eq!(size, wanted, "size of the matrix, if there is one");
    }
}

/// What a stencil sums up.
pub(crate) enum Sums<'a> {
    /// Nothing.
    None,
    /// (against, out), if there is such a field, and (out, out).
    Numbers([Number; 2]),
    /// The Gram matrix of `out`.
    Gram(PendingGram<'a>),
}

impl<'a> Sums<'a> {
    /// # Panics
    /// When there are no numbers.
    pub fn numbers(self) -> [Number; 2] {
        match self {
            Sums::Numbers(numbers) => numbers,
            _ => panic!("this ending sums up no numbers"),
        }
    }

    /// # Panics
    /// When there is no Gram matrix.
    pub fn gram(self) -> PendingGram<'a> {
        match self {
            Sums::Gram(gram) => gram,
            _ => panic!("this ending makes no Gram matrix"),
        }
    }
}

/// What an ending keeps on a device from launch to launch.
pub(crate) struct EndingMemory {
    ending: Ending,
    device: Device,
    /// Where the multiple comes from, for [`Ending::Subtract`].
    numbers: Option<NumberMemory>,
    /// For endings of blocks.
    gram: Option<GramSums>,
    /// What the result is multiplied with, for [`Ending::SubtractBlock`].
    matrix: Option<Mutex<Matrices>>,
}

/// What is being summed up on one device.
pub(crate) enum Summing<'a> {
    Nothing,
    Numbers(Reduction),
    Gram(&'a GramSums),
}

impl EndingMemory {
    /// For launches of so many work-groups.
    pub fn new(ending: Ending, device: &Device, sources: usize, groups: usize) -> Result<Self, DeviceError> {
        let numbers = (ending == Ending::Subtract).then(|| device.number_memory_argument()).transpose()?;
        let gram = ending.is_of_block().then(|| GramSums::new(device, sources, MATRIX_TILE, groups));
        let matrix =
            (ending == Ending::SubtractBlock).then(|| Matrices::new(device, sources, 1)).transpose()?;
        let (device, gram, matrix) = (device.clone(), gram.transpose()?, matrix.map(Mutex::new));
        Ok(Self { ending, device, numbers, gram, matrix })
    }

    /// Launches the kernel with the arguments for its other parts and those for this one.
    pub fn launch<'s: 'a, 'a, T: Storage>(
        &'s self,
        fields: &EndingFields<'a, Buffer<T::Stored>>,
        mut arguments: ArgumentList<'a>,
        groups: usize,
        launch: impl FnOnce(&[Argument<'_>]) -> Result<(), DeviceError>,
    ) -> Result<Summing<'s>, DeviceError> {
        arguments.extend(fields.against.map(Argument::from));
        if let Some(multiple) = fields.multiple {
            arguments.extend(self.numbers.as_ref().map(NumberMemory::argument));
            arguments.extend(multiple.arguments()?);
        }
        if let Some(gram) = &self.gram {
            let mut there = self.matrix.as_ref().map(lock);
            let mut arguments = arguments;
            if let (Some(there), Some(matrix)) = (&mut there, fields.matrix) {
                arguments.extend([there.send([matrix])?]);
            }
            gram.start(|partials| launch(arguments.and([partials]).as_slice()))?;
            return Ok(Summing::Gram(gram));
        }
        if self.ending.makes_numbers() {
            let mut reduction = self.device.reduction(groups)?;
            launch(arguments.and(reduction.arguments()).as_slice())?;
            return Ok(Summing::Numbers(reduction));
        }
        launch(arguments.as_slice())?;
        Ok(Summing::Nothing)
    }
}

/// The ending of a result that the host has: `result` apart from `out` if the ending subtracts, otherwise it is in `out` already.
pub(crate) fn end_on_host<T: Real>(
    ending: Ending,
    fields: &EndingFields<'_, [Spinor<T>]>,
    sources: usize,
    result: &[Spinor<T>],
    out: &mut [Spinor<T>],
) -> Result<Sums<'static>, DeviceError> {
    if let Some(multiple) = fields.multiple {
        host::spinor_fields::axpy(-multiple.value()?, result, out);
    }
    let gram = match ending {
        Ending::Store => return Ok(Sums::None),
        Ending::Gram => Some(host::block_fields::gram(sources, out)),
        _ => fields.matrix.map(|d| host::block_fields::subtract(sources, result, d.elements(), out)),
    };
    if let Some(gram) = gram {
        return Ok(Sums::Gram(PendingGram::Known(matrix(sources, &gram))));
    }
    let product = fields.against.map(|against| host::spinor_fields::dot(against, out));
    let norm2 = Complex64::from(host::spinor_fields::norm2(out));
    Ok(Sums::Numbers([product.unwrap_or_default().into(), norm2.into()]))
}
