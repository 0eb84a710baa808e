//! `tune sparse`: formats of sparse matrices, by their products.

use super::search::{Budget, Search};
use lattice_bench::sparse;
use lattice_cl::linalg::host::level1::Arithmetic;
use lattice_cl::linalg::sparse::market::AnyCsr;
use lattice_cl::linalg::sparse::{Csr, MatrixOptions, TunedFormat, tune_format};
use lattice_cli::choices::is_wanted;
use lattice_cli::failure::Failure;
use lattice_cli::matrix_source::Matrix;
use lattice_cli::precisions;
use num_complex::Complex;
use std::sync::Arc;

/// Options of sparse matrices.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Matrix Market files, or model problems as those of solve [default: those of bench sparse]
    ///
    /// Formats are timed, and the fastest is kept for all matrices with entries at the same places.
    #[arg(value_name = "MATRIX")]
    matrices: Vec<String>,
    /// Precisions: double, single (or d, s) or all
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "all", value_parser = precisions::of_reals())]
    precision: Vec<String>,
    /// Numbers of right-hand sides that the matrices are applied to at once
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u8).range(1..=64))]
    rhs: Vec<u8>,
    #[command(flatten)]
    pub budget: Budget,
}

impl Arguments {
    /// Tunes the formats of matrices, for each precision and number of vectors.
    ///
    /// # Errors
    /// When a matrix cannot be read, or the device fails.
    pub fn tune(&self, search: &mut Search<'_>) -> Result<(), Failure> {
        let named: Vec<&str> = if self.matrices.is_empty() {
            sparse::default_problems(search.device.info().kind).to_vec()
        } else {
            self.matrices.iter().map(String::as_str).collect()
        };
        let of_precision = |precision: &str| is_wanted(&self.precision, precision);
        let precisions = ["double", "single"].into_iter().filter(|&name| of_precision(name)).count();
        search.progress.plan(named.len() * precisions * self.rhs.len());
        for name in named {
            search.report.note(format_args!("{name}: products in each format"));
            match Matrix::of(name)?.matrix {
                AnyCsr::Real(matrix) => {
                    let matrix = Arc::new(matrix);
                    if of_precision("single") {
                        self.tune_matrix::<f32>(&Arc::new(matrix.cast()), search)?;
                    }
                    if of_precision("double") {
                        self.tune_matrix::<f64>(&matrix, search)?;
                    }
                }
                AnyCsr::Complex(matrix) => {
                    let matrix = Arc::new(matrix);
                    if of_precision("single") {
                        self.tune_matrix::<Complex<f32>>(&Arc::new(matrix.cast()), search)?;
                    }
                    if of_precision("double") {
                        self.tune_matrix::<Complex<f64>>(&matrix, search)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn tune_matrix<T: Arithmetic>(
        &self,
        matrix: &Arc<Csr<T>>,
        search: &mut Search<'_>,
    ) -> Result<(), Failure> {
        for &vectors in &self.rhs {
            let options = MatrixOptions::default().with_vectors(usize::from(vectors));
            let TunedFormat { key, shipped, found } =
                tune_format(search.device, matrix, options, self.budget.of_kernel())?;
            search.add(&key, &shipped, &found);
        }
        Ok(())
    }
}
