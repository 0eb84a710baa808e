//! `cr-solve svd`: singular values of a matrix from a file.

use super::{Input, MatrixSummary, Seconds, Source, Wide, expect_ratios, failed, listed, norm1};
use lattice_cl::compute::{Buffer, Device};
use lattice_cl::linalg::factor::{SingularVectors, SvdMethod, gesvd_with};
use lattice_cl::linalg::host::jacobi;
use lattice_cl::linalg::{BlasResult, MatMut, MatRef, MatrixLayout, Op};
use lattice_cl::scalar::{Element, Precision, Real};
use lattice_cli::choices::word;
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::finite::expect_finite;
use lattice_cli::provenance::Provenance;
use lattice_cli::report::{Report, Table};
use lattice_cli::team::{device_names, host_if_small, select_one};
use lattice_solvers::range::times_power;
use num_complex::{Complex, Complex64};
use serde::Serialize;
use std::path::PathBuf;
use std::time::SystemTime;

/// Matrices beside A that the singular values take on a device.
const MATRICES: u128 = 14;

/// The command line of `svd`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Write the left singular vectors, columns of U, to this .npy file
    #[arg(long, value_name = "FILE.npy")]
    u: Option<PathBuf>,
    /// Write Vᴴ, whose rows belong to the right singular vectors, to this .npy file
    #[arg(long, value_name = "FILE.npy")]
    vt: Option<PathBuf>,
    /// How singular values are computed on devices; the host rotates
    #[arg(long, value_parser = word::<SvdMethod>(), value_name = "METHOD", default_value_t)]
    method: SvdMethod,
}

#[derive(Serialize)]
struct SvdResult {
    schema_version: u32,
    provenance: Provenance,
    devices: Vec<String>,
    matrix: MatrixSummary,
    values: Vec<f64>,
    /// The number of values above max(m, n) ε times the largest.
    rank: usize,
    /// ‖A − UΣVᴴ‖₁/(‖A‖₁ max(m, n) ε), if there are vectors.
    residual: Option<f64>,
    /// The larger of ‖1 − UᴴU‖₁/(mε) and ‖1 − VᴴV‖₁/(nε), if there are vectors.
    orthogonality: Option<f64>,
    info: usize,
    seconds: Seconds,
    outputs: Vec<String>,
}

/// Reads a matrix, computes singular values and writes singular vectors.
///
/// # Errors
/// * If a file cannot be read or written.
/// * If the method does not converge, or a test ratio is above LAPACK's bound.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    let started = SystemTime::now();
    let source = arguments.input.read(&[("--u", &arguments.u), ("--vt", &arguments.vt)])?;
    let team = host_if_small(common, source.operations(), report)
        .map_or_else(|| select_one(common, None, report), Ok)?;
    source.expect_room(MATRICES, team.devices().first())?;
    let job = Job { arguments, report, source: &source, device: team.devices().first() };
    let (provenance, devices) = (Provenance::new(&team, started), device_names(&team));
    match (source.is_complex(), source.precision) {
        (false, Precision::Single) => job.run::<f32, f64>(provenance, devices),
        (false, Precision::Double) => job.run::<f64, f64>(provenance, devices),
        (true, Precision::Single) => job.run::<Complex<f32>, Complex64>(provenance, devices),
        (true, Precision::Double) => job.run::<Complex64, Complex64>(provenance, devices),
    }
}

struct Job<'a> {
    arguments: &'a Arguments,
    report: &'a Report,
    source: &'a Source,
    device: Option<&'a Device>,
}

/// Singular values, and U and Vᴴ row after row.
struct SingularTriplets<T> {
    info: usize,
    values: Vec<f64>,
    vectors: Option<[Vec<T>; 2]>,
}

