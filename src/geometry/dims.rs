//! Extents of a four-dimensional lattice and the order of its sites.

use std::fmt;
use std::str::FromStr;

/// Directions of space-time: x, y, z, t.
pub const NDIM: usize = 4;

/// The planes (μ, ν) with μ < ν.
pub const PLANES: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// The extents of a lattice in x, y, z, t. Each is even and at least 2.
///
/// Sites are numbered lexicographically with x fastest: `((t·Lz + z)·Ly + y)·Lx + x`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dims([usize; NDIM]);

/// The reason why four numbers are not the extents of a lattice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DimsError {
    /// The text does not have four numbers.
    #[error("`{0}` is not four extents; write them as x, y, z, t, for example 8x8x8x16")]
    NotFour(String),
    /// An extent is zero or odd.
    #[error("extent {extent} in direction {direction} is not allowed: extents are even and at least 2")]
    NotEven {
        /// The direction's name.
        direction: char,
        /// The extent found.
        extent: usize,
    },
    /// The lattice is too large to count in memory.
    #[error("a lattice of {0:?} sites has more than 2^40 sites; check the extents")]
    TooLarge([usize; NDIM]),
}

impl Dims {
    /// Most sites that a lattice may have.
    ///
    /// Four links of each site in double fill half a petabyte.
    const MAX_VOLUME: usize = 1 << 40;

    /// Checks and takes the extents, in the order x, y, z, t.
    pub fn new(extents: [usize; NDIM]) -> Result<Self, DimsError> {
        for (mu, &extent) in extents.iter().enumerate() {
            if extent < 2 || extent % 2 != 0 {
                return Err(DimsError::NotEven { direction: Self::direction_name(mu), extent });
            }
        }
        extents
            .iter()
            .try_fold(1usize, |volume, &extent| volume.checked_mul(extent))
            .filter(|&volume| volume <= Self::MAX_VOLUME)
            .map(|_| Self(extents))
            .ok_or(DimsError::TooLarge(extents))
    }

    /// Returns the letter of a direction: x, y, z or t.
    pub fn direction_name(mu: usize) -> char {
        ['x', 'y', 'z', 't'][mu]
    }

    /// Returns the four extents, in the order x, y, z, t.
    pub fn extents(&self) -> [usize; NDIM] {
        self.0
    }

    /// Returns the number of sites.
    pub fn volume(&self) -> usize {
        self.0.iter().product()
    }

    /// Returns the lexicographic number of the site at `coordinates`.
    pub fn site(&self, [x, y, z, t]: [usize; NDIM]) -> usize {
        let [lx, ly, lz, _] = self.0;
        ((t * lz + z) * ly + y) * lx + x
    }

    /// Returns the coordinates x, y, z, t of a site.
    pub fn coordinates(&self, site: usize) -> [usize; NDIM] {
        let [lx, ly, lz, _] = self.0;
        [site % lx, site / lx % ly, site / (lx * ly) % lz, site / (lx * ly * lz)]
    }

    /// Returns the site one step forward in direction `mu`, around the torus.
    pub fn forward(&self, site: usize, mu: usize) -> usize {
        let mut c = self.coordinates(site);
        c[mu] = (c[mu] + 1) % self.0[mu];
        self.site(c)
    }

    /// Returns the site one step backward in direction `mu`, around the torus.
    pub fn backward(&self, site: usize, mu: usize) -> usize {
        let mut c = self.coordinates(site);
        c[mu] = (c[mu] + self.0[mu] - 1) % self.0[mu];
        self.site(c)
    }

    /// Returns 0 for an even site, 1 for an odd one.
    pub fn parity(&self, site: usize) -> usize {
        self.coordinates(site).iter().sum::<usize>() % 2
    }
}

impl std::ops::Index<usize> for Dims {
    type Output = usize;

    fn index(&self, mu: usize) -> &usize {
        &self.0[mu]
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z, t] = self.0;
        write!(f, "{x}x{y}x{z}x{t}")
    }
}

impl FromStr for Dims {
    type Err = DimsError;

    /// Reads `8x8x8x16`, `8.8.8.16`, `8,8,8,16` or `8 8 8 16`.
    fn from_str(text: &str) -> Result<Self, DimsError> {
        let bad = || DimsError::NotFour(text.to_owned());
        let numbers = text
            .split(['x', 'X', '×', '.', ',', ' '])
            .filter(|part| !part.is_empty())
            .map(|part| part.parse().map_err(|_| bad()))
            .collect::<Result<Vec<usize>, _>>()?;
        Self::new(numbers.try_into().map_err(|_| bad())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn site_and_coordinates_are_inverse() {
        let dims = Dims::new([2, 4, 6, 8]).unwrap();
        for site in 0..dims.volume() {
            assert_eq!(dims.site(dims.coordinates(site)), site);
            for mu in 0..NDIM {
                assert_eq!(dims.backward(dims.forward(site, mu), mu), site);
                assert_ne!(dims.parity(dims.forward(site, mu)), dims.parity(site));
            }
        }
    }

    #[test]
    fn reads_every_way_of_writing() {
        for text in ["8x8x8x16", "8.8.8.16", "8 8 8 16", "8,8,8,16"] {
            assert_eq!(text.parse(), Dims::new([8, 8, 8, 16]));
        }
    }

    #[test]
    fn refuses_what_is_no_lattice() {
        assert!(matches!("8x8x8".parse::<Dims>(), Err(DimsError::NotFour(_))));
        assert!(matches!("8x8x-8x8".parse::<Dims>(), Err(DimsError::NotFour(_))));
        assert!(matches!(Dims::new([8, 0, 8, 8]), Err(DimsError::NotEven { direction: 'y', extent: 0 })));
        assert!(matches!(Dims::new([8, 8, 8, 7]), Err(DimsError::NotEven { direction: 't', extent: 7 })));
        assert!(matches!(Dims::new([1 << 31; 4]), Err(DimsError::TooLarge(_))));
    }
}
