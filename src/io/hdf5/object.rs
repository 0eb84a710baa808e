//! Object headers: the messages that describe a group or a dataset.

use super::bytes::Bytes;
use super::{Input, bad};
use crate::io::error::Error;
use std::collections::VecDeque;

pub(super) const DATASPACE: u16 = 0x01;
pub(super) const LINK_INFO: u16 = 0x02;
pub(super) const DATATYPE: u16 = 0x03;
pub(super) const FILL_VALUE: u16 = 0x05;
pub(super) const LINK: u16 = 0x06;
pub(super) const LAYOUT: u16 = 0x08;
pub(super) const FILTERS: u16 = 0x0b;
pub(super) const ATTRIBUTE: u16 = 0x0c;
const CONTINUATION: u16 = 0x10;
pub(super) const SYMBOL_TABLE: u16 = 0x11;

/// Most bytes of the messages of one object.
const LARGEST: u64 = 4 << 20;

/// Most blocks of messages of one object.
const MOST_BLOCKS: usize = 256;

/// A message of an object header.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) kind: u16,
    /// `true` if the message is elsewhere, and `data` tell where.
    pub(super) is_shared: bool,
    pub(super) data: Vec<u8>,
}

/// The messages of an object.
#[derive(Clone, Debug)]
pub(in crate::io) struct Object {
    /// The byte where the header begins.
    pub(super) byte: u64,
    pub(super) messages: Vec<Message>,
}

impl Object {
    /// Reads the header at `byte`.
    pub(super) fn read(input: &mut Input, byte: u64) -> Result<Self, Error> {
        let start: [u8; 16] = input.array("an HDF5 object header", byte)?;
        let is_new = start.starts_with(b"OHDR");
        let flags = if is_new { start[5] } else { 0 };
        let first = match is_new {
            true => {
                let before =
                    6 + if flags & 0x20 != 0 { 16 } else { 0 } + if flags & 0x10 != 0 { 4 } else { 0 };
                let wide = 1usize << (flags & 3);
                let length = input.bytes("an HDF5 object header", byte + before, wide)?;
                let length = Bytes(&length).number(wide).unwrap_or_default();
                (byte + before + wide as u64, length)
            }
            false if start[0] == 1 => {
                (byte + 16, u64::from(u32::from_le_bytes([8, 9, 10, 11].map(|k| start[k]))))
            }
            false => return Err(bad(input, byte, "no object header begins here")),
        };
        let mut object = Self { byte, messages: Vec::new() };
        let mut blocks = VecDeque::from([first]);
        let (mut bytes, mut count) = (0u64, 0);
        while let Some((start, length)) = blocks.pop_front() {
            bytes = bytes.saturating_add(length);
            count += 1;
            if bytes > LARGEST || count > MOST_BLOCKS {
                return Err(bad(
                    input,
                    byte,
                    format!("its messages take more than {LARGEST} bytes or {MOST_BLOCKS} blocks"),
                ));
            }
            let block = input.bytes("messages of an HDF5 object", start, length as usize)?;
            let mut rest = Bytes(&block);
            if is_new && count > 1 {
                // The signature OCHK, and the checksum at the end.
                let inner = block.len().checked_sub(8).and_then(|length| block.get(4..4 + length));
                rest = Bytes(inner.ok_or_else(|| bad(input, start, "the block of messages is too short"))?);
            }
            object
                .take_block(&mut rest, is_new, flags, &mut blocks)
                .map_err(|problem| bad(input, start, problem))?;
        }
        Ok(object)
    }

    fn take_block(
        &mut self,
        rest: &mut Bytes<'_>,
        is_new: bool,
        flags: u8,
        blocks: &mut VecDeque<(u64, u64)>,
    ) -> Result<(), String> {
        let header = if is_new { 4 + if flags & 4 != 0 { 2 } else { 0 } } else { 8 };
        // Less than a header is a gap.
        while rest.0.len() >= header {
            let kind = if is_new { u16::from(rest.u8()?) } else { rest.u16()? };
            let length = usize::from(rest.u16()?);
            let of_message = rest.u8()?;
            rest.take(if is_new { header - 4 } else { 3 })?;
            let data = rest.take(length)?;
            if kind == CONTINUATION {
                let mut data = Bytes(data);
                blocks.push_back((data.u64()?, data.u64()?));
            } else {
                self.messages.push(Message { kind, is_shared: of_message & 2 != 0, data: data.to_vec() });
            }
        }
        Ok(())
    }

    /// Returns the bytes of all messages, without their own headers.
    pub(super) fn bytes(&self) -> u64 {
        self.messages.iter().map(|message| message.data.len() as u64).sum()
    }

    /// Returns the first message of a kind.
    pub(super) fn get(&self, kind: u16) -> Option<&Message> {
        self.messages.iter().find(|message| message.kind == kind)
    }

    /// Returns the data of a message of the kind.
    ///
    /// A message may be shared, and then stands in another object, for example a named data type.
    pub(super) fn data(&self, input: &mut Input, kind: u16) -> Result<Option<Vec<u8>>, Error> {
        match self.get(kind) {
            Some(message) if message.is_shared => shared(input, self.byte, &message.data, kind).map(Some),
            found => Ok(found.map(|message| message.data.clone())),
        }
    }

    /// Tells whether the object is a dataset.
    pub(in crate::io) fn is_dataset(&self) -> bool {
        [DATASPACE, DATATYPE, LAYOUT].into_iter().all(|kind| self.get(kind).is_some())
    }
}

/// Returns the data of a message that stands in another object.
///
/// `reference` names the object.
pub(super) fn shared(input: &mut Input, byte: u64, reference: &[u8], kind: u16) -> Result<Vec<u8>, Error> {
    let mut bytes = Bytes(reference);
    let mut address = || -> Result<u64, String> {
        let version = bytes.u8()?;
        let place = bytes.u8()?;
        match version {
            1 => bytes.take(6).map(drop)?,
            3 if place != 2 => return Err("a message is shared in a heap, which is not read".to_owned()),
            2 | 3 => {}
            other => return Err(format!("a shared message has version {other}, and 1 to 3 are read")),
        }
        Ok(bytes.u64()?)
    };
    let address = address().map_err(|problem| bad(input, byte, problem))?;
    let found = Object::read(input, address)?.messages.into_iter().find(|message| message.kind == kind);
    match found {
        Some(message) if !message.is_shared => Ok(message.data),
        _ => Err(bad(input, address, "the shared message is not there")),
    }
}
