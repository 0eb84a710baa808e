//! LIME: the container of ILDG and SciDAC files.
//!
//! A file is a row of records. A record is a header of 144 bytes, the payload, and zeros up to a
//! multiple of 8. The header has a magic number, version, flags, length of the payload, and type.
//! Numbers are big-endian. The two flags mark the first and the last record of a message. Readers
//! here use the types of the records alone.

use super::error::{Error, ErrorKind};
use super::input::Input;
use super::output::Output;
use lattice_files::text::{printable, quoted};

const MAGIC: u32 = 0x4567_89ab;

/// The first four bytes of every record.
pub(super) const MAGIC_BYTES: [u8; 4] = MAGIC.to_be_bytes();

const HEADER: u64 = 144;
const VERSION: u16 = 1;

/// Most bytes of a record of metadata that is read.
const LARGEST_METADATA: u64 = 1 << 20;

/// Most records of a file.
///
/// All solutions for a thousand sources take sixty thousand records.
const MOST_RECORDS: usize = 1 << 17;

/// Most bytes behind the last record that are looked at.
///
/// Tapes and copies in blocks leave such bytes.
const LONGEST_REST: u64 = 1 << 20;

/// One record of a file.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// The type of the record, for example `ildg-format`.
    pub(super) kind: String,
    /// The byte where the payload begins.
    pub(super) byte: u64,
    /// The length of the payload, which lies wholly in the file.
    pub(super) length: u64,
    /// `true` if other bytes than zeros pad the payload, so that its length may be wrong.
    pub(super) is_longer: bool,
}

/// The records of a file.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) records: Vec<Record>,
    /// The first byte, behind the last record, that belongs to no record.
    pub(super) rest: Option<u64>,
}

/// Lists the records of a file.
///
/// Bytes that cannot be a record may follow the last one, for example the end of a line.
pub(super) fn records(input: &mut Input) -> Result<Records, Error> {
    let mut records = Vec::new();
    let mut start = 0;
    while start < input.length() {
        if !records.is_empty() && is_rest(input, start)? {
            return Ok(Records { records, rest: Some(start) });
        }
        let header: [u8; HEADER as usize] = input.array("the header of a LIME record", start)?;
        let magic = u32::from_be_bytes(std::array::from_fn(|k| header[k]));
        if magic != MAGIC {
            return Err(input.error(ErrorKind::NotALimeRecord { byte: start, found: magic }));
        }
        if records.len() == MOST_RECORDS {
            return Err(input.error(ErrorKind::TooManyRecords { most: MOST_RECORDS }));
        }
        let length = u64::from_be_bytes(std::array::from_fn(|k| header[8 + k]));
        let name = header[16..].split(|&byte| byte == 0).next().unwrap_or_default();
        let kind = printable(&String::from_utf8_lossy(name));
        let byte = start + HEADER;
        input.expect(&format!("the payload of the record {kind}"), byte, length)?;
        // No overflow: the payload ends within the file. The padding of the last record may be
        // missing.
        start = (byte + length).next_multiple_of(8);
        let end = byte + length;
        let padding = (start.min(input.length()) - end) as usize;
        let is_longer = padding > 0 && input.bytes("padding", end, padding)?.iter().any(|&byte| byte != 0);
        records.push(Record { kind, byte, length, is_longer });
    }
    Ok(Records { records, rest: None })
}

/// Tells whether the bytes from `start` on are no record.
///
/// Zeros are no record. Bytes that are too few for a record, and do not look like its beginning,
/// are none either.
fn is_rest(input: &mut Input, start: u64) -> Result<bool, Error> {
    let left = input.length() - start;
    if left > LONGEST_REST {
        return Ok(false);
    }
    let bytes = input.bytes("the end of the file", start, left as usize)?;
    let begins = bytes.iter().zip(MAGIC_BYTES).all(|(byte, magic)| *byte == magic);
    Ok(!begins && (left < HEADER || bytes.iter().all(|&byte| byte == 0)))
}

/// Reads the text of a record of metadata, without blanks around it.
///
/// The text ends at its first zero. Programs have left rests of their memory behind it.
pub(super) fn text(input: &mut Input, record: &Record) -> Result<String, Error> {
    if record.length > LARGEST_METADATA {
        return Err(bad_record(
            input,
            record,
            format!("it has {} bytes, and metadata at most {LARGEST_METADATA}", record.length),
        ));
    }
    let bytes = input.bytes("metadata", record.byte, record.length as usize)?;
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(text).trim().to_owned())
}

/// Makes the error that a record cannot be used. The problem may quote the file.
pub(super) fn bad_record(input: &Input, record: &Record, problem: String) -> Error {
    let problem = quoted(&problem);
    input.error(ErrorKind::BadRecord { record: record.kind.clone(), byte: record.byte, problem })
}

