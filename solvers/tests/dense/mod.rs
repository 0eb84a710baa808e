//! A dense operator on ordinary vectors, and Gaussian elimination as the independent answer.
#![allow(dead_code)]

pub mod keeper;

use lattice_solvers::{Failure, LinearOperator, Solution, SolverError, SolverInfo, VectorSpace, Work};
use num_complex::Complex64;
use std::convert::Infallible;

pub struct Dense {
    pub space: Space,
    pub rows: Vec<Vec<Complex64>>,
}

pub struct Space {
    pub dimension: usize,
}

impl VectorSpace for Space {
    type Vector = Vec<Complex64>;
    type Scalar = Complex64;
    type Error = Infallible;

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn component_bytes(&self) -> usize {
        16
    }

    fn zero_vector(&self) -> Result<Self::Vector, Infallible> {
        Ok(vec![Complex64::default(); self.dimension])
    }

    /// Returns a vector of NaNs: elements that are read before they are written show.
    fn scratch_vector(&self) -> Result<Self::Vector, Infallible> {
        Ok(vec![Complex64::new(f64::NAN, f64::NAN); self.dimension])
    }

    fn copy(&self, from: &Self::Vector, to: &mut Self::Vector) -> Result<(), Infallible> {
        to.clone_from(from);
        Ok(())
    }

    fn axpy(&self, a: &Complex64, x: &Self::Vector, y: &mut Self::Vector) -> Result<(), Infallible> {
        y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
        Ok(())
    }

    fn xpby(&self, x: &Self::Vector, b: &Complex64, y: &mut Self::Vector) -> Result<(), Infallible> {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x + b * *y);
        Ok(())
    }

    fn dot(&self, x: &Self::Vector, y: &Self::Vector) -> Result<Complex64, Infallible> {
        Ok(x.iter().zip(y).map(|(x, y)| x.conj() * y).sum())
    }

    fn norm2(&self, x: &Self::Vector) -> Result<Complex64, Infallible> {
        self.dot(x, x)
    }

    fn scalar(&self, value: Complex64) -> Complex64 {
        value
    }

    fn quotient(&self, numerator: &Complex64, denominator: &Complex64) -> Complex64 {
        if denominator.norm_sqr() == 0.0 { Complex64::default() } else { numerator / denominator }
    }

    fn conjugate(&self, a: &Complex64) -> Complex64 {
        a.conj()
    }

    fn negate(&self, a: &Complex64) -> Complex64 {
        -a
    }

    fn read_all(&self, scalars: &[&Complex64]) -> Result<Vec<Complex64>, Infallible> {
        Ok(scalars.iter().map(|&&scalar| scalar).collect())
    }
}

impl LinearOperator for Dense {
    type Space = Space;

    fn space(&self) -> &Space {
        &self.space
    }

    fn apply(&self, x: &Vec<Complex64>, out: &mut Vec<Complex64>) -> Result<(), Infallible> {
        for (out, row) in out.iter_mut().zip(&self.rows) {
            *out = row.iter().zip(x).map(|(a, x)| a * x).sum();
        }
        Ok(())
    }

    fn work(&self) -> Work {
        let n = self.rows.len() as u64;
        Work { flops: 8 * n * n, bytes: 16 * n * n }
    }
}

/// Numbers in (−1, 1) from a linear congruential generator.
pub struct Random(pub u64);

impl Random {
    pub fn real(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn complex(&mut self) -> Complex64 {
        Complex64::new(self.real(), self.real())
    }

    pub fn vector(&mut self, n: usize) -> Vec<Complex64> {
        (0..n).map(|_| self.complex()).collect()
    }
}

impl Dense {
    pub fn from_fn(n: usize, mut f: impl FnMut(usize, usize) -> Complex64) -> Self {
        let rows = (0..n).map(|i| (0..n).map(|j| f(i, j)).collect()).collect();
        Self { space: Space { dimension: n }, rows }
    }

