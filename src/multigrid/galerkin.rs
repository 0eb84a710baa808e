//! The operator of a coarser level: V† M V.

use super::coarse_space::WholeVector;
use super::error::SetupError;
use super::finer::Finer;
use super::raw_blocks::{RawBlocks, WITHIN};
use super::transfer::{EVERY_SITE, Members, Transfer};
use crate::geometry::NDIM;
use crate::scalar::Real;

/// Computes the blocks of V† M V, where the coarse level is.
///
/// M is applied to columns of V, as many at a time as there are right-hand sides. The number of
/// columns is a multiple of them. First M is applied on all sites. Then M is applied on the first slices of
/// blocks in each direction. The last slices of the blocks behind then hold the hops from block to
/// block.
///
/// Blocks in the other direction follow from γ5-hermiticity, which all operators here have. The
/// hops between blocks are subtracted from the whole. The rest is within the blocks.
pub(super) fn galerkin<R: Real, F: Finer<R>>(
    finer: &mut F,
    transfer: &Transfer<R>,
    mut progress: impl FnMut(usize, usize),
) -> Result<RawBlocks<R>, SetupError> {
    let (lattice, space) = (transfer.lattice(), transfer.coarse_space());
    let (n, sources) = (space.numbers.columns, space.sources());
    let mut raw = RawBlocks::zero(space, lattice)?;
    let (mut x, mut image) = (finer.whole()?, finer.whole()?);
    let mut restricted = WholeVector::zero(space, lattice)?;
    let directions: Vec<usize> = (0..NDIM).filter(|&mu| lattice.hops(mu)).collect();
    for column in (0..n).step_by(sources) {
        transfer.take(column, EVERY_SITE, &mut x)?;
        finer.apply(&x, &mut image, None)?;
        transfer.restrict(image.view(), Members::All, &mut restricted)?;
        raw.set_columns(WITHIN, column, &restricted, space, lattice)?;
        for &mu in &directions {
            transfer.take(column, mu as u32, &mut x)?;
            finer.apply(&x, &mut image, Some(mu))?;
            transfer.restrict(image.view(), Members::Last(mu), &mut restricted)?;
            raw.set_columns(2 * mu, column, &restricted, space, lattice)?;
        }
        progress(column + sources, n);
    }
    raw.complete(lattice, &directions)?;
    Ok(raw)
}
