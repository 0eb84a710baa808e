//! LU factors with memory of their own.

use super::kernels::{Kernels, Pivots};
use super::{getrf, getrs};
use crate::block::Block;
use crate::completion::Completion;
use crate::error::{BlasError, BlasResult};
use crate::factor::condition::{Which, condition};
use crate::factor::info::Info;
use crate::factor::{ColumnSums, check_right_side, diagonal};
use crate::level2::check_single;
use crate::level3::{Diagonal, Side, Triangle, check_square};
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use crate::op::Op;
use crate::triangular::{Kernels as TriangleKernels, trmm};
use lattice_compute::scalar::{Element, ElementType};
use lattice_compute::{Buffer, Device};
use num_complex::Complex;

/// The factors and pivots of P A = L U for a square A.
///
/// ```
/// # use lattice_linalg::factor::Lu;
/// # use lattice_linalg::{MatMut, MatRef, MatrixLayout, Op};
/// # use lattice_compute::{Buffer, Selector, Team};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let team = Team::select([Selector::Auto])?;
/// # let Some(device) = team.devices().first() else { return Ok(()) };
/// let layout = MatrixLayout::row_major(2, 2);
/// let a = Buffer::from_slice(device, &[0.0, 2.0, 4.0, 1.0])?;
/// let mut b = Buffer::from_slice(device, &[4.0, 6.0])?;
/// let lu = Lu::new(MatRef::new(&a, layout)?)?;
/// lu.solve(Op::N, MatMut::new(&mut b, MatrixLayout::column_major(2, 1))?)?;
/// lu.check()?; // A is not singular.
/// assert_eq!(b.to_vec()?, [1.0, 2.0]);
/// assert_eq!(lu.pivots()?, [1, 1]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Lu<T> {
    factors: Buffer<T>,
    pivots: Buffer<u32>,
    layout: MatrixLayout,
    sums: ColumnSums,
    info: Info,
}

/// A determinant that neither overflows nor underflows.
///
/// The determinant is `phase` times the exponential of `log_size`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Determinant {
    /// The sign of a real determinant, or the phase of a complex one.
    ///
    /// A phase has size 1. Singular matrices have 0.
    pub phase: Complex<f64>,
    /// The logarithm of the size; −∞ for singular matrices.
    pub log_size: f64,
}

impl Determinant {
    /// Returns the determinant as a number, which may overflow or underflow.
    pub fn value(&self) -> Complex<f64> {
        self.phase * self.log_size.exp()
    }
}

impl<T: Element> Lu<T> {
    /// Copies A and starts its factorisation.
    ///
    /// # Errors
    /// [`BlasError::NotSquare`], and the errors of [`getrf`].
    pub fn new(a: MatRef<'_, T>) -> BlasResult<Self> {
        check_square("Lu", "A", a.rows(), a.columns())?;
        check_single("Lu", a.count())?;
        let (device, n) = (a.device(), a.rows());
        let layout = MatrixLayout::column_major(n, n);
        let mut factors = Buffer::uninitialised(device, n * n)?;
        let mut pivots = Buffer::uninitialised(device, n)?;
        if n > 0 {
            let to = Block::at((&mut factors).into(), &layout);
            TriangleKernels::of(device, ElementType::of::<T>())?.copy(Block::of(a), to)?;
        }
        let sums = ColumnSums::start(a, None)?;
        let info = getrf(MatMut::new(&mut factors, layout)?, &mut pivots)?;
        Ok(Self { factors, pivots, layout, sums, info })
    }

    /// Returns the number of rows and columns.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Returns the device that the factors are on.
    pub fn device(&self) -> &Device {
        self.factors.device()
    }

