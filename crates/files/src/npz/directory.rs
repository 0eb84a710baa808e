//! The directory of an archive, compared with the heads of its members.
//!
//! Source: PKWARE's APPNOTE.TXT 6.3.10, with ZIP64. All numbers are little-endian.

use super::error::{ArchiveError, SHOWN};
use crate::text::shortened_bytes;
use std::io::{Read, Seek, SeekFrom};

/// The first bytes of an archive.
pub const MAGIC: &[u8] = b"PK\x03\x04";

/// Bytes of the record at the end, without its comment.
const END_BYTES: usize = 22;

/// Most bytes of the comment at the end.
const LONGEST_COMMENT: u64 = 1 << 16;

/// Bytes of the record at the end for large files.
const WIDE_END_BYTES: u64 = 56;

/// Bytes of the record that tells where that of large files is.
const LOCATOR_BYTES: usize = 20;

/// Most bytes of the directory that are read.
const LARGEST_DIRECTORY: u64 = 1 << 22;

/// Bytes of a member's head, without its name and what follows.
const HEAD_BYTES: u64 = 30;

/// Bytes that one byte of compressed data may stand for, by the format of deflated data.
const DEFLATE_RATIO: u64 = 1032;

/// The value of 32 bits whose number is among the wide ones.
const WIDE: u64 = 0xFFFF_FFFF;

/// Flags of a member that are understood: ways of compression, sizes behind the data, UTF-8.
const FLAGS: u64 = 0b1000_0000_1110;

/// The flag of a member whose sizes stand behind its data.
const SIZES_BEHIND: u64 = 0b1000;

/// A file in the archive.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub name: String,
    pub is_deflated: bool,
    pub crc: u32,
    /// Bytes in the archive.
    pub compressed: u64,
    /// Bytes of the content.
    pub size: u64,
    /// The byte where the content begins.
    pub begin: u64,
}

/// A member as the directory describes it.
struct Entry<'a> {
    name: &'a [u8],
    flags: u64,
    method: u64,
    crc: u64,
    compressed: u64,
    size: u64,
    /// The byte where its head begins.
    offset: u64,
}

impl Entry<'_> {
    /// Makes an error that names the member.
    fn damaged(&self, problem: &str) -> ArchiveError {
        ArchiveError::damaged(format!("`{}` {problem}", shortened_bytes(self.name, SHOWN)))
    }
}

/// Returns the number of some bytes, if they are there.
fn number(bytes: &[u8], from: usize, count: usize) -> Option<u64> {
    let bytes = bytes.get(from..from + count)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| (number << 8) | u64::from(byte)))
}

/// Reads `count` bytes, of which there must be as many.
fn read_at(file: &mut (impl Read + Seek), from: u64, count: u64) -> Result<Vec<u8>, ArchiveError> {
    file.seek(SeekFrom::Start(from)).map_err(ArchiveError::System)?;
    let mut bytes = Vec::new();
    file.by_ref().take(count).read_to_end(&mut bytes).map_err(ArchiveError::System)?;
    if bytes.len() as u64 == count { Ok(bytes) } else { Err(ArchiveError::damaged("it ends too early")) }
}

/// Reads the members of an archive of `length` bytes.
pub(super) fn read(file: &mut (impl Read + Seek), length: u64) -> Result<Vec<Member>, ArchiveError> {
    let (begin, end, count) = place(file, length)?;
    if end - begin > LARGEST_DIRECTORY {
        return Err(ArchiveError::damaged("its directory is too long"));
    }
    let directory = read_at(file, begin, end - begin)?;
    let mut entries = Vec::new();
    let mut at = 0;
    while at < directory.len() {
        let (entry, next) =
            entry(&directory, at).ok_or_else(|| ArchiveError::damaged("its directory is damaged"))?;
        entries.push(entry);
        at = next;
    }
    if entries.len() as u64 != count {
        let problem = format!("it should have {count} members, its directory has {}", entries.len());
        return Err(ArchiveError::damaged(problem));
    }
    entries.sort_by_key(|entry| entry.offset);
    let mut names: Vec<&[u8]> = entries.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let name = shortened_bytes(twice[0], SHOWN);
        return Err(ArchiveError::damaged(format!("it has two members of the name `{name}`")));
    }
    // Each member begins where the one before ends, so that none is passed over.
    if entries.first().map_or(begin, |first| first.offset) != 0 {
        return Err(ArchiveError::damaged("it begins with data that its directory does not name"));
    }
    let ends = entries.iter().skip(1).map(|next| next.offset).chain([begin]);
    entries.iter().zip(ends).map(|(entry, end)| checked(file, entry, end)).collect()
}

