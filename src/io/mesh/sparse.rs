//! Sparse matrices in `.npz` files, as `scipy.sparse.save_npz` writes them.

use super::{ArrayFile, MeshError, MeshProblem};
use crate::linalg::host::level1::Arithmetic;
use crate::linalg::sparse::market::AnyCsr;
use crate::linalg::sparse::{Coo, Csr, Entry, expect_supported};
use lattice_files::npy::Array;
use lattice_files::room;
use lattice_files::text::shortened;
use num_complex::Complex64;
use std::path::Path;

/// Reads a sparse matrix in one of SciPy's formats: csr, csc, coo, bsr or dia.
///
/// Values are real, complex or integers. Those of one place are added. Sizes and numbers of rows
/// and columns are checked against each other. Arrays that a format does not have are refused.
///
/// # Errors
/// When the file cannot be read, or has no sparse matrix.
pub fn read_sparse(path: impl AsRef<Path>) -> Result<AnyCsr, MeshError> {
    let path = path.as_ref();
    let mut file = ArrayFile::open(path)?;
    let mut read = || {
        let format = file.archive().text("format")?;
        expect_names(&format, &file.others(&["format", "shape", "data", "_is_array"]))?;
        let shape = file.whole("shape", u32::MAX as usize)?;
        let [rows, columns] = shape[..] else { return Err(bad("`shape` has not two extents")) };
        let data = file.archive().array("data")?;
        expect_supported(rows, columns, data.values.len()).map_err(|error| bad(error.to_string()))?;
        // The places of the entries, and the entries by rows and in a list.
        room::expect_room((data.values.len() as u64).saturating_mul(BYTES_OF_AN_ENTRY))?;
        let places = match &format[..] {
            "csr" => compressed(&mut file, [rows, columns], [1, 1])?,
            "csc" => {
                let turned = compressed(&mut file, [columns, rows], [1, 1])?;
                turned
                    .into_iter()
                    .map(|place| EntryPosition { row: place.column, column: place.row, ..place })
                    .collect()
            }
            "bsr" => {
                let [_, height, width] = data.shape[..] else { return Err(bad("`data` has no blocks")) };
                compressed(&mut file, [rows, columns], [height, width])?
            }
            "coo" => listed(&mut file, [rows, columns])?,
            "dia" => on_diagonals(&mut file, [rows, columns], &data.shape)?,
            other => return Err(unknown_format(other)),
        };
        let count = data.shape.iter().product::<usize>();
        if places.last().is_some_and(|last| last.value >= count) || (format != "dia" && places.len() != count)
        {
            return Err(bad(format!("`data` has {count} values, which its other arrays do not fit")));
        }
        made([rows, columns], &places, data)
    };
    read().map_err(|problem| MeshError::new(path, problem))
}

/// Bytes for an entry on its way.
const BYTES_OF_AN_ENTRY: u64 = 64;

fn unknown_format(format: &str) -> MeshProblem {
    let format = shortened(format, 40);
    bad(format!("its format `{format}` is none of csr, csc, coo, bsr and dia"))
}

/// Refuses arrays that a format does not have.
fn expect_names(format: &str, found: &[String]) -> Result<(), MeshProblem> {
    let known: &[&str] = match format {
        "csr" | "csc" | "bsr" => &["indices", "indptr"],
        "coo" => &["row", "col"],
        "dia" => &["offsets"],
        other => return Err(unknown_format(other)),
    };
    match found.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => {
            let name = shortened(name, 40);
            Err(bad(format!("it has an array `{name}`, which the format {format} does not have")))
        }
        None => Ok(()),
    }
}

fn bad(problem: impl Into<String>) -> MeshProblem {
    MeshProblem::SparseMatrix { problem: problem.into() }
}

/// The position of an entry, and the number of its value.
#[derive(Clone, Copy)]
struct EntryPosition {
    row: u32,
    column: u32,
    value: usize,
}

