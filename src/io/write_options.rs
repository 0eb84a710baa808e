//! How a file is to be written.

use super::error::ErrorKind;
use super::format::Format;
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

/// What a format that is only read lacks, and what to do.
pub(super) const NO_WRITER: (&str, &str) = ("writer", "choose ildg, scidac, nersc or milc");

impl WriteOptions<'_> {
    /// The defaults of a format.
    pub fn new(format: Format) -> Self {
        Self { format, ..Self::default() }
    }

    /// What the format cannot hold.
    pub(super) fn check(&self) -> Result<(), ErrorKind> {
        let lime = matches!(self.format, Format::Ildg | Format::SciDac);
        let (what, remedy) = if !Format::ALL.contains(&self.format) {
            NO_WRITER
        } else if self.format == Format::Milc && self.precision == Some(Precision::Double) {
            ("double precision", "leave the precision out, or choose another format")
        } else if lime && self.byte_order == Some(ByteOrder::Little) {
            ("little-endian form", "leave the byte order out, or choose nersc or milc")
        } else if self.format != Format::Nersc && self.rows == Rows::Two {
            ("form with two rows", "write all three, or choose nersc")
        } else if self.format != Format::Ildg && self.lfn.is_some() {
            ("logical file name", "leave it out, or choose ildg")
        } else {
            return Ok(());
        };
        Err(ErrorKind::NotInFormat { format: self.format, what, remedy })
    }
}
