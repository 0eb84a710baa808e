//! Files of vectors: right-hand sides and near-null vectors.

use super::extents::expect_dense;
use super::market::{AnyCsr, Market, MarketError};
use lattice_compute::NoRoom;
use lattice_files::npy::{self, Array, ArrayError};
use lattice_files::{input, room, text};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Vectors as the columns of a matrix, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// Components of each vector.
    pub rows: usize,
    /// Number of vectors.
    pub columns: usize,
    /// The numbers: those of one component lie side by side.
    pub values: Vec<f64>,
}

/// A file that has no real vectors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnsError {
    /// A Matrix Market file that cannot be read.
    #[error(transparent)]
    Market(#[from] MarketError),
    /// The system refuses.
    #[error("{file}: {source}", file = text::path(file))]
    System {
        /// The file.
        file: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The content is something else.
    #[error("{file}: {problem}", file = text::path(file))]
    Content {
        /// The file.
        file: PathBuf,
        /// The problem, and what to do.
        problem: String,
    },
}

/// Reads real vectors from a Matrix Market file or a NumPy array; the content tells which.
///
/// An array has one dimension or two, in either order.
///
/// # Errors
/// [`ColumnsError`].
pub fn read_vectors(path: &Path) -> Result<Columns, ColumnsError> {
    let system = |source| ColumnsError::System { file: path.to_owned(), source };
    let content = |problem| ColumnsError::Content { file: path.to_owned(), problem };
    let file = input::open(path).map_err(system)?;
    let length = file.metadata().map_err(system)?.len();
    let mut file = BufReader::new(file);
    if begins_as_array(&mut file).map_err(system)? {
        let array = Array::read(&mut file, length).and_then(Array::real);
        return of_array(array).map_err(content);
    }
    let market = Market::read_open(file.into_inner(), path)?;
    let (rows, columns) = (market.header.rows, market.header.columns);
    expect_dense(rows, columns, market.header.stored).map_err(|error| content(error.to_string()))?;
    let no_room = |error: NoRoom| content(error.to_string());
    let mut values = Vec::new();
    let count = rows.saturating_mul(columns);
    room::reserve(&mut values, count).map_err(no_room)?;
    let AnyCsr::Real(matrix) = market.to_csr().map_err(no_room)? else {
        return Err(content("complex vectors found, real ones expected".to_owned()));
    };
    values.resize(count, 0.0);
    for row in 0..rows {
        matrix.row(row).for_each(|(column, value)| values[row * columns + column] = value);
    }
    Ok(Columns { rows, columns, values })
}

/// Tells whether a file begins as an array of NumPy, and goes back to its beginning.
fn begins_as_array(file: &mut BufReader<File>) -> io::Result<bool> {
    let mut first = Vec::new();
    file.by_ref().take(npy::MAGIC.len() as u64).read_to_end(&mut first)?;
    file.rewind()?;
    Ok(first == npy::MAGIC)
}

/// Returns the vectors of an array.
fn of_array(array: Result<Array, ArrayError>) -> Result<Columns, String> {
    let Array { shape, values, .. } = array.map_err(|error| error.to_string())?;
    let (rows, columns) = match shape[..] {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => return Err("neither one dimension nor two; save vectors as the columns of a matrix".to_owned()),
    };
    match values.iter().position(|value| !value.is_finite()) {
        Some(k) => Err(format!("row {}, column {} is not finite", k / columns + 1, k % columns + 1)),
        None => Ok(Columns { rows, columns, values }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Columns, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        read_vectors(file.path()).map_err(|error| error.to_string())
    }

    fn array(header: &str, numbers: &[f64]) -> Vec<u8> {
        let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        [npy::MAGIC, &[1, 0, header.len() as u8, 0], header.as_bytes(), &numbers].concat()
    }

    #[test]
    fn arrays_of_both_orders_and_matrices_are_read() {
        let header =
            |order: &str| format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': (2L, 3), }}\n");
        let by_rows = read(&array(&header("False"), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
        let by_columns = read(&array(&header("True"), &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])).unwrap();
        assert_eq!(by_rows, by_columns);
        assert_eq!((by_rows.rows, by_rows.columns, by_rows.values[2]), (2, 3, 3.0));
        let market = b"%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n";
        assert_eq!(read(market).unwrap(), by_rows);
        let one = read(&array("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &[1.0, 2.0]));
        assert_eq!(one.map(|one| (one.rows, one.columns)), Ok((2, 1)));
    }

    #[test]
    fn other_content_is_refused() {
        let whole = array("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &[1.0, 2.0]);
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err(), "{end}");
        }
        for (header, wanted) in [
            ("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "the type <c8"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1), }", "dimension"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", "are there"),
        ] {
            let error = read(&array(header, &[1.0])).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
        let nan = array("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", &[f64::NAN]);
        assert!(read(&nan).unwrap_err().ends_with("row 1, column 1 is not finite"));
        let wide = b"%%MatrixMarket matrix coordinate real general\n5000 5000 1\n1 1 1\n";
        assert!(read(wide).unwrap_err().contains("5000 rows and 5000 columns, but 1 entry"));
    }
}
