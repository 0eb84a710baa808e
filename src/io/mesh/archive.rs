//! Arrays with names in a ZIP archive, as `numpy.savez` and `savez_compressed` write them.

use super::MeshProblem;
use super::array::{self, Array};
use flate2::read::DeflateDecoder;
use std::io::{Read, Seek, SeekFrom};

/// The first bytes of an archive.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// Bytes of the record at the end, without its comment.
const END_BYTES: u64 = 22;

/// Most bytes of the comment at the end.
const LONGEST_COMMENT: u64 = 1 << 16;

/// Most bytes of the directory that are read.
const LARGEST_DIRECTORY: u64 = 1 << 22;

/// A file in the archive.
#[derive(Clone, Debug)]
struct Entry {
    name: String,
    is_deflated: bool,
    crc: u32,
    compressed: u64,
    size: u64,
    offset: u64,
}

/// An archive with its directory.
#[derive(Debug)]
pub(super) struct Archive<F> {
    file: F,
    entries: Vec<Entry>,
}

fn bad(problem: impl Into<String>) -> MeshProblem {
    MeshProblem::Archive { problem: problem.into() }
}

fn system(source: std::io::Error) -> MeshProblem {
    MeshProblem::System { action: "read the archive", source }
}

/// Returns the little-endian number of these bytes, if they are there.
fn number(bytes: &[u8], from: usize, count: usize) -> Option<u64> {
    let bytes = bytes.get(from..from + count)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| (number << 8) | u64::from(byte)))
}

impl<F: Read + Seek> Archive<F> {
    /// Reads the directory of an archive of `length` bytes.
    pub fn open(mut file: F, length: u64) -> Result<Self, MeshProblem> {
        let tail = length.min(END_BYTES + LONGEST_COMMENT);
        let end = read_at(&mut file, length - tail, tail)?;
        let place = (0..end.len().saturating_sub(END_BYTES as usize - 1))
            .rev()
            .find(|&place| end[place..].starts_with(b"PK\x05\x06"))
            .ok_or_else(|| bad("it has no directory, so it is truncated"))?;
        let field = |from, count| number(&end, place + from, count).unwrap_or(0);
        let (size, offset) = (field(12, 4), field(16, 4));
        if size > LARGEST_DIRECTORY || offset.saturating_add(size) > length {
            return Err(bad("its directory does not lie in the file"));
        }
        let directory = read_at(&mut file, offset, size)?;
        let mut entries = Vec::new();
        let mut at = 0;
        while directory[at..].starts_with(b"PK\x01\x02") {
            let (entry, next) = Entry::read(&directory, at).ok_or_else(|| bad("its directory is damaged"))?;
            entries.push(entry);
            at = next;
        }
        Ok(Self { file, entries })
    }

    /// Tells whether there is an array of the name.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name.strip_suffix(".npy") == Some(name))
    }

    /// Returns the names of the arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| entry.name.strip_suffix(".npy"))
    }

    /// Reads the array of the name, of real numbers.
    pub fn array(&mut self, name: &str) -> Result<Array, MeshProblem> {
        self.read(name, |content, size| Array::read(content, size))
    }

    /// Reads the array of the name, of real numbers or integers.
    pub fn numbers(&mut self, name: &str) -> Result<Array, MeshProblem> {
        self.read(name, |content, size| Array::read_numbers(content, size))
    }

    /// Reads the array of the name, of real or complex numbers or integers.
    pub fn elements(&mut self, name: &str) -> Result<Array, MeshProblem> {
        self.read(name, |content, size| Array::read_any(content, size))
    }

    /// Reads the short text of the name.
    pub fn text(&mut self, name: &str) -> Result<String, MeshProblem> {
        self.read(name, |content, _| array::text(content))
    }

    fn read<R>(
        &mut self,
        name: &str,
        decode: impl FnOnce(&mut Checked<Box<dyn Read + '_>>, u64) -> Result<R, MeshProblem>,
    ) -> Result<R, MeshProblem> {
        let Some(entry) = self.find(name).cloned() else {
            let short = |entry: &Entry| entry.name.trim_end_matches(".npy").to_owned();
            let found = self.entries.iter().take(32).map(short).collect();
            return Err(MeshProblem::NoSuchArray { name: name.to_owned(), found });
        };
        let local = read_at(&mut self.file, entry.offset, 30)?;
        let skipped = number(&local, 26, 2).zip(number(&local, 28, 2));
        let (Some((a, b)), true) = (skipped, local.starts_with(MAGIC)) else {
            return Err(bad(format!("there is no `{}` where its directory says", entry.name)));
        };
        self.file.seek(SeekFrom::Start(entry.offset + 30 + a + b)).map_err(system)?;
        let stored = self.file.by_ref().take(entry.compressed);
        let mut content = Checked { crc: crc32fast::Hasher::new(), inner: opened(stored, entry.is_deflated) };
        let read = decode(&mut content, entry.size)?;
        if content.crc.finalize() != entry.crc {
            return Err(bad(format!("the checksum of `{}` is not that of its data", entry.name)));
        }
        Ok(read)
    }
}

fn opened<'a>(stored: impl Read + 'a, is_deflated: bool) -> Box<dyn Read + 'a> {
    if is_deflated { Box::new(DeflateDecoder::new(stored)) } else { Box::new(stored) }
}

