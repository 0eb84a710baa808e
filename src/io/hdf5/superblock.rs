//! The beginning of a file, which tells where the root group is.

use super::bytes::Bytes;
use super::{Input, bad};
use crate::io::error::Error;

/// The first bytes of a file.
pub(in crate::io) const MAGIC: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// Bytes of the longest superblock.
const LONGEST: u64 = 104;

/// Returns the address of the root group's object header.
pub(super) fn root(input: &mut Input) -> Result<u64, Error> {
    let length = input.length().min(LONGEST) as usize;
    let block = input.bytes("the superblock of an HDF5 file", 0, length)?;
    parse(&block).map_err(|problem| bad(input, 0, problem))
}

fn parse(block: &[u8]) -> Result<u64, String> {
    let mut bytes = Bytes(block);
    if bytes.take(MAGIC.len())? != MAGIC {
        return Err("it is no superblock".to_owned());
    }
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
    if bytes.u64()? != 0 {
        return Err("addresses count from another byte than the first".to_owned());
    }
    // Free space, end and driver, then the name in the root's entry; or the extension and the end.
    bytes.take(if version < 2 { 32 } else { 16 })?;
    Ok(bytes.u64()?)
}
