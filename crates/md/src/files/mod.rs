//! Files of systems and potentials.
//!
//! Readers tell the file and the line of whatever is wrong. They allocate for what is in a file,
//! never for what its header promises.

mod amber;
mod error;
mod keys;
mod lammps_table;
mod table_units;
mod text;
mod xyz;

pub use amber::{AmberFiles, read_amber};
pub use error::{FileError, FileProblem};
pub use lammps_table::{Curve, TableFile};
pub use xyz::{Conventions, read_xyz, read_xyz_by, xyz_frame};
