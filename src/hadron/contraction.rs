//! Contractions: the sums that make correlators of the columns of a propagator.

use super::correlator::Correlator;
use super::observable::Observable;
use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::host::Spinor;

/// The sum over the sites of each slice and over the columns of a propagator.
///
/// Slice n has distance n from the source along one direction. Columns are added one after the
/// other, so that no two are in memory. The sum has the normalisation of the propagator: κ normalisation for
/// solutions of M_κ.
#[derive(Clone, Debug, PartialEq)]
pub struct Contraction {
    observable: Observable,
    dims: Dims,
    along: usize,
    origin: usize,
    values: Vec<f64>,
}

impl Contraction {
    /// Makes an empty sum along direction `along` (0 to 3) from the slice `origin`.
    pub fn new(observable: Observable, dims: Dims, along: usize, origin: usize) -> Self {
        Self { observable, dims, along, origin, values: vec![0.0; dims[along]] }
    }

    /// Adds the solution for one source component.
    ///
    /// The spinors are in lexicographic order of sites.
    ///
    /// # Panics
    /// If there is not one spinor for each site.
    pub fn add(&mut self, solution: &[Spinor<f64>]) {
        assert_eq!(solution.len(), self.dims.volume(), "one spinor for each site");
        let extents = self.dims.extents();
        let of_site = self.observable.of_site();
        let sums: Vec<f64> = (0..extents[self.along])
            .into_par_iter()
            .map(|distance| {
                let slice = (self.origin + distance) % extents[self.along];
                sites_of_slice(self.dims, self.along, slice).map(|site| of_site(&solution[site])).sum()
            })
            .collect();
        self.values.iter_mut().zip(sums).for_each(|(value, sum)| *value += sum);
    }

    /// Returns C(0), C(1), … of the solutions that were added so far.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the correlator, when all columns were added.
    pub fn finish(self) -> Correlator {
        let Self { observable, along, values, .. } = self;
        Correlator { observable, along, values }
    }
}

/// Returns the sites with coordinate `slice` in direction `mu`.
///
/// The sites are in lexicographic order.
fn sites_of_slice(dims: Dims, mu: usize, slice: usize) -> impl Iterator<Item = usize> {
    let mut extents = dims.extents();
    extents[mu] = 1;
    let count: usize = extents.iter().product();
    (0..count).map(move |mut k| {
        let mut c: [usize; NDIM] = std::array::from_fn(|nu| {
            let coordinate = k % extents[nu];
            k /= extents[nu];
            coordinate
        });
        c[mu] = slice;
        dims.site(c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn sums_each_slice_once_from_the_origin() {
        let dims = Dims::new([2, 4, 6, 8]).unwrap();
        let solution: Vec<Spinor<f64>> = (0..dims.volume())
            .map(|site| {
                let c = dims.coordinates(site);
                Spinor::from_fn(|spin, colour| {
                    let here = spin == 1 && colour == 2;
                    Complex::new(0.0, if here { 1.0 + c[2] as f64 } else { 0.0 })
                })
            })
            .collect();
        let mut correlator = Contraction::new(Observable::Pion, dims, 2, 4);
        correlator.add(&solution);
        let expected: Vec<f64> = [5.0f64, 6.0, 1.0, 2.0, 3.0, 4.0].map(|v| v * v * 64.0).to_vec();
        assert_eq!(correlator.values(), expected);
    }
}
