//! Kinds of fermion fields: what lies on a site, and what hops ask of other domains.

use super::layout::Shape;

/// The kind of a fermion field, as hops need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldKind {
    /// The numbers of a site.
    pub shape: Shape,
    /// Complex numbers that a hop sends of each site in its halo.
    pub sent: usize,
    /// Slices of sites that a hop reaches behind a face.
    pub halo_depth: usize,
}

impl FieldKind {
    /// Dirac spinors, for hops to nearest neighbours that project to half of the spins.
    pub const WILSON: Self =
        Self { shape: Shape::SPINOR, sent: Shape::SPINOR.components() / 2, halo_depth: 1 };

    /// Returns the complex numbers that are sent for each site of a face.
    pub const fn sent_by_face_site(self) -> usize {
        self.sent * self.halo_depth
    }
}
