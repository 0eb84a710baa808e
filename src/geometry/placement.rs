//! The domains of each rank of a job.

use super::{Grid, NDIM};

/// A grid of domains that is cut into equal blocks of them, one for each rank.
///
/// Ranks are numbered like domains, with x fastest. A rank's domains are ordered by their numbers
/// in the grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placement {
    grid: Grid,
    ranks: Grid,
}

impl Placement {
    /// Cuts the domains into blocks by this grid of ranks, which divides their grid.
    pub fn new(grid: Grid, ranks: Grid) -> Self {
        debug_assert!(ranks.divides(grid), "{ranks} {grid}");
        Self { grid, ranks }
    }

    /// Returns the parts that ranks cut the lattice into.
    pub fn ranks(&self) -> Grid {
        self.ranks
    }

    /// Returns the rank that has a domain.
    pub fn rank_of(&self, domain: usize) -> usize {
        let (place, domains, ranks) = (self.grid.coordinates(domain), self.grid.parts(), self.ranks.parts());
        let block: [usize; NDIM] = std::array::from_fn(|mu| place[mu] / (domains[mu] / ranks[mu]));
        self.ranks.number(block)
    }

    /// Returns the domains of a rank, in their order.
    pub fn domains_of(&self, rank: usize) -> Vec<usize> {
        (0..self.grid.count()).filter(|&domain| self.rank_of(domain) == rank).collect()
    }

    /// Returns the place of a domain among the domains of its rank.
    pub fn place_in_rank(&self, domain: usize) -> usize {
        let rank = self.rank_of(domain);
        (0..domain).filter(|&other| self.rank_of(other) == rank).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_have_blocks_of_domains() {
        let grid = |parts| Grid::new(parts).unwrap();
        let placement = Placement::new(grid([1, 2, 2, 2]), grid([1, 2, 1, 2]));
        let domains: Vec<_> = (0..4).map(|rank| placement.domains_of(rank)).collect();
        assert_eq!(domains, [[0, 2], [1, 3], [4, 6], [5, 7]]);
        for (rank, own) in domains.iter().enumerate() {
            for (place, &domain) in own.iter().enumerate() {
                assert_eq!((placement.rank_of(domain), placement.place_in_rank(domain)), (rank, place));
            }
        }
        let alone = Placement::new(grid([1, 1, 1, 3]), Grid::ONE);
        assert_eq!(alone.domains_of(0), [0, 1, 2]);
    }
}
