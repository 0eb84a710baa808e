//! The Schur complement of a Dirac operator, for even-odd preconditioning.

use super::four_blocks::{EVEN, FourBlocks, ODD};
use super::hop::{HopEvenOdd, HopOptions};
use super::stencil::{ByEnding, Ending, SiteProduct};
use super::systems::{BlockDiracOperator, DiracOperator, InPrecision, Normal, apply_and_subtract, work_with};
use crate::compute::{DeviceError, Number};
use crate::field::{
    BlockField, ColumnMatrix, GaugeField, ParityField, ParitySpace, PendingGram, ends_on_matrix_units,
};
use crate::geometry::{Lattice, LatticeError, Shard};
use crate::host::StencilFactors;
use crate::scalar::Storage;
use crate::sync::lock;
use lattice_solvers::update::{NORM2, RESIDUAL};
use lattice_solvers::{BlockSpace, LinearOperator, VectorSpace, Work, gram_work, subtraction_work};
use std::sync::{Arc, Mutex};

/// The Schur complement M̂ = A − c² H_eo A⁻¹ H_oe on the even sites.
///
/// The Dirac operator M = A + c H has four blocks: A on the even sites and on the odd ones, c H_eo and
/// c H_oe. H_eo is the hop to the even sites, H_oe the hop to the odd sites.
///
/// M x = b is equivalent to M̂ x_e = b_e − c H_eo A⁻¹ b_o and x_o = A⁻¹ (b_o − c H_oe x_e). Source:
/// T. DeGrand and P. Rossi, Comput. Phys. Commun. 60 (1990) 211. If M† = γ5 M γ5, then M̂† = γ5 M̂
/// γ5.
///
/// This complement is asymmetric. The symmetric complement is A⁻¹ M̂ = 1 − c² A⁻¹ H_eo A⁻¹ H_oe. It has
/// fewer iterations with a clover term, and is γ5-hermitian only if A is a number.
///
/// * Wilson: A is a number s. M̂ = s − (c²/s) H_eo H_oe, in κ normalisation 1 − κ² H_eo H_oe.
/// * Twisted mass: A is s + i t γ5, and A⁻¹ = f (1 − i r γ5). Hops to odd sites end with the
///   remainder 1 − i r γ5. Hops back have the factor f.
/// * Clover term: A⁻¹ is a matrix of the site, and hops end with it.
pub struct SchurComplement<T: Storage> {
    space: ParitySpace<T>,
    links: GaugeField<T>,
    blocks: FourBlocks,
    order: Order,
    /// The stored blocks of A⁻¹, if it has any: so hops that are made later find them.
    inverse: Option<Arc<BlockField<T>>>,
    to_odd: HopEvenOdd<T>,
    /// The hops to even sites with each ending.
    ///
    /// A hop is made when it is wanted first, because a method needs few endings.
    to_even: ByEnding<HopEvenOdd<T>>,
    /// The field H_oe ψ.
    ///
    /// It is made once, so that an application allocates nothing. The adjoint and all other operators
    /// share it.
    between: Arc<Mutex<ParityField<T>>>,
    /// The step before the hops.
    before: Option<Arc<Before<T>>>,
    /// `true` if hops can end with the update of a block of columns, on matrix units.
    ends_blocks: bool,
}

/// A product within the sites, and where its result goes.
struct Before<T: Storage> {
    product: SiteProduct<T>,
    turned: Mutex<ParityField<T>>,
}

/// The symmetry of the complement that is iterated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SchurSymmetry {
    /// M̂ = A − c² H_eo A⁻¹ H_oe.
    #[default]
    Asymmetric,
    /// A⁻¹ M̂ = 1 − c² A⁻¹ H_eo A⁻¹ H_oe.
    Symmetric,
}

/// The position of the inverses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// A − c² H_eo A⁻¹ H_oe
    Asymmetric,
    /// 1 − c² A⁻¹ H_eo A⁻¹ H_oe
    InverseLast,
    /// 1 − c² H_eo A⁻¹ H_oe A⁻¹, the adjoint of that of the adjoint.
    InverseFirst,
}

impl Order {
    /// Returns the order of a complement with this symmetry.
    fn of(symmetry: SchurSymmetry) -> Self {
        match symmetry {
            SchurSymmetry::Asymmetric => Order::Asymmetric,
            SchurSymmetry::Symmetric => Order::InverseLast,
        }
    }

