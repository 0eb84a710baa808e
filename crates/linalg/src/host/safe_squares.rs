//! Sums of squares whose root neither overflows nor underflows.

use std::ops::AddAssign;

/// Σ x² in three parts: of small, medium and large numbers.
///
/// Each part is scaled so that its squares are normal numbers.
///
/// The method is by J. L. Blue, ACM Trans. Math. Softw. 4, 15 (1978), with the limits of E.
/// Anderson, ACM Trans. Math. Softw. 44, 12 (2017). The reference BLAS has it since version 3.10.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SafeSquares {
    /// Σ (x 2⁻⁵³⁸)² of the numbers above 2⁴⁸⁶.
    pub large: f64,
    /// Σ x² of the numbers in between, and of NaNs.
    pub medium: f64,
    /// Σ (x 2⁵³⁷)² of the numbers below 2⁻⁵¹¹.
    pub small: f64,
}

/// Returns 2 to an integer power that a normal number has.
const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

const LARGE: f64 = power_of_two(486);
const LARGE_SCALE: f64 = power_of_two(-538);
const SMALL: f64 = power_of_two(-511);
const SMALL_SCALE: f64 = power_of_two(537);

impl SafeSquares {
    /// Adds the square of a number.
    pub fn add(&mut self, x: f64) {
        let size = x.abs();
        if size > LARGE {
            self.large += (size * LARGE_SCALE).powi(2);
        } else if size < SMALL {
            self.small += (size * SMALL_SCALE).powi(2);
        } else {
            self.medium += size * size;
        }
    }

    /// Returns √Σ x².
    ///
    /// The root is infinite or NaN only if a number is, or if the root itself is too large.
    pub fn root(self) -> f64 {
        let Self { large, medium, small } = self;
        if large > 0.0 {
            (large + medium * LARGE_SCALE * LARGE_SCALE).sqrt() / LARGE_SCALE
        } else if small > 0.0 && medium != 0.0 {
            let (medium, small) = (medium.sqrt(), small.sqrt() / SMALL_SCALE);
            // A NaN is the larger one.
            let (least, most) = if small > medium { (medium, small) } else { (small, medium) };
            most * (1.0 + (least / most).powi(2)).sqrt()
        } else if small > 0.0 {
            small.sqrt() / SMALL_SCALE
        } else {
            medium.sqrt()
        }
    }
}

impl AddAssign for SafeSquares {
    fn add_assign(&mut self, other: Self) {
        self.large += other.large;
        self.medium += other.medium;
        self.small += other.small;
    }
}

impl std::iter::Sum for SafeSquares {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut sum, part| {
            sum += part;
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(numbers: &[f64]) -> f64 {
        let mut sum = SafeSquares::default();
        numbers.iter().for_each(|&x| sum.add(x));
        sum.root()
    }

    #[test]
    fn roots_neither_overflow_nor_underflow() {
        for (numbers, expected) in [
            (&[][..], 0.0),
            (&[0.0, -0.0], 0.0),
            (&[3.0, 4.0], 5.0),
            (&[3e200, 4e200], 5e200),
            (&[-3e-170, 4e-170], 5e-170),
            (&[1e308], 1e308),
            (&[5e-324], 5e-324),
            (&[f64::MIN_POSITIVE, 0.0], f64::MIN_POSITIVE),
            (&[1e200, 1.0, 1e-200], 1e200),
            (&[3e-154, 4e-154], 5e-154),
            (&[1e-3, 1e-200], 1e-3),
        ] {
            let found = root(numbers);
            assert!((found - expected).abs() <= 4.0 * f64::EPSILON * expected, "{numbers:?}: {found}");
        }
        assert_eq!(root(&[f64::MAX, f64::MAX]), f64::INFINITY);
    }

    #[test]
    fn infinities_and_nans_propagate() {
        for other in [0.0, 1.0, 1e-200, 1e200] {
            assert_eq!(root(&[other, f64::NEG_INFINITY]), f64::INFINITY);
            assert!(root(&[f64::NAN, other]).is_nan());
            assert!(root(&[f64::NAN, other, f64::INFINITY]).is_nan());
        }
    }
}