/// Rows of blocks whose columns lie one after the other.
fn compressed(
    file: &mut ArrayFile,
    [rows, columns]: [usize; 2],
    [height, width]: [usize; 2],
) -> Result<Vec<EntryPosition>, MeshProblem> {
    if height == 0 || width == 0 || !rows.is_multiple_of(height) || !columns.is_multiple_of(width) {
        return Err(bad(format!("blocks of {height}×{width} do not divide {rows}×{columns}")));
    }
    let of_blocks = file.whole("indices", (columns / width).saturating_sub(1))?;
    let starts = file.whole("indptr", of_blocks.len())?;
    let ascends = starts.windows(2).all(|pair| pair[0] <= pair[1]);
    if starts.len() != rows / height + 1
        || !ascends
        || starts[0] != 0
        || starts[rows / height] != of_blocks.len()
    {
        return Err(bad("`indptr` is not the beginning of each row among `indices`"));
    }
    let mut places = Vec::new();
    for (row, bounds) in starts.windows(2).enumerate() {
        for block in bounds[0]..bounds[1] {
            for (i, j) in (0..height).flat_map(|i| (0..width).map(move |j| (i, j))) {
                let (row, column) = ((row * height + i) as u32, (of_blocks[block] * width + j) as u32);
                places.push(EntryPosition { row, column, value: (block * height + i) * width + j });
            }
        }
    }
    Ok(places)
}

/// A list of rows and columns.
fn listed(file: &mut ArrayFile, [rows, columns]: [usize; 2]) -> Result<Vec<EntryPosition>, MeshProblem> {
    let of_rows = file.whole("row", rows.saturating_sub(1))?;
    let of_columns = file.whole("col", columns.saturating_sub(1))?;
    if of_rows.len() != of_columns.len() {
        return Err(bad("`row` and `col` have different lengths"));
    }
    let place = |(value, (row, column)): (usize, (&usize, &usize))| EntryPosition {
        row: *row as u32,
        column: *column as u32,
        value,
    };
    Ok(of_rows.iter().zip(&of_columns).enumerate().map(place).collect())
}

/// Diagonals: value (d, j) is in column j and row j − offset d.
fn on_diagonals(
    file: &mut ArrayFile,
    [rows, columns]: [usize; 2],
    shape: &[usize],
) -> Result<Vec<EntryPosition>, MeshProblem> {
    let offsets = file.archive().real("offsets")?.values;
    let [count, width] = shape[..] else { return Err(bad("`data` has not two extents")) };
    if offsets.len() != count {
        return Err(bad(format!("{} offsets and {count} diagonals", offsets.len())));
    }
    let mut places = Vec::new();
    for (d, offset) in offsets.into_iter().enumerate() {
        for column in 0..columns.min(width) {
            let row = column as f64 - offset;
            if row >= 0.0 && row < rows as f64 {
                places.push(EntryPosition {
                    row: row as u32,
                    column: column as u32,
                    value: d * width + column,
                });
            }
        }
    }
    Ok(places)
}

fn made([rows, columns]: [usize; 2], places: &[EntryPosition], data: Array) -> Result<AnyCsr, MeshProblem> {
    fn csr<T: Arithmetic>(
        [rows, columns]: [usize; 2],
        places: &[EntryPosition],
        value: impl Fn(usize) -> T,
    ) -> Result<Csr<T>, MeshProblem> {
        let entry =
            |place: &EntryPosition| Entry { row: place.row, column: place.column, value: value(place.value) };
        let coo = Coo { rows, columns, entries: places.iter().map(entry).collect() };
        coo.to_csr().map_err(|error| bad(error.to_string()))
    }
    if let Some((index, value)) = data.values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        return Err(MeshProblem::NotFinite { index, value: *value });
    }
    let values = data.values;
    Ok(if data.is_complex {
        let value = |k: usize| Complex64::new(values[2 * k], values[2 * k + 1]);
        AnyCsr::Complex(csr([rows, columns], places, value)?)
    } else {
        AnyCsr::Real(csr([rows, columns], places, |k| values[k])?)
    })
}

