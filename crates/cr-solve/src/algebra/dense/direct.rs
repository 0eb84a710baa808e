//! A X = B by factors of a dense A, on one device or by blocks of columns on all.

use super::factors::{Factors, Number};
use super::kept::FactorCheckpoint;
use lattice_cl::compute::{Buffer, Device, Team};
use lattice_cl::linalg::factor::{Cholesky, Lu, Qr, Refined, gels, mixed_gesv, mixed_posv};
use lattice_cl::linalg::split::factor::{self as split, FactorParams, Finished};
use lattice_cl::linalg::split::{HostMut, HostRef};
use lattice_cl::linalg::{BlasError, BlasResult, Diagonal, MatMut, MatRef, MatrixLayout, Op, Triangle};
use lattice_cl::scalar::Element;
use serde::Serialize;

/// A system with a dense matrix, row after row.
#[derive(Clone, Copy)]
pub struct System<'a, T> {
    pub a: &'a [T],
    pub b: &'a [T],
    pub rows: usize,
    pub columns: usize,
    /// Right-hand sides.
    pub sides: usize,
}

/// Corrections of a solution in double precision.
#[derive(Clone, Debug, Serialize)]
pub struct Refinement {
    pub steps: usize,
    /// The reason why A was factorised in double precision in the end.
    pub fell_back: Option<String>,
}

/// X, row after row, and what was learned of A.
pub struct Solution<T> {
    pub x: Vec<T>,
    pub condition: Option<f64>,
    pub refinement: Option<Refinement>,
}

/// Why there is no solution.
pub enum Refusal {
    /// The matrix does not have such factors: LAPACK's `info`, and the reason in words.
    Matrix(usize, String),
    Blas(BlasError),
}

impl From<BlasError> for Refusal {
    fn from(error: BlasError) -> Self {
        match error {
            BlasError::NotPositiveDefinite { order, .. } => Self::Matrix(order, error.to_string()),
            BlasError::Singular { pivot, .. } => Self::Matrix(pivot, error.to_string()),
            BlasError::RankDeficient { column, .. } => Self::Matrix(column, error.to_string()),
            error => Self::Blas(error),
        }
    }
}

impl From<lattice_cl::compute::DeviceError> for Refusal {
    fn from(error: lattice_cl::compute::DeviceError) -> Self {
        Self::Blas(error.into())
    }
}

type DirectResult<T> = Result<Solution<T>, Refusal>;

