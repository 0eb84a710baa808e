//! The hop from the sites of one parity to those of the other.

use super::stencil::{Fields, Stencil};
use super::stencil_kernels::{Region, Task, Tuning};
use crate::device::{DeviceError, Event, Number};
use crate::host::WilsonForm;
use crate::lattice::{GaugeField, ParityField};
use crate::scalar::Storage;
use lattice_solvers::Work;

/// out = γ5^g (shift·shifted + coefficient·H ψ) on the sites of one parity, ψ on the others, with the hopping term H of
/// [`Wilson`](super::Wilson).
///
/// It is what even-odd preconditioning is made of; see [`WilsonForm`] for the coefficients.
pub struct HopEvenOdd<T: Storage> {
    stencil: Stencil<T>,
    parity: usize,
}

/// What a hop does besides hopping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopOptions {
    /// Whether a multiple of a field is added. Default no.
    pub shift: bool,
    /// Whether the result's product with a field, and its norm, are summed up while it is stored; for one source only. Default no.
    pub product: bool,
    /// How many fields it is applied to at once; each link is loaded once for all of them. Default 1.
    pub sources: usize,
    /// A kernel variant of one's own choice. Default: the best known.
    pub tuning: Option<Tuning>,
}

impl Default for HopOptions {
    fn default() -> Self {
        Self { shift: false, product: false, sources: 1, tuning: None }
    }
}

impl<T: Storage> HopEvenOdd<T> {
    /// The hop to the sites of `parity` (0 even, 1 odd).
    ///
    /// # Errors
    /// When the kernels cannot be built.
    ///
    /// # Panics
    /// When there is no source, or a product with several.
    pub fn new(
        links: &GaugeField<T>,
        parity: usize,
        form: WilsonForm,
        options: HopOptions,
    ) -> Result<Self, DeviceError> {
        let HopOptions { shift, product, sources, tuning } = options;
        assert!(sources > 0 && !(product && sources > 1), "{sources} sources, product: {product}");
        let task = Task { form, region: Region::Parity { parity, shift }, product, sources };
        Ok(Self { stencil: Stencil::new(links, task, tuning)?, parity })
    }

    /// The kernel variant of the first device; `None` on the host.
    pub fn tuning(&self) -> Option<Tuning> {
        self.stencil.tuning()
    }

    /// A field that the result fits in, equal to zero.
    pub fn target(&self) -> Result<ParityField<T>, DeviceError> {
        ParityField::zero(self.stencil.links().lattice(), self.parity, self.stencil.task().sources)
    }

    /// Applies it. The fields have the parities and the number of sources that [`new`](Self::new) says, and `shifted` is there if it
    /// says so.
    ///
    /// # Panics
    /// When they do not, or it was made with a product.
    pub fn apply(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<(), DeviceError> {
        self.apply_observed(psi, shifted, out, drop)
    }

    /// As [`apply`](Self::apply), and gives the event of each device's kernel to `launched`.
    pub fn apply_observed(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
        launched: impl FnMut(Event),
    ) -> Result<(), DeviceError> {
        let shifted = shifted.map(|field| &field.spinors);
        let fields = Fields { psi: &psi.spinors, shifted, out: &mut out.spinors, against: None };
        self.stencil.apply(fields, launched).map(drop)
    }

    /// As [`apply`](Self::apply), and gives (against, out) and (out, out).
    ///
    /// # Panics
    /// As [`apply`](Self::apply), and when it was made without a product.
    pub fn apply_with_product(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
        against: &ParityField<T>,
    ) -> Result<[Number; 2], DeviceError> {
        let shifted = shifted.map(|field| &field.spinors);
        let against = Some(&against.spinors);
        let fields = Fields { psi: &psi.spinors, shifted, out: &mut out.spinors, against };
        Ok(self.stencil.apply(fields, drop)?.expect("a stencil with a product makes one"))
    }

    /// Operations and least memory traffic of one application.
    pub fn work(&self) -> Work {
        self.stencil.work()
    }

    /// The same of one application with a product.
    pub fn work_with_product(&self) -> Work {
        self.stencil.work_of(Task { product: true, ..self.stencil.task() })
    }
}
