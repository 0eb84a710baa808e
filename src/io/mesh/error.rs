//! Errors of reading functions on meshes.

use lattice_files::npy::ArrayError;
use lattice_files::npz::ArchiveError;
use lattice_files::room::NoRoom;
use lattice_files::text;
use std::path::{Path, PathBuf};

/// A file with a function on a mesh that was not read, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", text::path(path))]
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
    /// An array of NumPy cannot be used.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// An archive of arrays cannot be used.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The array is not three-dimensional.
    #[error("has an array of the shape {}; a mesh has three extents", text::tuple(shape))]
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
    /// An array has another shape than the others ask for.
    #[error("the array `{name}` has the shape {}, {} wanted", text::tuple(found), text::tuple(wanted))]
    OtherShape {
        /// The name.
        name: String,
        /// The shape that it should have.
        wanted: Vec<usize>,
        /// The shape that it has.
        found: Vec<usize>,
    },
    /// The arrays are not those of a sparse matrix.
    #[error("has no sparse matrix that can be used: {problem}; write it with scipy.sparse.save_npz")]
    SparseMatrix {
        /// What is wrong.
        problem: String,
    },
    /// There is not enough memory.
    #[error("the values do not fit: {0}")]
    NoRoom(#[from] NoRoom),
}
