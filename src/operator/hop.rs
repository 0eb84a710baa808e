//! The hop from the sites of one parity to the sites of the other parity.

use super::stencil::{Ending, EndingFields, Fields, Region, Stencil, Task, Tuning};
use crate::compute::{DeviceError, Event, Number};
use crate::field::{ColumnMatrix, GaugeField, ParityField, PendingGram, can_end_blocks};
use crate::host::StencilFactors;
use crate::scalar::Storage;
use derive_setters::Setters;
use lattice_solvers::{SquareMatrix, Work};

/// The operator out = γ5^g (shift·shifted + coefficient·H ψ) between two parities.
///
/// `out` and `shifted` lie on the sites of one parity, ψ on the sites of the other. H is the
/// hopping term of [`Dirac`](super::Dirac). Even-odd preconditioning is made of this operator. See
/// [`StencilFactors`] for the coefficients.
pub struct HopEvenOdd<T: Storage> {
    stencil: Stencil<T>,
    parity: usize,
}

/// The options of a [`HopEvenOdd`].
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct HopOptions {
    /// `true` if a multiple of a field is added. Default `false`.
    pub shift: bool,
    /// The treatment of the result. Default [`Ending::Store`].
    pub ending: Ending,
    /// Number of fields that the hop is applied to at once. Default 1.
    ///
    /// Each link is loaded once for all fields.
    pub columns: usize,
    /// The kernel variant, if the caller chooses one. Default: the best known variant.
    pub tuning: Option<Tuning>,
}

impl Default for HopOptions {
    fn default() -> Self {
        Self { shift: false, ending: Ending::Store, columns: 1, tuning: None }
    }
}

impl<T: Storage> HopEvenOdd<T> {
    /// Makes the hop to the sites of `parity` (0 even, 1 odd).
    ///
    /// # Errors
    /// When the kernels cannot be built.
    ///
    /// # Panics
    /// When the number of columns is 0, or not one that the ending takes (see [`Ending`]).
    pub fn new(
        links: &GaugeField<T>,
        parity: usize,
        factors: StencilFactors,
        options: HopOptions,
    ) -> Result<Self, DeviceError> {
        let HopOptions { shift, ending, columns, tuning } = options;
        assert!(ending.is_for(columns), "{columns} columns, {ending:?}");
        let lattice = links.lattice();
        for shard in lattice.shards().iter().filter(|_| ending.is_of_block()) {
            let layout = shard.layout(T::STORAGE);
            let (lanes, storage) = (layout.lanes(), T::STORAGE);
            assert!(
                can_end_blocks::<T>(&layout, columns),
                "{columns} columns in {storage}, {lanes} lanes, {ending:?}"
            );
        }
        let task = Task { factors, region: Region::Parity { parity, shift }, ending, columns };
        Ok(Self { stencil: Stencil::new(links, task, tuning)?, parity })
    }

    /// Returns the kernel variant of the first device, or `None` on the host.
    pub fn tuning(&self) -> Option<Tuning> {
        self.stencil.tuning()
    }

    /// Makes a field of zeros that the result fits in.
    pub fn target(&self) -> Result<ParityField<T>, DeviceError> {
        ParityField::zero(self.stencil.links().lattice(), self.parity, self.stencil.task().columns)
    }

    /// Makes a field that the result fits in, to be overwritten.
    pub(crate) fn scratch_target(&self) -> Result<ParityField<T>, DeviceError> {
        ParityField::uninitialised(self.stencil.links().lattice(), self.parity, self.stencil.task().columns)
    }