    fn adjoint(self) -> Self {
        match self {
            Order::Asymmetric => Order::Asymmetric,
            Order::InverseLast => Order::InverseFirst,
            Order::InverseFirst => Order::InverseLast,
        }
    }
}

/// Returns the factors of the hop to odd sites: A⁻¹ H_oe ψ, without the factor f.
fn inner_factors(blocks: FourBlocks) -> StencilFactors {
    let (_, remainder) = blocks.inverse(ODD);
    StencilFactors { gamma5: false, ..blocks.step(0.0, remainder) }
}

/// Returns the factors of the hop back to even sites.
///
/// The hop computes A ψ − c² f H_eo χ, or ψ − c² f² [A⁻¹/f] H_eo χ.
fn outer_factors(blocks: FourBlocks, order: Order) -> StencilFactors {
    let (c, (of_odd, _), (of_even, remainder)) =
        (blocks.coefficient(), blocks.inverse(ODD), blocks.inverse(EVEN));
    let symmetric = -c * c * of_even * of_odd;
    match order {
        Order::Asymmetric => blocks.step(blocks.within(EVEN), c * -c * of_odd),
        Order::InverseLast => blocks.step(1.0, remainder * symmetric),
        Order::InverseFirst => blocks.step(1.0, symmetric),
    }
}

/// Returns the factors of the hops to the odd sites and back.
///
/// They belong to the complement of M or of its adjoint.
pub(crate) fn hops_of(
    factors: StencilFactors,
    symmetry: SchurSymmetry,
    adjoint: bool,
) -> [StencilFactors; 2] {
    let (blocks, order) = (FourBlocks::of(factors), Order::of(symmetry));
    let (blocks, order) = if adjoint { (blocks.adjoint(), order.adjoint()) } else { (blocks, order) };
    [inner_factors(blocks), outer_factors(blocks, order)]
}

impl<T: Storage> SchurComplement<T> {
    /// Makes the complement of γ5^g (A + c H) or of its adjoint.
    pub(crate) fn new(
        links: &GaugeField<T>,
        factors: StencilFactors,
        symmetry: SchurSymmetry,
        columns: usize,
    ) -> Result<Self, LatticeError> {
        Self::in_order(links, FourBlocks::of(factors), Order::of(symmetry), columns)
    }

    fn in_order(
        links: &GaugeField<T>,
        blocks: FourBlocks,
        order: Order,
        columns: usize,
    ) -> Result<Self, LatticeError> {
        let space = links.lattice().parity_block_space(EVEN, columns)?;
        let inverse = links.blocks(blocks.inverse(ODD).1.matrix)?;
        let to_odd = Self::inner_hop(links, blocks, columns)?;
        let between = Arc::new(Mutex::new(to_odd.scratch_target()?));
        let lattice = links.lattice();
        let ends = |shard: &Shard| {
            let layout = shard.layout(T::STORAGE);
            ends_on_matrix_units::<T>(&shard.device, &layout, columns)
        };
        let ends_blocks = !lattice.team().is_host() && lattice.everywhere().iter().all(ends);
        let before = Self::before(links, blocks, order, columns)?;
        let (links, to_even) = (links.clone(), ByEnding::default());
        Ok(Self { space, links, blocks, order, inverse, to_odd, to_even, between, before, ends_blocks })
    }

    /// Makes the product with A⁻¹ without its factor f, if it comes first.
    ///
    /// `None` if A is a number, which commutes.
    fn before(
        links: &GaugeField<T>,
        blocks: FourBlocks,
        order: Order,
        columns: usize,
    ) -> Result<Option<Arc<Before<T>>>, DeviceError> {
        if order != Order::InverseFirst || blocks.are_numbers_within() {
            return Ok(None);
        }
        let (_, remainder) = blocks.inverse(EVEN);
        let product = SiteProduct::new(links, EVEN, remainder, columns)?;
        let turned = ParityField::uninitialised(links.lattice(), EVEN, columns)?;
        Ok(Some(Arc::new(Before { product, turned: Mutex::new(turned) })))
    }

    fn inner_hop(
        links: &GaugeField<T>,
        blocks: FourBlocks,
        columns: usize,
    ) -> Result<HopEvenOdd<T>, DeviceError> {
        HopEvenOdd::new(links, ODD, inner_factors(blocks), HopOptions { columns, ..Default::default() })
    }

