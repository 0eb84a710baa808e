//! What is kept of a set-up.

use super::kept::HostNumbers;
use super::transfer::Transfer;
use crate::scalar::Real;
use lattice_solvers::Polynomial;
use num_complex::Complex;

/// What levels are made of, in host memory.
#[derive(Debug, PartialEq)]
pub(super) struct KeptSetup<R> {
    /// The near-null vectors of each level, finest first.
    pub vectors: Vec<HostNumbers<R>>,
    /// What belongs to one fine operator.
    pub of_operator: Option<KeptOperator<R>>,
}

/// The parts of a set-up that serve no operator with another mass.
#[derive(Debug, PartialEq)]
pub(super) struct KeptOperator<R> {
    /// The smoother of the finest level.
    pub smoother: Polynomial,
    /// The coarse levels, finest first.
    pub coarse: Vec<KeptCoarse<R>>,
}

/// A coarse level.
#[derive(Debug, PartialEq)]
pub(super) struct KeptCoarse<R> {
    /// The blocks of its system.
    pub blocks: HostNumbers<R>,
    pub means: KeptMeans<R>,
}

/// The means by which the system of a coarse level is solved.
#[derive(Debug, PartialEq)]
pub(super) enum KeptMeans<R> {
    Smoother(Polynomial),
    Inverse(HostNumbers<R>),
}

/// What is there before a set-up.
pub(super) enum Known<R: Real> {
    Nothing,
    /// The transfers of all levels, finest first.
    Transfers(Vec<Transfer<R>>),
    Kept(KeptSetup<R>),
    /// The first groups of vectors of the finest level, as they are made.
    Unfinished(Vec<Vec<Complex<R>>>),
}
