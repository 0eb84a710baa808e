//! Files of systems and potentials.
//!
//! Readers tell the file and the line of whatever is wrong. They allocate for what is in a file,
//! never for what its header promises.

mod amber;
mod error;
mod lammps_table;
mod text;
mod xyz;

pub use amber::{AmberFiles, read_amber};
pub use error::{FileError, FileProblem};
pub use lammps_table::{Curve, TableFile};
pub use xyz::{read_xyz, xyz_frame};
