//! The vector space of vectors at a place: what a Krylov solver needs of them.

mod chebyshev;
mod kernel_text;
mod kernels;

pub(super) use chebyshev::CHEBYSHEV_STEP;

use super::processor::Processor;
use super::vector::Vector;
use crate::error::{BlasError, BlasResult};
use crate::host::level1::{self, Arithmetic};
use kernels::Kernels;
use lattice_compute::scalar::Element;
use lattice_compute::{Buffer, Device, DeviceKind, Number};
use lattice_solvers::VectorSpace;
use lattice_solvers::update::{self, Formula};
use num_complex::Complex64;
use std::sync::Arc;
use std::time::Duration;

/// The space of vectors of one length at one place.
///
/// Vectors of real elements make a real space: scalars have the imaginary part zero. The inner
/// product is Σ conj(xᵢ) yᵢ, accumulated in double. On a device scalars stay there as [`Number`]s.
/// A space is cheap to clone.
pub struct Space<T> {
    place: Processor,
    len: usize,
    /// `None` on the host.
    kernels: Option<Arc<Kernels<T>>>,
}

impl<T> Clone for Space<T> {
    fn clone(&self) -> Self {
        Self { place: self.place.clone(), len: self.len, kernels: self.kernels.clone() }
    }
}

/// Bytes that a GPU moves while the host reads a number and enqueues more work.
const BYTES_DURING_A_READ: u64 = 80 << 20;

/// Bytes that a core of a processor moves meanwhile.
const BYTES_OF_CORE_DURING_A_READ: u64 = 512 << 10;

impl<T: Arithmetic> Space<T> {
    /// Makes the space of vectors of this length.
    ///
    /// # Errors
    /// If a driver does not take the kernels.
    pub fn new(place: &Processor, len: usize) -> BlasResult<Self> {
        let kernels = match place {
            Processor::Host => None,
            Processor::Device(device) => Some(device.attached(Kernels::new)?),
        };
        Ok(Self { place: place.clone(), len, kernels })
    }

    /// Returns the place of the vectors.
    pub fn place(&self) -> &Processor {
        &self.place
    }

    /// Refuses a vector of another length or place.
    pub(super) fn check(
        &self,
        operation: &'static str,
        operand: &'static str,
        vector: &Vector<T>,
    ) -> BlasResult<()> {
        expect(operation, operand, (&self.place, self.len), vector, "as the space has")
    }

    fn on_device(&self) -> Option<(&Device, &Kernels<T>)> {
        match (&self.place, &self.kernels) {
            (Processor::Device(device), Some(kernels)) => Some((device, kernels)),
            _ => None,
        }
    }
}

/// Refuses a vector that has another length or place than is wanted.
pub(super) fn expect<T: Element>(
    operation: &'static str,
    operand: &'static str,
    (place, wanted): (&Processor, usize),
    vector: &Vector<T>,
    reason: &'static str,
) -> BlasResult<()> {
    let found = vector.len();
    if found != wanted {
        let operand = operand.to_owned();
        return Err(BlasError::Shape { operation, operand, extent: "elements", wanted, found, reason });
    }
    let own = vector.place();
    if own != *place {
        return Err(BlasError::OtherDevice { operation, operand, wanted: place.label(), found: own.label() });
    }
    Ok(())
}

/// The vectors of an operation that all lie on the host.
fn of_host<T>(vector: &Vector<T>) -> &[T] {
    match vector {
        Vector::Host(values) => values,
        Vector::Device(_) => unreachable!("the place was checked"),
    }
}

fn of_host_mut<T>(vector: &mut Vector<T>) -> &mut [T] {
    match vector {
        Vector::Host(values) => values,
        Vector::Device(_) => unreachable!("the place was checked"),
    }
}

impl<T: Arithmetic> VectorSpace for Space<T> {
    type Vector = Vector<T>;
    type Scalar = Number;
    type Error = BlasError;

    fn dimension(&self) -> usize {
        self.len
    }

    fn component_bytes(&self) -> usize {
        size_of::<T>()
    }

    fn bytes_during_a_read(&self) -> u64 {
        match self.on_device() {
            None => 0,
            Some((device, _)) => match device.info().kind {
                DeviceKind::Cpu => BYTES_OF_CORE_DURING_A_READ * device.info().compute_units as u64,
                _ => BYTES_DURING_A_READ,
            },
        }
    }

