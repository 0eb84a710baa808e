//! QR factors with memory of their own.

use super::kernels::Kernels;
use super::least_squares::{System, check_system};
use super::{check_tall, geqrf, ungqr, unmqr};
use crate::block::Block;
use crate::completion::Completion;
use crate::error::{BlasError, BlasResult};
use crate::factor::ColumnSums;
use crate::factor::condition::{Which, condition};
use crate::factor::info::{Info, Word};
use crate::level2::{check_device, check_extent, check_single};
use crate::level3::{Diagonal, Side, Triangle};
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use crate::op::Op;
use crate::triangular::{Kernels as TriangleKernels, clear, trsm};
use lattice_compute::scalar::{Element, ElementType};
use lattice_compute::{Buffer, Device};

/// The factors of A = Q R for an A with at least as many rows as columns.
///
/// ```
/// # use lattice_linalg::factor::Qr;
/// # use lattice_linalg::{MatMut, MatRef, MatrixLayout, Op};
/// # use lattice_compute::{Buffer, Selector, Team};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let team = Team::select([Selector::Auto])?;
/// # let Some(device) = team.devices().first() else { return Ok(()) };
/// // A line through (0, 1), (1, 3) and (2, 5)
/// let a = Buffer::from_slice(device, &[1.0, 0.0, 1.0, 1.0, 1.0, 2.0])?;
/// let mut b = Buffer::from_slice(device, &[1.0, 3.0, 5.0])?;
/// let qr = Qr::new(MatRef::new(&a, MatrixLayout::row_major(3, 2))?)?;
/// qr.solve(MatMut::new(&mut b, MatrixLayout::column_major(3, 1))?)?;
/// qr.check()?; // A has full rank.
/// let line = b.to_vec()?;
/// assert!((line[0] - 1.0_f64).abs() < 1e-14 && (line[1] - 2.0).abs() < 1e-14);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Qr<T> {
    factors: Buffer<T>,
    tau: Buffer<T>,
    layout: MatrixLayout,
    sums: ColumnSums,
    info: Info,
}

impl<T: Element> Qr<T> {
    /// Copies A and starts its factorisation.
    ///
    /// # Errors
    /// [`BlasError::Shape`] if A has more columns than rows, and the errors of [`geqrf`].
    pub fn new(a: MatRef<'_, T>) -> BlasResult<Self> {
        check_tall("Qr", "A", a.rows(), a.columns())?;
        check_single("Qr", a.count())?;
        let (device, columns) = (a.device(), a.columns());
        let layout = MatrixLayout::column_major(a.rows(), columns);
        let mut factors = Buffer::uninitialised(device, a.rows() * columns)?;
        let mut tau = Buffer::uninitialised(device, columns)?;
        let mut word = Word::new(device)?;
        if columns > 0 {
            let to = Block::at((&mut factors).into(), &layout);
            TriangleKernels::of(device, ElementType::of::<T>())?.copy(Block::of(a), to)?;
        }
        let mut completion = geqrf(MatMut::new(&mut factors, layout)?, &mut tau)?;
        let square = Block::at((&factors).into(), &layout).rows_of(0..columns);
        if columns > 0 {
            let searched = Kernels::of(device, square.element)?.first_zero(square, word.argument())?;
            completion.append(Completion::of(vec![searched]));
        }
        // The condition of A is that of R in the 2-norm, and is estimated from R.
        let mut upper = Buffer::<T>::uninitialised(device, columns * columns)?;
        if columns > 0 {
            let kernels = TriangleKernels::of(device, ElementType::of::<T>())?;
            kernels.spread_diagonal(columns, square, false, false, (&mut upper).into())?;
        }
        let sums =
            ColumnSums::start(MatRef::new(&upper, MatrixLayout::column_major(columns, columns))?, None)?;
        Ok(Self { factors, tau, layout, sums, info: word.with(completion) })
    }

    /// Returns the number of rows of A.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Returns the number of columns of A.
    pub fn columns(&self) -> usize {
        self.layout.columns
    }

    /// Returns the device that the factors are on.
    pub fn device(&self) -> &Device {
        self.factors.device()
    }

