//! Files of numbers: opened safely, read with bounds, written whole.
//!
//! Every crate of the workspace opens, reads and writes files through this one. It knows no device
//! and no lattice. It serves these crates alone, and changes without notice.
//!
//! * [`input`] opens what a user names: a regular file, or the data of a pipe.
//! * [`regular`] opens regular files that the library keeps, and locks them.
//! * [`destination`](mod@destination) is where a file is written whose path is a link.
//! * [`leftovers`] are what a process removes if a signal ends it.
//! * [`temporary`] makes files that take their true name when they are complete.
//! * [`number`] reads numbers as programs write them, those of Fortran too.
//! * [`npy`] reads and begins arrays of NumPy, and [`npz`] archives of them.
//! * [`text`] makes the text of files fit to be shown.
//! * [`words`](mod@words) are enumerations whose values have a word each.
//! * [`threads`] start threads that the system may refuse.
//! * [`room`] tells whether memory is left for what a file announces.

pub mod destination;
pub mod input;
pub mod leftovers;
pub mod npy;
pub mod npz;
pub mod number;
pub mod regular;
pub mod room;
pub mod temporary;
pub mod text;
pub mod threads;
pub mod words;
