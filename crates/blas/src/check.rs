//! Comparison of results with those of the next library, by `LATTICE_CL_BLAS_CHECK`.
//!
//! Results of such a call stay here until the next library has written its own to the caller's
//! memory, where they remain.

use crate::settings;
use lattice_compute::scalar::{Element, Precision, Real};
use num_complex::Complex;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The part of a result that two libraries must have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    Values,
    /// Absolute values: signs and phases are free.
    Sizes,
    Nothing,
}

/// Differences beyond this multiple of n ε are warned of.
const MOST: f64 = 10.0;

type Comparison = Box<dyn FnOnce() -> f64>;

thread_local! {
    /// Comparisons of the call under way in this thread.
    static KEPT: RefCell<Vec<Comparison>> = const { RefCell::new(Vec::new()) };
}

/// The results of a call, until the next library has answered.
///
/// They belong to the call: the next library may call other symbols meanwhile.
pub struct CallResults {
    comparisons: Vec<Comparison>,
    returned: Complex<f64>,
}

/// A value that a symbol returns.
pub trait ReturnValue {
    /// Returns the value in double precision.
    fn wide(&self) -> Complex<f64>;
    /// The distance of 1 from the next number, or 0 for whole numbers.
    const EPSILON: f64;
}

macro_rules! return_values {
    ($($type:ty, $epsilon:expr, |$value:ident| $wide:expr;)*) => {$(
        impl ReturnValue for $type {
            const EPSILON: f64 = $epsilon;
            fn wide(&self) -> Complex<f64> {
                let $value = *self;
                $wide
            }
        }
    )*};
}

return_values! {
    (), 0.0, |_nothing| 0.0.into();
    i32, 0.0, |number| f64::from(number).into();
    i64, 0.0, |number| (number as f64).into();
    usize, 0.0, |number| (number as f64).into();
    f32, f32::EPSILON as f64, |value| f64::from(value).into();
    f64, f64::EPSILON, |value| value.into();
    Complex<f32>, f32::EPSILON as f64, |value| value.to_complex();
    Complex<f64>, f64::EPSILON, |value| value;
}

/// Returns the ε of a type's precision.
pub fn epsilon<T: Element>() -> f64 {
    match T::Real::PRECISION {
        Precision::Single => f32::EPSILON.into(),
        Precision::Double => f64::EPSILON,
    }
}

/// Returns the largest difference of two results, over n ε times the largest number.
pub fn ratio(pairs: impl Iterator<Item = [Complex<f64>; 2]>, how: Compared, n: f64, epsilon: f64) -> f64 {
    let (mut apart, mut size) = (0.0_f64, 0.0_f64);
    for [found, expected] in pairs {
        if found == expected || (is_nan(found) && is_nan(expected)) {
            size = size.max(if expected.is_finite() { expected.norm() } else { 0.0 });
            continue;
        }
        let difference = match how {
            Compared::Values => (found - expected).norm(),
            Compared::Sizes => (found.norm() - expected.norm()).abs(),
            Compared::Nothing => 0.0,
        };
        apart = apart.max(if difference.is_finite() { difference } else { f64::INFINITY });
        size = size.max(expected.norm());
    }
    if apart == 0.0 { 0.0 } else { apart / (size * epsilon * n) }
}

fn is_nan(number: Complex<f64>) -> bool {
    number.re.is_nan() || number.im.is_nan()
}

/// Keeps a comparison until the next library has answered.
pub fn keep(comparison: impl FnOnce() -> f64 + 'static) {
    KEPT.with_borrow_mut(|kept| kept.push(Box::new(comparison)));
}

impl CallResults {
    /// Takes what the body of a call has kept, and the value that it returns.
    pub fn take<R: ReturnValue>(returned: &R) -> Self {
        Self { comparisons: KEPT.take(), returned: returned.wide() }
    }

