//! Small complex matrices, for products between the columns of a block.

use crate::range::{complex_times_power, exponent, larger, part_size, times_power};
use num_complex::Complex64;
use std::ops::{Index, IndexMut, Mul};

/// An N × N matrix of complex numbers on the host.
///
/// Products, factors and inverses are written with `fma`, so that no compiler has a choice. Devices
/// compute the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct SquareMatrix {
    size: usize,
    /// The elements, row after row.
    elements: Vec<Complex64>,
}

/// The factors of G = S†S with an upper triangular S.
///
/// G is Hermitian and not negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Cholesky {
    /// The factor S.
    ///
    /// A column of G that depends on the columns before it has a row of zeros.
    pub factor: SquareMatrix,
    /// The inverse of S on the independent columns.
    ///
    /// Dependent columns have rows and columns of zeros.
    pub inverse: SquareMatrix,
    /// Share of each column that is independent of the columns before it.
    ///
    /// The share is |S_jj|² / G_jj, and 0 if it cannot be told from rounding.
    pub independent: Vec<f64>,
    /// The part of each diagonal element that the columns before leave: |S_jj|², or rounding.
    pub rests: Vec<f64>,
}

impl SquareMatrix {
    /// Makes the matrix with the elements `f(row, column)`.
    pub fn from_fn(size: usize, mut f: impl FnMut(usize, usize) -> Complex64) -> Self {
        let elements = (0..size * size).map(|k| f(k / size, k % size)).collect();
        Self { size, elements }
    }

    /// Makes the matrix 0.
    pub fn zero(size: usize) -> Self {
        Self { size, elements: vec![Complex64::default(); size * size] }
    }

    /// Makes the matrix 1.
    pub fn identity(size: usize) -> Self {
        Self::from_fn(size, |i, j| if i == j { 1.0.into() } else { 0.0.into() })
    }

    /// Returns the size N.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns all elements, row after row.
    pub fn elements(&self) -> &[Complex64] {
        &self.elements
    }

    /// Returns the Hermitian conjugate.
    pub fn adjoint(&self) -> Self {
        Self::from_fn(self.size, |i, j| self[(j, i)].conj())
    }

    /// Returns `true` if all elements are finite.
    pub fn is_finite(&self) -> bool {
        self.elements.iter().all(|z| z.is_finite())
    }

    /// Returns the Euclidean norm of each column.
    pub fn column_norms(&self) -> Vec<f64> {
        let norm = |j| {
            let column = (0..self.size).map(|i| self[(i, j)]);
            let power = exponent(column.clone().map(part_size).fold(0.0, larger));
            let norm2 = column.fold(0.0, |sum, z| {
                let Complex64 { re, im } = complex_times_power(z, -power);
                re.mul_add(re, im.mul_add(im, sum))
            });
            times_power(f64::sqrt(norm2), power)
        };
        (0..self.size).map(norm).collect()
    }

    /// Returns the norms of the columns of X, if this matrix is X†X.
    pub fn norms_of_gram(&self) -> Vec<f64> {
        (0..self.size).map(|j| self[(j, j)].re.sqrt()).collect()
    }

    /// Returns the Cholesky factors of this Hermitian matrix.
    ///
    /// Only the upper triangle is looked at. A column counts as dependent if the columns before it
    /// leave no more than `tolerance` of its diagonal element independent.
    pub fn cholesky(&self, tolerance: f64) -> Cholesky {
        let size = self.size;
        let mut factor = Self::zero(size);
        let (mut independent, mut rests) = (vec![0.0; size], vec![0.0; size]);
        for j in 0..size {
            for i in 0..=j {
                if i < j && independent[i] == 0.0 {
                    continue;
                }
                let before = (0..i).filter(|&k| independent[k] > 0.0);
                let rest = before.fold(self[(i, j)], |rest, k| {
                    subtract_product(rest, factor[(k, i)].conj(), factor[(k, j)])
                });
                if i < j {
                    factor[(i, j)] = rest / factor[(i, i)].re;
                    continue;
                }
                rests[j] = rest.re;
                // Written so that a NaN counts as dependent.
                let diagonal = self[(j, j)].re;
                if diagonal > 0.0 && rest.re > tolerance * diagonal {
                    independent[j] = rest.re / diagonal;
                    factor[(j, j)] = rest.re.sqrt().into();
                }
            }
        }
        let inverse = factor.triangular_inverse();
        Cholesky { factor, inverse, independent, rests }
    }

    /// Returns the inverse of this upper triangular matrix.
    ///
    /// The inverse is on the rows and columns whose diagonal element is not zero. Other elements
    /// are zero.
    pub fn triangular_inverse(&self) -> Self {
        let there = |i: &usize| self[(*i, *i)] != Complex64::default();
        let mut inverse = Self::zero(self.size);
        for i in (0..self.size).filter(there) {
            inverse[(i, i)] = quotient(1.0.into(), self[(i, i)]);
            for j in (i + 1..self.size).filter(there) {
                let before = (i..j).filter(there);
                let sum = before.fold(Complex64::default(), |sum, k| {
                    subtract_product(sum, inverse[(i, k)], self[(k, j)])
                });
                inverse[(i, j)] = quotient(sum, self[(j, j)]);
            }
        }
        inverse
    }
}

