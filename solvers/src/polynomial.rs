//! A smoother that is a fixed polynomial of the operator: it needs no sums.

use crate::range::{complex_times_power, exponent_beyond, larger, part_size, quotient};
use crate::update::SMOOTHING_STEP;
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};
use num_complex::Complex64;

/// The roots of a residual polynomial.
///
/// The residual after smoothing is Π (1 − A / θ) times the residual before.
///
/// GMRES makes the residual of a vector minimal by this polynomial. The roots are the harmonic Ritz
/// values of its Krylov space (N. M. Nachtigal, L. Reichel and L. N. Trefethen, SIAM J. Matrix
/// Anal. Appl. 13 (1992) 796). They are in the order of Leja, in which products of some of the
/// factors stay small.
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    roots: Vec<Complex64>,
}

/// The size of an image without a new direction, which only rounding leaves.
const NOTHING_NEW: f64 = 1e-5;

/// Largest exponent of the elements of a matrix whose characteristic polynomial is computed as it is.
///
/// Its coefficients are powers of the elements.
const ORDINARY: i32 = 16;

/// Sweeps in which the roots of a polynomial are found at most.
const SWEEPS: usize = 500;

impl Polynomial {
    /// Makes the polynomial with these roots, which are put into their order.
    ///
    /// `None` if a root is zero or not finite, or if there is none.
    pub fn with_roots(mut roots: Vec<Complex64>) -> Option<Self> {
        if roots.is_empty() || !roots.iter().all(is_usable) {
            return None;
        }
        let mut ordered: Vec<Complex64> = Vec::with_capacity(roots.len());
        while !roots.is_empty() {
            // The largest first, then the one with the largest product of distances.
            let weight = |root: &Complex64| -> f64 {
                match &ordered[..] {
                    [] => root.norm(),
                    ordered => ordered.iter().map(|other| (root - other).norm().max(1e-300).ln()).sum(),
                }
            };
            let weights: Vec<f64> = roots.iter().map(weight).collect();
            let best = (0..roots.len()).max_by(|&i, &j| weights[i].total_cmp(&weights[j])).unwrap_or(0);
            ordered.push(roots.swap_remove(best));
        }
        Some(Self { roots: ordered })
    }

    /// Makes the polynomial with these roots, which are in their order.
    ///
    /// `None` as with [`with_roots`](Self::with_roots).
    pub fn with_roots_in_order(roots: Vec<Complex64>) -> Option<Self> {
        let usable = !roots.is_empty() && roots.iter().all(is_usable);
        usable.then_some(Self { roots })
    }

    /// Makes the polynomial of this degree for the residual `start`.
    ///
    /// The degree is smaller if the Krylov space has no more dimensions. `None` if the operator is
    /// singular on the space, or not finite.
    ///
    /// # Errors
    /// Errors of the space.
    pub fn of<A: LinearOperator>(
        a: &A,
        start: &VectorOf<A>,
        degree: usize,
    ) -> Result<Option<Self>, ErrorOf<A>> {
        let space = a.space();
        let mut basis = Vec::with_capacity(degree + 1);
        let mut hessenberg = vec![vec![Complex64::default(); degree]; degree + 1];
        let mut next = space.zero_vector()?;
        space.copy(start, &mut next)?;
        let mut whole = 0.0;
        for column in 0..=degree {
            let [norm2] = space.read([&space.norm2(&next)?])?;
            let norm = norm2.re.sqrt();
            if !norm.is_finite() || (column == 0 && norm == 0.0) {
                return Ok(None);
            }
            if column > 0 && norm <= NOTHING_NEW * whole {
                hessenberg.truncate(column + 1);
                hessenberg.iter_mut().for_each(|row| row.truncate(column));
                break;
            }
            if column > 0 {
                hessenberg[column][column - 1] = norm.into();
            }
            let mut unit = space.zero_vector()?;
            space.axpy(&space.scalar((1.0 / norm).into()), &next, &mut unit)?;
            basis.push(unit);
            if column == degree {
                break;
            }
            a.apply(&basis[column], &mut next)?;
            let [norm2] = space.read([&space.norm2(&next)?])?;
            whole = norm2.re.sqrt();
            // Twice is enough.
            for _ in 0..2 {
                for (row, vector) in basis.iter().enumerate() {
                    let [product] = space.read([&space.dot(vector, &next)?])?;
                    hessenberg[row][column] += product;
                    space.axpy(&space.scalar(-product), vector, &mut next)?;
                }
            }
        }
        Ok(harmonic_ritz_values(&hessenberg).and_then(Self::with_roots))
    }

