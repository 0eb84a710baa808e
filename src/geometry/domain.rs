//! The part of a lattice that one device holds.

use super::{Dims, NDIM};
use std::ops::Range;

/// A box of sites: its origin in the lattice, and its extents.
///
/// The sites of a domain are numbered like the sites of a lattice, with x fastest. The domain's
/// origin and its extent in x are even.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Domain {
    dims: Dims,
    origin: [usize; NDIM],
    extents: [usize; NDIM],
}

impl Domain {
    /// Makes the box with the first site `origin`; the box lies in the lattice.
    pub(super) fn new(dims: Dims, origin: [usize; NDIM], extents: [usize; NDIM]) -> Self {
        debug_assert!(
            [origin[0], extents[0]].iter().all(|x| x.is_multiple_of(2)),
            "a row begins with a pair"
        );
        debug_assert!((0..NDIM).all(|mu| extents[mu] > 0 && origin[mu] + extents[mu] <= dims[mu]));
        Self { dims, origin, extents }
    }

    /// Makes the domain of a whole lattice.
    pub fn whole(dims: Dims) -> Self {
        Self::new(dims, [0; NDIM], dims.extents())
    }

    /// Returns the extents of the whole lattice.
    pub fn dims(&self) -> Dims {
        self.dims
    }

    /// Returns the coordinates of the domain's first site in the whole lattice.
    pub fn origin(&self) -> [usize; NDIM] {
        self.origin
    }

    /// Returns the domain's extents in x, y, z, t.
    pub fn extents(&self) -> [usize; NDIM] {
        self.extents
    }

    /// Returns the number of the domain's sites.
    pub fn volume(&self) -> usize {
        self.extents.iter().product()
    }

    /// Returns the parity of the domain's first site in the whole lattice.
    pub fn parity(&self) -> usize {
        self.origin.iter().sum::<usize>() % 2
    }

    /// Returns `true` if other domains are beside this one in direction `mu`.
    pub fn is_cut(&self, mu: usize) -> bool {
        self.extents[mu] != self.dims[mu]
    }

    /// Returns the directions that are cut.
    pub fn cut_directions(&self) -> impl Iterator<Item = usize> + use<> {
        let domain = *self;
        (0..NDIM).filter(move |&mu| domain.is_cut(mu))
    }

    /// Returns `true` if the domain ends at the end of the lattice in direction `mu`.
    pub fn is_last(&self, mu: usize) -> bool {
        self.origin[mu] + self.extents[mu] == self.dims[mu]
    }

    /// Returns the coordinates in the domain of a lattice site; `None` outside.
    pub fn local(&self, coordinates: [usize; NDIM]) -> Option<[usize; NDIM]> {
        let inside =
            |mu: usize| (self.origin[mu]..self.origin[mu] + self.extents[mu]).contains(&coordinates[mu]);
        (0..NDIM).all(inside).then(|| std::array::from_fn(|mu| coordinates[mu] - self.origin[mu]))
    }

    /// Returns the coordinates in the lattice of a site of the domain.
    pub fn global(&self, coordinates: [usize; NDIM]) -> [usize; NDIM] {
        std::array::from_fn(|mu| self.origin[mu] + coordinates[mu])
    }

    /// Returns the rows of the domain and of the sites beside it.
    ///
    /// The rows are ranges of lattice sites, in ascending order. Corners belong to the sites beside
    /// the domain.
    pub fn rows_with_halo(&self) -> Vec<Range<usize>> {
        let along = |mu: usize| -> Vec<usize> {
            let (extent, halo) = (self.dims[mu], usize::from(self.is_cut(mu)));
            let first = self.origin[mu] + extent - halo;
            (0..self.extents[mu] + 2 * halo).map(|k| (first + k) % extent).collect()
        };
        let mut rows = Vec::new();
        for &t in &along(3) {
            for &z in &along(2) {
                rows.extend(along(1).iter().map(|&y| self.dims.site([0, y, z, t])));
            }
        }
        rows.sort_unstable();
        rows.dedup();
        rows.into_iter().map(|first| first..first + self.dims[0]).collect()
    }

    /// Returns the stretches of consecutive lattice numbers of these sites, in order.
    ///
    /// Each range runs from the first number to one past the last. With one parity the numbers are
    /// half the site numbers, and half of the sites of a row count.
    pub fn stretches(&self, numbers: Range<usize>, parities: usize) -> impl Iterator<Item = Range<usize>> {
        let of_parity = move |count: usize| count * parities / 2;
        // Numbers are consecutive in the lattice up to the first cut direction.
        let whole = (0..NDIM).find(|&mu| self.is_cut(mu)).map_or(NDIM, |mu| mu + 1);
        let stretch = of_parity(self.extents[..whole].iter().product());
        let (domain, mut next) = (*self, numbers.start);
        std::iter::from_fn(move || {
            (next < numbers.end).then(|| {
                let within = next % stretch;
                let count = (stretch - within).min(numbers.end - next);
                let mut rest = next / stretch;
                let mut first = domain.origin;
                for mu in whole..NDIM {
                    first[mu] += rest % domain.extents[mu];
                    rest /= domain.extents[mu];
                }
                next += count;
                let start = of_parity(domain.dims.site(first)) + within;
                start..start + count
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Grid;

    #[test]
    fn parity_is_that_of_the_whole_lattice() {
        let dims = Dims::new([4, 6, 2, 6]).unwrap();
        for domain in Grid::new([2, 4, 2, 4]).unwrap().domains(dims).unwrap() {
            assert_eq!(domain.parity(), dims.parity(dims.site(domain.origin())));
        }
    }

    #[test]
    fn a_cut_direction_has_others_beside_it() {
        let dims = Dims::new([4, 4, 6, 8]).unwrap();
        let domains = Grid::new([1, 1, 2, 3]).unwrap().domains(dims).unwrap();
        for domain in &domains {
            assert_eq!(domain.cut_directions().collect::<Vec<_>>(), [2, 3]);
            assert!(domain.is_last(0) && domain.is_last(1));
        }
        assert_eq!(domains.iter().filter(|domain| domain.is_last(2) && domain.is_last(3)).count(), 1);
        assert_eq!(Domain::whole(dims).cut_directions().count(), 0);
    }

    /// Compares every stretch with the coordinates of its sites.
    ///
    /// The sites are all sites, or the sites of one parity.
    #[test]
    fn stretches_are_the_sites_in_their_order() {
        let dims = Dims::new([4, 4, 2, 6]).unwrap();
        for grid in [[1; NDIM], [1, 1, 1, 4], [1, 1, 2, 2], [1, 3, 1, 1], [2, 1, 1, 1], [2, 2, 2, 5]] {
            for domain in Grid::new(grid).unwrap().domains(dims).unwrap() {
                let extents = domain.extents();
                let site = |number: usize| {
                    let mut rest = number;
                    let local = extents.map(|extent| {
                        let coordinate = rest % extent;
                        rest /= extent;
                        coordinate
                    });
                    assert_eq!(domain.local(domain.global(local)), Some(local));
                    dims.site(domain.global(local))
                };
                for parities in [1, 2] {
                    let count = domain.volume() * parities / 2;
                    for numbers in [0..count, 1..count, 2..count - 1, 0..0] {
                        let found: Vec<usize> =
                            domain.stretches(numbers.clone(), parities).flatten().collect();
                        // Half the number of a site counts the sites of its parity.
                        let expected = numbers.map(|number| match parities {
                            1 => site(2 * number) / 2,
                            _ => site(number),
                        });
                        assert!(found.into_iter().eq(expected), "{domain:?} {parities}");
                    }
                }
            }
        }
    }
}
