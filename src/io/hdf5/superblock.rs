//! The beginning of a file, which tells where the root group is.

use super::bytes::Bytes;
use super::{Input, bad};
use crate::io::error::Error;

/// The first bytes of a superblock.
pub(super) const MAGIC: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// Bytes of the longest superblock.
const LONGEST: u64 = 104;

/// The shortest user block.
const SHORTEST_USER_BLOCK: u64 = 512;

/// Tells whether these first bytes of a file are those of HDF5 without a user block.
pub(in crate::io) fn begins(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// Finds the superblock, and passes over the user block before it.
///
/// A user block holds anything, in 512, 1024, 2048, … bytes. All addresses of the file count from the
/// superblock. Its own base address may be older than the user block, and is not looked at. Returns
/// `false` if the file has no superblock.
///
/// # Errors
/// When the file cannot be read.
pub(in crate::io) fn find(input: &mut Input) -> Result<bool, Error> {
    let mut at = 0;
    while at + MAGIC.len() as u64 <= input.length() {
        if input.array("the beginning of an HDF5 file", at)? == *MAGIC {
            input.pass_over(at);
            return Ok(true);
        }
        at = (2 * at).max(SHORTEST_USER_BLOCK);
    }
    Ok(false)
}

/// Returns the address of the root group's object header.
pub(super) fn root(input: &mut Input) -> Result<u64, Error> {
    if !find(input)? {
        return Err(bad(input, 0, "the file has no superblock"));
    }
    let length = input.length().min(LONGEST) as usize;
    let block = input.bytes("the superblock of an HDF5 file", 0, length)?;
    parse(&block).map_err(|problem| bad(input, 0, problem))
}

fn parse(block: &[u8]) -> Result<u64, String> {
    let mut bytes = Bytes(block);
    bytes.take(MAGIC.len())?;
    let version = bytes.u8()?;
    let sizes = match version {
        0 | 1 => {
            bytes.take(4)?;
            let sizes = [bytes.u8()?, bytes.u8()?];
            // A reserved byte, the ranks of trees, flags, and in version 1 the rank of chunks.
            bytes.take(if version == 0 { 9 } else { 13 })?;
            sizes
        }
        2 | 3 => {
            let sizes = [bytes.u8()?, bytes.u8()?];
            bytes.take(1)?;
            sizes
        }
        other => return Err(format!("the superblock has version {other}, and 0 to 3 are read")),
    };
    if sizes != [8, 8] {
        return Err(format!("addresses have {} bytes and lengths {}, and 8 are read", sizes[0], sizes[1]));
    }
    // The base address. Then free space, end and driver, and the name in the root's entry; or the extension
    // and the end.
    bytes.take(if version < 2 { 40 } else { 24 })?;
    Ok(bytes.u64()?)
}
