//! The twins of the kernels of a multigrid method: see `cl/multigrid/`.
//!
//! A vector has two numbers, one for each chirality, for each of `half` components of a site:
//! number `2 i + chirality`. Near-null vectors are `vectors[(site · half + i) · columns + column]`
//! with column `2 j + chirality` for vector j in one chirality.

use super::gamma::{SpinMatrix, spin_times};
use super::{Philox, Spinor};
use crate::compute::parallel::*;
use crate::scalar::Real;
use num_complex::Complex;

/// The near-null vectors of a level, and the members of its aggregates.
#[derive(Clone, Copy)]
pub struct NearNull<'a, R> {
    /// In the order above.
    pub vectors: &'a [Complex<R>],
    /// Components of each chirality at a site.
    pub half: usize,
    /// Twice as many as vectors.
    pub columns: usize,
}

impl<R: Real> NearNull<'_, R> {
    fn row(&self, site: usize, i: usize) -> &[Complex<R>] {
        &self.vectors[(site * self.half + i) * self.columns..][..self.columns]
    }
}

/// Stands for no member of an aggregate; what follows is none either.
pub const NO_MEMBER: u32 = u32::MAX;

/// Returns V† fine, summed over the `per_aggregate` members of each aggregate.
pub fn restrict<R: Real>(
    near_null: NearNull<'_, R>,
    fine: &[Complex<R>],
    members: &[u32],
    per_aggregate: usize,
) -> Vec<Complex<R>> {
    let of_aggregate = |members: &[u32]| {
        let mut sums = vec![Complex::default(); near_null.columns];
        for &site in members.iter().take_while(|&&site| site != NO_MEMBER) {
            for i in 0..near_null.half {
                let f = &fine[2 * (site as usize * near_null.half + i)..][..2];
                for (column, (sum, v)) in sums.iter_mut().zip(near_null.row(site as usize, i)).enumerate() {
                    *sum += v.conj() * f[column % 2];
                }
            }
        }
        sums
    };
    members.par_chunks(per_aggregate).flat_map_iter(of_aggregate).collect()
}

/// Computes V coarse on the sites of these aggregates.
pub fn prolong<R: Real>(
    near_null: NearNull<'_, R>,
    coarse: &[Complex<R>],
    aggregate_of: &[u32],
) -> Vec<Complex<R>> {
    let columns = near_null.columns;
    let at_site = |(site, &aggregate): (usize, &u32)| {
        let coarse = &coarse[aggregate as usize * columns..][..columns];
        (0..2 * near_null.half).map(move |component| {
            let v = near_null.row(site, component / 2);
            (component % 2..columns).step_by(2).map(|column| v[column] * coarse[column]).sum()
        })
    };
    aggregate_of.par_iter().enumerate().flat_map_iter(at_site).collect()
}

/// Returns a column of the near-null vectors on the sites whose flag has this bit.
///
/// Other sites are 0.
pub fn take<R: Real>(near_null: NearNull<'_, R>, flags: &[u32], column: usize, bit: u32) -> Vec<Complex<R>> {
    let at_site = |(site, &flag): (usize, &u32)| {
        (0..2 * near_null.half).map(move |component| {
            let keeps = flag >> bit & 1 == 1 && column % 2 == component % 2;
            if keeps { near_null.row(site, component / 2)[column] } else { Complex::default() }
        })
    };
    flags.par_iter().enumerate().flat_map_iter(at_site).collect()
}

/// Number of blocks at each site.
///
/// Eight blocks are for the neighbours ahead and behind in each direction, two for the site itself.
pub const BLOCKS: usize = 10;

/// A coarse operator.
#[derive(Clone, Copy)]
pub struct CoarseBlocks<'a, R> {
    /// `[site][block][column][row]`
    pub blocks: &'a [Complex<R>],
    /// Eight for each site.
    pub neighbours: &'a [u32],
    /// Numbers of a site.
    pub columns: usize,
}

/// Returns alpha · own + beta · the sum of block products.
///
/// Blocks of `mask` multiply the vectors of neighbours. Blocks of the site multiply the site's own
/// vector.
pub fn coarse_hop<R: Real>(
    operator: CoarseBlocks<'_, R>,
    [neighbours, own]: [&[Complex<R>]; 2],
    [first, sites]: [usize; 2],
    mask: u32,
    [alpha, beta]: [R; 2],
) -> Vec<Complex<R>> {
    let n = operator.columns;
    let at_site = |site: usize| {
        let mut sums = vec![Complex::default(); n];
        for block in (0..BLOCKS).filter(|block| mask >> block & 1 == 1) {
            let (from, place) = match block {
                0..8 => (neighbours, operator.neighbours[(first + site) * 8 + block] as usize),
                _ => (own, site),
            };
            let block = &operator.blocks[((first + site) * BLOCKS + block) * n * n..][..n * n];
            for (column, x) in block.chunks(n).zip(&from[place * n..][..n]) {
                sums.iter_mut().zip(column).for_each(|(sum, a)| *sum += a * x);
            }
        }
        let own = &own[site * n..][..n];
        sums.into_iter().zip(own).map(move |(sum, own)| sum * beta + own * alpha).collect::<Vec<_>>()
    };
    (0..sites).into_par_iter().flat_map_iter(at_site).collect()
}

/// Fills the numbers of a site with random ones, whose parts lie between −1 and 1.
///
/// Each part is a word of [`Philox`] in units of 2⁻³¹.
pub fn random_numbers<R: Real>(seed: u64, stream: u32, site: usize, numbers: &mut [Complex<R>]) {
    let mut random = Philox::new(seed, stream, site as u64);
    let mut part = || R::from_f64(f64::from(random.next_u32() as i32) / f64::from(1_u32 << 31));
    for z in numbers {
        z.re = part();
        z.im = part();
    }
}

/// Returns the numbers of a spinor in the order of a multigrid method.
pub fn plain<R: Real>(psi: &Spinor<R>) -> [Complex<R>; 12] {
    std::array::from_fn(|k| psi.0[k / 6 + 2 * (k % 2)][k / 2 % 3])
}

/// Returns the spinor with these numbers.
pub fn spinor<R: Real>(plain: &[Complex<R>]) -> Spinor<R> {
    Spinor::from_fn(|spin, colour| plain[2 * (3 * (spin % 2) + colour) + spin / 2])
}

/// Computes ψ = (1 − γ) ψ / 2 at each site.
pub fn project<R: Real>(psi: &mut [Complex<R>], gamma: &SpinMatrix) {
    psi.par_chunks_mut(12).for_each(|at| {
        let before = spinor(at);
        let turned = spin_times(gamma, &before);
        let half = R::from_f64(0.5);
        let projected = Spinor::from_fn(|s, c| (before.0[s][c] - turned.0[s][c]) * half);
        at.copy_from_slice(&plain(&projected));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_are_the_spinors() {
        let psi = Spinor::from_fn(|s, c| Complex::new((3 * s + c) as f64, 1.0));
        let numbers = plain(&psi);
        assert_eq!(spinor(&numbers), psi);
        // The second component in the lower chirality: spin 2, colour 1.
        assert_eq!(numbers[3], psi.0[2][1]);
        assert_eq!(numbers[6], psi.0[1][0]);
    }
}
