//! How a file is to be written.

use super::formats::Format;
use super::links::Rows;
use super::numbers::ByteOrder;
use super::payload::Progress;
use crate::scalar::Precision;

/// How a file is written. The default is ILDG in the precision of the links.
#[derive(Clone, Default)]
pub struct WriteOptions<'a> {
    /// The format.
    pub format: Format,
    /// The precision; that of the links if not given. MILC files are always in single precision.
    pub precision: Option<Precision>,
    /// The byte order of a NERSC file (big if not given) or a MILC file (little). ILDG and SciDAC are big-endian.
    pub byte_order: Option<ByteOrder>,
    /// The rows of each link in a NERSC file. Other formats have three.
    pub rows: Rows,
    /// The logical file name of an ILDG file; the name of the file, without its folder, if not given.
    pub lfn: Option<String>,
    /// Free text for the header; MILC takes the first 63 bytes.
    pub description: Option<String>,
    /// Told how far writing has come, in bytes.
    pub progress: Progress<'a>,
}

impl WriteOptions<'_> {
    /// The defaults of a format.
    pub fn new(format: Format) -> Self {
        Self { format, ..Self::default() }
    }
}
