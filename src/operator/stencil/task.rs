//! What a stencil computes, and on which sites.

use super::parts::{Ending, SitePart};
use crate::field::Sites;
use crate::host::{SiteMatrix, StencilForm};

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

/// What a stencil computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The numbers and signs of the operator.
    pub form: StencilForm,
    /// The sites.
    pub region: Region,
    /// What becomes of the result.
    pub ending: Ending,
    /// How many fields it is applied to at once.
    pub columns: usize,
}

impl Task {
    /// Whether there are blocks of a clover term, which are memory to read.
    pub(super) fn has_blocks(&self) -> bool {
        [self.form.shift, self.form.coefficient].iter().any(|factor| factor.matrix != SiteMatrix::None)
    }

    /// What is computed within a site.
    pub(super) fn site_part(&self) -> SitePart {
        let (adds_field, own_field) = match self.region {
            Region::Full => (true, false),
            Region::Parity { shift, .. } => (shift, shift),
        };
        SitePart::of(&self.form, adds_field, own_field)
    }
}
