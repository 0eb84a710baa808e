//! Arrays of real numbers in NumPy's format.

use super::super::npy::{LONGEST_HEADER, header_of, quoted_value, shape_of, value};
use super::MeshProblem;
use crate::scalar::Precision;
use lattice_compute::expect_room;
use lattice_files::text::quoted;
use std::io::Read;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 16;

/// An array of real numbers, the last index fastest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub shape: Vec<usize>,
    /// The numbers; of a complex number its two parts.
    pub values: Vec<f64>,
    pub precision: Precision,
    pub is_complex: bool,
}

/// The types of numbers that a reader takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinds {
    Real,
    RealOrInteger,
    RealOrComplex,
    Any,
}

fn system(source: std::io::Error) -> MeshProblem {
    MeshProblem::System { action: "read the array", source }
}

impl Array {
    /// Reads an array of real numbers that takes `length` bytes, its header included.
    pub fn read(input: &mut impl Read, length: u64) -> Result<Self, MeshProblem> {
        Self::read_of(input, length, Kinds::Real)
    }

    /// Reads an array of real numbers or integers, which are exact up to 2⁵³.
    pub fn read_numbers(input: &mut impl Read, length: u64) -> Result<Self, MeshProblem> {
        Self::read_of(input, length, Kinds::RealOrInteger)
    }

    /// Reads an array of real or complex numbers.
    pub fn read_elements(input: &mut impl Read, length: u64) -> Result<Self, MeshProblem> {
        Self::read_of(input, length, Kinds::RealOrComplex)
    }

    /// Reads an array of real or complex numbers, or of integers.
    pub fn read_any(input: &mut impl Read, length: u64) -> Result<Self, MeshProblem> {
        Self::read_of(input, length, Kinds::Any)
    }

    fn read_of(input: &mut impl Read, length: u64, kinds: Kinds) -> Result<Self, MeshProblem> {
        let bad = |problem: &str| MeshProblem::ArrayHeader { problem: problem.to_owned() };
        let truncated = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => bad("the file ends within it"),
            _ => system(error),
        };
        let mut start = [0; 8];
        input.read_exact(&mut start).map_err(truncated)?;
        let mut size = [0; 4];
        let size_bytes = if start[6] == 1 { 2 } else { 4 };
        input.read_exact(&mut size[..size_bytes]).map_err(truncated)?;
        let header_length = u32::from_le_bytes(size) as usize;
        if header_length > LONGEST_HEADER {
            return Err(bad("it is too long"));
        }
        let mut header = vec![0; header_length];
        input.read_exact(&mut header).map_err(truncated)?;
        let text = String::from_utf8_lossy(&header);
        let descr = quoted_value(&text, "descr").ok_or_else(|| bad("it has no descr"))?;
        let with_complex = matches!(kinds, Kinds::RealOrComplex | Kinds::Any);
        let is_complex = with_complex && descr.get(1..2) == Some("c");
        let with_integers = matches!(kinds, Kinds::RealOrInteger | Kinds::Any);
        let (is_big, precision, number): (_, _, Decode) = match descr {
            "<c16" if is_complex => (false, Precision::Double, real),
            "<c8" if is_complex => (false, Precision::Single, real),
            ">c16" if is_complex => (true, Precision::Double, real),
            ">c8" if is_complex => (true, Precision::Single, real),
            "<f8" => (false, Precision::Double, real),
            "<f4" => (false, Precision::Single, real),
            ">f8" => (true, Precision::Double, real),
            ">f4" => (true, Precision::Single, real),
            "<i8" if with_integers => (false, Precision::Double, integer),
            "<i4" if with_integers => (false, Precision::Single, integer),
            other => return Err(MeshProblem::NumberType { found: quoted(other) }),
        };
        let order = value(&text, "fortran_order").ok_or_else(|| bad("it has no fortran_order"))?;
        let first_is_fastest = order.starts_with("True");
        let shape =
            value(&text, "shape").and_then(shape_of).ok_or_else(|| bad("it has no shape of numbers"))?;
        let count = shape.iter().try_fold(1_u64, |count, &extent| count.checked_mul(extent as u64));
        let bytes_each = precision.bytes() * if is_complex { 2 } else { 1 };
        let wanted = count.and_then(|count| count.checked_mul(bytes_each as u64)).unwrap_or(u64::MAX);
        let rest = length.saturating_sub((8 + size_bytes + header_length) as u64);
        if wanted != rest {
            return Err(MeshProblem::ArraySize { shape, wanted, found: rest.to_string() });
        }
        let bytes = wanted.saturating_mul(if first_is_fastest { 16 } else { 8 });
        expect_room(bytes).map_err(|_| MeshProblem::OutOfMemory { bytes })?;
        // Memory grows with what is read: an archive may claim more than it has.
        let mut values = Vec::new();
        let mut piece = [0; PIECE];
        let mut left = wanted;
        while left > 0 {
            let now = left.min(PIECE as u64) as usize;
            match input.read_exact(&mut piece[..now]) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                    let found = format!("less than {}", wanted - left + now as u64);
                    return Err(MeshProblem::ArraySize { shape, wanted, found });
                }
                Err(error) => return Err(system(error)),
            }
            values.extend(piece[..now].chunks_exact(precision.bytes()).map(|bytes| number(bytes, is_big)));
            left -= now as u64;
        }
        if first_is_fastest {
            values = match is_complex {
                false => turned(&shape, &values),
                true => turned(&shape, values.as_chunks::<2>().0).into_flattened(),
            };
        }
        Ok(Self { shape, values, precision, is_complex })
    }
}

/// Most bytes of an array that is a text.
const LONGEST_TEXT: u64 = 4096;

