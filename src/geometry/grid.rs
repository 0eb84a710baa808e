//! The division of a lattice over several devices.
//!
//! A grid is the number of parts in each direction.

use super::{Dims, Domain, NDIM};
use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

/// The parts that a lattice is cut into in x, y, z, t. Each part is a [`Domain`].
///
/// Domains are numbered like sites, with x fastest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Grid([usize; NDIM]);

/// The reason why a lattice cannot be cut over a grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// The text does not have four numbers, each at least 1.
    #[error("`{0}` is no grid; write the parts in x, y, z, t, each at least 1, for example 1x1x2x2")]
    NotFour(String),
    /// The grid has more parts than a direction allows.
    #[error(
        "the grid {grid} wants {} parts in {}, but a lattice of {dims} has at most {most} there{}; \
         cut {} less, or another direction",
        grid.parts()[*mu], Dims::direction_name(*mu), if *mu == 0 { ", as each has an even extent in x" } else { "" },
        Dims::direction_name(*mu)
    )]
    TooManyParts {
        /// The grid asked for.
        grid: Grid,
        /// The lattice.
        dims: Dims,
        /// The direction with too many parts.
        mu: usize,
        /// The most parts in this direction.
        most: usize,
    },
    /// The number of parts is not the number of devices.
    #[error(
        "the grid {grid} is for {} devices, but the team has {devices}; choose a grid whose parts multiply to {devices}, \
         or as many devices as it has parts",
        grid.count()
    )]
    DeviceCount {
        /// The grid asked for.
        grid: Grid,
        /// The devices; the host is one.
        devices: usize,
    },
    /// The number of blocks of domains is not the number of ranks.
    #[error(
        "the grid of ranks {grid} is for {} ranks, but there {}; start as many with the launcher of MPI, or choose a grid whose parts \
         multiply to {ranks}",
        grid.count(), if *ranks == 1 { "is one".to_owned() } else { format!("are {ranks}") }
    )]
    RankCount {
        /// The grid of ranks asked for.
        grid: Grid,
        /// The ranks.
        ranks: usize,
    },
    /// The grid of ranks is no coarser grid of the domains.
    #[error(
        "the grid of ranks {ranks} does not divide the grid {grid} of domains; in each direction the number of domains must be a \
         multiple of that of ranks"
    )]
    RanksDoNotDivide {
        /// The grid of domains.
        grid: Grid,
        /// The grid of ranks.
        ranks: Grid,
    },
    /// The lattice cannot be cut into a part for each rank.
    #[error(
        "a lattice of {dims} cannot be cut over {ranks} ranks{}; start another number of them",
        among.map_or_else(String::new, |grid| format!(" on the grid {grid}"))
    )]
    TooManyRanks {
        /// The lattice.
        dims: Dims,
        /// The ranks.
        ranks: usize,
        /// The grid of ranks, if one is asked for.
        among: Option<Grid>,
    },
}

impl Grid {
    /// A single part: the lattice is not cut.
    pub const ONE: Self = Self([1; NDIM]);

    /// Makes a grid of this many parts in x, y, z, t; `None` if a number is zero.
    pub fn new(parts: [usize; NDIM]) -> Option<Self> {
        parts.iter().all(|&parts| parts > 0).then_some(Self(parts))
    }

    /// Returns the parts in x, y, z, t.
    pub fn parts(&self) -> [usize; NDIM] {
        self.0
    }

    /// Returns the number of domains.
    pub fn count(&self) -> usize {
        self.0.iter().fold(1, |count, &parts| count.saturating_mul(parts))
    }

    /// Returns the most parts that a lattice can be cut into in direction `mu`.
    ///
    /// Rows along x are stored by parity, so parts have even extents in x. In the other directions
    /// a part may be one slice.
    pub fn most_parts(dims: Dims, mu: usize) -> usize {
        dims[mu] / unit(mu)
    }

