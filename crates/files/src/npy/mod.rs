//! NPY: an array of NumPy in a file.
//!
//! A file has these parts (NEP 1):
//! * the bytes `\x93NUMPY`;
//! * a version of two bytes;
//! * the length of the header, 16 bits in version 1 and 32 bits in versions 2 and 3;
//! * the header, a dictionary of Python with the keys `descr`, `fortran_order` and `shape`;
//! * the numbers.

mod array;
mod dictionary;
mod element;

pub use array::{Array, text};
pub use element::{Element, Kind};

use crate::room::NoRoom;
use crate::text::{quoted, shortened, tuple};
use std::io::{self, Read};

/// The first bytes of a file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// Most bytes of a header that is read.
const LONGEST_HEADER: usize = 64 << 10;

/// The bytes that NumPy aligns the numbers to.
const ALIGNMENT: usize = 64;

/// An array that was not read, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The system refused.
    #[error("cannot read the array: {0}")]
    System(io::Error),
    /// The header is malformed.
    #[error("the header of the array cannot be used: {problem}; write it with numpy.save")]
    Header {
        /// What is wrong.
        problem: String,
    },
    /// The elements are of a type that is not read.
    #[error("has numbers of the type {found}; write array.astype(\"f8\")")]
    ElementType {
        /// The type, as NumPy writes it.
        found: String,
    },
    /// The array ends too early, or goes on too long.
    #[error("the array {} takes {wanted} bytes, {found} are there; write the file again", shape_text(shape))]
    Size {
        /// The shape.
        shape: Vec<usize>,
        /// Bytes of the elements.
        wanted: u64,
        /// Bytes in the file.
        found: String,
    },
    /// There is not enough memory.
    #[error("the array {} does not fit: {source}", shape_text(shape))]
    NoRoom {
        /// The shape.
        shape: Vec<usize>,
        /// The memory that is wanted.
        source: NoRoom,
    },
}

impl ArrayError {
    fn header(problem: impl Into<String>) -> Self {
        Self::Header { problem: problem.into() }
    }

    /// Makes the error of a read, which may have come to the end of the data.
    fn of_header(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::header("the file ends within it"),
            _ => Self::System(error),
        }
    }

    pub(super) fn element_type(found: &str) -> Self {
        Self::ElementType { found: quoted(found) }
    }
}

/// Returns a shape as Python writes it, without the end of a long one.
fn shape_text(shape: &[usize]) -> String {
    shortened(&tuple(shape), 80)
}

/// The header of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type of the elements.
    pub element: Element,
    /// The type of the elements in NumPy's words.
    pub descr: String,
    /// Whether the first index runs fastest.
    pub first_is_fastest: bool,
    /// The extents, the slowest index first; none for a single number.
    pub shape: Vec<usize>,
    /// The bytes in front of the elements.
    pub bytes: u64,
}

impl Header {
    /// Reads the header at the beginning of a file.
    ///
    /// # Errors
    /// * The data are no array, or the header is malformed.
    /// * The elements are objects, structures or of another type that is not known.
    pub fn read(input: &mut impl Read) -> Result<Self, ArrayError> {
        let mut start = [0; 8];
        input.read_exact(&mut start).map_err(ArrayError::of_header)?;
        if !start.starts_with(MAGIC) {
            return Err(ArrayError::header("the file does not begin as an .npy file"));
        }
        let size_bytes = match start[6] {
            1 => 2,
            2 | 3 => 4,
            other => return Err(ArrayError::header(format!("version {other} is none of 1, 2 and 3"))),
        };
        let mut size = [0; 4];
        input.read_exact(&mut size[..size_bytes]).map_err(ArrayError::of_header)?;
        let length = u32::from_le_bytes(size) as usize;
        if length > LONGEST_HEADER {
            let problem = format!("it has {length} bytes, and headers at most {LONGEST_HEADER}");
            return Err(ArrayError::header(problem));
        }
        let mut header = vec![0; length];
        input.read_exact(&mut header).map_err(ArrayError::of_header)?;
        let dictionary = dictionary::parse(&String::from_utf8_lossy(&header)).map_err(ArrayError::header)?;
        let element = Element::parse(&dictionary.descr);
        let element = element.ok_or_else(|| ArrayError::element_type(&dictionary.descr))?;
        Ok(Self {
            element,
            descr: dictionary.descr,
            first_is_fastest: dictionary.fortran_order,
            shape: dictionary.shape,
            bytes: (8 + size_bytes + length) as u64,
        })
    }