/// Reads `count` bytes, of which there are as many.
fn read_at(file: &mut (impl Read + Seek), from: u64, count: u64) -> Result<Vec<u8>, MeshProblem> {
    file.seek(SeekFrom::Start(from)).map_err(system)?;
    let mut bytes = Vec::new();
    file.by_ref().take(count).read_to_end(&mut bytes).map_err(system)?;
    if bytes.len() as u64 == count { Ok(bytes) } else { Err(bad("it ends too early")) }
}

impl Entry {
    /// Reads the entry at a place of the directory; returns the place of the next one too.
    fn read(directory: &[u8], at: usize) -> Option<(Self, usize)> {
        let field = |from, count| number(directory, at + from, count);
        let [name_bytes, extra_bytes, comment_bytes] =
            [field(28, 2)? as usize, field(30, 2)? as usize, field(32, 2)? as usize];
        let name = directory.get(at + 46..at + 46 + name_bytes)?;
        let extra = directory.get(at + 46 + name_bytes..at + 46 + name_bytes + extra_bytes)?;
        // Sizes of 4 GiB and more are in the extra field 1, in this order.
        let mut long = wide_numbers(extra);
        let mut wide = |value: u64| if value == 0xFFFF_FFFF { long.next() } else { Some(value) };
        let size = wide(field(24, 4)?)?;
        let compressed = wide(field(20, 4)?)?;
        let offset = wide(field(42, 4)?)?;
        let is_deflated = match field(10, 2)? {
            0 => false,
            8 => true,
            _ => return None,
        };
        let entry = Self {
            name: String::from_utf8_lossy(name).into_owned(),
            is_deflated,
            crc: field(16, 4)? as u32,
            compressed,
            size,
            offset,
        };
        Some((entry, at + 46 + name_bytes + extra_bytes + comment_bytes))
            .filter(|(_, next)| *next <= directory.len())
    }
}

/// Returns the numbers of the extra field for large files.
fn wide_numbers(extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut at = 0;
    let mut found = Vec::new();
    while let (Some(kind), Some(bytes)) = (number(extra, at, 2), number(extra, at + 2, 2)) {
        let bytes = bytes as usize;
        if kind == 1 {
            found.extend((0..bytes / 8).filter_map(|k| number(extra, at + 4 + 8 * k, 8)));
        }
        at += 4 + bytes;
    }
    found.into_iter()
}

/// A reader that keeps a checksum.
struct Checked<R> {
    crc: crc32fast::Hasher,
    inner: R,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.crc.update(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};

    /// An archive of these files, deflated or stored in turn.
    fn archive(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (number, (name, content)) in files.iter().enumerate() {
            let mut packed = content.clone();
            if number % 2 == 0 {
                let mut encoder =
                    flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(content).unwrap();
                packed = encoder.finish().unwrap();
            }
            let method = if number % 2 == 0 { 8_u16 } else { 0 };
            let crc = crc32fast::hash(content);
            let sizes = [crc, packed.len() as u32, content.len() as u32].map(u32::to_le_bytes).concat();
            let offset = bytes.len() as u32;
            let names = [(name.len() as u16).to_le_bytes(), [0, 0]].concat();
            let common = [&[20, 0, 0, 0][..], &method.to_le_bytes(), &[0; 4], &sizes, &names].concat();
            bytes.extend([MAGIC, &common, name.as_bytes(), &packed].concat());
            let tail = [&[0; 10][..], &offset.to_le_bytes(), name.as_bytes()].concat();
            directory.extend([&b"PK\x01\x02\x14\x00"[..], &common, &tail].concat());
        }
        let (offset, size) = (bytes.len() as u32, directory.len() as u32);
        bytes.extend(directory);
        bytes.extend(
            [&b"PK\x05\x06"[..], &[0; 8], &size.to_le_bytes(), &offset.to_le_bytes(), &[0; 2]].concat(),
        );
        bytes
    }

    fn array(values: &[f64]) -> Vec<u8> {
        use crate::scalar::Precision;
        let header = super::super::array::header(&[values.len()], Precision::Double);
        [header, super::super::array::bytes(values, Precision::Double)].concat()
    }

    #[test]
    fn arrays_are_found_by_their_names() {
        let bytes = archive(&[("a.npy", array(&[1.0, 2.0, 3.0])), ("b.npy", array(&[4.0]))]);
        let mut archive = Archive::open(Cursor::new(&bytes), bytes.len() as u64).unwrap();
        assert_eq!(archive.array("a").unwrap().values, [1.0, 2.0, 3.0]);
        assert_eq!(archive.array("b").unwrap().values, [4.0]);
        let error = archive.array("c").unwrap_err().to_string();
        assert_eq!(error, "has no array `c`; its arrays are: a, b");
    }

    #[test]
    fn damaged_archives_are_refused() {
        let bytes = archive(&[("a.npy", array(&[1.0, 2.0])), ("b.npy", array(&[4.0, 5.0]))]);
        for length in 0..bytes.len() {
            let cut = &bytes[..length];
            assert!(Archive::open(Cursor::new(cut), length as u64).is_err());
        }
        for place in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[place] ^= 0x55;
            // Whatever comes out: no panic, and never other numbers.
            if let Ok(mut archive) = Archive::open(Cursor::new(&bytes), bytes.len() as u64)
                && let Ok(array) = archive.array("b")
            {
                assert_eq!(array.values, [4.0, 5.0], "{place}");
            }
        }
    }
}