    /// Returns the factors of the hop back to even sites.
    fn outer_factors(&self) -> StencilFactors {
        outer_factors(self.blocks, self.order)
    }

    fn to_even_with(&self, ending: Ending) -> Result<&HopEvenOdd<T>, DeviceError> {
        let options = HopOptions { ending, shift: true, columns: self.space.columns(), ..Default::default() };
        self.to_even.get(ending, || HopEvenOdd::new(&self.links, EVEN, self.outer_factors(), options))
    }

    /// Does the first hop.
    fn hop_to_odd(&self, psi: &ParityField<T>, between: &mut ParityField<T>) -> Result<(), DeviceError> {
        let Some(before) = &self.before else { return self.to_odd.apply(psi, None, between) };
        let mut turned = lock(&before.turned);
        before.product.apply(psi, &mut turned)?;
        self.to_odd.apply(&turned, None, between)
    }

    /// Tells whether sums take a pass of their own.
    ///
    /// Hops end with sums of one column alone.
    fn has_columns(&self) -> bool {
        self.space.columns() > 1
    }

    fn work_with(&self, ending: Ending) -> Work {
        let mut work = self.to_odd.work();
        work += self.to_odd.work_of(self.outer_factors(), true, ending);
        if let Some(before) = &self.before {
            work += before.product.work();
        }
        work
    }

    fn with_blocks(&self, blocks: FourBlocks, order: Order) -> Result<Self, DeviceError> {
        let columns = self.space.columns();
        Ok(Self {
            space: self.space.clone(),
            links: self.links.clone(),
            blocks,
            order,
            inverse: self.inverse.clone(),
            to_odd: Self::inner_hop(&self.links, blocks, columns)?,
            to_even: ByEnding::default(),
            between: Arc::clone(&self.between),
            before: Self::before(&self.links, blocks, order, columns)?,
            ends_blocks: self.ends_blocks,
        })
    }

    /// Returns this operator in another precision.
    ///
    /// # Errors
    /// When the links cannot be converted, or the kernels not be built.
    pub fn cast<R: Storage>(&self) -> Result<SchurComplement<R>, LatticeError> {
        SchurComplement::in_order(&self.links.cast()?, self.blocks, self.order, self.space.columns())
    }

    /// Returns the lattice it acts on.
    pub fn lattice(&self) -> &Lattice {
        self.links.lattice()
    }
}

impl<T: Storage> DiracOperator for SchurComplement<T> {
    fn is_gamma5_hermitian(&self) -> bool {
        let commutes = self.order == Order::Asymmetric || self.blocks.are_numbers_within();
        self.blocks.is_gamma5_hermitian() && commutes
    }

    fn adjoint(&self) -> Result<Self, DeviceError> {
        self.with_blocks(self.blocks.adjoint(), self.order.adjoint())
    }

    fn times_gamma5(&self) -> Result<Self, DeviceError> {
        self.with_blocks(self.blocks.times_gamma5(), self.order)
    }

    fn gamma5(&self) -> Result<Self, DeviceError> {
        self.with_blocks(FourBlocks::gamma5(), Order::Asymmetric)
    }
}

impl<T: Storage> LinearOperator for SchurComplement<T> {
    type Space = ParitySpace<T>;

    fn space(&self) -> &ParitySpace<T> {
        &self.space
    }

    fn apply(&self, psi: &ParityField<T>, out: &mut ParityField<T>) -> Result<(), DeviceError> {
        let mut between = lock(&self.between);
        self.hop_to_odd(psi, &mut between)?;
        self.to_even_with(Ending::Store)?.apply(&between, Some(psi), out)
    }

    fn apply_products(
        &self,
        psi: &ParityField<T>,
        against: &ParityField<T>,
        out: &mut ParityField<T>,
    ) -> Result<[Number; 2], DeviceError> {
        if self.has_columns() {
            self.apply(psi, out)?;
            return Ok([self.space.dot(against, out)?, self.space.norm2(out)?]);
        }
        let mut between = lock(&self.between);
        self.hop_to_odd(psi, &mut between)?;
        self.to_even_with(Ending::Products)?.apply_with_products(&between, Some(psi), out, against)
    }