impl ArrayFile {
    /// Reads whole numbers from 0 to `most`.
    fn whole(&mut self, name: &str, most: usize) -> Result<Vec<usize>, MeshProblem> {
        let whole = |value: f64| {
            let fits = value >= 0.0 && value <= most as f64 && value.fract() == 0.0;
            if fits {
                Ok(value as usize)
            } else {
                Err(bad(format!("{value} in `{name}` is not from 0 to {most}")))
            }
        };
        self.archive().real(name)?.values.into_iter().map(whole).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An `.npz` file with these arrays, uncompressed.
    fn archive(arrays: &[(&str, Vec<u8>)]) -> tempfile::NamedTempFile {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in arrays {
            let name = format!("{name}.npy");
            let mut crc = crc32fast::Hasher::new();
            crc.update(content);
            let size = (content.len() as u32).to_le_bytes();
            let numbers =
                [&crc.finalize().to_le_bytes()[..], &size, &size, &(name.len() as u16).to_le_bytes()];
            let offset = (bytes.len() as u32).to_le_bytes();
            bytes.extend(
                [b"PK\x03\x04", &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &numbers.concat(), &[0; 2]].concat(),
            );
            bytes.extend([name.as_bytes(), content].concat());
            directory.extend([b"PK\x01\x02", &[20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..]].concat());
            directory.extend([&numbers.concat()[..], &[0; 12], &offset, name.as_bytes()].concat());
        }
        let [size, offset] = [directory.len(), bytes.len()].map(|number| (number as u32).to_le_bytes());
        let count = (arrays.len() as u16).to_le_bytes();
        bytes.extend(&directory);
        bytes.extend([b"PK\x05\x06", &[0; 4][..], &count, &count, &size, &offset, &[0; 2]].concat());
        let file = tempfile::NamedTempFile::with_suffix(".npz").unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    fn array(descr: &str, shape: &str, content: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), content].concat()
    }

