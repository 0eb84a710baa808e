//! Groups: the names of objects and where they are.

use super::bytes::Bytes;
use super::object::{LINK, LINK_INFO, Object, SYMBOL_TABLE};
use super::unread::Unread;
use super::{Input, UNDEFINED, bad};
use crate::io::error::Error;

/// Most links of a group that are read.
const MOST_LINKS: usize = 1 << 20;

/// Most bytes of the names of a group.
const LARGEST_HEAP: u64 = 64 << 20;

/// Bytes that a node of a tree takes at least.
pub(super) const SMALLEST_NODE: u64 = 24;

/// Most levels of the tree of a group.
const MOST_LEVELS: u8 = 8;

/// Returns the names in a group with the addresses of their objects.
///
/// A dataset has none.
pub(super) fn links(
    input: &mut Input,
    object: &Object,
    unread: &mut Unread,
) -> Result<Vec<(String, u64)>, Error> {
    let mut links = Vec::new();
    for message in object.messages.iter().filter(|message| message.kind == LINK) {
        links.extend(link(&message.data).map_err(|problem| bad(input, object.byte, problem))?);
    }
    if let Some(message) = object.get(LINK_INFO) {
        let heap = heap_of_links(&message.data).map_err(|problem| bad(input, object.byte, problem))?;
        if heap != UNDEFINED {
            let problem = "a group with many links is stored densely, which is not read; copy it with h5py's \
                           default libver, or with h5repack --low=0 --high=0";
            return Err(bad(input, object.byte, problem));
        }
    }
    if let Some(message) = object.get(SYMBOL_TABLE) {
        let mut bytes = Bytes(&message.data);
        let addresses = [bytes.u64(), bytes.u64()];
        let [Ok(tree), Ok(heap)] = addresses else {
            return Err(bad(input, object.byte, "the symbol table ends too early"));
        };
        let names = names(input, heap)?;
        unread.take(input, heap, names.len() as u64)?;
        symbols(input, tree, &names, MOST_LEVELS, unread, &mut links)?;
    }
    Ok(links)
}

/// Reads a link message. Soft and external links lead to no object here.
fn link(data: &[u8]) -> Result<Option<(String, u64)>, String> {
    let mut bytes = Bytes(data);
    bytes.take(1)?;
    let flags = bytes.u8()?;
    let kind = if flags & 8 != 0 { bytes.u8()? } else { 0 };
    bytes.take(if flags & 4 != 0 { 8 } else { 0 } + if flags & 16 != 0 { 1 } else { 0 })?;
    let length = bytes.number(1 << (flags & 3))?;
    let name = bytes.take(usize::try_from(length).unwrap_or(usize::MAX))?;
    let name = String::from_utf8_lossy(name).into_owned();
    Ok(if kind == 0 { Some((name, bytes.u64()?)) } else { None })
}

fn heap_of_links(data: &[u8]) -> Result<u64, String> {
    let mut bytes = Bytes(data);
    bytes.take(1)?;
    let flags = bytes.u8()?;
    bytes.take(if flags & 1 != 0 { 8 } else { 0 })?;
    Ok(bytes.u64()?)
}

/// Reads the names of a group: its local heap.
fn names(input: &mut Input, byte: u64) -> Result<Vec<u8>, Error> {
    let header: [u8; 32] = input.array("the names of an HDF5 group", byte)?;
    if !header.starts_with(b"HEAP") {
        return Err(bad(input, byte, "no heap of names begins here"));
    }
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| header[at + k]));
    let (length, data) = (word(8), word(24));
    if length > LARGEST_HEAP {
        return Err(bad(
            input,
            byte,
            format!("the names take {length} bytes, and at most {LARGEST_HEAP} are read"),
        ));
    }
    input.bytes("the names of an HDF5 group", data, length as usize)
}

/// Collects the symbols below a node of the tree of a group.
fn symbols(
    input: &mut Input,
    byte: u64,
    names: &[u8],
    levels: u8,
    unread: &mut Unread,
    links: &mut Vec<(String, u64)>,
) -> Result<(), Error> {
    let header: [u8; 8] = input.array("the tree of an HDF5 group", byte)?;
    let [.., kind, level, low, high] = header;
    if !header.starts_with(b"TREE") || kind != 0 || level >= levels {
        return Err(bad(input, byte, "no node of a group's tree begins here"));
    }
    let entries = usize::from(u16::from_le_bytes([low, high]));
    unread.take(input, byte, SMALLEST_NODE + 16 * entries as u64)?;
    let node = input.bytes("the tree of an HDF5 group", byte + 24, 16 * entries)?;
    for entry in node.chunks_exact(16) {
        let child = u64::from_le_bytes(std::array::from_fn(|k| entry[8 + k]));
        match level {
            0 => table(input, child, names, unread, links)?,
            level => symbols(input, child, names, level, unread, links)?,
        }
        if links.len() > MOST_LINKS {
            return Err(bad(input, byte, format!("a group has more than {MOST_LINKS} links")));
        }
    }
    Ok(())
}

/// Collects the symbols of a leaf.
fn table(
    input: &mut Input,
    byte: u64,
    names: &[u8],
    unread: &mut Unread,
    links: &mut Vec<(String, u64)>,
) -> Result<(), Error> {
    let header: [u8; 8] = input.array("the symbols of an HDF5 group", byte)?;
    if !header.starts_with(b"SNOD") {
        return Err(bad(input, byte, "no symbols of a group begin here"));
    }
    let entries = usize::from(u16::from_le_bytes([header[6], header[7]]));
    unread.take(input, byte, 8 + 40 * entries as u64)?;
    let node = input.bytes("the symbols of an HDF5 group", byte + 8, 40 * entries)?;
    for entry in node.chunks_exact(40) {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| entry[at + k]));
        let (name, address, cache) = (word(0), word(8), entry[16]);
        // Kind 2 is a symbolic link.
        if cache != 2 {
            let text = usize::try_from(name).ok().and_then(|name| names.get(name..));
            let text = text.and_then(|text| Bytes(text).text().ok());
            links.push((text.ok_or_else(|| bad(input, byte, "a name lies outside of its heap"))?, address));
        }
    }
    Ok(())
}
