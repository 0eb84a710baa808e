//! `cr-solve bench factor`: factorisations and what solves with them, next to the rate of products.

use super::gemm::number;
use super::outcome::{Benchmark, Subject};
use super::session::{How, Session};
use crate::statistics::Spread;
use lattice_cl::compute::parallel::*;
use lattice_cl::compute::{Buffer, Device};
use lattice_cl::linalg::factor::{
    Eigenvectors, SingularVectors, geqrf, gesv, gesvd, getrf, getrs, heevd, potrf, potrs, unmqr,
};
use lattice_cl::linalg::{self, BlasResult, Diagonal, MatMut, MatRef, MatrixLayout, Op, Side, Triangle};
use lattice_cl::scalar::{Element, Real};
use lattice_cli::choices::word;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::memory::Need;
use lattice_cli::precisions;
use lattice_solvers::range::larger;
use num_complex::Complex;
use num_traits::Float;
use std::time::Instant;

/// The command line of `bench factor`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// What is measured
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = word::<Routine>())]
    #[arg(default_value = "potrf,getrf,geqrf,trsm,gesv")]
    routines: Vec<Routine>,
    /// Rows of the square matrices
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "512,1024")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65536))]
    sizes: Vec<u32>,
    /// Element types: s, d, c, z, or single, double, single-complex, double-complex
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',', default_value = "s,d,c,z")]
    #[arg(value_parser = precisions::of_elements())]
    precision: Vec<String>,
    #[command(flatten)]
    pub how: How,
}

/// An operation on a square matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Routine {
    Potrf,
    Getrf,
    Geqrf,
    Trsm,
    Gesv,
    Syevd,
    Gesvd,
}

lattice_files::words! {
    Routine, "routine":
    Potrf = "potrf", "Cholesky's factor of a positive definite matrix";
    Getrf = "getrf", "LU factors with partial pivoting";
    Geqrf = "geqrf", "QR factors by reflectors";
    Trsm = "trsm", "A triangular system with as many right-hand sides as rows";
    Gesv = "gesv", "LU factors and the solution for one right-hand side";
    Syevd = "syevd" | "heevd", "Eigenvalues and eigenvectors of a Hermitian matrix";
    Gesvd = "gesvd", "Singular values and vectors"
}

impl Routine {
    /// Returns the multiplications and additions for real elements.
    ///
    /// They are those that LAPACK counts, and of `syevd` and `gesvd` those of G. H. Golub and C. F. Van
    /// Loan, Matrix Computations, for the methods that came before.
    fn operations(self, n: f64) -> f64 {
        match self {
            Self::Potrf => n * n * n / 3.0 + n * n / 2.0,
            Self::Getrf => 2.0 * n * n * n / 3.0 - n * n / 2.0,
            Self::Geqrf => 4.0 * n * n * n / 3.0 + 2.0 * n * n,
            Self::Trsm => n * n * n,
            Self::Gesv => 2.0 * n * n * n / 3.0 + 3.0 * n * n / 2.0,
            Self::Syevd => 9.0 * n * n * n,
            Self::Gesvd => 22.0 * n * n * n,
        }
    }

    /// Tells whether the result is a spectrum with its vectors.
    fn is_spectral(self) -> bool {
        matches!(self, Self::Syevd | Self::Gesvd)
    }

    /// Tells whether the matrix is Hermitian, with a large diagonal.
    fn is_definite(self) -> bool {
        matches!(self, Self::Potrf | Self::Trsm | Self::Syevd)
    }
}

/// LAPACK's bound on test ratios.
const MOST: f64 = 30.0;

/// Terms that the check of a solution adds to one sum.
const SUMMED: usize = 64;

/// Checks and times the operations on each device.
///
/// # Errors
/// When a device fails, or computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    session.opencl_devices("factor")?;
    for (number, device) in session.quiet_team()?.devices().iter().enumerate() {
        for letter in &arguments.precision {
            for &n in &arguments.sizes {
                let case = Case { number, device, n: n as usize, element: letter };
                let routines = &arguments.routines;
                match letter.as_str() {
                    "s" => case.measure::<f32>(routines, session)?,
                    "d" => case.measure::<f64>(routines, session)?,
                    "c" => case.measure::<Complex<f32>>(routines, session)?,
                    _ => case.measure::<Complex<f64>>(routines, session)?,
                }
            }
        }
    }
    Ok(())
}

