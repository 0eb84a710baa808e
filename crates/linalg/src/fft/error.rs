//! Errors of Fourier transforms.

use lattice_compute::DeviceError;
use lattice_files::text::tuple;

/// Result of Fourier transforms.
pub type FftResult<T> = Result<T, FftError>;

/// A Fourier transform that was not started, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FftError {
    /// A transform has one to four axes.
    #[error("a transform has one to four axes, {found} found; transform further axes by a plan of their own")]
    Axes {
        /// Axes given.
        found: usize,
    },

    /// An extent, or the number of arrays in a batch, is zero.
    #[error("{what} is 0; every extent and the batch must be at least 1")]
    Zero {
        /// What is zero.
        what: String,
    },

    /// The shape has more elements than can be counted.
    #[error(
        "the shape {extents} × {batch} has more elements than can be counted; take smaller extents",
        extents = tuple(.extents)
    )]
    TooMany {
        /// Extents of the shape.
        extents: Vec<usize>,
        /// Arrays in the batch.
        batch: usize,
    },

    /// A layout has not one stride for each axis.
    #[error("the layout of the {side} has {found} strides, the shape {wanted} axes; give one stride an axis")]
    Strides {
        /// `input` or `output`.
        side: &'static str,
        /// Axes of the shape.
        wanted: usize,
        /// Strides given.
        found: usize,
    },

    /// Elements of a layout that is written share memory.
    #[error(
        "the layout of the {side}, strides {} and distance {distance}, puts several elements in one place; \
         give larger strides",
        tuple(strides)
    )]
    Overlap {
        /// `input` or `output`.
        side: &'static str,
        /// Strides of the axes.
        strides: Vec<usize>,
        /// Distance between arrays of a batch.
        distance: usize,
    },

    /// The array does not fit into its buffer.
    #[error("the {side} ends at element {wanted}, but its buffer has {found}; give a larger buffer")]
    BufferTooShort {
        /// `input`, `output` or `data`.
        side: &'static str,
        /// Number of elements that the array reaches to.
        wanted: usize,
        /// Elements in the buffer.
        found: usize,
    },

    /// A transform in place needs one layout for both sides.
    #[error(
        "{operation}: input and output have different layouts; give one layout, or transform out of place"
    )]
    NotInPlace {
        /// The operation.
        operation: &'static str,
    },

    /// The operand is on another device than the plan.
    #[error("the {side} is on device {found}, the plan on device {wanted}; both must be on one device")]
    OtherDevice {
        /// `input`, `output` or `data`.
        side: &'static str,
        /// Device of the plan.
        wanted: String,
        /// Device of the operand.
        found: String,
    },

    /// The device cannot transform an axis of this length.
    #[error(
        "an axis of {length} elements is too long: {device} transforms up to {longest} (other lengths than products of \
         2, 3, 5, 7, 11 and 13 need twice as much); cut the axis"
    )]
    TooLong {
        /// Length of the axis.
        length: usize,
        /// Longest length that the device transforms.
        longest: usize,
        /// The device.
        device: String,
    },

    /// The transform needs more memory than the device has.
    #[error(
        "{wanted} bytes are needed beside the data, {device} has {available}; take a smaller batch or shape"
    )]
    Memory {
        /// Bytes needed by the plan.
        wanted: u64,
        /// Bytes of the device.
        available: u64,
        /// The device.
        device: String,
    },

    /// The device failed, or does not take the kernels.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
