//! Dirac operators with hops to nearest neighbours.

use super::coupling::{Coupling, CouplingError};
use super::even_odd_parts::EvenOddParts;
use super::schur_complement::{SchurComplement, SchurSymmetry};
use super::site_terms::{SiteTerm, SiteTermError};
use super::stencil::{ByEnding, Ending, EndingFields, Fields, Region, Stencil, Task, Tuning};
use super::systems::{BlockDiracOperator, DiracOperator, InPrecision, Normal};
use crate::compute::{DeviceError, Event, Number};
use crate::field::{GaugeField, PendingGram, SpinorField, SpinorSpace};
use crate::geometry::{Lattice, LatticeError, NDIM};
use crate::host::{SiteMatrix, StencilFactors};
use crate::scalar::Storage;
use derive_setters::Setters;
use lattice_solvers::{LinearOperator, Work};

/// A Dirac operator M on a gauge field, in the DeGrand-Rossi basis.
///
/// M has the hopping term of Wilson and a [`SiteTerm`] (K. G. Wilson, Phys. Rev. D 10 (1974) 2445).
///
/// * H ψ(x) = Σ_μ [(1 − γ_μ) U_μ(x) ψ(x+μ) + (1 + γ_μ) U_μ†(x−μ) ψ(x−μ)].
/// * κ normalisation: M = 1 + T − κ H.
/// * Mass normalisation: M = (4 + m) + T/(2κ) − ½ H.
///
/// On an [anisotropic](crate::geometry::Anisotropy) lattice hops in space have the weight w = ν/ξ0.
/// Then 1 − 6κ(1 − w) stands for 1, and 1 + 3w for 4.
///
/// T is 0 for [`SiteTerm::Scalar`]. Each other [`SiteTerm`] says what it adds.
pub struct Dirac<T: Storage> {
    space: SpinorSpace<T>,
    stencil: Stencil<T>,
    /// The stencils with other endings, made when they are wanted first.
    with_endings: ByEnding<Stencil<T>>,
    coupling: Coupling,
    site_term: SiteTerm,
}

/// Options of applying an operator.
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct DiracOptions {
    /// Number of columns that the operator is applied to at once. Default 1.
    ///
    /// Each link is loaded once for all columns. Several columns have no products.
    pub columns: usize,
    /// A kernel variant of one's own choice. Default: the best known.
    pub tuning: Option<Tuning>,
}

impl Default for DiracOptions {
    fn default() -> Self {
        Self { columns: 1, tuning: None }
    }
}

