//! What a stencil computes, and on which sites.

use crate::field::Sites;
use crate::host::WilsonForm;
use std::cell::OnceCell;

/// On which sites a stencil works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// All sites, from a field on all sites.
    Full,
    /// The sites of one parity, from a field on the others.
    Parity {
        /// 0 to write even sites, 1 to write odd ones.
        parity: usize,
        /// Whether a multiple of a field of this parity is added.
        shift: bool,
    },
}

impl Region {
    /// The sites of the source, and those of the result.
    pub(crate) fn sites(self) -> (Sites, Sites) {
        match self {
            Region::Full => (Sites::All, Sites::All),
            Region::Parity { parity, .. } => (Sites::Parity(1 - parity), Sites::Parity(parity)),
        }
    }

    /// How many parities are written.
    pub(super) fn parities(self) -> usize {
        match self {
            Region::Full => 2,
            Region::Parity { .. } => 1,
        }
    }

    /// The parity that a field of the source starts with.
    pub(crate) fn source_parity(self) -> u32 {
        match self {
            Region::Full => 0,
            Region::Parity { parity, .. } => 1 - parity as u32,
        }
    }
}

/// What becomes of a stencil's result. The first is for any number of sources, the next three are for one, the last two for several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Ending {
    /// It is stored.
    #[default]
    Store,
    /// It is stored, and its norm summed up.
    Norm2,
    /// It is stored, and its product with a field and its norm are summed up.
    Products,
    /// A multiple of it is subtracted from what is stored, and the norm of the difference summed up.
    Subtract,
    /// It is stored, and its Gram matrix summed up.
    Gram,
    /// Its product with a matrix is subtracted from what is stored, and the Gram matrix of the difference summed up.
    SubtractBlock,
}

impl Ending {
    /// Whether it is one for several sources. Devices take it in double, in one lane, and for an even number of sources from 4 to 12; it is fast where they have
    /// matrix units.
    pub fn is_of_block(self) -> bool {
        matches!(self, Ending::Gram | Ending::SubtractBlock)
    }

    /// Whether it is one for so many sources.
    pub(crate) fn is_for(self, sources: usize) -> bool {
        match self {
            Ending::Store => sources > 0,
            Ending::Norm2 | Ending::Products | Ending::Subtract => sources == 1,
            Ending::Gram | Ending::SubtractBlock => sources > 1,
        }
    }

    /// Whether it sums up numbers, which stay on the device.
    pub(crate) fn makes_numbers(self) -> bool {
        !self.is_of_block() && self != Ending::Store
    }
}

/// Something for each ending, made when it is wanted first.
pub(crate) struct ByEnding<S>([OnceCell<Box<S>>; 6]);

impl<S> Default for ByEnding<S> {
    fn default() -> Self {
        Self(Default::default())
    }
}

impl<S> ByEnding<S> {
    pub fn get<E>(&self, ending: Ending, make: impl FnOnce() -> Result<S, E>) -> Result<&S, E> {
        let cell = &self.0[ending as usize];
        if let Some(made) = cell.get() {
            return Ok(made);
        }
        let made = Box::new(make()?);
        Ok(cell.get_or_init(|| made))
    }
}

/// What a stencil computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The numbers and signs of the operator.
    pub form: WilsonForm,
    /// The sites.
    pub region: Region,
    /// What becomes of the result.
    pub ending: Ending,
    /// How many fields it is applied to at once.
    pub sources: usize,
}
