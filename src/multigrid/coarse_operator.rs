//! The operator of a coarse level.
//!
//! A matrix with a block for each site and each of its neighbours.

use super::coarse_lattice::CoarseLattice;
use super::coarse_space::{CoarseSpace, SiteNumbers, WholeVector};
use super::error::SetupError;
use super::kept::Kept;
use super::kernels::{Hop, kernel};
use crate::device::{Buffer, DeviceError, Kernel};
use crate::field::{SpinorField, SpinorSpace};
use crate::geometry::{LatticeError, NDIM};
use crate::host::multigrid::{BLOCKS, CoarseBlocks};
use crate::scalar::Real;
use lattice_solvers::{LinearOperator, VectorSpace, Work};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::sync::{Arc, Mutex};

/// The blocks for the neighbours, ahead and behind in each direction.
const HOPS: u32 = (1 << (2 * NDIM)) - 1;
/// The block of a site itself.
pub(super) const WITHIN: usize = 2 * NDIM;
/// Its inverse.
const INVERSE: usize = WITHIN + 1;

/// Blocks as they are made: `[site][block][column][row]`.
///
/// The blocks of the neighbours come before that of the site itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RawBlocks<R> {
    /// Numbers of a site.
    pub columns: usize,
    pub blocks: Vec<Complex<R>>,
}

/// Blocks of a site in [`RawBlocks`].
pub(super) const RAW_BLOCKS: usize = WITHIN + 1;

impl<R: Real> RawBlocks<R> {
    pub fn zero(lattice: &CoarseLattice, columns: usize) -> Self {
        let numbers = lattice.volume() * RAW_BLOCKS * columns * columns;
        Self { columns, blocks: vec![Complex::default(); numbers] }
    }

    /// Sets columns of a block of each site, from number `column` on.
    ///
    /// `numbers` has the numbers of all sites for one column after the other.
    pub fn set_columns(&mut self, block: usize, column: usize, numbers: &[Complex<R>]) {
        let (n, sites) = (self.columns, self.blocks.len() / (RAW_BLOCKS * self.columns * self.columns));
        self.blocks.par_chunks_mut(RAW_BLOCKS * n * n).enumerate().for_each(|(place, site)| {
            for (k, numbers) in numbers.chunks(sites * n).enumerate() {
                let own = &mut site[(block * n + column + k) * n..][..n];
                own.copy_from_slice(&numbers[place * n..][..n]);
            }
        });
    }

    /// The block of a site, column by column.
    pub fn block(&self, place: usize, block: usize) -> &[Complex<R>] {
        let n2 = self.columns * self.columns;
        &self.blocks[(place * RAW_BLOCKS + block) * n2..][..n2]
    }

    #[cfg(test)]
    pub fn element(&self, place: usize, block: usize, row: usize, column: usize) -> Complex<R> {
        let n = self.columns;
        self.blocks[((place * RAW_BLOCKS + block) * n + column) * n + row]
    }
}

/// The blocks of an operator on all sites.
enum Storage<R: Real> {
    Host { blocks: Vec<Complex<R>>, neighbours: Vec<u32> },
    Device { blocks: Kept<R>, neighbours: Buffer<u32> },
}

/// The system of a coarse level on its first half of sites.
///
/// The blocks of a site are multiplied by the inverse of its own block: M = D (1 + Â). With
/// parities the system is the Schur complement 1 − Â_eo Â_oe, without them 1 + Â.
pub(super) struct CoarseOperator<R: Real> {
    lattice: Arc<CoarseLattice>,
    space: CoarseSpace<R>,
    storage: Arc<Storage<R>>,
    /// `None` on the host.
    kernel: Option<Kernel>,
    /// A vector on the second half of sites.
    between: Mutex<SpinorField<R>>,
}

impl<R: Real> CoarseOperator<R> {
    /// Makes the operator with its blocks unscaled.
    ///
    /// [`apply_whole`](Self::apply_whole) applies it.
    pub fn raw(
        space: &CoarseSpace<R>,
        lattice: &Arc<CoarseLattice>,
        raw: &RawBlocks<R>,
    ) -> Result<Self, LatticeError> {
        let n2 = raw.columns * raw.columns;
        let of_site =
            |from: &[Complex<R>], to: &mut [Complex<R>]| to[..RAW_BLOCKS * n2].copy_from_slice(from);
        Self::new(space, lattice, raw, |from, to| {
            of_site(from, to);
            true
        })?
        .ok_or_else(|| unreachable!("nothing is inverted"))
    }

