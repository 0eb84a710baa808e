//! Lattices.
pub mod layout;
