//! The sites of a coarse level.

use crate::geometry::NDIM;

/// The sites of a coarse level, and their order.
///
/// If the lattice has two parities, the even sites come first. In a direction with one site there
/// are no hops. If another extent is odd, neighbours may have equal parity. Then there is a single
/// half, of all sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CoarseLattice {
    extents: [usize; NDIM],
    /// Sites of the first half; all where there is no other.
    evens: usize,
    /// The coordinates of each site, in the order of places.
    coordinates: Vec<[usize; NDIM]>,
    /// The place of each site in lexicographic order.
    places: Vec<usize>,
}

impl CoarseLattice {
    pub fn new(extents: [usize; NDIM]) -> Self {
        let volume: usize = extents.iter().product();
        let at = |mut site: usize| {
            extents.map(|extent| {
                let coordinate = site % extent;
                site /= extent;
                coordinate
            })
        };
        let has_parities = volume > 1 && extents.iter().all(|&extent| extent == 1 || extent % 2 == 0);
        let parity = |site: &usize| if has_parities { at(*site).iter().sum::<usize>() % 2 } else { 0 };
        let mut order: Vec<usize> = (0..volume).collect();
        order.sort_by_key(parity);
        let evens = order.iter().filter(|site| parity(site) == 0).count();
        let mut places = vec![0; volume];
        order.iter().enumerate().for_each(|(place, &site)| places[site] = place);
        Self { extents, evens, coordinates: order.into_iter().map(at).collect(), places }
    }

    pub fn extents(&self) -> [usize; NDIM] {
        self.extents
    }

    /// All sites.
    pub fn volume(&self) -> usize {
        self.coordinates.len()
    }

    /// Tells whether there are two halves, with equal numbers of sites.
    pub fn has_parities(&self) -> bool {
        self.evens < self.volume()
    }

    /// Sites of the first half.
    pub fn evens(&self) -> usize {
        self.evens
    }

    /// First place and number of the sites of a half.
    pub fn half(&self, half: usize) -> [usize; 2] {
        if half == 0 { [0, self.evens] } else { [self.evens, self.volume() - self.evens] }
    }

    pub fn coordinates(&self, place: usize) -> [usize; NDIM] {
        self.coordinates[place]
    }

    pub fn place(&self, [x, y, z, t]: [usize; NDIM]) -> usize {
        let [nx, ny, nz, _] = self.extents;
        self.places[((t * nz + z) * ny + y) * nx + x]
    }

    /// The place of the neighbour ahead, or behind.
    pub fn neighbour(&self, place: usize, mu: usize, ahead: bool) -> usize {
        let (mut at, extent) = (self.coordinates[place], self.extents[mu]);
        at[mu] = (at[mu] + if ahead { 1 } else { extent - 1 }) % extent;
        self.place(at)
    }

    /// Tells whether hops in direction `mu` leave a site.
    pub fn hops(&self, mu: usize) -> bool {
        self.extents[mu] > 1
    }

    /// Returns the neighbours of each place, ahead and behind in each direction.
    ///
    /// Neighbours are given as places within their half.
    pub fn neighbours_within_halves(&self) -> Vec<u32> {
        let within = |place: usize| if place < self.evens { place } else { place - self.evens };
        let of = |place: usize| {
            (0..2 * NDIM).map(move |k| within(self.neighbour(place, k / 2, k % 2 == 0)) as u32)
        };
        (0..self.volume()).flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_even_sites_are_odd_where_there_are_parities() {
        for (extents, halves) in
            [([2, 4, 1, 6], true), ([1, 1, 1, 1], false), ([2, 3, 2, 2], false), ([1, 1, 1, 2], true)]
        {
            let lattice = CoarseLattice::new(extents);
            assert_eq!(lattice.has_parities(), halves, "{extents:?}");
            for place in 0..lattice.volume() {
                assert_eq!(lattice.place(lattice.coordinates(place)), place);
                for mu in (0..NDIM).filter(|&mu| lattice.hops(mu)) {
                    let ahead = lattice.neighbour(place, mu, true);
                    assert_eq!(lattice.neighbour(ahead, mu, false), place);
                    if halves {
                        assert_ne!(ahead < lattice.evens(), place < lattice.evens());
                    }
                }
            }
        }
    }
}
