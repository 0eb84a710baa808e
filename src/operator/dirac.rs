//! The Wilson operator.

use super::schur_complement::{EvenOddParts, SchurComplement};
use super::stencil::Tuning;
use super::stencil::{ByEnding, Ending, Region, Task};
use super::stencil::{Fields, Stencil};
use super::systems::{BlockDiracOperator, DiracOperator, InPrecision, Normal};
use crate::device::{DeviceError, Event, Number};
use crate::field::{GaugeField, PendingGram, SpinorField, SpinorSpace};
use crate::geometry::{Lattice, LatticeError};
use crate::host::WilsonForm;
use crate::scalar::Storage;
use lattice_solvers::{LinearOperator, Work};

/// The hopping parameter κ: selects the normalisation M = 1 − κ H.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kappa(pub f64);

/// The bare quark mass m: selects the normalisation M = (4 + m) − ½ H.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mass(pub f64);

/// The quark mass, in one of its two forms: m = 1/(2κ) − 4, and M_mass = M_κ / (2κ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coupling {
    /// The κ form.
    Kappa(Kappa),
    /// The mass form.
    Mass(Mass),
}

/// A κ or mass that defines no operator.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum CouplingError {
    /// κ is not a positive finite number, or so small that the mass would be infinite.
    #[error("kappa = {0:?} is not allowed: it must be a positive finite number, and 1/kappa finite")]
    Kappa(f64),
    /// The mass is not a finite number above −4, or so large that κ would vanish.
    #[error(
        "mass = {0:?} is not allowed: it must be a finite number above -4, where kappa would be infinite, and kappa not vanish"
    )]
    Mass(f64),
}

impl From<Kappa> for Coupling {
    fn from(kappa: Kappa) -> Self {
        Coupling::Kappa(kappa)
    }
}

impl From<Mass> for Coupling {
    fn from(mass: Mass) -> Self {
        Coupling::Mass(mass)
    }
}

impl Coupling {
    /// Checks that the operator exists.
    ///
    /// # Errors
    /// When κ is not positive and finite, or m not finite and above −4; and when one of the two is so extreme that the
    /// other is not a normal number.
    pub fn checked(self) -> Result<Self, CouplingError> {
        match self {
            Coupling::Kappa(Kappa(kappa)) if !(kappa.is_normal() && kappa > 0.0) => {
                Err(CouplingError::Kappa(kappa))
            }
            Coupling::Mass(Mass(mass)) if !(mass > -4.0 && self.kappa().is_normal()) => {
                Err(CouplingError::Mass(mass))
            }
            _ => Ok(self),
        }
    }

    /// κ = 1 / (8 + 2m).
    pub fn kappa(self) -> f64 {
        match self {
            Coupling::Kappa(Kappa(kappa)) => kappa,
            Coupling::Mass(Mass(mass)) => 0.5 / (4.0 + mass),
        }
    }

    /// m = 1/(2κ) − 4.
    pub fn mass(self) -> f64 {
        match self {
            Coupling::Kappa(Kappa(kappa)) => 0.5 / kappa - 4.0,
            Coupling::Mass(Mass(mass)) => mass,
        }
    }

    /// Coefficients of ψ and of the hopping term.
    fn coefficients(self) -> (f64, f64) {
        match self {
            Coupling::Kappa(Kappa(kappa)) => (1.0, -kappa),
            Coupling::Mass(Mass(mass)) => (4.0 + mass, -0.5),
        }
    }
}

/// The Wilson operator M on a gauge field, in the DeGrand-Rossi basis.
///
/// H ψ(x) = Σ_μ [(1 − γ_μ) U_μ(x) ψ(x+μ) + (1 + γ_μ) U_μ†(x−μ) ψ(x−μ)];
/// κ form: M = 1 − κ H; mass form: M = (4 + m) − ½ H (K. G. Wilson, Phys. Rev. D 10 (1974) 2445).
pub struct Wilson<T: Storage> {
    space: SpinorSpace<T>,
    stencil: Stencil<T>,
    /// The same with other endings; made when they are wanted first.
    with_endings: ByEnding<Stencil<T>>,
    coupling: Coupling,
}

/// How an operator is applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WilsonOptions {
    /// How many fields it is applied to at once; each link is loaded once for all of them. There are no products of several. Default 1.
    pub sources: usize,
    /// A kernel variant of one's own choice. Default: the best known.
    pub tuning: Option<Tuning>,
}

impl Default for WilsonOptions {
    fn default() -> Self {
        Self { sources: 1, tuning: None }
    }
}

/// Why an operator cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum WilsonError {
    /// κ or the mass makes no sense.
    #[error(transparent)]
    Coupling(#[from] CouplingError),
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
}

