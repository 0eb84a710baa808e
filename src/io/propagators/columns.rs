//! The numbers of a site: those of one solution, or of all twelve.
//!
//! One solution is [spin][colour]. Twelve are [sink spin][source spin][sink colour][source colour].

use super::record::COLUMNS;
use crate::host::Spinor;
use crate::io::checksum::Sums;
use crate::io::error::Error;
use crate::io::input::Input;
use crate::io::numbers::{ByteOrder, Stored};
use crate::io::payload::{Fill, Payload};
use crate::scalar::Precision;
use num_complex::Complex;

/// The fields of columns, one after the other.
pub(super) type Fields = Vec<Vec<Spinor<f64>>>;

/// The storage of the numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) precision: Precision,
    pub(super) order: ByteOrder,
}

/// Returns spin and colour of the sources of all columns, in order.
pub(super) fn sources() -> [(usize, usize); COLUMNS] {
    std::array::from_fn(|column| (column / 3, column % 3))
}

/// Returns the place of a number at its site, in complex numbers.
fn place(columns: usize, column: usize, spin: usize, colour: usize) -> usize {
    match columns {
        1 => 3 * spin + colour,
        _ => 9 * (4 * spin + column / 3) + 3 * colour + column % 3,
    }
}

impl Layout {
    /// Returns the bytes of a site with all columns.
    pub(super) fn site_bytes(self) -> usize {
        COLUMNS * self.spinor_bytes()
    }

    /// Returns the bytes of a spinor.
    pub(super) fn spinor_bytes(self) -> usize {
        Spinor::<f64>::REALS * self.precision.bytes()
    }

    /// Reads one column or all of them, and the sums of the bytes.
    ///
    /// Each column gets a field of its own. Besides the fields only chunks of the file are in
    /// memory.
    pub(super) fn read(
        self,
        input: &mut Input,
        payload: &Payload<'_>,
        fill: &mut Fill<'_>,
        columns: usize,
    ) -> Result<(Fields, Sums), Error> {
        let mut fields = (0..columns).map(|_| payload.room(input, 1)).collect::<Result<Fields, _>>()?;
        let sums = payload.stream(input, fill, |first, bytes| {
            for (column, field) in fields.iter_mut().enumerate() {
                payload.decode(bytes, &mut field[first..], 1, |bytes, spinor| {
                    spinor[0] = self.decode(bytes, columns, column);
                });
            }
        })?;
        Ok((fields, sums))
    }

    fn decode(self, bytes: &[u8], columns: usize, column: usize) -> Spinor<f64> {
        Spinor::from_fn(|spin, colour| {
            let at = place(columns, column, spin, colour);
            match self.precision {
                Precision::Single => {
                    let value = f32::get_complex(self.order, bytes, at);
                    Complex::new(f64::from(value.re), f64::from(value.im))
                }
                Precision::Double => f64::get_complex(self.order, bytes, at),
            }
        })
    }

    /// Encodes the spinor of one column.
    pub(super) fn encode(self, spinor: &Spinor<f64>, bytes: &mut [u8]) {
        for (index, value) in spinor.0.iter().flatten().enumerate() {
            match self.precision {
                Precision::Single => {
                    let value = Complex::new(value.re as f32, value.im as f32);
                    f32::put_complex(value, self.order, bytes, index);
                }
                Precision::Double => f64::put_complex(*value, self.order, bytes, index),
            }
        }
    }

    /// Puts the encoded spinor of a column among those of all columns.
    pub(super) fn put_column(self, spinor: &[u8], column: usize, bytes: &mut [u8]) {
        let size = 2 * self.precision.bytes();
        for (index, number) in spinor.chunks_exact(size).enumerate() {
            let at = size * place(COLUMNS, column, index / 3, index % 3);
            bytes[at..at + size].copy_from_slice(number);
        }
    }
}
