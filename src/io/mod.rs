//! Gauge configurations and propagators in files: parse, verify, write.
//!
//! [`read_gauge`] takes files of every [`Format`], and tells formats apart by their content.
//! [`write_gauge`] writes the formats of [`Format::ALL`]. [`read_propagator`] and
//! [`PropagatorWriter`] read and write solutions of the Dirac equation. Nothing here knows of
//! devices: input and output are plain host data.
//!
//! Fields are streamed and decoded in parallel, a few MiB at a time. Reading therefore takes no
//! more memory than the field itself. Sizes in a header are compared with the size of the file
//! before anything is allocated for them. Files are written under a temporary name, and renamed
//! when they are complete.

mod checkpoint;
mod checksum;
mod error;
mod formats;
mod gauge_file;
mod hdf5;
mod header_check;
mod input;
mod lime;
mod lime_file;
mod lime_strays;
mod links;
mod mesh;
mod metadata;
mod npy;
mod numbers;
mod output;
mod payload;
mod propagators;
mod pyquda;
mod read;
mod read_options;
mod results;
mod same_file;
mod signs;
mod small_file;
pub(crate) mod text;
mod validate;
mod write;
mod write_options;
mod xml;

pub use checkpoint::{Checkpoint, CheckpointReader, CheckpointWriter, read_checkpoint};
pub use checksum::Checksum;
pub use error::{Error, ErrorKind, Position};
pub use formats::{Format, UnknownFormatName};
pub use gauge_file::GaugeFile;
pub use header_check::HeaderCheck;
pub use lattice_files::destination::{destination, is_same_file};
pub use links::Rows;
pub use mesh::{
    ArrayFile, Atom, CubeHeader, DenseMatrix, MatrixElements, MatrixError, MeshError, MeshFile, MeshProblem,
    NumberArray, read_sparse,
};
pub use numbers::ByteOrder;
pub use output::{check_writable, write_file};
pub use payload::Progress;
pub use propagators::{
    Propagator, PropagatorFormat, PropagatorRecord, PropagatorSummary, PropagatorWriter, SolutionSummary,
    UnknownPropagatorFormat, read_propagator, read_propagator_with,
};
pub use read::{
    Contents, Inspection, holds_propagator, inspect, inspect_gauge, read_extents, read_gauge, read_gauge_with,
};
pub use read_options::{Parts, ReadOptions};
pub use results::{is_hdf5_name, read_results, write_results};
pub use same_file::file_identity;
pub use signs::{LinkSign, SignsInLinks};
pub use validate::UNITARITY_LIMIT;
pub use write::write_gauge;
pub use write_options::WriteOptions;

pub use small_file::read_small_file;
