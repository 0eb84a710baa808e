//! Data types: numbers, text, pairs of numbers, and arrays of these.

use super::bytes::Bytes;
use crate::io::numbers::ByteOrder;
use crate::scalar::Precision;

/// Most levels of types within types.
const MOST_LEVELS: usize = 4;

/// Most members of a compound.
const MOST_MEMBERS: u32 = 64;

/// The type of an element of a dataset or an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::io) struct Datatype {
    /// Bytes of an element.
    pub(super) size: u64,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Float(ByteOrder),
    /// A whole number without unused bits.
    Integer {
        order: ByteOrder,
        is_signed: bool,
    },
    Text,
    /// Text in the global heap.
    VariableText,
    /// Members with their offsets.
    Compound(Vec<(u64, Datatype)>),
    Array(Vec<u64>, Box<Datatype>),
    /// Another class.
    Other(u8),
}

/// Numbers to an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::io) struct Numbers {
    /// The extents of the arrays in an element.
    pub(in crate::io) shape: Vec<u64>,
    pub(in crate::io) precision: Precision,
    pub(in crate::io) order: ByteOrder,
    pub(in crate::io) is_complex: bool,
}

impl Datatype {
    pub(super) fn parse(data: &[u8]) -> Result<Self, String> {
        Self::next(&mut Bytes(data), MOST_LEVELS)
    }

    fn next(bytes: &mut Bytes<'_>, levels: usize) -> Result<Self, String> {
        let levels = levels.checked_sub(1).ok_or("a data type has too many levels")?;
        let first = bytes.u8()?;
        let (class, version) = (first & 15, first >> 4);
        let bits = bytes.number(3)?;
        let size = u64::from(bytes.u32()?);
        let kind = match class {
            0 => {
                let properties = bytes.take(4)?;
                let bits_used = u64::from(u16::from_le_bytes([properties[2], properties[3]]));
                match properties[..2] == [0; 2] && bits_used == 8 * size {
                    true => Kind::Integer {
                        order: if bits & 1 == 0 { ByteOrder::Little } else { ByteOrder::Big },
                        is_signed: bits & 8 != 0,
                    },
                    false => Kind::Other(class),
                }
            }
            1 => {
                let properties = bytes.take(12)?;
                // Offset 0, and the precision, exponent and mantissa of IEEE 754.
                let wanted: [u8; 8] = match size {
                    4 => [0, 0, 32, 0, 23, 8, 0, 23],
                    8 => [0, 0, 64, 0, 52, 11, 0, 52],
                    _ => [0; 8],
                };
                match bits & 0x41 {
                    _ if properties[..8] != wanted => Kind::Other(class),
                    0 => Kind::Float(ByteOrder::Little),
                    1 => Kind::Float(ByteOrder::Big),
                    _ => Kind::Other(class),
                }
            }
            3 => Kind::Text,
            6 => Kind::Compound(Self::members(bytes, version, bits, size, levels)?),
            9 if bits & 15 == 1 => Kind::VariableText,
            10 => {
                let rank = usize::from(bytes.u8()?);
                let mut shape = Vec::new();
                if version < 3 {
                    bytes.take(3)?;
                }
                for _ in 0..rank {
                    shape.push(u64::from(bytes.u32()?));
                }
                if version < 3 {
                    bytes.take(4 * rank)?;
                }
                Kind::Array(shape, Box::new(Self::next(bytes, levels)?))
            }
            other => Kind::Other(other),
        };
        Ok(Self { size, kind })
    }

    fn members(
        bytes: &mut Bytes<'_>,
        version: u8,
        bits: u64,
        size: u64,
        levels: usize,
    ) -> Result<Vec<(u64, Self)>, String> {
        let count = bits as u32 & 0xffff;
        if count > MOST_MEMBERS {
            return Err(format!("a compound has {count} members, and at most {MOST_MEMBERS} are read"));
        }
        let mut members = Vec::new();
        for _ in 0..count {
            let length = bytes.text()?.len() + 1;
            if version < 3 {
                bytes.take(length.next_multiple_of(8) - length)?;
            }
            let wide = match size {
                _ if version < 3 => 4,
                0..=0xff => 1,
                0x100..=0xffff => 2,
                0x1_0000..=0xff_ffff => 3,
                _ => 4,
            };
            let offset = bytes.number(wide)?;
            if version == 1 {
                bytes.take(28)?;
            }
            members.push((offset, Self::next(bytes, levels)?));
        }
        Ok(members)
    }

    /// Returns the numbers of an element, if it holds nothing else.
    ///
    /// A complex number is a compound of its real and its imaginary part.
    pub(super) fn numbers(&self) -> Option<Numbers> {
        match &self.kind {
            Kind::Float(order) => {
                let precision = if self.size == 4 { Precision::Single } else { Precision::Double };
                Some(Numbers { shape: Vec::new(), precision, order: *order, is_complex: false })
            }
            Kind::Compound(members) => {
                let [(0, re), (offset, im)] = &members[..] else { return None };
                let part =
                    re.numbers().filter(|part| re == im && !part.is_complex && part.shape.is_empty())?;
                (*offset == re.size && self.size == 2 * re.size)
                    .then_some(Numbers { is_complex: true, ..part })
            }
            Kind::Array(extents, of) => {
                let mut numbers = of.numbers()?;
                let bytes = extents.iter().try_fold(of.size, |bytes, &extent| bytes.checked_mul(extent));
                numbers.shape.splice(0..0, extents.iter().copied());
                (bytes == Some(self.size)).then_some(numbers)
            }
            Kind::Integer { .. } | Kind::Text | Kind::VariableText | Kind::Other(_) => None,
        }
    }
}
