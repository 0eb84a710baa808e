//! Near-null vectors that are orthonormal in each block and chirality.

use super::coarse_space::SiteNumbers;
use super::finer_sites::FinerPart;
use crate::scalar::Real;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// Orthonormal vectors for each part.
///
/// The numbers of one component of the finer level are neighbours.
pub(super) struct Orthonormal<R>(pub(super) Vec<Vec<R>>);

impl<R: Real> Orthonormal<R> {
    /// Replaces the vectors that these were made of.
    pub fn copy_to(
        self,
        half: usize,
        numbers: SiteNumbers,
        parts: &[FinerPart],
        vectors: &mut [Vec<Complex<R>>],
    ) {
        let padded = 2 * numbers.padded();
        for (part, own) in parts.iter().zip(&self.0) {
            let mut number_of_site = vec![None; vectors.first().map_or(0, Vec::len) / (2 * half)];
            part.sites.iter().enumerate().for_each(|(k, &site)| number_of_site[site] = Some(k));
            for (j, vector) in vectors.iter_mut().enumerate() {
                vector.par_chunks_mut(2 * half).zip(&number_of_site).for_each(|(site, k)| {
                    let Some(k) = k else { return };
                    for (component, z) in site.iter_mut().enumerate() {
                        let row = &own[(k * half + component / 2) * padded..][..padded];
                        let [re, im] = numbers.at(2 * j + component % 2);
                        *z = Complex::new(row[re], row[im]);
                    }
                });
            }
        }
    }
}

/// The vectors, with those of a finer component beside each other.
pub(super) fn scattered<R: Real>(
    half: usize,
    numbers: SiteNumbers,
    vectors: &[Vec<Complex<R>>],
    sites: &[usize],
) -> Vec<R> {
    let padded = 2 * numbers.padded();
    let mut own = vec![R::zero(); sites.len() * half * padded];
    own.par_chunks_mut(padded).enumerate().for_each(|(k, own)| {
        for (j, vector) in vectors.iter().enumerate() {
            for chirality in 0..2 {
                let [re, im] = numbers.at(2 * j + chirality);
                let z = vector[2 * (sites[k / half] * half + k % half) + chirality];
                (own[re], own[im]) = (z.re, z.im);
            }
        }
    });
    own
}

/// Real and imaginary parts apart, so that loops over them are vectorised.
#[derive(Clone)]
struct Planar {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl Planar {
    fn zero(count: usize) -> Self {
        Self { re: vec![0.0; count], im: vec![0.0; count] }
    }

    fn of(numbers: &[Complex64]) -> Self {
        Self { re: numbers.iter().map(|z| z.re).collect(), im: numbers.iter().map(|z| z.im).collect() }
    }

    fn numbers(&self) -> Vec<Complex64> {
        self.re.iter().zip(&self.im).map(|(&re, &im)| Complex64::new(re, im)).collect()
    }

    /// self = self + z x, from element `from` on, where x begins at its element `at`.
    fn add(&mut self, from: usize, z: Complex64, x: &Self, at: usize) {
        let own = self.re[from..].iter_mut().zip(&mut self.im[from..]);
        for ((re, im), (x, y)) in own.zip(x.re[at..].iter().zip(&x.im[at..])) {
            *re += z.re * x - z.im * y;
            *im += z.re * y + z.im * x;
        }
    }
}

/// Makes the vectors orthonormal in each aggregate and chirality.
///
/// Two Cholesky factorisations of the Gram matrices do so. Returns `false` if the vectors are
/// dependent.
pub(super) fn orthonormalise<R: Real>(
    half: usize,
    numbers: SiteNumbers,
    vectors: &mut [R],
    members: &[u32],
    per_aggregate: usize,
    aggregate_of: &[u32],
) -> bool {
    let count = numbers.columns / 2;
    let padded = 2 * numbers.padded();
    let at =
        |chirality: usize| -> Vec<[usize; 2]> { (0..count).map(|j| numbers.at(2 * j + chirality)).collect() };
    let places = [at(0), at(1)];
    let load = |row: &[R], chirality: usize, values: &mut Planar| {
        let values = values.re.iter_mut().zip(&mut values.im);
        for ((re, im), &[at_re, at_im]) in values.zip(&places[chirality]) {
            (*re, *im) = (row[at_re].to_f64(), row[at_im].to_f64());
        }
    };
    for _ in 0..2 {
        let source = &*vectors;
        let factors = members.par_chunks(per_aggregate).map(|members| {
            let mut grams = [vec![Planar::zero(count); count], vec![Planar::zero(count); count]];
            let mut values = Planar::zero(count);
            for &site in members {
                for i in 0..half {
                    let row = &source[(site as usize * half + i) * padded..][..padded];
                    for (chirality, gram) in grams.iter_mut().enumerate() {
                        load(row, chirality, &mut values);
                        for (l, sums) in gram.iter_mut().enumerate() {
                            let left = Complex64::new(values.re[l], -values.im[l]);
                            sums.add(l, left, &values, l);
                        }
                    }
                }
            }
            let factor = |gram: &[Planar]| {
                let gram = gram.iter().flat_map(Planar::numbers).collect();
                Some(inverse_factor(count, gram)?.chunks(count).map(Planar::of).collect::<Vec<_>>())
            };
            Some([factor(&grams[0])?, factor(&grams[1])?])
        });
        let Some(factors) = factors.collect::<Option<Vec<_>>>() else { return false };
        vectors.par_chunks_mut(padded * half).enumerate().for_each(|(site, rows)| {
            let (mut values, mut sums) = (Planar::zero(count), Planar::zero(count));
            for row in rows.chunks_mut(padded) {
                for (chirality, factor) in factors[aggregate_of[site] as usize].iter().enumerate() {
                    load(row, chirality, &mut values);
                    sums.re.fill(0.0);
                    sums.im.fill(0.0);
                    for (l, factor) in factor.iter().enumerate() {
                        sums.add(l, Complex64::new(values.re[l], values.im[l]), factor, l);
                    }
                    for (j, &[re, im]) in places[chirality].iter().enumerate() {
                        (row[re], row[im]) = (R::from_f64(sums.re[j]), R::from_f64(sums.im[j]));
                    }
                }
            }
        });
    }
    true
}

/// The part of a vector's square that must be its own.
const INDEPENDENT: f64 = 1e-10;

/// Returns R⁻¹ for the Gram matrix R†R, row by row.
///
/// The upper triangle of the Gram matrix is given. `None` if the vectors are dependent.
fn inverse_factor(n: usize, mut gram: Vec<Complex64>) -> Option<Vec<Complex64>> {
    for k in 0..n {
        let whole = gram[k * n + k].re;
        let own = whole - (0..k).map(|l| gram[l * n + k].norm_sqr()).sum::<f64>();
        // False for NaN.
        let is_independent = own > INDEPENDENT * whole;
        if !is_independent {
            return None;
        }
        let root = own.sqrt();
        gram[k * n + k] = root.into();
        for j in k + 1..n {
            let known: Complex64 = (0..k).map(|l| gram[l * n + k].conj() * gram[l * n + j]).sum();
            gram[k * n + j] = (gram[k * n + j] - known) / root;
        }
    }
    let mut inverse = vec![Complex64::default(); n * n];
    for j in 0..n {
        inverse[j * n + j] = 1.0 / gram[j * n + j];
        for i in (0..j).rev() {
            let known: Complex64 = (i + 1..=j).map(|l| gram[i * n + l] * inverse[l * n + j]).sum();
            inverse[i * n + j] = -known / gram[i * n + i];
        }
    }
    Some(inverse)
}
