//! A Cholesky factor with memory of its own.

use super::{inverse_of_lower, potrf, potrs};
use crate::block::Block;
use crate::completion::Completion;
use crate::error::{BlasError, BlasResult};
use crate::factor::condition::condition;
use crate::factor::info::Info;
use crate::factor::{ColumnSums, check_right_side, diagonal};
use crate::gemm::multiply_blocks;
use crate::level2::check_single;
use crate::level3::{Diagonal, Side, Triangle, check_square};
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use crate::op::Op;
use crate::triangular::{Kernels, trmm};
use lattice_compute::scalar::{Element, ElementType};
use lattice_compute::{Buffer, Device};

/// The factor L of A = L Lᴴ, or U of A = Uᴴ U.
///
/// ```
/// # use lattice_linalg::factor::Cholesky;
/// # use lattice_linalg::{MatMut, MatRef, MatrixLayout, Triangle};
/// # use lattice_compute::{Buffer, Selector, Team};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let team = Team::select([Selector::Auto])?;
/// # let Some(device) = team.devices().first() else { return Ok(()) };
/// let layout = MatrixLayout::row_major(2, 2);
/// let a = Buffer::from_slice(device, &[4.0, 2.0, 2.0, 5.0])?;
/// let mut b = Buffer::from_slice(device, &[8.0, 12.0])?;
/// let cholesky = Cholesky::new(Triangle::Lower, MatRef::new(&a, layout)?)?;
/// cholesky.solve(MatMut::new(&mut b, MatrixLayout::column_major(2, 1))?)?;
/// cholesky.check()?; // A is positive definite.
/// assert_eq!(b.to_vec()?, [1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Cholesky<T> {
    factor: Buffer<T>,
    layout: MatrixLayout,
    triangle: Triangle,
    sums: ColumnSums,
    info: Info,
}

impl<T: Element> Cholesky<T> {
    /// Copies a triangle of A, and starts its factorisation.
    ///
    /// The other triangle is not read.
    ///
    /// # Errors
    /// The errors of [`potrf`].
    pub fn new(triangle: Triangle, a: MatRef<'_, T>) -> BlasResult<Self> {
        check_square("Cholesky", "A", a.rows(), a.columns())?;
        check_single("Cholesky", a.count())?;
        let (device, n) = (a.device(), a.rows());
        let layout = MatrixLayout::column_major(n, n);
        let mut factor = Buffer::uninitialised(device, n * n)?;
        let lower = triangle == Triangle::Lower;
        if n > 0 {
            let kernels = Kernels::of(device, ElementType::of::<T>())?;
            kernels.spread_diagonal(n, Block::of(a), lower, false, (&mut factor).into())?;
        }
        let sums = ColumnSums::start(a, Some(lower))?;
        let info = potrf(triangle, MatMut::new(&mut factor, layout)?)?;
        Ok(Self { factor, layout, triangle, sums, info })
    }

    /// Returns the number of rows and columns.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Returns the device that the factor is on.
    pub fn device(&self) -> &Device {
        self.factor.device()
    }

