//! What a method of the table takes, and what it asks for.

use crate::callbacks::Callbacks;
use crate::conjugate_residual::Recurrence;
use crate::outcome::SolverError;
use crate::preconditioner::Preconditioner;
use crate::progress::ErrorIn;
use crate::stopping::Stopping;
use crate::{Operator, VectorSpace};
use derive_setters::Setters;

/// The operators that a method is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Any that is not singular.
    Nothing,
    /// Any, with its adjoint.
    Adjoint,
    /// Hermitian ones.
    Hermitian,
    /// Hermitian ones that are positive definite.
    PositiveDefinite,
}

impl Needs {
    /// Tells whether the operator must be Hermitian.
    pub const fn hermitian(self) -> bool {
        matches!(self, Self::Hermitian | Self::PositiveDefinite)
    }
}

/// The preconditioners that a method takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// None.
    None,
    /// Fixed operators K: the method iterates A K, see [`RightPreconditioned`](crate::RightPreconditioned).
    Fixed,
    /// Fixed operators, Hermitian and positive definite.
    Hermitian,
    /// Hermitian positive definite ones that may change a little from one iteration to the next.
    HermitianThatChanges,
    /// Any, which may change.
    Any,
}

impl Accepts {
    /// Tells whether the preconditioner must be Hermitian.
    pub const fn only_hermitian(self) -> bool {
        matches!(self, Self::Hermitian | Self::HermitianThatChanges)
    }

    /// Tells whether the preconditioner may change from one iteration to the next.
    pub const fn changing(self) -> bool {
        matches!(self, Self::HermitianThatChanges | Self::Any)
    }
}

/// Options of all methods; a method takes those that it has.
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct MethodOptions {
    /// When to stop.
    pub stopping: Stopping,
    /// Bound of a breakdown. Default `None`: the method's own.
    pub breakdown: Option<f64>,
    /// Choice of β of Conjugate Residual. Default [`Recurrence::Hermitian`].
    pub recurrence: Recurrence,
    /// ℓ of BiCGStab(ℓ). Default 2.
    pub degree: usize,
    /// Directions that GCR keeps. Default 16.
    pub restart: usize,
    /// ω of Minimal Residual. Default 1.
    pub relaxation: f64,
}

impl Default for MethodOptions {
    fn default() -> Self {
        Self {
            stopping: Stopping::default(),
            breakdown: None,
            recurrence: Recurrence::default(),
            degree: 2,
            restart: 16,
            relaxation: 1.0,
        }
    }
}

impl MethodOptions {
    /// Sets the options that every method has.
    pub(crate) fn set(&self, stopping: &mut Stopping, breakdown: &mut f64) {
        *stopping = self.stopping;
        *breakdown = self.breakdown.unwrap_or(*breakdown);
    }
}

/// A system A x = b, and how to solve it.
pub struct Task<'t, 'c, S: VectorSpace> {
    /// A.
    pub operator: &'t Operator<'t, S>,
    /// A†, for methods of [`Needs::Adjoint`].
    pub adjoint: Option<&'t Operator<'t, S>>,
    /// The right-hand side.
    pub b: &'t S::Vector,
    /// x₀; `None` is zero.
    pub guess: Option<&'t S::Vector>,
    /// Options of the method.
    pub options: MethodOptions,
    /// The preconditioner, if there is one.
    pub preconditioner: Option<&'t mut (dyn Preconditioner<S> + 't)>,
    /// The residual that counts, and the keeper of states.
    pub callbacks: Callbacks<'c, S>,
}

impl<'t, 'c, S: VectorSpace> Task<'t, 'c, S> {
    /// Returns A†.
    pub(crate) fn adjoint(&self) -> Result<&'t Operator<'t, S>, ErrorIn<S>> {
        let missing = SolverError::Parameter { name: "number of adjoints", value: 0.0, allowed: "1" };
        self.adjoint.ok_or(missing)
    }

    /// Tells whether there is a preconditioner that changes.
    pub(crate) fn preconditioner_changes(&self) -> bool {
        self.preconditioner.as_ref().is_some_and(|k| k.fixed().is_none())
    }
}
