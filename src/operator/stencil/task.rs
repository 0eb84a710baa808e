//! The task of a stencil, and the sites that it works on.

use super::parts::{Ending, SitePart};
use crate::field::Sites;
use crate::host::{SiteMatrix, StencilFactors};

/// The sites that a stencil works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// All sites, from a field on all sites.
    Full,
    /// The sites of one parity, from a field on the sites of the other parity.
    Parity {
        /// 0 to write even sites, 1 to write odd ones.
        parity: usize,
        /// `true` if a multiple of a field of this parity is added.
        shift: bool,
    },
}

impl Region {
    /// Returns the sites of the source, and the sites of the result.
    pub(crate) fn sites(self) -> (Sites, Sites) {
        match self {
            Region::Full => (Sites::All, Sites::All),
            Region::Parity { parity, .. } => (Sites::Parity(1 - parity), Sites::Parity(parity)),
        }
    }

    /// Returns the number of parities that are written.
    pub(super) fn parities(self) -> usize {
        match self {
            Region::Full => 2,
            Region::Parity { .. } => 1,
        }
    }

    /// Returns the parity that a field of the source starts with.
    pub(crate) fn source_parity(self) -> u32 {
        match self {
            Region::Full => 0,
            Region::Parity { parity, .. } => 1 - parity as u32,
        }
    }
}

/// The task of a stencil.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The numbers and signs of the operator.
    pub factors: StencilFactors,
    /// The sites that the stencil works on.
    pub region: Region,
    /// The treatment of the result.
    pub ending: Ending,
    /// Number of fields that the stencil is applied to at once.
    pub columns: usize,
}

impl Task {
    /// Tells whether there are blocks of a clover term, which are memory to read.
    pub(super) fn has_blocks(&self) -> bool {
        [self.factors.shift, self.factors.coefficient].iter().any(|factor| factor.matrix != SiteMatrix::None)
    }

    /// Returns the computation within a site.
    pub(super) fn site_part(&self) -> SitePart {
        let (adds_field, own_field) = match self.region {
            Region::Full => (true, false),
            Region::Parity { shift, .. } => (shift, shift),
        };
        SitePart::of(&self.factors, adds_field, own_field)
    }
}
