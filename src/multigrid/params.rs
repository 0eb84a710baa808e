//! The parameters of a multigrid method, and those that are found for a lattice.

use super::block::Block;
use super::cycle_kind::CycleKind;
use super::dense::MOST_NUMBERS;
use super::error::SetupError;
use crate::geometry::{Lattice, NDIM};
use crate::solve::Inner;
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

/// Parameters of a multigrid method.
///
/// All have defaults that follow from the lattice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct MultigridParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most cycles of a solve. Default 10 000.
    pub max_iterations: usize,
    /// Levels, the finest included: 2 to 4. Default `None`: as many as pay.
    pub levels: Option<usize>,
    /// Number of near-null vectors of each level, each in both chiralities.
    ///
    /// At most [`MOST_VECTORS`], and the numbers of one chirality of a block, six a site. Default
    /// `None`: 24, and fewer if blocks are small.
    pub vectors: Option<usize>,
    /// Sites of a block of the finest level. Default `None`: about 4 in each direction.
    pub block: Option<Block>,
    /// Iterations of BiCGStab that make a near-null vector of a random one. Default 60.
    ///
    /// At most [`MOST_SETUP_ITERATIONS`].
    pub setup_iterations: usize,
    /// Degree of the polynomial that smooths the finest level, at most [`MOST_DEGREE`]. Default 4.
    pub smoother_degree: usize,
    /// The cycle of coarse levels. Default [`CycleKind::V`].
    pub cycle: CycleKind,
    /// The precision of the finest level in cycles. Default [`Inner::Single`].
    ///
    /// Near-null vectors and coarse operators do not depend on it.
    pub precision: Inner,
}

/// Most near-null vectors of a level.
///
/// The memory of a coarse operator grows with their square, and the time to invert its blocks with
/// their cube.
pub const MOST_VECTORS: usize = 128;

/// Most iterations that make a near-null vector.
pub const MOST_SETUP_ITERATIONS: usize = 1000;

/// Highest degree of the polynomial that smooths the finest level.
///
/// A short Arnoldi run in single precision finds its roots.
pub const MOST_DEGREE: usize = 16;

impl Default for MultigridParams {
    fn default() -> Self {
        let crate::solve::CrParams { tol, max_iterations, .. } = crate::solve::CrParams::default();
        Self {
            tol,
            max_iterations,
            levels: None,
            vectors: None,
            block: None,
            setup_iterations: 60,
            smoother_degree: 4,
            cycle: CycleKind::V,
            precision: Inner::Single,
        }
    }
}

/// Directions that cycles keep, each two fields.
pub(super) const RESTART: usize = 10;

/// Most cycles of a solve that another method can take over.
///
/// Each costs several iterations of BiCGStab.
pub(super) const MOST_CYCLES: usize = 200;

/// Cycles over which the residual has to fall by a per cent.
pub(super) const STAGNATION: usize = 30;

/// Returns the fraction to which the residual falls until it is replaced in double.
pub(super) fn replaced_at(precision: Inner) -> f64 {
    match precision {
        Inner::Single => 1e-3,
        Inner::Half => 1e-2,
    }
}

/// The extent of a block of the finest level that is looked for.
const USUAL_BLOCK: usize = 4;

/// Usual extent of the blocks of coarser levels.
const USUAL_COARSE_BLOCK: usize = 2;

/// Most levels, the finest included.
const MOST_LEVELS: usize = 4;

/// Near-null vectors if there is room for them.
const USUAL_VECTORS: usize = 24;

/// A coarsening: the extents of its blocks, and how many vectors there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Blocking {
    pub block: Block,
    pub vectors: usize,
}

impl MultigridParams {
    /// The coarsenings of a lattice, finest first.
    pub(super) fn blockings(&self, lattice: &Lattice) -> Result<Vec<Blocking>, SetupError> {
        let dims = lattice.dims();
        let shares = shares(lattice);
        let block = match self.block {
            None => {
                block(dims.extents(), shares, USUAL_BLOCK).map_err(|mu| SetupError::NoBlock { dims, mu })?
            }
            Some(Block(block)) => {
                let fits = |mu: &usize| block[*mu] >= 2 && shares[*mu].is_multiple_of(block[*mu]);
                if let Some(mu) = (0..NDIM).find(|mu| !fits(mu)) {
                    return Err(SetupError::BlockDoesNotDivide {
                        block: Block(block),
                        mu,
                        share: shares[mu],
                    });
                }
                block
            }
        };
        // Each chirality of a block has six numbers a site. Half of them leaves room to be
        // independent.
        let room = 6 * block.iter().product::<usize>();
        let vectors = self.vectors.unwrap_or_else(|| usual_vectors(room));
        if vectors > room.min(MOST_VECTORS) {
            return Err(SetupError::TooManyVectors {
                vectors,
                most: room.min(MOST_VECTORS),
                block: Block(block),
            });
        }
        let first = Blocking { block: Block(block), vectors: vectors.max(1) };
        let mut found = vec![first];
        let mut coarse: [usize; NDIM] = std::array::from_fn(|mu| dims.extents()[mu] / block[mu]);
        while found.len() + 1 < self.levels.unwrap_or(MOST_LEVELS) {
            let above = found[found.len() - 1];
            // Half of the sites have two numbers for each vector.
            let numbers = coarse.iter().product::<usize>() * above.vectors;
            if self.levels.is_none() && numbers <= MOST_NUMBERS {
                break;
            }
            let Ok(block) = coarse_block(coarse) else { break };
            let room = usual_vectors(above.vectors * block.iter().product::<usize>());
            found.push(Blocking { block: Block(block), vectors: room.min(above.vectors) });
            coarse = std::array::from_fn(|mu| coarse[mu] / block[mu]);
        }
        Ok(found)
    }
}

