//! Sums that finish inside a launch, and numbers that are made from them.

mod number;
mod reduction;
mod team;

pub use number::{NUMBER_SOURCE, Number, NumberMemory};
pub use reduction::{MOST_SUMS, ManySums, REDUCTION_SOURCE, REDUCTION_VALUES, Reduction};
pub use team::{Meeting, TeamSums};
