//! Numbers as bytes: byte order and precision.

use crate::scalar::Real;
use num_complex::Complex;

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ByteOrder {
    /// Most significant byte first.
    Big,
    /// Least significant byte first.
    Little,
}

impl ByteOrder {
    /// Returns the opposite order.
    pub(super) fn other(self) -> Self {
        match self {
            ByteOrder::Big => ByteOrder::Little,
            ByteOrder::Little => ByteOrder::Big,
        }
    }

    /// Reads an unsigned number from the first four bytes.
    pub(super) fn u32(self, bytes: &[u8]) -> u32 {
        let bytes = take(bytes);
        match self {
            ByteOrder::Big => u32::from_be_bytes(bytes),
            ByteOrder::Little => u32::from_le_bytes(bytes),
        }
    }

    /// Returns the four bytes of an unsigned number.
    pub(super) fn u32_bytes(self, value: u32) -> [u8; 4] {
        match self {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        }
    }
}

impl std::fmt::Display for ByteOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            ByteOrder::Big => "big",
            ByteOrder::Little => "little",
        })
    }
}

/// A real number that files can hold.
pub(super) trait Stored: Real {
    /// Reads the number in the first bytes.
    fn get(order: ByteOrder, bytes: &[u8]) -> Self;

    /// Puts the number into the first bytes.
    fn put(self, order: ByteOrder, bytes: &mut [u8]);

    /// Reads the complex number at place `index` of a row, real part first.
    fn get_complex(order: ByteOrder, bytes: &[u8], index: usize) -> Complex<Self> {
        let size = size_of::<Self>();
        let at = &bytes[2 * index * size..];
        Complex::new(Self::get(order, at), Self::get(order, &at[size..]))
    }

    /// Puts a complex number at place `index` of a row, real part first.
    fn put_complex(value: Complex<Self>, order: ByteOrder, bytes: &mut [u8], index: usize) {
        let size = size_of::<Self>();
        let at = &mut bytes[2 * index * size..];
        value.re.put(order, at);
        value.im.put(order, &mut at[size..]);
    }
}

macro_rules! stored {
    ($real:ty) => {
        impl Stored for $real {
            fn get(order: ByteOrder, bytes: &[u8]) -> Self {
                match order {
                    ByteOrder::Big => <$real>::from_be_bytes(take(bytes)),
                    ByteOrder::Little => <$real>::from_le_bytes(take(bytes)),
                }
            }

            fn put(self, order: ByteOrder, bytes: &mut [u8]) {
                let word = match order {
                    ByteOrder::Big => self.to_be_bytes(),
                    ByteOrder::Little => self.to_le_bytes(),
                };
                bytes[..word.len()].copy_from_slice(&word);
            }
        }
    };
}

stored!(f32);
stored!(f64);

/// Returns the first `N` bytes.
///
/// The callers' buffers have the size that they take from them.
fn take<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|k| bytes[k])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_read_as_it_was_written() {
        let value = Complex::new(-1.25e-3, f64::MIN_POSITIVE);
        let mut bytes = [0; 48];
        for order in [ByteOrder::Big, ByteOrder::Little] {
            f64::put_complex(value, order, &mut bytes, 2);
            assert_eq!(f64::get_complex(order, &bytes, 2), value);
        }
        1.5f32.put(ByteOrder::Big, &mut bytes);
        assert_eq!(bytes[..4], [0x3f, 0xc0, 0, 0]);
        assert_eq!(ByteOrder::Little.u32(&bytes), 0x0000_c03f);
    }
}
