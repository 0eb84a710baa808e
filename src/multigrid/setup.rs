//! Making the levels of a multigrid method.

use super::block::Block;
use super::coarse_lattice::CoarseLattice;
use super::coarse_operator::CoarseOperator;
use super::coarse_space::{CoarseSpace, WholeVector};
use super::dense::{DenseInverse, MOST_NUMBERS};
use super::error::SetupError;
use super::finer::{CoarseLevel, FineLevel, Finer};
use super::finer_sites::{FinerNumbers, FinerParts};
use super::galerkin::galerkin;
use super::hierarchy::{COARSE_DEGREE, Coarsening, Means};
use super::kept::HostNumbers;
use super::kept_setup::{KeptCoarse, KeptMeans, KeptOperator, Known};
use super::near_null::near_null_vectors;
use super::params::{Blocking, MultigridParams};
use super::raw_vectors;
use super::transfer::{Levels, Members, Transfer, Vectors};
use crate::compute::Team;
use crate::field::{Numbers, SpinorField};
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

/// The caller of a set-up, who is told of its progress and can stop it.
pub trait SetupWatch {
    /// Called when the set-up makes progress, so it must be quick.
    fn progress(&mut self, _progress: SetupProgress) {}

    /// Tells whether the set-up is to stop, equally on all ranks.
    ///
    /// Called between groups of near-null vectors of the finest level.
    fn stops(&mut self) -> bool {
        false
    }
}

/// Watches the progress alone.
pub(super) struct Watching<F>(pub F);

impl<F: FnMut(SetupProgress)> SetupWatch for Watching<F> {
    fn progress(&mut self, progress: SetupProgress) {
        (self.0)(progress);
    }
}

/// The vectors of the finest level that are done when a set-up stops.
pub(super) struct Unfinished<'a, R: Real> {
    pub parts: &'a FinerParts,
    pub finer: FinerNumbers,
    /// As many vectors each as are made at a time.
    pub groups: &'a [Numbers<R>],
    pub sources: usize,
}

