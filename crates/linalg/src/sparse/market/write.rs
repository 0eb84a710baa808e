//! Writing of files.

use super::error::MarketError;
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use flate2::Compression;
use flate2::write::GzEncoder;
use lattice_files::destination::{destination, folder_of};
use lattice_files::temporary;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a matrix as a general coordinate file, with all digits of its numbers.
///
/// The file is compressed if its name ends in `.gz`. It appears when it is complete.
///
/// # Errors
/// [`MarketError::System`].
pub fn write_matrix<T: Arithmetic>(path: &Path, matrix: &Csr<T>, comment: &str) -> Result<(), MarketError> {
    written(path, |out| {
        begin::<T>(out, "coordinate", comment)?;
        writeln!(out, "{} {} {}", matrix.rows(), matrix.columns(), matrix.entries())?;
        for row in 0..matrix.rows() {
            for (column, value) in matrix.row(row) {
                write!(out, "{} {} ", row + 1, column + 1)?;
                number(out, value)?;
            }
        }
        Ok(())
    })
}

/// Writes vectors as the columns of an array, with all digits of their numbers.
///
/// `rows` is the length of each. The file is compressed if its name ends in `.gz`. It appears when
/// it is complete.
///
/// # Errors
/// [`MarketError::System`].
///
/// # Panics
/// If a vector has another length.
pub fn write_vectors<T: Arithmetic>(
    path: &Path,
    rows: usize,
    vectors: &[&[T]],
    comment: &str,
) -> Result<(), MarketError> {
    written(path, |out| {
        begin::<T>(out, "array", comment)?;
        writeln!(out, "{rows} {}", vectors.len())?;
        for vector in vectors {
            assert_eq!(vector.len(), rows, "length of a vector");
            vector.iter().try_for_each(|value| number(out, *value))?;
        }
        Ok(())
    })
}

fn begin<T: Arithmetic>(out: &mut dyn Write, layout: &str, comment: &str) -> io::Result<()> {
    let field = if T::IS_COMPLEX { "complex" } else { "real" };
    writeln!(out, "%%MatrixMarket matrix {layout} {field} general")?;
    comment.lines().try_for_each(|line| writeln!(out, "% {line}"))
}

/// Writes a number with the fewest digits that give it back.
fn number<T: Arithmetic>(out: &mut dyn Write, value: T) -> io::Result<()> {
    let single = size_of::<T::Real>() == size_of::<f32>();
    let part = |out: &mut dyn Write, part: f64| match single {
        true => write!(out, "{:e}", part as f32),
        false => write!(out, "{part:e}"),
    };
    let value = value.to_complex();
    part(out, value.re)?;
    if T::IS_COMPLEX {
        out.write_all(b" ")?;
        part(out, value.im)?;
    }
    out.write_all(b"\n")
}

fn written(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), MarketError> {
    let to_file = || -> io::Result<()> {
        let destination = destination(path);
        let name = destination.file_name().ok_or_else(|| io::Error::other("this is no name of a file"))?;
        let mut file = temporary::create(folder_of(&destination), name)?;
        {
            let mut buffered = BufWriter::new(file.as_file_mut());
            if path.extension().is_some_and(|ending| ending == "gz") {
                let mut encoder = GzEncoder::new(&mut buffered, Compression::default());
                write(&mut encoder)?;
                encoder.finish()?;
            } else {
                write(&mut buffered)?;
            }
            buffered.flush()?;
        }
        file.persist(destination)?;
        Ok(())
    };
    to_file().map_err(|source| MarketError::System { file: path.to_owned(), source })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_link_stays_and_its_target_is_written() {
        let folder = tempfile::tempdir().unwrap();
        for ending in ["mtx", "mtx.gz"] {
            let [link, target] =
                ["link", "target"].map(|name| folder.path().join(format!("{name}.{ending}")));
            std::os::unix::fs::symlink(&target, &link).unwrap();
            for _ in 0..2 {
                write_vectors(&link, 2, &[&[1.0, 2.0]], "").unwrap();
                assert!(link.symlink_metadata().unwrap().is_symlink(), "{ending}");
                assert!(target.symlink_metadata().unwrap().is_file(), "{ending}");
            }
        }
    }
}
