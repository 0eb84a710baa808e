//! Sparse matrices, and systems of equations with them.

use super::devices::DevicesArgument;
use super::failure::{Raised, invalid, parsed};
use super::numbers::{array, contiguous};
use super::work::{self, Exchange, News};
use lattice_cl::compute::DeviceError;
use lattice_cl::linalg::host::level1::Arithmetic;
use lattice_cl::linalg::sparse::market::{AnyCsr, Market};
use lattice_cl::linalg::sparse::solve::{Attempt, Method, SolveError, SolveOptions, Solved, solve};
use lattice_cl::linalg::sparse::{Coo, Csr, Entry, Problem, Processor};
use lattice_solvers::{Look, Stopping};
use num_complex::Complex64;
use numpy::{PyArray1, PyArrayDescr, PyUntypedArrayMethods, dtype};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

enum Numbers {
    Real(Arc<Csr<f64>>),
    Complex(Arc<Csr<Complex64>>),
}

/// Does the same with numbers of any type.
macro_rules! with_numbers {
    ($numbers:expr, $csr:ident => $do:expr) => {
        match $numbers {
            Numbers::Real($csr) => $do,
            Numbers::Complex($csr) => $do,
        }
    };
}

/// A sparse matrix in the host's memory, by rows.
#[pyclass(frozen, module = "lattice_cl.sparse")]
pub struct SparseMatrix {
    numbers: Numbers,
}

