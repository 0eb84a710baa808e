//! Recognition of a file's format by its first bytes and its size.

use super::gauge_format::START;
use super::names;
use super::registry::Format;
use crate::io::error::{Error, ErrorKind};
use crate::io::input::Input;

/// Returns the first format that recognises a file.
pub(in crate::io) fn recognise(input: &mut Input) -> Result<Format, Error> {
    let length = input.length();
    let start = input.bytes("the beginning of the file", 0, length.min(START) as usize)?;
    if let Some(format) = Format::READ.into_iter().find(|format| format.reader().recognise(&start, length)) {
        return Ok(format);
    }
    if let Some((_, what, unpack)) = KNOWN_OTHERS.iter().find(|(magic, ..)| start.starts_with(magic)) {
        let remedy = unpack.unwrap_or_else(names::write_another);
        return Err(input.error(ErrorKind::OtherFormat { what, remedy }));
    }
    let found = shown(&start[..start.len().min(SHOWN)]);
    Err(input.error(ErrorKind::UnknownFormat { found }))
}

/// Kinds of files that are known but not read.
///
/// Each kind has its first bytes, its name and, if it can be unpacked, the way to do so.
const KNOWN_OTHERS: [(&[u8], &str, Option<&str>); 6] = [
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", None),
    (b"\x93NUMPY", "an array of NumPy (NPY)", None),
    (b"\x1f\x8b", "a file compressed with gzip", Some("unpack it first, with gunzip")),
    (b"BZh", "a file compressed with bzip2", Some("unpack it first, with bunzip2")),
    (b"\xfd7zXZ\0", "a file compressed with xz", Some("unpack it first, with unxz")),
    (b"\x28\xb5\x2f\xfd", "a file compressed with zstd", Some("unpack it first, with unzstd")),
];

/// Bytes of an unknown file that a message shows.
const SHOWN: usize = 16;

/// Shows bytes in a message: as text if they are text.
fn shown(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(|c| !c.is_control() || c.is_whitespace()) => {
            format!("the text {text:?}")
        }
        _ => {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("the bytes {}", bytes.join(" "))
        }
    }
}