/// Returns sum + a b.
fn add_product(sum: Complex64, a: Complex64, b: Complex64) -> Complex64 {
    let re = a.re.mul_add(b.re, (-a.im).mul_add(b.im, sum.re));
    Complex64::new(re, a.re.mul_add(b.im, a.im.mul_add(b.re, sum.im)))
}

/// Returns sum − a b.
fn subtract_product(sum: Complex64, a: Complex64, b: Complex64) -> Complex64 {
    add_product(sum, -a, b)
}

/// Returns n / d. Devices divide by real numbers only.
fn quotient(n: Complex64, d: Complex64) -> Complex64 {
    if d.im == 0.0 { n / d.re } else { crate::range::quotient(n, d) }
}

impl Cholesky {
    /// Returns the inverse of G = S†S on the independent columns.
    pub fn inverse_of_product(&self) -> SquareMatrix {
        &self.inverse * &self.inverse.adjoint()
    }
}

impl Mul for &SquareMatrix {
    type Output = SquareMatrix;

    fn mul(self, other: Self) -> SquareMatrix {
        assert_eq!(self.size, other.size, "sizes of matrices");
        SquareMatrix::from_fn(self.size, |i, j| {
            (0..self.size).fold(Complex64::default(), |sum, k| add_product(sum, self[(i, k)], other[(k, j)]))
        })
    }
}

impl Index<(usize, usize)> for SquareMatrix {
    type Output = Complex64;

    fn index(&self, (row, column): (usize, usize)) -> &Complex64 {
        &self.elements[row * self.size + column]
    }
}

impl IndexMut<(usize, usize)> for SquareMatrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut Complex64 {
        &mut self.elements[row * self.size + column]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern.
    fn sample(size: usize) -> SquareMatrix {
        SquareMatrix::from_fn(size, |i, j| {
            let k = (size * i + j + 1) as f64;
            Complex64::new((1.3 * k * k).sin(), (0.7 * k).cos())
        })
    }

    fn distance(a: &SquareMatrix, b: &SquareMatrix) -> f64 {
        a.elements().iter().zip(b.elements()).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
    }

    #[test]
    fn a_positive_matrix_is_the_product_of_its_factors() {
        for size in [1, 2, 7, 12] {
            let a = sample(size);
            let gram = &a.adjoint() * &a;
            let cholesky = gram.cholesky(1e-14);
            let Cholesky { factor, inverse, independent, .. } = &cholesky;
            assert!(independent.iter().all(|&share| share > 0.0 && share <= 1.0), "{independent:?}");
            assert!((0..size).all(|i| (0..i).all(|j| factor[(i, j)] == Complex64::default())));
            assert!(distance(&(&factor.adjoint() * factor), &gram) < 1e-12);
            assert!(distance(&(factor * inverse), &SquareMatrix::identity(size)) < 1e-9);
            let inverse_of_product = cholesky.inverse_of_product();
            assert!(distance(&(&inverse_of_product * &gram), &SquareMatrix::identity(size)) < 1e-8);
        }
    }

    #[test]
    fn dependent_columns_are_left_out() {
        let mut a = sample(6);
        for i in 0..6 {
            a[(i, 0)] = Complex64::default();
            a[(i, 3)] = a[(i, 1)] * Complex64::i();
            a[(i, 4)] = a[(i, 1)] - a[(i, 2)] * 2.0;
        }
        let gram = &a.adjoint() * &a;
        let Cholesky { factor, inverse, independent, .. } = gram.cholesky(1e-13);
        let kept: Vec<bool> = independent.iter().map(|&share| share > 0.0).collect();
        assert_eq!(kept, [false, true, true, false, false, true]);
        assert!(distance(&(&factor.adjoint() * &factor), &gram) < 1e-12);
        let projection = SquareMatrix::from_fn(6, |i, j| f64::from(u8::from(i == j && kept[i])).into());
        assert!(distance(&(&(&factor * &inverse) * &projection), &projection) < 1e-12);
    }

    #[test]
    fn what_is_not_a_number_is_noticed() {
        let mut gram = SquareMatrix::identity(3);
        gram[(1, 1)] = f64::NAN.into();
        assert!(!gram.is_finite());
        assert_eq!(gram.cholesky(1e-14).independent, [1.0, 0.0, 1.0]);
    }

    #[test]
    fn norms_are_those_of_columns() {
        let a = SquareMatrix::from_fn(2, |i, j| Complex64::new(3.0 * i as f64, 4.0 * (i * j) as f64));
        assert_eq!(a.column_norms(), [3.0, 5.0]);
    }
}