/// A solution with how it was found, as `lattice_cl.sparse` takes it.
///
/// The solution, whether it meets the tolerance, the attempts, the residual, the backward error, symmetry, format, place, and warnings.
type SparseSolution = (Py<PyAny>, bool, Vec<Tried>, f64, f64, &'static str, String, String, Vec<String>);

/// An attempt: method, preconditioner, iterations, residual, seconds, seconds of the preconditioner, failure, history.
type Tried = (&'static str, String, usize, f64, f64, f64, Option<String>, Py<PyArray1<f64>>);

/// The error of a solve.
enum Failed {
    Device(DeviceError),
    Solve(SolveError),
}

#[pymethods]
impl SparseMatrix {
    /// Reads a Matrix Market file, compressed or not.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let market = work::run(py, None, move |_| Market::read(&path))?.map_err(|error| error.raised(py))?;
        let numbers = match work::aside(py, || market.to_csr())?.map_err(|error| error.raised(py))? {
            AnyCsr::Real(csr) => Numbers::Real(Arc::new(csr)),
            AnyCsr::Complex(csr) => Numbers::Complex(Arc::new(csr)),
        };
        Ok(Self { numbers })
    }

    /// Makes the matrix of a model problem, for example `poisson3d:32`.
    #[staticmethod]
    fn problem(py: Python<'_>, text: &str) -> PyResult<Self> {
        let problem: Problem = parsed(py, text)?;
        let csr = work::aside(py, || problem.matrix())?.map_err(|error| error.raised(py))?;
        Ok(Self { numbers: Numbers::Real(Arc::new(csr)) })
    }

    /// Makes a matrix of entries; entries at one place are added.
    #[staticmethod]
    fn of_entries(
        rows: &Bound<'_, PyAny>,
        columns: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
        shape: [usize; 2],
    ) -> PyResult<Self> {
        fn made<T: Arithmetic + numpy::Element>(
            [rows, columns, values]: [&Bound<'_, PyAny>; 3],
            shape: [usize; 2],
        ) -> PyResult<Arc<Csr<T>>> {
            let py = rows.py();
            let [rows, columns] = [contiguous::<i64>(rows)?, contiguous::<i64>(columns)?];
            let values = contiguous::<T>(values)?;
            if rows.shape().len() != 1 || rows.shape() != columns.shape() || rows.shape() != values.shape() {
                return Err(invalid(
                    py,
                    "rows, columns and values of entries are as many, with one axis each",
                ));
            }
            let most = u32::MAX as usize - 1;
            if shape.iter().any(|&extent| extent > most) {
                return Err(invalid(py, format!("a sparse matrix has at most {most} rows and columns")));
            }
            let (rows, columns, values) = (rows.as_slice()?, columns.as_slice()?, values.as_slice()?);
            let mut entries = Vec::with_capacity(values.len());
            for (k, ((&row, &column), &value)) in rows.iter().zip(columns).zip(values).enumerate() {
                let place =
                    |index: i64, extent: usize| usize::try_from(index).ok().filter(|&index| index < extent);
                let (Some(row), Some(column)) = (place(row, shape[0]), place(column, shape[1])) else {
                    let message = format!(
                        "entry {k} at ({row}, {column}) lies outside of the shape {shape:?}; indices count from 0"
                    );
                    return Err(invalid(py, message));
                };
                if !value.to_complex().is_finite() {
                    return Err(invalid(py, format!("entry {k} at ({row}, {column}) is not finite")));
                }
                entries.push(Entry { row: row as u32, column: column as u32, value });
            }
            let coo = Coo { rows: shape[0], columns: shape[1], entries };
            Ok(Arc::new(work::aside(py, || coo.to_csr())?.map_err(|error| error.raised(py))?))
        }
        let kind: String = values.getattr("dtype")?.getattr("kind")?.extract()?;
        let entries = [rows, columns, values];
        let numbers = if kind == "c" {
            Numbers::Complex(made(entries, shape)?)
        } else {
            Numbers::Real(made(entries, shape)?)
        };
        Ok(Self { numbers })
    }

    /// The rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        with_numbers!(&self.numbers, csr => (csr.rows(), csr.columns()))
    }

    /// The entries that are stored.
    #[getter]
    fn nnz(&self) -> usize {
        with_numbers!(&self.numbers, csr => csr.entries())
    }

    /// The type of the entries.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        match self.numbers {
            Numbers::Real(_) => dtype::<f64>(py),
            Numbers::Complex(_) => dtype::<Complex64>(py),
        }
    }

    /// Copies the matrix: values, columns of them, and the place where each row begins.
    fn csr(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, Py<PyAny>, Py<PyAny>)> {
        let (columns, starts) = with_numbers!(&self.numbers, csr => {
            let columns: Vec<i64> = csr.columns_of().iter().map(|&column| i64::from(column)).collect();
            let starts: Vec<i64> = csr.starts().iter().map(|&start| start as i64).collect();
            (columns, starts)
        });
        let values =
            with_numbers!(&self.numbers, csr => array(py, csr.values().to_vec(), vec![csr.entries()])?);
        let one = |numbers: Vec<i64>| {
            let count = numbers.len();
            array(py, numbers, vec![count])
        };
        Ok((values, one(columns)?, one(starts)?))
    }

    /// Multiplies a vector on the host.
    fn multiply(&self, x: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        fn product<T: Arithmetic + numpy::Element>(
            csr: &Csr<T>,
            x: &Bound<'_, PyAny>,
        ) -> PyResult<Py<PyAny>> {
            let (py, x) = (x.py(), contiguous::<T>(x)?);
            expect_vector(py, x.shape(), csr.columns(), "columns")?;
            let (x, mut y) = (x.as_slice()?, vec![T::default(); csr.rows()]);
            work::aside(py, || csr.multiply(x, &mut y))?;
            array(py, y, vec![csr.rows()])
        }
        with_numbers!(&self.numbers, csr => product(csr, x))
    }

    /// Solves A x = b on the first of some devices, or on the host.
    #[pyo3(signature = (b, method, preconditioner, tol, max_iterations, restart, devices, progress))]
    #[allow(clippy::too_many_arguments)]
    fn solve(
        &self,
        b: &Bound<'_, PyAny>,
        method: Option<&str>,
        preconditioner: Option<&str>,
        tol: f64,
        max_iterations: usize,
        restart: usize,
        devices: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<SparseSolution> {
        let py = b.py();
        let asked = Asked {
            method: method.map(|text| parsed(py, text)).transpose()?,
            preconditioner: preconditioner.map(|text| parsed(py, text)).transpose()?,
            stopping: Stopping::default().with_tolerance(tol).with_max_iterations(max_iterations),
            restart,
            wanted: DevicesArgument::of(devices)?,
        };
        with_numbers!(&self.numbers, csr => asked.solve(csr, b, progress))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (rows, columns) = self.shape();
        format!("SparseMatrix({rows}×{columns}, {} entries, {})", self.nnz(), self.dtype(py))
    }
}