    /// Applies the hop.
    ///
    /// The fields must have the parities and the number of columns that [`new`](Self::new) was
    /// given. `shifted` must be present exactly if [`HopOptions::shift`] was set.
    ///
    /// # Panics
    /// When the fields do not fit, or the hop was made with another ending than [`Ending::Store`].
    pub fn apply(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<(), DeviceError> {
        self.stencil.apply(Self::fields(psi, shifted, out), None).map(drop)
    }

    /// Applies like [`apply`](Self::apply), and passes events to `launched`.
    ///
    /// `launched` gets the event of each device's kernel.
    pub fn apply_observed(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
        mut launched: impl FnMut(Event),
    ) -> Result<(), DeviceError> {
        self.stencil.apply(Self::fields(psi, shifted, out), Some(&mut launched)).map(drop)
    }

    /// Applies like [`apply`](Self::apply), and returns (against, out) and (out, out).
    ///
    /// # Panics
    /// Panics like [`apply`](Self::apply), with [`Ending::Products`] as the ending required.
    pub fn apply_with_products(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
        against: &ParityField<T>,
    ) -> Result<[Number; 2], DeviceError> {
        let ending = EndingFields { against: Some(&against.spinors), ..Default::default() };
        self.sums(Fields { ending, ..Self::fields(psi, shifted, out) })
    }

    /// Applies like [`apply`](Self::apply), and returns (out, out).
    ///
    /// # Panics
    /// Panics like [`apply`](Self::apply), with [`Ending::Norm2`] as the ending required.
    pub fn apply_with_norm2(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<Number, DeviceError> {
        let [_, norm2] = self.sums(Self::fields(psi, shifted, out))?;
        Ok(norm2)
    }

    /// Subtracts `multiple` times the result from `out`, and returns (out, out).
    ///
    /// # Panics
    /// Panics like [`apply`](Self::apply), with [`Ending::Subtract`] as the ending required.
    pub fn subtract(
        &self,
        multiple: &Number,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<Number, DeviceError> {
        let ending = EndingFields { multiple: Some(multiple), ..Default::default() };
        let fields = Fields { ending, ..Self::fields(psi, shifted, out) };
        let [_, norm2] = self.sums(fields)?;
        Ok(norm2)
    }

    /// Applies like [`apply`](Self::apply), and returns out†out.
    ///
    /// # Panics
    /// Panics like [`apply`](Self::apply), with [`Ending::Gram`] as the ending required.
    pub fn apply_with_gram(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<SquareMatrix, DeviceError> {
        self.start_with_gram(psi, shifted, out)?.wait()
    }

    /// Starts [`apply_with_gram`](Self::apply_with_gram), and waits for nothing.
    pub(crate) fn start_with_gram(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<PendingGram<'_>, DeviceError> {
        Ok(self.stencil.apply(Self::fields(psi, shifted, out), None)?.gram())
    }

    /// Subtracts the result times `matrix` from `out`, and returns out†out.
    ///
    /// # Panics
    /// Panics like [`apply`](Self::apply), with [`Ending::SubtractColumns`] as the ending required.
    /// Panics also when the size of the matrix is not the number of columns.
    pub fn subtract_block(
        &self,
        matrix: &SquareMatrix,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<SquareMatrix, DeviceError> {
        self.start_subtraction(ColumnMatrix::Known(matrix), psi, shifted, out)?.wait()
    }

    /// Starts [`subtract_block`](Self::subtract_block), and waits for nothing.
    pub(crate) fn start_subtraction(
        &self,
        matrix: ColumnMatrix<'_>,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<PendingGram<'_>, DeviceError> {
        let ending = EndingFields { matrix: Some(matrix), ..Default::default() };
        let fields = Fields { ending, ..Self::fields(psi, shifted, out) };
        Ok(self.stencil.apply(fields, None)?.gram())
    }

    fn fields<'a>(
        psi: &'a ParityField<T>,
        shifted: Option<&'a ParityField<T>>,
        out: &'a mut ParityField<T>,
    ) -> Fields<'a, T> {
        let shifted = shifted.map(|field| &field.spinors);
        let (psi, out) = (&psi.spinors, &mut out.spinors);
        Fields { psi, shifted, out, ending: EndingFields::default() }
    }

    fn sums(&self, fields: Fields<'_, T>) -> Result<[Number; 2], DeviceError> {
        Ok(self.stencil.apply(fields, None)?.numbers())
    }

    /// Returns operations and least memory traffic of one application.
    pub fn work(&self) -> Work {
        self.stencil.work()
    }

    /// Returns the work of a hop with other factors, another shift or ending.
    ///
    /// The number of fields stays that of `self`.
    pub fn work_of(&self, factors: StencilFactors, shift: bool, ending: Ending) -> Work {
        let region = Region::Parity { parity: self.parity, shift };
        self.stencil.work_of(Task { factors, region, ending, ..self.stencil.task() })
    }
}
