//! How a file is to be read.

use super::error::{Error, ErrorKind};
use super::input::Input;
use super::payload::Progress;
use super::signs::SignsInLinks;
use crate::geometry::Dims;

/// How a file is read. The default checks everything.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// The extents, for a file that does not tell them, or tells nonsense.
    pub dims: Option<Dims>,
    /// Take a file whose checksum, plaquette or link trace is not that of its links.
    pub ignore_checksum: bool,
    /// Take links that are far from SU(3).
    ///
    /// Infinities and NaN are refused all the same. So is a boundary sign: see [`ReadOptions::signs_in_links`].
    pub ignore_unitarity: bool,
    /// What to do if a boundary condition has left its sign in the links.
    pub signs_in_links: SignsInLinks,
    /// Told how far reading has come, in bytes.
    pub progress: Progress<'a>,
    /// Told the extents as soon as they are known, before any link is read: time to prepare something. The file may still turn out to be invalid.
    pub extents: Option<&'a dyn Fn(Dims)>,
}

impl ReadOptions<'_> {
    pub(super) fn tell_extents(&self, dims: Dims) {
        if let Some(tell) = self.extents {
            tell(dims);
        }
    }
}

/// The extents that the file tells; where it tells none, or none that are sound, those that the caller gives.
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

/// The warning that nothing but their product speaks for given extents.
pub(super) fn unchecked_extents(dims: Dims) -> String {
    format!(
        "the file does not say its extents; of {dims} only the number of sites was checked, not their order"
    )
}
