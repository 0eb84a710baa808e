//! The three linear systems that have the solution of M x = b.

use crate::compute::{DeviceError, Number};
use crate::field::{ColumnMatrix, ColumnRecurrence, ColumnSpace, PendingGram, StoredField};
use crate::geometry::LatticeError;
use crate::scalar::Storage;
use lattice_solvers::{
    BlockOperator, ErrorOf, LinearOperator, ScalarOf, VectorOf, VectorSpace, Work, gram_work,
    subtraction_work,
};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// The linear system that is iterated to solve M x = b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum System {
    /// M†M x = M†b: Hermitian and positive definite.
    #[default]
    Normal,
    /// γ5M x = γ5b: Hermitian, eigenvalues of both signs.
    Hermitian,
    /// M x = b.
    Direct,
}

lattice_files::words! { System, "system": Normal = "normal", "M†M x = M†b"; Hermitian = "hermitian", "γ5M x = γ5b"; Direct = "direct", "M x = b" }

/// An operator on fermion fields, from which the systems are built.
pub(crate) trait DiracOperator:
    LinearOperator<Space: VectorSpace<Error = DeviceError, Vector: StoredField, Scalar = Number>> + Sized
{
    /// Tells whether M† = γ5 M γ5.
    fn is_gamma5_hermitian(&self) -> bool;

    /// Makes M†.
    fn adjoint(&self) -> Result<Self, DeviceError>;

    /// Makes γ5 M, which is Hermitian if M† = γ5 M γ5.
    fn times_gamma5(&self) -> Result<Self, DeviceError>;

    /// Makes γ5 alone.
    fn gamma5(&self) -> Result<Self, DeviceError>;
}

/// An operator that exists in another precision too.
pub(crate) trait InPrecision<R: Storage>: DiracOperator {
    /// The type of the operator in precision `R`.
    type Low: DiracOperator;

    /// Makes the operator in precision `R`.
    fn in_precision(&self) -> Result<Self::Low, LatticeError>;

    /// Writes x to `low`, in the low precision.
    fn lower(x: &VectorOf<Self>, low: &mut VectorOf<Self::Low>) -> Result<(), DeviceError>;

    /// Writes `low` to x, in the precision of x.
    fn raise(low: &VectorOf<Self::Low>, x: &mut VectorOf<Self>) -> Result<(), DeviceError>;

    /// Computes sum = x + low.
    fn sum_with_raised(
        low: &VectorOf<Self::Low>,
        x: &VectorOf<Self>,
        sum: &mut VectorOf<Self>,
    ) -> Result<(), DeviceError>;
}

/// M†M.
pub struct Normal<A: LinearOperator> {
    operator: A,
    adjoint: A,
    /// The field M ψ, made once so that an application allocates nothing.
    between: RefCell<VectorOf<A>>,
}

impl<A: LinearOperator> Normal<A> {
    pub(crate) fn new(operator: &A) -> Result<Self, DeviceError>
    where
        A: DiracOperator,
    {
        let adjoint = operator.adjoint()?;
        let operator = adjoint.adjoint()?;
        let between = RefCell::new(operator.space().scratch_vector()?);
        Ok(Self { operator, adjoint, between })
    }

    /// Returns the factor M†.
    pub fn adjoint(&self) -> &A {
        &self.adjoint
    }
}

impl<A: LinearOperator> LinearOperator for Normal<A> {
    type Space = A::Space;

    fn space(&self) -> &A::Space {
        self.operator.space()
    }

    fn apply(&self, psi: &VectorOf<A>, out: &mut VectorOf<A>) -> Result<(), ErrorOf<A>> {
        let mut between = self.between.borrow_mut();
        self.operator.apply(psi, &mut between)?;
        self.adjoint.apply(&between, out)
    }

    /// Uses (ψ, M†Mψ) = ‖Mψ‖², which is known before the second factor is applied.
    fn apply_dot(&self, psi: &VectorOf<A>, out: &mut VectorOf<A>) -> Result<ScalarOf<A>, ErrorOf<A>> {
        let mut between = self.between.borrow_mut();
        let norm2 = self.operator.apply_norm2(psi, &mut between)?;
        self.adjoint.apply(&between, out)?;
        Ok(norm2)
    }

