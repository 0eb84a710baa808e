//! `cr-solve eigen`: eigenvalues of a Hermitian matrix from a file.

use super::{Input, MatrixSummary, Seconds, Source, Wide, epsilon, expect_ratios, failed, listed, norm1};
use lattice_cl::compute::{Buffer, Device};
use lattice_cl::linalg::factor::{Eigenvectors, heevd_range};
use lattice_cl::linalg::{BlasResult, MatMut, MatrixLayout, Op, Triangle};
use lattice_cl::scalar::{Element, Precision, Real};
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::finite::expect_finite;
use lattice_cli::provenance::Provenance;
use lattice_cli::report::{Report, Table};
use lattice_cli::team::{device_names, host_if_small, select_one};
use lattice_files::number::complex_shown;
use lattice_solvers::SquareMatrix;
use lattice_solvers::range::times_power;
use num_complex::{Complex, Complex64};
use serde::Serialize;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::SystemTime;

/// Matrices beside A that the eigenvalues take on a device.
const MATRICES: u128 = 8;

/// By how much elements may differ from those across the diagonal, in ε of the largest.
const HERMITIAN: f64 = 100.0;

/// The command line of `eigen`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Write the eigenvectors, as columns, to this .npy file
    #[arg(long, value_name = "FILE.npy")]
    vectors: Option<PathBuf>,
    /// Numbers of the wanted eigenvalues, from the lowest, which is 0; LAST is left out, as in 0:10
    #[arg(long, value_name = "FIRST:LAST")]
    range: Option<Numbers>,
}

/// A range of numbers, `first:last` without the last.
#[derive(Clone, Debug)]
struct Numbers(Range<usize>);

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once(':').and_then(|(first, last)| Some(first.parse().ok()?..last.parse().ok()?));
        match parsed {
            Some(range) if range.start < range.end => Ok(Self(range)),
            _ => Err("two numbers are expected, the first below the last, as in 0:10".to_owned()),
        }
    }
}

#[derive(Serialize)]
struct EigenResult {
    schema_version: u32,
    provenance: Provenance,
    devices: Vec<String>,
    matrix: MatrixSummary,
    /// The number of the first value.
    first: usize,
    values: Vec<f64>,
    /// ‖AV − VΛ‖₁/(n‖A‖₁ε), if there are vectors.
    residual: Option<f64>,
    /// ‖1 − VᴴV‖₁/(nε), if there are vectors.
    orthogonality: Option<f64>,
    info: usize,
    seconds: Seconds,
    output: Option<String>,
}

/// Reads a matrix, computes eigenvalues and writes eigenvectors.
///
/// # Errors
/// * If a file cannot be read or written, or the matrix is not Hermitian.
/// * If an eigenvalue is not found, or a test ratio is above LAPACK's bound.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let started = SystemTime::now();
    let source = arguments.input.read(&[("--vectors", &arguments.vectors)])?;
    check_hermitian(&source)?;
    let n = source.matrix.rows;
    let range = arguments.range.clone().map_or(0..n, |Numbers(range)| range);
    if range.end > n {
        let message = format!("--range {}:{} does not lie in the {n} eigenvalues", range.start, range.end);
        return Err(Failure::usage(message).hint("numbers are counted from 0, and the last is left out"));
    }
    let team = host_if_small(common, source.operations(), report)
        .map_or_else(|| select_one(common, None, report), Ok)?;
    source.expect_room(MATRICES, team.devices().first())?;
    let job = Job { arguments, report, source: &source, device: team.devices().first(), range };
    let (provenance, devices) = (Provenance::new(&team, started), device_names(&team));
    match (source.is_complex(), source.precision) {
        (false, Precision::Single) => job.run::<f32, f64>(provenance, devices),
        (false, Precision::Double) => job.run::<f64, f64>(provenance, devices),
        (true, Precision::Single) => job.run::<Complex<f32>, Complex64>(provenance, devices),
        (true, Precision::Double) => job.run::<Complex64, Complex64>(provenance, devices),
    }
}

