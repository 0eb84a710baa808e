//! Files of vectors: right-hand sides and near-null vectors.

use super::market::{AnyCsr, Market, MarketError};
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
    #[error("{file}: {source}", file = file.display())]
    System {
        /// The file.
        file: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The content is something else.
    #[error("{file}: {problem}", file = file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// The problem, and what to do.
        problem: String,
    },
}

/// First bytes of files of NumPy.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads real vectors from a Matrix Market file or a NumPy array.
///
/// An array of NumPy has double precision, and one dimension or two, in either order.
///
/// # Errors
/// [`ColumnsError`].
pub fn read_vectors(path: &Path) -> Result<Columns, ColumnsError> {
    if path.extension().is_some_and(|ending| ending == "npy") {
        let system = |source| ColumnsError::System { file: path.to_owned(), source };
        let bytes = std::fs::read(path).map_err(system)?;
        return parse(&bytes).map_err(|problem| ColumnsError::Content { file: path.to_owned(), problem });
    }
    let content = |problem: String| ColumnsError::Content { file: path.to_owned(), problem };
    let matrix = Market::read(path)?.to_csr().map_err(|error| content(error.to_string()))?;
    let AnyCsr::Real(matrix) = matrix else {
        return Err(content("complex vectors found, real ones expected".to_owned()));
    };
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let mut values = Vec::new();
    let count = rows.saturating_mul(columns);
    lattice_compute::reserve(&mut values, count).map_err(|error| content(error.to_string()))?;
    values.resize(count, 0.0);
    for row in 0..rows {
        matrix.row(row).for_each(|(column, value)| values[row * columns + column] = value);
    }
    Ok(Columns { rows, columns, values })
}

/// Parses an array of NumPy. Its format is NEP 1.
fn parse(bytes: &[u8]) -> Result<Columns, String> {
    let no_array = || "no array of NumPy, which begins with \\x93NUMPY".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(no_array)?;
    let (version, rest) = rest.split_first().ok_or_else(no_array)?;
    let length_bytes = if *version == 1 { 2 } else { 4 };
    let rest = rest.get(1..).filter(|rest| rest.len() >= length_bytes).ok_or_else(no_array)?;
    let (length, rest) = rest.split_at(length_bytes);
    let length = length.iter().rev().fold(0_usize, |value, byte| value << 8 | usize::from(*byte));
    let header =
        rest.get(..length).and_then(|header| std::str::from_utf8(header).ok()).ok_or_else(no_array)?;
    let numbers = &rest[length..];
    let entry = |name: &str| {
        let (_, rest) = header.split_once(&format!("'{name}':"))?;
        Some(rest.trim_start())
    };
    if !entry("descr").is_some_and(|text| text.starts_with("'<f8'")) {
        return Err("numbers of another type; save them as float64".to_owned());
    }
    let is_fortran = entry("fortran_order").is_some_and(|text| text.starts_with("True"));
    let shape =
        entry("shape").and_then(|text| text.strip_prefix('(')?.split_once(')').map(|(shape, _)| shape));
    let extents: Option<Vec<usize>> = shape.map(|shape| {
        shape
            .split(',')
            .map(str::trim)
            .filter(|n| !n.is_empty())
            .map(|n| n.parse().unwrap_or(usize::MAX))
            .collect()
    });
    let (rows, columns) = match extents.as_deref() {
        Some(&[rows]) => (rows, 1),
        Some(&[rows, columns]) => (rows, columns),
        _ => return Err("neither one dimension nor two; save vectors as the columns of a matrix".to_owned()),
    };
    let wanted = rows.checked_mul(columns).and_then(|count| count.checked_mul(8));
    if wanted != Some(numbers.len()) {
        return Err(format!(
            "{} bytes of numbers are no {rows}×{columns} array; the file is cut off",
            numbers.len()
        ));
    }
    let number = |k: usize| {
        let bytes = numbers[8 * k..8 * k + 8].try_into().unwrap_or_default();
        f64::from_le_bytes(bytes)
    };
    let values: Vec<f64> = (0..rows * columns)
        .map(|k| if is_fortran { number(k % columns * rows + k / columns) } else { number(k) })
        .collect();
    match values.iter().position(|value| !value.is_finite()) {
        Some(k) => Err(format!("row {}, column {} is not finite", k / columns + 1, k % columns + 1)),
        None => Ok(Columns { rows, columns, values }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(header: &str, numbers: &[f64]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0, header.len() as u8, 0]);
        bytes.extend(header.as_bytes());
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes
    }

    #[test]
    fn arrays_of_both_orders_are_read() {
        let header =
            |order: &str| format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': (2, 3), }}\n");
        let by_rows = parse(&array(&header("False"), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
        let by_columns = parse(&array(&header("True"), &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])).unwrap();
        assert_eq!(by_rows, by_columns);
        assert_eq!((by_rows.rows, by_rows.columns, by_rows.values[2]), (2, 3, 3.0));
        let one =
            parse(&array("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &[1.0, 2.0])).unwrap();
        assert_eq!((one.rows, one.columns), (2, 1));
    }

    #[test]
    fn other_content_is_refused() {
        let whole = array("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &[1.0, 2.0]);
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "{end}");
        }
        for (header, wanted) in [
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "float64"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "dimension"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", "cut off"),
        ] {
            let error = parse(&array(header, &[1.0])).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
        let nan = array("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", &[f64::NAN]);
        assert_eq!(parse(&nan).unwrap_err(), "row 1, column 1 is not finite");
    }
}
