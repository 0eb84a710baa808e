//! Solutions in double precision with factors in single.
//!
//! The contract is that of LAPACK's `dsgesv`, `zcgesv`, `dsposv` and `zcposv`. The factors of A in
//! single precision solve for X and for corrections, and residuals are computed in double. A column
//! is solved for if ‖b − A x‖∞ ≤ √n ε ‖A‖∞ ‖x‖∞. If A does not fit into single precision, has no
//! factors there, or is not solved after [`MOST_STEPS`] corrections, A is factorised in double.
//!
//! Other than in LAPACK, A is never overwritten. The functions wait for each step, because the
//! number of steps depends on residuals. The kernels are in `cl/mixed.cl`, the twin is
//! [`host::mixed`](crate::host::mixed).

mod kernels;

use super::{check_right_side, check_rows, gesv, getrf, getrs, posv, potrf, potrs};
use crate::block::Block;
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::gemm::gemm;
use crate::host::mixed::{MOST_STEPS, Wide};
use crate::level2::{check_device, check_extent, check_single};
use crate::level3::{Side, Triangle, hemm};
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use crate::op::Op;
use crate::triangular::Kernels as TriangleKernels;
use kernels::Kernels;
use lattice_compute::Buffer;
use lattice_compute::scalar::{Element, ElementType};
use lattice_solvers::range::larger;
use std::fmt;

/// How a system was solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refined {
    /// Corrections of X with the factors in single precision.
    pub steps: usize,
    /// The reason why A was factorised in double precision, if it was.
    pub fall_back: Option<FallBack>,
    /// LAPACK's `info` of the last factorisation.
    ///
    /// If it is not 0, there is no solution, and X is B.
    pub info: usize,
}

/// The reason why single precision was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallBack {
    /// A number of A, B or a residual is too large for single precision.
    Overflow,
    /// The factorisation in single precision failed; this is its `info`.
    Factorisation(usize),
    /// The residual is too large after so many corrections.
    Steps(usize),
}

impl fmt::Display for FallBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overflow => f.write_str("a number is too large for single precision"),
            Self::Factorisation(info) => {
                write!(f, "the matrix cannot be factorised in single precision, which fails at row {info}")
            }
            Self::Steps(steps) => write!(f, "the residual is too large after {steps} corrections"),
        }
    }
}

/// The factorisation of a matrix.
#[derive(Clone, Copy)]
enum Method {
    Lu,
    /// Of a Hermitian, positive definite matrix that is given by this triangle.
    Cholesky(Triangle),
}

/// Solves A X = B with LU factors in single precision, and waits for X.
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare),
/// [`BlasError::Shape`](crate::BlasError::Shape),
/// [`BlasError::SingleMatrix`](crate::BlasError::SingleMatrix),
/// [`BlasError::OtherDevice`](crate::BlasError::OtherDevice): nothing is started then.
/// [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels, memory is
/// short or the device fails.
pub fn mixed_gesv<T: Wide>(a: MatRef<'_, T>, b: MatRef<'_, T>, x: MatMut<'_, T>) -> BlasResult<Refined> {
    solve("mixed_gesv", Method::Lu, a, b, x)
}

/// Solves A X = B for a Hermitian, positive definite A with a factor in single precision.
///
/// Only the triangle of A is read. The function waits for X.
///
/// # Errors
/// The errors of [`mixed_gesv`].
pub fn mixed_posv<T: Wide>(
    triangle: Triangle,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    x: MatMut<'_, T>,
) -> BlasResult<Refined> {
    solve("mixed_posv", Method::Cholesky(triangle), a, b, x)
}

fn solve<T: Wide>(
    operation: &'static str,
    method: Method,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    mut x: MatMut<'_, T>,
) -> BlasResult<Refined> {
    check_right_side(operation, a.into(), x.as_ref().into())?;
    check_rows(operation, a.rows())?;
    check_extent(operation, "B", "rows", x.rows(), b.rows(), "as X has")?;
    check_extent(operation, "B", "columns", x.columns(), b.columns(), "as X has")?;
    check_single(operation, b.count())?;
    check_device(operation, "B", x.device(), b.device())?;
    if x.layout().is_empty() {
        return Ok(Refined { steps: 0, fall_back: None, info: 0 });
    }
    match refine(method, a, b, x.reborrow())? {
        Ok(steps) => Ok(Refined { steps, fall_back: None, info: 0 }),
        Err((steps, reason)) => {
            let info = in_double(method, a, b, x)?;
            Ok(Refined { steps, fall_back: Some(reason), info })
        }
    }
}