    /// The roots in their order.
    pub fn roots(&self) -> &[Complex64] {
        &self.roots
    }

    /// Applications of the operator in [`smooth`](Self::smooth).
    pub fn degree(&self) -> usize {
        self.roots.len()
    }

    /// Improves z, whose residual is r, and keeps r the residual of z.
    ///
    /// `image` is overwritten.
    ///
    /// # Errors
    /// Errors of the space.
    pub fn smooth<A: LinearOperator>(
        &self,
        a: &A,
        z: &mut VectorOf<A>,
        r: &mut VectorOf<A>,
        image: &mut VectorOf<A>,
    ) -> Result<Work, ErrorOf<A>> {
        let space = a.space();
        for root in &self.roots {
            a.apply(r, image)?;
            SMOOTHING_STEP.apply(
                space,
                [&space.scalar(quotient(1.0.into(), *root))],
                [&*image],
                [&mut *z, &mut *r],
            )?;
        }
        let mut step = a.work();
        step += SMOOTHING_STEP.work(space);
        Ok(step.times(self.roots.len() as u64))
    }
}

fn is_usable(root: &Complex64) -> bool {
    root.is_finite() && *root != Complex64::ZERO
}

/// Returns the eigenvalues of H + |h|² H⁻† e eᵀ.
///
/// H are the first rows of a Hessenberg matrix. h is the last element of the row below. e is the
/// last unit vector.
fn harmonic_ritz_values(hessenberg: &[Vec<Complex64>]) -> Option<Vec<Complex64>> {
    let n = hessenberg.len() - 1;
    let size = hessenberg.iter().flatten().map(|h| part_size(*h)).fold(0.0, larger);
    let power = exponent_beyond(size, ORDINARY);
    let times =
        |numbers: &[Complex64], power| numbers.iter().map(|z| complex_times_power(*z, power)).collect();
    let hessenberg: Vec<Vec<Complex64>> = hessenberg.iter().map(|row| times(row, -power)).collect();
    let h2 = hessenberg[n][n - 1].norm_sqr();
    let adjoint: Vec<Vec<_>> = (0..n).map(|i| (0..n).map(|j| hessenberg[j][i].conj()).collect()).collect();
    let mut last = vec![Complex64::default(); n];
    last[n - 1] = 1.0.into();
    let f = solve(adjoint, last)?;
    let mut matrix: Vec<Vec<_>> = hessenberg[..n].to_vec();
    for (row, f) in matrix.iter_mut().zip(f) {
        row[n - 1] += f * h2;
    }
    roots(&characteristic_polynomial(&matrix)).map(|roots| times(&roots, power))
}

/// Solves a small system by elimination with pivots.
///
/// `None` if the matrix is singular.
fn solve(mut matrix: Vec<Vec<Complex64>>, mut b: Vec<Complex64>) -> Option<Vec<Complex64>> {
    let n = b.len();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&i, &j| matrix[i][column].norm_sqr().total_cmp(&matrix[j][column].norm_sqr()))?;
        matrix.swap(column, pivot);
        b.swap(column, pivot);
        let inverse = 1.0 / matrix[column][column];
        if !inverse.is_finite() {
            return None;
        }
        for row in column + 1..n {
            let factor = matrix[row][column] * inverse;
            for k in column..n {
                let above = matrix[column][k];
                matrix[row][k] -= factor * above;
            }
            let above = b[column];
            b[row] -= factor * above;
        }
    }
    for row in (0..n).rev() {
        let known: Complex64 = (row + 1..n).map(|k| matrix[row][k] * b[k]).sum();
        b[row] = (b[row] - known) / matrix[row][row];
    }
    Some(b)
}

/// Returns the coefficients of det(λ − A), the coefficient of 1 first.
///
/// The coefficient of λⁿ is 1 and left out. Source: U. J. J. Le Verrier, J. Math. Pures Appl. 5
/// (1840) 220.
fn characteristic_polynomial(a: &[Vec<Complex64>]) -> Vec<Complex64> {
    let n = a.len();
    let mut coefficients = vec![Complex64::default(); n];
    let mut power: Vec<Vec<_>> =
        (0..n).map(|i| (0..n).map(|j| Complex64::from(f64::from(u8::from(i == j)))).collect()).collect();
    for k in 1..=n {
        let product: Vec<Vec<Complex64>> =
            (0..n).map(|i| (0..n).map(|j| (0..n).map(|l| a[i][l] * power[l][j]).sum()).collect()).collect();
        let trace: Complex64 = (0..n).map(|i| product[i][i]).sum();
        coefficients[n - k] = -trace / k as f64;
        power = product;
        (0..n).for_each(|i| power[i][i] += coefficients[n - k]);
    }
    coefficients
}

