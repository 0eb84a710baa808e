//! The largest eigenvalue of D⁻¹A.

use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::matrix::Placed;
use crate::sparse::vector::Vector;
use lattice_compute::parallel::*;
use lattice_compute::philox::Philox;
use lattice_solvers::{LinearOperator, VectorSpace};
use num_complex::Complex64;

/// Number of steps of Lanczos' method.
///
/// After them the largest eigenvalue is known to a few per cent.
const STEPS: usize = 12;

/// Estimates are rounded to multiples of this part of themselves.
///
/// So they are the same wherever sums have another order.
const RESOLUTION: f64 = 1.0 / 1024.0;

/// Returns an estimate of the largest |λ| of D⁻¹A, and a bound for smoothers.
///
/// `scaled` is D⁻¹A and `weights` is D. `most` is the largest sum of a row, which no eigenvalue
/// exceeds. If D is positive, Lanczos' method in its inner product estimates. Otherwise both are
/// `most`.
pub(super) fn radius<T: Arithmetic>(
    scaled: &Placed<T>,
    weights: &Placed<T>,
    most: f64,
    is_positive: bool,
) -> BlasResult<(f64, f64)> {
    if !is_positive || scaled.rows() == 0 {
        return Ok((most, most));
    }
    let estimate = rounded(lanczos(scaled, weights)?).min(most);
    let usable = estimate.is_finite() && estimate > 0.0;
    Ok(if usable { (estimate, most.min(1.1 * estimate)) } else { (most, most) })
}

fn rounded(estimate: f64) -> f64 {
    let unit = RESOLUTION * estimate.abs().log2().floor().exp2();
    (estimate / unit).round() * unit
}

fn lanczos<T: Arithmetic>(scaled: &Placed<T>, weights: &Placed<T>) -> BlasResult<f64> {
    let (space, rows) = (scaled.space(), scaled.rows());
    let real = |value: f64| space.scalar(Complex64::from(value));
    let start = |row: usize| T::from_complex((Philox::new(1, 0, row as u64).uniform() - 0.5).into());
    let start: Vec<T> = (0..rows).into_par_iter().map(start).collect();
    let mut v = Vector::from_slice(space.place(), &start)?;
    let (zero, mut earlier) = (space.zero_vector()?, space.zero_vector()?);
    let (mut image, mut weighed) = (space.zero_vector()?, space.zero_vector()?);
    let (mut alphas, mut betas): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let norm = |x: &Vector<T>, weighed: &mut Vector<T>| -> BlasResult<f64> {
        weights.apply(x, weighed)?;
        let [square] = space.read([&space.dot(x, weighed)?])?;
        Ok(square.re.sqrt())
    };
    let first = real(1.0 / norm(&v, &mut weighed)?);
    space.xpby(&zero, &first, &mut v)?;
    space.xpby(&zero, &first, &mut weighed)?;
    for _ in 0..STEPS.min(rows) {
        scaled.apply(&v, &mut image)?;
        let [alpha] = space.read([&space.dot(&weighed, &image)?])?;
        let alpha = alpha.re;
        space.axpy(&real(-alpha), &v, &mut image)?;
        space.axpy(&real(-betas.last().copied().unwrap_or(0.0)), &earlier, &mut image)?;
        alphas.push(alpha);
        let beta = norm(&image, &mut weighed)?;
        // The Krylov space is used up, and the eigenvalues are exact, or something is not finite.
        let goes_on = beta > 1e-12 * alpha.abs();
        if !goes_on {
            break;
        }
        betas.push(beta);
        space.xpby(&zero, &real(1.0 / beta), &mut image)?;
        space.xpby(&zero, &real(1.0 / beta), &mut weighed)?;
        std::mem::swap(&mut earlier, &mut v);
        std::mem::swap(&mut v, &mut image);
    }
    Ok(largest(&alphas, &betas))
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
    use crate::sparse::csr::Csr;
    use crate::sparse::processor::Processor;

    #[test]
    fn the_largest_eigenvalue_of_a_chain_is_known() {
        let n = 9;
        let found = largest(&vec![2.0; n], &vec![-1.0; n]);
        let exact = 2.0 + 2.0 * (std::f64::consts::PI / (n + 1) as f64).cos();
        assert!((found - exact).abs() < 1e-12, "{found} {exact}");
        let chain = Csr::from_rows(
            50,
            (0..50_u32).map(|i| {
                let near = [(i.wrapping_sub(1), -0.5), (i, 1.0), (i + 1, -0.5)];
                near.into_iter().filter(|(j, _)| *j < 50).collect::<Vec<_>>()
            }),
        );
        let scaled = Placed::new(&Processor::Host, &chain.into(), crate::sparse::Format::Csr, false).unwrap();
        let weights = Placed::diagonal(&Processor::Host, vec![2.0; 50]).unwrap();
        let (estimate, bound) = radius(&scaled, &weights, 2.0, true).unwrap();
        let exact = 1.0 + (std::f64::consts::PI / 51.0).cos();
        assert!(estimate <= 1.001 * exact && estimate > 0.9 * exact && bound <= 2.0, "{estimate} {bound}");
        assert_eq!(radius(&scaled, &weights, 2.0, false).unwrap(), (2.0, 2.0));
    }

    #[test]
    fn estimates_are_rounded_to_a_thousandth() {
        for x in [1.0, 1.9, 2.0, 3.3e-5, 7.7e20] {
            assert!((rounded(x) / x - 1.0).abs() < 1e-3);
            assert_eq!(rounded(rounded(x) * (1.0 + 1e-12)), rounded(x));
        }
    }
}
