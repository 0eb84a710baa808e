//! The operator of a coarser level: V† M V.

use super::coarse_operator::{RAW_BLOCKS, RawBlocks, WITHIN};
use super::coarse_space::WholeVector;
use super::error::SetupError;
use super::finer::Finer;
use super::transfer::{EVERY_SITE, Members, Transfer};
use crate::geometry::NDIM;
use crate::scalar::Real;
use num_complex::Complex;

/// Computes the blocks of V† M V.
///
/// M is applied to each column of V, first on all sites. Then M is applied on the first slices of
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
    for column in 0..n {
        transfer.take(column, EVERY_SITE, &mut x)?;
        finer.apply(&x, &mut image, None)?;
        transfer.restrict(image.view(), Members::All, &mut restricted)?;
        for (place, numbers) in transfer.on_host(&restricted)?.chunks(n).enumerate() {
            raw.column_mut(place, WITHIN, column).copy_from_slice(numbers);
        }
        for &mu in &directions {
            transfer.take(column, mu as u32, &mut x)?;
            finer.apply(&x, &mut image, Some(mu))?;
            transfer.restrict(image.view(), Members::Last(mu), &mut restricted)?;
            for (place, numbers) in transfer.on_host(&restricted)?.chunks(n).enumerate() {
                raw.column_mut(place, 2 * mu, column).copy_from_slice(numbers);
            }
        }
        progress(column + 1, n);
    }
    for &mu in &directions {
        for place in 0..lattice.volume() {
            let ahead = lattice.neighbour(place, mu, true);
            for row in 0..n {
                for column in 0..n {
                    // γ5 A† γ5 at the site ahead.
                    let z = raw.element(place, 2 * mu, column, row).conj();
                    let sign = if (row + column) % 2 == 0 { R::one() } else { -R::one() };
                    raw.column_mut(ahead, 2 * mu + 1, column)[row] = z * sign;
                }
            }
        }
    }
    let n2 = n * n;
    for site in raw.blocks.chunks_mut(RAW_BLOCKS * n2) {
        let (hops, within) = site.split_at_mut(WITHIN * n2);
        for (k, whole) in within.iter_mut().enumerate() {
            let hops: Complex<R> = (0..WITHIN).map(|hop| hops[hop * n2 + k]).sum();
            *whole -= hops;
        }
    }
    Ok(raw)
}
