//! Complex 3×3 matrices: the links of a gauge field.

use crate::scalar::Real;
use num_complex::Complex;
use std::ops::{Add, Mul, Sub};

/// A complex 3×3 matrix, `m.0[row][column]`.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Matrix3<T>(pub [[Complex<T>; 3]; 3]);

impl<T: Real> Matrix3<T> {
    /// Makes the matrix with entries `f(row, column)`.
    pub fn from_fn(mut f: impl FnMut(usize, usize) -> Complex<T>) -> Self {
        Self(std::array::from_fn(|i| std::array::from_fn(|j| f(i, j))))
    }

    /// Returns the zero matrix.
    pub fn zero() -> Self {
        Self::default()
    }

    /// Returns the unit matrix.
    pub fn identity() -> Self {
        Self::from_fn(|i, j| if i == j { Complex::new(T::one(), T::zero()) } else { Complex::default() })
    }

    /// Returns the conjugate transpose.
    pub fn adjoint(&self) -> Self {
        Self::from_fn(|i, j| self.0[j][i].conj())
    }

    /// Returns the sum of the diagonal.
    pub fn trace(&self) -> Complex<T> {
        self.0[0][0] + self.0[1][1] + self.0[2][2]
    }

    /// Returns the determinant.
    pub fn determinant(&self) -> Complex<T> {
        let m = &self.0;
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    }

    /// Returns the determinant of a unitary matrix whose determinant is 1 or −1.
    ///
    /// `None` for another matrix. Deviations below 0.1 count as rounding.
    pub fn determinant_sign(&self) -> Option<f64> {
        const LIMIT: f64 = 0.1;
        let determinant = self.determinant();
        let [re, im] = [determinant.re, determinant.im].map(Real::to_f64);
        let near = |sign: &f64| (re - sign).hypot(im) < LIMIT;
        let sign = [1.0, -1.0].into_iter().find(near)?;
        (self.unitarity_deviation().to_f64() < LIMIT).then_some(sign)
    }

    /// Multiplies every entry by a real number.
    pub fn scale(&self, factor: T) -> Self {
        Self::from_fn(|i, j| self.0[i][j] * factor)
    }

    /// Returns the largest |entry| of the difference of two matrices.
    pub fn max_difference(&self, other: &Self) -> T {
        let mut largest = LargestModulus(T::zero());
        for i in 0..3 {
            for j in 0..3 {
                largest.add(self.0[i][j] - other.0[i][j]);
            }
        }
        largest.0
    }

    /// Returns the largest |entry| of U U† − 1.
    pub fn unitarity_deviation(&self) -> T {
        // U U† is Hermitian: one half has all moduli.
        let mut largest = LargestModulus(T::zero());
        for i in 0..3 {
            for j in i..3 {
                let [a, b] = [&self.0[i], &self.0[j]];
                let product = a[0] * b[0].conj() + a[1] * b[1].conj() + a[2] * b[2].conj();
                let unit = if i == j { T::one() } else { T::zero() };
                largest.add(product - unit);
            }
        }
        largest.0
    }

    /// Converts the entries to another precision.
    pub fn cast<R: Real>(&self) -> Matrix3<R> {
        Matrix3::from_fn(|i, j| {
            let entry = self.0[i][j];
            Complex::new(R::from_f64(entry.re.to_f64()), R::from_f64(entry.im.to_f64()))
        })
    }

    /// Returns the element of SU(3) with the directions of the first two rows.
    ///
    /// Gram–Schmidt makes these rows orthonormal. The third row is conj(row 0 × row 1).
    pub fn reunitarised(&self) -> Self {
        let normalised = |row: [Complex<T>; 3]| {
            let norm = row.iter().map(|z| z.norm_sqr()).sum::<T>().sqrt();
            row.map(|z| z / norm)
        };
        let first = normalised(self.0[0]);
        let overlap: Complex<T> =
            (0..3).map(|j| first[j].conj() * self.0[1][j]).fold(Complex::default(), |a, b| a + b);
        let second = normalised(std::array::from_fn(|j| self.0[1][j] - first[j] * overlap));
        Self::from_two_rows([first, second])
    }

    /// Completes two orthonormal rows to an SU(3) matrix.
    ///
    /// The third row is conj(row 0 × row 1).
    pub fn from_two_rows([a, b]: [[Complex<T>; 3]; 2]) -> Self {
        let third = std::array::from_fn(|j| {
            let (k, l) = ((j + 1) % 3, (j + 2) % 3);
            (a[k] * b[l] - a[l] * b[k]).conj()
        });
        Self([a, b, third])
    }

    /// Multiplies a colour vector by the matrix.
    #[inline]
    pub fn times(&self, v: &[Complex<T>; 3]) -> [Complex<T>; 3] {
        std::array::from_fn(|i| self.0[i][0] * v[0] + self.0[i][1] * v[1] + self.0[i][2] * v[2])
    }

    /// Multiplies a colour vector by the adjoint matrix.
    #[inline]
    pub fn adjoint_times(&self, v: &[Complex<T>; 3]) -> [Complex<T>; 3] {
        let m = &self.0;
        std::array::from_fn(|i| m[0][i].conj() * v[0] + m[1][i].conj() * v[1] + m[2][i].conj() * v[2])
    }
}

/// The largest modulus of some numbers, NaN if one of them is NaN.
struct LargestModulus<T>(T);

impl<T: Real> LargestModulus<T> {
    #[inline]
    fn add(&mut self, z: Complex<T>) {
        // `hypot` takes longer than all the rest, and |re| + |im| is a bound. `max` would drop NaN.
        let larger = |x: T| x > self.0 || x.is_nan();
        if larger(z.re.abs() + z.im.abs()) {
            let modulus = z.norm();
            if larger(modulus) {
                self.0 = modulus;
            }
        }
    }
}

impl<T: Real> Mul for Matrix3<T> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::from_fn(|i, j| {
            self.0[i][0] * other.0[0][j] + self.0[i][1] * other.0[1][j] + self.0[i][2] * other.0[2][j]
        })
    }
}

impl<T: Real> Add for Matrix3<T> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::from_fn(|i, j| self.0[i][j] + other.0[i][j])
    }
}

impl<T: Real> Sub for Matrix3<T> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::from_fn(|i, j| self.0[i][j] - other.0[i][j])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Matrix3<f64> {
        Matrix3::from_fn(|i, j| Complex::new((1 + i * 3 + j) as f64 * 0.3, ((i * j) as f64).cos()))
    }

    #[test]
    fn reunitarised_is_special_unitary_and_a_projection() {
        let u = sample().reunitarised();
        assert!(u.unitarity_deviation() < 1e-14);
        assert!((u.determinant() - 1.0).norm() < 1e-14);
        assert!(u.reunitarised().max_difference(&u) < 1e-14);
    }

    #[test]
    fn determinant_is_multiplicative() {
        let (a, b) = (sample(), sample().reunitarised());
        assert!(((a * b).determinant() - a.determinant() * b.determinant()).norm() < 1e-12);
    }

    #[test]
    fn nan_is_a_deviation() {
        let mut u = Matrix3::<f64>::identity();
        u.0[1][2].im = f64::NAN;
        assert!(u.unitarity_deviation().is_nan());
    }
}
