//! The operands of an ending, its memory on a device, and its twin on the host.

use super::ending::{Ending, Makes, Row, Takes};
use crate::compute::{Argument, ArgumentList, Buffer, Device, DeviceError, Number, NumberMemory, Reduction};
use crate::field::{ColumnMatrix, GramSums, MATRIX_TILE, Matrices, PendingGram, matrix};
use crate::host::{self, Spinor};
use crate::scalar::{Real, Storage};
use crate::sync::lock;
use num_complex::Complex64;
use std::sync::Mutex;

/// The operands of an ending besides the result, with fields of any kind.
pub(crate) struct EndingFields<'a, F: ?Sized> {
    /// The field that `out` is multiplied with, for [`Ending::Products`].
    pub against: Option<&'a F>,
    /// The factor of the result that is subtracted, for [`Ending::Subtract`].
    pub multiple: Option<&'a Number>,
    /// The matrix that multiplies the result, for [`Ending::SubtractColumns`].
    pub matrix: Option<ColumnMatrix<'a>>,
}

impl<F: ?Sized> Default for EndingFields<'_, F> {
    fn default() -> Self {
        Self { against: None, multiple: None, matrix: None }
    }
}

impl<'a, F: ?Sized> EndingFields<'a, F> {
    /// Converts the operands to another kind of field.
    pub fn map<G: ?Sized>(&self, as_other: impl FnOnce(&'a F) -> &'a G) -> EndingFields<'a, G> {
        EndingFields { against: self.against.map(as_other), multiple: self.multiple, matrix: self.matrix }
    }

    /// Panics unless exactly the operands of the ending are given.
    pub fn check(&self, ending: Ending, columns: usize) {
        let takes = ending.row().takes;
        assert_eq!(
            self.against.is_some(),
            takes == Takes::Field,
            "whether there is a field to multiply with"
        );
        assert_eq!(self.multiple.is_some(), takes == Takes::Multiple, "whether there is a multiple");
        let size = self.matrix.as_ref().map(ColumnMatrix::size);
        let wanted = (takes == Takes::Matrix).then_some(columns);
        assert_eq!(size, wanted, "size of the matrix, if there is one");
    }
}

/// The sums of a stencil.
pub(crate) enum Sums<'a> {
    /// No sum.
    None,
    /// (against, out) if `against` is given, and (out, out).
    Numbers([Number; 2]),
    /// The Gram matrix of `out`.
    Gram(PendingGram<'a>),
}

impl<'a> Sums<'a> {
    /// Returns the numbers.
    ///
    /// # Panics
    /// If the sums are no numbers.
    pub fn numbers(self) -> [Number; 2] {
        match self {
            Sums::Numbers(numbers) => numbers,
            _ => panic!("this ending sums up no numbers"),
        }
    }

    /// Returns the Gram matrix.
    ///
    /// # Panics
    /// If the sums are no Gram matrix.
    pub fn gram(self) -> PendingGram<'a> {
        match self {
            Sums::Gram(gram) => gram,
            _ => panic!("this ending makes no Gram matrix"),
        }
    }
}

/// The memory of an ending on a device, from launch to launch.
pub(crate) struct EndingMemory {
    ending: Ending,
    device: Device,
    /// Memory of the multiple, for [`Ending::Subtract`].
    numbers: Option<NumberMemory>,
    /// Sums for endings of columns.
    gram: Option<GramSums>,
    /// Matrices that multiply the result, for [`Ending::SubtractColumns`].
    matrix: Option<Mutex<Matrices>>,
}

impl EndingMemory {
    /// Makes the memory for launches of `groups` work-groups.
    pub fn new(ending: Ending, device: &Device, columns: usize, groups: usize) -> Result<Self, DeviceError> {
        let Row { takes, makes, .. } = ending.row();
        let numbers = (takes == Takes::Multiple).then(|| device.number_memory_argument()).transpose()?;
        let gram = (makes == Makes::Gram).then(|| GramSums::new(device, columns, MATRIX_TILE, groups));
        let matrix = (takes == Takes::Matrix).then(|| Matrices::new(device, columns, 1)).transpose()?;
        let (device, gram, matrix) = (device.clone(), gram.transpose()?, matrix.map(Mutex::new));
        Ok(Self { ending, device, numbers, gram, matrix })
    }

    /// Tells whether all groups must run in one launch.
    pub fn wants_one_launch(&self) -> bool {
        self.gram.is_some()
    }

    /// Returns the memory for the sums of a launch of `groups` work-groups, if the ending makes numbers.
    pub fn reduction(&self, groups: usize) -> Result<Option<Reduction>, DeviceError> {
        let makes_numbers = self.ending.row().makes == Makes::Numbers;
        makes_numbers.then(|| self.device.reduction(groups)).transpose()
    }

    /// Launches the kernel with the arguments of its other parts and of the ending.
    ///
    /// `reduction` receives sums of numbers: see [`reduction`](Self::reduction). All launches of one application take the same reduction.
    /// A Gram matrix is returned.
    pub fn launch<'s: 'a, 'a, T: Storage>(
        &'s self,
        fields: &EndingFields<'a, Buffer<T::Stored>>,
        mut arguments: ArgumentList<'a>,
        reduction: Option<&mut Reduction>,
        launch: impl FnOnce(&[Argument<'_>]) -> Result<(), DeviceError>,
    ) -> Result<Option<&'s GramSums>, DeviceError> {
        arguments.extend(fields.against.map(Argument::from));
        if let Some(multiple) = fields.multiple {
            arguments.extend(self.numbers.as_ref().map(NumberMemory::argument));
            arguments.extend(multiple.arguments()?);
        }
        if let Some(gram) = &self.gram {
            let mut there = self.matrix.as_ref().map(lock);
            let mut arguments = arguments;
            match (&mut there, fields.matrix) {
                (Some(there), Some(ColumnMatrix::Known(matrix))) => {
                    arguments.extend([there.send([matrix], false)?]);
                }
                (_, Some(ColumnMatrix::OnDevices(matrices))) => {
                    arguments.extend([matrices.subtrahend_on(&self.device)]);
                }
                _ => {}
            }
            gram.start(|partials| launch(arguments.and([partials]).as_slice()))?;
            return Ok(Some(gram));
        }
        match reduction {
            Some(reduction) => launch(arguments.and(reduction.arguments()).as_slice())?,
            None => launch(arguments.as_slice())?,
        }
        Ok(None)
    }
}

/// Applies the ending to a result on the host.
///
/// If the ending subtracts, the result is in `result`. Otherwise the result is in `out` already.
pub(crate) fn end_on_host<T: Real>(
    ending: Ending,
    fields: &EndingFields<'_, [Spinor<T>]>,
    columns: usize,
    result: &[Spinor<T>],
    out: &mut [Spinor<T>],
) -> Result<Sums<'static>, DeviceError> {
    if let Some(multiple) = fields.multiple {
        host::spinor_fields::axpy(-multiple.value()?, result, out);
    }
    let makes = ending.row().makes;
    if makes == Makes::Nothing {
        return Ok(Sums::None);
    }
    if makes == Makes::Gram {
        let gram = match fields.matrix {
            Some(ColumnMatrix::Known(d)) => host::columns::subtract(columns, result, d.elements(), out),
            _ => host::columns::gram(columns, out),
        };
        return Ok(Sums::Gram(PendingGram::Known(matrix(columns, &gram))));
    }
    let product = fields.against.map(|against| host::spinor_fields::dot(against, out));
    let norm2 = Complex64::from(host::spinor_fields::norm2(out));
    Ok(Sums::Numbers([product.unwrap_or_default().into(), norm2.into()]))
}