impl Job<'_> {
    fn extents(&self) -> [usize; 3] {
        let (rows, columns) = (self.source.matrix.rows, self.source.matrix.columns);
        [rows, columns, rows.min(columns)]
    }

    fn with_vectors(&self) -> bool {
        self.arguments.u.is_some() || self.arguments.vt.is_some()
    }

    fn run<T: Element, W: Element>(
        &self,
        provenance: Provenance,
        devices: Vec<String>,
    ) -> Result<Status, Failure> {
        let [rows, columns, fewer] = self.extents();
        let began = self.report.stopwatch();
        let SingularTriplets { info, values, vectors } = match self.device {
            Some(device) => self.on_device::<T>(device).map_err(failed)?,
            None => self.on_host(),
        };
        let compute = began.seconds();
        if info > 0 {
            let message = "the singular values were not found: the method did not converge".to_owned();
            let failure = Failure::new(Status::Failed, anyhow::Error::msg(message));
            // The host knows no methods.
            return Err(match (self.device, self.arguments.method) {
                (None, _) => failure,
                (Some(_), SvdMethod::Jacobi) => failure.hint("--method polar computes in another way"),
                (Some(_), _) => failure.hint("--method jacobi takes longer and is the most robust"),
            });
        }
        expect_finite("the singular values", values.iter().map(|&value| value.into()))?;
        let began = self.report.stopwatch();
        let mut ratios = Vec::new();
        if let Some([u, vt]) = &vectors {
            let [u, vt] = [Wide::<W>::of(rows, fewer, u), Wide::of(fewer, columns, vt)];
            let turned = |k: usize| vt.elements[k % fewer * columns + k / fewer].to_complex().conj();
            let elements = (0..columns * fewer).map(|k| W::from_complex(turned(k))).collect();
            let v = Wide { rows: columns, columns: fewer, elements };
            let residual = self.residual(&u, &values, &vt).map_err(failed)?;
            let epsilon = self.source.epsilon();
            let of_u = u.orthogonality(epsilon, self.device).map_err(failed)?;
            let of_v = v.orthogonality(epsilon, self.device).map_err(failed)?;
            ratios = vec![("residual", residual), ("orthogonality", if of_v > of_u { of_v } else { of_u })];
        }
        let check = began.seconds();
        let began = self.report.stopwatch();
        let mut outputs = Vec::new();
        let places = [(&self.arguments.u, fewer), (&self.arguments.vt, columns)];
        for ((path, width), elements) in places.into_iter().zip(vectors.into_iter().flatten()) {
            if let Some(path) = path {
                self.source.write(path, width, elements.into_iter().map(Element::to_complex).collect())?;
                outputs.push(path.display().to_string());
            }
        }
        let write = began.seconds();
        let least = rows.max(columns) as f64 * self.source.epsilon() * values.first().copied().unwrap_or(0.0);
        let outcome = SvdResult {
            schema_version: 1,
            provenance,
            devices,
            matrix: self.source.summary(),
            rank: values.iter().filter(|&&value| value > least).count(),
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
            outputs,
        };
        self.report.result(table(&outcome), &outcome)?;
        expect_ratios(&ratios)
    }

    fn on_device<T: Element>(&self, device: &Device) -> BlasResult<SingularTriplets<T>> {
        let [rows, columns, fewer] = self.extents();
        let a = Buffer::from_slice(device, &self.source.elements::<T>(0))?;
        let matrix = MatRef::new(&a, MatrixLayout::row_major(rows, columns))?;
        let mut values = Buffer::<T::Real>::zeroed(device, fewer)?;
        let kept = if self.with_vectors() { fewer } else { 0 };
        let mut u = Buffer::<T>::uninitialised(device, rows * kept)?;
        let mut vt = Buffer::<T>::uninitialised(device, kept * columns)?;
        let vectors = if self.with_vectors() {
            Some(SingularVectors {
                u: MatMut::new(&mut u, MatrixLayout::row_major(rows, fewer))?,
                vt: MatMut::new(&mut vt, MatrixLayout::row_major(fewer, columns))?,
            })
        } else {
            None
        };
        let info = gesvd_with(self.arguments.method, matrix, &mut values, vectors)?.wait()?;
        let values = values.to_vec()?.into_iter().map(Real::to_f64).collect();
        let vectors = if self.with_vectors() { Some([u.to_vec()?, vt.to_vec()?]) } else { None };
        Ok(SingularTriplets { info, values, vectors })
    }

    /// Rotates in double on the host.
    fn on_host<T: Element>(&self) -> SingularTriplets<T> {
        let [rows, columns, fewer] = self.extents();
        // Aᵀ = V* Σ Uᵀ: it has the other factors, transposed. Rows of A are columns of Aᵀ.
        let (length, wide) = (rows.max(columns), rows < columns);
        let matrix = &self.source.matrix;
        let element = |k: usize| match wide {
            true => matrix.at(k / length, k % length),
            false => matrix.at(k % length, k / length),
        };
        let a: Vec<Complex64> = (0..rows * columns).map(element).collect();
        let Some(svd) = jacobi::decompose(length, &a) else {
            return SingularTriplets { info: 2, values: Vec::new(), vectors: None };
        };
        let vectors = self.with_vectors().then(|| {
            let (u, v) = (&svd.u, &svd.v);
            let (of_u, of_vt): (Vec<Complex64>, Vec<Complex64>) = if wide {
                ((0..rows * fewer).map(|k| v[k / fewer + k % fewer * fewer].conj()).collect(), u.clone())
            } else {
                let of_u = (0..rows * fewer).map(|k| u[k / fewer + k % fewer * rows]).collect();
                (of_u, v.iter().map(Complex64::conj).collect())
            };
            [of_u, of_vt].map(|elements| elements.into_iter().map(T::from_complex).collect())
        });
        SingularTriplets { info: 0, values: svd.values, vectors }
    }

    /// Returns ‖A − UΣVᴴ‖₁/(‖A‖₁ max(m, n) ε), computed in double.
    fn residual<W: Element>(&self, u: &Wide<W>, values: &[f64], vt: &Wide<W>) -> BlasResult<f64> {
        let [rows, columns, fewer] = self.extents();
        let power = self.source.power();
        let elements = (0..rows * fewer)
            .map(|k| W::from_complex(u.elements[k].to_complex() * times_power(values[k % fewer], -power)))
            .collect();
        let product = Wide { rows, columns: fewer, elements }.product(Op::N, vt, self.device)?;
        let a: Vec<Complex64> = self.source.elements(power);
        let rest: Vec<Complex64> = product.iter().zip(&a).map(|(x, a)| x - a).collect();
        let norm = norm1(&a, columns).max(f64::MIN_POSITIVE);
        Ok(norm1(&rest, columns) / (rows.max(columns).max(1) as f64 * norm * self.source.epsilon()))
    }
}

fn table(outcome: &SvdResult) -> Table {
    let mut table = Table::default();
    let MatrixSummary { source, rows, columns, precision, .. } = &outcome.matrix;
    table.line("matrix", format_args!("{source}: {rows} × {columns}, {precision}, rank {}", outcome.rank));
    table.line("device", outcome.devices.join(", "));
    table.line("singular values", listed(&outcome.values));
    if let (Some(residual), Some(orthogonality)) = (outcome.residual, outcome.orthogonality) {
        table.line("test ratios", format_args!("residual {residual:.2e}, orthogonality {orthogonality:.2e}"));
    }
    if !outcome.outputs.is_empty() {
        table.line("singular vectors", outcome.outputs.join(", "));
    }
    table.line("seconds", outcome.seconds.text());
    table
}
