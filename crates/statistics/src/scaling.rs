//! Sums of squares that neither overflow nor vanish.

/// Returns the power of two near the largest size of the values, 1 if all are zero.
///
/// Values divided by it are at most 2, and division by a power of two is exact. Powers near the
/// ends of the range are left out, so that it has a reciprocal.
pub(crate) fn power_of_two(values: impl IntoIterator<Item = f64>) -> f64 {
    let largest = values.into_iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return 1.0;
    }
    // These are the exponent's bits. Those of subnormal numbers are 0.
    let exponent = (largest.to_bits() >> 52).clamp(2, 2044);
    f64::from_bits(exponent << 52)
}

/// Returns the mean of values, exact for constant ones.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let Some(&first) = values.first() else { return f64::NAN };
    // Deviations from one of the values are small, and zero where all are equal.
    let scale = power_of_two(values.iter().copied());
    let count = values.len() as f64;
    let about = |origin: f64| values.iter().map(|value| (value / scale) - origin).sum::<f64>() / count;
    let rough = first / scale + about(first / scale);
    (rough + if rough == first / scale { 0.0 } else { about(rough) }) * scale
}

/// Returns the square root of the sum of squares.
pub(crate) fn norm(values: &[f64]) -> f64 {
    let scale = power_of_two(values.iter().copied());
    values.iter().map(|value| (value / scale).powi(2)).sum::<f64>().sqrt() * scale
}
