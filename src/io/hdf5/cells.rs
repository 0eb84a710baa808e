//! Datasets of results: numbers, texts and flags, all of them in memory.

use super::bytes::until_zero;
use super::datatype::{Datatype, Kind};
use super::object::{DATASPACE, DATATYPE, Object};
use super::types::Element;
use super::{Input, bad, dataset};
use crate::io::error::Error;
use crate::io::numbers::ByteOrder;
use crate::scalar::Precision;

/// The elements of a dataset, the last extent fastest.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::io) enum Cells {
    Real(Vec<f64>),
    Integer(Vec<i64>),
    Flag(Vec<bool>),
    Text(Vec<String>),
}

impl Cells {
    pub(in crate::io) fn len(&self) -> usize {
        match self {
            Self::Real(all) => all.len(),
            Self::Integer(all) => all.len(),
            Self::Flag(all) => all.len(),
            Self::Text(all) => all.len(),
        }
    }

    /// Returns the type that holds all elements.
    ///
    /// Whole numbers take four bytes, or eight if one of them does not fit. Texts take the bytes of the
    /// longest one.
    pub(in crate::io) fn element(&self) -> Element {
        match self {
            Self::Real(_) => Element::Real(Precision::Double),
            Self::Integer(all) => {
                let are_short = all.iter().all(|&number| i32::try_from(number).is_ok());
                Element::Integer(if are_short { 4 } else { 8 })
            }
            Self::Flag(_) => Element::Byte,
            // A type has at least a byte.
            Self::Text(all) => Element::Text(all.iter().map(String::len).max().unwrap_or(0).max(1) as u32),
        }
    }

    /// Returns the bytes of all elements, in the type of [`element`](Self::element).
    pub(in crate::io) fn bytes(&self) -> Vec<u8> {
        let length = self.element().bytes() as usize;
        match self {
            Self::Real(all) => all.iter().flat_map(|number| number.to_le_bytes()).collect(),
            Self::Integer(all) => {
                all.iter().flat_map(|number| number.to_le_bytes().into_iter().take(length)).collect()
            }
            Self::Flag(all) => all.iter().map(|&flag| u8::from(flag)).collect(),
            Self::Text(all) => {
                let mut bytes = Vec::with_capacity(length * all.len());
                for (k, text) in all.iter().enumerate() {
                    bytes.extend(text.as_bytes());
                    bytes.resize(length * (k + 1), 0);
                }
                bytes
            }
        }
    }

    /// Reads a dataset of such elements with its extents.
    ///
    /// # Errors
    /// * The description is malformed.
    /// * The elements are of another type.
    /// * The elements are not in one piece.
    pub(in crate::io) fn read(input: &mut Input, object: &Object) -> Result<(Vec<u64>, Self), Error> {
        let error = |input: &Input, problem: &str| bad(input, object.byte, problem);
        let data_type = object.data(input, DATATYPE)?.unwrap_or_default();
        let data_type = Datatype::parse(&data_type).map_err(|problem| error(input, &problem))?;
        let space = object.data(input, DATASPACE)?.unwrap_or_default();
        let space = dataset::extents(&space).map_err(|problem| error(input, &problem))?;
        let size = data_type.size as usize;
        let bytes = dataset::whole(input, object, &space, data_type.size)?;
        let elements = bytes.chunks_exact(size.max(1));
        let cells = match (data_type.kind, size) {
            (Kind::Float(ByteOrder::Little), 8) => {
                Self::Real(elements.map(|bytes| f64::from_le_bytes(word(bytes, 0))).collect())
            }
            (Kind::Integer { order: ByteOrder::Little, is_signed: true }, 1..=8) => {
                let integer = |bytes: &[u8]| {
                    let is_negative = bytes.last().is_some_and(|last| last & 0x80 != 0);
                    i64::from_le_bytes(word(bytes, if is_negative { 0xff } else { 0 }))
                };
                Self::Integer(elements.map(integer).collect())
            }
            (Kind::Integer { is_signed: false, .. }, 1) => {
                Self::Flag(elements.map(|bytes| bytes != [0]).collect())
            }
            (Kind::Text, _) => Self::Text(elements.map(until_zero).collect()),
            _ => return Err(error(input, "its elements are not those of a result")),
        };
        Ok((space, cells))
    }
}

/// Fills a word of eight bytes from a shorter one.
fn word(bytes: &[u8], fill: u8) -> [u8; 8] {
    std::array::from_fn(|k| bytes.get(k).copied().unwrap_or(fill))
}