/// Reads an array of one short text in ASCII, as NumPy keeps bytes.
pub(super) fn text(input: &mut impl Read) -> Result<String, MeshProblem> {
    let bad = |problem: &str| MeshProblem::ArrayHeader { problem: problem.to_owned() };
    let mut bytes = Vec::new();
    input.take(LONGEST_TEXT).read_to_end(&mut bytes).map_err(system)?;
    let size_bytes = if bytes.get(6) == Some(&1) { 2 } else { 4 };
    let size = bytes.get(8..8 + size_bytes).ok_or_else(|| bad("the file ends within it"))?;
    let length = size.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let rest = &bytes[8 + size_bytes..];
    let (header, content) = rest.split_at_checked(length).ok_or_else(|| bad("it is too long"))?;
    let header = String::from_utf8_lossy(header);
    match quoted_value(&header, "descr") {
        Some(descr) if descr.starts_with("|S") => {
            Ok(String::from_utf8_lossy(content).trim_end_matches('\0').to_owned())
        }
        other => Err(MeshProblem::NumberType { found: quoted(other.unwrap_or_default()) }),
    }
}

/// Decodes a number of four or eight bytes, the first of which may be the highest.
type Decode = fn(&[u8], bool) -> f64;

/// Decodes an integer.
fn integer(bytes: &[u8], is_big: bool) -> f64 {
    let at = |k: usize| if is_big { bytes[bytes.len() - 1 - k] } else { bytes[k] };
    if bytes.len() == 4 {
        f64::from(i32::from_le_bytes(std::array::from_fn(at)))
    } else {
        i64::from_le_bytes(std::array::from_fn(at)) as f64
    }
}

/// Decodes a real number.
fn real(bytes: &[u8], is_big: bool) -> f64 {
    let at = |k: usize| if is_big { bytes[bytes.len() - 1 - k] } else { bytes[k] };
    if bytes.len() == 4 {
        f64::from(f32::from_le_bytes(std::array::from_fn(at)))
    } else {
        f64::from_le_bytes(std::array::from_fn(at))
    }
}

/// Turns values with the first index fastest into the order with the last index fastest.
fn turned<T: Copy>(shape: &[usize], values: &[T]) -> Vec<T> {
    let place = |number: usize| {
        let (mut rest, mut place, mut reach) = (number, 0, values.len());
        for &extent in shape.iter().rev() {
            reach /= extent;
            place += rest % extent * reach;
            rest /= extent;
        }
        place
    };
    (0..values.len()).map(|number| values[place(number)]).collect()
}

/// Returns the bytes in front of the numbers.
pub(super) fn header(shape: &[usize], precision: Precision) -> Vec<u8> {
    header_of(&format!("<f{}", precision.bytes()), shape)
}

/// Encodes values.
pub(super) fn bytes(values: &[f64], precision: Precision) -> Vec<u8> {
    match precision {
        Precision::Single => values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect(),
        Precision::Double => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, order: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), numbers].concat()
    }

    fn read(file: &[u8]) -> Result<Array, MeshProblem> {
        Array::read(&mut &file[..], file.len() as u64)
    }

    #[test]
    fn arrays_of_every_kind_are_read() {
        let wanted: Vec<f64> = (0..24).map(|k| f64::from(k) - 3.5).collect();
        let swapped: Vec<u8> = wanted.iter().flat_map(|value| value.to_be_bytes()).collect();
        let [double, single] =
            [Precision::Double, Precision::Single].map(|precision| bytes(&wanted, precision));
        for file in [
            file("<f8", "False", "(2, 3, 4)", &double),
            file("<f4", "False", "(2, 3, 4)", &single),
            file(">f8", "False", "(2, 3, 4)", &swapped),
        ] {
            let array = read(&file).unwrap();
            assert_eq!((array.shape, array.values), (vec![2, 3, 4], wanted.clone()));
        }
        // Element (i, j, k) is number i + 2 (j + 3 k).
        let array = read(&file("<f8", "True", "(2, 3, 4)", &double)).unwrap();
        assert_eq!(array.values[(3 + 2) * 4 + 3], wanted[1 + 2 * (2 + 3 * 3)]);
    }

    #[test]
    fn integers_are_read_where_they_are_wanted() {
        for (descr, numbers) in [
            ("<i8", [-3_i64, 1 << 40].map(i64::to_le_bytes).concat()),
            ("<i4", [-3_i32, 7].map(i32::to_le_bytes).concat()),
        ] {
            let file = file(descr, "False", "(2,)", &numbers);
            let array = Array::read_numbers(&mut &file[..], file.len() as u64).unwrap();
            assert_eq!(array.values[0], -3.0);
            assert_eq!(array.values[1], if descr == "<i8" { (1_u64 << 40) as f64 } else { 7.0 });
            assert!(read(&file).is_err());
        }
        let one = file("<f8", "False", "()", &2.5_f64.to_le_bytes());
        assert_eq!(read(&one).unwrap().values, [2.5]);
    }

    #[test]
    fn other_arrays_are_refused_with_the_reason() {
        let numbers = [0; 64];
        for (file, wanted) in [
            (file("<i8", "False", "(2, 2, 2)", &numbers), "the type <i8"),
            (file("<c16", "False", "(2, 2)", &numbers), "the type <c16"),
            (file("|O", "False", "(8,)", &numbers), "the type |O"),
            (file("<f8", "False", "(2, 2, 3)", &numbers), "takes 96 bytes, 64 are there"),
            (file("<f8", "False", "(2, 2, 1)", &numbers), "takes 32 bytes"),
            (file("<f8", "False", "(99999999999, 99999999999, 9)", &numbers), "takes 18446744073709551615"),
            (file("<f8", "False", "8", &numbers), "no shape"),
            (b"\x93NUMPY\x01\x00\xff".to_vec(), "ends within"),
        ] {
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
