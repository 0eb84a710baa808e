//! The region of a product that is wanted, and the tiles that it has.

/// The elements of a column-major C that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OutputRegion {
    /// All of C.
    All,
    /// Row number at least column number. C is square.
    Lower {
        /// The diagonal is real.
        hermitian: bool,
    },
    /// Row number at most column number. C is square.
    Upper {
        /// The diagonal is real.
        hermitian: bool,
    },
}

impl OutputRegion {
    /// Returns one triangle.
    pub fn triangle(lower: bool, hermitian: bool) -> Self {
        if lower { Self::Lower { hermitian } } else { Self::Upper { hermitian } }
    }

    /// Returns the number of `TRIANGLE` in `cl/parts.cl`.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::All => 0,
            Self::Lower { .. } => 1,
            Self::Upper { .. } => 2,
        }
    }

    /// `true` if the diagonal is real.
    pub(super) fn is_hermitian(self) -> bool {
        matches!(self, Self::Lower { hermitian: true } | Self::Upper { hermitian: true })
    }

    /// Returns the tiles of m×n elements.
    ///
    /// Those of a triangle are whole squares of tiles.
    pub(super) fn tiles(self, [m, n]: [usize; 2], [rows, columns]: [usize; 2]) -> usize {
        if self == Self::All {
            return m.div_ceil(rows).saturating_mul(n.div_ceil(columns));
        }
        let edge = rows.max(columns);
        let squares = n.div_ceil(edge);
        (squares * (squares + 1) / 2).saturating_mul(edge / rows * (edge / columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_has_the_tiles_of_its_squares() {
        let lower = OutputRegion::triangle(true, false);
        assert_eq!(lower.tiles([8192, 8192], [128, 128]), 64 * 65 / 2);
        assert_eq!(lower.tiles([8192, 8192], [128, 64]), 64 * 65);
        assert_eq!(lower.tiles([129, 129], [64, 128]), 6);
        assert_eq!(OutputRegion::All.tiles([129, 65], [64, 64]), 6);
    }
}