    /// Checks that a lattice can be cut like this.
    ///
    /// # Errors
    /// When a direction is too short.
    pub fn check(self, dims: Dims) -> Result<(), GridError> {
        for mu in 0..NDIM {
            let most = Self::most_parts(dims, mu);
            if self.0[mu] > most {
                return Err(GridError::TooManyParts { grid: self, dims, mu, most });
            }
        }
        Ok(())
    }

    /// Returns the number of sites that lie before a cut, in all directions.
    ///
    /// This is half the number of sites that send a spinor in each hop.
    pub fn surface(self, dims: Dims) -> usize {
        let cut = (0..NDIM).filter(|&mu| self.0[mu] > 1);
        cut.map(|mu| self.0[mu] * (dims.volume() / dims[mu])).sum()
    }

    /// Returns the grid with the least surface for a number of devices.
    ///
    /// The grid uses as many devices as possible. If several grids have the least surface, the one
    /// with most parts in t is taken, then in z, then in y.
    pub fn least_surface(dims: Dims, devices: usize) -> Self {
        Self::least_surface_in(dims, Self::ONE, (1..=devices).rev()).unwrap_or(Self::ONE)
    }

    /// Returns the grid with the least surface for the first count that has a grid.
    ///
    /// The grid must be divided by `coarser`.
    pub fn least_surface_in(
        dims: Dims,
        coarser: Self,
        counts: impl IntoIterator<Item = usize>,
    ) -> Option<Self> {
        counts.into_iter().find_map(|count| {
            let possible = grids_of(count).filter(|grid| grid.check(dims).is_ok() && coarser.divides(*grid));
            possible.min_by_key(|grid| grid.preference(dims))
        })
    }

    /// Returns the coarser grid of `count` parts with the least surface.
    ///
    /// The coarser grid divides this one. `count` divides this grid's number of parts.
    pub fn least_surface_above(self, dims: Dims, count: usize) -> Option<Self> {
        grids_of(count).filter(|grid| grid.divides(self)).min_by_key(|grid| grid.preference(dims))
    }

    /// Tells whether each part of this grid is made of whole domains of another one.
    pub fn divides(self, finer: Self) -> bool {
        self.0.iter().zip(finer.0).all(|(&parts, finer)| finer.is_multiple_of(parts))
    }

    /// Returns the key by which grids are compared. The least key is best.
    fn preference(&self, dims: Dims) -> (usize, Reverse<[usize; 3]>) {
        let [_, y, z, t] = self.0;
        (self.surface(dims), Reverse([t, z, y]))
    }

    /// Returns the coordinates of a domain in the grid.
    pub fn coordinates(&self, number: usize) -> [usize; NDIM] {
        let mut rest = number;
        self.0.map(|parts| {
            let coordinate = rest % parts;
            rest /= parts;
            coordinate
        })
    }

    /// Returns the number of the domain at these coordinates.
    pub fn number(&self, coordinates: [usize; NDIM]) -> usize {
        (0..NDIM).rev().fold(0, |number, mu| number * self.0[mu] + coordinates[mu])
    }

    /// Returns the domains of a lattice, in the order of their numbers.
    ///
    /// The extents differ as little as possible.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    pub fn domains(&self, dims: Dims) -> Result<Vec<Domain>, GridError> {
        self.check(dims)?;
        let domain = |number| {
            let place = self.coordinates(number);
            let parts: [_; NDIM] = std::array::from_fn(|mu| part(dims[mu], self.0[mu], place[mu], unit(mu)));
            Domain::new(dims, parts.map(|(origin, _)| origin), parts.map(|(_, extent)| extent))
        };
        Ok((0..self.count()).map(domain).collect())
    }
}

/// Returns the number that divides the extent of every part in direction `mu`.
fn unit(mu: usize) -> usize {
    if mu == 0 { 2 } else { 1 }
}

