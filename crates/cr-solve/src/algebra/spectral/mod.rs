//! Eigenvalues and singular values of dense matrices in files.

pub mod eigen;
pub mod svd;

use lattice_cl::compute::parallel::*;
use lattice_cl::compute::{Buffer, Device};
use lattice_cl::io::{DenseMatrix, MatrixElements};
use lattice_cl::linalg::{self, BlasError, BlasResult, MatMut, MatRef, MatrixLayout, Op};
use lattice_cl::scalar::{Element, Precision};
use lattice_cli::choices::word;
use lattice_cli::destinations::{Destinations, NPY, Overwriting};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::memory::Need;
use lattice_cli::report::scientific;
use lattice_solvers::range::{complex_times_power, exponent_beyond, larger};
use num_complex::Complex64;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// LAPACK's bound on its test ratios.
const MOST_RATIO: f64 = 30.0;

/// Values that are printed as text.
const PRINTED: usize = 10;

/// Options that both commands have.
#[derive(Debug, clap::Args)]
struct Input {
    /// A NumPy array of the types f4, f8, c8 or c16, or a Matrix Market file
    #[arg(value_name = "MATRIX")]
    matrix: PathBuf,
    /// Precision of the arithmetic [default: that of the file]
    #[arg(long, value_parser = word::<Precision>(), value_name = "PRECISION")]
    precision: Option<Precision>,
    #[command(flatten)]
    overwriting: Overwriting,
}

/// A matrix that was read.
struct Source {
    path: PathBuf,
    matrix: DenseMatrix,
    precision: Precision,
    seconds: f64,
}

/// The matrix of a result.
#[derive(Serialize)]
struct MatrixSummary {
    source: String,
    rows: usize,
    columns: usize,
    is_complex: bool,
    precision: &'static str,
}

#[derive(Serialize)]
struct Seconds {
    read: f64,
    /// Compiling kernels, or loading them; the other times do not include it.
    compile: f64,
    compute: f64,
    check: f64,
    write: f64,
}

impl Seconds {
    fn text(&self) -> String {
        let Self { read, compile, compute, check, write } = self;
        format!(
            "read {read:.2}, compile {compile:.2}, compute {compute:.2}, check {check:.2}, write {write:.2}"
        )
    }
}

