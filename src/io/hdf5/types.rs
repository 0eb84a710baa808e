//! Data types as they are written: all little-endian.

use crate::scalar::Precision;

/// The type of the elements of a dataset that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::io) enum Element {
    /// A real number.
    Real(Precision),
    /// A complex number, like in NumPy and h5py: a compound of the reals `r` and `i`.
    Complex(Precision),
    /// A whole number of so many bytes with a sign.
    Integer(u8),
    /// One byte, which is true or false.
    Byte,
    /// Text of this many bytes.
    Text(u32),
    /// Text in the global heap, as in attributes of h5py.
    VariableText,
    /// An array of such elements.
    Array(Vec<u32>, Box<Element>),
}

impl Element {
    /// Returns the bytes of an element.
    pub(in crate::io) fn bytes(&self) -> u64 {
        match self {
            Self::Real(precision) => precision.bytes() as u64,
            Self::Complex(precision) => 2 * precision.bytes() as u64,
            Self::Integer(bytes) => u64::from(*bytes),
            Self::Byte => 1,
            Self::Text(length) => u64::from(*length),
            Self::VariableText => 16,
            Self::Array(shape, of) => {
                shape.iter().map(|&extent| u64::from(extent)).product::<u64>() * of.bytes()
            }
        }
    }

    /// Returns the description of the type.
    pub(super) fn message(&self) -> Vec<u8> {
        let size = (self.bytes() as u32).to_le_bytes();
        let head = |class: u8, bits: [u8; 3]| [&[class][..], &bits, &size].concat();
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        // Class in the lower half of the first byte, version in the upper one.
        match self {
            Self::Real(Precision::Single) => {
                let properties = [0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0];
                [head(0x11, [0x20, 31, 0]), properties.to_vec()].concat()
            }
            Self::Real(Precision::Double) => {
                let properties = [0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0];
                [head(0x11, [0x20, 63, 0]), properties.to_vec()].concat()
            }
            Self::Complex(precision) => {
                let part = Self::Real(*precision);
                let member = |name: &[u8; 8], offset: u64| {
                    [&name[..], &(offset as u32).to_le_bytes(), &[0; 28], &part.message()].concat()
                };
                let members = [member(b"r\0\0\0\0\0\0\0", 0), member(b"i\0\0\0\0\0\0\0", part.bytes())];
                [head(0x16, [2, 0, 0]), members.concat()].concat()
            }
            Self::Integer(bytes) => [head(0x10, [8, 0, 0]), vec![0, 0, 8 * bytes, 0]].concat(),
            Self::Byte => [head(0x10, [0; 3]), vec![0, 0, 8, 0]].concat(),
            // Padded with zeros, UTF-8.
            Self::Text(_) => head(0x13, [0x11, 0, 0]),
            Self::VariableText => [head(0x19, [1, 1, 0]), Self::Byte.message()].concat(),
            Self::Array(shape, of) => {
                let rank = vec![shape.len() as u8, 0, 0, 0];
                [head(0x2a, [0; 3]), rank, words(shape), vec![0; 4 * shape.len()], of.message()].concat()
            }
        }
    }
}