/// The reason why an operator cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum DiracError {
    /// κ or the mass makes no sense.
    #[error(transparent)]
    Coupling(#[from] CouplingError),
    /// A parameter of the site term makes no sense.
    #[error(transparent)]
    SiteTerm(#[from] SiteTermError),
    /// The links say nothing of a clover term.
    #[error("the links have no clover term: make them with `GaugeField::with_clover`")]
    NoClover,
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
}

impl<T: Storage> Dirac<T> {
    /// Makes the Wilson operator on these links, for `Kappa(κ)` or `Mass(m)`.
    ///
    /// # Errors
    /// When κ or m is not allowed, or the kernels cannot be built.
    pub fn wilson(links: &GaugeField<T>, coupling: impl Into<Coupling>) -> Result<Self, DiracError> {
        Self::new(links, coupling, SiteTerm::Scalar)
    }

    /// Makes the operator of one flavour of quarks with twisted mass μ.
    ///
    /// The other flavour has −μ.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn twisted(
        links: &GaugeField<T>,
        coupling: impl Into<Coupling>,
        mu: f64,
    ) -> Result<Self, DiracError> {
        Self::new(links, coupling, SiteTerm::Twisted { mu })
    }

    /// Makes the operator with a clover term of coefficient c_sw on these links.
    ///
    /// The links were made with [`GaugeField::with_clover`].
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn clover(
        links: &GaugeField<T>,
        coupling: impl Into<Coupling>,
        csw: f64,
    ) -> Result<Self, DiracError> {
        Self::new(links, coupling, SiteTerm::Clover { csw, mu: 0.0 })
    }

    /// Makes the operator with this site term.
    ///
    /// # Errors
    /// When κ, m or a parameter of the site term is not allowed, or the kernels cannot be built.
    pub fn new(
        links: &GaugeField<T>,
        coupling: impl Into<Coupling>,
        site_term: SiteTerm,
    ) -> Result<Self, DiracError> {
        Self::with_options(links, coupling, site_term, DiracOptions::default())
    }

    /// Makes an operator like [`new`](Self::new), with options.
    ///
    /// The options are the number of right-hand sides and a kernel variant.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    ///
    /// # Panics
    /// When there is no right-hand side.
    pub fn with_options(
        links: &GaugeField<T>,
        coupling: impl Into<Coupling>,
        site_term: SiteTerm,
        options: DiracOptions,
    ) -> Result<Self, DiracError> {
        assert!(options.columns > 0, "an operator needs a right-hand side");
        let anisotropy = links.anisotropy();
        let (coupling, site_term) = (coupling.into().checked_on(anisotropy)?, site_term.checked()?);
        let factors = site_term.factors_on(anisotropy, coupling);
        if factors.shift.matrix != SiteMatrix::None && !links.has_clover() {
            return Err(DiracError::NoClover);
        }
        let space = links.lattice().spinor_block_space(options.columns)?;
        let columns = options.columns;
        let task = Task { factors, region: Region::Full, ending: Ending::Store, columns };
        let stencil = Stencil::new(links, task, options.tuning).map_err(LatticeError::from)?;
        Ok(Self::of_stencil(space, stencil, coupling, site_term))
    }

    /// Returns the lattice it acts on.
    pub fn lattice(&self) -> &Lattice {
        self.stencil.links().lattice()
    }

    /// Returns κ or the mass, as given.
    pub fn coupling(&self) -> Coupling {
        self.coupling
    }

    /// Returns the coefficients of the hops in x, y, z and t, without their sign.
    ///
    /// The conserved vector current has them as factors.
    pub fn hop_weights(&self) -> [f64; NDIM] {
        self.coupling.hop_weights(self.stencil.links().anisotropy())
    }

    /// Returns the operator's term within a site.
    pub fn site_term(&self) -> SiteTerm {
        self.site_term
    }

    /// Returns the properties of the links besides their configuration, in words.
    ///
    /// The properties are the phases of the boundary and the anisotropy.
    pub(crate) fn links_text(&self) -> String {
        let links = self.stencil.links();
        format!("{:?}, {:?}", links.boundary(), links.anisotropy())
    }

    /// Returns the kernel variant of the first device; `None` on the host.
    pub fn tuning(&self) -> Option<Tuning> {
        self.stencil.tuning()
    }

    /// Returns the spinor fields it acts on.
    pub fn spinor_space(&self) -> &SpinorSpace<T> {
        &self.space
    }

    /// Computes out = M ψ.
    ///
    /// # Panics
    /// When a field lives on another lattice than the links.
    pub fn apply(&self, psi: &SpinorField<T>, out: &mut SpinorField<T>) -> Result<(), DeviceError> {
        self.stencil.apply(Self::fields(psi, out), None).map(drop)
    }

    /// Applies M like [`apply`](Self::apply), and gives kernel events to `launched`.
    ///
    /// `launched` gets the event of each device's kernel.
    pub fn apply_observed(
        &self,
        psi: &SpinorField<T>,
        out: &mut SpinorField<T>,
        mut launched: impl FnMut(Event),
    ) -> Result<(), DeviceError> {
        self.stencil.apply(Self::fields(psi, out), Some(&mut launched)).map(drop)
    }

    /// Returns the adjoint M† of this operator.
    ///
    /// M† is γ5 M γ5, unless the mass is twisted. With a twisted mass M† is γ5 times the other
    /// flavour's operator times γ5.
    pub fn adjoint(&self) -> Result<Self, DeviceError> {
        self.with_factors(self.stencil.task().factors.adjoint())
    }

    /// Returns γ5 M, which is Hermitian unless the mass is twisted.
    pub fn times_gamma5(&self) -> Result<Self, DeviceError> {
        let factors = self.stencil.task().factors;
        self.with_factors(StencilFactors { gamma5: !factors.gamma5, ..factors })
    }

    /// Returns this operator for another number of columns.
    ///
    /// # Errors
    /// When the kernels cannot be built.
    ///
    /// # Panics
    /// When there is no source.
    pub fn for_columns(&self, columns: usize) -> Result<Self, LatticeError> {
        assert!(columns > 0, "an operator needs a source");
        let space = self.lattice().spinor_block_space(columns)?;
        let task = Task { columns, ..self.stencil.task() };
        let stencil = Stencil::new(self.stencil.links(), task, None)?;
        Ok(Self::of_stencil(space, stencil, self.coupling, self.site_term))
    }

    /// Its Schur complement on the even sites, for as many columns.
    ///
    /// # Errors
    /// When the kernels cannot be built, or the site term has no inverse.
    pub fn schur_complement(&self) -> Result<SchurComplement<T>, LatticeError> {
        self.schur_complement_in(SchurSymmetry::Asymmetric)
    }

    /// Returns the Schur complement with this symmetry.
    ///
    /// # Errors
    /// The errors of [`schur_complement`](Self::schur_complement).
    pub fn schur_complement_in(&self, symmetry: SchurSymmetry) -> Result<SchurComplement<T>, LatticeError> {
        let task = self.stencil.task();
        SchurComplement::new(self.stencil.links(), task.factors, symmetry, task.columns)
    }

    /// Returns the operators that reduce M x = b to its Schur complement, and back.
    pub(crate) fn even_odd_parts(
        &self,
        b: &SpinorField<T>,
        symmetry: SchurSymmetry,
    ) -> Result<EvenOddParts<T>, LatticeError> {
        EvenOddParts::new(self.stencil.links(), self.stencil.task().factors, symmetry, b)
    }

    fn with_factors(&self, factors: StencilFactors) -> Result<Self, DeviceError> {
        let stencil = Stencil::new(self.stencil.links(), Task { factors, ..self.stencil.task() }, None)?;
        Ok(Self::of_stencil(self.space.clone(), stencil, self.coupling, self.site_term))
    }

    fn of_stencil(
        space: SpinorSpace<T>,
        stencil: Stencil<T>,
        coupling: Coupling,
        site_term: SiteTerm,
    ) -> Self {
        Self { space, stencil, with_endings: ByEnding::default(), coupling, site_term }
    }

    fn fields<'a>(psi: &'a SpinorField<T>, out: &'a mut SpinorField<T>) -> Fields<'a, T> {
        let (psi, out) = (&psi.spinors, &mut out.spinors);
        Fields { psi, shifted: None, out, ending: EndingFields::default() }
    }

    /// Applies it with another ending than [`Ending::Store`].
    fn sums(&self, ending: Ending, fields: Fields<'_, T>) -> Result<[Number; 2], DeviceError> {
        let task = Task { ending, ..self.stencil.task() };
        let stencil = self.with_endings.get(ending, || Stencil::new(self.stencil.links(), task, None))?;
        Ok(stencil.apply(fields, None)?.numbers())
    }

    /// Returns this operator in another precision.
    pub fn cast<R: Storage>(&self) -> Result<Dirac<R>, LatticeError> {
        let links = self.stencil.links().cast()?;
        let space = links.lattice().spinor_block_space(self.stencil.task().columns)?;
        let stencil = Stencil::new(&links, self.stencil.task(), None)?;
        Ok(Dirac::of_stencil(space, stencil, self.coupling, self.site_term))
    }
}

