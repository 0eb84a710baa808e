//! The part of HDF5 that files of fields and of results need.
//!
//! It reads files as h5py and the C library write them by default:
//! * superblocks 0 to 3, behind a user block or not;
//! * groups with symbol tables or compact links;
//! * contiguous, compact and chunked datasets, with the filters deflate and shuffle;
//! * text in attributes.
//!
//! It writes files that every version of the library reads: superblock 0, groups with symbol tables,
//! contiguous datasets.
//!
//! Source: the HDF5 File Format Specification, version 3.0 (The HDF Group).
//!
//! A structure is read with the bounds of the file, so that no header makes the reader allocate more
//! than the file holds.

mod attribute;
mod bytes;
mod cells;
mod chunks;
mod dataset;
mod datatype;
mod filters;
mod group;
mod links;
mod object;
mod superblock;
mod tree;
mod types;
mod unread;
mod writer;

pub(super) use cells::Cells;
pub(super) use dataset::{Dataset, text};
pub(super) use object::Object;
pub(super) use superblock::{begins, find};
pub(super) use tree::File;
pub(super) use types::Element;
pub(super) use writer::{Attribute, Writer};

use super::error::{Error, ErrorKind};
use super::input::Input;
use lattice_files::text::quoted;

/// The address that means "none".
const UNDEFINED: u64 = u64::MAX;

/// Makes the error that the structure at `byte` cannot be used.
fn bad(input: &Input, byte: u64, problem: impl AsRef<str>) -> Error {
    input.error(ErrorKind::BadHdf5 { byte: input.place(byte), problem: quoted(problem.as_ref()) })
}
