//! The order of configuration numbers.

use super::problem::SeriesProblem;

/// Refuses a configuration number that is not above the one before.
pub fn expect_later(previous: Option<u64>, number: u64) -> Result<(), SeriesProblem> {
    match previous {
        Some(previous) if previous == number => Err(SeriesProblem::Repeated { number }),
        Some(previous) if previous > number => Err(SeriesProblem::Order { previous, number }),
        _ => Ok(()),
    }
}
