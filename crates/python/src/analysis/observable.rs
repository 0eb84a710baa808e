//! A mean or a function of means, with its error.

use super::measurements::Measurements;
use crate::failure::{Raised, invalid};
use crate::numbers::array;
use crate::work;
use lattice_cli::report::with_error;
use lattice_statistics::{
    AnyQuantity, HyperDual, Quantity, Resampling, StatisticsResult, Uncertain, WINDOW_PARAMETER,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A mean or a function of means, with its error. It never changes.
#[pyclass(frozen, module = "lattice_cl.analysis")]
pub struct Observable(pub AnyQuantity);

/// An operand of arithmetic.
pub enum Operand {
    Observable(Py<Observable>),
    Number(f64),
}

impl<'py> FromPyObject<'_, 'py> for Operand {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(observable) = object.cast::<Observable>() {
            return Ok(Self::Observable(observable.to_owned().unbind()));
        }
        // An array of numpy does its arithmetic itself, with an observable for each element.
        if object.getattr("ndim").is_ok_and(|axes| axes.extract().is_ok_and(|axes: usize| axes > 0)) {
            return Err(PyTypeError::new_err("arrays are no operands of observables"));
        }
        object.extract().map(Self::Number)
    }
}

/// Returns the power, also of a negative number if the exponent is an integer.
fn power(base: HyperDual, exponent: HyperDual) -> HyperDual {
    let is_constant = exponent == HyperDual::constant(exponent.value);
    let integer = exponent.value as i32;
    match (is_constant, f64::from(integer) == exponent.value) {
        (true, true) => base.powi(integer),
        (true, false) => base.powf(exponent.value),
        (false, _) => (exponent * base.ln()).exp(),
    }
}

impl Observable {
    /// Returns a function of the observable and an operand.
    fn with(
        &self,
        py: Python<'_>,
        other: Operand,
        function: impl Fn(HyperDual, HyperDual) -> HyperDual + Send + Sync,
    ) -> PyResult<Self> {
        match other {
            Operand::Observable(other) => {
                let inputs = [&self.0, &other.get().0];
                checked(py, || AnyQuantity::derived(&inputs, |x| function(x[0], x[1]))).map(Self)
            }
            Operand::Number(number) => self.mapped(py, |x| function(x, HyperDual::constant(number))),
        }
    }

    /// Returns a function of the observable.
    fn mapped(
        &self,
        py: Python<'_>,
        function: impl Fn(HyperDual) -> HyperDual + Send + Sync,
    ) -> PyResult<Self> {
        checked(py, || AnyQuantity::derived(&[&self.0], |x| function(x[0]))).map(Self)
    }

    /// Returns the error, NaN if nothing fluctuates.
    pub fn error_by(&self, window_parameter: f64) -> StatisticsResult<f64> {
        Ok(self.0.error(window_parameter)?.filter(|error| *error > 0.0).unwrap_or(f64::NAN))
    }
}

/// Does short work of the library.
///
/// # Errors
/// Those of the work as exceptions, and those of [`work::aside`].
pub fn checked<T: Send>(py: Python<'_>, work: impl FnOnce() -> StatisticsResult<T> + Send) -> PyResult<T> {
    work::aside(py, work)?.map_err(|error| error.raised(py))
}

#[pymethods]
impl Observable {
    #[new]
    #[pyo3(signature = (samples, *, replica = None, numbers = None, gaps = "refuse"))]
    fn new(
        samples: &Bound<'_, PyAny>,
        replica: Option<Vec<String>>,
        numbers: Option<&Bound<'_, PyAny>>,
        gaps: &str,
    ) -> PyResult<Self> {
        let py = samples.py();
        let Measurements { series, shape } = Measurements::read(samples, replica, numbers, gaps)?;
        let mut quantities = checked(py, || AnyQuantity::of_series(&series, None))?;
        match quantities.pop().filter(|_| shape.is_empty()) {
            Some(quantity) => Ok(Self(quantity)),
            None => {
                let message =
                    format!("there are {shape:?} numbers on each configuration; observables() takes them");
                Err(invalid(py, message))
            }
        }
    }

    /// The value.
    #[getter]
    fn value(&self) -> f64 {
        self.0.value()
    }

    /// The statistical error, NaN if nothing fluctuates.
    #[getter]
    fn error(&self, py: Python<'_>) -> PyResult<f64> {
        checked(py, || self.error_by(WINDOW_PARAMETER))
    }

