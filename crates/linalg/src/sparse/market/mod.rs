//! Matrix Market files: matrices and vectors as text.
//!
//! The format is that of R. F. Boisvert, R. Pozo and K. A. Remington, NISTIR 5935 (1996), in all of
//! its forms: coordinate and array; real, integer, complex and pattern; general, symmetric,
//! skew-symmetric and hermitian. Files may be compressed by gzip. Ends of lines may be those of
//! Windows, words in upper case, exponents those of Fortran (`1.5D+01`). Comments and blank lines
//! may stand between all lines but the first, and a byte-order mark before it. The words `double`
//! and `unsigned-integer` of other programs are known. A skew-symmetric matrix may list the zeros
//! of its diagonal. Entries at one place are added. All numbers must be finite.
//!
//! Sizes are checked against the length of the file before memory is taken for them, and rows and
//! columns against the number of entries.

mod body;
mod error;
mod header;
mod line;
mod plain;
mod write;

pub use error::MarketError;
pub use header::{Field, Header, Layout, Symmetry};
pub use write::{write_matrix, write_vectors};

use super::coo::Coo;
use super::csr::Csr;
use crate::host::level1::Arithmetic;
use error::Wrong;
use flate2::read::MultiGzDecoder;
use lattice_compute::NoRoom;
use lattice_files::text::{MARK, without_mark};
use lattice_files::{input, room};
use line::Lines;
use num_complex::Complex64;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// The matrix of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Market {
    /// The first lines.
    pub header: Header,
    /// The entries that the file lists.
    pub entries: Entries,
}

/// The entries of a file, in their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Entries {
    /// Real numbers, integers, or ones.
    Real(Coo<f64>),
    /// Complex numbers.
    Complex(Coo<Complex64>),
}

/// The matrix of a file by rows, with the entries that its symmetry implies.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyCsr {
    /// A real matrix.
    Real(Csr<f64>),
    /// A complex matrix.
    Complex(Csr<Complex64>),
}

impl Market {
    /// Reads a file, compressed or not.
    ///
    /// # Errors
    /// [`MarketError`], with the line that is wrong.
    pub fn read(path: &Path) -> Result<Self, MarketError> {
        let file =
            input::open(path).map_err(|source| MarketError::System { file: path.to_owned(), source })?;
        Self::read_open(file, path)
    }

    /// Reads an open file from its beginning. Errors name the path.
    ///
    /// # Errors
    /// [`MarketError`], with the line that is wrong.
    pub fn read_open(file: File, path: &Path) -> Result<Self, MarketError> {
        let text = content(file, path)?;
        Self::parse(&text).map_err(|wrong| wrong.in_file(path))
    }

    fn parse(text: &[u8]) -> Result<Self, Wrong> {
        let mut lines = Lines::new(without_mark(text), 1);
        let header = Header::read(&mut lines)?;
        let (text, first) = lines.rest();
        let entries = match header.field {
            Field::Complex => Entries::Complex(coo(&header, text, first)?),
            Field::Real | Field::Integer | Field::Unsigned | Field::Pattern => {
                Entries::Real(coo(&header, text, first)?)
            }
        };
        Ok(Self { header, entries })
    }

    /// Returns the matrix by rows, with the entries that the symmetry implies.
    ///
    /// # Errors
    /// [`NoRoom`] if memory is short.
    pub fn to_csr(&self) -> Result<AnyCsr, NoRoom> {
        let mirror = self.header.symmetry.mirror();
        Ok(match &self.entries {
            Entries::Real(coo) => AnyCsr::Real(coo.to_csr_with(mirror)?),
            Entries::Complex(coo) => AnyCsr::Complex(coo.to_csr_with(mirror)?),
        })
    }
}

fn coo<T: Arithmetic>(header: &Header, text: &[u8], first: usize) -> Result<Coo<T>, Wrong> {
    let entries = body::entries(header, text, first)?;
    Ok(Coo { rows: header.rows, columns: header.columns, entries })
}

/// Tells whether a file begins as a Matrix Market file does, compressed or not.
pub fn is_market(path: &Path) -> bool {
    const BANNER: &[u8] = b"%%matrixmarket";
    let begins = || -> io::Result<bool> {
        let mut beginning = Vec::new();
        let most = MARK.len() + BANNER.len();
        decoded(input::open(path)?)?.take(most as u64).read_to_end(&mut beginning)?;
        let text = without_mark(&beginning);
        Ok(text.get(..BANNER.len()).is_some_and(|text| text.eq_ignore_ascii_case(BANNER)))
    };
    begins().unwrap_or(false)
}

/// Tells whether a file is compressed by gzip, and goes to its beginning.
fn is_compressed(file: &mut File) -> io::Result<bool> {
    let mut magic = Vec::new();
    file.rewind()?;
    file.by_ref().take(2).read_to_end(&mut magic)?;
    file.rewind()?;
    Ok(magic == [0x1f, 0x8b])
}

/// Returns a reader of the text of a file that may be compressed.
fn decoded(mut file: File) -> io::Result<Box<dyn Read>> {
    Ok(if is_compressed(&mut file)? { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

/// Bytes of text that any compressed file may have.
const FREE_TEXT: u64 = 64 << 20;

/// Most bytes of text for a byte of a larger compressed file.
///
/// Lines of a matrix have less than a tenth of that.
const MOST_TEXT: u64 = 256;

/// Reads the text of a file into memory that is there.
fn content(mut file: File, path: &Path) -> Result<Vec<u8>, MarketError> {
    let system = |source| MarketError::System { file: path.to_owned(), source };
    let no_room = |source| MarketError::NoRoom { file: path.to_owned(), source };
    let length = file.metadata().map_err(system)?.len();
    let most = match is_compressed(&mut file).map_err(system)? {
        true => FREE_TEXT.max(length.saturating_mul(MOST_TEXT)),
        false => u64::MAX,
    };
    let mut text = Vec::new();
    room::reserve(&mut text, usize::try_from(length).unwrap_or(usize::MAX)).map_err(no_room)?;
    let mut reader = decoded(file).map_err(system)?;
    loop {
        let limit = (text.capacity() - text.len()).max(1 << 16);
        if reader.by_ref().take(limit as u64).read_to_end(&mut text).map_err(system)? == 0 {
            return Ok(text);
        }
        if text.len() as u64 > most {
            let problem =
                format!("{length} compressed bytes hold more than {most} of text; unpack the file first");
            return Err(MarketError::Whole { file: path.to_owned(), problem });
        }
        // A compressed text is longer than its file: nobody knows how long.
        if text.len() == text.capacity() {
            room::expect_room(2 * text.len() as u64).map_err(no_room)?;
            text.reserve(text.len());
        }
    }
}
