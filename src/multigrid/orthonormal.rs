//! Near-null vectors that are orthonormal in each block and chirality.

use super::coarse_space::SiteNumbers;
use super::finer_sites::FinerNumbers;
use super::kept::DeviceNumbers;
use super::kernels::LOCAL_SIZE;
use super::setup_kernels::{kernel, reals_of_row, tiles};
use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, Device, DeviceError, Range};
use crate::scalar::Real;
use num_complex::Complex64;

/// The sites of a part, and the aggregates that they are in.
pub(super) struct Aggregates<'a, List: ?Sized> {
    /// Sites of the part.
    pub sites: usize,
    /// Aggregates of the part.
    pub count: usize,
    /// The members of each aggregate, equally many.
    pub members: &'a List,
    pub per_aggregate: usize,
    /// The aggregate of each site.
    pub aggregate_of: &'a List,
}

/// Makes vectors orthonormal in each aggregate and chirality on a device.
///
/// `groups` have as many vectors as there are right-hand sides. `None` if the vectors are dependent.
pub(super) fn orthonormal_on_device<R: Real>(
    device: &Device,
    finer: FinerNumbers,
    numbers: SiteNumbers,
    groups: &[&Buffer<R>],
    of: &Aggregates<'_, Buffer<u32>>,
) -> Result<Option<DeviceNumbers<R>>, DeviceError> {
    let (half, vectors) = (finer.half, numbers.columns / 2);
    let kernel = |name: &str| kernel::<R>(device, name, numbers, finer.lanes);
    let (items, row, tiles) = (of.sites * half, reals_of_row(vectors), tiles(vectors));
    let mut rows = Buffer::<R>::zeroed(device, items * 2 * row)?;
    let collect = kernel("collect_vectors")?;
    let sources = vectors / groups.len();
    for (k, group) in groups.iter().enumerate() {
        let counts = [k * sources, sources, of.sites, half, finer.padded, group.len() / sources];
        let mut arguments = vec![Argument::from(*group), Argument::from(&mut rows)];
        arguments.extend(counts.map(|count| Argument::value(count as u32)));
        collect.start(Range::covering(items, LOCAL_SIZE), &arguments)?;
    }
    let matrices = 2 * of.count;
    let mut grams = Buffer::<f64>::uninitialised(device, matrices * vectors * row)?;
    let mut flags = Buffer::<u32>::zeroed(device, matrices)?;
    let (gram, factor, multiply) =
        (kernel("gram_matrices")?, kernel("factor_grams")?, kernel("multiply_rows")?);
    let rows_of_group = (LOCAL_SIZE.min(multiply.max_work_group_size()) / tiles).max(1);
    for _ in 0..2 {
        let arguments = [
            Argument::from(&rows),
            Argument::from(of.members),
            Argument::from(&mut grams),
            Argument::value(of.count as u32),
            Argument::value(of.per_aggregate as u32),
            Argument::value(half as u32),
        ];
        gram.start(Range::covering(matrices * vectors * tiles, LOCAL_SIZE), &arguments)?;
        let arguments =
            [Argument::from(&mut grams), Argument::from(&mut flags), Argument::value(matrices as u32)];
        factor.start(Range::covering(matrices, LOCAL_SIZE), &arguments)?;
        if flags.to_vec()?.iter().any(|&flag| flag != 0) {
            return Ok(None);
        }
        let arguments = [
            Argument::from(&mut rows),
            Argument::from(&grams),
            Argument::from(of.aggregate_of),
            Argument::value((2 * items) as u32),
            Argument::value(half as u32),
            Argument::local::<R>(rows_of_group * row),
        ];
        let groups = (2 * items).div_ceil(rows_of_group);
        multiply.start(Range::groups(groups, rows_of_group * tiles), &arguments)?;
    }
    let reals = 2 * numbers.padded();
    let mut kept = DeviceNumbers::room(device, items * reals, reals)?;
    let [vectors, units] = kept.arguments_mut();
    let arguments = [
        Argument::from(&rows),
        vectors,
        units,
        Argument::value(items as u32),
        Argument::value(numbers.chunks() as u32),
    ];
    kernel("keep_vectors")?.start(Range::covering(items, LOCAL_SIZE), &arguments)?;
    Ok(Some(kept))
}

/// The same on the host: vectors beside each other for each finer component.
pub(super) fn orthonormal_on_host<R: Real>(
    finer: FinerNumbers,
    numbers: SiteNumbers,
    groups: &[&[R]],
    of: &Aggregates<'_, [u32]>,
) -> Option<Vec<R>> {
    let padded = 2 * numbers.padded();
    let sources = numbers.columns / 2 / groups.len();
    let fine = SiteNumbers { columns: finer.padded, lanes: finer.lanes };
    let mut own = vec![R::zero(); of.sites * finer.half * padded];
    own.par_chunks_mut(padded).enumerate().for_each(|(k, own)| {
        let (site, i) = (k / finer.half, k % finer.half);
        for (group, numbers_of_group) in groups.iter().enumerate() {
            let of_source = numbers_of_group.chunks(numbers_of_group.len() / sources);
            for (j, vector) in of_source.enumerate() {
                let vector = &vector[2 * finer.padded * site..];
                for chirality in 0..2 {
                    let [re, im] = numbers.at(2 * (group * sources + j) + chirality);
                    let [from_re, from_im] = fine.at(2 * i + chirality);
                    (own[re], own[im]) = (vector[from_re], vector[from_im]);
                }
            }
        }
    });
    orthonormalise(finer.half, numbers, &mut own, of.members, of.per_aggregate, of.aggregate_of)
        .then_some(own)
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
fn orthonormalise<R: Real>(
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