/// Finds the directory: where it begins and ends, and its number of members.
fn place(file: &mut (impl Read + Seek), length: u64) -> Result<(u64, u64, u64), ArchiveError> {
    let damaged = ArchiveError::damaged;
    let tail_bytes = length.min((END_BYTES + LOCATOR_BYTES) as u64 + LONGEST_COMMENT);
    let tail = read_at(file, length - tail_bytes, tail_bytes)?;
    // The comment behind the record ends the file.
    let is_end = |at: &usize| {
        let comment = number(&tail, at + 20, 2);
        tail[*at..].starts_with(b"PK\x05\x06")
            && comment.is_some_and(|comment| *at + END_BYTES + comment as usize == tail.len())
    };
    let at = (0..=tail.len().saturating_sub(END_BYTES)).rev().find(is_end);
    let at = at.ok_or_else(|| damaged("it has no directory, so it is truncated"))?;
    let field = |from, count| number(&tail, at + from, count).unwrap_or(0);
    let narrow = [field(8, 2), field(10, 2), field(12, 4), field(16, 4)];
    let end = length - tail_bytes + at as u64;
    let locator = at.checked_sub(LOCATOR_BYTES).filter(|at| tail[*at..].starts_with(b"PK\x06\x07"));
    let (counts, size, begin, end) = match locator {
        None => ([narrow[0], narrow[1]], narrow[2], narrow[3], end),
        Some(at) => {
            let wide = number(&tail, at + 8, 8).unwrap_or(0);
            let locator = length - tail_bytes + at as u64;
            if wide.checked_add(WIDE_END_BYTES) != Some(locator) {
                return Err(damaged("its record for large files is not in its place"));
            }
            let record = read_at(file, wide, WIDE_END_BYTES)?;
            let field = |from| number(&record, from, 8).unwrap_or(0);
            let long = [field(24), field(32), field(40), field(48)];
            let most = [0xFFFF, 0xFFFF, WIDE, WIDE];
            let agree = (0..4).all(|k| narrow[k] == long[k] || narrow[k] == most[k]);
            if !record.starts_with(b"PK\x06\x06") || field(4) != WIDE_END_BYTES - 12 || !agree {
                return Err(damaged("its record for large files contradicts its last record"));
            }
            ([long[0], long[1]], long[2], long[3], wide)
        }
    };
    if counts[0] != counts[1] || begin.checked_add(size) != Some(end) {
        return Err(damaged("its directory does not lie in the file as its last record says"));
    }
    Ok((begin, end, counts[0]))
}

