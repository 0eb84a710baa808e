//! Numbers of a density on their way to a device's precision and back, by all threads of the host.
//!
//! Threads take pieces with plain loops. To ask each number whether the search for a bad one is over
//! would take fifty times as long as to look at the number.

use super::error::{PoissonError, PoissonResult};
use lattice_compute::parallel::*;
use lattice_compute::scalar::{Precision, Real};

/// Numbers that a thread takes at a time.
const PIECE: usize = 1 << 14;

/// Largest value of a density in single precision.
const LARGEST_SINGLE: f64 = 1e30;

fn largest(precision: Precision) -> f64 {
    match precision {
        Precision::Single => LARGEST_SINGLE,
        Precision::Double => f64::MAX,
    }
}

/// Returns `true` if all values are finite and have a place in a precision.
fn all_fit(values: &[f64], largest: f64) -> bool {
    values.iter().fold(true, |fit, value| fit & (value.abs() <= largest))
}

/// Returns the error for the first value that does not fit, the first one being number `first`.
fn misfit(values: &[f64], first: usize, largest: f64) -> PoissonResult<()> {
    let fits = |value: &f64| value.abs() <= largest;
    match values.iter().position(|value| !fits(value)) {
        Some(at) if values[at].is_finite() => {
            Err(PoissonError::TooLarge { index: first + at, value: values[at] })
        }
        Some(at) => Err(PoissonError::NotFinite { index: first + at, value: values[at] }),
        None => Ok(()),
    }
}

/// Checks that all values are finite and have a place in a precision.
///
/// # Errors
/// [`PoissonError::NotFinite`]; [`PoissonError::TooLarge`].
pub(crate) fn check(values: &[f64], precision: Precision) -> PoissonResult<()> {
    let largest = largest(precision);
    match values.par_chunks(PIECE).all(|piece| all_fit(piece, largest)) {
        true => Ok(()),
        false => misfit(values, 0, largest),
    }
}

/// Rounds values, the first of which is number `first` of a density, and checks them in passing.
///
/// # Errors
/// All errors of [`check`]. The rounded values are of no use then.
pub(crate) fn round<T: Real>(values: &[f64], first: usize, rounded: &mut [T]) -> PoissonResult<()> {
    let largest = largest(T::PRECISION);
    let pieces = rounded.par_chunks_mut(PIECE).zip(values.par_chunks(PIECE));
    let fit = pieces.map(|(rounded, values)| {
        // Two loops over a piece in cache: the compiler makes vectors of each.
        rounded.iter_mut().zip(values).for_each(|(rounded, &value)| *rounded = T::from_f64(value));
        all_fit(values, largest)
    });
    if fit.reduce(|| true, |a, b| a & b) { Ok(()) } else { misfit(values, first, largest) }
}

/// Writes values of a device in double.
pub(crate) fn widen<T: Real>(found: &[T], values: &mut [f64]) {
    values.par_chunks_mut(PIECE).zip(found.par_chunks(PIECE)).for_each(|(values, found)| {
        values.iter_mut().zip(found).for_each(|(value, &found)| *value = found.to_f64());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_that_does_not_fit_is_named() {
        let mut values = vec![0.5; 3 * PIECE + 7];
        let mut rounded = vec![0_f32; values.len()];
        round(&values, 0, &mut rounded).unwrap();
        assert!(rounded.iter().all(|&value| value == 0.5));
        let mut widened = vec![0.0; values.len()];
        widen(&rounded, &mut widened);
        assert_eq!(widened, values);

        values[2 * PIECE + 1] = -1e31;
        values[3 * PIECE + 2] = f64::NAN;
        let found = PoissonError::TooLarge { index: 5 + 2 * PIECE + 1, value: -1e31 };
        assert_eq!(round(&values, 5, &mut rounded), Err(found));
        check(&values[..3 * PIECE], Precision::Double).unwrap();
        assert!(check(&values[..3 * PIECE], Precision::Single).is_err());
        let found = check(&values, Precision::Double);
        assert!(matches!(found, Err(PoissonError::NotFinite { index, .. }) if index == 3 * PIECE + 2));
        values[0] = f64::NEG_INFINITY;
        let found = round(&values, 7, &mut rounded);
        assert!(matches!(found, Err(PoissonError::NotFinite { index: 7, .. })));
    }
}