impl<T: Number> System<'_, T> {
    fn a_layout(&self) -> MatrixLayout {
        MatrixLayout::row_major(self.rows, self.columns)
    }

    fn b_layout(&self) -> MatrixLayout {
        MatrixLayout::row_major(self.rows, self.sides)
    }

    /// Returns the bytes of A, its factors and the right-hand sides.
    pub fn bytes_on_device(&self) -> u64 {
        let [rows, columns, sides] = [self.rows, self.columns, self.sides].map(|extent| extent as u64);
        let element = size_of::<T>() as u64;
        (3 * rows * columns + 4 * rows.max(columns) * sides).saturating_mul(element)
    }

    /// Solves on one device, with an estimate of the condition.
    pub fn on_device(&self, device: &Device, factors: Factors, single: bool) -> DirectResult<T> {
        let a = Buffer::from_slice(device, self.a)?;
        let a = MatRef::new(&a, self.a_layout())?;
        let mut x = Buffer::from_slice(device, self.b)?;
        let (layout, to) = (self.b_layout(), &mut x);
        if single {
            return self.refined(device, factors, a);
        }
        let condition = match factors {
            Factors::Cholesky => {
                let factor = Cholesky::new(Triangle::Lower, a)?;
                factor.check()?;
                factor.solve(MatMut::new(to, layout)?)?;
                Some(factor.condition()?)
            }
            Factors::Lu => {
                let factor = Lu::new(a)?;
                factor.check()?;
                factor.solve(Op::N, MatMut::new(to, layout)?)?;
                Some(factor.condition()?)
            }
            Factors::Qr if self.rows >= self.columns => {
                let factor = Qr::new(a)?;
                factor.check()?;
                factor.solve(MatMut::new(to, layout)?)?;
                Some(factor.condition()?)
            }
            Factors::Qr => return self.smallest(device),
        };
        let mut x = x.to_vec()?;
        x.truncate(self.columns * self.sides);
        Ok(Solution { x, condition, refinement: None })
    }

    /// Solves with factors in single precision.
    fn refined(&self, device: &Device, factors: Factors, a: MatRef<'_, T>) -> DirectResult<T> {
        let b = Buffer::from_slice(device, self.b)?;
        let b = MatRef::new(&b, self.b_layout())?;
        let mut x = Buffer::<T>::uninitialised(device, self.b.len())?;
        let to = MatMut::new(&mut x, self.b_layout())?;
        let Refined { steps, fall_back, info } = match factors {
            Factors::Cholesky => mixed_posv(Triangle::Lower, a, b, to)?,
            Factors::Lu | Factors::Qr => mixed_gesv(a, b, to)?,
        };
        expect(factors, self.rows, info)?;
        let fell_back = fall_back.map(|reason| reason.to_string());
        Ok(Solution { x: x.to_vec()?, condition: None, refinement: Some(Refinement { steps, fell_back }) })
    }

    /// Returns the smallest solution of fewer equations than unknowns.
    fn smallest(&self, device: &Device) -> DirectResult<T> {
        let mut a = Buffer::from_slice(device, self.a)?;
        let mut padded = self.b.to_vec();
        padded.resize(self.columns * self.sides, T::default());
        let mut x = Buffer::from_slice(device, &padded)?;
        let layout = MatrixLayout::row_major(self.columns, self.sides);
        let a = MatMut::new(&mut a, self.a_layout())?;
        let info = gels(Op::N, a, MatMut::new(&mut x, layout)?)?.wait()?;
        expect(Factors::Qr, self.rows, info)?;
        Ok(Solution { x: x.to_vec()?, condition: None, refinement: None })
    }

    /// Returns the layout of the matrix that is factorised: A, or Aᴴ for reflectors of a wide A.
    pub fn factored_layout(&self, factors: Factors) -> MatrixLayout {
        let layout = self.a_layout();
        if factors == Factors::Qr && self.rows < self.columns { layout.transposed() } else { layout }
    }

    /// Solves on all devices of a team, or the host. `watch` is called after each block of columns.
    ///
    /// `kept` are columns that an earlier run has finished, which fit the matrix.
    pub fn by_blocks(
        &self,
        team: &Team,
        params: &FactorParams,
        factors: Factors,
        kept: Option<&FactorCheckpoint>,
        watch: &mut dyn FnMut(Finished<'_, T>) -> bool,
    ) -> DirectResult<T> {
        let params = &params.clone().with_finished(kept.map_or(0, |kept| kept.columns));
        if factors == Factors::Qr {
            let x = self.by_reflectors(team, params, kept, watch)?;
            return Ok(Solution { x, condition: None, refinement: None });
        }
        let (mut a, mut x) = (self.a.to_vec(), self.b.to_vec());
        let (layout, b_layout) = (self.a_layout(), self.b_layout());
        kept.iter().for_each(|kept| kept.restore(&layout, &mut a));
        let to = HostMut::new(&mut a, layout)?;
        if factors == Factors::Cholesky {
            let triangle = Triangle::Lower;
            let info = split::potrf(team, params, watch, triangle, to)?;
            expect(factors, self.rows, info)?;
            let b = HostMut::new(&mut x, b_layout)?;
            split::potrs(team, params, triangle, HostRef::new(&a, layout)?, b)?;
        } else {
            let mut pivots = kept.map_or_else(Vec::new, FactorCheckpoint::pivots);
            pivots.resize(self.rows, 0);
            let info = split::getrf(team, params, watch, to, &mut pivots)?;
            expect(factors, self.rows, info)?;
            let b = HostMut::new(&mut x, b_layout)?;
            split::getrs(team, params, Op::N, HostRef::new(&a, layout)?, &pivots, b)?;
        }
        Ok(Solution { x, condition: None, refinement: None })
    }

    /// Returns the least squares solution, or the smallest one of fewer equations than unknowns.
    fn by_reflectors(
        &self,
        team: &Team,
        params: &FactorParams,
        kept: Option<&FactorCheckpoint>,
        watch: &mut dyn FnMut(Finished<'_, T>) -> bool,
    ) -> Result<Vec<T>, Refusal> {
        let layout = self.factored_layout(Factors::Qr);
        let is_tall = self.rows >= self.columns;
        let mut factors: Vec<T> =
            if is_tall { self.a.to_vec() } else { self.a.iter().map(|&x| conjugate(x)).collect() };
        kept.iter().for_each(|kept| kept.restore(&layout, &mut factors));
        let (rows, count) = (layout.rows, layout.columns);
        let mut tau = kept.map_or_else(Vec::new, FactorCheckpoint::tau);
        tau.resize(count, T::default());
        split::geqrf(team, params, watch, HostMut::new(&mut factors, layout)?, &mut tau)?;
        let zero = (0..count).find(|&k| factors[layout.index(k, k)] == T::default());
        if let Some(column) = zero {
            let (rows, columns) = (self.rows, self.columns);
            return Err(BlasError::RankDeficient { column: column + 1, rows, columns }.into());
        }
        let mut x = self.b.to_vec();
        x.resize(rows * self.sides, T::default());
        let x_layout = MatrixLayout::row_major(rows, self.sides);
        let upper = layout.submatrix(0..count, 0..count)?;
        let triangle = |op: Op, x: &mut [T]| -> BlasResult<()> {
            let (r, first) = (HostRef::new(&factors, upper)?, x_layout.submatrix(0..count, 0..self.sides)?);
            split::trsm(team, params, Triangle::Upper, op, Diagonal::Stored, r, HostMut::new(x, first)?)
        };
        let rotate = |op: Op, x: &mut [T]| -> BlasResult<()> {
            let q = HostRef::new(&factors, layout)?;
            split::unmqr(team, params, op, q, &tau, HostMut::new(x, x_layout)?)
        };
        if is_tall {
            rotate(Op::C, &mut x)?;
            triangle(Op::N, &mut x)?;
        } else {
            triangle(Op::C, &mut x)?;
            rotate(Op::N, &mut x)?;
        }
        x.truncate(self.columns * self.sides);
        Ok(x)
    }
}

fn conjugate<T: Element>(x: T) -> T {
    T::from_complex(x.to_complex().conj())
}

/// Refuses a matrix whose factorisation has failed.
pub fn expect(factors: Factors, rows: usize, info: usize) -> Result<(), Refusal> {
    if info == 0 {
        return Ok(());
    }
    let error = match factors {
        Factors::Cholesky => BlasError::NotPositiveDefinite { order: info, rows },
        Factors::Lu => BlasError::Singular { pivot: info, rows },
        Factors::Qr => BlasError::RankDeficient { column: info, rows, columns: rows },
    };
    Err(error.into())
}
