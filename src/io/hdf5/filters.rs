//! Filters of chunks: deflate and shuffle.

use super::bytes::Bytes;
use crate::host;
use std::io::Read;

/// A filter, which changed the bytes of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    /// Compressed by zlib.
    Deflate,
    /// The first bytes of all elements of this size, then the second ones, and so on.
    Shuffle(usize),
}

impl Filter {
    /// Reads the filters of a dataset, in the order in which they were applied.
    pub(super) fn parse(data: &[u8]) -> Result<Vec<Self>, String> {
        let mut bytes = Bytes(data);
        let version = bytes.u8()?;
        let count = bytes.u8()?;
        bytes.take(if version == 1 { 6 } else { 0 })?;
        (0..count).map(|_| Self::next(&mut bytes, version)).collect()
    }

    fn next(bytes: &mut Bytes<'_>, version: u8) -> Result<Self, String> {
        let id = bytes.u16()?;
        let name = if version == 1 || id >= 256 { usize::from(bytes.u16()?) } else { 0 };
        bytes.take(2)?;
        let values = usize::from(bytes.u16()?);
        bytes.take(if version == 1 { name.next_multiple_of(8) } else { name })?;
        let mut words = Bytes(bytes.take(4 * values)?);
        if version == 1 && values % 2 == 1 {
            bytes.take(4)?;
        }
        match id {
            1 => Ok(Self::Deflate),
            2 => Ok(Self::Shuffle(words.u32()?.max(1) as usize)),
            other => Err(format!("the filter {other} is not read; write the file without it, or with gzip")),
        }
    }

    /// Undoes the filter. The result has `length` bytes.
    pub(super) fn undo(self, bytes: Vec<u8>, length: usize) -> Result<Vec<u8>, String> {
        let whole = match self {
            Self::Deflate => {
                let mut whole = Vec::new();
                host::reserve(&mut whole, length + 1)
                    .map_err(|_| "a chunk needs more memory than there is".to_owned())?;
                let decoder = flate2::read::ZlibDecoder::new(&bytes[..]);
                decoder
                    .take(length as u64 + 1)
                    .read_to_end(&mut whole)
                    .map_err(|error| format!("a chunk is damaged: {error}"))?;
                whole
            }
            Self::Shuffle(size) => {
                let count = bytes.len() / size;
                let mut whole = bytes.clone();
                for (k, element) in whole[..count * size].chunks_exact_mut(size).enumerate() {
                    element.iter_mut().enumerate().for_each(|(at, byte)| *byte = bytes[at * count + k]);
                }
                whole
            }
        };
        match whole.len() == length {
            true => Ok(whole),
            false => Err(format!("a chunk has not the {length} bytes of its extents")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_put_back_in_order() {
        let shuffled = vec![1, 4, 2, 5, 3, 6, 7];
        assert_eq!(Filter::Shuffle(3).undo(shuffled.clone(), 7).unwrap(), [1, 2, 3, 4, 5, 6, 7]);
        assert!(Filter::Shuffle(3).undo(shuffled, 6).is_err());
        assert!(Filter::Deflate.undo(vec![1, 2, 3], 3).is_err());
    }
}
