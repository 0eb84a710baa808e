//! Which worker does which jobs: first by expected times, then by measured ones.
//!
//! Nothing here knows devices. `times` has for each worker the seconds that it needs for each job,
//! infinite for a job that it cannot do. `fit` makes such times of a few that were measured.
//! [`Balance`] distributes jobs, and corrects the distribution after each run.

mod balance;
mod fit;
mod partition;
mod rebalance;

pub use balance::Balance;
pub use fit::{Fit, fit};
pub use partition::{partition, seconds};
pub use rebalance::{BALANCED, Move, imbalance, rebalance};