/// Matrices of one size and element type on one device.
struct Case<'a> {
    number: usize,
    device: &'a Device,
    n: usize,
    element: &'a str,
}

/// Where an operation works.
struct Work<T: Element> {
    /// A matrix without any pattern, and a Hermitian one with a large diagonal.
    general: Buffer<T>,
    definite: Buffer<T>,
    matrix: Buffer<T>,
    right: Buffer<T>,
    tau: Buffer<T>,
    pivots: Buffer<u32>,
    /// Eigenvalues or singular values, and the factors U and Vᴴ.
    values: Buffer<T::Real>,
    vectors: [Buffer<T>; 2],
}

impl Case<'_> {
    fn measure<T: Element>(&self, routines: &[Routine], session: &mut Session<'_>) -> Result<(), Failure> {
        let n = self.n;
        session.report.note(format_args!("{}: {} {n}x{n}", self.device.label(), self.element));
        // Both matrices and a copy, the scratch memory of the operations, and one matrix on its way.
        let bytes = (n * n * size_of::<T>()) as u128;
        let spectral = routines.iter().any(|routine| routine.is_spectral());
        let need = Need { on_host: bytes, on_device: if spectral { 20 } else { 5 } * bytes };
        need.expect_room(format_args!("matrices of {n}x{n}"), Some(self.device))?;
        let mut work = self.work::<T>(spectral)?;
        let layout = MatrixLayout::column_major(n, n);
        let reals = if T::IS_COMPLEX { 4.0 } else { 1.0 };

        let product = session.samples(|_| {
            let begin = Instant::now();
            let a = MatRef::new(&work.general, layout)?;
            let b = MatRef::new(&work.definite, layout)?;
            linalg::gemm(Op::N, Op::N, 1, a, b, 0, MatMut::new(&mut work.matrix, layout)?)?.wait()?;
            Ok((begin.elapsed(), None))
        })?;
        let products = 2.0 * reals * (n as f64).powi(3);
        let rate = Spread::of(&product.wall).map(|seconds| products / seconds.median / 1e9);
        session.push(self.subject::<T>("gemm", 3, products), product);
        for &routine in routines {
            if session.interrupted() {
                break;
            }
            let ratio = self.checked(routine, &mut work)?;
            let samples = session.samples(|_| {
                self.prepare(routine, &mut work)?;
                let begin = Instant::now();
                self.run(routine, &mut work)?;
                Ok((begin.elapsed(), None))
            })?;
            let operations = reals * routine.operations(n as f64);
            let subject = self.subject::<T>(routine.name(), 2, operations).found("ratio", ratio);
            let subject = match rate.zip(Spread::of(&samples.wall)) {
                Some((rate, seconds)) => {
                    subject.found("share_of_gemm", operations / seconds.median / 1e9 / rate)
                }
                None => subject,
            };
            session.push(subject, samples);
        }
        Ok(())
    }

    /// Returns the subject of a row, of an operation that reads and writes so many matrices.
    fn subject<T: Element>(&self, name: &str, matrices: usize, operations: f64) -> Subject {
        Subject::new(Benchmark::Factor, name)
            .on(self.number)
            .with("element", self.element)
            .with("n", self.n)
            .bytes((matrices * self.n * self.n * size_of::<T>()) as u64)
            .flops(operations as u64)
            .by_the_wall()
            .unlimited()
    }

    fn work<T: Element>(&self, spectral: bool) -> Result<Work<T>, Failure> {
        let (device, n) = (self.device, self.n);
        let room = if spectral { n * n } else { 0 };
        let matrix = |definite: bool| -> Result<Buffer<T>, Failure> {
            let elements: Vec<T> =
                (0..n * n).into_par_iter().map(|k| self.entry(definite, k % n, k / n)).collect();
            Ok(Buffer::from_slice(device, &elements)?)
        };
        Ok(Work {
            general: matrix(false)?,
            definite: matrix(true)?,
            matrix: Buffer::zeroed(device, n * n)?,
            right: Buffer::zeroed(device, n)?,
            tau: Buffer::zeroed(device, n)?,
            pivots: Buffer::zeroed(device, n)?,
            values: Buffer::zeroed(device, n)?,
            vectors: [Buffer::zeroed(device, room)?, Buffer::zeroed(device, room)?],
        })
    }

    /// Returns the element (i, j) of the general matrix or of the definite one.
    fn entry<T: Element>(&self, definite: bool, i: usize, j: usize) -> T {
        let n = self.n;
        let plain = |i: usize, j: usize| number::<T>(1, i + j * n);
        if !definite || i > j {
            return plain(i, j);
        }
        let mirrored = plain(j, i).to_complex().conj();
        T::from_complex(if i == j { (mirrored.re + n as f64).into() } else { mirrored })
    }

    /// Puts the operands in place.
    fn prepare<T: Element>(&self, routine: Routine, work: &mut Work<T>) -> Result<(), Failure> {
        let definite = matches!(routine, Routine::Potrf | Routine::Syevd);
        let from = if definite { &work.definite } else { &work.general };
        Ok(linalg::copy(from, &mut work.matrix)?.wait()?)
    }

    /// Runs the operation and waits for it.
    fn run<T: Element>(&self, routine: Routine, work: &mut Work<T>) -> BlasResult<()> {
        let (square, column) = self.layouts();
        let matrix = MatMut::new(&mut work.matrix, square)?;
        match routine {
            Routine::Potrf => potrf(Triangle::Lower, matrix)?.completion().wait()?,
            Routine::Getrf => getrf(matrix, &mut work.pivots)?.completion().wait()?,
            Routine::Geqrf => geqrf(matrix, &mut work.tau)?.wait()?,
            Routine::Trsm => {
                let a = MatRef::new(&work.definite, square)?;
                linalg::trsm(Side::Left, Triangle::Lower, Op::N, Diagonal::Stored, 1, a, matrix)?.wait()?;
            }
            Routine::Gesv => {
                let right = MatMut::new(&mut work.right, column)?;
                gesv(matrix, &mut work.pivots, right)?.completion().wait()?;
            }
            Routine::Syevd => {
                heevd(Triangle::Lower, Eigenvectors::With, matrix, &mut work.values)?.completion().wait()?;
            }
            Routine::Gesvd => {
                let [u, vt] = &mut work.vectors;
                let (u, vt) = (MatMut::new(u, square)?, MatMut::new(vt, square)?);
                let vectors = Some(SingularVectors { u, vt });
                gesvd(matrix.as_ref(), &mut work.values, vectors)?.completion().wait()?;
            }
        }
        Ok(())
    }

    /// Computes a spectrum, and returns ‖A V − V Λ‖₁ or ‖A − U Σ Vᴴ‖₁ over n ‖A‖₁ ε.
    fn spectral_ratio<T: Element>(&self, routine: Routine, work: &mut Work<T>) -> Result<f64, Failure> {
        let (n, (square, _)) = (self.n, self.layouts());
        self.prepare(routine, work)?;
        self.run(routine, work)?;
        let values: Vec<f64> = work.values.to_vec()?.into_iter().map(Real::to_f64).collect();
        let stretched = |columns: &[T]| -> Vec<T> {
            let places = columns.par_iter().enumerate();
            places.map(|(k, x)| T::from_complex(x.to_complex() * values[k / n])).collect()
        };
        let (left, right) = if routine == Routine::Syevd {
            let product = {
                let (a, v) = (MatRef::new(&work.definite, square)?, MatRef::new(&work.matrix, square)?);
                let [to, _] = &mut work.vectors;
                linalg::gemm(Op::N, Op::N, 1, a, v, 0, MatMut::new(to, square)?)?;
                work.vectors[0].to_vec()?
            };
            (product, stretched(&work.matrix.to_vec()?))
        } else {
            let u = Buffer::from_slice(self.device, &stretched(&work.vectors[0].to_vec()?))?;
            let (u, vt) = (MatRef::new(&u, square)?, MatRef::new(&work.vectors[1], square)?);
            linalg::gemm(Op::N, Op::N, 1, u, vt, 0, MatMut::new(&mut work.matrix, square)?)?;
            (work.matrix.to_vec()?, work.general.to_vec()?)
        };
        let of_column = |(x, y): (&[T], &[T])| -> f64 {
            x.iter().zip(y).map(|(x, y)| (x.to_complex() - y.to_complex()).norm()).sum()
        };
        let rest = left.par_chunks(n).zip(right.par_chunks(n)).map(of_column).reduce(|| 0.0, larger);
        let a = if routine == Routine::Syevd { &work.definite } else { &work.general };
        let size = |column: &[T]| -> f64 { column.iter().map(|x| x.to_complex().norm()).sum() };
        let norm = a.to_vec()?.par_chunks(n).map(size).reduce(|| 0.0, larger);
        Ok(rest / (n as f64 * norm * T::Real::epsilon().to_f64()))
    }

    fn layouts(&self) -> (MatrixLayout, MatrixLayout) {
        (MatrixLayout::column_major(self.n, self.n), MatrixLayout::column_major(self.n, 1))
    }

    /// Does the operation, and returns its test ratio.
    ///
    /// # Errors
    /// If the ratio is larger than LAPACK allows.
    fn checked<T: Element>(&self, routine: Routine, work: &mut Work<T>) -> Result<f64, Failure> {
        let ratio = match routine.is_spectral() {
            true => self.spectral_ratio(routine, work)?,
            false => self.solution_ratio(routine, work)?,
        };
        if ratio.is_nan() || ratio > MOST {
            let what = format!("{}{} {n}x{n}", self.element, routine.name(), n = self.n);
            let error = anyhow::anyhow!("{what} has the test ratio {ratio:.1e}, more than {MOST}: not timed");
            return Err(Failure::new(Status::Failed, error));
        }
        Ok(ratio)
    }

    /// Solves a system by the operation, and returns ‖b − A x‖ / (‖A‖ ‖x‖ ε) in the maximum norm.
    fn solution_ratio<T: Element>(&self, routine: Routine, work: &mut Work<T>) -> Result<f64, Failure> {
        let (n, definite) = (self.n, routine.is_definite());
        let (square, column) = self.layouts();
        let right: Vec<T> = (0..n).map(|i| self.entry(false, i, 0)).collect();
        work.right.write(&right)?;
        self.prepare(routine, work)?;
        self.run(routine, work)?;
        let x = {
            let factors = MatRef::new(&work.matrix, square)?;
            let mut b = MatMut::new(&mut work.right, column)?;
            match routine {
                Routine::Potrf => potrs(Triangle::Lower, factors, b)?.wait()?,
                Routine::Getrf => getrs(Op::N, factors, &work.pivots, b)?.wait()?,
                Routine::Geqrf => {
                    unmqr(Side::Left, Op::C, factors, &work.tau, b.reborrow())?;
                    let (triangle, diagonal) = (Triangle::Upper, Diagonal::Stored);
                    linalg::trsm(Side::Left, triangle, Op::N, diagonal, 1, factors, b)?.wait()?;
                }
                Routine::Trsm | Routine::Gesv | Routine::Syevd | Routine::Gesvd => {}
            }
            // The first column of all right-hand sides is b.
            if routine == Routine::Trsm { work.matrix.slice(0..n)?.to_vec()? } else { work.right.to_vec()? }
        };
        let x: Vec<Complex<f64>> = x.into_iter().map(Element::to_complex).collect();
        let rows = (0..n).into_par_iter().map(|i| {
            let last = if routine == Routine::Trsm { i + 1 } else { n };
            let (mut product, mut size) = (Complex::new(0.0, 0.0), 0.0);
            // Sums of sums: one long sum would be less exact than the solution.
            for (block, x) in x[..last].chunks(SUMMED).enumerate() {
                let mut part = Complex::new(0.0, 0.0);
                for (j, x) in (SUMMED * block..).zip(x) {
                    let a = self.entry::<T>(definite, i, j).to_complex();
                    part += a * x;
                    size += a.norm();
                }
                product += part;
            }
            let rest = right[i].to_complex() - product;
            (rest.norm(), size)
        });
        let (rest, size) = rows.reduce(|| (0.0, 0.0), |a, b| (larger(a.0, b.0), larger(a.1, b.1)));
        let largest = x.iter().map(|x| x.norm()).fold(0.0, larger);
        Ok(rest / (size * largest * T::Real::epsilon().to_f64()))
    }
}