/// Keeps the vectors of a set-up that stops.
pub(super) type Keeper<'a, R> = &'a mut dyn FnMut(&Unfinished<'_, R>) -> Result<(), SetupError>;

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

/// Makes the smoother of the finest level and the levels below, of what is known.
///
/// `sources` vectors are made at a time. The number divides the vectors of each level, and is that of
/// the right-hand sides. `keeper` gets the vectors that are done if the set-up is to stop.
pub(super) fn levels<R: Real>(
    dirac: &Dirac<R>,
    params: &MultigridParams,
    blockings: &[Blocking],
    sources: usize,
    known: Known<R>,
    watch: &mut dyn SetupWatch,
    keeper: Option<Keeper<'_, R>>,
) -> Result<(Polynomial, Coarsening<R>), SetupError> {
    let team = dirac.lattice().team();
    // Coarse levels are small: one device has them.
    let place = match team.devices().first() {
        None => Team::host(),
        Some(device) => Team::of([device.clone()]),
    };
    let extents = dirac.lattice().dims().extents();
    let mut fine = FineLevel::new(dirac, blockings[0].block.0, sources)?;
    let (mut transfers, mut vectors, mut of_operator) = (Vec::new(), Vec::new(), None);
    let mut unfinished = Vec::new();
    match known {
        Known::Nothing => {}
        Known::Transfers(known) => transfers = known,
        Known::Kept(kept) => (vectors, of_operator) = (kept.vectors, kept.of_operator),
        Known::Unfinished(groups) => unfinished = groups,
    }
    let (smoother, coarse) = match of_operator {
        Some(KeptOperator { smoother, coarse }) => (smoother, coarse),
        None => (smoother(&fine, 0, params.smoother_degree)?, Vec::new()),
    };
    let mut setup = Setup {
        place,
        params,
        sources,
        transfers: transfers.into(),
        kept_vectors: vectors.into(),
        kept_coarse: coarse.into(),
        unfinished,
        watch,
        keeper,
    };
    let coarsening = setup.coarsening(&mut fine, 0, extents, blockings, Vec::new())?;
    Ok((smoother, coarsening))
}

struct Setup<'a, 'k, R: Real> {
    place: Team,
    params: &'a MultigridParams,
    /// Right-hand sides of all vectors.
    sources: usize,
    /// What is known of the levels that are left.
    transfers: VecDeque<Transfer<R>>,
    kept_vectors: VecDeque<HostNumbers<R>>,
    kept_coarse: VecDeque<KeptCoarse<R>>,
    /// Groups of vectors of the finest level that are known.
    unfinished: Vec<Vec<Complex<R>>>,
    watch: &'a mut dyn SetupWatch,
    keeper: Option<Keeper<'k, R>>,
}

impl<R: Real> Setup<'_, '_, R> {
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
        let coarse_extents = std::array::from_fn(|mu| extents[mu] / block.0[mu]);
        let (transfer, below) = self.transfer(finer, level, coarse_extents, blockings, starts)?;
        let (space, lattice) = (transfer.coarse_space(), transfer.lattice());
        let has_inverse = deeper.is_empty() && lattice.evens() * space.numbers.columns <= MOST_NUMBERS;
        let kept = self.kept_coarse.pop_front();
        let (system, unscaled, kept) = match kept {
            Some(KeptCoarse { blocks, means }) => {
                (CoarseOperator::of_kept(space, lattice, blocks)?, None, Some(means))
            }
            None => {
                let mut raw = galerkin(finer, &transfer, |columns, _| {
                    // A column of the coarse operator costs about an eighth of a vector.
                    self.watch.progress(SetupProgress { level, done: count + columns, of: 3 * count });
                })?;
                finer.release();
                let unscaled = match deeper {
                    [] => None,
                    _ => Some(CoarseOperator::raw(space, lattice, &raw)?),
                };
                (CoarseOperator::scaled(space, lattice, &mut raw, level + 1)?, unscaled, None)
            }
        };
        let means = if has_inverse {
            Means::Inverse(Box::new(match kept {
                Some(KeptMeans::Inverse(kept)) => DenseInverse::of_kept(&system, &kept)?,
                _ => DenseInverse::new(&system, level + 1)?,
            }))
        } else {
            let mut coarse = CoarseLevel::new(system.for_sources(self.sources)?, unscaled);
            let below = match deeper {
                [] => None,
                _ => {
                    let below = self.coarsening(&mut coarse, level + 1, coarse_extents, deeper, below)?;
                    Some((self.params.cycle, Box::new(below)))
                }
            };
            let smoother = match kept {
                Some(KeptMeans::Smoother(smoother)) => smoother,
                _ => smoother(&coarse, level + 1, COARSE_DEGREE)?,
            };
            Means::Cycles(smoother, below)
        };
        Ok(Coarsening::new(transfer, system, means)?)
    }

    /// The transfer to the level below `finer`, and vectors for that level to start from.
    #[allow(clippy::type_complexity)]
    fn transfer<F: Finer<R>>(
        &mut self,
        finer: &F,
        level: usize,
        coarse_extents: [usize; NDIM],
        blockings: &[Blocking],
        starts: Vec<VectorOf<F::System>>,
    ) -> Result<(Transfer<R>, Vec<SpinorField<R>>), SetupError> {
        if let Some(transfer) = self.transfers.pop_front() {
            return Ok((transfer.for_sources(self.sources)?, Vec::new()));
        }
        let Blocking { block, vectors: count } = blockings[0];
        let lattice = Arc::new(CoarseLattice::new(coarse_extents));
        let space = CoarseSpace::new(&self.place, &lattice, 2 * count, self.sources)?;
        let (finer_numbers, parts) = (finer.numbers(), finer.parts());
        let levels = Levels {
            level,
            finer: finer_numbers,
            parts: &parts,
            block: block.0,
            lattice: &lattice,
            space: &space,
        };
        if let Some(kept) = self.kept_vectors.pop_front() {
            return Ok((Transfer::new(&levels, Vectors::Kept(&kept))?, Vec::new()));
        }
        let made = self.vectors(finer, level, count, starts)?;
        let transfer = Transfer::new(&levels, Vectors::Made(&made))?;
        let below = match blockings.get(1) {
            None => Vec::new(),
            Some(Blocking { vectors: wanted, .. }) => starts_below(&transfer, &made, *wanted)?,
        };
        Ok((transfer, below))
    }

    /// Makes the near-null vectors of a level, in groups of as many as there are right-hand sides.
    ///
    /// # Errors
    /// [`SetupError::Interrupted`] if the set-up is to stop and more than a group is missing.
    fn vectors<F: Finer<R>>(
        &mut self,
        finer: &F,
        level: usize,
        count: usize,
        starts: Vec<VectorOf<F::System>>,
    ) -> Result<Vec<Numbers<R>>, SetupError> {
        let mut starts = starts.into_iter();
        let mut vectors = Vec::with_capacity(count / self.sources);
        if level == 0 {
            vectors.extend(self.known_groups(finer, count)?);
        }
        for first in (vectors.len() * self.sources..count).step_by(self.sources) {
            let stream = level as u32 * STREAMS_OF_LEVEL + first as u32;
            let (start, iterations) = match starts.next() {
                Some(start) => (start, COARSE_ITERATIONS),
                None => (finer.random(stream)?, self.params.setup_iterations),
            };
            vectors.push(near_null_vectors(finer, start, iterations)?);
            let done = first + self.sources;
            self.watch.progress(SetupProgress { level, done, of: 3 * count });
            if level == 0 && done < count && self.watch.stops() {
                if let Some(keeper) = &mut self.keeper {
                    let (parts, finer, sources) = (&finer.parts(), finer.numbers(), self.sources);
                    keeper(&Unfinished { parts, finer, groups: &vectors, sources })?;
                }
                return Err(SetupError::Interrupted { done, of: count });
            }
        }
        Ok(vectors)
    }

    /// Returns the groups of vectors of the finest level that an interrupted set-up has made.
    ///
    /// There are none if other numbers of vectors were made at a time.
    fn known_groups<F: Finer<R>>(&mut self, finer: &F, count: usize) -> Result<Vec<Numbers<R>>, SetupError> {
        let known = std::mem::take(&mut self.unfinished);
        let (parts, numbers) = (finer.parts(), finer.numbers());
        let fits = known.len() * self.sources <= count;
        let groups = known.iter().filter(|_| fits);
        groups.map(|group| Ok(raw_vectors::of_host(&parts, numbers, group, self.sources)?)).collect()
    }
}

/// Returns the first `wanted` vectors of a level on the first half of the next coarser one.
///
/// Each field has as many of them as there are right-hand sides.
fn starts_below<R: Real>(
    transfer: &Transfer<R>,
    vectors: &[Numbers<R>],
    wanted: usize,
) -> Result<Vec<SpinorField<R>>, SetupError> {
    let space = transfer.coarse_space();
    let below = |vectors: &Numbers<R>| {
        let mut coarse = WholeVector::zero(space, transfer.lattice())?;
        transfer.restrict(vectors.view(), Members::All, &mut coarse)?;
        Ok(coarse.even)
    };
    vectors[..wanted / space.sources()].iter().map(below).collect()
}

/// Makes the smoother of a level.
fn smoother<R: Real, F: Finer<R>>(finer: &F, level: usize, degree: usize) -> Result<Polynomial, SetupError> {
    let start = finer.random(level as u32 * STREAMS_OF_LEVEL + SMOOTHER_STREAM - finer.sources() as u32)?;
    let system = finer.system();
    // A level of few numbers is solved in fewer steps.
    let degree = degree.min(system.space().dimension() / finer.sources());
    Polynomial::of(system, &start, degree)?.ok_or(SetupError::NoSmoother { level })
}