fn usual_vectors(room: usize) -> usize {
    match room / 2 {
        room if room >= USUAL_VECTORS => USUAL_VECTORS,
        room if room >= 8 => room / 8 * 8,
        room => room.max(1),
    }
}

/// Returns the number that a block has to divide in each direction.
///
/// The extent of the lattice and the borders of domains set this number.
fn shares(lattice: &Lattice) -> [usize; NDIM] {
    let mut shares = lattice.dims().extents();
    // Domains of other ranks too.
    for domain in lattice.grid().domains(lattice.dims()).unwrap_or_default() {
        let (origin, extents) = (domain.origin(), domain.extents());
        for mu in 0..NDIM {
            shares[mu] = common_divisor(common_divisor(shares[mu], origin[mu]), extents[mu]);
        }
    }
    shares
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Chooses blocks of a lattice that divide its shares.
///
/// The blocks are as near as possible to the usual ones. The coarse lattice has two parities if
/// that is possible.
///
/// # Errors
/// A direction in which no block fits.
fn block(extents: [usize; NDIM], shares: [usize; NDIM], usual: usize) -> Result<[usize; NDIM], usize> {
    let mut block = [0; NDIM];
    for mu in 0..NDIM {
        let divisors = (2..=shares[mu]).filter(|block| shares[mu].is_multiple_of(*block));
        // How far it is from the usual one, as a factor; a coarse lattice without parities is worth
        // a factor of 2.5.
        let cost = |block: &usize| {
            let ratio = *block as f64 / usual as f64;
            let coarse = extents[mu] / block;
            ratio.max(1.0 / ratio) * if coarse == 1 || coarse.is_multiple_of(2) { 1.0 } else { 2.5 }
        };
        block[mu] = divisors.min_by(|a, b| cost(a).total_cmp(&cost(b))).ok_or(mu)?;
    }
    Ok(block)
}

/// Chooses blocks like `block` for a coarse lattice, which is on one device.
///
/// In directions with one site there is nothing to divide.
fn coarse_block(extents: [usize; NDIM]) -> Result<[usize; NDIM], usize> {
    let divisible = extents.map(|extent| if extent == 1 { 2 } else { extent });
    let block = block(divisible, divisible, USUAL_COARSE_BLOCK)?;
    let block = std::array::from_fn(|mu| block[mu].min(extents[mu]));
    if block == [1; NDIM] { Err(0) } else { Ok(block) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::Team;
    use crate::geometry::Dims;

    fn blockings(extents: [usize; NDIM]) -> Vec<[usize; NDIM]> {
        let lattice = Lattice::new(&Team::host(), Dims::new(extents).unwrap()).unwrap();
        let found = MultigridParams::default().blockings(&lattice).unwrap();
        found.into_iter().map(|blocking| blocking.block.0).collect()
    }

    #[test]
    fn blocks_divide_and_leave_parities() {
        assert_eq!(blockings([16, 16, 16, 32]), [[4, 4, 4, 4], [2, 2, 2, 2]]);
        assert_eq!(blockings([12, 12, 12, 24]), [[3, 3, 3, 4], [2, 2, 2, 3]]);
        assert_eq!(blockings([8, 8, 8, 16]), [[4, 4, 4, 4]]);
        assert_eq!(blockings([32, 32, 32, 64]), [[4, 4, 4, 4], [2, 2, 2, 2], [2, 2, 2, 2]]);
        assert_eq!(blockings([6, 10, 4, 14]), [[3, 5, 4, 7]]);
        assert_eq!(blockings([2, 2, 2, 2]), [[2, 2, 2, 2]]);
    }

    #[test]
    fn more_vectors_than_a_block_has_numbers_are_refused() {
        let lattice = Lattice::new(&Team::host(), Dims::new([4, 4, 4, 8]).unwrap()).unwrap();
        let refused = |vectors: usize, block: [usize; NDIM]| {
            let params =
                MultigridParams { vectors: Some(vectors), block: Some(Block(block)), ..Default::default() };
            params.blockings(&lattice).err().map(|error| error.to_string())
        };
        assert_eq!(refused(96, [2; NDIM]), None);
        let error = refused(97, [2; NDIM]).unwrap();
        assert!(error.contains("97 near-null vectors") && error.contains("at most 96"), "{error}");
        assert_eq!(refused(128, [4; NDIM]), None);
        let error = refused(1024, [4; NDIM]).unwrap();
        assert!(error.contains("at most 128") && error.contains("4x4x4x4"), "{error}");
    }

    #[test]
    fn a_block_that_does_not_divide_is_named() {
        let lattice = Lattice::new(&Team::host(), Dims::new([8, 8, 8, 8]).unwrap()).unwrap();
        let params = MultigridParams { block: Some(Block([4, 3, 4, 4])), ..Default::default() };
        let error = params.blockings(&lattice).unwrap_err();
        assert!(matches!(error, SetupError::BlockDoesNotDivide { mu: 1, share: 8, .. }), "{error}");
    }
}
