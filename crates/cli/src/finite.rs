//! Results without infinities and NaNs.

use crate::failure::{Failure, Status};
use num_complex::Complex64;

/// Refuses results with a number that is not finite.
///
/// Neither results nor files are written then. `what` is what the numbers are, as `the solution`.
///
/// # Errors
/// Names the first such number, counted from 0.
pub fn expect_finite(what: &str, mut numbers: impl Iterator<Item = Complex64>) -> Result<(), Failure> {
    let Some(place) = numbers.position(|number| !number.is_finite()) else { return Ok(()) };
    let message = format!("number {place} of {what}, counted from 0, is infinite or not a number");
    Err(Failure::new(Status::Failed, anyhow::Error::msg(message))
        .hint("nothing was written; multiply the input by a power of ten that brings the result into range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_that_is_not_finite_is_named() {
        let numbers = |x: f64| [1.0, x, f64::NAN].map(Complex64::from).into_iter();
        assert!(expect_finite("the solution", numbers(2.0).take(2)).is_ok());
        for x in [f64::INFINITY, f64::NAN] {
            let failure = expect_finite("the solution", numbers(x)).unwrap_err();
            assert!(format!("{failure:?}").contains("number 1 of the solution"), "{failure:?}");
        }
    }
}