    /// Makes the system of level `level`.
    ///
    /// # Errors
    /// When a site's own block has no inverse, or a device fails.
    pub fn scaled(
        space: &CoarseSpace<R>,
        lattice: &Arc<CoarseLattice>,
        raw: &RawBlocks<R>,
        level: usize,
    ) -> Result<Self, SetupError> {
        let n = raw.columns;
        let made = Self::new(space, lattice, raw, |from, to| scale_site(n, from, to))?;
        made.ok_or(SetupError::Singular { level })
    }

    /// Makes an operator with blocks that `make` makes site by site.
    ///
    /// `None` if a site has no blocks.
    fn new(
        space: &CoarseSpace<R>,
        lattice: &Arc<CoarseLattice>,
        raw: &RawBlocks<R>,
        make: impl Fn(&[Complex<R>], &mut [Complex<R>]) -> bool + Sync,
    ) -> Result<Option<Self>, LatticeError> {
        let (n, volume, numbers) = (raw.columns, lattice.volume(), space.numbers);
        let neighbours = lattice.neighbours_within_halves();
        let per_site = BLOCKS * n * n;
        let from = raw.blocks.par_chunks(RAW_BLOCKS * n * n);
        let storage = if space.place().is_host() {
            let mut blocks = vec![Complex::default(); volume * per_site];
            if !from.zip(blocks.par_chunks_mut(per_site)).map(|(from, to)| make(from, to)).all(|made| made) {
                return Ok(None);
            }
            Storage::Host { blocks, neighbours }
        } else {
            let device = space.place().device()?;
            let padded = 2 * BLOCKS * n * numbers.padded();
            let mut blocks = vec![R::zero(); volume * padded];
            let made = from.zip(blocks.par_chunks_mut(padded)).map_init(
                || vec![Complex::default(); per_site],
                |scratch, (from, to)| {
                    let made = make(from, scratch);
                    numbers.copy_to_memory(scratch, to);
                    made
                },
            );
            if !made.all(|made| made) {
                return Ok(None);
            }
            let blocks = Kept::new(device, &blocks, 2 * n * numbers.padded())?;
            Storage::Device { blocks, neighbours: Buffer::from_slice(device, &neighbours)? }
        };
        Self::of_storage(Arc::clone(lattice), space.clone(), Arc::new(storage)).map(Some)
    }

    fn of_storage(
        lattice: Arc<CoarseLattice>,
        space: CoarseSpace<R>,
        storage: Arc<Storage<R>>,
    ) -> Result<Self, LatticeError> {
        let between = Mutex::new(space.space().zero_vector()?);
        let kernel = match &*storage {
            Storage::Host { .. } => None,
            Storage::Device { .. } => {
                let device = space.place().device()?;
                Some(kernel::<R>(device, "coarse_hop", space.numbers, 1, space.sources())?)
            }
        };
        Ok(Self { lattice, space, storage, kernel, between })
    }

    /// Returns this operator for another number of right-hand sides.
    pub fn for_sources(&self, sources: usize) -> Result<Self, LatticeError> {
        let space = self.space.for_sources(sources)?;
        Self::of_storage(Arc::clone(&self.lattice), space, Arc::clone(&self.storage))
    }

    pub fn lattice(&self) -> &Arc<CoarseLattice> {
        &self.lattice
    }

    pub fn coarse_space(&self) -> &CoarseSpace<R> {
        &self.space
    }

    pub fn numbers(&self) -> SiteNumbers {
        self.space.numbers
    }

    /// out = alpha own + beta (the blocks of `mask`) on the sites of a half.
    ///
    /// `others` has the vectors of the neighbours, `own` those of the sites themselves.
    fn hop(
        &self,
        half: usize,
        vectors: [&SpinorField<R>; 2],
        out: &mut SpinorField<R>,
        mask: u32,
        factors: [f64; 2],
    ) -> Result<(), DeviceError> {
        let [first, sites] = self.lattice.half(half);
        let hop = Hop { first, sites, mask, factors: factors.map(R::from_f64) };
        match (&*self.storage, &self.kernel) {
            (Storage::Device { blocks, neighbours }, Some(kernel)) => {
                hop.start(kernel, &self.space, (blocks.arguments(), neighbours), vectors, out)
            }
            (Storage::Host { blocks, neighbours }, _) => {
                let operator = CoarseBlocks { blocks, neighbours, columns: self.space.numbers.columns };
                hop.on_host(operator, &self.space, vectors, out)
            }
            (Storage::Device { .. }, None) => unreachable!("blocks on a device have a kernel"),
        }
    }