    /// Returns the largest difference of all results of a call, in units of n ε.
    pub fn compare<R: ReturnValue>(self, expected: &R) -> f64 {
        let pair = [self.returned, expected.wide()];
        // A sum may have lost half of its digits by cancellation.
        let of_returned = ratio([pair].into_iter(), Compared::Values, 1.0, R::EPSILON.sqrt());
        self.comparisons
            .into_iter()
            .map(|comparison| comparison())
            .fold(of_returned, |most, x| if x > most || x.is_nan() { x } else { most })
    }
}

/// Drops comparisons of a call that this library has not computed.
pub fn forget() {
    if settings::share_of_checks().is_some() {
        KEPT.with_borrow_mut(Vec::clear);
    }
}

/// The comparisons of a symbol.
pub struct Checked {
    asked: AtomicU64,
    compared: AtomicU64,
    /// The bits of the largest difference, which has no sign.
    largest: AtomicU64,
}

impl Checked {
    pub const fn new() -> Self {
        Self { asked: AtomicU64::new(0), compared: AtomicU64::new(0), largest: AtomicU64::new(0) }
    }

    /// Tells whether the next call is one of the share that is compared.
    pub fn is_next(&self) -> bool {
        let Some(share) = settings::share_of_checks() else { return false };
        is_due(self.asked.fetch_add(1, Ordering::Relaxed), share)
    }

    /// Notes a difference, and warns if it is large.
    pub fn found(&self, name: &str, difference: f64) {
        self.compared.fetch_add(1, Ordering::Relaxed);
        self.largest.fetch_max(difference.to_bits(), Ordering::Relaxed);
        // Written so that a NaN is not small.
        let small = difference <= MOST;
        if !small {
            eprintln!(
                "lattice-cl-blas: warning: {name}: the device's result is {difference:.1e} times n ε from that of the \
                 next library; expect it only of solutions with ill-conditioned matrices"
            );
        }
    }

    /// Returns the number of comparisons and the largest difference.
    pub fn outcome(&self) -> (u64, f64) {
        let largest = f64::from_bits(self.largest.load(Ordering::Relaxed));
        (self.compared.load(Ordering::Relaxed), largest)
    }
}

/// Tells whether the call of this number, counted from 0, is one of a share of all.
fn is_due(number: u64, share: f64) -> bool {
    let number = number as f64;
    (number * share).floor() > ((number - 1.0) * share).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(found: &[f64], expected: &[f64], how: Compared) -> f64 {
        let pairs = found.iter().zip(expected).map(|(f, e)| [Complex::from(*f), Complex::from(*e)]);
        ratio(pairs, how, 2.0, 0.125)
    }

    #[test]
    fn a_difference_counts_beside_the_largest_number() {
        assert_eq!(of(&[1.0, 4.0], &[1.0, 4.0], Compared::Values), 0.0);
        assert_eq!(of(&[1.5, 4.0], &[1.0, 4.0], Compared::Values), 0.5);
        assert_eq!(of(&[-1.5, 4.0], &[1.0, -4.0], Compared::Sizes), 0.5);
        assert_eq!(of(&[-1.5, 4.0], &[1.0, -4.0], Compared::Nothing), 0.0);
    }

    #[test]
    fn what_is_not_finite_agrees_only_with_the_same() {
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        assert_eq!(of(&[nan, infinity], &[nan, infinity], Compared::Values), 0.0);
        assert_eq!(of(&[nan, 1.0], &[1.0, 1.0], Compared::Values), infinity);
        assert_eq!(of(&[1.0, 1.0], &[nan, 1.0], Compared::Values), infinity);
        assert_eq!(of(&[infinity, 1.0], &[1.0, 1.0], Compared::Values), infinity);
    }

    #[test]
    fn a_share_begins_with_the_first_call_and_is_spread_evenly() {
        for (share, expected) in [(1.0, 100), (0.25, 25), (0.3, 30), (0.01, 1), (0.001, 1)] {
            let due: Vec<u64> = (0..100).filter(|&number| is_due(number, share)).collect();
            assert_eq!((due.len(), due[0]), (expected, 0), "{share}");
            let longest = due.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
            assert!(longest as f64 <= (1.0 / share).ceil(), "{share}: {longest}");
        }
    }
}
