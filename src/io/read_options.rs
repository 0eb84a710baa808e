//! The options for reading a file.

use super::error::{Error, ErrorKind};
use super::formats::Format;
use super::input::Input;
use super::payload::Progress;
use super::signs::SignsInLinks;
use crate::geometry::Dims;
use crate::host::Company;
use derive_setters::Setters;
use std::ops::Range;
use std::sync::Arc;

/// The options for reading a file. The default checks everything.
#[derive(Clone, Copy, Default, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct ReadOptions<'a> {
    /// The format that the file must have. Without it the content tells.
    ///
    /// Bridge++ binary files have no beginning to be recognised by, and are read by name alone.
    pub format: Option<Format>,
    /// The extents, for a file that does not tell them, or tells invalid ones.
    pub dims: Option<Dims>,
    /// Accepts a file whose checksum, plaquette or link trace is not that of its links.
    pub ignore_checksum: bool,
    /// Accepts links that are far from SU(3).
    ///
    /// Infinities and NaN are still refused. A boundary sign is still refused too: see
    /// [`ReadOptions::signs_in_links`].
    pub ignore_unitarity: bool,
    /// The treatment of a boundary sign in the links.
    pub signs_in_links: SignsInLinks,
    /// A function that is called with the bytes read so far.
    pub progress: Progress<'a>,
    /// A function that is called with the extents, before any link is read.
    ///
    /// The caller has time to prepare something. The file may still turn out to be invalid.
    pub extents: Option<&'a dyn Fn(Dims)>,
    /// `true` if nothing but the extents is wanted.
    ///
    /// Reading ends there, with [`ErrorKind::ExtentsAlone`].
    pub extents_alone: bool,
    /// The parts of the links that several processes read. `None` reads all.
    pub parts: Option<Parts<'a>>,
}

/// Several processes that read a file, each a part of it.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    /// The processes.
    pub company: &'a Arc<Company>,
    /// The sites whose links this process needs on a lattice of these extents.
    ///
    /// `None` on all processes if they need all.
    pub wanted: &'a dyn Fn(Dims) -> Option<Vec<Range<usize>>>,
}

impl ReadOptions<'_> {
    /// Tells the extents, before any link is read.
    ///
    /// # Errors
    /// [`ErrorKind::ExtentsAlone`] if nothing else is wanted.
    pub(super) fn tell_extents(&self, input: &Input, dims: Dims) -> Result<(), Error> {
        if let Some(tell) = self.extents {
            tell(dims);
        }
        if self.extents_alone { Err(input.error(ErrorKind::ExtentsAlone(dims))) } else { Ok(()) }
    }
}

/// Returns the extents of the file, or else those that the caller gives.
///
/// The caller's extents are used if the file tells none, or none that are sound.
pub(super) fn extents(
    input: &Input,
    stored: Result<Dims, Error>,
    given: Option<Dims>,
) -> Result<Dims, Error> {
    match (stored, given) {
        (Ok(stored), Some(given)) if stored != given => {
            Err(input.error(ErrorKind::OtherExtents { stored, given }))
        }
        (Err(_), Some(given)) => Ok(given),
        (stored, _) => stored,
    }
}

/// Returns the warning that given extents are supported by their product alone.
pub(super) fn unchecked_extents(dims: Dims) -> String {
    format!(
        "the file does not say its extents; of {dims} only the number of sites was checked, not their order"
    )
}
