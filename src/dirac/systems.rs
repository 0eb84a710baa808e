//! The three linear systems that have the solution of M x = b.

use super::wilson::Wilson;
use crate::device::DeviceError;
use crate::lattice::{SpinorField, SpinorSpace};
use crate::scalar::Storage;
use lattice_solvers::{LinearOperator, VectorSpace, Work};
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

/// M†M.
pub struct Normal<T: Storage> {
    operator: Wilson<T>,
    adjoint: Wilson<T>,
    /// M ψ. Made once, so that an application allocates nothing.
    between: RefCell<SpinorField<T>>,
}

impl<T: Storage> Wilson<T> {
    /// M†M, which is Hermitian and positive.
    pub fn normal(&self) -> Result<Normal<T>, DeviceError> {
        Normal::new(self)
    }
}

impl<T: Storage> Normal<T> {
    fn new(operator: &Wilson<T>) -> Result<Self, DeviceError> {
        let adjoint = operator.adjoint()?;
        let operator = adjoint.adjoint()?;
        let between = RefCell::new(operator.spinor_space().zero_vector()?);
        Ok(Self { operator, adjoint, between })
    }

    /// The factor M†.
    pub fn adjoint(&self) -> &Wilson<T> {
        &self.adjoint
    }
}

impl<T: Storage> LinearOperator for Normal<T> {
    type Space = SpinorSpace<T>;

    fn space(&self) -> &SpinorSpace<T> {
        self.operator.spinor_space()
    }

    fn apply(&self, psi: &SpinorField<T>, out: &mut SpinorField<T>) -> Result<(), DeviceError> {
        let mut between = self.between.borrow_mut();
        self.operator.apply(psi, &mut between)?;
        self.adjoint.apply(&between, out)
    }

    fn work(&self) -> Work {
        self.operator.work().times(2)
    }
}
