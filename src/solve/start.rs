//! Where a solve begins.

use crate::compute::DeviceError;
use crate::field::{ParityField, SpinorField};
use crate::operator::{Dirac, SchurComplement};
use lattice_solvers::VectorOf;

/// The point where a solve begins.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    /// The solution x = 0.
    Zero,
    /// A guess. The solve begins at x = 0 if that is nearer.
    Guess(&'a SpinorField<f64>),
    /// The part of the solution that modes span.
    ///
    /// Mixed precision takes what rounding puts along the modes out of residuals again.
    Modes(&'a dyn Deflate),
}

impl<'a> From<Option<&'a SpinorField<f64>>> for Start<'a> {
    fn from(guess: Option<&'a SpinorField<f64>>) -> Self {
        guess.map_or(Self::Zero, Self::Guess)
    }
}

/// Modes of the operator of a solve.
pub(crate) trait Deflate {
    /// Returns the part of the solution of M x = b that the modes span.
    fn on_all_sites(&self, dirac: &Dirac<f64>, b: &SpinorField<f64>)
    -> Result<SpinorField<f64>, DeviceError>;

    /// Returns that part for the Schur complement and its right-hand side.
    fn on_even_sites(
        &self,
        operator: &SchurComplement<f64>,
        b: &ParityField<f64>,
    ) -> Result<ParityField<f64>, DeviceError>;
}

/// A function that returns the part of the solution of A x = b that modes span.
pub(crate) type PartOfModes<'a, A> = dyn Fn(&VectorOf<A>) -> Result<VectorOf<A>, DeviceError> + 'a;
