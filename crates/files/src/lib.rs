//! Files of numbers: opened safely, read with bounds, written whole.
//!
//! Every crate of the workspace opens, reads and writes files through this one. It knows no device
//! and no lattice.
//!
//! * [`regular`] opens regular files, and locks them.
//! * [`temporary`] makes files that take their true name when they are complete.
//! * [`number`] reads numbers as programs write them, those of Fortran too.
//! * [`text`] makes the text of files fit to be shown.

pub mod number;
pub mod regular;
pub mod temporary;
pub mod text;
