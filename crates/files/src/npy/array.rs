//! The numbers of an array.

use super::{ArrayError, Header, Kind};
use crate::room;
use std::io::{ErrorKind, Read};

/// Bytes that are read at a time; a multiple of all sizes of elements.
const PIECE: usize = 1 << 16;

/// Most bytes of an array that is a text.
const LONGEST_TEXT: u64 = 4096;

/// An array of numbers, the last index fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The extents; none for a single number.
    pub shape: Vec<usize>,
    /// The numbers; of a complex number its two parts. Truth values are 0 and 1.
    pub values: Vec<f64>,
    /// Whether the numbers are complex.
    pub is_complex: bool,
    /// Whether the numbers have no more than single precision.
    pub is_single: bool,
    /// The type of the numbers in NumPy's words.
    pub descr: String,
}

impl Array {
    /// Reads an array of numbers that takes `length` bytes, its header included.
    ///
    /// # Errors
    /// When the header is malformed, the elements are no numbers or their bytes not as many, or
    /// memory is short.
    pub fn read(input: &mut impl Read, length: u64) -> Result<Self, ArrayError> {
        let header = Header::read(input)?;
        if !header.element.is_number() {
            return Err(ArrayError::element_type(&header.descr));
        }
        let element = header.element;
        let wanted = header.count().and_then(|count| count.checked_mul(element.bytes as u64));
        let wanted = wanted.unwrap_or(u64::MAX);
        let rest = length.saturating_sub(header.bytes);
        if wanted != rest {
            return Err(ArrayError::Size { shape: header.shape, wanted, found: rest.to_string() });
        }
        let is_complex = element.kind == Kind::Complex;
        let numbers = wanted / element.bytes as u64 * if is_complex { 2 } else { 1 };
        // Numbers in another order are sorted into a second array.
        let memory = numbers.saturating_mul(if header.first_is_fastest { 16 } else { 8 });
        if let Err(source) = room::expect_room(memory) {
            return Err(ArrayError::NoRoom { shape: header.shape, source });
        }
        // Memory grows with what is read: an archive may claim more than it has.
        let mut values = Vec::new();
        let mut piece = [0; PIECE];
        let mut left = wanted;
        while left > 0 {
            let now = left.min(PIECE as u64) as usize;
            match input.read_exact(&mut piece[..now]) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    let found = format!("less than {}", wanted - left + now as u64);
                    return Err(ArrayError::Size { shape: header.shape, wanted, found });
                }
                Err(error) => return Err(ArrayError::System(error)),
            }
            element.decode(&piece[..now], &mut values);
            left -= now as u64;
        }
        if header.first_is_fastest {
            values = match is_complex {
                false => turned(&header.shape, &values),
                true => turned(&header.shape, values.as_chunks::<2>().0).into_flattened(),
            };
        }
        let is_single = matches!((element.kind, element.bytes), (Kind::Real, 2 | 4) | (Kind::Complex, 8));
        Ok(Self { shape: header.shape, values, is_complex, is_single, descr: header.descr })
    }

    /// Returns the array if its numbers are real.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`].
    pub fn real(self) -> Result<Self, ArrayError> {
        if self.is_complex { Err(ArrayError::element_type(&self.descr)) } else { Ok(self) }
    }
}

