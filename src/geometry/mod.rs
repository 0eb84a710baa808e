//! Sites and their places: extents, boundary conditions, devices, memory.
//!
//! A [`Lattice`] ties extents to a [`Team`](crate::compute::Team). A [`Grid`] cuts the lattice into
//! boxes, and each device holds one such [`Domain`] of every field. The devices may be those of
//! several processes. Without a device the fields are plain host data.

mod anisotropy;
mod boundary;
mod dims;
mod domain;
mod field_kind;
mod grid;
mod lattice;
mod layout;
mod neighbours;
mod placement;
mod shard;

pub use anisotropy::{Anisotropy, AnisotropyError};
pub use boundary::{Boundary, BoundaryError, Theta, ThetaError};
pub use dims::{Dims, DimsError, NDIM, PLANES};
pub use domain::Domain;
pub use field_kind::FieldKind;
pub use grid::{Grid, GridError};
pub use lattice::{Lattice, LatticeError};
pub use layout::{Layout, Shape, SitePosition};
pub use neighbours::Neighbours;
pub(crate) use placement::Placement;
pub(crate) use shard::Shard;
