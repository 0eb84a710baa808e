//! Products of which one triangle is wanted, in one launch.
//!
//! Work-groups are numbered over the tiles of the triangle alone. The numbering is in `cl/parts.cl`.

use super::output_region::OutputRegion;
use super::problem::Problem;
use super::tuning::{Arithmetic, GemmTuning, Mma};
use super::{skinny, tunable};
use crate::completion::Completion;
use crate::error::BlasResult;
use lattice_compute::scalar::{ElementType, Precision};
use lattice_compute::{Device, DeviceKind};

/// Starts a product of which one triangle is wanted.
///
/// `None` if the kernel of the product has no way for that, or if the device would be idle because
/// there are few tiles with many terms. Nothing is started then.
pub(crate) fn start_part(device: &Device, problem: Problem<'_>) -> BlasResult<Option<Completion>> {
    if device.info().kind == DeviceKind::Cpu || problem.is_empty() || problem.n == 0 {
        return Ok(None);
    }
    let (element, Problem { n, k, a, b, region, .. }) = (problem.element(), problem);
    let transposed = [a.transposed, b.transposed];
    let units = device.info().compute_units;
    let usual = tunable::chosen(device, element, Arithmetic::Ieee, transposed, [n, n, k], 1);
    let tuning = variant(element, usual, region, n, units);
    let [rows, columns] = tuning.tile();
    let squares = matches!(tuning, GemmTuning::Registers(_) | GemmTuning::Mma(_))
        && rows.max(columns).is_multiple_of(rows.min(columns));
    if !squares || skinny::parts(units, tuning, [n, n, k]) > 1 {
        return Ok(None);
    }
    super::launch(device, tuning, Some(1), problem).map(Some)
}

/// Returns the variant for a triangle of n rows, in place of that for all of C.
///
/// Updates of factorisations have few terms. Then a large part of the time goes into reading and
/// writing C, so that units need several tiles at a time. On one H100, Cholesky's products at n = 8192
/// take 7.4 ms so, and 8.5 ms with tiles of 128×64.
fn variant(
    element: ElementType,
    usual: GemmTuning,
    region: OutputRegion,
    n: usize,
    units: usize,
) -> GemmTuning {
    if !matches!(usual, GemmTuning::Mma(_)) || element.complex || element.precision == Precision::Single {
        return usual;
    }
    let small = Mma::new([64, 64, 16], [32, 32], 4, 8, 8);
    let tiles = region.tiles([n, n], [small.tile[0], small.tile[1]]);
    if tiles >= units { GemmTuning::Mma(small) } else { usual }
}

#[cfg(test)]
mod tests {
    use super::super::Registers;
    use super::*;
    use crate::block::Block;
    use crate::host;
    use crate::matrix::MatrixLayout;
    use lattice_compute::scalar::Element;
    use lattice_compute::{Buffer, CacheMode, DeviceOptions, discover};
    use num_complex::Complex;

    type C64 = Complex<f64>;

    #[test]
    fn variants_for_triangles_can_be() {
        let double = ElementType::of::<f64>();
        let usual = GemmTuning::Mma(Mma::new([32, 32, 16], [16, 16], 4, 8, 8));
        for (n, tile) in [(8192, [64, 64]), (1025, [64, 64]), (300, [32, 32])] {
            let found = variant(double, usual, OutputRegion::triangle(true, false), n, 132);
            assert_eq!((found.tile(), found.complaint(double)), (tile, None), "{n}");
        }
    }

    /// One triangle of C = 2 A Aᴴ + β C is that of the twin, and the other one is left alone.
    fn check<T: Element>(device: &Device, tuning: GemmTuning) {
        let (n, k) = (37, 19);
        let number = |p: usize| ((p * 37 % 101) as f64 - 50.0) / 50.0;
        let element = |p: usize| T::from_complex(C64::new(number(p), number(p + 7))).to_complex();
        let a: Vec<C64> = (0..n * k).map(element).collect();
        let guard = C64::from(-7777.0);
        for (lower, hermitian, beta) in
            [(true, true, 1), (true, false, 0), (false, true, 0), (false, false, 1)]
        {
            let hermitian = hermitian && T::IS_COMPLEX;
            let wanted = |i: usize, j: usize| if lower { i >= j } else { i <= j };
            let before = |p: usize| {
                let (i, j) = (p % n, p / n);
                let z = element(p + 3);
                match (wanted(i, j), hermitian && i == j) {
                    (false, _) => guard,
                    (true, true) => C64::new(z.re, f64::NAN),
                    (true, false) => z,
                }
            };
            let c: Vec<C64> = (0..n * n).map(before).collect();
            let stored = |x: &[C64]| x.iter().map(|&z| T::from_complex(z)).collect::<Vec<T>>();
            let left = Buffer::from_slice(device, &stored(&a)).unwrap();
            let mut target = Buffer::from_slice(device, &stored(&c)).unwrap();
            let left = Block::at((&left).into(), &MatrixLayout::column_major(n, k));
            let right = (left.transposed(), hermitian);
            let to = Block::at((&mut target).into(), &MatrixLayout::column_major(n, n));
            let scalars = [2, beta].map(|number| ElementType::of::<T>().factor(number));
            let problem = Problem::of_blocks(scalars, [(left, false), right], to);
            let problem = Problem { region: OutputRegion::triangle(lower, hermitian), ..problem };
            super::super::launch(device, tuning, Some(1), problem).unwrap();

            let mut twin: Vec<C64> =
                c.iter().map(|z| if z.im.is_nan() { C64::from(z.re) } else { *z }).collect();
            let conjugated = |z: C64| if hermitian { z.conj() } else { z };
            let factor = |p: usize, j: usize| conjugated(a[j + p * n]);
            host::gemm::gemm(k, 2, |i, p| a[i + p * n], factor, beta, &mut twin, n);
            for (p, found) in target.to_vec().unwrap().into_iter().enumerate() {
                let (i, j, found) = (p % n, p / n, found.to_complex());
                let expected = if wanted(i, j) { twin[p] } else { guard };
                assert!(
                    (found - expected).norm() < 1e-13,
                    "{tuning} {lower} {hermitian} ({i}, {j}): {found}"
                );
            }
        }
    }

    #[test]
    fn kernels_compute_one_triangle() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            for tile in [[16, 16, 8], [16, 32, 8], [32, 16, 8]] {
                let registers = GemmTuning::Registers(Registers::new(tile, [4, 4], 1, 1));
                check::<f64>(&device, registers);
                check::<C64>(&device, registers);
            }
            check::<f64>(&device, GemmTuning::Mma(Mma::new([32, 16, 16], [16, 16], 3, 8, 8)));
            check::<C64>(&device, GemmTuning::Mma(Mma::new([16, 32, 8], [16, 16], 3, 4, 8)));
        }
    }
}
