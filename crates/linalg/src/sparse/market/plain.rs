//! The quick way for lines as most programs write them.
//!
//! A line is plain if it has row, column and value of an entry of a coordinate file, between blanks,
//! with nothing unusual about it. All other lines, right or wrong, are left to
//! [`body`](super::body).

use super::header::{Field, Header, Layout, Symmetry};
use crate::host::level1::Arithmetic;
use crate::sparse::coo::Entry;
use lattice_files::number;
use num_complex::Complex64;

/// Reads a plain line at the beginning of a text. Returns its entry and its length with the end.
pub(super) fn entry<T: Arithmetic>(header: &Header, text: &[u8]) -> Option<(Entry<T>, usize)> {
    if header.layout != Layout::Coordinate {
        return None;
    }
    let mut line = Cursor { text, at: 0 };
    let (row, column) = (line.index(header.rows)?, line.index(header.columns)?);
    // On and above the diagonal the symmetry decides what is allowed.
    if header.symmetry != Symmetry::General && column > row {
        return None;
    }
    if row == column && matches!(header.symmetry, Symmetry::SkewSymmetric | Symmetry::Hermitian) {
        return None;
    }
    let value = match header.field {
        Field::Pattern => T::from_complex(Complex64::from(1.0)),
        Field::Real => T::from_complex(line.real()?.into()),
        Field::Integer => T::from_complex(number::integer(line.word()?)?.into()),
        Field::Unsigned => T::from_complex(number::unsigned(line.word()?)?.into()),
        Field::Complex => T::from_complex(Complex64::new(line.real()?, line.real()?)),
    };
    line.end().map(|length| (Entry { row, column, value }, length))
}

/// A place in a text.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn blanks(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Reads an index of at most nine digits from 1 to `most`, and returns it from 0.
    fn index(&mut self, most: usize) -> Option<u32> {
        self.blanks();
        let (first, mut index) = (self.at, 0_u32);
        while let Some(digit) = self.text.get(self.at).map(|byte| byte.wrapping_sub(b'0')).filter(|d| *d < 10)
        {
            if self.at - first == 9 {
                return None;
            }
            index = 10 * index + u32::from(digit);
            self.at += 1;
        }
        let ends = matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n'));
        (ends && index >= 1 && index as usize <= most).then(|| index - 1)
    }

    /// Reads a word, which a blank or the end of the line ends.
    fn word(&mut self) -> Option<&'a [u8]> {
        self.blanks();
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))?;
        self.at += length;
        Some(&rest[..length])
    }

    /// Reads a finite number.
    fn real(&mut self) -> Option<f64> {
        self.blanks();
        if let Some((value, length)) = number::short(&self.text[self.at..]) {
            self.at += length;
            return Some(value);
        }
        number::real(self.word()?).filter(|value| value.is_finite())
    }

    /// Passes the end of the line, and returns the length of the line with it.
    fn end(mut self) -> Option<usize> {
        self.blanks();
        let rest = &self.text[self.at..];
        match rest {
            [b'\n', ..] => Some(self.at + 1),
            [b'\r', b'\n', ..] => Some(self.at + 2),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(field: Field, symmetry: Symmetry) -> Header {
        Header { layout: Layout::Coordinate, field, symmetry, rows: 20, columns: 20, stored: 9 }
    }

    #[test]
    fn plain_lines_are_read_and_others_are_left() {
        let real = header(Field::Real, Symmetry::General);
        let found = |text: &str| entry::<f64>(&real, text.as_bytes());
        let of = |row, column, value, length| Some((Entry { row, column, value }, length));
        assert_eq!(found("3 4 -1.25\n5"), of(2, 3, -1.25, 10));
        assert_eq!(found(" 20\t1  1.0000000000000002e-3 \r\nx"), of(19, 0, 1.000_000_000_000_000_2e-3, 31));
        assert_eq!(found("1 1 1.5D+01\n"), of(0, 0, 15.0, 12));
        for other in [
            "0 1 1\n",
            "21 1 1\n",
            "1 1\n",
            "1 1 1 1\n",
            "1 1 nan\n",
            "1 1 1e999\n",
            "1 1 x\n",
            "% 1\n",
            "\n",
            "1 1 1",
            "-1 1 1\n",
            "1.0 1 1\n",
            "1 0000000001 1\n",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
        let lower = header(Field::Complex, Symmetry::Hermitian);
        let found = entry::<Complex64>(&lower, b"2 1 0.5 -2\n");
        assert_eq!(found, Some((Entry { row: 1, column: 0, value: Complex64::new(0.5, -2.0) }, 11)));
        for text in ["1 2 1 1\n", "1 1 1 0\n", "2 1 1\n"] {
            assert_eq!(entry::<Complex64>(&lower, text.as_bytes()), None);
        }
        let ones = entry::<f64>(&header(Field::Pattern, Symmetry::Symmetric), b"2 2\n");
        assert_eq!(ones, Some((Entry { row: 1, column: 1, value: 1.0 }, 4)));
        let integer = header(Field::Integer, Symmetry::General);
        assert_eq!(entry::<f64>(&integer, b"1 1 -7\n").map(|(entry, _)| entry.value), Some(-7.0));
        assert_eq!(entry::<f64>(&integer, b"1 1 7.0\n"), None);
        let unsigned = header(Field::Unsigned, Symmetry::General);
        assert_eq!(entry::<f64>(&unsigned, b"1 1 7\n").map(|(entry, _)| entry.value), Some(7.0));
        assert_eq!(entry::<f64>(&unsigned, b"1 1 -7\n"), None);
    }
}
