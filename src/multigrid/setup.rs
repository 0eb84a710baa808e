//! Making the levels of a multigrid method.

use super::block::Block;
use super::coarse_lattice::CoarseLattice;
use super::coarse_operator::{CoarseOperator, RawBlocks};
use super::coarse_space::{CoarseSpace, WholeVector};
use super::dense::{DenseInverse, MOST_NUMBERS};
use super::error::SetupError;
use super::finer::{CoarseLevel, FineLevel, Finer};
use super::finer_sites::FinerParts;
use super::galerkin::galerkin;
use super::hierarchy::{COARSE_DEGREE, Coarsening, Hierarchy, Means};
use super::near_null::near_null_vectors;
use super::params::{Blocking, MultigridParams};
use super::transfer::Transfer;
use crate::device::Team;
use crate::field::SpinorField;
use crate::geometry::NDIM;
use crate::operator::Dirac;
use crate::scalar::Real;
use lattice_solvers::{LinearOperator, Polynomial, VectorOf, VectorSpace};
use num_complex::Complex;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// The progress of a set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupProgress {
    /// The level whose vectors are made, 0 for the finest.
    pub level: usize,
    /// Near-null vectors and columns of the coarse operator that are done.
    pub done: usize,
    /// Number of all vectors and columns of this level.
    pub of: usize,
}

/// The levels of a multigrid method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelsInfo {
    pub(super) blockings: Vec<Blocking>,
    /// The wanted number of levels, if there are fewer.
    ///
    /// The extents are those of the coarsest level.
    pub(super) fewer: Option<(usize, Block)>,
}

impl fmt::Display for LevelsInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} levels", self.blockings.len() + 1)?;
        for Blocking { block, vectors } in &self.blockings {
            write!(f, ", {vectors} vectors on blocks of {block}")?;
        }
        match &self.fewer {
            None => Ok(()),
            Some((wanted, extents)) => write!(f, ", fewer than {wanted}: no blocks divide {extents} sites"),
        }
    }
}

/// The results of a set-up for a level with a coarser one below it.
///
/// A set-up takes most of its time for the vectors, which serve operators with other masses.
pub(super) struct Made<R> {
    /// Near-null vectors.
    pub vectors: Vec<Vec<Complex<R>>>,
    /// `true` if they are orthonormal within blocks.
    pub are_orthonormal: bool,
    /// The coarse operator of these vectors.
    pub blocks: RawBlocks<R>,
}

/// The parts of a level that are known before its set-up.
pub(super) struct Known<R: Real> {
    pub vectors: Vec<Vec<Complex<R>>>,
    pub are_orthonormal: bool,
    pub transfer: Option<Transfer<R>>,
    /// The coarse operator, if it is that of this fine operator.
    pub blocks: Option<RawBlocks<R>>,
}

/// Number of iterations for a near-null vector of a coarse level.
///
/// They start from a near-null vector of the finer level.
pub(super) const COARSE_ITERATIONS: usize = 5;

/// Number of streams of random numbers of each level.
///
/// The last streams below this number are for the residuals for which a smoother is made. The
/// others serve the level's vectors.
const STREAMS_OF_LEVEL: u32 = 1 << 16;
const SMOOTHER_STREAM: u32 = STREAMS_OF_LEVEL - 1;

/// Makes the levels for an operator, from the known parts of each.
///
/// `sources` vectors are made at a time. The number divides the vectors of each level. The levels
/// are for one right-hand side.
pub(super) fn hierarchy<R: Real>(
    dirac: &Dirac<R>,
    params: &MultigridParams,
    blockings: &[Blocking],
    sources: usize,
    known: Vec<Known<R>>,
    mut progress: impl FnMut(SetupProgress),
) -> Result<(Hierarchy<R>, Vec<Made<R>>), SetupError> {
    let team = dirac.lattice().team();
    // Coarse levels are small: one device has them.
    let place = match team.devices().first() {
        None => Team::host(),
        Some(device) => Team::of([device.clone()]),
    };
    let extents = dirac.lattice().dims().extents();
    let mut fine = FineLevel::new(dirac, blockings[0].block.0, sources)?;
    let smoother = smoother(&fine, 0, params.smoother_degree)?;
    let mut setup =
        Setup { place, params, sources, known: known.into(), made: Vec::new(), progress: &mut progress };
    let coarsening = setup.coarsening(&mut fine, 0, extents, blockings, Vec::new())?;
    let made = setup.made;
    Ok((Hierarchy::new(dirac, smoother, &coarsening, 1)?, made))
}

struct Setup<'a, R: Real> {
    place: Team,
    params: &'a MultigridParams,
    /// Right-hand sides of all vectors.
    sources: usize,
    /// The known parts of the levels that are left.
    known: VecDeque<Known<R>>,
    made: Vec<Made<R>>,
    progress: &'a mut dyn FnMut(SetupProgress),
}

