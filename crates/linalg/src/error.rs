//! Errors of matrix operations.

use super::op::Op;
use lattice_compute::DeviceError;
use lattice_files::text::tuple;

/// Result of the operations on matrices.
pub type BlasResult<T> = Result<T, BlasError>;

/// A matrix operation that was not started, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BlasError {
    /// The leading dimension is shorter than a line.
    #[error(
        "leading dimension of a {order} {rows}×{columns} matrix: at least {wanted} wanted, {found} found; it is the \
         distance in elements from one {line} to the next"
    )]
    LeadingDimension {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
        /// `column-major` or `row-major`.
        order: &'static str,
        /// `column` or `row`.
        line: &'static str,
        /// Least leading dimension.
        wanted: usize,
        /// Leading dimension given.
        found: usize,
    },

    /// The matrix does not fit into its buffer.
    #[error(
        "a {rows}×{columns} matrix with leading dimension {leading_dimension} and offset {offset} ends at element \
         {wanted}, but the buffer has {found} elements; give a larger buffer or a smaller matrix"
    )]
    BufferTooShort {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
        /// Elements between lines.
        leading_dimension: usize,
        /// First element.
        offset: usize,
        /// Number of elements that the matrix reaches to.
        ///
        /// `usize::MAX` if the number overflows.
        wanted: usize,
        /// Elements in the buffer.
        found: usize,
    },

    /// A part of a matrix reaches past the matrix's end.
    #[error("{extent} {start}..{end} do not lie in a matrix with {found} {extent}")]
    OutOfMatrix {
        /// `rows` or `columns`.
        extent: &'static str,
        /// First row or column of the part.
        start: usize,
        /// One past the last row or column of the part.
        end: usize,
        /// Number of rows or columns of the matrix.
        found: usize,
    },

    /// A vector has no distance between its elements.
    #[error(
        "a vector of {len} elements has stride 0; it is the distance in elements from one to the next, at least 1"
    )]
    NoStride {
        /// Elements of the vector.
        len: usize,
    },

    /// The vector does not fit into its buffer.
    #[error(
        "a vector of {elements} elements with stride {stride} and offset {offset} ends at element {wanted}, but the buffer has \
         {found} elements; give a larger buffer or a shorter vector"
    )]
    VectorTooLong {
        /// Elements of the buffer from one element of the vector to the next.
        elements: usize,
        /// Elements of the buffer from one to the next.
        stride: usize,
        /// First element.
        offset: usize,
        /// Number of elements that the vector reaches to.
        ///
        /// `usize::MAX` if the number overflows.
        wanted: usize,
        /// Elements in the buffer.
        found: usize,
    },

    /// A batch was given to an operation that works on one matrix.
    #[error("{operation} works on one matrix, a batch of {found} was given")]
    SingleMatrix {
        /// The operation.
        operation: &'static str,
        /// Matrices given.
        found: usize,
    },

    /// The matrices of a batch do not all fit into their buffer.
    #[error(
        "{count} matrices, {stride} elements apart, end at element {wanted}, but the buffer has {found} elements; give a \
         larger buffer, fewer matrices or a smaller stride"
    )]
    BatchTooLong {
        /// Matrices in the batch.
        count: usize,
        /// Elements from one matrix to the next.
        stride: usize,
        /// Number of elements that the batch reaches to.
        ///
        /// `usize::MAX` if the number overflows.
        wanted: usize,
        /// Elements in the buffer.
        found: usize,
    },

    /// The matrices of a batch to be written share elements.
    #[error(
        "the {count} matrices of a batch that is written have elements in common: a stride of at least {wanted} keeps them apart, \
         {found} found"
    )]
    BatchOverlaps {
        /// Matrices in the batch.
        count: usize,
        /// Elements that one matrix spans: a stride that is always enough.
        wanted: usize,
        /// Stride given.
        found: usize,
    },

    /// The batches of one call differ in length.
    #[error(
        "{operation}: C is a batch of {wanted} matrices, {operand} one of {found}; they must be equally many"
    )]
    BatchCount {
        /// The operation.
        operation: &'static str,
        /// `A` or `B`.
        operand: &'static str,
        /// Matrices in C.
        wanted: usize,
        /// Matrices in the operand.
        found: usize,
    },

    /// An extent of an operand does not fit the others.
    #[error("{operation}: {operand} must have {wanted} {extent} ({reason}), {found} found")]
    Shape {
        /// The operation.
        operation: &'static str,
        /// The operand, with its transposition.
        operand: String,
        /// `rows`, `columns`, `elements` or `matrices`.
        extent: &'static str,
        /// Wanted number.
        wanted: usize,
        /// Found number.
        found: usize,
        /// Origin of the wanted number.
        reason: &'static str,
    },

    /// A matrix that must be square is not.
    #[error("{operation}: {operand} must be square, {rows}×{columns} found")]
    NotSquare {
        /// The operation.
        operation: &'static str,
        /// The operand.
        operand: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },

    /// The operation does not have this way for the operand to enter.
    #[error("{operation}: op must be {wanted}, {found:?} found")]
    WrongOp {
        /// The operation.
        operation: &'static str,
        /// The given [`Op`].
        found: Op,
        /// The values of [`Op`] that the operation has.
        wanted: &'static str,
    },

    /// An operand is on another device than C.
    #[error(
        "{operation}: {operand} is on device {found}, the result on device {wanted}; all must be on one device"
    )]
    OtherDevice {
        /// The operation.
        operation: &'static str,
        /// The operand.
        operand: &'static str,
        /// Device of the result.
        wanted: String,
        /// Device of the operand.
        found: String,
    },

    /// A product without terms or without a result has no fastest kernel.
    #[error("m, n and k are {extents}: a product to be tuned has none that is 0", extents = tuple(.extents))]
    NothingToTune {
        /// m, n and k.
        extents: [usize; 3],
    },

    /// This device, element type or shape cannot have the kernel variant.
    #[error("kernel variant {variant} cannot be used: {reason}")]
    Variant {
        /// The variant.
        variant: String,
        /// The reason.
        reason: String,
    },

    /// The call has not one value for each device of the team.
    #[error("the team has {wanted} devices, but the call has shares, rates, kernels or matrices for {found}")]
    TeamSize {
        /// Devices of the team.
        wanted: usize,
        /// Number of devices that the call has values for.
        found: usize,
    },

    /// A device of a team failed in the middle of a product.
    #[error(
        "the product is not finished: {device}, number {member} of the team, failed; {written} of {elements} elements of C are written, the \
         others are as they were: {source}"
    )]
    Unfinished {
        /// The device that failed.
        device: String,
        /// The device's place in the team, from 0.
        member: usize,
        /// Elements of C that are written.
        written: usize,
        /// All elements of C.
        elements: usize,
        /// The error of the device.
        source: Box<BlasError>,
    },

    /// A matrix to be factorised by Cholesky's method is not positive definite.
    #[error(
        "the {rows}×{rows} matrix is not positive definite: its leading minor of order {order} is not positive; \
         solve with LU factors"
    )]
    NotPositiveDefinite {
        /// Order of the first leading minor that is not positive.
        order: usize,
        /// Rows of the matrix.
        rows: usize,
    },

    /// A matrix to be inverted has a pivot that is exactly zero.
    #[error("the {rows}×{rows} matrix is singular: pivot {pivot} of its LU factors is exactly zero")]
    Singular {
        /// The first such pivot, counted from 1.
        pivot: usize,
        /// Rows of the matrix.
        rows: usize,
    },

    /// A least squares problem has a matrix without full rank.
    #[error("the {rows}×{columns} matrix has not full rank: diagonal element {column} of R is exactly zero")]
    RankDeficient {
        /// The first such element, counted from 1.
        column: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },

    /// The watch over a product ended it.
    #[error("the product was ended with {written} of {elements} elements of C written")]
    Interrupted {
        /// Elements of C that are written.
        written: usize,
        /// All elements of C.
        elements: usize,
    },

    /// An array whose elements do not lie side by side.
    #[error("the elements of the {rows}×{columns} array have gaps between them; copy it with to_owned()")]
    Gaps {
        /// Rows of the array.
        rows: usize,
        /// Columns of the array.
        columns: usize,
    },

    /// The watch over a factorisation ended it.
    #[error("the factorisation was ended with {columns} of {all} columns finished")]
    Ended {
        /// Columns that are finished.
        columns: usize,
        /// All columns of the matrix.
        all: usize,
    },

    /// The device failed, or does not take the kernels.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Returns the name of an operand as it enters a product: `A`, `Aᵀ` or `Aᴴ`.
pub(super) fn operand_name(name: &str, op: Op) -> String {
    match op {
        Op::N => name.to_owned(),
        Op::T => format!("{name}ᵀ"),
        Op::C => format!("{name}ᴴ"),
    }
}
