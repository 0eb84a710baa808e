//! Options and results of lattices that commands and benchmarks share.

mod failures;
mod fields_in_memory;
pub mod input;
pub mod stencil_storages;
pub mod variants;
