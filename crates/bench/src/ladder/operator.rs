//! A rung as the operator of a solver, with vectors that are buffers.

use super::fields::Fields;
use super::rungs::BuiltRung;
use lattice_cl::compute::{Buffer, Device, DeviceError};
use lattice_cl::linalg;
use lattice_solvers::update::{DIRECTION_AND_IMAGE, Formula, RESIDUAL};
use lattice_solvers::{LinearOperator, VectorSpace, Work};
use num_complex::Complex64;

type Vector = Buffer<Complex64>;

/// Spinor fields of the ladder.
///
/// Scalars are plain numbers: every sum is waited for.
#[derive(Debug)]
pub struct LadderSpace {
    pub device: Device,
    pub len: usize,
}

impl VectorSpace for LadderSpace {
    type Vector = Vector;
    type Scalar = Complex64;
    type Error = DeviceError;

    fn dimension(&self) -> usize {
        self.len
    }

    fn component_bytes(&self) -> usize {
        size_of::<Complex64>()
    }

    fn zero_vector(&self) -> Result<Vector, DeviceError> {
        Buffer::zeroed(&self.device, self.len)
    }

    fn copy(&self, from: &Vector, to: &mut Vector) -> Result<(), DeviceError> {
        linalg::copy(from, to).map(drop)
    }

    fn axpy(&self, a: &Complex64, x: &Vector, y: &mut Vector) -> Result<(), DeviceError> {
        linalg::axpy(*a, x, y).map(drop)
    }

    fn xpby(&self, x: &Vector, b: &Complex64, y: &mut Vector) -> Result<(), DeviceError> {
        linalg::xpby(x, *b, y).map(drop)
    }

    fn dot(&self, x: &Vector, y: &Vector) -> Result<Complex64, DeviceError> {
        linalg::dotc(x, y)?.wait()
    }

    fn norm2(&self, x: &Vector) -> Result<Complex64, DeviceError> {
        Ok(linalg::norm2(x)?.wait()?.into())
    }

    fn scalar(&self, value: Complex64) -> Complex64 {
        value
    }

    fn quotient(&self, numerator: &Complex64, denominator: &Complex64) -> Complex64 {
        if *denominator == Complex64::ZERO { Complex64::ZERO } else { numerator / denominator }
    }

    fn conjugate(&self, a: &Complex64) -> Complex64 {
        a.conj()
    }

    fn negate(&self, a: &Complex64) -> Complex64 {
        -a
    }

    fn read_all(&self, scalars: &[&Complex64]) -> Result<Vec<Complex64>, DeviceError> {
        Ok(scalars.iter().map(|scalar| **scalar).collect())
    }

    fn update(
        &self,
        formula: &Formula,
        factors: &[&Complex64],
        read: &[&Vector],
        written: &mut [&mut Vector],
    ) -> Result<Vec<Complex64>, DeviceError> {
        match (factors, read, &mut *written) {
            ([a], [q], [r]) if formula == RESIDUAL.formula() => {
                Ok(vec![linalg::axpy_norm2(-**a, *q, &mut **r)?.wait()?.into()])
            }
            ([b], [r, s], [p, q]) if formula == DIRECTION_AND_IMAGE.formula() => {
                let (product, norm2) = linalg::cr_direction(**b, *r, &mut **p, *s, &mut **q)?.wait()?;
                Ok(vec![product, norm2.into()])
            }
            _ => self.update_plainly(formula, factors, read, written),
        }
    }
}

/// M = 1 − κH, applied by one of the rungs.
pub struct LadderOperator<'a> {
    pub space: LadderSpace,
    pub rung: &'a BuiltRung,
    pub fields: &'a Fields,
    pub kappa: f64,
    pub work: Work,
}

impl LinearOperator for LadderOperator<'_> {
    type Space = LadderSpace;

    fn space(&self) -> &LadderSpace {
        &self.space
    }

    fn apply(&self, x: &Vector, out: &mut Vector) -> Result<(), DeviceError> {
        self.rung.apply(self.fields, self.kappa, x, out).map(drop)
    }

    fn work(&self) -> Work {
        self.work
    }
}