    /// Returns L or U, whose other triangle is zero.
    ///
    /// # Errors
    /// None that a matrix of its own can have.
    pub fn factor(&self) -> BlasResult<MatRef<'_, T>> {
        MatRef::new(&self.factor, self.layout)
    }

    /// Waits for the factorisation, and returns LAPACK's `info`.
    ///
    /// # Errors
    /// [`BlasError::Device`] if the work failed.
    pub fn info(&self) -> BlasResult<usize> {
        Ok(self.info.wait()?)
    }

    /// Waits for the factorisation, and checks that A is positive definite.
    ///
    /// # Errors
    /// [`BlasError::NotPositiveDefinite`]; [`BlasError::Device`] if the work failed.
    pub fn check(&self) -> BlasResult<()> {
        match self.info()? {
            0 => Ok(()),
            order => Err(BlasError::NotPositiveDefinite { order, rows: self.rows() }),
        }
    }

    /// Starts X = A⁻¹ B in the place of B.
    ///
    /// X is undefined if [`check`](Self::check) fails.
    ///
    /// # Errors
    /// The errors of [`trsm`](crate::trsm).
    pub fn solve(&self, b: MatMut<'_, T>) -> BlasResult<Completion> {
        check_right_side("solve", self.factor()?.into(), b.as_ref().into())?;
        potrs(self.triangle, self.factor()?, b)
    }

    /// Starts to write A⁻¹, both triangles of it.
    ///
    /// # Errors
    /// [`BlasError::Shape`], [`BlasError::SingleMatrix`], [`BlasError::OtherDevice`]: nothing is
    /// started then. [`BlasError::Device`] if memory is short or the device fails.
    pub fn inverse(&self, to: MatMut<'_, T>) -> BlasResult<Completion> {
        self.check_result("inverse", &to)?;
        let (device, n) = (self.device().clone(), self.rows());
        if n == 0 {
            return Ok(Completion::nothing());
        }
        let mut events = Vec::new();
        let mut room = device.scratch_of(ElementType::of::<T>(), n * n)?;
        let inverse = Block::at(room.output(), &self.layout);
        // For U it is all for Aᵀ = Uᵀ (Uᵀ)ᴴ.
        let (factor, to) = (Block::of(self.factor()?), Block::of_mut(to));
        let (factor, to) = match self.triangle {
            Triangle::Lower => (factor, to),
            Triangle::Upper => (factor.transposed(), to.transposed()),
        };
        inverse_of_lower(&device, factor, inverse, &mut events)?;
        let factors = [(inverse.transposed(), T::IS_COMPLEX), (inverse, false)];
        events.extend(multiply_blocks(&device, 1, factors, 0, to)?.into_events());
        Ok(Completion::of(events))
    }

    /// Starts to write L Lᴴ or Uᴴ U, which is A up to rounding.
    ///
    /// # Errors
    /// The errors of [`inverse`](Self::inverse).
    pub fn reconstruct(&self, mut to: MatMut<'_, T>) -> BlasResult<Completion> {
        self.check_result("reconstruct", &to)?;
        if self.rows() == 0 {
            return Ok(Completion::nothing());
        }
        let kernels = Kernels::of(self.device(), ElementType::of::<T>())?;
        let (from, target) = (Block::of(self.factor()?), Block::of_mut(to.reborrow()));
        let mut events = vec![kernels.copy(from, target)?];
        let side = if self.triangle == Triangle::Lower { Side::Right } else { Side::Left };
        let product = trmm(side, self.triangle, Op::C, Diagonal::Stored, 1, self.factor()?, to)?;
        events.extend(product.into_events());
        Ok(Completion::of(events))
    }

    /// Returns ln det A.
    ///
    /// The function waits for the factorisation.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    pub fn log_determinant(&self) -> BlasResult<f64> {
        self.check()?;
        let diagonal = diagonal::<T>(self.device(), Block::of(self.factor()?))?;
        Ok(diagonal.into_iter().map(|d| 2.0 * d.re.ln()).sum())
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
        condition(self.rows(), self.sums.largest()?, |_, x| {
            let elements: Vec<T> = x.iter().map(|&x| T::from_complex(x)).collect();
            let mut buffer = Buffer::from_slice(self.device(), &elements)?;
            self.solve(MatMut::new(&mut buffer, layout)?)?;
            x.iter_mut().zip(buffer.to_vec()?).for_each(|(x, found)| *x = found.to_complex());
            Ok(())
        })
    }

    fn check_result(&self, operation: &'static str, to: &MatMut<'_, T>) -> BlasResult<()> {
        check_right_side(operation, self.factor()?.into(), to.as_ref().into())?;
        check_square(operation, "the result", to.rows(), to.columns())
    }
}
