//! Eigenvalues and eigenvectors of small Hermitian matrices, on the host.

use crate::SquareMatrix;
use crate::range::{complex_times_power, exponent, larger, part_size, quotient, times_power};
use num_complex::Complex64;

/// Most steps of QL, as a multiple of the number of eigenvalues. Two are usual.
///
/// In a matrix with numbers of very different size the shift drowns in the large ones. The first
/// eigenvalues then take many steps, and the others few.
const STEPS: usize = 30;

/// The eigenvalues of a Hermitian matrix with its eigenvectors.
#[derive(Clone, Debug, PartialEq)]
pub struct HermitianEigen {
    /// The eigenvalues, the lowest first.
    pub values: Vec<f64>,
    /// The eigenvectors, which are columns. They are orthonormal.
    pub vectors: SquareMatrix,
}

/// The steps of QL for an eigenvalue were not enough, or a number is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("eigenvalue {index} of a tridiagonal matrix was not found; are all its numbers finite?")]
pub struct NoEigenvalue {
    /// The index of the eigenvalue, in the order of the diagonal.
    pub index: usize,
}

impl SquareMatrix {
    /// Returns the eigenvalues and eigenvectors of this Hermitian matrix.
    ///
    /// Householder reflections make the matrix tridiagonal, as LAPACK's `zhetd2` does, and
    /// [`tridiagonal_eigen`] follows. Only the lower triangle is looked at.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn hermitian_eigen(&self) -> Result<HermitianEigen, NoEigenvalue> {
        let Tridiagonal { mut diagonal, mut beside, reflections, power } = Tridiagonal::of(self);
        let n = self.size();
        let mut rows = identity(n);
        tridiagonal_eigen(&mut diagonal, &mut beside, &mut rows)?;
        diagonal.iter_mut().for_each(|value| *value = times_power(*value, power));
        // Row k of `rows` is an eigenvector of the tridiagonal matrix. A = H₀ H₁ … T … H₁† H₀†.
        let mut vectors = SquareMatrix::from_fn(n, |i, j| rows[j][i].into());
        for (k, reflection) in reflections.iter().enumerate().rev() {
            reflection.apply(&mut vectors, k + 1);
        }
        Ok(HermitianEigen { values: diagonal, vectors })
    }

    /// Returns the eigenvalues alone, the lowest first.
    ///
    /// # Errors
    /// The errors of [`hermitian_eigen`](Self::hermitian_eigen).
    pub fn hermitian_eigenvalues(&self) -> Result<Vec<f64>, NoEigenvalue> {
        let Tridiagonal { mut diagonal, mut beside, power, .. } = Tridiagonal::of(self);
        tridiagonal_eigen(&mut diagonal, &mut beside, &mut [])?;
        Ok(diagonal.into_iter().map(|value| times_power(value, power)).collect())
    }
}

/// A Hermitian matrix times 2⁻ᵖ that reflections have made real and tridiagonal.
struct Tridiagonal {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    reflections: Vec<Reflection>,
    power: i32,
}

impl Tridiagonal {
    fn of(matrix: &SquareMatrix) -> Self {
        let n = matrix.size();
        let element = |i, j| if i >= j { matrix[(i, j)] } else { matrix[(j, i)].conj() };
        let lower = (0..n).flat_map(|i| (0..=i).map(move |j| matrix[(i, j)]));
        let power = exponent(lower.map(part_size).fold(0.0, larger));
        let mut a = SquareMatrix::from_fn(n, |i, j| complex_times_power(element(i, j), -power));
        let reflections: Vec<_> = (0..n.saturating_sub(1)).map(|k| Reflection::of(&mut a, k)).collect();
        let mut beside: Vec<f64> = reflections.iter().map(|reflection| reflection.beta).collect();
        beside.resize(n, 0.0);
        Self { diagonal: (0..n).map(|k| a[(k, k)].re).collect(), beside, reflections, power }
    }
}

/// A reflection H = 1 − τ v v† with H† x = β e₁.
struct Reflection {
    v: Vec<Complex64>,
    tau: Complex64,
    beta: f64,
}