/// Reads an array of one short text.
///
/// # Errors
/// When the array is none, or is longer than a name.
pub fn text(input: &mut impl Read) -> Result<String, ArrayError> {
    let header = Header::read(input)?;
    let is_text = matches!(header.element.kind, Kind::Bytes | Kind::Unicode);
    if !is_text || header.count() != Some(1) || header.element.bytes as u64 > LONGEST_TEXT {
        return Err(ArrayError::element_type(&header.descr));
    }
    let mut bytes = vec![0; header.element.bytes];
    input.read_exact(&mut bytes).map_err(ArrayError::of_header)?;
    let text = if header.element.kind == Kind::Bytes {
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        let character = |bytes: &[u8; 4]| {
            let code =
                if header.element.is_big { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        bytes.as_chunks::<4>().0.iter().map(character).collect()
    };
    Ok(text.trim_end_matches('\0').to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, order: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), numbers].concat()
    }

    fn read(file: &[u8]) -> Result<Array, ArrayError> {
        Array::read(&mut &file[..], file.len() as u64)
    }

    #[test]
    fn arrays_of_every_order_are_read() {
        let wanted: Vec<f64> = (0..24).map(|k| f64::from(k) - 3.5).collect();
        let swapped: Vec<u8> = wanted.iter().flat_map(|value| value.to_be_bytes()).collect();
        let double: Vec<u8> = wanted.iter().flat_map(|value| value.to_le_bytes()).collect();
        let single: Vec<u8> = wanted.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect();
        for (file, is_single) in [
            (file("<f8", "False", "(2, 3, 4)", &double), false),
            (file("<f4", "False", "(2, 3L, 4)", &single), true),
            (file(">f8", "False", "(2, 3, 4)", &swapped), false),
        ] {
            let array = read(&file).unwrap().real().unwrap();
            assert_eq!(
                (array.shape, array.values, array.is_single),
                (vec![2, 3, 4], wanted.clone(), is_single)
            );
        }
        // Element (i, j, k) is number i + 2 (j + 3 k).
        let array = read(&file("<f8", "True", "(2, 3, 4)", &double)).unwrap();
        assert_eq!(array.values[(3 + 2) * 4 + 3], wanted[1 + 2 * (2 + 3 * 3)]);
        // Complex numbers keep their parts together.
        let array = read(&file("<c16", "True", "(2, 6)", &double)).unwrap();
        assert_eq!(array.values[2 * (6 + 2)..][..2], wanted[2 * (1 + 2 * 2)..][..2]);
        assert!(array.real().unwrap_err().to_string().contains("the type <c16"));
    }

    #[test]
    fn integers_and_truth_values_are_numbers() {
        for (descr, numbers, wanted) in [
            ("<i8", [-3_i64, 1 << 40].map(i64::to_le_bytes).concat(), [-3.0, (1_u64 << 40) as f64]),
            (">i4", [-3_i32, 7].map(i32::to_be_bytes).concat(), [-3.0, 7.0]),
            ("<i2", [-3_i16, 7].map(i16::to_le_bytes).concat(), [-3.0, 7.0]),
            ("|i1", vec![0xfd, 7], [-3.0, 7.0]),
            ("<u8", [3, u64::MAX].map(u64::to_le_bytes).concat(), [3.0, u64::MAX as f64]),
            ("<u4", [3, u32::MAX].map(u32::to_le_bytes).concat(), [3.0, f64::from(u32::MAX)]),
            (">u2", vec![1, 2, 0, 1], [258.0, 1.0]),
            ("|u1", vec![0xfd, 7], [253.0, 7.0]),
            ("|b1", vec![0, 1], [0.0, 1.0]),
            ("<f2", vec![0, 0x3c, 0, 0xc0], [1.0, -2.0]),
        ] {
            assert_eq!(read(&file(descr, "False", "(2,)", &numbers)).unwrap().values, wanted, "{descr}");
        }
        assert_eq!(read(&file("<f8", "False", "()", &2.5_f64.to_le_bytes())).unwrap().values, [2.5]);
        assert_eq!(read(&file("<f8", "True", "(0, 3)", &[])).unwrap().values, []);
    }

    #[test]
    fn texts_are_read() {
        let wide: Vec<u8> = "csr\0".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        for file in [file("|S4", "False", "()", b"csr\0"), file("<U4", "False", "(1,)", &wide)] {
            assert_eq!(text(&mut &file[..]).unwrap(), "csr");
        }
        for file in [file("|S3", "False", "(2,)", b"csrcsr"), file("<f8", "False", "()", &[0; 8])] {
            assert!(text(&mut &file[..]).is_err());
        }
    }

    #[test]
    fn sizes_that_are_not_those_of_the_file_are_refused() {
        let numbers = [0; 64];
        for (file, wanted) in [
            (file("|O", "False", "(8,)", &numbers), "the type |O"),
            (file("|S8", "False", "(8,)", &numbers), "the type |S8"),
            (file("<f8", "False", "(2, 2, 3)", &numbers), "takes 96 bytes, 64 are there"),
            (file("<f8", "False", "(2, 2, 1)", &numbers), "takes 32 bytes"),
            (file("<f8", "False", "(99999999999, 99999999999, 9)", &numbers), "takes 18446744073709551615"),
        ] {
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
        // Memory is asked for before the first number is read.
        let huge = file("<f4", "False", "(1099511627776, 4)", &[]);
        let error = Array::read(&mut &huge[..], huge.len() as u64 + (16 << 40)).unwrap_err();
        assert!(matches!(error, ArrayError::NoRoom { .. }), "{error}");
        // An archive that claims more than it has.
        let short = file("<f8", "False", "(100,)", &numbers);
        let error = Array::read(&mut &short[..], short.len() as u64 - 64 + 800).unwrap_err();
        assert!(error.to_string().contains("less than 800"), "{error}");
    }
}
