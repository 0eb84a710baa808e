//! Signs of a boundary condition that were left in the links of a file.
//!
//! MILC and QUDA multiply the t-links of the last slice by −1 for antiperiodic fermions. Files have
//! been written of such links. The plaquette does not see the sign. The determinants of these links
//! are −1.

use serde::Serialize;
use std::fmt;

/// The treatment of a boundary sign in the links of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SignsInLinks {
    /// Refuse the file.
    ///
    /// With the boundary condition of a solver, the sign would be there twice.
    #[default]
    Refuse,
    /// Take the sign out.
    ///
    /// The links are then in SU(3), and the solver's boundary condition is the only one.
    Remove,
    /// Leave the links as they are: a periodic solver then has antiperiodic fermions.
    Keep,
}

lattice_files::words! { SignsInLinks, "treatment of signs": Refuse = "refuse"; Remove = "remove"; Keep = "keep" }

/// A sign on all links of one direction that leave one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinkSign {
    /// The direction: x, y, z or t.
    pub direction: char,
    /// The coordinate of the slice in this direction, from 0.
    pub slice: usize,
}

impl fmt::Display for LinkSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {0}-links of the slice {0} = {1}", self.direction, self.slice)
    }
}

/// Returns the signs as a list in a sentence.
pub(super) fn listed(signs: &[LinkSign]) -> String {
    signs.iter().map(LinkSign::to_string).collect::<Vec<_>>().join(" and ")
}