impl<R: Real> Setup<'_, R> {
    /// The level below `finer`, and those below that one.
    ///
    /// Vectors of `finer` that are not known are made of `starts`, and of random ones if there are
    /// none.
    fn coarsening<F: Finer<R>>(
        &mut self,
        finer: &mut F,
        level: usize,
        extents: [usize; NDIM],
        blockings: &[Blocking],
        starts: Vec<VectorOf<F::System>>,
    ) -> Result<Coarsening<R>, SetupError> {
        let (Blocking { block, vectors: count }, deeper) = (blockings[0], &blockings[1..]);
        let block = block.0;
        let coarse_extents = std::array::from_fn(|mu| extents[mu] / block[mu]);
        let lattice = Arc::new(CoarseLattice::new(coarse_extents));
        // A column of the coarse operator costs about an eighth of a vector.
        let of = 3 * count;
        let known = self.known.pop_front();
        let (mut vectors, mut are_orthonormal, transfer, blocks) = match known {
            Some(Known { vectors, are_orthonormal, transfer, blocks }) => {
                (vectors, are_orthonormal, transfer, blocks)
            }
            None => (self.vectors(finer, level, count, starts)?, false, None, None),
        };
        let parts = finer.parts();
        let mut below = Vec::new();
        let transfer = match transfer {
            Some(transfer) => transfer.for_sources(self.sources)?,
            None => {
                let space = CoarseSpace::new(&self.place, &lattice, 2 * count, self.sources)?;
                let (transfer, orthonormal) = Transfer::new(
                    level,
                    finer.numbers(),
                    &parts,
                    block,
                    &lattice,
                    &space,
                    &vectors,
                    are_orthonormal,
                )?;
                if let (Some(Blocking { vectors: wanted, .. }), true) =
                    (deeper.first(), self.known.is_empty())
                {
                    below = starts_below(&transfer, &parts, &vectors[..*wanted])?;
                }
                // Other ranks have other parts of them.
                if parts.world.is_none() {
                    orthonormal.copy_to(finer.numbers().half, space.numbers, &parts.own, &mut vectors);
                    are_orthonormal = true;
                }
                transfer
            }
        };
        let space = transfer.coarse_space().clone();
        let blocks = match blocks {
            Some(blocks) => blocks,
            None => galerkin(finer, &transfer, |columns, _| {
                (self.progress)(SetupProgress { level, done: count + columns, of });
            })?,
        };
        debug_assert_eq!(space.numbers.columns, 2 * count);
        let lattice = transfer.lattice();
        let system = CoarseOperator::scaled(&space, lattice, &blocks, level + 1)?;
        let means = match deeper {
            [] if lattice.evens() * space.numbers.padded() <= MOST_NUMBERS => {
                self.made.push(Made { vectors, are_orthonormal, blocks });
                Means::Inverse(Box::new(DenseInverse::new(&system, level + 1)?))
            }
            _ => {
                let unscaled = CoarseOperator::raw(&space, lattice, &blocks)?;
                self.made.push(Made { vectors, are_orthonormal, blocks });
                let mut coarse = CoarseLevel::new(system.for_sources(self.sources)?, unscaled);
                let below = match deeper {
                    [] => None,
                    _ => {
                        let below = self.coarsening(&mut coarse, level + 1, coarse_extents, deeper, below)?;
                        Some(Box::new(below))
                    }
                };
                Means::Cycles(smoother(&coarse, level + 1, COARSE_DEGREE)?, below)
            }
        };
        Ok(Coarsening::new(transfer, system, means)?)
    }

    /// Makes the near-null vectors of a level.
    fn vectors<F: Finer<R>>(
        &mut self,
        finer: &F,
        level: usize,
        count: usize,
        starts: Vec<VectorOf<F::System>>,
    ) -> Result<Vec<Vec<Complex<R>>>, SetupError> {
        let mut starts = starts.into_iter();
        let mut vectors = Vec::with_capacity(count);
        for first in (0..count).step_by(self.sources) {
            let stream = level as u32 * STREAMS_OF_LEVEL + first as u32;
            let (start, iterations) = match starts.next() {
                Some(start) => (start, COARSE_ITERATIONS),
                None => (finer.random(stream)?, self.params.setup_iterations),
            };
            vectors.extend(near_null_vectors(finer, start, iterations)?);
            (self.progress)(SetupProgress { level, done: vectors.len(), of: 3 * count });
        }
        Ok(vectors)
    }
}

/// Returns the vectors of a level on the first half of the next coarser one.
///
/// Each field has as many of them as there are right-hand sides.
fn starts_below<R: Real>(
    transfer: &Transfer<R>,
    parts: &FinerParts,
    vectors: &[Vec<Complex<R>>],
) -> Result<Vec<SpinorField<R>>, SetupError> {
    let below = |vectors: &[Vec<_>]| {
        let mut coarse = WholeVector::zero(transfer.coarse_space(), transfer.lattice())?;
        transfer.restrict_ordered(parts, vectors, &mut coarse)?;
        Ok(coarse.even)
    };
    vectors.chunks(transfer.coarse_space().sources()).map(below).collect()
}

/// Makes the smoother of a level.
fn smoother<R: Real, F: Finer<R>>(finer: &F, level: usize, degree: usize) -> Result<Polynomial, SetupError> {
    let start = finer.random(level as u32 * STREAMS_OF_LEVEL + SMOOTHER_STREAM - finer.sources() as u32)?;
    let system = finer.system();
    // A level of few numbers is solved in fewer steps.
    let degree = degree.min(system.space().dimension() / finer.sources());
    Polynomial::of(system, &start, degree)?.ok_or(SetupError::NoSmoother { level })
}
