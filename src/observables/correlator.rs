//! Meson correlators from quark propagators.

use crate::geometry::{Dims, NDIM};
use crate::host::Spinor;
use crate::scalar::Real;
use rayon::prelude::*;

/// The pion two-point function C(n) = Σ_x Σ_sources |S(x)|², the sum over all sites at distance n from the
/// source along one direction, and over the 12 spin and colour components of the source.
///
/// Follows from tr[γ5 S γ5 S†γ5 γ5] with γ5-hermiticity. Normalised as the propagator is: κ form for solutions of M_κ.
#[derive(Clone, Debug, PartialEq)]
pub struct PionCorrelator {
    dims: Dims,
    along: usize,
    origin: usize,
    values: Vec<f64>,
}

impl PionCorrelator {
    /// A correlator of nothing yet, along direction `along` (0 to 3) from the slice `origin`.
    pub fn new(dims: Dims, along: usize, origin: usize) -> Self {
        Self { dims, along, origin, values: vec![0.0; dims[along]] }
    }

    /// Adds the solution for one source component, spinors in lexicographic order of sites.
    ///
    /// # Panics
    /// When there is not one spinor for each site.
    pub fn add<T: Real>(&mut self, solution: &[Spinor<T>]) {
        assert_eq!(solution.len(), self.dims.volume(), "one spinor for each site");
        let extents = self.dims.extents();
        let sums: Vec<f64> = (0..extents[self.along])
            .into_par_iter()
            .map(|distance| {
                let slice = (self.origin + distance) % extents[self.along];
                sites_of_slice(self.dims, self.along, slice).map(|site| solution[site].norm2()).sum()
            })
            .collect();
        self.values.iter_mut().zip(sums).for_each(|(value, sum)| *value += sum);
    }

    /// C(0), C(1), …
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// The sites with coordinate `slice` in direction `mu`, in lexicographic order.
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

/// The effective mass at each distance n, from C(n−1) + C(n+1) = 2 cosh(m) C(n), which holds for a single state on a periodic
/// lattice. `None` at n = 0 and wherever the ratio is below 1.
pub fn effective_mass(correlator: &[f64]) -> Vec<Option<f64>> {
    let extent = correlator.len();
    (0..extent)
        .map(|n| {
            let ahead = correlator[(n + 1) % extent];
            let behind = correlator[(n + extent - 1) % extent];
            let cosh = (ahead + behind) / (2.0 * correlator[n]);
            (n > 0 && cosh >= 1.0 && cosh.is_finite()).then(|| cosh.acosh())
        })
        .collect()
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
        let mut correlator = PionCorrelator::new(dims, 2, 4);
        correlator.add(&solution);
        let expected: Vec<f64> = [5.0f64, 6.0, 1.0, 2.0, 3.0, 4.0].map(|v| v * v * 64.0).to_vec();
        assert_eq!(correlator.values(), expected);
    }

    #[test]
    fn effective_mass_of_a_single_state() {
        let mass: f64 = 0.37;
        let correlator: Vec<f64> = (0..16).map(|t| (mass * (t as f64 - 8.0)).cosh()).collect();
        for value in &effective_mass(&correlator)[1..16] {
            assert!((value.unwrap() - mass).abs() < 1e-12);
        }
        assert_eq!(effective_mass(&[1.0, 1.0, 3.0, 1.0])[2], None);
    }
}