impl<T: Storage> DiracOperator for Dirac<T> {
    fn is_gamma5_hermitian(&self) -> bool {
        self.stencil.task().factors.is_gamma5_hermitian()
    }

    fn adjoint(&self) -> Result<Self, DeviceError> {
        self.adjoint()
    }

    fn times_gamma5(&self) -> Result<Self, DeviceError> {
        self.times_gamma5()
    }

    fn gamma5(&self) -> Result<Self, DeviceError> {
        self.with_factors(StencilFactors { dagger: false, gamma5: true, ..StencilFactors::new(1.0, 0.0) })
    }
}

impl<T: Storage> LinearOperator for Dirac<T> {
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
        let ending = EndingFields { against: Some(&against.spinors), ..Default::default() };
        self.sums(Ending::Products, Fields { ending, ..Self::fields(psi, out) })
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
        let ending = EndingFields { multiple: Some(a), ..Default::default() };
        let fields = Fields { ending, ..Self::fields(psi, from) };
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

impl<T: Storage> BlockDiracOperator for Dirac<T> {
    fn start_gram_of_image(
        &self,
        psi: &SpinorField<T>,
        out: &mut SpinorField<T>,
    ) -> Result<PendingGram<'_>, DeviceError> {
        self.apply(psi, out)?;
        self.space.start_gram(out)
    }
}

impl<T: Storage, R: Storage> InPrecision<R> for Dirac<T> {
    type Low = Dirac<R>;

    fn in_precision(&self) -> Result<Dirac<R>, LatticeError> {
        self.cast()
    }

    fn lower(x: &SpinorField<T>, low: &mut SpinorField<R>) -> Result<(), DeviceError> {
        x.cast_to(low)
    }

    fn raise(low: &SpinorField<R>, x: &mut SpinorField<T>) -> Result<(), DeviceError> {
        low.cast_to(x)
    }

    fn sum_with_raised(
        low: &SpinorField<R>,
        x: &SpinorField<T>,
        sum: &mut SpinorField<T>,
    ) -> Result<(), DeviceError> {
        low.spinors.sum_with(&x.spinors, &mut sum.spinors)
    }
}

impl<T: Storage> Dirac<T> {
    /// Returns M†M, which is Hermitian and positive.
    pub fn normal(&self) -> Result<Normal<Self>, DeviceError> {
        Normal::new(self)
    }
}
