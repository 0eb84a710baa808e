//! The hop from the sites of one parity to those of the other.

use super::stencil::{Ending, EndingFields, Fields, Region, Stencil, Task, Tuning};
use crate::device::{DeviceError, Event, Number};
use crate::field::{GaugeField, ParityField, PendingGram, can_end_blocks};
use crate::host::StencilForm;
use crate::scalar::Storage;
use lattice_solvers::{SquareMatrix, Work};

/// out = γ5^g (shift·shifted + coefficient·H ψ) on the sites of one parity, ψ on the others, with the hopping term H of
/// [`Dirac`](super::Dirac).
///
/// It is what even-odd preconditioning is made of; see [`StencilForm`] for the coefficients.
pub struct HopEvenOdd<T: Storage> {
    stencil: Stencil<T>,
    parity: usize,
}

/// What a hop does besides hopping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopOptions {
    /// Whether a multiple of a field is added. Default no.
    pub shift: bool,
    /// What becomes of the result. Default [`Ending::Store`].
    pub ending: Ending,
    /// How many fields it is applied to at once; each link is loaded once for all of them. Default 1.
    pub columns: usize,
    /// A kernel variant of one's own choice. Default: the best known.
    pub tuning: Option<Tuning>,
}

impl Default for HopOptions {
    fn default() -> Self {
        Self { shift: false, ending: Ending::Store, columns: 1, tuning: None }
    }
}

impl<T: Storage> HopEvenOdd<T> {
    /// The hop to the sites of `parity` (0 even, 1 odd).
    ///
    /// # Errors
    /// When the kernels cannot be built.
    ///
    /// # Panics
    /// When there is no source, or the ending is not one for so many (see [`Ending`]).
    pub fn new(
        links: &GaugeField<T>,
        parity: usize,
        form: StencilForm,
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
        let task = Task { form, region: Region::Parity { parity, shift }, ending, columns };
        Ok(Self { stencil: Stencil::new(links, task, tuning)?, parity })
    }

    /// The kernel variant of the first device; `None` on the host.
    pub fn tuning(&self) -> Option<Tuning> {
        self.stencil.tuning()
    }

    /// A field that the result fits in, equal to zero.
    pub fn target(&self) -> Result<ParityField<T>, DeviceError> {
        ParityField::zero(self.stencil.links().lattice(), self.parity, self.stencil.task().columns)
    }

    /// A field that the result fits in, to be overwritten.
    pub(crate) fn scratch_target(&self) -> Result<ParityField<T>, DeviceError> {
        ParityField::uninitialised(self.stencil.links().lattice(), self.parity, self.stencil.task().columns)
    }

    /// Applies it. The fields have the parities and the number of columns that [`new`](Self::new) says, and `shifted` is there if it
    /// says so.
    ///
    /// # Panics
    /// When they do not, or it was made with another ending than [`Ending::Store`].
    pub fn apply(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<(), DeviceError> {
        self.stencil.apply(Self::fields(psi, shifted, out), None).map(drop)
    }

    /// As [`apply`](Self::apply), and gives the event of each device's kernel to `launched`.
    pub fn apply_observed(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
        mut launched: impl FnMut(Event),
    ) -> Result<(), DeviceError> {
        self.stencil.apply(Self::fields(psi, shifted, out), Some(&mut launched)).map(drop)
    }

    /// As [`apply`](Self::apply), and gives (against, out) and (out, out).
    ///
    /// # Panics
    /// As [`apply`](Self::apply), for [`Ending::Products`].
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

    /// As [`apply`](Self::apply), and gives (out, out).
    ///
    /// # Panics
    /// As [`apply`](Self::apply), for [`Ending::Norm2`].
    pub fn apply_with_norm2(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<Number, DeviceError> {
        let [_, norm2] = self.sums(Self::fields(psi, shifted, out))?;
        Ok(norm2)
    }

    /// Takes `multiple` times the result from `out`; gives (out, out).
    ///
    /// # Panics
    /// As [`apply`](Self::apply), for [`Ending::Subtract`].
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

    /// As [`apply`](Self::apply), and gives out†out.
    ///
    /// # Panics
    /// As [`apply`](Self::apply), for [`Ending::Gram`].
    pub fn apply_with_gram(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<SquareMatrix, DeviceError> {
        self.start_with_gram(psi, shifted, out)?.wait()
    }

    /// The same, and waits for nothing.
    pub(crate) fn start_with_gram(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<PendingGram<'_>, DeviceError> {
        Ok(self.stencil.apply(Self::fields(psi, shifted, out), None)?.gram())
    }

    /// Takes the result times `matrix` from `out`; gives out†out.
    ///
    /// # Panics
    /// As [`apply`](Self::apply), for [`Ending::SubtractColumns`], and when the matrix is not one between the columns.
    pub fn subtract_block(
        &self,
        matrix: &SquareMatrix,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<SquareMatrix, DeviceError> {
        let ending = EndingFields { matrix: Some(matrix), ..Default::default() };
        let fields = Fields { ending, ..Self::fields(psi, shifted, out) };
        self.stencil.apply(fields, None)?.gram().wait()
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

    /// Operations and least memory traffic of one application.
    pub fn work(&self) -> Work {
        self.stencil.work()
    }

    /// The same of a hop of as many fields with another form, shift or ending.
    pub fn work_of(&self, form: StencilForm, shift: bool, ending: Ending) -> Work {
        let region = Region::Parity { parity: self.parity, shift };
        self.stencil.work_of(Task { form, region, ending, ..self.stencil.task() })
    }
}
