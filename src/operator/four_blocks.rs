//! The four blocks of an operator on the even and the odd sites.

use crate::host::{SiteFactor, StencilFactors};

/// The parity that the Schur complement acts on.
pub(crate) const EVEN: usize = 0;
pub(crate) const ODD: usize = 1;

/// The blocks of M = γ5^g (A_e, c H_eo; c H_oe, A_o) on the even and the odd sites.
///
/// A_e and A_o act within sites, H_eo hops to even sites and H_oe to odd ones. Even-odd
/// preconditioning asks an operator for nothing else. Other blocks within sites are other values of
/// a [`SiteFactor`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FourBlocks {
    /// A_e and A_o.
    within: [SiteFactor; 2],
    /// The coefficient c of both hops.
    coefficient: f64,
    /// `true` for the hops of the adjoint.
    dagger: bool,
    /// `true` if M is multiplied by γ5.
    gamma5: bool,
}

impl FourBlocks {
    /// Returns the blocks of an operator that has these factors at all sites.
    ///
    /// # Panics
    /// When the coefficient of the hops is no number.
    pub fn of(factors: StencilFactors) -> Self {
        let StencilFactors { shift, coefficient, dagger, gamma5 } = factors;
        assert!(coefficient.is_plain(), "hops with another coefficient than a number");
        Self { within: [shift; 2], coefficient: coefficient.scalar, dagger, gamma5 }
    }

    /// Returns γ5, which has no hops.
    pub fn gamma5() -> Self {
        Self { gamma5: true, ..Self::of(StencilFactors::new(1.0, 0.0)) }
    }

    /// Returns the blocks of the adjoint, if g is 0.
    pub fn adjoint(self) -> Self {
        Self { within: self.within.map(SiteFactor::adjoint), dagger: !self.dagger, ..self }
    }

    /// Returns the blocks of γ5 M.
    pub fn times_gamma5(self) -> Self {
        Self { gamma5: !self.gamma5, ..self }
    }

    /// Returns the block within the sites of a parity.
    pub fn within(&self, parity: usize) -> SiteFactor {
        self.within[parity]
    }

    /// Returns the inverse of the block within the sites of a parity: a number f and a remainder.
    pub fn inverse(&self, parity: usize) -> (f64, SiteFactor) {
        self.within[parity].split_inverse()
    }

    /// Returns the coefficient of the hops.
    pub fn coefficient(&self) -> f64 {
        self.coefficient
    }

    /// Tells whether all blocks within sites are numbers, which commute with hops.
    pub fn are_numbers_within(&self) -> bool {
        self.within.iter().all(|block| block.is_plain())
    }

    /// Tells whether γ5 M is Hermitian.
    pub fn is_gamma5_hermitian(&self) -> bool {
        self.within.iter().all(|block| block.is_gamma5_hermitian())
    }

    /// Returns the factors of out = γ5^g (`shift` ψ + `coefficient` H χ), with a hop of M.
    pub fn step(&self, shift: impl Into<SiteFactor>, coefficient: impl Into<SiteFactor>) -> StencilFactors {
        let (dagger, gamma5) = (self.dagger, self.gamma5);
        StencilFactors { shift: shift.into(), coefficient: coefficient.into(), dagger, gamma5 }
    }
}
