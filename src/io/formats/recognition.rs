//! Recognition of a file's format by its first bytes and its size.

use super::gauge_format::START;
use super::registry::Format;
use crate::io::error::{Error, ErrorKind};
use crate::io::hdf5;
use crate::io::input::Input;

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
    if let Some((_, what, remedy)) = KNOWN_OTHERS.iter().find(|(magic, ..)| start.starts_with(magic)) {
        return Err(input.error(ErrorKind::OtherFormat { what, remedy }));
    }
    let found = shown(&start[..start.len().min(SHOWN)]);
    Err(input.error(ErrorKind::UnknownFormat { found }))
}

/// Kinds of files that are known but not read.
///
/// Each kind has its first bytes, its name and the way to unpack it.
const KNOWN_OTHERS: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "a file compressed with gzip", "unpack it first, with gunzip"),
    (b"BZh", "a file compressed with bzip2", "unpack it first, with bunzip2"),
    (b"\xfd7zXZ\0", "a file compressed with xz", "unpack it first, with unxz"),
    (b"\x28\xb5\x2f\xfd", "a file compressed with zstd", "unpack it first, with unzstd"),
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