    fn apply_norm2(&self, psi: &ParityField<T>, out: &mut ParityField<T>) -> Result<Number, DeviceError> {
        if self.has_columns() {
            self.apply(psi, out)?;
            return self.space.norm2(out);
        }
        let mut between = lock(&self.between);
        self.hop_to_odd(psi, &mut between)?;
        self.to_even_with(Ending::Norm2)?.apply_with_norm2(&between, Some(psi), out)
    }

    fn subtract_image(
        &self,
        a: &Number,
        psi: &ParityField<T>,
        image: &mut ParityField<T>,
        from: &mut ParityField<T>,
    ) -> Result<Number, DeviceError> {
        if self.has_columns() {
            self.apply(psi, image)?;
            let [norm2] = RESIDUAL.apply(&self.space, [a], [&*image], [from])?;
            return Ok(norm2);
        }
        let mut between = lock(&self.between);
        self.hop_to_odd(psi, &mut between)?;
        self.to_even_with(Ending::Subtract)?.subtract(a, &between, Some(psi), from)
    }

    fn work(&self) -> Work {
        self.work_with(Ending::Store)
    }

    fn work_with_products(&self) -> Work {
        if self.has_columns() {
            return work_with(self, |space| Work::pass(space, 12, 3));
        }
        self.work_with(Ending::Products)
    }

    fn work_with_norm2(&self) -> Work {
        if self.has_columns() {
            return work_with(self, |space| NORM2.work(space));
        }
        self.work_with(Ending::Norm2)
    }

    fn work_of_subtraction(&self) -> Work {
        if self.has_columns() {
            return work_with(self, |space| RESIDUAL.work(space));
        }
        self.work_with(Ending::Subtract)
    }
}

impl<T: Storage> BlockDiracOperator for SchurComplement<T> {
    fn start_gram_of_image(
        &self,
        psi: &ParityField<T>,
        out: &mut ParityField<T>,
    ) -> Result<PendingGram<'_>, DeviceError> {
        if !self.ends_blocks {
            self.apply(psi, out)?;
            return self.space.start_gram(out);
        }
        let mut between = lock(&self.between);
        self.hop_to_odd(psi, &mut between)?;
        self.to_even_with(Ending::Gram)?.start_with_gram(&between, Some(psi), out)
    }

    fn work_with_gram_of_image(&self) -> Work {
        if self.ends_blocks { self.work_with(Ending::Gram) } else { work_with(self, gram_work) }
    }

    fn subtract_block_image<'d>(
        &self,
        psi: &ParityField<T>,
        image: &mut ParityField<T>,
        q: &mut ParityField<T>,
        factor: impl FnOnce() -> Result<ColumnMatrix<'d>, DeviceError>,
    ) -> Result<PendingGram<'_>, DeviceError> {
        if !self.ends_blocks {
            return apply_and_subtract(self, psi, image, q, factor);
        }
        let mut between = lock(&self.between);
        self.hop_to_odd(psi, &mut between)?;
        self.to_even_with(Ending::SubtractColumns)?.start_subtraction(factor()?, &between, Some(psi), q)
    }

    fn work_of_block_subtraction(&self) -> Work {
        if self.ends_blocks {
            self.work_with(Ending::SubtractColumns)
        } else {
            work_with(self, subtraction_work)
        }
    }
}

impl<T: Storage, R: Storage> InPrecision<R> for SchurComplement<T> {
    type Low = SchurComplement<R>;

    fn in_precision(&self) -> Result<SchurComplement<R>, LatticeError> {
        self.cast()
    }

    fn lower(x: &ParityField<T>, low: &mut ParityField<R>) -> Result<(), DeviceError> {
        x.cast_to(low)
    }

    fn raise(low: &ParityField<R>, x: &mut ParityField<T>) -> Result<(), DeviceError> {
        low.cast_to(x)
    }

    fn sum_with_raised(
        low: &ParityField<R>,
        x: &ParityField<T>,
        sum: &mut ParityField<T>,
    ) -> Result<(), DeviceError> {
        low.spinors.sum_with(&x.spinors, &mut sum.spinors)
    }
}

impl<T: Storage> SchurComplement<T> {
    /// Returns M̂†M̂, which is Hermitian and positive.
    pub fn normal(&self) -> Result<Normal<Self>, DeviceError> {
        Normal::new(self)
    }
}