/// Returns origin and length of one of the parts of an extent.
///
/// The extent is divided as evenly as whole units allow: the first parts are longer.
fn part(extent: usize, parts: usize, number: usize, unit: usize) -> (usize, usize) {
    let (each, longer) = (extent / unit / parts, extent / unit % parts);
    let origin = number * each + number.min(longer);
    (unit * origin, unit * (each + usize::from(number < longer)))
}

/// Returns all grids of this many parts.
fn grids_of(count: usize) -> impl Iterator<Item = Grid> {
    let divisors = |count: usize| (1..=count).filter(move |parts| count.is_multiple_of(*parts));
    divisors(count).flat_map(move |x| {
        divisors(count / x)
            .flat_map(move |y| divisors(count / x / y).map(move |z| Grid([x, y, z, count / x / y / z])))
    })
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z, t] = self.0;
        write!(f, "{x}x{y}x{z}x{t}")
    }
}

impl FromStr for Grid {
    type Err = GridError;

    /// Reads `1x1x2x2`, also with the other separators of [`Dims`].
    fn from_str(text: &str) -> Result<Self, GridError> {
        let bad = || GridError::NotFour(text.to_owned());
        let numbers = text
            .split(['x', 'X', '×', '.', ',', ' '])
            .filter(|part| !part.is_empty())
            .map(|part| part.parse().map_err(|_| bad()))
            .collect::<Result<Vec<usize>, _>>()?;
        numbers.try_into().ok().and_then(Self::new).ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(extents: [usize; NDIM]) -> Dims {
        Dims::new(extents).unwrap()
    }

    #[test]
    fn extents_are_divided_completely() {
        let parts = |extent, count, unit| -> Vec<_> {
            (0..count).map(|number| part(extent, count, number, unit)).collect()
        };
        assert_eq!(parts(8, 3, 1), [(0, 3), (3, 3), (6, 2)]);
        assert_eq!(parts(4, 2, 1), [(0, 2), (2, 2)]);
        assert_eq!(parts(2, 2, 1), [(0, 1), (1, 1)]);
        assert_eq!(parts(10, 3, 2), [(0, 4), (4, 4), (8, 2)]);
    }

    #[test]
    fn the_grid_has_the_least_surface() {
        let best = |extents, devices| Grid::least_surface(dims(extents), devices).parts();
        assert_eq!(best([8, 8, 8, 16], 1), [1, 1, 1, 1]);
        assert_eq!(best([8, 8, 8, 16], 2), [1, 1, 1, 2]);
        // 4 · 512 or 2 · 512 + 2 · 512.
        assert_eq!(best([8, 8, 8, 8], 4), [1, 1, 1, 4]);
        // 8 · 512 or (2 + 4) · 512, or three times 2 · 512.
        assert_eq!(best([8, 8, 8, 8], 8), [1, 1, 2, 4]);
        assert_eq!(best([4, 4, 12, 6], 2), [1, 1, 2, 1]);
        assert_eq!(best([12, 4, 4, 6], 3), [3, 1, 1, 1]);
        assert_eq!(best([4, 12, 4, 6], 3), [1, 3, 1, 1]);
    }

    #[test]
    fn a_coarser_grid_has_blocks_of_domains() {
        let grid = |parts| Grid::new(parts).unwrap();
        let dims = dims([8, 8, 8, 16]);
        let fine = grid([1, 1, 2, 4]);
        assert_eq!(fine.least_surface_above(dims, 2), Some(grid([1, 1, 1, 2])));
        assert_eq!(fine.least_surface_above(dims, 4), Some(grid([1, 1, 1, 4])));
        assert_eq!(fine.least_surface_above(dims, 3), None);
        assert!(grid([1, 1, 2, 2]).divides(fine) && !grid([1, 2, 1, 1]).divides(fine));
        // The ranks require two parts in y.
        let ranks = grid([1, 2, 1, 1]);
        assert_eq!(Grid::least_surface_in(dims, ranks, [4]), Some(grid([1, 2, 1, 2])));
        assert_eq!(Grid::least_surface_in(dims, ranks, [3]), None);
        assert_eq!(Grid::least_surface_in(dims, ranks, [3, 2]), Some(ranks));
    }

    #[test]
    fn as_many_devices_as_possible_have_a_part() {
        let best = |extents, devices| Grid::least_surface(dims(extents), devices).parts();
        assert_eq!(best([2, 2, 2, 2], 3), [1, 1, 1, 2]);
        assert_eq!(best([2, 2, 2, 2], 4), [1, 1, 2, 2]);
        assert_eq!(best([2, 2, 2, 2], 100), [1, 2, 2, 2]);
        assert_eq!(best([8, 8, 8, 8], 11), [1, 1, 2, 5]);
        assert_eq!(best([8, 8, 8, 8], 0), [1, 1, 1, 1]);
    }

    /// Compares with a search through all grids of any count.
    #[test]
    fn no_possible_grid_is_better() {
        for (extents, devices) in [([4, 6, 2, 10], 6), ([8, 4, 6, 2], 5), ([2, 4, 6, 8], 12)] {
            let dims = dims(extents);
            let best = Grid::least_surface(dims, devices);
            for site in 0..8usize.pow(4) {
                let grid = Grid([0, 1, 2, 3].map(|mu| site / 8usize.pow(mu) % 8 + 1));
                if grid.count() <= devices && grid.domains(dims).is_ok() {
                    let better = grid.count() > best.count()
                        || (grid.count() == best.count() && grid.surface(dims) < best.surface(dims));
                    assert!(!better, "{grid} is better than {best} for {dims}");
                }
            }
        }
    }

    #[test]
    fn every_site_is_in_one_domain() {
        for (extents, grid) in
            [([6, 4, 2, 10], [3, 2, 1, 4]), ([4, 6, 6, 2], [1, 4, 5, 2]), ([10, 2, 2, 2], [3, 2, 1, 1])]
        {
            let (dims, grid) = (dims(extents), Grid(grid));
            let domains = grid.domains(dims).unwrap();
            let mut owners = vec![0; dims.volume()];
            for domain in &domains {
                let inside =
                    (0..dims.volume()).filter(|&site| domain.local(dims.coordinates(site)).is_some());
                assert_eq!(inside.clone().count(), domain.volume());
                inside.for_each(|site| owners[site] += 1);
            }
            assert!(owners.iter().all(|&owners| owners == 1), "{grid} {dims}");
        }
    }

    #[test]
    fn numbers_and_places_are_inverse() {
        let grid = Grid([2, 1, 3, 4]);
        for number in 0..grid.count() {
            assert_eq!(grid.number(grid.coordinates(number)), number);
        }
        assert_eq!(grid.coordinates(1), [1, 0, 0, 0]);
    }

    #[test]
    fn what_is_impossible_is_refused_by_name() {
        let dims = dims([6, 4, 4, 2]);
        let refused = |parts| Grid(parts).domains(dims).unwrap_err().to_string();
        let text = refused([4, 1, 1, 1]);
        assert!(text.contains("4 parts in x") && text.contains("at most 3 there, as each"), "{text}");
        let text = refused([1, 1, 1, 3]);
        assert!(text.contains("3 parts in t") && text.contains("at most 2 there;"), "{text}");
        assert!(Grid([3, 4, 4, 2]).check(dims).is_ok());
    }

    #[test]
    fn reads_what_it_writes() {
        let grid = Grid([1, 1, 2, 2]);
        assert_eq!(grid.to_string().parse(), Ok(grid));
        assert_eq!("1,2,1,3".parse(), Ok(Grid([1, 2, 1, 3])));
        for bad in ["", "2", "1x1x2", "1x1x0x2", "1x1x2x2x1", "1x1xax2", "1x1x-1x2"] {
            assert_eq!(bad.parse::<Grid>(), Err(GridError::NotFour(bad.to_owned())));
        }
    }
}