    fn time_aside(&self) -> Duration {
        self.on_device().map_or(Duration::ZERO, |(device, _)| device.compile_time())
    }

    fn zero_vector(&self) -> BlasResult<Vector<T>> {
        Vector::zero(&self.place, self.len)
    }

    fn scratch_vector(&self) -> BlasResult<Vector<T>> {
        match &self.place {
            Processor::Host => self.zero_vector(),
            Processor::Device(device) => {
                Ok(Vector::Device(Box::new(Buffer::uninitialised(device, self.len)?)))
            }
        }
    }

    fn copy(&self, from: &Vector<T>, to: &mut Vector<T>) -> BlasResult<()> {
        self.check("copy", "x", from)?;
        self.check("copy", "y", to)?;
        match (from, to) {
            (Vector::Device(from), Vector::Device(to)) => to.copy_from(&**from)?,
            (from, to) => of_host_mut(to).copy_from_slice(of_host(from)),
        }
        Ok(())
    }

    fn set_zero(&self, x: &mut Vector<T>) -> BlasResult<()> {
        self.check("set to zero", "x", x)?;
        x.set_zero()
    }

    fn axpy(&self, a: &Number, x: &Vector<T>, y: &mut Vector<T>) -> BlasResult<()> {
        if self.kernels.is_some() {
            return update::AXPY.apply(self, [a], [x], [y]).map(drop);
        }
        self.check("axpy", "x", x)?;
        self.check("axpy", "y", y)?;
        let a = T::from_complex(a.value()?);
        level1::axpy(a, of_host(x), of_host_mut(y));
        Ok(())
    }

    fn xpby(&self, x: &Vector<T>, b: &Number, y: &mut Vector<T>) -> BlasResult<()> {
        if self.kernels.is_some() {
            return update::XPBY.apply(self, [b], [x], [y]).map(drop);
        }
        self.check("xpby", "x", x)?;
        self.check("xpby", "y", y)?;
        let b = T::from_complex(b.value()?);
        level1::xpby(of_host(x), b, of_host_mut(y));
        Ok(())
    }

    fn dot(&self, x: &Vector<T>, y: &Vector<T>) -> BlasResult<Number> {
        if self.kernels.is_some() {
            let [sum] = update::DOT.apply(self, [], [x, y], [])?;
            return Ok(sum);
        }
        self.check("dot", "x", x)?;
        self.check("dot", "y", y)?;
        Ok(level1::dotc(of_host(x), of_host(y)).into())
    }

    fn norm2(&self, x: &Vector<T>) -> BlasResult<Number> {
        if self.kernels.is_some() {
            let [sum] = update::NORM2.apply(self, [], [x], [])?;
            return Ok(sum);
        }
        self.check("norm2", "x", x)?;
        Ok(Complex64::from(level1::norm2(of_host(x))).into())
    }

    fn update(
        &self,
        formula: &Formula,
        factors: &[&Number],
        read: &[&Vector<T>],
        written: &mut [&mut Vector<T>],
    ) -> BlasResult<Vec<Number>> {
        let Some((device, kernels)) = self.on_device() else {
            return self.update_plainly(formula, factors, read, written);
        };
        for vector in read.iter().copied().chain(written.iter().map(|vector| &**vector)) {
            self.check(formula.name(), "a vector", vector)?;
        }
        kernels.update(device, self.len, formula, factors, read, written)
    }

    fn scalar(&self, value: Complex64) -> Number {
        value.into()
    }

    fn inner_product(&self, value: Complex64) -> BlasResult<Number> {
        Ok(match self.on_device() {
            None => value.into(),
            Some((device, _)) => Number::on_device(device, value)?,
        })
    }

    fn quotient(&self, numerator: &Number, denominator: &Number) -> Number {
        numerator.over(denominator)
    }

    fn conjugate(&self, a: &Number) -> Number {
        a.conj()
    }

    fn negate(&self, a: &Number) -> Number {
        a.over(&Complex64::from(-1.0).into())
    }

    fn read_all(&self, scalars: &[&Number]) -> BlasResult<Vec<Complex64>> {
        Ok(Number::values(scalars)?)
    }
}