    /// The method of the error.
    #[getter]
    fn method(&self) -> &'static str {
        match &self.0 {
            AnyQuantity::Observable(_) => "gamma",
            AnyQuantity::Resampled(quantity) => match quantity.resampling() {
                Resampling::Jackknife { .. } => "jackknife",
                Resampling::Bootstrap { .. } => "bootstrap",
            },
        }
    }

    /// The value on each resample.
    #[getter]
    fn samples(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match &self.0 {
            AnyQuantity::Observable(_) => Ok(None),
            AnyQuantity::Resampled(quantity) => {
                let samples = quantity.samples().to_vec();
                let shape = vec![samples.len()];
                array(py, samples, shape).map(Some)
            }
        }
    }

    /// The estimate of the bias by resampling.
    #[getter]
    fn bias(&self) -> Option<f64> {
        match &self.0 {
            AnyQuantity::Observable(_) => None,
            AnyQuantity::Resampled(quantity) => Some(quantity.bias()),
        }
    }

    /// Configuration numbers and deviations from the mean for each replica.
    #[getter]
    fn fluctuations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let chains = PyDict::new(py);
        let AnyQuantity::Observable(observable) = &self.0 else { return Ok(chains) };
        for chain in observable.replica() {
            let (numbers, deviations) = (chain.trajectories().numbers(), chain.deviations());
            let shape = vec![deviations.len()];
            let arrays =
                (array(py, numbers.to_vec(), shape.clone())?, array(py, deviations.to_vec(), shape)?);
            chains.set_item(chain.name(), arrays)?;
        }
        Ok(chains)
    }

    fn __add__(&self, py: Python<'_>, other: Operand) -> PyResult<Self> {
        self.with(py, other, |x, y| x + y)
    }

    fn __radd__(&self, py: Python<'_>, other: Operand) -> PyResult<Self> {
        self.with(py, other, |x, y| y + x)
    }

    fn __sub__(&self, py: Python<'_>, other: Operand) -> PyResult<Self> {
        self.with(py, other, |x, y| x - y)
    }

    fn __rsub__(&self, py: Python<'_>, other: Operand) -> PyResult<Self> {
        self.with(py, other, |x, y| y - x)
    }

    fn __mul__(&self, py: Python<'_>, other: Operand) -> PyResult<Self> {
        self.with(py, other, |x, y| x * y)
    }

    fn __rmul__(&self, py: Python<'_>, other: Operand) -> PyResult<Self> {
        self.with(py, other, |x, y| y * x)
    }

    fn __truediv__(&self, py: Python<'_>, other: Operand) -> PyResult<Self> {
        self.with(py, other, |x, y| x / y)
    }

    fn __rtruediv__(&self, py: Python<'_>, other: Operand) -> PyResult<Self> {
        self.with(py, other, |x, y| y / x)
    }

    fn __pow__(
        &self,
        py: Python<'_>,
        exponent: Operand,
        modulus: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        expect_no_modulus(modulus)?;
        self.with(py, exponent, power)
    }

    fn __rpow__(&self, py: Python<'_>, base: Operand, modulus: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        expect_no_modulus(modulus)?;
        self.with(py, base, |exponent, base| power(base, exponent))
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, |x| -x)
    }

    fn __abs__(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, HyperDual::abs)
    }

    /// Returns the natural logarithm.
    fn log(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, HyperDual::ln)
    }

    /// Returns the exponential.
    fn exp(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, HyperDual::exp)
    }

    /// Returns the square root.
    fn sqrt(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, HyperDual::sqrt)
    }

    /// Returns the sine.
    fn sin(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, HyperDual::sin)
    }

    /// Returns the cosine.
    fn cos(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, HyperDual::cos)
    }

    /// Returns the hyperbolic sine.
    fn sinh(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, HyperDual::sinh)
    }

    /// Returns the hyperbolic cosine.
    fn cosh(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, HyperDual::cosh)
    }

    /// Returns the hyperbolic tangent.
    fn tanh(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, HyperDual::tanh)
    }

    /// Returns the positive number whose hyperbolic cosine this is.
    fn arccosh(&self, py: Python<'_>) -> PyResult<Self> {
        self.mapped(py, HyperDual::acosh)
    }

    /// The value with its error, or alone if there is no error.
    fn __str__(&self, py: Python<'_>) -> String {
        with_error(self.value(), self.error(py).unwrap_or(f64::NAN))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<Observable {}>", self.__str__(py))
    }
}

/// Refuses the third argument of `pow`.
fn expect_no_modulus(modulus: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match modulus {
        Some(_) => Err(PyTypeError::new_err("observables have no remainder")),
        None => Ok(()),
    }
}
