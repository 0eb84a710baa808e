//! Datasets of numbers: their shape, and where their bytes are.

use super::bytes::{Bytes, LONGEST_TEXT, until_zero};
use super::chunks::Chunks;
use super::datatype::{Datatype, Kind, Numbers};
use super::filters::Filter;
use super::object::{DATASPACE, DATATYPE, FILTERS, LAYOUT, Object};
use super::{Input, UNDEFINED, bad};
use crate::io::error::Error;

/// Most extents of a dataset, as in the library.
const MOST_EXTENTS: usize = 32;

/// The largest factor by which deflate may shrink data, and some more.
const LARGEST_RATIO: u64 = 1040;

/// A dataset of real or complex numbers.
#[derive(Clone, Debug)]
pub(in crate::io) struct Dataset {
    /// The extents of the dataset, without those of its elements.
    space: Vec<u64>,
    numbers: Numbers,
    layout: Layout,
}

/// The place of the bytes of a dataset.
#[derive(Clone, Debug)]
enum Layout {
    /// In one piece from this byte on.
    Contiguous(u64),
    /// Within the description.
    Compact(Vec<u8>),
    Chunked(Chunks),
}

impl Dataset {
    /// Reads the description of a dataset.
    ///
    /// # Errors
    /// * The description is malformed.
    /// * The elements are not numbers.
    /// * The layout is not one that is read.
    /// * The file holds fewer bytes than the dataset has.
    pub(in crate::io) fn of(input: &mut Input, object: &Object) -> Result<Self, Error> {
        let error = |input: &Input, problem: String| bad(input, object.byte, problem);
        let data_type = object.data(input, DATATYPE)?.unwrap_or_default();
        let data_type = Datatype::parse(&data_type).map_err(|problem| error(input, problem))?;
        let space = object.data(input, DATASPACE)?.unwrap_or_default();
        let space = extents(&space).map_err(|problem| error(input, problem))?;
        let Some(numbers) = data_type.numbers() else {
            return Err(error(input, "its elements are not real or complex numbers".to_owned()));
        };
        let layout = Layout::of(input, object, &space, data_type.size)?;
        Ok(Self { space, numbers, layout })
    }

    /// Returns all extents, the slowest first.
    ///
    /// The extents of the dataset come before the extents of an element.
    pub(in crate::io) fn shape(&self) -> Vec<u64> {
        [&self.space[..], &self.numbers.shape].concat()
    }

    pub(in crate::io) fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// Fills a buffer with the bytes of the numbers from byte `at` on.
    ///
    /// # Errors
    /// When the file cannot be read, or compressed data are damaged.
    pub(in crate::io) fn fill(&mut self, input: &mut Input, at: u64, buffer: &mut [u8]) -> Result<(), Error> {
        match &mut self.layout {
            Layout::Contiguous(byte) => {
                input.seek(*byte + at)?;
                input.fill(buffer)
            }
            Layout::Compact(bytes) => {
                let at = at as usize;
                buffer.copy_from_slice(&bytes[at..at + buffer.len()]);
                Ok(())
            }
            Layout::Chunked(chunks) => chunks.fill(input, at, buffer),
        }
    }
}

impl Layout {
    /// Finds the bytes, and makes sure that the file holds them.
    fn of(input: &mut Input, object: &Object, space: &[u64], element: u64) -> Result<Self, Error> {
        let error = |input: &Input, problem: &str| bad(input, object.byte, problem);
        let bytes = space.iter().try_fold(element, |bytes, &extent| bytes.checked_mul(extent));
        let bytes = bytes.filter(|&bytes| bytes / LARGEST_RATIO <= input.length());
        let bytes = bytes.ok_or_else(|| error(input, "the dataset is larger than its file can hold"))?;
        let data = object.data(input, LAYOUT)?.unwrap_or_default();
        let filters = object.data(input, FILTERS)?;
        let filters = filters.map_or(Ok(Vec::new()), |data| Filter::parse(&data));
        let filters = filters.map_err(|problem| error(input, &problem))?;
        let mut rest = Bytes(&data);
        let head = (rest.u8(), rest.u8());
        let (Ok(version @ 3..=5), Ok(class)) = head else {
            return Err(error(input, "the layout is not of version 3 to 5"));
        };
        match class {
            0 => {
                let length = rest.u16().map(usize::from);
                let inner = length.and_then(|length| rest.take(length)).unwrap_or_default();
                match inner.len() as u64 == bytes {
                    true => Ok(Self::Compact(inner.to_vec())),
                    false => Err(error(input, "the dataset has not as many bytes as its extents say")),
                }
            }
            1 => match rest.u64() {
                Ok(address) if address != UNDEFINED => {
                    input.expect("an HDF5 dataset", address, bytes)?;
                    Ok(Self::Contiguous(address))
                }
                _ => Err(error(input, "the dataset was never written")),
            },
            2 => Chunks::read(input, object.byte, version, rest, space, element, filters).map(Self::Chunked),
            _ => Err(error(input, "the layout is neither contiguous, compact nor chunked")),
        }
    }
}

/// Reads the extents of a dataspace.
pub(super) fn extents(data: &[u8]) -> Result<Vec<u64>, String> {
    let mut bytes = Bytes(data);
    let version = bytes.u8()?;
    let rank = usize::from(bytes.u8()?);
    bytes.take(if version == 1 { 6 } else { 2 })?;
    if rank > MOST_EXTENTS {
        return Err(format!("it has {rank} extents, and at most {MOST_EXTENTS} are read"));
    }
    let extents: Vec<u64> = (0..rank).map(|_| bytes.u64()).collect::<Result<_, _>>()?;
    match extents.iter().all(|&extent| extent > 0) {
        true => Ok(extents),
        false => Err("an extent is zero".to_owned()),
    }
}

/// Reads a dataset that is one text.
///
/// # Errors
/// When the object is no such dataset.
pub(in crate::io) fn text(input: &mut Input, object: &Object) -> Result<String, Error> {
    let error = |input: &Input, problem: &str| bad(input, object.byte, problem);
    let data_type = object.data(input, DATATYPE)?.unwrap_or_default();
    let data_type = Datatype::parse(&data_type).map_err(|problem| error(input, &problem))?;
    let space = object.data(input, DATASPACE)?.unwrap_or_default();
    let space = extents(&space).map_err(|problem| error(input, &problem))?;
    if data_type.kind != Kind::Text || !space.is_empty() || data_type.size > MOST_TEXTS * LONGEST_TEXT {
        return Err(error(input, "the dataset is not one text"));
    }
    Ok(until_zero(&whole(input, object, &space, data_type.size)?))
}

/// Returns all bytes of a dataset that is in one piece.
pub(super) fn whole(
    input: &mut Input,
    object: &Object,
    space: &[u64],
    element: u64,
) -> Result<Vec<u8>, Error> {
    match Layout::of(input, object, space, element)? {
        Layout::Contiguous(byte) => {
            // The file holds them all, so that there is no overflow.
            let length = space.iter().product::<u64>() * element;
            input.bytes("a dataset of an HDF5 file", byte, length as usize)
        }
        Layout::Compact(bytes) => Ok(bytes),
        Layout::Chunked(_) => {
            Err(bad(input, object.byte, "the dataset is in chunks, which is not read here"))
        }
    }
}

/// The longest dataset of text, in longest texts of attributes.
const MOST_TEXTS: u64 = 1024;
