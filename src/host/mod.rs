//! The host: plain lattice data, and the readable twin of every kernel.
//!
//! Everything here works on ordinary memory, sites in lexicographic order with x fastest, and says
//! the mathematics as directly as it can. It is the reference that every device kernel is tested
//! against, and what runs when there is no OpenCL device.

mod clover;
pub mod columns;
mod configuration;
mod exponential;
mod field_strength;
pub mod gamma;
mod link_field;
mod matrix3;
pub mod multigrid;
mod ordered_sum;
mod part;
mod projection;
pub mod random;
mod reconstruction;
mod search;
mod site_factor;
mod site_matrix;
mod spinor;
pub mod spinor_fields;
mod stencil;
mod time_phases;
mod unitarity;
pub mod updates;

pub use crate::compute::host::{stream, triad_bandwidth};
pub use crate::compute::{NoRoom, PeriodicNumbers, Stream, available_memory, expect_room, reserve};
pub use crate::linalg::host::{SafeSquares, gemm, level1, level2};
pub use crate::philox::{self, Philox};
pub use clover::{BlockLayout, CloverBlocks, GENERAL_NUMBERS, HERMITIAN_NUMBERS, HermitianBlock, SiteBlocks};
pub use configuration::{GaugeConfiguration, Links};
pub use field_strength::{FieldStrength, LinksOfSites, doubled_links};
pub use link_field::{LinkField, link_with_phase};
pub use matrix3::Matrix3;
pub(crate) use ordered_sum::{ordered_sum, ordered_sum_of_sites};
pub use part::{Company, LocalSites, Together};
pub use projection::ProjectionError;
pub use reconstruction::Reconstruction;
pub(crate) use search::first_index;
pub use site_factor::SiteFactor;
pub use site_matrix::{BlockUse, CloverMatrix, SiteMatrix, StoredBlocks};
pub use spinor::Spinor;
pub use stencil::{
    BlocksOfSite, StencilFactors, hop, hop_even_odd, hop_even_odd_with, stencil, stencil_with,
};
pub use time_phases::TimePhases;
pub(crate) use time_phases::{change_time_signs, signed_slices};
pub use unitarity::{Unitarity, unitarity};

/// The twins of the bandwidth kernels, and the numbers that these run on.
pub mod streams {
    pub use crate::compute::{PeriodicNumbers, Stream, random_places};
}
