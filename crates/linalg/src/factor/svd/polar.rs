//! Singular values by a polar decomposition A = U_p H.
//!
//! Y. Nakatsukasa, Z. Bai and F. Gygi, SIAM J. Matrix Anal. Appl. 31 (2010) 2700: at most six steps of
//! products, QR and Cholesky factorisations. The eigenvalues of H are the singular values of A.

use super::Parts;
use crate::block::Block;
use crate::error::{BlasError, BlasResult};
use crate::factor::eigen::{Eigenvectors, heevd};
use crate::factor::scale::real_factor;
use crate::factor::{ColumnSums, Lu, geqrf, potrf, ungqr};
use crate::gemm::gemm;
use crate::level1::{axpby, axpy, nrm2};
use crate::level2::gemv;
use crate::level3::{Diagonal, Side, Triangle, her2k, herk};
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use crate::op::Op;
use crate::triangular::{Kernels, trsm};
use lattice_compute::philox::Philox;
use lattice_compute::scalar::{Element, ElementType, Real};
use lattice_compute::{Buffer, Device};
use num_complex::Complex;

/// Most steps. Six are usual, if the bound of the singular values holds.
const STEPS: usize = 20;

/// Products with A or Aᴴ that estimate its largest singular value.
const POWERS: usize = 12;

/// Above this weight a step by Cholesky's method would lose digits.
const LARGEST_WEIGHT: f64 = 100.0;

/// The factors of a step: X becomes X (a + b XᴴX) (1 + c XᴴX)⁻¹.
struct Weights {
    a: f64,
    b: f64,
    c: f64,
}

impl Weights {
    /// Returns the best factors for singular values from `l` to 1.
    fn of(l: f64) -> Self {
        let l2 = l * l;
        let d = (4.0 * (1.0 - l2) / (l2 * l2)).cbrt();
        let root = (1.0 + d).sqrt();
        let inner = 8.0 - 4.0 * d + 8.0 * (2.0 - l2) / (l2 * root);
        let a = root + 0.5 * inner.max(0.0).sqrt();
        let b = (a - 1.0) * (a - 1.0) / 4.0;
        Self { a, b, c: a + b - 1.0 }
    }

    /// Returns the bound after the step.
    fn step(&self, l: f64) -> f64 {
        (l * (self.a + self.b * l * l) / (1.0 + self.c * l * l)).min(1.0)
    }
}

/// Computes the parts of a dense square matrix. `None` if it does not converge.
pub(super) fn decompose<T: Element>(
    device: &Device,
    square: Buffer<T>,
    n: usize,
    epsilon: f64,
    with_vectors: bool,
) -> BlasResult<Option<Parts<T>>> {
    let layout = MatrixLayout::column_major(n, n);
    let Some(x) = polar_factor(device, &square, n, epsilon)? else { return Ok(None) };
    // −H has the eigenvalues −σ, of which the lowest belongs to the largest σ.
    let mut h = Buffer::<T>::zeroed(device, n * n)?;
    let (left, right) = (MatRef::new(&x, layout)?, MatRef::new(&square, layout)?);
    let minus_half = real_factor::<T>(-0.5);
    her2k(Triangle::Lower, Op::C, minus_half, left, right, 0, MatMut::new(&mut h, layout)?)?;
    drop(square);
    let mut values = Buffer::<T::Real>::uninitialised(device, n)?;
    // Eigenvectors of Hᵀ are conjugate to those of H. Stored along rows, they are Vᴴ along columns.
    let wanted = if with_vectors { Eigenvectors::With } else { Eigenvectors::Without };
    let transposed = MatMut::new(&mut h, layout.transposed())?;
    if heevd(Triangle::Upper, wanted, transposed, &mut values)?.wait()? != 0 {
        return Ok(None);
    }
    let values: Vec<f64> = values.to_vec()?.into_iter().map(|value| (-value.to_f64()).max(0.0)).collect();
    if !with_vectors {
        return Ok(Some(Parts { values, vectors: None, complete: true }));
    }
    let mut u = Buffer::<T>::uninitialised(device, n * n)?;
    let (x, vt) = (MatRef::new(&x, layout)?, MatRef::new(&h, layout)?);
    gemm(Op::N, Op::C, 1, x, vt, 0, MatMut::new(&mut u, layout)?)?;
    let [first, last] = [values.first(), values.last()].map(|value| value.copied().unwrap_or(0.0));
    // A singular value that is nothing beside the others may have no direction in U_p.
    let complete = last > n as f64 * epsilon * first;
    Ok(Some(Parts { values, vectors: Some([u, h]), complete }))
}