/// Returns the roots of a polynomial with leading coefficient 1, all at once.
///
/// Sources: E. Durand 1960; I. O. Kerner, Numer. Math. 8 (1966) 290.
fn roots(coefficients: &[Complex64]) -> Option<Vec<Complex64>> {
    let value = |z: Complex64| {
        coefficients.iter().rev().fold(Complex64::new(1.0, 0.0), |value, coefficient| value * z + coefficient)
    };
    // Within this circle all of them are.
    let radius = 1.0 + coefficients.iter().map(|c| c.norm()).fold(0.0, f64::max);
    let begin = |k: usize| Complex64::from_polar(radius.min(2.0), 0.4 + k as f64 * 2.4);
    let mut roots: Vec<Complex64> = (0..coefficients.len()).map(begin).collect();
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f64;
        for k in 0..roots.len() {
            let others: Complex64 = roots
                .iter()
                .enumerate()
                .filter(|(l, _)| *l != k)
                .map(|(_, other)| roots[k] - other)
                .product();
            let step = value(roots[k]) / others;
            if !step.is_finite() {
                return None;
            }
            roots[k] -= step;
            moved = moved.max(step.norm() / roots[k].norm());
        }
        if moved < 1e-12 {
            break;
        }
    }
    Some(roots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec::from_fn;

    /// With the eigenvalues 1, 2 and 4 a polynomial of degree 3 leaves nothing.
    #[test]
    fn roots_are_the_eigenvalues_where_there_are_so_few() {
        let eigenvalues = [Complex64::new(1.0, 0.5), Complex64::new(2.0, 0.0), Complex64::new(4.0, -1.0)];
        let a = from_fn(6, move |x: &[Complex64], out: &mut [Complex64]| {
            out.iter_mut().zip(x).enumerate().for_each(|(k, (out, x))| *out = eigenvalues[k % 3] * x);
        });
        let start: Vec<Complex64> = (0..6).map(|k| Complex64::new(1.0, k as f64)).collect();
        for degree in [3, 5] {
            let polynomial = Polynomial::of(&a, &start, degree).unwrap().unwrap();
            assert_eq!(polynomial.degree(), 3);
            for eigenvalue in eigenvalues {
                let nearest =
                    polynomial.roots().iter().map(|root| (root - eigenvalue).norm()).fold(1.0, f64::min);
                assert!(nearest < 1e-8, "{polynomial:?}");
            }
        }
    }

    #[test]
    fn smoothing_is_what_gmres_does_to_its_own_residual() {
        let diagonal = |k: usize| Complex64::new(0.3 + 0.2 * k as f64, 0.1 * (k % 5) as f64);
        let a = from_fn(40, move |x: &[Complex64], out: &mut [Complex64]| {
            out.iter_mut().zip(x).enumerate().for_each(|(k, (out, x))| *out = diagonal(k) * x);
        });
        let start = vec![Complex64::new(1.0, 0.0); 40];
        let polynomial = Polynomial::of(&a, &start, 5).unwrap().unwrap();
        let (mut z, mut r, mut image) = (vec![Complex64::default(); 40], start.clone(), start.clone());
        polynomial.smooth(&a, &mut z, &mut r, &mut image).unwrap();
        // r = start − A z, and the first step of GMRES(5) gives the same norm.
        let norm = |x: &[Complex64]| x.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        for (k, r) in r.iter().enumerate() {
            assert!((start[k] - diagonal(k) * z[k] - r).norm() < 1e-12);
        }
        let stopping = crate::Stopping { max_iterations: 5, tolerance: 1e-14, ..Default::default() };
        let options = crate::GcrOptions { stopping, ..Default::default() };
        let Err(crate::SolverError::NotConverged { info, .. }) =
            crate::gcr(&a, &start, None, &options, None, None)
        else {
            panic!("five steps are too few")
        };
        let gmres = info.residual.iterated * norm(&start);
        assert!((norm(&r) - gmres).abs() < 1e-9 * gmres, "{} and {gmres}", norm(&r));
    }
}