    /// out = the part of M x that the blocks of `mask` make, for blocks as they are.
    fn apply_blocks(
        &self,
        x: &WholeVector<R>,
        out: &mut WholeVector<R>,
        mask: u32,
    ) -> Result<(), DeviceError> {
        match (&x.odd, &mut out.odd) {
            (Some(odd), Some(out_odd)) => {
                self.hop(0, [odd, &x.even], &mut out.even, mask, [0.0, 1.0])?;
                self.hop(1, [&x.even, odd], out_odd, mask, [0.0, 1.0])
            }
            _ => self.hop(0, [&x.even, &x.even], &mut out.even, mask, [0.0, 1.0]),
        }
    }

    /// out = M x, for blocks as they are.
    pub fn apply_whole(&self, x: &WholeVector<R>, out: &mut WholeVector<R>) -> Result<(), DeviceError> {
        self.apply_blocks(x, out, HOPS | 1 << WITHIN)
    }

    /// out = the part of M x that comes from the neighbours ahead in direction `mu`.
    ///
    /// Blocks are as they are.
    pub fn apply_from_ahead(
        &self,
        x: &WholeVector<R>,
        out: &mut WholeVector<R>,
        mu: usize,
    ) -> Result<(), DeviceError> {
        self.apply_blocks(x, out, 1 << (2 * mu))
    }

    /// out = D x on the first half, for the blocks D of the sites themselves.
    ///
    /// A residual of the system becomes one of M x = b by it.
    pub fn within(&self, x: &SpinorField<R>, out: &mut SpinorField<R>) -> Result<(), DeviceError> {
        self.hop(0, [x, x], out, 1 << WITHIN, [0.0, 1.0])
    }

    /// Makes the right-hand side of the system from that of M x = c.
    ///
    /// `turned` becomes D⁻¹ c, which [`solution`](Self::solution) needs.
    pub fn source(
        &self,
        c: &WholeVector<R>,
        turned: &mut WholeVector<R>,
        source: &mut SpinorField<R>,
    ) -> Result<(), DeviceError> {
        let inverse = 1 << INVERSE;
        self.hop(0, [&c.even, &c.even], &mut turned.even, inverse, [0.0, 1.0])?;
        let (Some(odd), Some(turned_odd)) = (&c.odd, &mut turned.odd) else {
            return self.space.space().copy(&turned.even, source);
        };
        self.hop(1, [odd, odd], turned_odd, inverse, [0.0, 1.0])?;
        self.hop(0, [turned_odd, &turned.even], source, HOPS, [1.0, -1.0])
    }

    /// Completes a solution by its second half, which follows from the first.
    pub fn solution(&self, turned: &WholeVector<R>, x: &mut WholeVector<R>) -> Result<(), DeviceError> {
        let (Some(turned), Some(odd)) = (&turned.odd, &mut x.odd) else { return Ok(()) };
        self.hop(1, [&x.even, turned], odd, HOPS, [1.0, -1.0])
    }

    /// Completes a vector that is near-null for the system by its second half.
    pub fn complete(&self, even: &SpinorField<R>) -> Result<WholeVector<R>, LatticeError> {
        let mut whole = WholeVector::zero(&self.space, &self.lattice)?;
        let turned = WholeVector::zero(&self.space, &self.lattice)?;
        self.space.space().copy(even, &mut whole.even)?;
        self.solution(&turned, &mut whole)?;
        Ok(whole)
    }

    /// Returns the work of a pass over so many blocks of every site.
    fn work_of(&self, blocks: usize, sites: usize) -> Work {
        let n = self.space.numbers.columns as u64;
        let numbers = (blocks * sites) as u64 * n * n;
        let flops = 8 * numbers * self.space.sources() as u64;
        Work { flops, bytes: numbers * Kept::<R>::bytes_of_number() }
    }

    /// Returns the work of computing source and solution of the Schur system.
    ///
    /// The sum of [`source`](Self::source) and [`solution`](Self::solution).
    pub fn work_of_sides(&self) -> Work {
        let mut work = self.work_of(1, self.lattice.volume());
        if self.lattice.has_parities() {
            work += self.work_of(2 * NDIM, self.lattice.volume());
        }
        work
    }
}

impl<R: Real> LinearOperator for CoarseOperator<R> {
    type Space = SpinorSpace<R>;

    fn space(&self) -> &SpinorSpace<R> {
        self.space.space()
    }

    fn apply(&self, x: &SpinorField<R>, out: &mut SpinorField<R>) -> Result<(), DeviceError> {
        if !self.lattice.has_parities() {
            return self.hop(0, [x, x], out, HOPS, [1.0, 1.0]);
        }
        let mut between = crate::sync::lock(&self.between);
        self.hop(1, [x, x], &mut between, HOPS, [0.0, 1.0])?;
        self.hop(0, [&between, x], out, HOPS, [1.0, -1.0])
    }

