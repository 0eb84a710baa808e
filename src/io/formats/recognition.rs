//! Recognition of a file's format by its first bytes and its size.

use super::gauge_format::START;
use super::registry::Format;
use crate::io::error::{Error, ErrorKind};
use crate::io::hdf5;
use crate::io::input::Input;
use crate::io::read_options::ReadOptions;

/// Returns the first format that recognises a file.
///
/// A format whose files have no beginning to recognise is taken at its name.
pub(in crate::io) fn recognise(input: &mut Input, named: Option<Format>) -> Result<Format, Error> {
    if let Some(format) = named.filter(|format| format.reader().is_known_by_name_alone()) {
        return Ok(format);
    }
    // Its superblock may stand behind a user block, which may begin like a file of any format.
    hdf5::find(input)?;
    let length = input.length();
    let start = input.bytes("the beginning of the file", 0, length.min(START) as usize)?;
    if let Some(format) = Format::READ.into_iter().find(|format| format.reader().recognise(&start, length)) {
        return Ok(format);
    }
    Err(input.error(other_kind(&start, |found| ErrorKind::UnknownFormat { found })))
}

/// Tells whether a file holds a gauge configuration of a known format, as far as its header shows.
pub(in crate::io) fn holds_configuration(input: &mut Input) -> bool {
    let options = ReadOptions { extents_alone: true, ..ReadOptions::default() };
    let read = recognise(input, None).and_then(|format| format.reader().read(input, &options));
    matches!(read, Ok(_) | Err(Error { kind: ErrorKind::ExtentsAlone(_), .. }))
}

/// Makes the error that a file is of no format that is wanted.
///
/// `unknown` makes that of a file whose first bytes nothing knows, which it gets in words.
pub(in crate::io) fn other_kind(start: &[u8], unknown: impl FnOnce(String) -> ErrorKind) -> ErrorKind {
    match KNOWN_OTHERS.iter().find(|(magic, ..)| start.starts_with(magic)) {
        Some((_, what, remedy)) => ErrorKind::OtherFormat { what, remedy },
        None => unknown(shown(&start[..start.len().min(SHOWN)])),
    }
}

/// Kinds of files that are known but not read.
///
/// Each kind has its first bytes, its name and the way to unpack it.
const KNOWN_OTHERS: [(&[u8], &str, &str); 6] = [
    (b"\x1f\x8b", "a file compressed with gzip", "unpack it first, with gunzip"),
    (b"BZh", "a file compressed with bzip2", "unpack it first, with bunzip2"),
    (b"\xfd7zXZ\0", "a file compressed with xz", "unpack it first, with unxz"),
    (b"\x28\xb5\x2f\xfd", "a file compressed with zstd", "unpack it first, with unzstd"),
    (b"PK\x03\x04", "a zip archive", "unpack it first, with unzip"),
    (b"%%MatrixMarket", "a matrix (Matrix Market)", "name a file of a lattice field"),
];

/// Bytes of an unknown file that a message shows.
const SHOWN: usize = 16;

/// Shows bytes in a message: as text if they are text.
fn shown(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(|c| !c.is_control() || c.is_whitespace()) => {
            format!("the text `{}`", text.escape_debug())
        }
        _ => {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("the bytes {}", bytes.join(" "))
        }
    }
}