impl<T: Storage> Wilson<T> {
    /// The operator on these links, for `Kappa(κ)` or `Mass(m)`.
    ///
    /// # Errors
    /// When κ or m is not allowed, or the kernels cannot be built.
    pub fn new(links: &GaugeField<T>, coupling: impl Into<Coupling>) -> Result<Self, WilsonError> {
        Self::with_options(links, coupling, WilsonOptions::default())
    }

    /// As [`new`](Self::new), for several fields at once, or in a kernel variant of one's own choice.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// # Panics
    /// When there is no source.
    pub fn with_options(
        links: &GaugeField<T>,
        coupling: impl Into<Coupling>,
        options: WilsonOptions,
    ) -> Result<Self, WilsonError> {
        assert!(options.sources > 0, "an operator needs a source");
        let coupling = coupling.into().checked()?;
        let space = links.lattice().spinor_block_space(options.sources)?;
        let (shift, coefficient) = coupling.coefficients();
        let form = WilsonForm { shift, coefficient, dagger: false, gamma5: false };
        let task = Task { form, region: Region::Full, ending: Ending::Store, sources: options.sources };
        let stencil = Stencil::new(links, task, options.tuning).map_err(LatticeError::from)?;
        Ok(Self::of_stencil(space, stencil, coupling))
    }

    /// The lattice it acts on.
    pub fn lattice(&self) -> &Lattice {
        self.stencil.links().lattice()
    }

    /// κ or mass, as it was given.
    pub fn coupling(&self) -> Coupling {
        self.coupling
    }

    /// The kernel variant of the first device; `None` on the host.
    pub fn tuning(&self) -> Option<Tuning> {
        self.stencil.tuning()
    }

    /// The spinor fields it acts on.
    pub fn spinor_space(&self) -> &SpinorSpace<T> {
        &self.space
    }

    /// out = M ψ
    ///
    /// # Panics
    /// When a field lives on another lattice than the links.
    pub fn apply(&self, psi: &SpinorField<T>, out: &mut SpinorField<T>) -> Result<(), DeviceError> {
        self.stencil.apply(Self::fields(psi, out), None).map(drop)
    }

    /// As [`apply`](Self::apply), and gives the event of each device's kernel to `launched`.
    pub fn apply_observed(
        &self,
        psi: &SpinorField<T>,
        out: &mut SpinorField<T>,
        mut launched: impl FnMut(Event),
    ) -> Result<(), DeviceError> {
        self.stencil.apply(Self::fields(psi, out), Some(&mut launched)).map(drop)
    }

    /// The adjoint M† = γ5 M γ5 of this operator.
    pub fn adjoint(&self) -> Result<Self, DeviceError> {
        let form = self.stencil.task().form;
        self.with_form(WilsonForm { dagger: !form.dagger, ..form })
    }

    /// γ5 M, which is Hermitian.
    pub fn times_gamma5(&self) -> Result<Self, DeviceError> {
        let form = self.stencil.task().form;
        self.with_form(WilsonForm { gamma5: !form.gamma5, ..form })
    }

    /// The same operator for this many fields at once.
    ///
    /// # Errors
    /// When the kernels cannot be built.
    ///
    /// # Panics
    /// When there is no source.
    pub fn for_sources(&self, sources: usize) -> Result<Self, LatticeError> {
        assert!(sources > 0, "an operator needs a source");
        let space = self.lattice().spinor_block_space(sources)?;
        let task = Task { sources, ..self.stencil.task() };
        Ok(Self::of_stencil(space, Stencil::new(self.stencil.links(), task, None)?, self.coupling))
    }

    /// Its Schur complement on the even sites, for as many sources.
    ///
    /// # Errors
    /// When the kernels cannot be built.
    pub fn schur_complement(&self) -> Result<SchurComplement<T>, LatticeError> {
        let Task { form, sources, .. } = self.stencil.task();
        SchurComplement::new(self.stencil.links(), form, sources)
    }

    /// The way of M x = b to the system of its Schur complement, and back.
    pub(crate) fn even_odd_parts(&self, b: &SpinorField<T>) -> Result<EvenOddParts<T>, DeviceError> {
        EvenOddParts::new(self.stencil.links(), self.stencil.task().form, b)
    }

    fn with_form(&self, form: WilsonForm) -> Result<Self, DeviceError> {
        let stencil = Stencil::new(self.stencil.links(), Task { form, ..self.stencil.task() }, None)?;
        Ok(Self::of_stencil(self.space.clone(), stencil, self.coupling))
    }

    fn of_stencil(space: SpinorSpace<T>, stencil: Stencil<T>, coupling: Coupling) -> Self {
        Self { space, stencil, with_endings: ByEnding::default(), coupling }
    }