impl Reflection {
    /// Makes column k of a Hermitian matrix zero below the element under its diagonal.
    ///
    /// The rest of the matrix becomes H† A H.
    fn of(a: &mut SquareMatrix, k: usize) -> Self {
        let n = a.size();
        let first = k + 1;
        let mut v: Vec<Complex64> = (first..n).map(|i| a[(i, k)]).collect();
        let alpha = v[0];
        // In units of the largest number no square overflows, and those that count do not underflow.
        let largest = v.iter().map(|x| part_size(*x)).fold(0.0, larger);
        let below = v[1..].iter().any(|x| *x != Complex64::ZERO);
        if largest == 0.0 || (!below && alpha.im == 0.0) {
            return Self { v: Vec::new(), tau: Complex64::ZERO, beta: alpha.re };
        }
        let norm = largest * v.iter().map(|x| (x / largest).norm_sqr()).sum::<f64>().sqrt();
        let beta = if alpha.re > 0.0 { -norm } else { norm };
        let tau = (beta - alpha) / beta;
        let divisor = alpha - beta;
        if exponent(part_size(divisor)) == 0 {
            let scale = 1.0 / divisor;
            v[1..].iter_mut().for_each(|x| *x *= scale);
        } else {
            // The inverse of a denormal number is out of range. Rounding of a matrix of small rank ends there.
            v[1..].iter_mut().for_each(|x| *x = quotient(*x, divisor));
        }
        v[0] = 1.0.into();
        // w = τ A v − ½ |τ|² (v†A v) v, and A − v w† − w v†.
        let size = v.len();
        let mut w: Vec<Complex64> = (0..size)
            .map(|i| tau * (0..size).map(|j| a[(first + i, first + j)] * v[j]).sum::<Complex64>())
            .collect();
        let share: Complex64 = -0.5 * tau * w.iter().zip(&v).map(|(w, v)| w.conj() * v).sum::<Complex64>();
        w.iter_mut().zip(&v).for_each(|(w, v)| *w += share * v);
        for i in 0..size {
            for j in 0..size {
                a[(first + i, first + j)] -= v[i] * w[j].conj() + w[i] * v[j].conj();
            }
        }
        Self { v, tau, beta }
    }

    /// Multiplies the rows from `first` on by H.
    fn apply(&self, matrix: &mut SquareMatrix, first: usize) {
        for j in 0..matrix.size() {
            let share: Complex64 = self.tau
                * self
                    .v
                    .iter()
                    .enumerate()
                    .map(|(i, v)| v.conj() * matrix[(first + i, j)])
                    .sum::<Complex64>();
            self.v.iter().enumerate().for_each(|(i, v)| matrix[(first + i, j)] -= v * share);
        }
    }
}