    /// Uses a = (r, r) / ‖Mψ‖², known before the second factor.
    ///
    /// M†Mψ need not be kept.
    fn descend(
        &self,
        r_norm2: &ScalarOf<A>,
        psi: &VectorOf<A>,
        image: &mut VectorOf<A>,
        r: &mut VectorOf<A>,
    ) -> Result<[ScalarOf<A>; 2], ErrorOf<A>> {
        let mut between = self.between.borrow_mut();
        let norm2 = self.operator.apply_norm2(psi, &mut between)?;
        let a = self.space().quotient(r_norm2, &norm2);
        let r_norm2 = self.adjoint.subtract_image(&a, &between, image, r)?;
        Ok([norm2, r_norm2])
    }

    fn work(&self) -> Work {
        self.operator.work().times(2)
    }

    fn work_with_products(&self) -> Work {
        let mut work = self.operator.work_with_norm2();
        work += self.adjoint.work();
        work
    }

    fn work_of_descent(&self) -> Work {
        let mut work = self.operator.work_with_norm2();
        work += self.adjoint.work_of_subtraction();
        work
    }
}

/// The steps of a descent of columns, by the factors of M†M.
pub(crate) trait BlockDiracOperator: DiracOperator<Space: ColumnSpace> {
    /// Computes out = M Ψ, and starts (M Ψ)†M Ψ, in one pass.
    fn start_gram_of_image(
        &self,
        psi: &VectorOf<Self>,
        out: &mut VectorOf<Self>,
    ) -> Result<PendingGram<'_>, DeviceError>;

    /// Returns operations and least memory traffic of `start_gram_of_image`.
    fn work_with_gram_of_image(&self) -> Work {
        work_with(self, gram_work)
    }

    /// Computes Q = Q − M Ψ D, and starts Q†Q, in one pass.
    ///
    /// `factor` returns D. `factor` is called once the devices have been given all work that does
    /// not need D. `image` is overwritten.
    fn subtract_block_image<'d>(
        &self,
        psi: &VectorOf<Self>,
        image: &mut VectorOf<Self>,
        q: &mut VectorOf<Self>,
        factor: impl FnOnce() -> Result<ColumnMatrix<'d>, DeviceError>,
    ) -> Result<PendingGram<'_>, DeviceError> {
        apply_and_subtract(self, psi, image, q, factor)
    }

    /// Returns operations and least memory traffic of `subtract_block_image`.
    fn work_of_block_subtraction(&self) -> Work {
        work_with(self, subtraction_work)
    }
}

/// Returns the cost of an application and of `more`.
pub(crate) fn work_with<A: LinearOperator>(operator: &A, more: impl Fn(&A::Space) -> Work) -> Work {
    let mut work = operator.work();
    work += more(operator.space());
    work
}

/// Does [`BlockDiracOperator::subtract_block_image`] in two steps.
pub(crate) fn apply_and_subtract<'a, 'd, A: LinearOperator<Space: ColumnSpace>>(
    operator: &'a A,
    psi: &VectorOf<A>,
    image: &mut VectorOf<A>,
    q: &mut VectorOf<A>,
    factor: impl FnOnce() -> Result<ColumnMatrix<'d>, DeviceError>,
) -> Result<PendingGram<'a>, DeviceError> {
    operator.apply(psi, image)?;
    operator.space().start_subtraction(image, factor()?, q)
}

impl<A: BlockDiracOperator> BlockOperator for Normal<A> {
    /// Uses that Ψ†M†MΨ is the Gram matrix of MΨ.
    fn descend_block(
        &self,
        psi: &VectorOf<A>,
        image: &mut VectorOf<A>,
        q: &mut VectorOf<A>,
        recurrence: &mut ColumnRecurrence,
    ) -> Result<(), DeviceError> {
        let mut between = self.between.borrow_mut();
        let curvature = self.operator.start_gram_of_image(psi, &mut between)?;
        recurrence.expect(&curvature)?;
        let following = &mut *recurrence;
        let factor = move || following.follow_curvature(curvature);
        let gram = self.adjoint.subtract_block_image(&between, image, q, factor)?;
        recurrence.follow_residual(gram)
    }

    fn work_of_block_descent(&self) -> Work {
        let mut work = self.operator.work_with_gram_of_image();
        work += self.adjoint.work_of_block_subtraction();
        work
    }
}
