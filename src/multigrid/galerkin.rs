//! The operator of a coarser level: V† M V.

use super::coarse_operator::{RAW_BLOCKS, RawBlocks, WITHIN};
use super::coarse_space::WholeVector;
use super::error::SetupError;
use super::finer::Finer;
use super::transfer::{EVERY_SITE, Members, Transfer};
use crate::geometry::NDIM;
use crate::scalar::Real;
use rayon::prelude::*;

/// Computes the blocks of V† M V.
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
    let (lattice, n) = (transfer.lattice(), transfer.coarse_space().numbers.columns);
    let mut raw = RawBlocks::zero(lattice, n);
    let (mut x, mut image) = (finer.whole()?, finer.whole()?);
    let mut restricted = WholeVector::zero(transfer.coarse_space(), lattice)?;
    let directions: Vec<usize> = (0..NDIM).filter(|&mu| lattice.hops(mu)).collect();
    let (space, sources) = (transfer.coarse_space(), transfer.coarse_space().sources());
    for column in (0..n).step_by(sources) {
        transfer.take(column, EVERY_SITE, &mut x)?;
        finer.apply(&x, &mut image, None)?;
        transfer.restrict(image.view(), Members::All, &mut restricted)?;
        raw.set_columns(WITHIN, column, &restricted.to_host(space, lattice)?);
        for &mu in &directions {
            transfer.take(column, mu as u32, &mut x)?;
            finer.apply(&x, &mut image, Some(mu))?;
            transfer.restrict(image.view(), Members::Last(mu), &mut restricted)?;
            raw.set_columns(2 * mu, column, &restricted.to_host(space, lattice)?);
        }
        progress(column + sources, n);
    }
    let behind = |place: usize, mu: usize| {
        // γ5 A† γ5 of the hop from here, at the site behind.
        let hops = raw.block(lattice.neighbour(place, mu, false), 2 * mu);
        let element = |k: usize| {
            let (column, row) = (k / n, k % n);
            let z = hops[row * n + column].conj();
            if (row + column).is_multiple_of(2) { z } else { -z }
        };
        (0..n * n).map(element).collect::<Vec<_>>()
    };
    let of_site = |place: usize| {
        let blocks: Vec<_> = directions.iter().map(|&mu| (2 * mu + 1, behind(place, mu))).collect();
        let mut within = raw.block(place, WITHIN).to_vec();
        let ahead = directions.iter().map(|&mu| raw.block(place, 2 * mu));
        for hops in ahead.chain(blocks.iter().map(|(_, block)| &block[..])) {
            within.iter_mut().zip(hops).for_each(|(whole, hop)| *whole -= hop);
        }
        (blocks, within)
    };
    let made: Vec<_> = (0..lattice.volume()).into_par_iter().map(of_site).collect();
    raw.blocks.par_chunks_mut(RAW_BLOCKS * n * n).zip(made).for_each(|(site, (blocks, within))| {
        for (block, numbers) in blocks {
            site[block * n * n..][..n * n].copy_from_slice(&numbers);
        }
        site[WITHIN * n * n..].copy_from_slice(&within);
    });
    Ok(raw)
}