fn identity(n: usize) -> Vec<Vec<f64>> {
    (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect()
}

/// Computes the eigenvalues of a real symmetric tridiagonal matrix by implicit QL.
///
/// The lowest comes first. `beside` has the elements beside the diagonal. Its last element is not
/// used, and all are overwritten. `vectors` are rotated with the matrix. If they begin as unit
/// vectors, vector k ends as the eigenvector of eigenvalue k. They may be empty. Source: H. Bowdler, R. S. Martin,
/// C. Reinsch and J. H. Wilkinson, Numer. Math. 11 (1968) 293.
///
/// # Errors
/// If a number is not finite.
///
/// # Panics
/// If `beside` is shorter than `diagonal`, or if there are some vectors, but not as many as
/// eigenvalues.
pub fn tridiagonal_eigen(
    diagonal: &mut [f64],
    beside: &mut [f64],
    vectors: &mut [Vec<f64>],
) -> Result<(), NoEigenvalue> {
    let n = diagonal.len();
    assert!(beside.len() >= n, "elements beside a diagonal");
    assert!(vectors.is_empty() || vectors.len() == n, "vectors of a tridiagonal matrix");
    let (d, e) = (diagonal, beside);
    if let Some(last) = e.get_mut(n.wrapping_sub(1)) {
        *last = 0.0;
    }
    let power = exponent(d.iter().chain(&e[..n]).map(|x| x.abs()).fold(0.0, larger));
    d.iter_mut().chain(&mut e[..n]).for_each(|x| *x = times_power(*x, -power));
    let mut steps = 0;
    for l in 0..n {
        let first = steps;
        loop {
            let negligible = |k: &usize| {
                let k = *k;
                k + 1 == n
                    || e[k].abs() <= f64::EPSILON * d[k].abs().sqrt() * d[k + 1].abs().sqrt()
                    || e[k].abs() < f64::MIN_POSITIVE
            };
            let m = (l..n).find(negligible).unwrap_or(n - 1);
            if m == l {
                break;
            }
            // QL finds the eigenvalues of a graded matrix if it begins at the small end.
            if steps == first && d[m].abs() < d[l].abs() {
                d[l..=m].reverse();
                e[l..m].reverse();
                if !vectors.is_empty() {
                    vectors[l..=m].reverse();
                }
            }
            steps += 1;
            if steps > STEPS * n {
                return Err(NoEigenvalue { index: l });
            }
            let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let r = g.hypot(1.0);
            g = d[m] - d[l] + e[l] / (g + r.copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut underflow = false;
            for i in (l..m).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    underflow = true;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = d[i + 1] - p;
                let r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                if !vectors.is_empty() {
                    let (low, high) = vectors.split_at_mut(i + 1);
                    rotate(&mut low[i], &mut high[0], s, c);
                }
            }
            if !underflow {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
        }
        if !d[l].is_finite() {
            return Err(NoEigenvalue { index: l });
        }
    }
    d.iter_mut().for_each(|x| *x = times_power(*x, power));
    // By insertion: few are out of order.
    for k in 1..n {
        let mut j = k;
        while j > 0 && d[j] < d[j - 1] {
            d.swap(j, j - 1);
            if !vectors.is_empty() {
                vectors.swap(j, j - 1);
            }
            j -= 1;
        }
    }
    Ok(())
}

fn rotate(x: &mut [f64], y: &mut [f64], s: f64, c: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        let f = *y;
        *y = s * *x + c * f;
        *x = c * *x - s * f;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: &SquareMatrix) -> Vec<f64> {
        let n = a.size();
        let HermitianEigen { values, vectors } = a.hermitian_eigen().unwrap();
        let size = values.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
        let alone = a.hermitian_eigenvalues().unwrap();
        assert!(alone.iter().zip(&values).all(|(x, y)| (x - y).abs() <= 1e-14 * n as f64 * size));
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
        let scale = a.elements().iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        let image = a * &vectors;
        let gram = &vectors.adjoint() * &vectors;
        for i in 0..n {
            for j in 0..n {
                let difference = (image[(i, j)] - vectors[(i, j)] * values[j]).norm();
                assert!(difference <= 1e-14 * n as f64 * scale, "{n}: {difference:e}");
                let unit = f64::from(u8::from(i == j));
                assert!((gram[(i, j)] - unit).norm() < 1e-14 * n as f64);
            }
        }
        values
    }

    #[test]
    fn eigenvectors_of_every_size_are_orthonormal() {
        for n in [0, 1, 2, 3, 7, 24] {
            let element = |i: usize, j: usize| {
                let k = (i * 31 + j * 17 + 5) as f64;
                Complex64::new((1.7 * k * k).sin(), (0.9 * k).cos())
            };
            check(&SquareMatrix::from_fn(n, |i, j| {
                if i == j { element(i, j).re.into() } else { element(i, j) + element(j, i).conj() }
            }));
        }
    }

    #[test]
    fn the_second_difference_has_its_known_eigenvalues() {
        let n = 19;
        let a = SquareMatrix::from_fn(n, |i, j| match i.abs_diff(j) {
            0 => 2.0.into(),
            1 => Complex64::new(0.0, if i > j { 1.0 } else { -1.0 }),
            _ => Complex64::ZERO,
        });
        for (k, value) in check(&a).iter().enumerate() {
            let angle = std::f64::consts::PI * (k + 1) as f64 / (2 * (n + 1)) as f64;
            assert!((value - 4.0 * angle.sin().powi(2)).abs() < 1e-14, "{k}: {value}");
        }
    }

    #[test]
    fn matrices_without_anything_beside_the_diagonal_are_sorted() {
        let values = check(&SquareMatrix::from_fn(5, |i, j| {
            if i == j { [3.0, -1.0, 3.0, 0.0, 1e-300][i].into() } else { Complex64::ZERO }
        }));
        assert_eq!(values, [-1.0, 0.0, 1e-300, 3.0, 3.0]);
    }

    #[test]
    fn graded_matrices_are_solved_in_both_directions() {
        let graded = |k: f64| 10.0_f64.powf(-k / 9.0);
        for n in [64, 131, 300] {
            let size = |i: usize, j: usize| graded(i.min(j) as f64) * if i == j { 1.0 } else { 0.3 };
            let diagonal: Vec<f64> = (0..n).map(|k| size(k, k)).collect();
            let beside: Vec<f64> = (0..n).map(|k| size(k, k + 1)).collect();
            let (mut turned, mut turned_beside) = (diagonal.clone(), beside[..n - 1].to_vec());
            turned.reverse();
            turned_beside.reverse();
            turned_beside.push(0.0);
            let (mut values, mut rest, mut vectors) = (diagonal.clone(), beside.clone(), identity(n));
            tridiagonal_eigen(&mut values, &mut rest, &mut vectors).unwrap();
            tridiagonal_eigen(&mut turned, &mut turned_beside, &mut []).unwrap();
            assert!(values.iter().zip(&turned).all(|(x, y)| (x - y).abs() < 1e-13), "{n}");
            for (value, x) in values.iter().zip(&vectors) {
                for i in 0..n {
                    let before = if i > 0 { beside[i - 1] * x[i - 1] } else { 0.0 };
                    let after = if i + 1 < n { beside[i] * x[i + 1] } else { 0.0 };
                    assert!((before + diagonal[i] * x[i] + after - value * x[i]).abs() < 1e-13, "{n}");
                }
            }
        }
    }

    #[test]
    fn numbers_whose_products_are_out_of_range_are_no_obstacle() {
        let n = 131;
        let (mut values, mut tiny) = ((0..n).map(f64::from).collect::<Vec<_>>(), vec![1e-200; n as usize]);
        let mut expected = values.clone();
        values.iter_mut().for_each(|value| *value *= 1e-200);
        tridiagonal_eigen(&mut values, &mut tiny, &mut []).unwrap();
        tridiagonal_eigen(&mut expected, &mut vec![1.0; n as usize], &mut []).unwrap();
        assert!(values.iter().zip(&expected).all(|(x, y)| (1e200 * x - y).abs() < 1e-12 * f64::from(n)));
    }

    #[test]
    fn matrices_of_small_rank_have_eigenvalues() {
        for n in [2, 7, 24, 33, 90] {
            for (element, rank) in [(1.0, 1), (0.1, 1), (1e-300, 1), (0.0, 0)] {
                let a = SquareMatrix::from_fn(n, |_, _| element.into());
                for values in [a.hermitian_eigen().unwrap().values, a.hermitian_eigenvalues().unwrap()] {
                    let size = n as f64 * element;
                    let zeros = &values[..n - rank];
                    assert!(zeros.iter().all(|value| value.abs() <= 1e-13 * size), "{n}: {values:?}");
                    assert!((values[n - 1] - size).abs() <= 1e-13 * size, "{n}: {values:?}");
                }
            }
            let sums = check(&SquareMatrix::from_fn(n, |i, j| ((i + j) as f64).into()));
            let others = sums.iter().filter(|value| value.abs() > 1e-12 * sums[n - 1]).count();
            assert_eq!(others, 2, "{n}: {sums:?}");
        }
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        let mut a = SquareMatrix::identity(4);
        a[(2, 1)] = f64::NAN.into();
        assert!(a.hermitian_eigen().is_err());
    }
}
