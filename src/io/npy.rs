//! Fields of complex numbers in NumPy's format.

use super::error::{Error, ErrorKind};
use super::input::Input;
use super::numbers::ByteOrder;
use super::output::Output;
use crate::scalar::Precision;
use lattice_files::npy::{self, ArrayError, Header, Kind};
use lattice_files::text::quoted;

pub(super) use lattice_files::npy::MAGIC;

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
        input.seek(0)?;
        let header = Header::read(input).map_err(|error| input.error(of_header(error)))?;
        let precision = match (header.element.kind, header.element.bytes) {
            (Kind::Complex, 16) => Precision::Double,
            (Kind::Complex, _) => Precision::Single,
            _ => return Err(input.error(other_type(&quoted(&header.descr)))),
        };
        if header.first_is_fastest {
            return Err(input.error(ErrorKind::Unsupported {
                what: "an NPY file in Fortran order".to_owned(),
                remedy: "write numpy.ascontiguousarray(array)",
            }));
        }
        let order = if header.element.is_big { ByteOrder::Big } else { ByteOrder::Little };
        Ok(Self { shape: header.shape, precision, order, byte: header.bytes })
    }

    /// Writes the header of a little-endian array.
    pub(super) fn write_header(
        output: &mut Output,
        shape: &[usize],
        precision: Precision,
    ) -> Result<(), Error> {
        output.write(&npy::header(&format!("<c{}", 2 * precision.bytes()), shape))
    }
}

fn other_type(descr: &str) -> ErrorKind {
    ErrorKind::Unsupported {
        what: format!("an NPY file of the type {descr}"),
        remedy: "write the array with complex64 or complex128",
    }
}

/// Returns the error of a header that cannot be used.
fn of_header(error: ArrayError) -> ErrorKind {
    match error {
        ArrayError::System(source) => ErrorKind::System { action: "read the file", source },
        ArrayError::ElementType { found } => other_type(&found),
        other => ErrorKind::Array(other),
    }
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