    /// Makes a random matrix, not Hermitian, whose Hermitian part is positive definite.
    pub fn general(n: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        Self::from_fn(n, |i, j| random.complex() / (n as f64).sqrt() + if i == j { 2.5 } else { 0.0 })
    }

    /// Makes A†A of a random matrix.
    pub fn positive(n: usize, seed: u64) -> Self {
        let a = Self::general(n, seed);
        Self::from_fn(n, |i, j| (0..n).map(|k| a.rows[k][i].conj() * a.rows[k][j]).sum())
    }

    /// Makes a Hermitian matrix with eigenvalues of both signs.
    pub fn indefinite(n: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let upper = Self::from_fn(n, |_, _| random.complex());
        Self::from_fn(n, |i, j| {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            (upper.rows[i][j] + upper.rows[j][i].conj()) / (4.0 * (n as f64).sqrt())
                + if i == j { 2.0 * sign } else { 0.0 }
        })
    }

    /// Returns ‖b − A x‖ / ‖b‖.
    pub fn residual(&self, x: &[Complex64], b: &[Complex64]) -> f64 {
        let mut image = b.to_vec();
        let Ok(()) = self.apply(&x.to_vec(), &mut image);
        distance(&image, b) / distance(b, &vec![Complex64::default(); b.len()])
    }

    /// Computes z = D⁻¹ r with the diagonal D of A, as a preconditioner.
    pub fn diagonal_inverse(
        &self,
        r: &[Complex64],
        z: &mut [Complex64],
    ) -> Result<Work, SolverError<Vec<Complex64>, Infallible>> {
        z.iter_mut().enumerate().for_each(|(k, z)| *z = r[k] / self.rows[k][k]);
        Ok(Work { flops: 8 * r.len() as u64, bytes: 48 * r.len() as u64 })
    }

    /// Returns A†.
    pub fn adjoint(&self) -> Self {
        Self::from_fn(self.rows.len(), |i, j| self.rows[j][i].conj())
    }

    /// Returns A + σ.
    pub fn shifted(&self, shift: f64) -> Self {
        Self::from_fn(self.rows.len(), |i, j| self.rows[i][j] + if i == j { shift } else { 0.0 })
    }

    /// Returns the solution of A x = b by Gaussian elimination with row pivoting.
    pub fn solve(&self, b: &[Complex64]) -> Vec<Complex64> {
        let n = b.len();
        let mut a = self.rows.clone();
        let mut x = b.to_vec();
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[i][k].norm().total_cmp(&a[j][k].norm())).unwrap();
            a.swap(k, pivot);
            x.swap(k, pivot);
            for i in k + 1..n {
                let factor = a[i][k] / a[k][k];
                for j in k..n {
                    let above = a[k][j];
                    a[i][j] -= factor * above;
                }
                let above = x[k];
                x[i] -= factor * above;
            }
        }
        for k in (0..n).rev() {
            for j in k + 1..n {
                let known = x[j];
                x[k] -= a[k][j] * known;
            }
            x[k] /= a[k][k];
        }
        x
    }
}

pub fn distance(x: &[Complex64], y: &[Complex64]) -> f64 {
    let norm2: f64 = x.iter().zip(y).map(|(x, y)| (x - y).norm_sqr()).sum();
    norm2.sqrt()
}

/// Tells whether a residual that must not grow does not.
pub fn monotone(history: &[f64]) -> bool {
    history.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12))
}

/// Returns the failure of a solve that must not succeed.
#[track_caller]
pub fn failure<V, E: std::error::Error>(
    result: Result<Solution<V>, SolverError<V, E>>,
) -> (Failure, V, SolverInfo) {
    match result {
        Err(SolverError::NotConverged { failure, best, info }) => (failure, best, *info),
        Err(other) => panic!("{other}"),
        Ok((_, info)) => panic!("converged: {info:?}"),
    }
}
