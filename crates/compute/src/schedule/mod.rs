//! Which worker does which jobs: first by what they are expected to cost, then by measured times.
//!
//! Nothing here knows devices. A job has a cost, a worker a speed: it does a job in cost/speed.

mod partition;
mod rebalance;

pub use partition::{partition, seconds};
pub use rebalance::{BALANCED, Move, imbalance, rebalance};
