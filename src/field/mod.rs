//! Fields on a lattice that is spread over a team of devices, or on the host.
//!
//! Nothing above this module but the stencil of [`operator`](crate::operator) knows how many devices there are.

mod carrier;
mod clover;
mod clover_blocks;
mod columns;
mod communicator;
mod courier;
mod faces;
mod gathered;
mod halo;
mod host_order;
mod key;
mod link_scale;
mod links;
mod local;
mod parity;
mod plain;
mod ranks;
mod reach;
mod site_field;
mod space;
mod spin_basis;
mod spinor;
mod spinors;
mod transfer;

pub(crate) use carrier::Carrier;
pub(crate) use clover::BlockField;
pub(crate) use clover_blocks::clover_blocks_key;
pub use columns::ColumnRecurrence;
pub(crate) use columns::{
    ColumnMatrix, GramSums, MATRIX_TILE, Matrices, PendingGram, can_end_blocks, ends_on_matrix_units,
};
pub(crate) use communicator::Communicator;
pub(crate) use faces::Received;
pub(crate) use halo::{Halo, Packing, SharedHalo};
pub(crate) use host_order::host_order_key;
pub(crate) use key::field_key;
pub use links::GaugeField;
pub(crate) use links::{GaugeStorage, LinkFormat};
pub use parity::ParityField;
pub(crate) use plain::{
    Numbers, NumbersView, buffer_of, buffer_of_mut, numbers_of, plain_spinors, set_numbers,
};
pub(crate) use site_field::Sites;
pub(crate) use space::{ColumnSpace, matrix, update_key};
pub use space::{ParitySpace, SpinorSpace};
pub use spinor::SpinorField;
pub(crate) use spinors::Spinors;
pub use spinors::{RESTORING_A_FIELD, StoredField};
pub(crate) use transfer::conversion_key;

/// Held by tests whose kernels wait for each other.
///
/// PoCL has a thread for each core. The kernels of two tests could keep all threads.
#[cfg(test)]
pub(crate) static KERNELS_WAIT: std::sync::Mutex<()> = std::sync::Mutex::new(());
