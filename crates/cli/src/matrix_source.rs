//! Matrices of command lines: files and model problems.

use super::failure::{Failure, Status};
use lattice_cl::io::{DenseMatrix, MatrixElements, read_sparse};
use lattice_linalg::host::level1::Arithmetic;
use lattice_linalg::sparse::market::{AnyCsr, Market, Symmetry};
use lattice_linalg::sparse::{Coo, Csr, Entry, Problem};
use num_complex::Complex64;
use std::path::Path;

/// A matrix, and what its source says of it.
pub struct Matrix {
    /// The matrix by rows.
    pub matrix: AnyCsr,
    /// The symmetry that a file declares; `None` for a model problem.
    pub declared: Option<Symmetry>,
    /// Near-null vectors of a model problem, with their number of unknowns of a point.
    pub near_null_space: Option<(Vec<f64>, usize)>,
}

impl Matrix {
    /// Reads a Matrix Market file, a dense `.npy` or a sparse `.npz`, or makes a model problem like `poisson3d:64`.
    ///
    /// # Errors
    /// When the file cannot be read, the text is no problem, or memory is short.
    pub fn of(source: &str) -> Result<Self, Failure> {
        let path = Path::new(source);
        let is_problem = Problem::is_named_by(source) || (source.contains(':') && !path.exists());
        if !is_problem && path.extension().is_some_and(|ending| ending == "npy") {
            let matrix = by_rows(&DenseMatrix::read(path)?)?;
            return Ok(Self { matrix, declared: None, near_null_space: None });
        }
        if !is_problem && path.extension().is_some_and(|ending| ending == "npz") {
            return Ok(Self { matrix: read_sparse(path)?, declared: None, near_null_space: None });
        }
        if !is_problem {
            let market = Market::read(path)?;
            let no_room = |error| Failure::new(Status::Usage, error);
            let matrix = market.to_csr().map_err(no_room)?;
            return Ok(Self { matrix, declared: Some(market.header.symmetry), near_null_space: None });
        }
        let problem: Problem = source.parse().map_err(|error| Failure::new(Status::Usage, error))?;
        let matrix = problem.matrix().map_err(|error| Failure::new(Status::Usage, error))?;
        Ok(Self {
            matrix: AnyCsr::Real(matrix),
            declared: None,
            near_null_space: problem.near_null_space().map(|vectors| (vectors, 3)),
        })
    }

    /// Returns rows, columns and entries.
    pub fn extents(&self) -> [usize; 3] {
        match &self.matrix {
            AnyCsr::Real(matrix) => [matrix.rows(), matrix.columns(), matrix.entries()],
            AnyCsr::Complex(matrix) => [matrix.rows(), matrix.columns(), matrix.entries()],
        }
    }
}

/// Returns the elements of a dense matrix that are not zero, by rows.
fn by_rows(dense: &DenseMatrix) -> Result<AnyCsr, Failure> {
    fn entries<T: Arithmetic>(dense: &DenseMatrix, elements: &[T]) -> Result<Csr<T>, Failure> {
        let count = |extent: usize| {
            u32::try_from(extent).map_err(|_| {
                Failure::usage(format!("{} rows or columns are too many for a sparse matrix", extent))
            })
        };
        count(dense.rows.max(dense.columns))?;
        let entry = |(place, &value): (usize, &T)| Entry {
            row: (place / dense.columns) as u32,
            column: (place % dense.columns) as u32,
            value,
        };
        let all = || elements.iter().enumerate().filter(|(_, value)| **value != T::default());
        let mut entries = Vec::new();
        lattice_files::room::reserve(&mut entries, all().count())
            .map_err(|error| Failure::new(Status::Usage, error))?;
        entries.extend(all().map(entry));
        let matrix = Coo { rows: dense.rows, columns: dense.columns, entries };
        matrix.to_csr().map_err(|error| Failure::new(Status::Usage, error))
    }
    Ok(match &dense.elements {
        MatrixElements::Real(elements) => AnyCsr::Real(entries(dense, elements)?),
        MatrixElements::Complex(elements) => AnyCsr::Complex(entries(dense, elements)?),
    })
}

/// The vectors of a file, real or complex.
pub enum AnyVectors {
    /// Real vectors.
    Real(Vec<Vec<f64>>),
    /// Complex vectors.
    Complex(Vec<Vec<Complex64>>),
}

impl AnyVectors {
    /// Reads the columns of a Matrix Market file or of an array of NumPy.
    ///
    /// # Errors
    /// When the file cannot be read, or has no column.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        fn columns<T: Copy>(matrix: &DenseMatrix, elements: &[T]) -> Vec<Vec<T>> {
            let column = |j| (0..matrix.rows).map(|i| elements[i * matrix.columns + j]).collect();
            (0..matrix.columns).map(column).collect()
        }
        let matrix = DenseMatrix::read(path)?;
        let vectors = match &matrix.elements {
            MatrixElements::Real(elements) => Self::Real(columns(&matrix, elements)),
            MatrixElements::Complex(elements) => Self::Complex(columns(&matrix, elements)),
        };
        if vectors.count() == 0 {
            let message = format!("{}: no column found, right-hand sides expected", path.display());
            return Err(Failure::new(Status::File, anyhow::Error::msg(message)));
        }
        Ok(vectors)
    }

    /// Returns the number of vectors.
    pub fn count(&self) -> usize {
        match self {
            Self::Real(vectors) => vectors.len(),
            Self::Complex(vectors) => vectors.len(),
        }
    }

    /// Returns the vectors as complex ones.
    pub fn into_complex(self) -> Vec<Vec<Complex64>> {
        match self {
            Self::Real(vectors) => {
                let complex = |vector: Vec<f64>| vector.into_iter().map(Complex64::from).collect();
                vectors.into_iter().map(complex).collect()
            }
            Self::Complex(vectors) => vectors,
        }
    }
}