    fn work(&self) -> Work {
        self.work_of(2 * NDIM, self.lattice.volume())
    }
}

/// Makes the blocks of the system at a site.
///
/// Returns `false` if the site's own block has no inverse.
fn scale_site<R: Real>(n: usize, from: &[Complex<R>], to: &mut [Complex<R>]) -> bool {
    let n2 = n * n;
    let within = &from[WITHIN * n2..][..n2];
    let Some(inverse) = inverse(n, within) else { return false };
    to[WITHIN * n2..][..n2].copy_from_slice(within);
    to[INVERSE * n2..][..n2].copy_from_slice(&inverse);
    // Real and imaginary parts apart, so that loops over rows are vectorised.
    let parts = |numbers: &[Complex<R>]| -> [Vec<R>; 2] {
        [numbers.iter().map(|z| z.re).collect(), numbers.iter().map(|z| z.im).collect()]
    };
    let [inverse_re, inverse_im] = parts(&inverse);
    let mut sums = [vec![R::zero(); n], vec![R::zero(); n]];
    let hops = from[..2 * NDIM * n2].chunks(n).zip(to[..2 * NDIM * n2].chunks_mut(n));
    for (column, out) in hops {
        let [re, im] = &mut sums;
        re.fill(R::zero());
        im.fill(R::zero());
        for (x, (a, b)) in column.iter().zip(inverse_re.chunks(n).zip(inverse_im.chunks(n))) {
            let sums = re.iter_mut().zip(im.iter_mut());
            for ((re, im), (a, b)) in sums.zip(a.iter().zip(b)) {
                *re += *a * x.re - *b * x.im;
                *im += *a * x.im + *b * x.re;
            }
        }
        for (out, (re, im)) in out.iter_mut().zip(re.iter().zip(im.iter())) {
            *out = Complex::new(*re, *im);
        }
    }
    true
}

/// Rows from which elimination is for several threads.
const MANY_ROWS: usize = 128;

/// Returns the inverse of a matrix that is given column by column.
///
/// Elimination with pivots is in double. `None` if there is no inverse.
pub(super) fn inverse<R: Real>(n: usize, matrix: &[Complex<R>]) -> Option<Vec<Complex<R>>> {
    // Rows of the transpose are columns: the inverse of the transpose is the transpose of the inverse.
    let mut rows: Vec<Vec<Complex64>> = matrix
        .chunks(n)
        .enumerate()
        .map(|(k, row)| {
            let unit = (0..n).map(|j| Complex64::from(f64::from(u8::from(j == k))));
            row.iter().map(|z| Complex64::new(z.re.to_f64(), z.im.to_f64())).chain(unit).collect()
        })
        .collect();
    for k in 0..n {
        let pivot =
            (k..n).max_by(|&i, &j| rows[i][k].norm_sqr().total_cmp(&rows[j][k].norm_sqr())).unwrap_or(k);
        rows.swap(k, pivot);
        let factor = 1.0 / rows[k][k];
        if !factor.is_finite() {
            return None;
        }
        rows[k].iter_mut().for_each(|z| *z *= factor);
        let pivot_row = std::mem::take(&mut rows[k]);
        let eliminate = |(i, row): (usize, &mut Vec<Complex64>)| {
            if i != k {
                let factor = row[k];
                row[k..].iter_mut().zip(&pivot_row[k..]).for_each(|(z, above)| *z -= factor * above);
            }
        };
        if n >= MANY_ROWS {
            rows.par_iter_mut().enumerate().for_each(eliminate);
        } else {
            rows.iter_mut().enumerate().for_each(eliminate);
        }
        rows[k] = pivot_row;
    }
    let all = rows.into_iter().flat_map(|row| row.into_iter().skip(n));
    let inverse: Vec<_> = all.map(|z| Complex::new(R::from_f64(z.re), R::from_f64(z.im))).collect();
    inverse.iter().all(|z| z.re.is_finite() && z.im.is_finite()).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_one() {
        let n = 5;
        let number = |k: usize| Complex::new((1.7 * (k * k) as f64).sin(), (0.9 * k as f64).cos());
        let matrix: Vec<_> = (0..n * n).map(number).collect();
        let inverse = inverse(n, &matrix).unwrap();
        for row in 0..n {
            for column in 0..n {
                let sum: Complex64 = (0..n).map(|k| matrix[k * n + row] * inverse[column * n + k]).sum();
                let expected = f64::from(u8::from(row == column));
                assert!((sum - expected).norm() < 1e-12, "{row} {column}: {sum}");
            }
        }
        assert!(super::inverse(2, &[Complex::new(1.0, 0.0); 4]).is_none());
    }
}
