//! Parameters of a search for modes.

use crate::operator::System;
use crate::solve::Preconditioning;
use derive_setters::Setters;
use lattice_solvers::LanczosOptions;

/// Parameters of [`DiracModes::find`](super::DiracModes::find).
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct ModesParams {
    /// The number of modes.
    pub count: usize,
    /// The operator: M†M or γ5M. Default [`System::Normal`], which is M†M.
    ///
    /// Modes of γ5M are those with the smallest |λ|.
    pub system: System,
    /// The preconditioning. Default [`Preconditioning::EvenOdd`].
    pub preconditioning: Preconditioning,
    /// Wanted ‖A v − λ v‖, relative to the largest eigenvalue of M†M. Default 1e-10.
    pub tolerance: f64,
    /// Highest degree of the Chebyshev polynomial. Default 40.
    pub degree: usize,
    /// Vectors that a Krylov space starts from. Default 1.
    ///
    /// The operator is applied to as many fields at once, so that links are read once for all of
    /// them, 24 at most. More are quicker too if eigenvalues are multiple, as without interaction.
    pub block: usize,
    /// Vectors of the Krylov space. Default 2 `count` + 24.
    pub subspace: Option<usize>,
    /// Most applications of M†M. Default 1 000 000.
    pub max_applications: usize,
}

impl ModesParams {
    /// Returns the defaults for this number of modes.
    pub fn new(count: usize) -> Self {
        let LanczosOptions { tolerance, block, max_applications, .. } = LanczosOptions::new(count);
        Self {
            count,
            system: System::Normal,
            preconditioning: Preconditioning::EvenOdd,
            tolerance,
            degree: 40,
            block,
            subspace: None,
            max_applications,
        }
    }

    pub(super) fn options(&self) -> LanczosOptions {
        let Self { count, tolerance, degree, block, subspace, max_applications, .. } = *self;
        let options = LanczosOptions::new(count);
        let subspace = subspace.unwrap_or(options.subspace.max(count + 2 * block + 24));
        options
            .with_tolerance(tolerance)
            .with_degree(degree)
            .with_block(block)
            .with_max_applications(max_applications)
            .with_subspace(subspace)
    }
}
