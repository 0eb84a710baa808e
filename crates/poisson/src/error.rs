//! Errors of Poisson's equation.

use super::cell::CellError;
use super::order::MeshOrder;
use lattice_compute::{DeviceError, NoRoom};
use lattice_files::number::shown;
use lattice_files::text::tuple;
use lattice_linalg::fft::FftError;

/// Result of solving Poisson's equation.
pub type PoissonResult<T> = Result<T, PoissonError>;

/// A potential that was not computed, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoissonError {
    /// Three vectors are no cell.
    #[error(transparent)]
    Cell(#[from] CellError),

    /// A mesh has no points.
    #[error("the mesh {extents} has no points; each extent must be at least 1", extents = tuple(.0))]
    NoPoints([usize; 3]),

    /// The density does not have a value for each mesh point.
    #[error(
        "the mesh {shape} has {wanted} points, but {found} values are given; give one value a point",
        shape = tuple(.shape)
    )]
    Length {
        /// Extents of the mesh.
        shape: [usize; 3],
        /// Number of points.
        wanted: usize,
        /// Number of values given.
        found: usize,
    },

    /// A value is infinite or none.
    #[error("value {index} of the density is {value}; all values must be finite")]
    NotFinite {
        /// Number of the value, from 0.
        index: usize,
        /// The value.
        value: f64,
    },

    /// A value has no place in single precision.
    #[error(
        "value {index} of the density is {value}, too large for single precision; take double",
        value = shown(.value)
    )]
    TooLarge {
        /// Number of the value, from 0.
        index: usize,
        /// The value.
        value: f64,
    },

    /// Free space is known for cells at right angles only.
    #[error("an isolated density needs a cell at right angles; take such a cell, or periodic boundaries")]
    SkewIsolated,

    /// Slabs are for periodic cells only.
    #[error(
        "an isolated density goes through a device as a whole; leave out-of-core transforms to periodic cells, \
         or take a coarser mesh"
    )]
    IsolatedSlabs,

    /// The order of the mesh does not divide its extents.
    #[error("{order} does not divide extent {extent} of axis {axis}; give an N that divides all extents")]
    Order {
        /// The order.
        order: MeshOrder,
        /// Number of the axis, from 1.
        axis: usize,
        /// The extent.
        extent: usize,
    },

    /// The device or the host has not the memory.
    #[error(
        "{wanted} bytes are needed on {place}, which has {available}; take slabs through the host's memory \
         (out of core, for periodic cells), a coarser mesh, single precision, or a device with more memory"
    )]
    Memory {
        /// Bytes wanted.
        wanted: u64,
        /// Bytes there.
        available: u64,
        /// The device, or `the host`.
        place: String,
    },

    /// The host has not the memory.
    #[error(transparent)]
    Room(#[from] NoRoom),

    /// The transform failed.
    #[error(transparent)]
    Fft(#[from] FftError),

    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