    fn fields<'a>(psi: &'a SpinorField<T>, out: &'a mut SpinorField<T>) -> Fields<'a, T> {
        let (psi, out) = (&psi.spinors, &mut out.spinors);
        Fields { psi, shifted: None, out, against: None, multiple: None, matrix: None }
    }

    /// Applies it with another ending than [`Ending::Store`].
    fn sums(&self, ending: Ending, fields: Fields<'_, T>) -> Result<[Number; 2], DeviceError> {
        let task = Task { ending, ..self.stencil.task() };
        let stencil = self.with_endings.get(ending, || Stencil::new(self.stencil.links(), task, None))?;
        Ok(stencil.apply(fields, None)?.numbers())
    }

    /// The same operator in another precision.
    pub fn cast<R: Storage>(&self) -> Result<Wilson<R>, LatticeError> {
        let links = self.stencil.links().cast()?;
        let space = links.lattice().spinor_block_space(self.stencil.task().sources)?;
        Ok(Wilson::of_stencil(space, Stencil::new(&links, self.stencil.task(), None)?, self.coupling))
    }
}

impl<T: Storage> DiracOperator for Wilson<T> {
    fn adjoint(&self) -> Result<Self, DeviceError> {
        self.adjoint()
    }

    fn times_gamma5(&self) -> Result<Self, DeviceError> {
        self.times_gamma5()
    }

    fn gamma5(&self) -> Result<Self, DeviceError> {
        self.with_form(WilsonForm { shift: 1.0, coefficient: 0.0, dagger: false, gamma5: true })
    }
}

impl<T: Storage> LinearOperator for Wilson<T> {
    type Space = SpinorSpace<T>;

    fn space(&self) -> &SpinorSpace<T> {
        &self.space
    }

    fn apply(&self, psi: &SpinorField<T>, out: &mut SpinorField<T>) -> Result<(), DeviceError> {
        self.stencil.apply(Self::fields(psi, out), None).map(drop)
    }

    fn work(&self) -> Work {
        self.stencil.work()
    }

    fn apply_products(
        &self,
        psi: &SpinorField<T>,
        against: &SpinorField<T>,
        out: &mut SpinorField<T>,
    ) -> Result<[Number; 2], DeviceError> {
        let against = Some(&against.spinors);
        self.sums(Ending::Products, Fields { against, ..Self::fields(psi, out) })
    }

    fn apply_norm2(&self, psi: &SpinorField<T>, out: &mut SpinorField<T>) -> Result<Number, DeviceError> {
        let [_, norm2] = self.sums(Ending::Norm2, Self::fields(psi, out))?;
        Ok(norm2)
    }

    fn subtract_image(
        &self,
        a: &Number,
        psi: &SpinorField<T>,
        _: &mut SpinorField<T>,
        from: &mut SpinorField<T>,
    ) -> Result<Number, DeviceError> {
        let fields = Fields { multiple: Some(a), ..Self::fields(psi, from) };
        let [_, norm2] = self.sums(Ending::Subtract, fields)?;
        Ok(norm2)
    }

    fn work_with_products(&self) -> Work {
        self.stencil.work_of(Task { ending: Ending::Products, ..self.stencil.task() })
    }

    fn work_with_norm2(&self) -> Work {
        self.stencil.work_of(Task { ending: Ending::Norm2, ..self.stencil.task() })
    }

    fn work_of_subtraction(&self) -> Work {
        self.stencil.work_of(Task { ending: Ending::Subtract, ..self.stencil.task() })
    }
}

impl<T: Storage> BlockDiracOperator for Wilson<T> {
    fn start_gram_of_image(
        &self,
        psi: &SpinorField<T>,
        out: &mut SpinorField<T>,
    ) -> Result<PendingGram<'_>, DeviceError> {
        self.apply(psi, out)?;
        self.space.start_gram(out)
    }
}

impl<T: Storage, R: Storage> InPrecision<R> for Wilson<T> {
    type Low = Wilson<R>;

    fn in_precision(&self) -> Result<Wilson<R>, LatticeError> {
        self.cast()
    }

    fn lower(x: &SpinorField<T>, low: &mut SpinorField<R>) -> Result<(), DeviceError> {
        x.cast_to(low)
    }

    fn raise(low: &SpinorField<R>, x: &mut SpinorField<T>) -> Result<(), DeviceError> {
        low.cast_to(x)
    }

    fn add_raised(low: &SpinorField<R>, x: &mut SpinorField<T>) -> Result<(), DeviceError> {
        low.spinors.add_to(&mut x.spinors)
    }
}

impl<T: Storage> Wilson<T> {
    /// M†M, which is Hermitian and positive.
    pub fn normal(&self) -> Result<Normal<Self>, DeviceError> {
        Normal::new(self)
    }
}
