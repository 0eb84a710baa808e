//! The part of a site factor that differs from site to site, and its stored blocks.

use super::clover::{BlockLayout, CloverBlocks};
use super::field_strength::{FieldStrength, LinksOfSites};
use crate::geometry::{NDIM, PLANES};
use num_complex::Complex64;

/// The part of a [`SiteFactor`](super::SiteFactor) that differs from site to site.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SiteMatrix {
    /// No matrix: the factor is scalar + twist Γ.
    #[default]
    None,
    /// The factor is scalar + i twist γ5 + `factor` T.
    Clover {
        /// The coefficient of T.
        factor: f64,
    },
    /// The factor is scalar A⁻¹, and has no twist.
    Inverse(CloverMatrix),
}

/// A = scalar + i twist γ5 + factor T, which is to be inverted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloverMatrix {
    /// The part that both chiralities have.
    pub scalar: f64,
    /// The coefficient of i γ5.
    pub twist: f64,
    /// The coefficient of T.
    pub factor: f64,
}

impl CloverMatrix {
    /// Returns the Hermitian part scalar + factor T at a site.
    ///
    /// `weights` multiply the field strength in planes of space, and in planes with time.
    pub fn blocks_at(self, links: &impl LinksOfSites, weights: [f64; 2], site: usize) -> CloverBlocks {
        let [space, time] = weights;
        let weights = PLANES.map(|(_, nu)| if nu == NDIM - 1 { time } else { space });
        let f = FieldStrength::at(links, site);
        CloverBlocks::of_field_strength(&f.0, self.scalar, self.factor, weights)
    }
}

/// Blocks that are stored for all sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StoredBlocks {
    /// The clover term T.
    Term,
    /// A⁻¹, for a twist that is not negative.
    ///
    /// The blocks of the opposite twist are the adjoint.
    Inverse(CloverMatrix),
}

impl StoredBlocks {
    /// Returns the layout of the stored blocks.
    pub fn layout(self) -> BlockLayout {
        match self {
            Self::Inverse(of) if of.twist != 0.0 => BlockLayout::General,
            Self::Term | Self::Inverse(_) => BlockLayout::Hermitian,
        }
    }

    /// Returns the numbers of the blocks at a site, γ5 = 1 first.
    ///
    /// `weights` multiply the field strength in planes of space, and in planes with time. `None` if
    /// A has no inverse or is not positive.
    pub fn at(self, links: &impl LinksOfSites, weights: [f64; 2], site: usize) -> Option<Vec<Complex64>> {
        let blocks = |of: CloverMatrix| of.blocks_at(links, weights, site);
        match self {
            Self::Term => {
                let term = CloverMatrix { scalar: 0.0, twist: 0.0, factor: 1.0 };
                Some(blocks(term).packed().as_flattened().to_vec())
            }
            Self::Inverse(of) if of.twist == 0.0 => {
                Some(blocks(of).inverse()?.packed().as_flattened().to_vec())
            }
            Self::Inverse(of) => Some(blocks(of).inverse_with_twist(of.twist)?.as_flattened().to_vec()),
        }
    }
}

/// The layout of a factor's stored blocks, and the use of their adjoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockUse {
    /// The layout of the blocks.
    pub layout: BlockLayout,
    /// `true` if the adjoint of the blocks is meant.
    pub adjoint: bool,
}

impl SiteMatrix {
    /// Returns the stored blocks that the matrix needs; `None` without a matrix.
    pub fn stored(self) -> Option<StoredBlocks> {
        match self {
            Self::None => None,
            Self::Clover { .. } => Some(StoredBlocks::Term),
            Self::Inverse(of) => Some(StoredBlocks::Inverse(CloverMatrix { twist: of.twist.abs(), ..of })),
        }
    }

    /// Returns how the matrix uses its blocks; `None` without a matrix.
    pub fn block_use(self) -> Option<BlockUse> {
        let adjoint = matches!(self, Self::Inverse(of) if of.twist < 0.0);
        Some(BlockUse { layout: self.stored()?.layout(), adjoint })
    }
}

#[cfg(test)]
mod tests {
    use super::super::clover::SiteBlocks;
    use super::super::random;
    use super::super::spinor::Spinor;
    use super::*;
    use crate::geometry::Dims;
    use num_complex::Complex;

    #[test]
    fn stored_blocks_of_an_inverse_undo_its_matrix_for_both_twists() {
        let links = random::weak(Dims::new([2, 4, 2, 2]).unwrap(), 0.4, 5);
        let psi = Spinor::<f64>::from_fn(|s, c| Complex::new(0.3 * s as f64 - 0.1, 0.7 * c as f64 + 0.2));
        for twist in [0.0, 0.3, -0.3] {
            let of = CloverMatrix { scalar: 1.1, twist, factor: 0.4 };
            let matrix = SiteMatrix::Inverse(of);
            let (stored, usage) = (matrix.stored().unwrap(), matrix.block_use().unwrap());
            assert_eq!(usage.adjoint, twist < 0.0);
            for site in [0, 7, 31] {
                let product = of.blocks_at(&links, [1.0; 2], site).times(&psi);
                let turned = Spinor::from_fn(|s, c| {
                    let gamma5 = if s < 2 { 1.0 } else { -1.0 };
                    product.0[s][c] + Complex::new(0.0, twist * gamma5) * psi.0[s][c]
                });
                let numbers = stored.at(&links, [1.0; 2], site).unwrap();
                let blocks = SiteBlocks { layout: usage.layout, adjoint: usage.adjoint, numbers: &numbers };
                let back = blocks.times(&turned);
                assert!(Spinor::from_fn(|s, c| back.0[s][c] - psi.0[s][c]).norm2().sqrt() < 1e-13);
            }
        }
    }
}