/// The position of a record in its message.
#[derive(Clone, Copy)]
pub(super) enum Position {
    First,
    Middle,
    Last,
}

/// Writes a record of text, with a zero at its end.
///
/// Readers written in C expect the zero.
pub(super) fn write_text(
    output: &mut Output,
    kind: &str,
    position: Position,
    text: &str,
) -> Result<(), Error> {
    let mut payload = text.as_bytes().to_vec();
    payload.push(0);
    write_header(output, kind, position, payload.len() as u64)?;
    output.write(&payload)?;
    write_padding(output, payload.len() as u64)
}

/// Begins a record. The payload and [`write_padding`] must follow.
pub(super) fn write_header(
    output: &mut Output,
    kind: &str,
    position: Position,
    length: u64,
) -> Result<(), Error> {
    let flags: u16 = match position {
        Position::First => 0x8000,
        Position::Middle => 0,
        Position::Last => 0x4000,
    };
    let mut header = [0; HEADER as usize];
    header[..4].copy_from_slice(&MAGIC_BYTES);
    header[4..6].copy_from_slice(&VERSION.to_be_bytes());
    header[6..8].copy_from_slice(&flags.to_be_bytes());
    header[8..16].copy_from_slice(&length.to_be_bytes());
    header[16..16 + kind.len()].copy_from_slice(kind.as_bytes());
    output.write(&header)
}

/// Ends a record with a payload of `length` bytes.
pub(super) fn write_padding(output: &mut Output, length: u64) -> Result<(), Error> {
    output.write(&[0; 7][..(length.next_multiple_of(8) - length) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn written(path: &Path, payloads: &[&str]) {
        let mut output = Output::create(path).unwrap();
        for (k, payload) in payloads.iter().enumerate() {
            write_text(&mut output, &format!("record-{k}"), Position::Middle, payload).unwrap();
        }
        output.finish().unwrap();
    }

    #[test]
    fn records_are_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.lime");
        let payloads = ["", "a", "1234567", "12345678", "some more text"];
        written(&path, &payloads);
        let mut input = Input::open(&path).unwrap();
        assert_eq!(input.length() % 8, 0);
        let records = records(&mut input).unwrap().records;
        assert_eq!(records.len(), payloads.len());
        for (k, (record, payload)) in records.iter().zip(payloads).enumerate() {
            assert_eq!(record.kind, format!("record-{k}"));
            assert_eq!(record.length as usize, payload.len() + 1);
            assert_eq!(text(&mut input, record).unwrap(), payload);
        }
    }

    #[test]
    fn a_file_may_end_without_padding_but_not_earlier() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.lime");
        written(&path, &["ab"]);
        let whole = std::fs::read(&path).unwrap();
        for length in 1..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let found = Input::open(&path).and_then(|mut input| records(&mut input));
            assert_eq!(found.is_ok(), length >= 147, "{length}: {found:?}");
        }
    }

    #[test]
    fn what_follows_the_last_record_is_no_truncation_unless_it_begins_a_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.lime");
        written(&path, &["ab", "cd"]);
        let whole = std::fs::read(&path).unwrap();
        let found = |rest: &[u8]| {
            std::fs::write(&path, [&whole, rest].concat()).unwrap();
            Input::open(&path).and_then(|mut input| records(&mut input))
        };
        for rest in [&b"\n"[..], b"\r\n", &[0; 512], &[0; 7], b"x".repeat(143).as_slice()] {
            let Records { records, rest: place } = found(rest).unwrap();
            assert_eq!((records.len(), place), (2, Some(whole.len() as u64)), "{rest:?}");
        }
        let header = &whole[..144];
        for rest in [&header[..1], &header[..4], &header[..143]] {
            assert!(matches!(found(rest).unwrap_err().kind, ErrorKind::Truncated { .. }), "{rest:?}");
        }
        for rest in [b"x".repeat(144), [&[0; 200][..], b"x"].concat()] {
            assert!(matches!(found(&rest).unwrap_err().kind, ErrorKind::NotALimeRecord { .. }));
        }
    }

    #[test]
    fn a_length_beyond_the_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.lime");
        written(&path, &["ab"]);
        for length in [9, u64::MAX, u64::MAX - 143, 1 << 63] {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[8..16].copy_from_slice(&u64::to_be_bytes(length));
            std::fs::write(&path, bytes).unwrap();
            let error = records(&mut Input::open(&path).unwrap()).unwrap_err();
            assert!(
                matches!(error.kind, ErrorKind::Truncated { byte: 144, wanted, found: 8, .. } if wanted == length)
            );
        }
    }
}
