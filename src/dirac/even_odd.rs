//! The hop from the sites of one parity to those of the other.

use super::stencil::Stencil;
use super::stencil_kernels::{Region, Tuning};
use crate::device::{DeviceError, Event};
use crate::host::WilsonForm;
use crate::lattice::{GaugeField, ParityField};
use crate::scalar::Real;
use lattice_solvers::Work;

/// out = γ5^g (shift·shifted + coefficient·H ψ) on the sites of one parity, ψ on the others, with the hopping term H of
/// [`Wilson`](super::Wilson).
///
/// It is what even-odd preconditioning is made of; see [`WilsonForm`] for the coefficients.
pub struct HopEvenOdd<T: Real> {
    stencil: Stencil<T>,
    parity: usize,
}

impl<T: Real> HopEvenOdd<T> {
    /// The hop to the sites of `parity` (0 even, 1 odd); `shift` says whether a field is added.
    ///
    /// # Errors
    /// When the kernels cannot be built.
    pub fn new(
        links: &GaugeField<T>,
        parity: usize,
        form: WilsonForm,
        shift: bool,
    ) -> Result<Self, DeviceError> {
        let stencil = Stencil::new(links, form, Region::Parity { parity, shift })?;
        Ok(Self { stencil, parity })
    }

    /// As [`new`](Self::new), with a kernel variant of one's own choice.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn tuned(
        links: &GaugeField<T>,
        parity: usize,
        form: WilsonForm,
        shift: bool,
        tuning: Tuning,
    ) -> Result<Self, DeviceError> {
        let stencil = Stencil::tuned(links, form, Region::Parity { parity, shift }, Some(tuning))?;
        Ok(Self { stencil, parity })
    }

    /// The kernel variant of the first device; `None` on the host.
    pub fn tuning(&self) -> Option<Tuning> {
        self.stencil.tuning()
    }

    /// A field that the result fits in, equal to zero.
    pub fn target(&self) -> Result<ParityField<T>, DeviceError> {
        ParityField::zero(self.stencil.links().lattice(), self.parity)
    }

    /// Applies it. The fields have the parities that [`new`](Self::new) says, and `shifted` is there if it says so.
    ///
    /// # Panics
    /// When they do not.
    pub fn apply(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
    ) -> Result<(), DeviceError> {
        self.stencil.apply_to_parity(psi, shifted, out, drop)
    }

    /// As [`apply`](Self::apply), and gives the event of each device's kernel to `launched`.
    pub fn apply_observed(
        &self,
        psi: &ParityField<T>,
        shifted: Option<&ParityField<T>>,
        out: &mut ParityField<T>,
        launched: impl FnMut(Event),
    ) -> Result<(), DeviceError> {
        self.stencil.apply_to_parity(psi, shifted, out, launched)
    }

    /// Operations and least memory traffic of one application.
    pub fn work(&self) -> Work {
        self.stencil.work()
    }
}
