//! Types of elements, and their values as real numbers.

/// The kinds of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Floating-point numbers.
    Real,
    /// Pairs of floating-point numbers.
    Complex,
    /// Integers with a sign.
    Signed,
    /// Integers without a sign.
    Unsigned,
    /// Truth values.
    Bool,
    /// Text of one byte a character.
    Bytes,
    /// Text of four bytes a character.
    Unicode,
}

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The kind.
    pub kind: Kind,
    /// Bytes of an element.
    pub bytes: usize,
    /// Whether the highest byte of a number comes first.
    pub is_big: bool,
}

impl Element {
    /// Parses NumPy's name of a type, such as `<f8`; `None` if the type is not known.
    pub(super) fn parse(descr: &str) -> Option<Self> {
        let order = descr.chars().next().filter(|c| ['<', '>', '=', '|'].contains(c));
        let name = if order.is_some() { &descr[1..] } else { descr };
        let size = name.get(1..).filter(|size| size.bytes().all(|byte| byte.is_ascii_digit()))?;
        let size: usize = size.parse().ok()?;
        let (kind, sizes): (_, &[usize]) = match name.as_bytes().first()? {
            b'f' => (Kind::Real, &[2, 4, 8]),
            b'c' => (Kind::Complex, &[8, 16]),
            b'i' => (Kind::Signed, &[1, 2, 4, 8]),
            b'u' => (Kind::Unsigned, &[1, 2, 4, 8]),
            b'b' => (Kind::Bool, &[1]),
            b'S' | b'a' => return Some(Self { kind: Kind::Bytes, bytes: size, is_big: false }),
            b'U' => {
                let bytes = size.checked_mul(4)?;
                return Some(Self { kind: Kind::Unicode, bytes, is_big: is_big(order) });
            }
            _ => return None,
        };
        sizes.contains(&size).then_some(Self { kind, bytes: size, is_big: is_big(order) })
    }

    /// Tells whether the elements are numbers or truth values.
    pub fn is_number(&self) -> bool {
        !matches!(self.kind, Kind::Bytes | Kind::Unicode)
    }

    /// Decodes whole elements; a complex number becomes its two parts.
    ///
    /// Integers beyond 2⁵³ become the nearest number.
    pub(super) fn decode(self, bytes: &[u8], values: &mut Vec<f64>) {
        let big = self.is_big;
        match (self.kind, self.bytes) {
            (Kind::Real, 2) => numbers(bytes, big, values, |bytes| half(u16::from_le_bytes(bytes))),
            (Kind::Real, 4) | (Kind::Complex, 8) => {
                numbers(bytes, big, values, |bytes| f32::from_le_bytes(bytes).into());
            }
            (Kind::Real, _) | (Kind::Complex, _) => numbers(bytes, big, values, f64::from_le_bytes),
            (Kind::Signed, 1) => numbers(bytes, big, values, |bytes| i8::from_le_bytes(bytes).into()),
            (Kind::Signed, 2) => numbers(bytes, big, values, |bytes| i16::from_le_bytes(bytes).into()),
            (Kind::Signed, 4) => numbers(bytes, big, values, |bytes| i32::from_le_bytes(bytes).into()),
            (Kind::Signed, _) => numbers(bytes, big, values, |bytes| i64::from_le_bytes(bytes) as f64),
            (Kind::Unsigned, 2) => numbers(bytes, big, values, |bytes| u16::from_le_bytes(bytes).into()),
            (Kind::Unsigned, 4) => numbers(bytes, big, values, |bytes| u32::from_le_bytes(bytes).into()),
            (Kind::Unsigned, 8) => numbers(bytes, big, values, |bytes| u64::from_le_bytes(bytes) as f64),
            (Kind::Bool, _) => numbers(bytes, big, values, |[byte]: [u8; 1]| f64::from(byte != 0)),
            (Kind::Unsigned | Kind::Bytes | Kind::Unicode, _) => {
                numbers(bytes, big, values, |[byte]: [u8; 1]| byte.into());
            }
        }
    }
}

/// Tells whether the byte order of a type has the highest byte first.
fn is_big(order: Option<char>) -> bool {
    match order {
        Some('>') => true,
        Some('<') => false,
        // That of the machine.
        _ => cfg!(target_endian = "big"),
    }
}

fn numbers<const N: usize>(
    bytes: &[u8],
    is_big: bool,
    values: &mut Vec<f64>,
    number: impl Fn([u8; N]) -> f64,
) {
    values.extend(bytes.as_chunks().0.iter().map(|bytes: &[u8; N]| {
        let mut bytes = *bytes;
        if is_big {
            bytes.reverse();
        }
        number(bytes)
    }));
}

/// Returns the value of a number in half precision (IEEE 754 binary16).
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_read() {
        let element = |kind, bytes, is_big| Some(Element { kind, bytes, is_big });
        let big = cfg!(target_endian = "big");
        for (name, wanted) in [
            ("<f8", element(Kind::Real, 8, false)),
            (">f4", element(Kind::Real, 4, true)),
            ("=f8", element(Kind::Real, 8, big)),
            ("f8", element(Kind::Real, 8, big)),
            ("|u1", element(Kind::Unsigned, 1, big)),
            ("|b1", element(Kind::Bool, 1, big)),
            ("<c16", element(Kind::Complex, 16, false)),
            ("|S3", element(Kind::Bytes, 3, false)),
            ("<U3", element(Kind::Unicode, 12, false)),
            ("|O", None),
            ("<f16", None),
            ("<c8x", None),
            ("<f+8", None),
            ("f", None),
            ("", None),
            ("ä8", None),
            ("<M8[us]", None),
        ] {
            assert_eq!(Element::parse(name), wanted, "{name}");
        }
    }

    #[test]
    fn numbers_of_half_precision_are_those_of_the_standard() {
        for (bits, wanted) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2_f64.powi(-24)),
            (0x0400, 2_f64.powi(-14)),
            (0x3555, 0.333_251_953_125),
            (0x7c00, f64::INFINITY),
            (0x8000, -0.0),
        ] {
            assert_eq!(half(bits).to_bits(), f64::to_bits(wanted), "{bits:04x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
