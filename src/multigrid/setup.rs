//! Making the levels of a multigrid method.

use super::coarse_lattice::CoarseLattice;
use super::coarse_operator::CoarseOperator;
use super::coarse_space::CoarseSpace;
use super::error::SetupError;
use super::finer::{CoarseLevel, FineLevel, Finer};
use super::galerkin::galerkin;
use super::hierarchy::{COARSE_DEGREE, Coarsening, Hierarchy};
use super::near_null::near_null_vector;
use super::params::{Blocking, MultigridParams};
use super::transfer::Transfer;
use crate::device::Team;
use crate::operator::Dirac;
use crate::scalar::Real;
use lattice_solvers::{LinearOperator, Polynomial, VectorSpace};
use num_complex::Complex;
use std::fmt;
use std::sync::Arc;

/// How far a set-up has come.
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
pub struct LevelsInfo(pub(super) Vec<Blocking>);

impl fmt::Display for LevelsInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} levels", self.0.len() + 1)?;
        for Blocking { block, vectors } in &self.0 {
            write!(f, ", {vectors} vectors on blocks of {block}")?;
        }
        Ok(())
    }
}

/// Near-null vectors of all levels but the coarsest.
///
/// A set-up takes most of its time for them. The vectors serve operators with other masses.
pub(super) type Vectors<R> = Vec<Vec<Vec<Complex<R>>>>;

/// Number of streams of random numbers of each level.
///
/// The last stream below this number is for the residual for which a smoother is made. The others
/// serve the level's vectors.
const STREAMS_OF_LEVEL: u32 = 1 << 16;
const SMOOTHER_STREAM: u32 = STREAMS_OF_LEVEL - 1;

/// Makes the levels for an operator.
pub(super) fn hierarchy<R: Real>(
    dirac: Dirac<R>,
    params: &MultigridParams,
    blockings: &[Blocking],
    vectors: Option<Vectors<R>>,
    mut progress: impl FnMut(SetupProgress),
) -> Result<(Hierarchy<R>, Vectors<R>), SetupError> {
    let team = dirac.lattice().team();
    // Coarse levels are small: one device has them.
    let place = match team.devices().first() {
        None => Team::host(),
        Some(device) => Team::of([device.clone()]),
    };
    let extents = dirac.lattice().dims().extents();
    let mut fine = FineLevel::new(dirac, blockings[0].block.0)?;
    let smoother = smoother(&fine, 0, params.smoother_degree)?;
    let (mut made, given) = (Vec::new(), vectors.unwrap_or_default());
    let setup = Setup { place, params, given: &given };
    let coarsening = setup.coarsening(&mut fine, 0, extents, blockings, &mut made, &mut progress)?;
    Ok((Hierarchy::new(fine.settle(), smoother, coarsening)?, made))
}

struct Setup<'a, R: Real> {
    place: Team,
    params: &'a MultigridParams,
    /// Vectors that are known, of as many levels.
    given: &'a Vectors<R>,
}

impl<R: Real> Setup<'_, R> {
    /// The level below `finer`, and those below that one.
    fn coarsening<F: Finer<R>>(
        &self,
        finer: &mut F,
        level: usize,
        extents: [usize; 4],
        blockings: &[Blocking],
        made: &mut Vectors<R>,
        progress: &mut dyn FnMut(SetupProgress),
    ) -> Result<Coarsening<R>, SetupError> {
        let (Blocking { block, vectors: count }, deeper) = (blockings[0], &blockings[1..]);
        let block = block.0;
        let coarse_extents = std::array::from_fn(|mu| extents[mu] / block[mu]);
        let lattice = Arc::new(CoarseLattice::new(coarse_extents));
        // A column of the coarse operator costs about an eighth of a vector.
        let of = 3 * count;
        let vectors = match self.given.get(level) {
            Some(given) => given.clone(),
            None => {
                let mut vectors = Vec::with_capacity(count);
                for k in 0..count {
                    let stream = level as u32 * STREAMS_OF_LEVEL + k as u32;
                    vectors.push(near_null_vector(finer, stream, self.params.setup_iterations)?);
                    progress(SetupProgress { level, done: k + 1, of });
                }
                vectors
            }
        };
        let space = CoarseSpace::new(&self.place, &lattice, 2 * count)?;
        let parts = finer.parts();
        let transfer = Transfer::new(level, finer.numbers(), &parts, block, &lattice, &space, &vectors)?;
        made.push(vectors);
        let raw = galerkin(finer, &transfer, |columns, _| {
            progress(SetupProgress { level, done: count + columns, of });
        })?;
        let system = CoarseOperator::scaled(&self.place, &lattice, &raw, level + 1)?;
        let (smoother, below) = {
            let unscaled = CoarseOperator::raw(&self.place, &lattice, &raw)?;
            drop(raw);
            let mut coarse = CoarseLevel::new(&system, unscaled);
            let below = match deeper {
                [] => None,
                _ => Some(self.coarsening(&mut coarse, level + 1, coarse_extents, deeper, made, progress)?),
            };
            (smoother(&coarse, level + 1, COARSE_DEGREE)?, below)
        };
        Coarsening::new(transfer, system, smoother, below)
    }
}

/// The smoother of a level.
fn smoother<R: Real, F: Finer<R>>(finer: &F, level: usize, degree: usize) -> Result<Polynomial, SetupError> {
    let start = finer.random(level as u32 * STREAMS_OF_LEVEL + SMOOTHER_STREAM)?;
    let system = finer.system();
    // A level of few numbers is solved in fewer steps.
    let degree = degree.min(system.space().dimension());
    Polynomial::of(system, &start, degree)?.ok_or(SetupError::NoSmoother { level })
}