/// Refuses a matrix that is not square or not Hermitian.
fn check_hermitian(source: &Source) -> Result<(), Failure> {
    let (matrix, path) = (&source.matrix, source.path.display());
    let (rows, columns) = (matrix.rows, matrix.columns);
    if rows != columns {
        let message = format!("{path}: a matrix of {rows}×{columns} elements found, a square one expected");
        return Err(Failure::new(Status::File, anyhow::Error::msg(message))
            .hint("`cr-solve svd` computes its singular values"));
    }
    let unit = source.largest();
    let mut worst = (0.0, 0, 0);
    for i in 0..rows {
        for j in 0..=i {
            let apart = (matrix.at(i, j) / unit - matrix.at(j, i).conj() / unit).norm();
            if apart > worst.0 {
                worst = (apart, i, j);
            }
        }
    }
    let (apart, i, j) = worst;
    let most = HERMITIAN * epsilon(matrix.precision);
    if apart <= most {
        return Ok(());
    }
    let [here, there] = [matrix.at(i, j), matrix.at(j, i)].map(|z| complex_shown(z.re, z.im));
    let message = format!(
        "{path} is not Hermitian: element ({i}, {j}) is {here}, and ({j}, {i}) is {there}; they are {apart:.1e} of the \
         largest element apart, more than {most:.1e} (counted from 0)"
    );
    Err(Failure::new(Status::File, anyhow::Error::msg(message))
        .hint("write (A + Aᴴ)/2, or compute singular values by `cr-solve svd`"))
}

struct Job<'a> {
    arguments: &'a Arguments,
    report: &'a Report,
    source: &'a Source,
    device: Option<&'a Device>,
    range: Range<usize>,
}

/// Eigenvalues, and eigenvectors row after row.
struct Eigenpairs<T> {
    info: usize,
    values: Vec<f64>,
    vectors: Option<Vec<T>>,
}

