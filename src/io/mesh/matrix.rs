//! Dense matrices in files: `.npy` and Matrix Market.

use super::{MeshError, array, beginning, open};
use crate::io::npy;
use crate::io::output::Output;
use crate::linalg::sparse::market::{AnyCsr, Entries, Market, MarketError, write_vectors};
use crate::linalg::sparse::{TooEmpty, expect_dense};
use crate::scalar::Precision;
use lattice_files::npy::Array;
use lattice_files::room::expect_room;
use lattice_files::text;
use num_complex::Complex64;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A dense matrix, in double.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// The elements, row after row.
    pub elements: MatrixElements,
    /// The precision of the file.
    pub precision: Precision,
}

/// The elements of a matrix, real or complex.
#[derive(Clone, Debug, PartialEq)]
pub enum MatrixElements {
    /// Real numbers.
    Real(Vec<f64>),
    /// Complex numbers.
    Complex(Vec<Complex64>),
}

/// A dense matrix that is not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// An array of NumPy that cannot be read.
    #[error(transparent)]
    Array(#[from] MeshError),
    /// A Matrix Market file that cannot be read.
    #[error(transparent)]
    Market(#[from] MarketError),
    /// A file that cannot be written.
    #[error(transparent)]
    Write(#[from] crate::io::Error),
    /// The array has no rows and columns.
    #[error(
        "{file}: an array of the shape {shape}; a matrix has rows and columns",
        file = text::path(file), shape = text::tuple(shape)
    )]
    Shape {
        /// The file.
        file: PathBuf,
        /// The shape of the array.
        shape: Vec<usize>,
    },
    /// An element is infinite or none. Rows and columns are counted from 0.
    #[error("{file}: element ({row}, {column}) is {value}; all must be finite", file = text::path(file))]
    NotFinite {
        /// The file.
        file: PathBuf,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// Its value.
        value: Complex64,
    },
    /// Nearly all elements are zeros that no entry of the file stands for.
    #[error("{file}: {source}", file = text::path(file))]
    TooEmpty {
        /// The file.
        file: PathBuf,
        /// The extents and the entries.
        source: TooEmpty,
    },
    /// There is not enough memory.
    #[error("{file}: {rows}×{columns} elements do not fit: {reason}", file = text::path(file))]
    NoRoom {
        /// The file.
        file: PathBuf,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
        /// The bytes that are needed.
        reason: String,
    },
}

