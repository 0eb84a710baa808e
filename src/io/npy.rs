//! NPY: an array of NumPy in a file.
//!
//! A file has these parts:
//! * the bytes `\x93NUMPY`;
//! * a version of two bytes;
//! * the length of the header, 16 bits in version 1 and 32 bits later;
//! * the header, a dictionary of Python with the keys `descr`, `fortran_order` and `shape`;
//! * the numbers.

use super::error::{Error, ErrorKind};
use super::input::Input;
use super::numbers::ByteOrder;
use super::output::Output;
use crate::scalar::Precision;
use lattice_files::text::quoted;

/// The first bytes of a file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Most bytes of a header that is read.
pub(super) const LONGEST_HEADER: usize = 64 << 10;

/// Most dimensions of an array, as in NumPy.
const MOST_DIMENSIONS: usize = 64;

/// The bytes that NumPy aligns the numbers to.
const ALIGNMENT: usize = 64;

/// An array of complex numbers in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    /// The extents, the slowest first.
    pub(super) shape: Vec<usize>,
    pub(super) precision: Precision,
    pub(super) order: ByteOrder,
    /// The byte of the file where the numbers begin.
    pub(super) byte: u64,
}

impl Array {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// * The header is malformed.
    /// * The numbers are not complex.
    /// * The first index runs fastest.
    pub(super) fn read(input: &mut Input) -> Result<Self, Error> {
        let start: [u8; 10] = input.array("the header of an NPY file", 0)?;
        let (length, byte) = match start[6] {
            1 => (usize::from(u16::from_le_bytes([start[8], start[9]])), 10),
            _ => (u32::from_le_bytes(input.array("the header of an NPY file", 8)?) as usize, 12),
        };
        let bad = |input: &Input, text: &str, problem: String| {
            input.error(ErrorKind::BadLine { line: 1, text: quoted(text.trim()), problem })
        };
        if length > LONGEST_HEADER {
            return Err(bad(
                input,
                "",
                format!("it has {length} bytes, and headers at most {LONGEST_HEADER}"),
            ));
        }
        let header = input.bytes("the header of an NPY file", byte, length)?;
        let text = String::from_utf8_lossy(&header).into_owned();
        let lacking = |input: &Input, key: &str| bad(input, &text, format!("it has no {key}"));
        let descr = quoted_value(&text, "descr").ok_or_else(|| lacking(input, "descr"))?;
        let (order, precision) = match descr {
            "<c16" => (ByteOrder::Little, Precision::Double),
            "<c8" => (ByteOrder::Little, Precision::Single),
            ">c16" => (ByteOrder::Big, Precision::Double),
            ">c8" => (ByteOrder::Big, Precision::Single),
            other => {
                return Err(input.error(ErrorKind::Unsupported {
                    what: format!("an NPY file of the type {}", quoted(other)),
                    remedy: "write the array with complex64 or complex128",
                }));
            }
        };
        match value(&text, "fortran_order") {
            Some(rest) if rest.starts_with("False") => {}
            Some(_) => {
                return Err(input.error(ErrorKind::Unsupported {
                    what: "an NPY file in Fortran order".to_owned(),
                    remedy: "write numpy.ascontiguousarray(array)",
                }));
            }
            None => return Err(lacking(input, "fortran_order")),
        }
        let shape =
            value(&text, "shape").and_then(shape_of).ok_or_else(|| lacking(input, "shape of numbers"))?;
        Ok(Self { shape, precision, order, byte: byte + length as u64 })
    }

    /// Writes the header of a little-endian array.
    pub(super) fn write_header(
        output: &mut Output,
        shape: &[usize],
        precision: Precision,
    ) -> Result<(), Error> {
        output.write(&header_of(&format!("<c{}", 2 * precision.bytes()), shape))
    }
}

/// Returns the bytes in front of the numbers of an array with the last index fastest.
///
/// `descr` is NumPy's name of the type.
pub(super) fn header_of(descr: &str, shape: &[usize]) -> Vec<u8> {
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

/// Returns the text behind a key of the dictionary.
pub(super) fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, after) =
        text.split_once(&format!("'{key}'")).or_else(|| text.split_once(&format!("\"{key}\"")))?;
    after.trim_start().strip_prefix(':').map(str::trim_start)
}

pub(super) fn quoted_value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let after = value(text, key)?;
    let mark = after.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    after[1..].split_once(mark).map(|(inside, _)| inside)
}

pub(super) fn shape_of(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let numbers = inside.split(',').map(str::trim).filter(|number| !number.is_empty());
    let shape: Vec<usize> =
        numbers.take(MOST_DIMENSIONS).map(|number| number.parse().ok()).collect::<Option<_>>()?;
    Some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Array, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        std::fs::write(&path, bytes).unwrap();
        Array::read(&mut Input::open(&path).unwrap())
    }

    #[test]
    fn headers_are_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        for (shape, precision) in
            [(vec![4, 8, 2, 2, 2, 3, 3], Precision::Double), (vec![2], Precision::Single)]
        {
            let mut output = Output::create(&path).unwrap();
            Array::write_header(&mut output, &shape, precision).unwrap();
            output.finish().unwrap();
            let array = Array::read(&mut Input::open(&path).unwrap()).unwrap();
            let byte = array.byte;
            assert_eq!(array, Array { shape, precision, order: ByteOrder::Little, byte });
            assert_eq!((byte % 64, byte), (0, std::fs::metadata(&path).unwrap().len()));
        }
    }

    #[test]
    fn other_arrays_are_refused_with_the_reason() {
        let file = |header: &str| {
            let length = header.len() as u16;
            read(&[MAGIC, &[1, 0], &length.to_le_bytes(), header.as_bytes()].concat())
        };
        let good = "{\"descr\": \">c8\", 'fortran_order':False, 'shape': (4,), }\n";
        assert_eq!(file(good).unwrap().shape, [4]);
        for (from, to, wanted) in [
            (">c8", "<f8", "the type <f8"),
            ("False", "True", "Fortran order"),
            ("(4,)", "(x,)", "no shape"),
            ("(4,)", "4", "no shape"),
            ("descr", "dsecr", "no descr"),
        ] {
            let error = file(&good.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
        assert!(read(b"\x93NUMPY\x01\0\xff\xff").is_err());
        assert!(read(b"\x93NUMPY\x02\0\xff\xff\xff\xff").is_err());
    }
}
