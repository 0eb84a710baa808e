//! The twins of the bandwidth kernels, and the numbers that they run on.
//!
//! The kernels are in `cl/streams.cl` and `cl/access.cl`.

use crate::parallel::*;
use crate::philox::Philox;
use crate::scalar::Real;
use serde::Serialize;

/// One way to go through memory in a row; a, b and c are arrays, s is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Σ b
    Read,
    /// a = s
    Write,
    /// a = b
    Copy,
    /// a = s b
    Scale,
    /// a = b + c
    Add,
    /// a = b + s c
    Triad,
    /// Σ b c
    Dot,
}

lattice_files::words! {
    Stream, "stream":
    Read = "read"; Write = "write"; Copy = "copy"; Scale = "scale"; Add = "add"; Triad = "triad"; Dot = "dot"
}

impl Stream {
    /// The number s of all kernels that have one.
    ///
    /// The number has few bits in no base, so that rounding shows.
    pub const FACTOR: f64 = 0.3;

    /// Returns the number of arrays that the stream goes through.
    pub fn arrays(self) -> usize {
        match self {
            Self::Read | Self::Write => 1,
            Self::Copy | Self::Scale | Self::Dot => 2,
            Self::Add | Self::Triad => 3,
        }
    }

    /// Returns `true` if the result is one number, and `false` if it is the array a.
    ///
    /// The number is the sum of [`Stream::value`] over the arrays.
    pub fn is_sum(self) -> bool {
        matches!(self, Self::Read | Self::Dot)
    }

    /// Returns an element of a, or a term of the sum.
    #[inline]
    pub fn value<T: Real>(self, b: T, c: T) -> T {
        let factor = T::from_f64(Self::FACTOR);
        match self {
            Self::Write => factor,
            Self::Read | Self::Copy => b,
            Self::Scale => factor * b,
            Self::Add => b + c,
            Self::Triad => b + factor * c,
            Self::Dot => b * c,
        }
    }

    /// Returns the largest distance of a device's element from [`Stream::value`].
    ///
    /// The distance is 0 except for the triad, which may or may not round its product.
    pub fn tolerance<T: Real>(self, c: T) -> T {
        let one = T::one();
        if self == Self::Triad {
            (one + one) * T::epsilon() * (one + (T::from_f64(Self::FACTOR) * c).abs())
        } else {
            T::zero()
        }
    }

    /// Sums `len` elements of type `T` from number `start` on, in double.
    ///
    /// Returns the sum, and the sum of the magnitudes of its terms.
    pub fn sum<T: Real>(
        self,
        b: &PeriodicNumbers,
        c: &PeriodicNumbers,
        start: usize,
        len: usize,
    ) -> (f64, f64) {
        assert_eq!(b.period(), c.period(), "the terms have the period of the numbers");
        let over = |len: usize| -> (f64, f64) {
            let pieces = len.div_ceil(PIECE);
            let parts: Vec<(f64, f64)> = (0..pieces)
                .into_par_iter()
                .map(|piece| {
                    let begin = piece * PIECE;
                    self.sum_of_piece::<T>(b, c, start + begin, PIECE.min(len - begin))
                })
                .collect();
            (compensated(parts.iter().map(|part| part.0)), parts.iter().map(|part| part.1).sum())
        };
        let (periods, rest) = (len / b.period(), over(len % b.period()));
        let whole = if periods > 0 { over(b.period()) } else { (0.0, 0.0) };
        (periods as f64 * whole.0 + rest.0, periods as f64 * whole.1 + rest.1)
    }

    fn sum_of_piece<T: Real>(
        self,
        b: &PeriodicNumbers,
        c: &PeriodicNumbers,
        start: usize,
        len: usize,
    ) -> (f64, f64) {
        let terms = || {
            b.stretches(start, len).zip(c.stretches(start, len)).flat_map(move |(b, c)| {
                let number = |x: f64| T::from_f64(x).to_f64();
                b.iter().zip(c).map(move |(&b, &c)| self.value(number(b), number(c)))
            })
        };
        (compensated(terms()), terms().map(f64::abs).sum())
    }
}

/// Number of terms that are added one after another.
///
/// The sums of pieces are added in their order.
const PIECE: usize = 1 << 16;

/// Returns a compensated sum (Neumaier, 1974), better than the sum that it checks.
fn compensated(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}

/// Random numbers between −1 and 1, repeated without end.
///
/// For memory periodic numbers are as good as random. Any number is known without keeping all.
#[derive(Clone, Debug)]
pub struct PeriodicNumbers(Vec<f64>);