impl Job<'_> {
    fn run<T: Element, W: Element>(
        &self,
        provenance: Provenance,
        devices: Vec<String>,
    ) -> Result<Status, Failure> {
        let (n, count) = (self.source.matrix.rows, self.range.len());
        let began = self.report.stopwatch();
        let Eigenpairs { info, values, vectors } = match self.device {
            Some(device) => self.on_device::<T>(device).map_err(failed)?,
            None => self.on_host(),
        };
        let compute = began.seconds();
        if info > 0 {
            let message = format!("eigenvalue {info} of {n} was not found: the iteration did not converge");
            return Err(Failure::new(Status::Failed, anyhow::Error::msg(message)));
        }
        expect_finite("the eigenvalues", values.iter().map(|&value| value.into()))?;
        let began = self.report.stopwatch();
        let mut ratios = Vec::new();
        if let Some(vectors) = &vectors {
            let v = Wide::<W>::of(n, count, vectors);
            let residual = self.residual(&v, &values).map_err(failed)?;
            let orthogonality = v.orthogonality(self.source.epsilon(), self.device).map_err(failed)?;
            ratios = vec![("residual", residual), ("orthogonality", orthogonality)];
        }
        let check = began.seconds();
        let began = self.report.stopwatch();
        if let (Some(path), Some(vectors)) = (&self.arguments.vectors, vectors) {
            let elements = vectors.into_iter().map(Element::to_complex).collect();
            self.source.write(path, count, elements)?;
        }
        let write = began.seconds();
        let outcome = EigenResult {
            schema_version: 1,
            provenance,
            devices,
            matrix: self.source.summary(),
            first: self.range.start,
            values,
            residual: ratios.first().map(|ratio| ratio.1),
            orthogonality: ratios.get(1).map(|ratio| ratio.1),
            info,
            seconds: Seconds {
                read: self.source.seconds,
                compile: self.report.compile_seconds(),
                compute,
                check,
                write,
            },
            output: self.arguments.vectors.as_ref().map(|path| path.display().to_string()),
        };
        self.report.result(table(&outcome), &outcome)?;
        expect_ratios(&ratios)
    }

    fn on_device<T: Element>(&self, device: &Device) -> BlasResult<Eigenpairs<T>> {
        let (n, count) = (self.source.matrix.rows, self.range.len());
        let mut a = Buffer::from_slice(device, &self.source.elements::<T>(0))?;
        let mut values = Buffer::<T::Real>::zeroed(device, count)?;
        let with_vectors = self.arguments.vectors.is_some();
        let wanted = if with_vectors { Eigenvectors::With } else { Eigenvectors::Without };
        let matrix = MatMut::new(&mut a, MatrixLayout::row_major(n, n))?;
        let info = heevd_range(Triangle::Lower, wanted, self.range.clone(), matrix, &mut values)?.wait()?;
        let values = values.to_vec()?.into_iter().map(Real::to_f64).collect();
        let first_columns = |a: Vec<T>| a.chunks(n.max(1)).flat_map(|row| row[..count].to_vec()).collect();
        let vectors = if with_vectors { Some(first_columns(a.to_vec()?)) } else { None };
        Ok(Eigenpairs { info, values, vectors })
    }

    /// Computes in double on the host.
    fn on_host<T: Element>(&self) -> Eigenpairs<T> {
        let n = self.source.matrix.rows;
        let matrix = SquareMatrix::from_fn(n, |i, j| self.source.matrix.at(i, j));
        let result = if self.arguments.vectors.is_some() {
            matrix.hermitian_eigen().map(|eigen| {
                let places = (0..n).flat_map(|i| self.range.clone().map(move |j| (i, j)));
                let vectors = places.map(|place| T::from_complex(eigen.vectors[place])).collect();
                (eigen.values, Some(vectors))
            })
        } else {
            matrix.hermitian_eigenvalues().map(|values| (values, None))
        };
        match result {
            Ok((values, vectors)) => {
                Eigenpairs { info: 0, values: values[self.range.clone()].to_vec(), vectors }
            }
            Err(error) => Eigenpairs { info: error.index + 1, values: Vec::new(), vectors: None },
        }
    }

    /// Returns ‖AV − VΛ‖₁/(n‖A‖₁ε), computed in double.
    fn residual<W: Element>(&self, v: &Wide<W>, values: &[f64]) -> BlasResult<f64> {
        let (n, columns) = (v.rows, v.columns);
        let power = self.source.power();
        let a = Wide::<W> { rows: n, columns: n, elements: self.source.elements(power) };
        let mut rest = a.product(Op::N, v, self.device)?;
        for (place, x) in rest.iter_mut().enumerate() {
            *x -= v.elements[place].to_complex() * times_power(values[place % columns], -power);
        }
        let elements: Vec<Complex64> = a.elements.iter().map(|x| x.to_complex()).collect();
        let norm = norm1(&elements, n).max(f64::MIN_POSITIVE);
        Ok(norm1(&rest, columns) / (n.max(1) as f64 * norm * self.source.epsilon()))
    }
}

fn table(outcome: &EigenResult) -> Table {
    let mut table = Table::default();
    let MatrixSummary { source, rows, columns, precision, .. } = &outcome.matrix;
    table.line("matrix", format_args!("{source}: {rows} × {columns}, {precision}"));
    table.line("device", outcome.devices.join(", "));
    table.line("eigenvalues", listed(&outcome.values));
    if let (Some(residual), Some(orthogonality)) = (outcome.residual, outcome.orthogonality) {
        table.line("test ratios", format_args!("residual {residual:.2e}, orthogonality {orthogonality:.2e}"));
    }
    if let Some(output) = &outcome.output {
        table.line("eigenvectors", output);
    }
    table.line("seconds", outcome.seconds.text());
    table
}
