//! The checksums of SciDAC, NERSC, MILC and PyQUDA files.
//!
//! All of them combine one number for each site (or word) by an operation that commutes. Sites can
//! therefore be summed in any order, in parallel.

use super::numbers::ByteOrder;
use lattice_files::text::printable;
use serde::Serialize;

/// Most characters that are shown of sums that cannot be read.
const LONGEST_QUOTE: usize = 60;

/// The checksum of a file, and the checksum of its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checksum {
    /// `scidac`, `nersc`, `milc` or `pyquda`.
    pub kind: &'static str,
    /// The sums that the file carries, in hexadecimal.
    ///
    /// If the sums cannot be read, the text in their place.
    pub stored: String,
    /// The sums of the file's data.
    pub computed: String,
    /// `true` if the two checksums agree.
    pub ok: bool,
}

impl Checksum {
    /// Makes the checksum of a file whose sums cannot be read.
    ///
    /// `stored` is the text in the place of the sums.
    pub(super) fn unreadable(method: Method, stored: &str, computed: Sums) -> Self {
        let stored: String = printable(stored).chars().take(LONGEST_QUOTE).collect();
        Self { kind: method.name(), stored, computed: method.text(computed), ok: false }
    }

    /// Makes one checksum of those of several parts of a file.
    pub(super) fn of_parts(parts: &[Self]) -> Option<Self> {
        let joined = |text: fn(&Self) -> &str| parts.iter().map(text).collect::<Vec<_>>().join(", ");
        Some(Self {
            kind: parts.first()?.kind,
            stored: joined(|part| &part.stored),
            computed: joined(|part| &part.computed),
            ok: parts.iter().all(|part| part.ok),
        })
    }

    pub(super) fn new(method: Method, stored: Sums, computed: Sums) -> Self {
        let ok = stored == computed;
        Self { kind: method.name(), stored: method.text(stored), computed: method.text(computed), ok }
    }
}

/// Two sums. NERSC has one sum, and leaves the other at zero.
pub(super) type Sums = [u32; 2];

/// The rule by which a checksum is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// The exclusive or of CRC-32 sums of sites, rotated.
    ///
    /// c is the CRC-32 of a site as stored, and r its lexicographic number. One sum takes c rotated
    /// left by r mod 29, the other by r mod 31.
    SciDac,
    /// The sum modulo 2³² of all 32-bit words, in the byte order of the file.
    Nersc(ByteOrder),
    /// The exclusive or of 32-bit words, rotated.
    ///
    /// w is a word in the byte order of the file, and r its place in the data. One sum takes w
    /// rotated left by r mod 29, the other by r mod 31.
    Milc(ByteOrder),
    /// The exclusive or of all 32-bit words of a site, rotated like the sums of SciDAC.
    PyQuda,
}

impl Method {
    /// The sums of no data at all.
    pub(super) const NOTHING: Sums = [0, 0];

    /// Returns the sums of one site, the `rank`-th, as stored.
    pub(super) fn of_site(self, rank: u64, bytes: &[u8]) -> Sums {
        match self {
            Method::SciDac => rotated(crc32fast::hash(bytes), rank),
            Method::PyQuda => {
                let words = bytes.chunks_exact(4).map(|word| ByteOrder::Little.u32(word));
                rotated(words.fold(0, |sum, word| sum ^ word), rank)
            }
            Method::Nersc(order) => {
                [bytes.chunks_exact(4).fold(0, |sum: u32, word| sum.wrapping_add(order.u32(word))), 0]
            }
            Method::Milc(order) => {
                let first = rank * (bytes.len() / 4) as u64;
                (first..)
                    .zip(bytes.chunks_exact(4))
                    .map(|(place, word)| rotated(order.u32(word), place))
                    .fold(Self::NOTHING, |a, b| self.combine(a, b))
            }
        }
    }

    /// Returns the sums of two sets of sites together.
    pub(super) fn combine(self, a: Sums, b: Sums) -> Sums {
        match self {
            Method::Nersc(_) => [a[0].wrapping_add(b[0]), 0],
            Method::SciDac | Method::Milc(_) | Method::PyQuda => [a[0] ^ b[0], a[1] ^ b[1]],
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Method::SciDac => "scidac",
            Method::Nersc(_) => "nersc",
            Method::Milc(_) => "milc",
            Method::PyQuda => "pyquda",
        }
    }

    fn text(self, [a, b]: Sums) -> String {
        match self {
            Method::Nersc(_) => format!("{a:08x}"),
            Method::SciDac | Method::Milc(_) | Method::PyQuda => format!("{a:08x} {b:08x}"),
        }
    }
}

/// Parses hexadecimal digits of 32 bits, which may begin with `0x`.
pub(super) fn hexadecimal(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    // The function of the standard library accepts a sign as well.
    let only_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    only_digits.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

fn rotated(word: u32, rank: u64) -> Sums {
    [word.rotate_left((rank % 29) as u32), word.rotate_left((rank % 31) as u32)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_combine_in_any_order() {
        let site = |rank: u64| [(rank * 37 + 5) as u8; 24];
        for method in [Method::SciDac, Method::Nersc(ByteOrder::Big), Method::Milc(ByteOrder::Little)] {
            let sum = |ranks: &[u64]| {
                ranks
                    .iter()
                    .map(|&rank| method.of_site(rank, &site(rank)))
                    .fold(Method::NOTHING, |a, b| method.combine(a, b))
            };
            assert_eq!(sum(&[0, 1, 2, 3, 40]), sum(&[40, 2, 0, 3, 1]));
            assert_ne!(sum(&[0, 1, 2, 3, 40]), sum(&[0, 1, 2, 3]));
        }
    }

    #[test]
    fn the_place_of_a_word_counts_in_scidac_and_milc_sums() {
        let (a, b) = ([1, 0, 0, 0], [2, 0, 0, 0]);
        for method in [Method::SciDac, Method::Milc(ByteOrder::Little)] {
            let sum = |first, second| method.combine(method.of_site(0, first), method.of_site(1, second));
            assert_ne!(sum(&a, &b), sum(&b, &a));
        }
    }
}
