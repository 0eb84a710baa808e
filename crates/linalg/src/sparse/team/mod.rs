//! Sparse matrices whose rows lie on several devices.
//!
//! Each place has neighbouring rows of about the same bytes, and the same part of each vector. A
//! product first gathers the components that other places need. While they are on their way, each
//! place multiplies by the entries in its own columns. The product with the other entries follows.

mod kernels;
mod links;
mod matrix;
mod precondition;
mod rows;
mod space;
mod vector;

pub use matrix::TeamMatrix;
pub use precondition::TeamPreconditioner;
pub use space::TeamSpace;
pub use vector::TeamVector;