    /// Returns U, and below its diagonal L without its ones.
    ///
    /// # Errors
    /// None that a matrix of its own can have.
    pub fn factors(&self) -> BlasResult<MatRef<'_, T>> {
        MatRef::new(&self.factors, self.layout)
    }

    /// Waits for the pivots: row i was exchanged with row `pivots[i]`, counted from 0.
    ///
    /// # Errors
    /// [`BlasError::Device`] if the work failed.
    pub fn pivots(&self) -> BlasResult<Vec<u32>> {
        Ok(self.pivots.to_vec()?)
    }

    /// Waits for the factorisation, and returns LAPACK's `info`.
    ///
    /// # Errors
    /// [`BlasError::Device`] if the work failed.
    pub fn info(&self) -> BlasResult<usize> {
        Ok(self.info.wait()?)
    }

    /// Waits for the factorisation, and checks that no pivot is zero.
    ///
    /// # Errors
    /// [`BlasError::Singular`]; [`BlasError::Device`] if the work failed.
    pub fn check(&self) -> BlasResult<()> {
        match self.info()? {
            0 => Ok(()),
            pivot => Err(BlasError::Singular { pivot, rows: self.rows() }),
        }
    }

    /// Starts X = op(A)⁻¹ B in the place of B.
    ///
    /// X has infinities or NaNs if [`check`](Self::check) fails.
    ///
    /// # Errors
    /// The errors of [`getrs`].
    pub fn solve(&self, op: Op, b: MatMut<'_, T>) -> BlasResult<Completion> {
        getrs(op, self.factors()?, &self.pivots, b)
    }

    /// Starts to write A⁻¹.
    ///
    /// # Errors
    /// The errors of [`getrs`].
    pub fn inverse(&self, mut to: MatMut<'_, T>) -> BlasResult<Completion> {
        self.check_result("inverse", &to)?;
        if self.rows() == 0 {
            return Ok(Completion::nothing());
        }
        let identity = TriangleKernels::of(self.device(), ElementType::of::<T>())?
            .set_identity(Block::of_mut(to.reborrow()))?;
        let mut completion = Completion::of(vec![identity]);
        completion.append(self.solve(Op::N, to)?);
        Ok(completion)
    }

    /// Starts to write Pᵀ L U, which is A up to rounding.
    ///
    /// # Errors
    /// The errors of [`getrs`].
    pub fn reconstruct(&self, mut to: MatMut<'_, T>) -> BlasResult<Completion> {
        self.check_result("reconstruct", &to)?;
        let n = self.rows();
        if n == 0 {
            return Ok(Completion::nothing());
        }
        let kernels = TriangleKernels::of(self.device(), ElementType::of::<T>())?;
        let mut upper = self.device().scratch_of(ElementType::of::<T>(), n * n)?;
        let upper = Block::at(upper.output(), &self.layout);
        let mut events = vec![
            kernels.spread_diagonal(n, Block::of(self.factors()?), false, false, upper.elements)?,
            kernels.copy(upper, Block::of_mut(to.reborrow()))?,
        ];
        let (side, triangle, ones) = (Side::Left, Triangle::Lower, Diagonal::Ones);
        let product = trmm(side, triangle, Op::N, ones, 1, self.factors()?, to.reborrow())?;
        events.extend(product.into_events());
        let pivots = Pivots { rows: (&self.pivots).into(), count: n, first: 0 };
        Kernels::of(self.device(), ElementType::of::<T>())?.exchange(
            self.device(),
            Block::of_mut(to),
            pivots,
            true,
            &mut events,
        )?;
        Ok(Completion::of(events))
    }

    /// Returns det A.
    ///
    /// The function waits for the factorisation.
    ///
    /// # Errors
    /// [`BlasError::Device`] if the work failed.
    pub fn determinant(&self) -> BlasResult<Determinant> {
        let exchanges = self.pivots()?.iter().enumerate().filter(|&(i, &row)| i != row as usize).count();
        let sign = if exchanges.is_multiple_of(2) { 1.0 } else { -1.0 };
        let mut determinant = Determinant { phase: sign.into(), log_size: 0.0 };
        for pivot in diagonal::<T>(self.device(), Block::of(self.factors()?))? {
            let size = pivot.norm();
            determinant.phase *= if size > 0.0 { pivot / size } else { pivot };
            determinant.log_size += size.ln();
        }
        Ok(determinant)
    }

    /// Returns an estimate of the condition number ‖A‖₁ ‖A⁻¹‖₁.
    ///
    /// The estimate is seldom below a third of it. The function waits for a few solutions.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    pub fn condition(&self) -> BlasResult<f64> {
        self.check()?;
        let layout = MatrixLayout::column_major(self.rows(), 1);
        condition(self.rows(), self.sums.largest()?, |which, x| {
            let elements: Vec<T> = x.iter().map(|&x| T::from_complex(x)).collect();
            let mut buffer = Buffer::from_slice(self.device(), &elements)?;
            let op = if which == Which::Plain { Op::N } else { Op::C };
            self.solve(op, MatMut::new(&mut buffer, layout)?)?;
            x.iter_mut().zip(buffer.to_vec()?).for_each(|(x, found)| *x = found.to_complex());
            Ok(())
        })
    }

    fn check_result(&self, operation: &'static str, to: &MatMut<'_, T>) -> BlasResult<()> {
        check_right_side(operation, self.factors()?.into(), to.as_ref().into())?;
        check_square(operation, "the result", to.rows(), to.columns())
    }
}