    /// Returns R, and below its diagonal the reflectors of Q.
    ///
    /// # Errors
    /// None that a matrix of its own can have.
    pub fn factors(&self) -> BlasResult<MatRef<'_, T>> {
        MatRef::new(&self.factors, self.layout)
    }

    /// Returns the factors τ of the reflectors.
    pub fn tau(&self) -> &Buffer<T> {
        &self.tau
    }

    /// Waits for the factorisation, and returns the number of the first zero on the diagonal of R.
    ///
    /// The number is counted from 1, and is 0 if there is no zero.
    ///
    /// # Errors
    /// [`BlasError::Device`] if the work failed.
    pub fn info(&self) -> BlasResult<usize> {
        Ok(self.info.wait()?)
    }

    /// Waits for the factorisation, and checks that no element on the diagonal of R is zero.
    ///
    /// # Errors
    /// [`BlasError::RankDeficient`]; [`BlasError::Device`] if the work failed.
    pub fn check(&self) -> BlasResult<()> {
        match self.info()? {
            0 => Ok(()),
            column => Err(BlasError::RankDeficient { column, rows: self.rows(), columns: self.columns() }),
        }
    }

    /// Starts X with the least ‖B − A X‖ in the first rows of B.
    ///
    /// The size of each column's other rows is then that of its residual. B stays as it was if
    /// [`check`](Self::check) fails.
    ///
    /// # Errors
    /// The errors of [`gels`](super::gels()).
    pub fn solve(&self, b: MatMut<'_, T>) -> BlasResult<Completion> {
        check_system("solve", self.factors()?.into(), b.as_ref().into())?;
        let mut events = Vec::new();
        if self.columns() > 0 {
            let system = System::new(Block::of(self.factors()?));
            let (tau, word) = ((&self.tau).into(), self.info.word());
            system.solve(self.device(), Op::N, tau, word, Block::of_mut(b), &mut events)?;
        }
        Ok(Completion::of(events))
    }

    /// Starts C = op(Q) C, or with [`Side::Right`] C = C op(Q), for the whole, square Q.
    ///
    /// # Errors
    /// The errors of [`unmqr`].
    pub fn multiply_q(&self, side: Side, op: Op, c: MatMut<'_, T>) -> BlasResult<Completion> {
        unmqr(side, op, self.factors()?, &self.tau, c)
    }

    /// Starts to write the columns of Q that belong to those of A.
    ///
    /// # Errors
    /// [`BlasError::Shape`] if the result has not the shape of A, and the errors of [`ungqr`].
    pub fn q(&self, mut to: MatMut<'_, T>) -> BlasResult<Completion> {
        self.check_result("q", &to)?;
        let mut completion = Completion::nothing();
        if self.columns() > 0 {
            let kernels = TriangleKernels::of(self.device(), ElementType::of::<T>())?;
            let from = Block::of(self.factors()?);
            let copied = kernels.copy(from, Block::of_mut(to.reborrow()))?;
            completion.append(Completion::of(vec![copied]));
        }
        completion.append(ungqr(to, &self.tau)?);
        Ok(completion)
    }

    /// Starts to write Q R, which is A up to rounding.
    ///
    /// # Errors
    /// The errors of [`q`](Self::q).
    pub fn reconstruct(&self, mut to: MatMut<'_, T>) -> BlasResult<Completion> {
        self.check_result("reconstruct", &to)?;
        let n = self.columns();
        if n == 0 {
            return Ok(Completion::nothing());
        }
        let kernels = TriangleKernels::of(self.device(), ElementType::of::<T>())?;
        let mut completion = {
            let to = Block::of_mut(to.reborrow());
            let below = clear(self.device(), to.rows_of(n..self.rows()))?;
            let square = Block::of(self.factors()?).rows_of(0..n);
            let mut upper = self.device().scratch_of(square.element, n * n)?;
            let upper = Block::at(upper.output(), &MatrixLayout::column_major(n, n));
            let mut events = below.into_events();
            events.push(kernels.spread_diagonal(n, square, false, false, upper.elements)?);
            events.push(kernels.copy(upper, to.rows_of(0..n))?);
            Completion::of(events)
        };
        completion.append(self.multiply_q(Side::Left, Op::N, to)?);
        Ok(completion)
    }

    /// Returns an estimate of ‖R‖₁ ‖R⁻¹‖₁, seldom below a third of it.
    ///
    /// The condition number of A in the 2-norm is at most √n times as large, for n columns, and at
    /// least 1/√n times. The function waits for a few solutions.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    pub fn condition(&self) -> BlasResult<f64> {
        self.check()?;
        let (n, leading) = (self.columns(), self.rows().max(1));
        let square = MatRef::new(&self.factors, MatrixLayout::column_major(n, n).leading_dimension(leading))?;
        condition(n, self.sums.largest()?, |which, x| {
            let elements: Vec<T> = x.iter().map(|&x| T::from_complex(x)).collect();
            let mut buffer = Buffer::from_slice(self.device(), &elements)?;
            let op = if which == Which::Plain { Op::N } else { Op::C };
            let column = MatMut::new(&mut buffer, MatrixLayout::column_major(n, 1))?;
            trsm(Side::Left, Triangle::Upper, op, Diagonal::Stored, 1, square, column)?;
            x.iter_mut().zip(buffer.to_vec()?).for_each(|(x, found)| *x = found.to_complex());
            Ok(())
        })
    }

    fn check_result(&self, operation: &'static str, to: &MatMut<'_, T>) -> BlasResult<()> {
        check_extent(operation, "the result", "rows", self.rows(), to.rows(), "as A has")?;
        check_extent(operation, "the result", "columns", self.columns(), to.columns(), "as A has")?;
        check_single(operation, to.count())?;
        check_device(operation, "A", to.device(), self.device())
    }
}