    /// Returns the number of elements; `None` if no number holds it.
    pub fn count(&self) -> Option<u64> {
        self.shape.iter().try_fold(1_u64, |count, &extent| count.checked_mul(extent as u64))
    }
}

/// Returns the bytes in front of the elements of an array with the last index fastest.
///
/// `descr` is NumPy's name of the type.
pub fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let mut extents = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    if shape.len() == 1 {
        extents.push(',');
    }
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    // The header ends with a line feed, at a multiple of the alignment.
    let length = (10 + text.len() + 1).next_multiple_of(ALIGNMENT) - 10;
    text = format!("{text:<0$}\n", length - 1);
    // The header of an array of a few dimensions is far shorter than 2¹⁶ bytes.
    [MAGIC, &[1, 0], &(length as u16).to_le_bytes(), text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, text: &str) -> Vec<u8> {
        let length = (text.len() as u32).to_le_bytes();
        let length = if version == 1 { &length[..2] } else { &length[..] };
        [MAGIC, &[version, 0], length, text.as_bytes()].concat()
    }

    fn read(file: &[u8]) -> Result<Header, String> {
        Header::read(&mut &file[..]).map_err(|error| error.to_string())
    }

    #[test]
    fn headers_are_read_as_written() {
        for shape in [vec![4, 8, 2, 2, 2, 3, 3], vec![2], vec![], vec![0, 3]] {
            let bytes = header("<c16", &shape);
            let found = read(&bytes).unwrap();
            assert_eq!((&found.shape, found.bytes), (&shape, bytes.len() as u64));
            assert_eq!(found.bytes % 64, 0);
            assert!(!found.first_is_fastest);
        }
    }

    #[test]
    fn every_version_and_manner_of_writing_is_read() {
        let texts = [
            "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 4), }      \n",
            "{'shape': (3L, 4L), 'fortran_order': True, 'descr': '<f8'}",
            "{\"fortran_order\": True,\"descr\":\"<f8\",\"shape\":( 3,4,)}\n",
            "  {u'descr': u'<f8' , b'fortran_order' : True , 'shape' : (3l,\n4l)  , } ",
        ];
        for version in [1, 2, 3] {
            for text in texts {
                let found = read(&file(version, text)).unwrap();
                assert_eq!((found.shape, found.first_is_fastest), (vec![3, 4], true), "{text}");
                assert_eq!(found.element, Element { kind: Kind::Real, bytes: 8, is_big: false }, "{text}");
            }
        }
    }

    #[test]
    fn other_headers_are_refused_with_the_reason() {
        let good = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }";
        for (from, to, wanted) in [
            ("descr", "dsecr", "it has no descr"),
            ("'fortran_order': False, ", "", "it has no fortran_order"),
            ("False", "No", "it has no fortran_order"),
            ("(4,)", "(x,)", "it has no shape of numbers"),
            ("(4,)", "(-4,)", "it has no shape of numbers"),
            ("(4,)", "(99999999999999999999,)", "it has no shape of numbers"),
            ("(4,)", "4", "it has no shape of numbers"),
            ("(4,)", "(4 4)", "it has no shape of numbers"),
            ("(4,)", "(4,,4)", "it has no shape of numbers"),
            ("(4,), }", "(4,), 'more': 1}", "its key `more` is unknown"),
            ("(4,), }", "(4,), 'descr': '<f4'}", "it has descr twice"),
            (", }", "", "it does not end with }"),
            (", }", "} x", "`x` stands behind its end"),
            ("{", "", "it is no dictionary"),
            ("'<f8'", "[('a', '<f8')]", "the type [('a', '<f8')]"),
            ("<f8", "|O", "the type |O"),
            ("<f8", "<f16", "the type <f16"),
            ("<f8", "\u{1b}", "the type \u{fffd}"),
        ] {
            let error = read(&file(1, &good.replacen(from, to, 1))).unwrap_err();
            assert!(error.contains(wanted), "{error}: {wanted}");
            assert!(!error.chars().any(char::is_control), "{error:?}");
        }
        assert!(read(&file(4, good)).unwrap_err().contains("version 4"));
        assert!(read(b"\x93NUMPY\x02\0\xff\xff\xff\xff").unwrap_err().contains("4294967295 bytes"));
        assert!(read(b"\x93NUMPX\x01\0\xff\xff").unwrap_err().contains("does not begin"));
        let whole = file(1, good);
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).unwrap_err().contains("ends within"), "{end}");
        }
    }
}