impl Input {
    /// Reads the matrix, after a look at the files that are to be written.
    fn read(&self, outputs: &[(&'static str, &Option<PathBuf>)]) -> Result<Source, Failure> {
        let named = |all: Destinations, &(option, path): &(&'static str, &Option<PathBuf>)| {
            all.writing(option, NPY, path)
        };
        outputs.iter().fold(Destinations::reading([&self.matrix]), named).check(self.overwriting)?;
        let began = Instant::now();
        let matrix = DenseMatrix::read(&self.matrix).map_err(|error| Failure::new(Status::File, error))?;
        let precision = self.precision.unwrap_or(matrix.precision);
        Ok(Source { path: self.matrix.clone(), matrix, precision, seconds: began.elapsed().as_secs_f64() })
    }
}

impl Source {
    fn is_complex(&self) -> bool {
        matches!(self.matrix.elements, MatrixElements::Complex(_))
    }

    fn summary(&self) -> MatrixSummary {
        MatrixSummary {
            source: self.path.display().to_string(),
            rows: self.matrix.rows,
            columns: self.matrix.columns,
            is_complex: self.is_complex(),
            precision: self.precision.name(),
        }
    }

    /// Returns the elements over 2ᵏ, row after row.
    fn elements<T: Element>(&self, power: i32) -> Vec<T> {
        let scaled = |z: Complex64| if power == 0 { z } else { complex_times_power(z, -power) };
        match &self.matrix.elements {
            MatrixElements::Real(elements) => {
                elements.par_iter().map(|&x| T::from_complex(scaled(x.into()))).collect()
            }
            MatrixElements::Complex(elements) => {
                elements.par_iter().map(|&z| T::from_complex(scaled(z))).collect()
            }
        }
    }

    /// Returns the exponent of the largest element: checks in this unit leave no range.
    fn power(&self) -> i32 {
        exponent_beyond(self.largest(), 0)
    }

    /// Returns the size of the largest element, or 1 if all are zero.
    fn largest(&self) -> f64 {
        let largest = match &self.matrix.elements {
            MatrixElements::Real(elements) => elements.iter().fold(0.0_f64, |most, x| most.max(x.abs())),
            MatrixElements::Complex(elements) => elements.iter().fold(0.0_f64, |most, z| most.max(z.norm())),
        };
        if largest > 0.0 { largest } else { 1.0 }
    }

    /// Returns about how many operations all values and vectors take.
    fn operations(&self) -> f64 {
        const OF_AN_ELEMENT: f64 = 10.0;
        let (rows, columns) = (self.matrix.rows as f64, self.matrix.columns as f64);
        OF_AN_ELEMENT * rows * columns * rows.min(columns)
    }

    /// Refuses a matrix that the device has no room for, with so many matrices beside it.
    fn expect_room(&self, matrices: u128, device: Option<&Device>) -> Result<(), Failure> {
        let bytes = (self.matrix.rows * self.matrix.columns) as u128 * 16;
        let need = Need { on_host: 3 * bytes, on_device: matrices * bytes };
        need.expect_room(format_args!("the matrix {}", self.path.display()), device)
    }

    /// Returns the distance from 1 to the next number of the arithmetic.
    fn epsilon(&self) -> f64 {
        epsilon(self.precision)
    }

    /// Writes a matrix of so many columns, in the type of the source.
    fn write(&self, path: &Path, columns: usize, elements: Vec<Complex64>) -> Result<(), Failure> {
        let rows = elements.len().checked_div(columns).unwrap_or(0);
        let elements = if self.is_complex() {
            MatrixElements::Complex(elements)
        } else {
            MatrixElements::Real(elements.into_iter().map(|z| z.re).collect())
        };
        let matrix = DenseMatrix { rows, columns, elements, precision: self.precision };
        matrix.write(path, "").map_err(|error| Failure::new(Status::File, error))
    }
}

fn epsilon(precision: Precision) -> f64 {
    match precision {
        Precision::Single => f32::EPSILON.into(),
        Precision::Double => f64::EPSILON,
    }
}

/// A matrix of numbers in double, row after row.
struct Wide<W> {
    rows: usize,
    columns: usize,
    elements: Vec<W>,
}

impl<W: Element> Wide<W> {
    fn of<T: Element>(rows: usize, columns: usize, elements: &[T]) -> Self {
        let elements = elements.iter().map(|x| W::from_complex(x.to_complex())).collect();
        Self { rows, columns, elements }
    }

    /// Returns op(self) other, on the device if there is one.
    fn product(&self, op: Op, other: &Self, device: Option<&Device>) -> BlasResult<Vec<Complex64>> {
        let (rows, inner) = if op == Op::N { (self.rows, self.columns) } else { (self.columns, self.rows) };
        let columns = other.columns;
        let Some(device) = device.filter(|_| rows * inner * columns > 0) else {
            let at = |i: usize, k: usize| match op {
                Op::N => self.elements[i * self.columns + k].to_complex(),
                _ => self.elements[k * self.columns + i].to_complex().conj(),
            };
            let sum = |place: usize| {
                let (i, j) = (place / columns, place % columns);
                (0..inner).map(|k| at(i, k) * other.elements[k * columns + j].to_complex()).sum()
            };
            return Ok((0..rows * columns).into_par_iter().map(sum).collect());
        };
        let (a, b) =
            (Buffer::from_slice(device, &self.elements)?, Buffer::from_slice(device, &other.elements)?);
        let mut c = Buffer::<W>::uninitialised(device, rows * columns)?;
        let a = MatRef::new(&a, MatrixLayout::row_major(self.rows, self.columns))?;
        let b = MatRef::new(&b, MatrixLayout::row_major(other.rows, other.columns))?;
        linalg::gemm(op, Op::N, 1, a, b, 0, MatMut::new(&mut c, MatrixLayout::row_major(rows, columns))?)?;
        Ok(c.to_vec()?.into_iter().map(Element::to_complex).collect())
    }

    /// Returns ‖1 − selfᴴ self‖₁ over its rows and ε.
    fn orthogonality(&self, epsilon: f64, device: Option<&Device>) -> BlasResult<f64> {
        let mut gram = self.product(Op::C, self, device)?;
        (0..self.columns).for_each(|k| gram[k * (self.columns + 1)] -= 1.0);
        Ok(norm1(&gram, self.columns) / (self.rows.max(1) as f64 * epsilon))
    }
}

/// Returns the largest sum of sizes in a column of elements that lie row after row.
fn norm1(elements: &[Complex64], columns: usize) -> f64 {
    let mut sums = vec![0.0; columns];
    for row in elements.chunks(columns.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, z)| *sum += z.norm());
    }
    sums.into_iter().fold(0.0, larger)
}

/// Returns the first values as text.
fn listed(values: &[f64]) -> String {
    let mut words: Vec<String> = values.iter().take(PRINTED).map(|value| scientific(*value, 12)).collect();
    if values.len() > PRINTED {
        words.push(format!("… ({}; --json prints all)", values.len()));
    }
    words.join(" ")
}

/// Refuses ratios that are above LAPACK's bound.
fn expect_ratios(ratios: &[(&str, f64)]) -> Result<Status, Failure> {
    // Written so that a NaN is not allowed.
    let allowed = |ratio: f64| ratio <= MOST_RATIO;
    match ratios.iter().find(|(_, ratio)| !allowed(*ratio)) {
        None => Ok(Status::Fine),
        Some((name, ratio)) => {
            let message =
                format!("the {name} has the test ratio {ratio:.1e}; at most {MOST_RATIO} is allowed");
            Err(Failure::new(Status::Failed, anyhow::Error::msg(message)))
        }
    }
}

fn failed(error: BlasError) -> Failure {
    let status = if matches!(error, BlasError::Device(_)) { Status::Device } else { Status::Failed };
    Failure::new(status, error)
}