/// Solves with factors in single precision; returns the corrections, and a reason if it fails.
fn refine<T: Wide>(
    method: Method,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    mut x: MatMut<'_, T>,
) -> BlasResult<Result<usize, (usize, FallBack)>> {
    let (device, n, sides) = (a.device(), a.rows(), b.columns());
    let kernels = Kernels::of(device, ElementType::of::<T>())?;
    let mut overflow = Buffer::<u32>::zeroed(device, 1)?;
    let Some(factors) = Factors::new(method, a, &kernels, &mut overflow)? else {
        return Ok(Err((0, FallBack::Overflow)));
    };
    if factors.info != 0 {
        return Ok(Err((0, FallBack::Factorisation(factors.info))));
    }
    let bound = (n as f64).sqrt() * (f64::EPSILON / 2.0) * norm(method, a)?;
    let dense = MatrixLayout::column_major(n, sides);
    let mut rest = Buffer::<T>::uninitialised(device, n * sides)?;
    let mut correction = Buffer::<T::Narrow>::uninitialised(device, n * sides)?;
    let mut sizes = Buffer::<f64>::uninitialised(device, 2 * sides)?;
    kernels.narrow(Block::of(b), None, (&mut correction).into(), (&mut overflow).into())?;
    for steps in 0..=MOST_STEPS {
        if overflow.to_vec()?[0] != 0 {
            return Ok(Err((steps.saturating_sub(1), FallBack::Overflow)));
        }
        factors.solve(MatMut::new(&mut correction, dense)?)?;
        kernels.add_widened(steps == 0, (&correction).into(), Block::of_mut(x.reborrow()))?;
        residual(method, a, b, x.as_ref(), MatMut::new(&mut rest, dense)?)?;
        kernels.largest((&rest).into(), Block::of(x.as_ref()), (&mut sizes).into())?;
        let solved = |pair: &[f64]| pair[0] <= bound * pair[1] && pair[1].is_finite();
        if sizes.to_vec()?.chunks(2).all(solved) {
            return Ok(Ok(steps));
        }
        let block = Block::at((&mut rest).into(), &dense);
        kernels.narrow(block, None, (&mut correction).into(), (&mut overflow).into())?;
    }
    Ok(Err((MOST_STEPS, FallBack::Steps(MOST_STEPS))))
}

/// Starts R = B − A X.
fn residual<T: Wide>(
    method: Method,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    x: MatRef<'_, T>,
    mut r: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let kernels = TriangleKernels::of(a.device(), ElementType::of::<T>())?;
    kernels.copy(Block::of(b), Block::of_mut(r.reborrow()))?;
    match method {
        Method::Lu => gemm(Op::N, Op::N, -1, a, x, 1, r),
        Method::Cholesky(triangle) => hemm(Side::Left, triangle, -1, a, x, 1, r),
    }
}

/// Returns ‖A‖∞, the largest sum of sizes in a row.
fn norm<T: Wide>(method: Method, a: MatRef<'_, T>) -> BlasResult<f64> {
    let kernels = TriangleKernels::of(a.device(), ElementType::of::<T>())?;
    let mut sums = Buffer::<f64>::uninitialised(a.device(), a.rows())?;
    match method {
        Method::Lu => kernels.column_sums(Block::of(a).transposed(), None, (&mut sums).into())?,
        Method::Cholesky(triangle) => {
            kernels.column_sums(Block::of(a), Some(triangle == Triangle::Lower), (&mut sums).into())?
        }
    };
    Ok(sums.to_vec()?.into_iter().fold(0.0, larger))
}

/// Solves in double precision, and returns LAPACK's `info`.
fn in_double<T: Wide>(
    method: Method,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    mut x: MatMut<'_, T>,
) -> BlasResult<usize> {
    let (device, n) = (a.device(), a.rows());
    let layout = MatrixLayout::column_major(n, n);
    let kernels = TriangleKernels::of(device, ElementType::of::<T>())?;
    let mut copy = Buffer::<T>::uninitialised(device, n * n)?;
    let mut factors = MatMut::new(&mut copy, layout)?;
    kernels.copy(Block::of(a), Block::of_mut(factors.reborrow()))?;
    kernels.copy(Block::of(b), Block::of_mut(x.reborrow()))?;
    let info = match method {
        Method::Lu => gesv(factors, &mut Buffer::<u32>::uninitialised(device, n)?, x)?.wait()?,
        Method::Cholesky(triangle) => posv(triangle, factors, x)?.wait()?,
    };
    Ok(info)
}

/// Factors in single precision.
struct Factors<N> {
    method: Method,
    elements: Buffer<N>,
    pivots: Buffer<u32>,
    layout: MatrixLayout,
    info: usize,
}

impl<N: Element> Factors<N> {
    /// Factorises A; `None` if a number is too large.
    fn new<T: Wide<Narrow = N>>(
        method: Method,
        a: MatRef<'_, T>,
        kernels: &Kernels,
        overflow: &mut Buffer<u32>,
    ) -> BlasResult<Option<Self>> {
        let (device, n) = (a.device(), a.rows());
        let layout = MatrixLayout::column_major(n, n);
        let mut elements = Buffer::<N>::uninitialised(device, n * n)?;
        let (triangle, count) = match method {
            Method::Lu => (None, n),
            Method::Cholesky(triangle) => (Some(triangle), 0),
        };
        kernels.narrow(Block::of(a), triangle, (&mut elements).into(), overflow.into())?;
        if overflow.to_vec()?[0] != 0 {
            return Ok(None);
        }
        let mut pivots = Buffer::<u32>::uninitialised(device, count)?;
        let matrix = MatMut::new(&mut elements, layout)?;
        let info = match method {
            Method::Lu => getrf(matrix, &mut pivots)?.wait()?,
            Method::Cholesky(triangle) => potrf(triangle, matrix)?.wait()?,
        };
        Ok(Some(Self { method, elements, pivots, layout, info }))
    }

    /// Starts X = A⁻¹ B in the place of B.
    fn solve(&self, b: MatMut<'_, N>) -> BlasResult<Completion> {
        let factors = MatRef::new(&self.elements, self.layout)?;
        match self.method {
            Method::Lu => getrs(Op::N, factors, &self.pivots, b),
            Method::Cholesky(triangle) => potrs(triangle, factors, b),
        }
    }
}
