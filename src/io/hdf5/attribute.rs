//! Attributes with text.

use super::bytes::{Bytes, LONGEST_TEXT, until_zero};
use super::datatype::{Datatype, Kind};
use super::object::{ATTRIBUTE, DATATYPE, Object, shared};
use super::{Input, bad};
use crate::io::error::Error;

/// Most objects in a part of the global heap.
const MOST_IN_HEAP: usize = 1 << 16;

impl Object {
    /// Returns the text of an attribute; `None` if there is none, or if it is no text.
    ///
    /// # Errors
    /// When the attribute is malformed.
    pub(in crate::io) fn text(&self, input: &mut Input, name: &str) -> Result<Option<String>, Error> {
        for message in self.messages.iter().filter(|message| message.kind == ATTRIBUTE && !message.is_shared)
        {
            let parts = Parts::of(&message.data).map_err(|problem| bad(input, self.byte, problem))?;
            if parts.name != name {
                continue;
            }
            let data_type = match parts.is_type_shared {
                true => shared(input, self.byte, parts.data_type, DATATYPE)?,
                false => parts.data_type.to_vec(),
            };
            let data_type = Datatype::parse(&data_type).map_err(|problem| bad(input, self.byte, problem))?;
            return match data_type.kind {
                Kind::Text => {
                    let length = usize::try_from(data_type.size).unwrap_or(usize::MAX).min(parts.value.len());
                    Ok(Some(until_zero(&parts.value[..length])))
                }
                Kind::VariableText => {
                    let mut value = Bytes(parts.value);
                    let place = (value.u32(), value.u64(), value.u32());
                    let (Ok(length), Ok(heap), Ok(index)) = place else {
                        return Err(bad(input, self.byte, "an attribute ends too early"));
                    };
                    text_in_heap(input, heap, index, u64::from(length)).map(Some)
                }
                _ => Ok(None),
            };
        }
        Ok(None)
    }
}

/// The parts of an attribute message.
struct Parts<'a> {
    name: String,
    is_type_shared: bool,
    data_type: &'a [u8],
    value: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(data: &'a [u8]) -> Result<Self, String> {
        let mut bytes = Bytes(data);
        let version = bytes.u8()?;
        let flags = bytes.u8()?;
        let lengths = [bytes.u16()?, bytes.u16()?, bytes.u16()?].map(usize::from);
        if version == 3 {
            bytes.take(1)?;
        } else if !(1..=2).contains(&version) {
            return Err(format!("an attribute has version {version}, and 1 to 3 are read"));
        }
        let mut part = |length: usize| {
            let padded = if version == 1 { length.next_multiple_of(8) } else { length };
            bytes.take(padded).map(|part| &part[..length])
        };
        let (name, data_type) = (part(lengths[0])?, part(lengths[1])?);
        part(lengths[2])?;
        Ok(Self {
            name: until_zero(name),
            is_type_shared: version > 1 && flags & 1 != 0,
            data_type,
            value: bytes.0,
        })
    }
}

/// Reads a text in the global heap.
fn text_in_heap(input: &mut Input, heap: u64, index: u32, length: u64) -> Result<String, Error> {
    if length == 0 {
        return Ok(String::new());
    }
    let header: [u8; 16] = input.array("a heap of an HDF5 file", heap)?;
    if !header.starts_with(b"GCOL") {
        return Err(bad(input, heap, "no global heap begins here"));
    }
    let mut at = heap + 16;
    for _ in 0..MOST_IN_HEAP {
        let header: [u8; 16] = input.array("a heap of an HDF5 file", at)?;
        let found = u32::from(u16::from_le_bytes([header[0], header[1]]));
        let size = u64::from_le_bytes(std::array::from_fn(|k| header[8 + k]));
        if found == 0 || size > input.length() {
            break;
        }
        if found == index {
            let length = length.min(size);
            if length > LONGEST_TEXT {
                return Err(bad(
                    input,
                    at,
                    format!("a text has {length} bytes, and at most {LONGEST_TEXT} are read"),
                ));
            }
            let text = input.bytes("text of an HDF5 file", at + 16, length as usize)?;
            return Ok(until_zero(&text));
        }
        at += 16 + size.next_multiple_of(8);
    }
    Err(bad(input, heap, format!("the heap has no text {index}")))
}