/// Computes U_p. `None` if it does not converge.
fn polar_factor<T: Element>(
    device: &Device,
    square: &Buffer<T>,
    n: usize,
    epsilon: f64,
) -> BlasResult<Option<Buffer<T>>> {
    let layout = MatrixLayout::column_major(n, n);
    let size = upper_bound(square, layout)?;
    let mut x = Buffer::<T>::uninitialised(device, n * n)?;
    let from = Block::at(square.into(), &layout);
    let kernels = Kernels::of(device, ElementType::of::<T>())?;
    kernels.copy_scaled(real_factor::<T>(1.0 / size).into(), from, Block::at((&mut x).into(), &layout))?;
    let mut l = lower_bound(&x, layout, epsilon)?;
    // Singular values below n ε may stay below 1. They are nothing beside the others.
    let singular = l <= n as f64 * epsilon;
    let most_change = (5.0 * epsilon).cbrt();
    for _ in 0..STEPS {
        let weights = Weights::of(l);
        let next = if weights.c > LARGEST_WEIGHT {
            step_by_qr(device, &x, n, &weights)?
        } else {
            step_by_cholesky(device, &x, n, &weights)?
        };
        l = weights.step(l);
        axpy(-1, &next, &mut x)?;
        let change = nrm2::<T>(&x)?.wait()?;
        x = next;
        if change.is_nan() {
            return Ok(None);
        }
        if 1.0 - l <= 10.0 * epsilon && (singular || change <= most_change) {
            return Ok(Some(x));
        }
    }
    Ok(None)
}

/// Returns a number that no singular value is likely to be much above, and 1 for zero.
///
/// √(‖A‖₁ ‖A‖∞) is above all of them, for matrices without a pattern by √n. Powers of AᴴA come near to
/// the largest from below. A singular value that stays above 1 costs a step, but no digits.
fn upper_bound<T: Element>(square: &Buffer<T>, layout: MatrixLayout) -> BlasResult<f64> {
    let norms = [layout, layout.transposed()]
        .map(|layout| ColumnSums::start(MatRef::new(square, layout)?, None)?.largest());
    let [along, across] = norms;
    let bound = (along? * across?).sqrt();
    let mut draw = Philox::new(1, 0, 0);
    let start: Vec<T> =
        (0..layout.rows).map(|_| T::from_complex(Complex::from(draw.uniform() - 0.5))).collect();
    let mut x = Buffer::from_slice(square.device(), &start)?;
    let mut y = Buffer::<T>::uninitialised(square.device(), layout.rows)?;
    let (mut norm, mut most) = (nrm2::<T>(&x)?.wait()?, 0.0_f64);
    let a = MatRef::new(square, layout)?;
    for op in [Op::N, Op::C].into_iter().cycle().take(POWERS) {
        if norm == 0.0 || !norm.is_finite() {
            break;
        }
        gemv(op, real_factor::<T>(1.0 / norm), a, &x, 0, &mut y)?;
        norm = nrm2::<T>(&y)?.wait()?;
        most = most.max(norm);
        std::mem::swap(&mut x, &mut y);
    }
    let near = 1.1 * most;
    Ok(if near > 0.0 && near < bound {
        near
    } else if bound > 0.0 {
        bound
    } else {
        1.0
    })
}

/// Returns a number that no singular value is likely to be much below, of a matrix of norm near 1.
///
/// The estimate of ‖A⁻¹‖₁ is a few times ‖A⁻¹‖₂ for matrices without a pattern. A singular value below
/// the bound costs steps, but no digits.
fn lower_bound<T: Element>(x: &Buffer<T>, layout: MatrixLayout, epsilon: f64) -> BlasResult<f64> {
    let x = MatRef::new(x, layout)?;
    let norm = ColumnSums::start(x, None)?.largest()?;
    let condition = match Lu::new(x)?.condition() {
        Ok(condition) => condition,
        Err(BlasError::Singular { .. }) => f64::INFINITY,
        Err(error) => return Err(error),
    };
    let bound = norm / condition;
    Ok(if bound.is_finite() { bound.clamp(epsilon, 0.9) } else { epsilon })
}