/// Reads the entry at a place of the directory; returns the place of the next one too.
fn entry(directory: &[u8], at: usize) -> Option<(Entry<'_>, usize)> {
    let field = |from, count| number(directory, at + from, count);
    if !directory[at..].starts_with(b"PK\x01\x02") {
        return None;
    }
    let [name, extra, comment] = [field(28, 2)? as usize, field(30, 2)? as usize, field(32, 2)? as usize];
    let (name, rest) = directory.get(at + 46..)?.split_at_checked(name)?;
    let extra_field = rest.get(..extra)?;
    let next = at + 46 + name.len() + extra + comment;
    // Wide numbers are in this order, as far as they are needed.
    let mut long = wide_numbers(extra_field);
    let mut wide = |value: u64| if value == WIDE { long.next() } else { Some(value) };
    let (size, compressed, offset) = (wide(field(24, 4)?)?, wide(field(20, 4)?)?, wide(field(42, 4)?)?);
    let [flags, method, crc] = [field(8, 2)?, field(10, 2)?, field(16, 4)?];
    let entry = Entry { name, flags, method, crc, compressed, size, offset };
    (next <= directory.len()).then_some((entry, next))
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

/// Compares an entry with the member's own head, and with the byte where the next one begins.
fn checked(file: &mut (impl Read + Seek), entry: &Entry<'_>, end: u64) -> Result<Member, ArchiveError> {
    let room = end.checked_sub(entry.offset).filter(|room| *room >= HEAD_BYTES);
    let room = room.ok_or_else(|| entry.damaged("has no room in the file"))?;
    let head = read_at(file, entry.offset, HEAD_BYTES)?;
    let field = |from, count| number(&head, from, count).unwrap_or(0);
    let (name, extra) = (field(26, 2), field(28, 2));
    let head_bytes = HEAD_BYTES + name + extra;
    if !head.starts_with(MAGIC) || head_bytes > room {
        return Err(entry.damaged("is not where the directory says"));
    }
    let words = read_at(file, entry.offset + HEAD_BYTES, name + extra)?;
    let (name, extra) = words.split_at(name as usize);
    if name != entry.name {
        let own = shortened_bytes(name, SHOWN);
        return Err(entry.damaged(&format!("of the directory is called `{own}` in its own place")));
    }
    let is_deflated = match entry.method {
        0 => false,
        8 => true,
        other => return Err(entry.damaged(&format!("is compressed by the method {other}, not 0 or 8"))),
    };
    if entry.flags & !FLAGS != 0 {
        return Err(entry.damaged("is encrypted, or of a kind that is not read"));
    }
    let mut long = wide_numbers(extra);
    let mut wide = |value: u64| if value == WIDE { long.next() } else { Some(value) };
    let (size, compressed) = (wide(field(22, 4)), wide(field(18, 4)));
    let sizes_agree = (size, compressed) == (Some(entry.size), Some(entry.compressed));
    let agrees =
        [(6, entry.flags), (8, entry.method)].into_iter().all(|(from, value)| field(from, 2) == value)
            && match entry.flags & SIZES_BEHIND == 0 {
                true => sizes_agree && field(14, 4) == entry.crc,
                // The writer did not know them yet.
                false => {
                    [0, entry.crc].contains(&field(14, 4)) && (sizes_agree || size.max(compressed) == Some(0))
                }
            };
    if !agrees {
        return Err(entry.damaged("is described in two ways: its directory contradicts its own place"));
    }
    let behind = room.checked_sub(head_bytes).and_then(|room| room.checked_sub(entry.compressed));
    let behind = behind.ok_or_else(|| entry.damaged("has no room in the file"))?;
    let begin = entry.offset + head_bytes;
    let is_whole = match entry.flags & SIZES_BEHIND == 0 {
        true => behind == 0,
        false => sizes_behind(file, entry, begin + entry.compressed, behind)?,
    };
    if !is_whole {
        return Err(entry.damaged("is followed by data that the directory does not name"));
    }
    let largest = if is_deflated { entry.compressed.saturating_mul(DEFLATE_RATIO) } else { entry.compressed };
    if entry.size > largest || (!is_deflated && entry.size < largest) {
        let problem = format!("cannot have {} bytes, of {} in the file", entry.size, entry.compressed);
        return Err(entry.damaged(&problem));
    }
    Ok(Member {
        name: String::from_utf8_lossy(entry.name).into_owned(),
        is_deflated,
        crc: entry.crc as u32,
        compressed: entry.compressed,
        size: entry.size,
        begin,
    })
}

/// Tells whether the bytes behind the data are the checksum and sizes of the entry.
///
/// They may begin with four bytes that mark them, and sizes have four bytes or eight.
fn sizes_behind(
    file: &mut (impl Read + Seek),
    entry: &Entry<'_>,
    from: u64,
    count: u64,
) -> Result<bool, ArchiveError> {
    if ![12, 16, 20, 24].contains(&count) {
        return Ok(false);
    }
    let bytes = read_at(file, from, count)?;
    let rest = if count.is_multiple_of(8) { bytes.strip_prefix(b"PK\x07\x08") } else { Some(&bytes[..]) };
    Ok(rest.is_some_and(|rest| {
        let each = (rest.len() - 4) / 2;
        let found = [(0, 4), (4, each), (4 + each, each)].map(|(from, count)| number(rest, from, count));
        found == [Some(entry.crc), Some(entry.compressed), Some(entry.size)]
    }))
}