impl DenseMatrix {
    /// Reads a matrix from an array of NumPy, or from a Matrix Market file of any kind.
    ///
    /// An array has one dimension or two. One of one dimension is a single column.
    ///
    /// # Errors
    /// [`MatrixError`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, MatrixError> {
        let path = path.as_ref();
        let (mut file, length) = open(path)?;
        let first = beginning(&mut file).map_err(|problem| MeshError::new(path, problem))?;
        let matrix = match first.starts_with(npy::MAGIC) {
            true => Self::read_array(path, file, length)?,
            false => Self::read_market(path, file.into_inner())?,
        };
        matrix.check_finite(path)?;
        Ok(matrix)
    }

    fn read_array(path: &Path, mut file: BufReader<File>, length: u64) -> Result<Self, MatrixError> {
        let array = Array::read(&mut file, length).map_err(|problem| MeshError::new(path, problem.into()))?;
        let precision = array::precision(&array);
        let (rows, columns) = match array.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => return Err(MatrixError::Shape { file: path.to_owned(), shape: array.shape }),
        };
        let elements = if array.is_complex {
            MatrixElements::Complex(
                array.values.chunks_exact(2).map(|z| Complex64::new(z[0], z[1])).collect(),
            )
        } else {
            MatrixElements::Real(array.values)
        };
        Ok(Self { rows, columns, elements, precision })
    }

    fn read_market(path: &Path, file: File) -> Result<Self, MatrixError> {
        let no_room = |rows, columns, reason: String| MatrixError::NoRoom {
            file: path.to_owned(),
            rows,
            columns,
            reason,
        };
        let market = Market::read_open(file, path)?;
        let [rows, columns] = [market.header.rows, market.header.columns];
        expect_dense(rows, columns, market.header.stored)
            .map_err(|source| MatrixError::TooEmpty { file: path.to_owned(), source })?;
        // The elements lie beside the entries by rows, before any of them is made.
        let count = rows.saturating_mul(columns);
        let each = match &market.entries {
            Entries::Real(_) => size_of::<f64>(),
            Entries::Complex(_) => size_of::<Complex64>(),
        };
        expect_room((count as u64).saturating_mul(each as u64))
            .map_err(|error| no_room(rows, columns, error.to_string()))?;
        let matrix = market.to_csr().map_err(|error| no_room(rows, columns, error.to_string()))?;
        drop(market);
        let elements = match matrix {
            AnyCsr::Real(matrix) => {
                let mut dense = vec![0.0; count];
                for row in 0..rows {
                    matrix.row(row).for_each(|(column, value)| dense[row * columns + column] = value);
                }
                MatrixElements::Real(dense)
            }
            AnyCsr::Complex(matrix) => {
                let mut dense = vec![Complex64::default(); count];
                for row in 0..rows {
                    matrix.row(row).for_each(|(column, value)| dense[row * columns + column] = value);
                }
                MatrixElements::Complex(dense)
            }
        };
        Ok(Self { rows, columns, elements, precision: Precision::Double })
    }

    /// Writes the matrix, as `.npy` in its precision if the name ends so, else as Matrix Market.
    ///
    /// `comment` goes into Matrix Market files.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>, comment: &str) -> Result<(), MatrixError> {
        let path = path.as_ref();
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy")) {
            return Ok(self.write_array(path)?);
        }
        fn columns<T: Copy>(rows: usize, columns: usize, elements: &[T]) -> Vec<Vec<T>> {
            (0..columns).map(|j| (0..rows).map(|i| elements[i * columns + j]).collect()).collect()
        }
        match &self.elements {
            MatrixElements::Real(elements) => {
                let vectors = columns(self.rows, self.columns, elements);
                write_vectors(
                    path,
                    self.rows,
                    &vectors.iter().map(Vec::as_slice).collect::<Vec<_>>(),
                    comment,
                )?;
            }
            MatrixElements::Complex(elements) => {
                let vectors = columns(self.rows, self.columns, elements);
                write_vectors(
                    path,
                    self.rows,
                    &vectors.iter().map(Vec::as_slice).collect::<Vec<_>>(),
                    comment,
                )?;
            }
        }
        Ok(())
    }

    fn write_array(&self, path: &Path) -> Result<(), crate::io::Error> {
        let shape = [self.rows, self.columns];
        let mut output = Output::create(path)?;
        let values: &[f64] = match &self.elements {
            MatrixElements::Real(values) => {
                output.write(&array::header(&shape, self.precision))?;
                values
            }
            MatrixElements::Complex(values) => {
                npy::Array::write_header(&mut output, &shape, self.precision)?;
                bytemuck::cast_slice(values)
            }
        };
        for values in values.chunks(1 << 16) {
            output.write(&array::bytes(values, self.precision))?;
        }
        output.finish()
    }

    /// Returns element (row, column).
    pub fn at(&self, row: usize, column: usize) -> Complex64 {
        let place = row * self.columns + column;
        match &self.elements {
            MatrixElements::Real(elements) => elements[place].into(),
            MatrixElements::Complex(elements) => elements[place],
        }
    }

    fn check_finite(&self, path: &Path) -> Result<(), MatrixError> {
        let bad = match &self.elements {
            MatrixElements::Real(elements) => elements.iter().position(|x| !x.is_finite()),
            MatrixElements::Complex(elements) => elements.iter().position(|z| !z.is_finite()),
        };
        let Some(place) = bad else { return Ok(()) };
        let (row, column) = (place / self.columns, place % self.columns);
        Err(MatrixError::NotFinite { file: path.to_owned(), row, column, value: self.at(row, column) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complex(rows: usize, columns: usize, precision: Precision) -> DenseMatrix {
        let element = |k| Complex64::new(k as f64 - 2.5, 0.25 * k as f64);
        let elements = MatrixElements::Complex((0..rows * columns).map(element).collect());
        DenseMatrix { rows, columns, elements, precision }
    }

    #[test]
    fn matrices_are_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        for precision in [Precision::Single, Precision::Double] {
            for (rows, columns) in [(3, 2), (1, 5), (4, 1)] {
                let complex = complex(rows, columns, precision);
                let MatrixElements::Complex(elements) = &complex.elements else { unreachable!() };
                let real = MatrixElements::Real(elements.iter().map(|z| z.re).collect());
                for matrix in [complex.clone(), DenseMatrix { elements: real, ..complex.clone() }] {
                    let path = folder.path().join("a.npy");
                    matrix.write(&path, "").unwrap();
                    assert_eq!(DenseMatrix::read(&path).unwrap(), matrix);
                    let path = folder.path().join("a.mtx");
                    matrix.write(&path, "a matrix").unwrap();
                    let double = DenseMatrix { precision: Precision::Double, ..matrix };
                    assert_eq!(DenseMatrix::read(&path).unwrap(), double);
                }
            }
        }
    }

    #[test]
    fn arrays_in_the_order_of_fortran_and_of_one_dimension_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let file = |descr: &str, fortran: &str, shape: &str, numbers: &[u8]| {
            let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
            let length = (header.len() as u16).to_le_bytes();
            std::fs::write(&path, [npy::MAGIC, &[1, 0], &length, header.as_bytes(), numbers].concat())
                .unwrap();
            DenseMatrix::read(&path)
        };
        let numbers: Vec<u8> = (0..6).flat_map(|k: u8| f32::from(k).to_be_bytes()).collect();
        let read = file(">f4", "True", "(2, 3)", &numbers).unwrap();
        assert_eq!(read.elements, MatrixElements::Real(vec![0.0, 2.0, 4.0, 1.0, 3.0, 5.0]));
        let read = file(">c8", "True", "(1, 3)", &numbers).unwrap();
        assert_eq!(read.at(0, 1), Complex64::new(2.0, 3.0));
        let read = file(">f4", "False", "(6,)", &numbers).unwrap();
        assert_eq!((read.rows, read.columns), (6, 1));
        let error = file(">f4", "False", "(1, 2, 3)", &numbers).unwrap_err();
        assert!(matches!(error, MatrixError::Shape { .. }), "{error}");
        let integers: Vec<u8> = (0..6_i32).flat_map(i32::to_be_bytes).collect();
        let read = file(">i4", "False", "(2, 3)", &integers).unwrap();
        assert_eq!(read.elements, MatrixElements::Real(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(read.precision, Precision::Double);
        let nan: Vec<u8> = [1.0, 2.0, f64::NAN].into_iter().flat_map(f64::to_le_bytes).collect();
        let error = file("<f8", "False", "(1, 3)", &nan).unwrap_err();
        assert!(matches!(error, MatrixError::NotFinite { row: 0, column: 2, .. }), "{error}");
    }
}
