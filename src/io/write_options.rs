//! The options for writing a file.

use super::formats::Format;
use super::links::Rows;
use super::numbers::ByteOrder;
use super::payload::Progress;
use crate::scalar::Precision;
use derive_setters::Setters;

/// The options for writing a file.
///
/// The default is ILDG in the precision of the links.
#[derive(Clone, Default, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct WriteOptions<'a> {
    /// The format.
    pub format: Format,
    /// The precision. Default: that of the links.
    ///
    /// MILC files are always in single precision.
    pub precision: Option<Precision>,
    /// The byte order of a NERSC file (default big) or a MILC file (default little).
    ///
    /// ILDG and SciDAC are big-endian.
    pub byte_order: Option<ByteOrder>,
    /// The rows of each link in a NERSC file. Other formats have three.
    pub rows: Rows,
    /// The logical file name of an ILDG file.
    ///
    /// Default: the name of the file, without its folder.
    pub lfn: Option<String>,
    /// Free text for the header. MILC takes the first 63 bytes.
    pub description: Option<String>,
    /// A function that is called with the bytes written so far.
    pub progress: Progress<'a>,
}

impl WriteOptions<'_> {
    /// Makes the default options of a format.
    pub fn new(format: Format) -> Self {
        Self { format, ..Self::default() }
    }
}