/// A step by the factors of [√c X; 1] = [Q₁; Q₂] R: X becomes (b/c) X + (a − b/c)/√c Q₁ Q₂ᴴ.
fn step_by_qr<T: Element>(
    device: &Device,
    x: &Buffer<T>,
    n: usize,
    weights: &Weights,
) -> BlasResult<Buffer<T>> {
    let Weights { a, b, c } = *weights;
    let (layout, stacked) = (MatrixLayout::column_major(n, n), MatrixLayout::column_major(2 * n, n));
    let kernels = Kernels::of(device, ElementType::of::<T>())?;
    let mut q = Buffer::<T>::uninitialised(device, 2 * n * n)?;
    let mut next = Buffer::<T>::uninitialised(device, n * n)?;
    let from = Block::at(x.into(), &layout);
    let both = Block::at((&mut q).into(), &stacked);
    kernels.copy_scaled(real_factor::<T>(c.sqrt()).into(), from, both.part(0..n, 0..n))?;
    kernels.set_identity(both.part(n..2 * n, 0..n))?;
    kernels.copy_scaled(real_factor::<T>(b / c).into(), from, Block::at((&mut next).into(), &layout))?;
    let mut tau = Buffer::<T>::uninitialised(device, n)?;
    geqrf(MatMut::new(&mut q, stacked)?, &mut tau)?;
    ungqr(MatMut::new(&mut q, stacked)?, &tau)?;
    let q = MatRef::new(&q, stacked)?;
    let (first, second) = (q.submatrix(0..n, 0..n)?, q.submatrix(n..2 * n, 0..n)?);
    let weight = real_factor::<T>((a - b / c) / c.sqrt());
    gemm(Op::N, Op::C, weight, first, second, 1, MatMut::new(&mut next, layout)?)?;
    Ok(next)
}

/// A step by the factor of Z = 1 + c XᴴX: X becomes (b/c) X + (a − b/c) X Z⁻¹.
fn step_by_cholesky<T: Element>(
    device: &Device,
    x: &Buffer<T>,
    n: usize,
    weights: &Weights,
) -> BlasResult<Buffer<T>> {
    let Weights { a, b, c } = *weights;
    let layout = MatrixLayout::column_major(n, n);
    let kernels = Kernels::of(device, ElementType::of::<T>())?;
    let mut z = Buffer::<T>::uninitialised(device, n * n)?;
    let mut next = Buffer::<T>::uninitialised(device, n * n)?;
    kernels.set_identity(Block::at((&mut z).into(), &layout))?;
    let from = Block::at(x.into(), &layout);
    kernels.copy(from, Block::at((&mut next).into(), &layout))?;
    let weight = T::Real::from_f64(c);
    herk(Triangle::Lower, Op::C, weight, MatRef::new(x, layout)?, 1, MatMut::new(&mut z, layout)?)?;
    // Z is positive definite by construction.
    potrf(Triangle::Lower, MatMut::new(&mut z, layout)?)?;
    for op in [Op::C, Op::N] {
        let (factor, next) = (MatRef::new(&z, layout)?, MatMut::new(&mut next, layout)?);
        trsm(Side::Right, Triangle::Lower, op, Diagonal::Stored, 1, factor, next)?;
    }
    axpby(real_factor::<T>(b / c), x, real_factor::<T>(a - b / c), &mut next)?;
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_steps_bring_every_bound_to_one() {
        let mut l = f64::EPSILON / 2.0;
        for _ in 0..6 {
            let weights = Weights::of(l);
            // 1 is a fixed point.
            assert!(((weights.a + weights.b) / (1.0 + weights.c) - 1.0).abs() < 1e-15);
            l = weights.step(l);
        }
        assert!((1.0 - l) < 1e-15, "{l}");
    }
}