impl PeriodicNumbers {
    /// The period of the numbers that measurements use.
    ///
    /// The period is a prime, so that no two stretches of equal parts agree.
    pub const PERIOD: usize = 1_048_573;

    /// Makes the numbers of one stream of a seed. Streams are independent.
    pub fn new(stream: u32, period: usize) -> Self {
        let number = |i| 2.0 * Philox::new(0x00ba_d5ea, stream, i as u64).uniform() - 1.0;
        Self((0..period).into_par_iter().map(number).collect())
    }

    /// Returns number `i`.
    pub fn at<T: Real>(&self, i: usize) -> T {
        T::from_f64(self.0[i % self.0.len()])
    }

    /// Returns the `len` numbers from `start` on, in stretches that lie side by side.
    ///
    /// Numbers of equal periods are cut alike.
    pub fn stretches(&self, start: usize, len: usize) -> impl Iterator<Item = &[f64]> {
        let (mut place, mut left) = (start % self.0.len(), len);
        std::iter::from_fn(move || {
            let taken = left.min(self.0.len() - place);
            let stretch = &self.0[place..place + taken];
            left -= taken;
            place = 0;
            (taken > 0).then_some(stretch)
        })
    }

    /// Returns the first `len` numbers, written by the threads of rayon.
    pub fn repeated<T: Real>(&self, len: usize) -> Vec<T> {
        (0..len).into_par_iter().map(|i| self.at(i)).collect()
    }

    /// Returns the period: the count of numbers before they repeat.
    pub fn period(&self) -> usize {
        self.0.len()
    }

    /// Returns one period.
    pub fn to_vec<T: Real>(&self) -> Vec<T> {
        self.0.iter().copied().map(T::from_f64).collect()
    }
}

/// Returns `count` random places in an array of `len` elements.
///
/// The list is for random access. The places are evenly distributed and independent.
pub fn random_places(count: usize, len: u32) -> Vec<u32> {
    let place = |i| (Philox::new(0x00ba_d5ea, 7, i as u64).uniform() * f64::from(len)) as u32;
    (0..count).into_par_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_over_periods_is_the_sum_over_elements() {
        let (b, c) = (PeriodicNumbers::new(1, 101), PeriodicNumbers::new(2, 101));
        for (start, len) in [(0, 7), (5, 101), (99, 1000), (100, 0)] {
            for stream in [Stream::Read, Stream::Dot] {
                let (sum, magnitudes) = stream.sum::<f64>(&b, &c, start, len);
                let terms: Vec<f64> = (start..start + len).map(|i| stream.value(b.at(i), c.at(i))).collect();
                let expected: f64 = terms.iter().sum();
                assert!((sum - expected).abs() <= 1e-13 * magnitudes, "{stream:?} {start}+{len}");
                let expected: f64 = terms.iter().map(|term| term.abs()).sum();
                assert!((magnitudes - expected).abs() <= 1e-13 * magnitudes, "{stream:?} {start}+{len}");
            }
        }
    }

    #[test]
    fn stretches_are_the_numbers_in_their_order() {
        let numbers = PeriodicNumbers::new(1, 101);
        for (start, len) in [(0, 7), (5, 101), (99, 1000), (100, 0), (100, 1), (202, 202)] {
            let found: Vec<f64> = numbers.stretches(start, len).flatten().copied().collect();
            let expected: Vec<f64> = (start..start + len).map(|i| numbers.at(i)).collect();
            assert_eq!(found, expected, "{start}+{len}");
        }
    }

    #[test]
    fn numbers_repeat_and_streams_differ() {
        let (b, c) = (PeriodicNumbers::new(1, 13), PeriodicNumbers::new(2, 13));
        assert_eq!(b.at::<f64>(3), b.at::<f64>(3 + 13 * 1000));
        let [b, c] = [b, c].map(|numbers| numbers.to_vec::<f64>());
        assert!((0..12).all(|i| b[i] != c[i] && b[i].abs() < 1.0 && b[i] != b[i + 1]));
    }

    #[test]
    fn random_places_are_everywhere_inside() {
        let places = random_places(10_000, 10);
        for place in 0..10 {
            let count = places.iter().filter(|&&p| p == place).count();
            // Five standard deviations, √(10⁴ · 0.1 · 0.9) = 30.
            assert!(count.abs_diff(1000) < 150, "{place}: {count}");
        }
        assert!(places.iter().all(|&place| place < 10));
    }
}
