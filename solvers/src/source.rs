//! Right-hand sides whose squares under- or overflow.

use crate::VectorSpace;
use num_complex::Complex64;
use std::ops::RangeInclusive;

/// Norms of right-hand sides that are solved for.
///
/// Products of four norms, of residuals 10⁻¹⁶ times smaller, stay in the range of double precision.
const SAFE_NORMS: RangeInclusive<f64> = 1e-50..=1e50;

/// Squared norms that have lost nothing to under- or overflow.
const READABLE: RangeInclusive<f64> = 1e-280..=1e280;

/// Power of two by which a working copy is multiplied at once.
///
/// Single precision can hold it.
const STEP: i32 = 100;

/// Bound of the exponents of all numbers in double precision apart from 0.
const ALL_EXPONENTS: i32 = 1100;

/// Largest exponent whose power of two and its inverse double precision can hold.
const LARGEST_POWER: i32 = 1000;

/// The reason why a right-hand side cannot be solved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// A component is infinite or not a number.
    #[error(
        "the right-hand side b has a component that is infinite or not a number; look where it comes from"
    )]
    NotFinite,
    /// The norm is not 0, but its squares under- or overflow.
    #[error(
        "the right-hand side b is too small or too large: squares of its norm are out of the range of numbers; solve for 2^{power} b and multiply the solution by 2^{}",
        -power
    )]
    OutOfRange {
        /// The power of two that makes the norm about 1.
        power: i32,
    },
}

/// Returns the power of two that makes the norm of `b` about 1.
///
/// The power is 0 if ‖b‖ is in the range `safe`, or if every component is zero. The components
/// decide that b is zero, not the norm, whose square may underflow. `None` if a component is
/// infinite or not a number.
///
/// # Errors
/// The space's own.
pub fn power_of_source<S: VectorSpace>(
    space: &S,
    b: &S::Vector,
    safe: &RangeInclusive<f64>,
) -> Result<Option<i32>, S::Error> {
    power(space, b, norm2_of(space, b)?, safe, |x| norm2_of(space, x))
}

fn norm2_of<S: VectorSpace>(space: &S, x: &S::Vector) -> Result<f64, S::Error> {
    let [norm2] = space.read([&space.norm2(x)?])?;
    Ok(norm2.re)
}

/// Computes the power like [`power_of_source`], with the squared norm of `b` given.
///
/// `norm2_of` gives the squared norms of multiples of `b`.
fn power<S: VectorSpace>(
    space: &S,
    b: &S::Vector,
    mut norm2: f64,
    safe: &RangeInclusive<f64>,
    norm2_of: impl Fn(&S::Vector) -> Result<f64, S::Error>,
) -> Result<Option<i32>, S::Error> {
    if safe.contains(&norm2.sqrt()) {
        return Ok(Some(0));
    }
    let (mut scaled, zero) = (space.zero_vector()?, space.zero_vector()?);
    space.copy(b, &mut scaled)?;
    let step = if norm2 > 1.0 { -STEP } else { STEP };
    let factor = space.scalar(Complex64::new(2f64.powi(step), 0.0));
    let mut power: i32 = 0;
    while !READABLE.contains(&norm2) && power.abs() < ALL_EXPONENTS {
        space.xpby(&zero, &factor, &mut scaled)?;
        (norm2, power) = (norm2_of(&scaled)?, power + step);
    }
    if norm2 == 0.0 {
        return Ok(Some(0));
    }
    let to_one = || power - (norm2.log2() / 2.0).floor() as i32;
    Ok(READABLE.contains(&norm2).then(|| to_one().clamp(-LARGEST_POWER, LARGEST_POWER)))
}

/// Refuses a right-hand side that cannot be solved for.
///
/// `norm2` is its squared norm. `norm2_of` gives the squared norms of multiples of `b`.
pub(crate) fn check<S: VectorSpace>(
    space: &S,
    b: &S::Vector,
    norm2: f64,
    norm2_of: impl Fn(&S::Vector) -> Result<f64, S::Error>,
) -> Result<Result<(), SourceError>, S::Error> {
    Ok(match power(space, b, norm2, &SAFE_NORMS, norm2_of)? {
        Some(0) => Ok(()),
        Some(power) => Err(SourceError::OutOfRange { power }),
        None => Err(SourceError::NotFinite),
    })
}
