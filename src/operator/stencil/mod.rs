//! The nearest-neighbour stencil of Dirac operators.
//!
//! Its files are task, kernels, variants and application.

mod application;
mod kernels;
mod parts;
mod site_product;
mod task;
#[cfg(test)]
mod tests;
mod traversal;
mod tuning;
mod variants;

pub(crate) use application::{Fields, Stencil, work_per_site};
pub use parts::Ending;
pub(crate) use parts::{ByEnding, EndingFields};
pub(crate) use site_product::SiteProduct;
pub(crate) use task::{Region, Task};
pub(crate) use tuning::known_key;
pub use tuning::{Tuned, kernels_to_tune, steps as tuning_steps, tune_stencil};
pub use variants::Tuning;
