//! Errors of reading functions on meshes.

use std::path::{Path, PathBuf};

/// A file with a function on a mesh that was not read, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct MeshError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub problem: MeshProblem,
}

impl MeshError {
    pub(super) fn new(path: &Path, problem: MeshProblem) -> Self {
        Self { path: path.to_owned(), problem }
    }
}

/// Why a file with a function on a mesh was not read. Values are counted from 0, lines from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshProblem {
    /// The operating system refused.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The answer of the system.
        source: std::io::Error,
    },
    /// The path leads to a folder, a pipe or a device.
    #[error("is not a regular file; name a file")]
    NotAFile,
    /// There is nothing in the file.
    #[error("the file is empty; write it again")]
    Empty,
    /// A line of a cube file's header is none.
    #[error("line {line}, `{text}`: {wanted}; name a .cube, .npy or .npz file")]
    Header {
        /// The line.
        line: usize,
        /// The beginning of its text.
        text: String,
        /// What should be there.
        wanted: &'static str,
    },
    /// A word among the values is no number.
    #[error("value {index} is `{text}`, which is no number; write the file again")]
    NotANumber {
        /// The number of the value.
        index: usize,
        /// The word.
        text: String,
    },
    /// A value is infinite or none.
    #[error("value {index} is {value}; all values must be finite")]
    NotFinite {
        /// The number of the value.
        index: usize,
        /// The value.
        value: f64,
    },
    /// There are too few or too many values.
    #[error("has {found} values, and the mesh of its header {wanted}; write the file again")]
    Count {
        /// Values of the mesh.
        wanted: usize,
        /// Values found, or one more than wanted.
        found: String,
    },
    /// Each point has several values.
    #[error("has {found} values at each point; write one function a file")]
    SeveralValues {
        /// The number of values.
        found: usize,
    },
    /// The header of an array is malformed.
    #[error("the header of the array cannot be used: {problem}; write it with numpy.save")]
    ArrayHeader {
        /// What is wrong.
        problem: String,
    },
    /// The numbers of an array are of a type that is not read.
    #[error("has numbers of the type {found}; write array.astype(\"f8\")")]
    NumberType {
        /// The type, as NumPy writes it.
        found: String,
    },
    /// The array ends too early, or goes on too long.
    #[error("the array {shape:?} takes {wanted} bytes, {found} are there; write the file again")]
    ArraySize {
        /// The shape.
        shape: Vec<usize>,
        /// Bytes of the numbers.
        wanted: u64,
        /// Bytes found.
        found: String,
    },
    /// The array is not three-dimensional.
    #[error("has an array of the shape {shape:?}; a mesh has three extents")]
    NotThreeDimensional {
        /// The shape.
        shape: Vec<usize>,
    },
    /// The file has one array without a name, or none.
    #[error("has no array `{name}`: only .npz files have arrays with names")]
    NoArrays {
        /// The name that was looked for.
        name: String,
    },
    /// There is no array of the name.
    #[error("has no array `{name}`; its arrays are: {}", found.join(", "))]
    NoSuchArray {
        /// The name that was looked for.
        name: String,
        /// The names in the file.
        found: Vec<String>,
    },
    /// An array has another shape than the others ask for.
    #[error("the array `{name}` has the shape {found:?}, {wanted:?} wanted")]
    OtherShape {
        /// The name.
        name: String,
        /// The shape that it should have.
        wanted: Vec<usize>,
        /// The shape that it has.
        found: Vec<usize>,
    },
    /// The archive is damaged, or of a kind that is not read.
    #[error("the archive cannot be used: {problem}; write it with numpy.savez")]
    Archive {
        /// What is wrong.
        problem: String,
    },
    /// The arrays are not those of a sparse matrix.
    #[error("has no sparse matrix that can be used: {problem}; write it with scipy.sparse.save_npz")]
    SparseMatrix {
        /// What is wrong.
        problem: String,
    },
    /// There is not enough memory.
    #[error("the values take {bytes} bytes of memory, which this process may not have")]
    OutOfMemory {
        /// The bytes.
        bytes: u64,
    },
}
