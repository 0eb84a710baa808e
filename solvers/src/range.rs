//! Numbers whose squares or products leave the range of double precision.
//!
//! A small dense computation multiplies its matrix by a power of two first, and its result by another one at
//! the end. Nothing is rounded by that. Numbers of ordinary size are taken as they are.

use num_complex::Complex64;

/// Largest exponent of numbers that are taken as they are.
///
/// Products of two of them are in range, also beside numbers that are 2⁻¹⁰⁰ times as large.
const SAFE: i32 = 400;

/// Returns the exponent of the power of two that a size is near to, or 0 if its square is in range.
///
/// The exponent is 0 for zero and for what is not finite, too.
pub fn exponent(size: f64) -> i32 {
    exponent_beyond(size, SAFE)
}

/// Returns the exponent like [`exponent()`], with another largest exponent of ordinary numbers.
pub fn exponent_beyond(size: f64, most: i32) -> i32 {
    if size <= 0.0 || !size.is_finite() {
        return 0;
    }
    let exponent = size.log2().floor() as i32;
    if exponent.abs() <= most { 0 } else { exponent }
}

/// Returns x 2ᵏ, for any k.
///
/// It goes in two steps, as 2ᵏ alone may be out of range.
pub fn times_power(x: f64, k: i32) -> f64 {
    if k == 0 {
        return x;
    }
    let half = k / 2;
    x * 2.0_f64.powi(half) * 2.0_f64.powi(k - half)
}

/// Returns z 2ᵏ, for any k.
pub fn complex_times_power(z: Complex64, k: i32) -> Complex64 {
    Complex64::new(times_power(z.re, k), times_power(z.im, k))
}

/// Returns the larger of both parts' sizes, or NaN if one is.
pub fn part_size(z: Complex64) -> f64 {
    larger(z.re.abs(), z.im.abs())
}

/// Returns the larger number, or NaN if one is.
///
/// `f64::max` drops a NaN, so that a check of the largest number would pass.
pub fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// Returns a/b, which over- or underflows only if the quotient does.
///
/// The quotient by |b|² is that of `num_complex`, to the last bit, if both have ordinary size.
pub fn quotient(a: Complex64, b: Complex64) -> Complex64 {
    let (of_a, of_b) = (exponent(part_size(a)), exponent(part_size(b)));
    if of_a == 0 && of_b == 0 {
        return a / b;
    }
    let near_one = complex_times_power(a, -of_a) / complex_times_power(b, -of_b);
    complex_times_power(near_one, of_a - of_b)
}

/// Returns √Σ |z|², which over- or underflows only if the root does.
pub fn norm(numbers: impl Iterator<Item = Complex64> + Clone) -> f64 {
    let k = exponent(numbers.clone().map(part_size).fold(0.0, larger));
    if k == 0 {
        return numbers.map(|z| z.norm_sqr()).sum::<f64>().sqrt();
    }
    let squares = numbers.map(|z| complex_times_power(z, -k).norm_sqr());
    times_power(squares.sum::<f64>().sqrt(), k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes from the smallest number to the largest.
    const EXPONENTS: [i32; 9] = [-1060, -1000, -540, -401, 0, 401, 540, 1000, 1020];

    #[test]
    fn powers_of_two_are_exact_over_the_whole_range() {
        for k in EXPONENTS {
            let x = times_power(1.25, k);
            assert_eq!(times_power(x, -k), 1.25, "{k}");
            let beyond = k.abs() > SAFE;
            assert_eq!(exponent(x), if beyond { k } else { 0 });
        }
        assert_eq!(times_power(times_power(1.5, -1000), 2000), times_power(1.5, 1000));
        for size in [0.0, f64::INFINITY, f64::NAN] {
            assert_eq!(exponent(size), 0);
        }
        assert_eq!(exponent(5e-324), -1074);
    }

    #[test]
    fn quotients_are_those_of_ordinary_numbers_times_a_power_of_two() {
        let (a, b) = (Complex64::new(1.3, -0.7), Complex64::new(-0.4, 2.1));
        for (k, l) in EXPONENTS.into_iter().flat_map(|k| EXPONENTS.map(|l| (k, l))) {
            if k == -1060 || l == -1060 || (k - l).abs() > 1000 {
                continue;
            }
            let found = quotient(complex_times_power(a, k), complex_times_power(b, l));
            assert_eq!(found, complex_times_power(a / b, k - l), "{k} {l}");
        }
        assert_eq!(quotient(a, b), a / b);
        assert_eq!(quotient(Complex64::ZERO, complex_times_power(b, 1000)), Complex64::ZERO);
        assert!(quotient(a, Complex64::ZERO).re.is_nan() || !quotient(a, Complex64::ZERO).is_finite());
    }

    #[test]
    fn norms_over_and_underflow_only_with_their_numbers() {
        let numbers = [Complex64::new(3.0, 0.0), Complex64::new(0.0, -4.0)];
        for k in EXPONENTS {
            let scaled = numbers.map(|z| complex_times_power(z, k));
            assert_eq!(norm(scaled.into_iter()), times_power(5.0, k), "{k}");
        }
        assert_eq!(norm([].into_iter()), 0.0);
        assert!(norm([Complex64::new(f64::NAN, 1.0), Complex64::ONE].into_iter()).is_nan());
    }

    #[test]
    fn the_larger_of_two_is_no_number_if_one_is_none() {
        assert_eq!([larger(1.0, 2.0), larger(2.0, 1.0)], [2.0, 2.0]);
        assert!(larger(f64::NAN, 1.0).is_nan() && larger(1.0, f64::NAN).is_nan());
    }
}
