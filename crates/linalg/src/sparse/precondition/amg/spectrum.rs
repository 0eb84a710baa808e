//! The largest eigenvalue of D⁻¹A.

use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::size;
use crate::sparse::csr::Csr;
use lattice_compute::philox::Philox;
use num_complex::Complex64;
use rayon::prelude::*;

/// Number of steps of Lanczos' method.
///
/// After them the largest eigenvalue is known to a few per cent.
const STEPS: usize = 12;

/// Returns an estimate of the largest |λ| of D⁻¹A, and a bound for smoothers.
///
/// Lanczos' method in the inner product of D, if D is positive. Otherwise both are the largest sum of
/// a row, which no eigenvalue exceeds.
pub(super) fn radius<T: Arithmetic>(matrix: &Csr<T>, diagonal: &[T]) -> (f64, f64) {
    let of_row =
        |row: usize| matrix.row(row).map(|(_, value)| size(value)).sum::<f64>() / size(diagonal[row]);
    let most = (0..matrix.rows()).into_par_iter().map(of_row).reduce(|| 0.0, f64::max);
    let positive = diagonal.iter().all(|value| value.to_complex().re > 0.0 && value.to_complex().im == 0.0);
    if !positive || matrix.rows() == 0 {
        return (most, most);
    }
    let estimate = lanczos(matrix, diagonal).min(most);
    if estimate.is_finite() && estimate > 0.0 { (estimate, most.min(1.1 * estimate)) } else { (most, most) }
}

fn lanczos<T: Arithmetic>(matrix: &Csr<T>, diagonal: &[T]) -> f64 {
    let rows = matrix.rows();
    let d: Vec<f64> = diagonal.iter().map(|value| value.to_complex().re).collect();
    let start = |row: usize| Philox::new(1, 0, row as u64).uniform() - 0.5;
    let mut v: Vec<T> = (0..rows).map(|row| T::from_complex(start(row).into())).collect();
    let mut earlier = vec![T::default(); rows];
    let mut image = vec![T::default(); rows];
    let (mut alphas, mut betas): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let norm = |x: &[T]| x.iter().zip(&d).map(|(x, d)| d * size(*x).powi(2)).sum::<f64>().sqrt();
    let scaled = |x: &mut [T], factor: f64| {
        x.iter_mut().for_each(|x| *x = T::from_complex(x.to_complex() * factor));
    };
    let first = norm(&v);
    scaled(&mut v, 1.0 / first);
    for _ in 0..STEPS.min(rows) {
        matrix.multiply(&v, &mut image);
        let alpha: f64 =
            v.iter().zip(&image).map(|(v, image)| (v.to_complex().conj() * image.to_complex()).re).sum();
        let beta = betas.last().copied().unwrap_or(0.0);
        for row in 0..rows {
            let next: Complex64 = image[row].to_complex() / d[row]
                - v[row].to_complex() * alpha
                - earlier[row].to_complex() * beta;
            image[row] = T::from_complex(next);
        }
        alphas.push(alpha);
        let beta = norm(&image);
        // The Krylov space is used up: the eigenvalues are exact.
        if beta <= 1e-12 * alpha.abs() {
            break;
        }
        betas.push(beta);
        scaled(&mut image, 1.0 / beta);
        std::mem::swap(&mut earlier, &mut v);
        std::mem::swap(&mut v, &mut image);
    }
    largest(&alphas, &betas)
}

/// Returns the largest eigenvalue of a symmetric tridiagonal matrix, by bisection.
fn largest(alphas: &[f64], betas: &[f64]) -> f64 {
    let beta = |k: usize| if k + 1 < alphas.len() { betas[k].abs() } else { 0.0 };
    let reach = |k: usize| beta(k) + if k > 0 { beta(k - 1) } else { 0.0 };
    let mut high = (0..alphas.len()).map(|k| alphas[k] + reach(k)).fold(f64::MIN, f64::max);
    let mut low = alphas.iter().copied().fold(f64::MIN, f64::max);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        // A pivot of T − middle that is positive: an eigenvalue is larger.
        let mut pivot = 1.0;
        let mut is_below = false;
        for k in 0..alphas.len() {
            let last = if k > 0 { beta(k - 1).powi(2) / pivot } else { 0.0 };
            pivot = alphas[k] - middle - last;
            if pivot >= 0.0 {
                is_below = true;
                break;
            }
        }
        if is_below { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_eigenvalue_of_a_chain_is_known() {
        let n = 9;
        let found = largest(&vec![2.0; n], &vec![-1.0; n]);
        let exact = 2.0 + 2.0 * (std::f64::consts::PI / (n + 1) as f64).cos();
        assert!((found - exact).abs() < 1e-12, "{found} {exact}");
        let chain = Csr::from_rows(
            50,
            (0..50_u32).map(|i| {
                let near = [(i.wrapping_sub(1), -1.0), (i, 2.0), (i + 1, -1.0)];
                near.into_iter().filter(|(j, _)| *j < 50).collect::<Vec<_>>()
            }),
        );
        let (estimate, bound) = radius(&chain, &chain.diagonal());
        let exact = 1.0 + (std::f64::consts::PI / 51.0).cos();
        assert!(estimate <= exact && estimate > 0.9 * exact && bound <= 2.0, "{estimate} {bound}");
    }
}
