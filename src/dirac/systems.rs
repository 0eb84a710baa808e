//! The three linear systems that have the solution of M x = b.

use super::schur_complement::SchurComplement;
use super::wilson::Wilson;
use crate::device::DeviceError;
use crate::scalar::Storage;
use lattice_solvers::{ErrorOf, LinearOperator, VectorOf, VectorSpace, Work};
use std::cell::RefCell;
use std::fmt;
use std::str::FromStr;

/// Which system is iterated to solve M x = b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum System {
    /// M†M x = M†b: Hermitian and positive definite.
    #[default]
    Normal,
    /// γ5M x = γ5b: Hermitian, eigenvalues of both signs.
    Hermitian,
    /// M x = b.
    Direct,
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            System::Normal => "normal",
            System::Hermitian => "hermitian",
            System::Direct => "direct",
        })
    }
}

impl FromStr for System {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [System::Normal, System::Hermitian, System::Direct]
            .into_iter()
            .find(|system| system.to_string() == text)
            .ok_or_else(|| format!("`{text}` is no system; choose normal, hermitian or direct"))
    }
}

/// What the systems are built from: an operator on fermion fields with M† = γ5 M γ5.
pub(super) trait DiracOperator: LinearOperator + Sized {
    /// M†
    fn adjoint(&self) -> Result<Self, DeviceError>;

    /// γ5 M, which is Hermitian.
    fn times_gamma5(&self) -> Result<Self, DeviceError>;

    /// γ5 alone.
    fn gamma5(&self) -> Result<Self, DeviceError>;
}

/// M†M.
pub struct Normal<A: LinearOperator> {
    operator: A,
    adjoint: A,
    /// M ψ. Made once, so that an application allocates nothing.
    between: RefCell<VectorOf<A>>,
}

impl<T: Storage> Wilson<T> {
    /// M†M, which is Hermitian and positive.
    pub fn normal(&self) -> Result<Normal<Self>, DeviceError> {
        Normal::new(self)
    }
}

impl<T: Storage> SchurComplement<T> {
    /// M̂†M̂, which is Hermitian and positive.
    pub fn normal(&self) -> Result<Normal<Self>, DeviceError> {
        Normal::new(self)
    }
}

impl<A: LinearOperator> Normal<A> {
    pub(super) fn new(operator: &A) -> Result<Self, DeviceError>
    where
        A: DiracOperator<Space: VectorSpace<Error = DeviceError>>,
    {
        let adjoint = operator.adjoint()?;
        let operator = adjoint.adjoint()?;
        let between = RefCell::new(operator.space().zero_vector()?);
        Ok(Self { operator, adjoint, between })
    }

    /// The factor M†.
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

    fn work(&self) -> Work {
        self.operator.work().times(2)
    }
}