/// What a solve is asked for.
struct Asked {
    method: Option<Method>,
    preconditioner: Option<lattice_cl::linalg::sparse::solve::Kind>,
    stopping: Stopping,
    restart: usize,
    wanted: DevicesArgument,
}

impl Asked {
    fn solve<T: Arithmetic + numpy::Element>(
        self,
        csr: &Arc<Csr<T>>,
        b: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<SparseSolution> {
        let (py, csr) = (b.py(), Arc::clone(csr));
        let numbers = contiguous::<T>(b)?;
        expect_vector(py, numbers.shape(), csr.rows(), "rows")?;
        let b = numbers.as_slice()?.to_vec();
        let Self { method, preconditioner, stopping, restart, wanted } = self;
        let options = SolveOptions::default()
            .with_method(method)
            .with_preconditioner(preconditioner)
            .with_stopping(stopping)
            .with_restart(restart);
        let solved = work::run(py, progress, move |exchange| {
            let place = Processor::of_team(&wanted.open().map_err(Failed::Device)?);
            let mut watch = |method: Method, look: &Look| tell(exchange, method, look, stopping.tolerance);
            let solved = solve(&place, csr, &b, &options, Some(&mut watch)).map_err(Failed::Solve)?;
            Ok((solved, place.label()))
        })?;
        let (solved, place) = solved.map_err(|failed| match failed {
            Failed::Device(error) => error.raised(py),
            Failed::Solve(error) => error.raised(py),
        })?;
        let Solved {
            x, attempts, true_residual, backward_error, converged, format, symmetry, warnings, ..
        } = solved;
        let count = x.len();
        let attempts = attempts.into_iter().map(|attempt| tried(py, attempt)).collect();
        let x = array(py, x, vec![count])?;
        let format = format.to_string();
        Ok((x, converged, attempts, true_residual, backward_error, symmetry.name(), format, place, warnings))
    }
}

/// Tells how far a solve is; `false` if it is to end.
fn tell(exchange: &Exchange, method: Method, look: &Look, tolerance: f64) -> bool {
    let residual = look.residual.iterated;
    exchange.tell(News {
        label: method.name().to_owned(),
        done: (residual.ln() / tolerance.ln()).clamp(0.0, 1.0),
        iterations: Some(look.iterations),
        residual: Some(residual),
    });
    !exchange.is_to_stop()
}

fn tried(py: Python<'_>, attempt: Attempt) -> Tried {
    let Attempt { method, preconditioner, iterations, true_residual, history, seconds, failure, .. } =
        attempt;
    (
        method.name(),
        preconditioner.kind.to_string(),
        iterations,
        true_residual,
        seconds,
        preconditioner.setup_seconds,
        failure.map(|failure| failure.to_string()),
        PyArray1::from_vec(py, history).unbind(),
    )
}

fn expect_vector(py: Python<'_>, shape: &[usize], wanted: usize, what: &str) -> PyResult<()> {
    if shape == [wanted] {
        return Ok(());
    }
    let message = format!(
        "the matrix has {wanted} {what}, and the vector the shape {shape:?}; it has one axis of as many"
    );
    Err(invalid(py, message))
}
