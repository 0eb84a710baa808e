//! The domains beside a domain.

use super::{Grid, NDIM};

/// The domains beside one domain, by their numbers in the grid.
///
/// A lattice is a torus, and so is the grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neighbours {
    /// The domain behind in each direction.
    pub behind: [usize; NDIM],
    /// The domain ahead in each direction.
    pub ahead: [usize; NDIM],
}

impl Neighbours {
    /// Returns the neighbours of a domain.
    ///
    /// In a direction that is not cut the domain is its own neighbour.
    pub fn of(grid: Grid, number: usize) -> Self {
        let place = grid.coordinates(number);
        let beside = |mu: usize, steps: usize| {
            let mut other = place;
            other[mu] = (other[mu] + steps) % grid.parts()[mu];
            grid.number(other)
        };
        Self {
            behind: std::array::from_fn(|mu| beside(mu, grid.parts()[mu] - 1)),
            ahead: std::array::from_fn(|mu| beside(mu, 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Dims;

    /// Compares sites: a step out of a domain leads into the neighbour.
    #[test]
    fn a_step_out_of_a_domain_leads_to_its_neighbour() {
        let dims = Dims::new([8, 6, 2, 4]).unwrap();
        for parts in [[1, 1, 1, 3], [1, 1, 2, 2], [3, 2, 1, 1], [2, 4, 2, 3], [1; NDIM]] {
            let grid = Grid::new(parts).unwrap();
            let domains = grid.domains(dims).unwrap();
            for (number, domain) in domains.iter().enumerate() {
                let neighbours = Neighbours::of(grid, number);
                for mu in 0..NDIM {
                    let mut last = domain.origin();
                    last[mu] += domain.extents()[mu] - 1;
                    let ahead = dims.coordinates(dims.forward(dims.site(last), mu));
                    assert!(domains[neighbours.ahead[mu]].local(ahead).is_some(), "{grid} {number} {mu}");
                    let behind = dims.coordinates(dims.backward(dims.site(domain.origin()), mu));
                    assert!(domains[neighbours.behind[mu]].local(behind).is_some(), "{grid} {number} {mu}");
                }
            }
        }
    }

    #[test]
    fn behind_is_the_reverse_of_ahead() {
        let grid = Grid::new([2, 1, 3, 4]).unwrap();
        for number in 0..grid.count() {
            let Neighbours { ahead, .. } = Neighbours::of(grid, number);
            for mu in 0..NDIM {
                assert_eq!(Neighbours::of(grid, ahead[mu]).behind[mu], number);
            }
            assert_eq!(ahead[1], number);
        }
    }
}