    fn integers(values: &[i32]) -> Vec<u8> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        array("<i4", &format!("({},)", values.len()), &bytes)
    }

    fn reals(values: &[f64], shape: &str) -> Vec<u8> {
        array("<f8", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
    }

    fn read(format: &str, shape: [i32; 2], arrays: &[(&str, Vec<u8>)]) -> Result<AnyCsr, MeshError> {
        let format = array(&format!("|S{}", format.len()), "()", format.as_bytes());
        let first = [("format", format), ("shape", integers(&shape))];
        let arrays: Vec<(&str, Vec<u8>)> = first.into_iter().chain(arrays.iter().cloned()).collect();
        read_sparse(archive(&arrays).path())
    }

    fn dense(matrix: AnyCsr) -> Vec<Vec<f64>> {
        let AnyCsr::Real(matrix) = matrix else { panic!("real") };
        (0..matrix.rows()).map(|i| (0..matrix.columns()).map(|j| matrix.at(i, j)).collect()).collect()
    }

    #[test]
    fn every_format_is_the_same_matrix() {
        // [[1, 0, 2], [0, 3, 4]]
        let wanted = vec![vec![1.0, 0.0, 2.0], vec![0.0, 3.0, 4.0]];
        let data = reals(&[1.0, 2.0, 3.0, 4.0], "(4,)");
        let rows =
            [("indices", integers(&[0, 2, 1, 2])), ("indptr", integers(&[0, 2, 4])), ("data", data.clone())];
        assert_eq!(dense(read("csr", [2, 3], &rows).unwrap()), wanted);
        let by_columns = reals(&[1.0, 3.0, 2.0, 4.0], "(4,)");
        let columns =
            [("indices", integers(&[0, 1, 0, 1])), ("indptr", integers(&[0, 1, 2, 4])), ("data", by_columns)];
        assert_eq!(dense(read("csc", [2, 3], &columns).unwrap()), wanted);
        // Twice a place: the values are added.
        let list = [
            ("row", integers(&[1, 0, 1, 0, 1])),
            ("col", integers(&[2, 0, 1, 2, 2])),
            ("data", reals(&[1.0, 1.0, 3.0, 2.0, 3.0], "(5,)")),
        ];
        assert_eq!(dense(read("coo", [2, 3], &list).unwrap()), wanted);
        let blocks = reals(&[1.0, 0.0, 0.0, 3.0, 2.0, 0.0, 4.0, 0.0], "(2, 2, 2)");
        let bsr = [("indices", integers(&[0, 1])), ("indptr", integers(&[0, 2])), ("data", blocks)];
        let found = dense(read("bsr", [2, 4], &bsr).unwrap());
        assert!(found.iter().zip(&wanted).all(|(row, wanted)| row[..3] == wanted[..] && row[3] == 0.0));
        // The first number of the diagonal at 1 lies outside of the matrix.
        let dia = [
            ("offsets", integers(&[0, 1, 2])),
            ("data", reals(&[1.0, 3.0, 9.0, 9.0, 0.0, 4.0, 9.0, 9.0, 2.0], "(3, 3)")),
        ];
        assert_eq!(dense(read("dia", [2, 3], &dia).unwrap()), wanted);
        // Complex numbers, and integers.
        let z = [1.0_f64, -1.0, 0.0, 2.0].map(f64::to_le_bytes).concat();
        let list =
            [("row", integers(&[0, 1])), ("col", integers(&[1, 0])), ("data", array("<c16", "(2,)", &z))];
        let AnyCsr::Complex(found) = read("coo", [2, 2], &list).unwrap() else { panic!("complex") };
        assert_eq!((found.at(0, 1), found.at(1, 0)), (Complex64::new(1.0, -1.0), Complex64::new(0.0, 2.0)));
        let list = [("row", integers(&[1])), ("col", integers(&[0])), ("data", integers(&[-7]))];
        assert_eq!(dense(read("coo", [2, 1], &list).unwrap()), [[0.0], [-7.0]]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let data = reals(&[1.0, 2.0], "(2,)");
        let csr = |indices: &[i32], starts: &[i32], data: &Vec<u8>| {
            let arrays =
                [("indices", integers(indices)), ("indptr", integers(starts)), ("data", data.clone())];
            read("csr", [2, 2], &arrays).unwrap_err().to_string()
        };
        for (error, wanted) in [
            (csr(&[0, 2], &[0, 1, 2], &data), "2 in `indices` is not from 0 to 1"),
            (csr(&[0, -1], &[0, 1, 2], &data), "-1 in `indices`"),
            (csr(&[0, 1], &[0, 2, 1], &data), "`indptr` is not the beginning"),
            (csr(&[0, 1], &[0, 2], &data), "`indptr` is not the beginning"),
            (csr(&[0], &[0, 1, 1], &data), "`data` has 2 values"),
            (csr(&[0, 1, 1], &[0, 2, 3], &data), "`data` has 2 values"),
            (csr(&[0, 1], &[0, 1, 2], &reals(&[1.0, f64::NAN], "(2,)")), "NaN"),
            (read("lil", [2, 2], &[("data", data.clone())]).unwrap_err().to_string(), "`lil` is none of"),
            (read("csr", [2, -2], &[("data", data.clone())]).unwrap_err().to_string(), "-2 in `shape`"),
            (read("csr", [2, 2], &[("data", data.clone())]).unwrap_err().to_string(), "no array `indices`"),
            (
                read("csr", [2, 2], &[("data", data.clone()), ("row", integers(&[0]))])
                    .unwrap_err()
                    .to_string(),
                "an array `row`, which the format csr does not have",
            ),
            (
                read("coo", [99_999_999, 6], &[("data", data.clone())]).unwrap_err().to_string(),
                "99999999 rows and 6 columns, but 2 entries",
            ),
            (read("l\u{1b}l", [2, 2], &[("data", data.clone())]).unwrap_err().to_string(), "`l\u{fffd}l`"),
        ] {
            assert!(error.contains(wanted), "{error}: {wanted}");
        }
        let error = read_sparse(archive(&[("rho", data)]).path()).unwrap_err().to_string();
        assert!(error.contains("no array `format`"), "{error}");
    }
}
