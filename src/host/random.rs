//! Random fields, for the start of a simulation and for tests of operators.
//!
//! Every field is a function of its seed and of the global number of the site, through [`Philox`].
//! The number of threads that fill a field does not matter. Links, spinors and gauge
//! transformations of one seed are independent of each other.

use super::configuration::{GaugeConfiguration, Links};
use super::matrix3::Matrix3;
use super::spinor::Spinor;
use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::philox::Philox;

/// The streams of random numbers of a seed, one for each use.
///
/// The Monte Carlo updates own the upper half of the streams.
mod stream {
    pub const LINKS: u32 = 0;
    pub const SPINOR: u32 = 1;
    pub const GAUGE_TRANSFORMATION: u32 = 2;
}

/// Draws a matrix of independent complex Gaussians with ⟨|z|²⟩ = 1.
fn gaussian_matrix(random: &mut Philox) -> Matrix3<f64> {
    Matrix3::from_fn(|_, _| random.gaussian())
}

/// Draws an element of SU(3) from the Haar measure.
///
/// Multiplying a Gaussian matrix by an element of SU(3) from the right leaves its distribution
/// unchanged. Re-unitarising commutes with this product. The result therefore has the invariance
/// that defines the Haar measure.
pub fn random_su3(random: &mut Philox) -> Matrix3<f64> {
    gaussian_matrix(random).reunitarised()
}

/// Makes the free field: all links equal to the unit matrix.
pub fn cold(dims: Dims) -> GaugeConfiguration {
    GaugeConfiguration::unit(dims)
}

/// Draws every link from the Haar measure: the limit of infinite coupling, β = 0.
pub fn hot(dims: Dims, seed: u64) -> GaugeConfiguration {
    links_from(dims, seed, random_su3)
}

/// Makes links close to the unit matrix: 1 + ε·noise brought back to SU(3).
///
/// The entries of the noise are complex Gaussians with ⟨|z|²⟩ = 1.
pub fn weak(dims: Dims, epsilon: f64, seed: u64) -> GaugeConfiguration {
    links_from(dims, seed, |random| {
        (Matrix3::identity() + gaussian_matrix(random).scale(epsilon)).reunitarised()
    })
}

fn links_from(
    dims: Dims,
    seed: u64,
    draw: impl Fn(&mut Philox) -> Matrix3<f64> + Sync + Send,
) -> GaugeConfiguration {
    let mut links = vec![Matrix3::zero(); NDIM * dims.volume()];
    links.par_chunks_mut(NDIM).enumerate().for_each(|(site, links)| {
        let mut random = Philox::new(seed, stream::LINKS, site as u64);
        links.fill_with(|| draw(&mut random));
    });
    GaugeConfiguration::new(dims, Links::Double(links))
}

/// Draws a spinor field, one spinor a site.
///
/// The components are independent complex Gaussians with ⟨|z|²⟩ = 1.
pub fn spinor_field(dims: Dims, seed: u64) -> Vec<Spinor<f64>> {
    field_from(dims, seed, stream::SPINOR, |random| Spinor::from_fn(|_, _| random.gaussian()))
}

/// Draws one independent element of SU(3) from the Haar measure for each site.
pub fn gauge_transformation(dims: Dims, seed: u64) -> Vec<Matrix3<f64>> {
    field_from(dims, seed, stream::GAUGE_TRANSFORMATION, random_su3)
}

fn field_from<T: Send>(
    dims: Dims,
    seed: u64,
    stream: u32,
    draw: impl Fn(&mut Philox) -> T + Sync + Send,
) -> Vec<T> {
    let sites = (0..dims.volume()).into_par_iter();
    sites.map(|site| draw(&mut Philox::new(seed, stream, site as u64))).collect()
}

/// Transforms links: U′_μ(x) = g(x) U_μ(x) g†(x+μ), in double precision.
///
/// # Panics
/// When the transformation does not have one matrix for each site.
pub fn transform_links(
    configuration: &GaugeConfiguration,
    transformation: &[Matrix3<f64>],
) -> GaugeConfiguration {
    let dims = configuration.dims();
    assert_eq!(transformation.len(), dims.volume(), "a gauge transformation has one matrix a site");
    let links = (0..NDIM * dims.volume())
        .into_par_iter()
        .map(|link| {
            let (site, mu) = (link / NDIM, link % NDIM);
            let target = transformation[dims.forward(site, mu)];
            transformation[site] * configuration.link(site, mu) * target.adjoint()
        })
        .collect();
    GaugeConfiguration::new(dims, Links::Double(links))
}

/// Transforms a spinor field: ψ′(x) = g(x) ψ(x).
///
/// # Panics
/// When the field and the transformation differ in length.
pub fn transform_spinor(field: &[Spinor<f64>], transformation: &[Matrix3<f64>]) -> Vec<Spinor<f64>> {
    assert_eq!(field.len(), transformation.len(), "a gauge transformation has one matrix a site");
    let sites = field.par_iter().zip(transformation);
    sites.map(|(spinor, g)| Spinor(spinor.0.map(|colour_vector| g.times(&colour_vector)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    fn dims() -> Dims {
        Dims::new([2, 4, 6, 8]).unwrap()
    }

    /// Returns Re tr of a plaquette in a plane, summed over the lattice.
    fn plaquettes(configuration: &GaugeConfiguration, mu: usize, nu: usize) -> f64 {
        let dims = configuration.dims();
        let link = |site, mu| configuration.link(site, mu);
        let around = |site| {
            let there = link(site, mu) * link(dims.forward(site, mu), nu);
            let back = link(site, nu) * link(dims.forward(site, nu), mu);
            (there * back.adjoint()).trace().re
        };
        (0..dims.volume()).map(around).sum()
    }

    #[test]
    fn a_field_does_not_depend_on_the_number_of_threads() {
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (hot(dims(), 7), weak(dims(), 0.1, 7), spinor_field(dims(), 7)))
        };
        assert_eq!(with_threads(1), with_threads(3));
    }

    #[test]
    fn a_site_has_the_same_links_on_a_longer_lattice() {
        let short = hot(Dims::new([4, 4, 4, 2]).unwrap(), 3);
        let long = hot(Dims::new([4, 4, 4, 8]).unwrap(), 3);
        for site in 0..short.dims().volume() {
            assert_eq!(short.link(site, 2), long.link(site, 2));
        }
    }

    #[test]
    fn links_are_in_su3() {
        for configuration in [hot(dims(), 1), weak(dims(), 0.3, 1)] {
            for site in 0..dims().volume() {
                for mu in 0..NDIM {
                    let link = configuration.link(site, mu);
                    assert!(link.unitarity_deviation() < 1e-13);
                    assert!((link.determinant() - 1.0).norm() < 1e-13);
                }
            }
        }
    }

    /// Checks characters of the Haar measure.
    ///
    /// ⟨tr U⟩ = 0, ⟨|tr U|²⟩ = 1, ⟨(tr U)³⟩ = 1, ⟨|tr U|⁴⟩ = 2.
    #[test]
    fn hot_links_follow_the_haar_measure() {
        let samples = 100_000;
        let mut sums = [Complex::default(); 4];
        for site in 0..samples {
            let trace = random_su3(&mut Philox::new(4, 0, site)).trace();
            let square = trace.norm_sqr();
            sums[0] += trace;
            sums[1] += square;
            sums[2] += trace.powi(3);
            sums[3] += square * square;
        }
        let [trace, square, cube, fourth] = sums.map(|sum| sum / samples as f64);
        // Five standard deviations. The deviations of one sample are at most 1, 1, √6 and √20.
        let root = 5.0 / (samples as f64).sqrt();
        assert!(trace.norm() < root);
        assert!((square - 1.0).norm() < root);
        assert!((cube - 1.0).norm() < root * 6f64.sqrt());
        assert!((fourth - 2.0).norm() < root * 20f64.sqrt());
    }

    #[test]
    fn weak_links_approach_the_unit_matrix_in_first_order() {
        let distance = |epsilon| {
            let configuration = weak(dims(), epsilon, 2);
            let from_unit = |site| configuration.link(site, 0).max_difference(&Matrix3::identity());
            (0..dims().volume()).map(from_unit).fold(0.0, f64::max)
        };
        assert_eq!(weak(dims(), 0.0, 2), cold(dims()));
        let ratio = distance(1e-3) / distance(1e-4);
        assert!((ratio - 10.0).abs() < 0.5, "{ratio}");
    }

    #[test]
    fn plaquettes_are_gauge_invariant_and_links_are_not() {
        let configuration = hot(dims(), 5);
        let transformed = transform_links(&configuration, &gauge_transformation(dims(), 6));
        assert!(transformed.link(0, 0).max_difference(&configuration.link(0, 0)) > 0.1);
        for nu in 1..NDIM {
            for mu in 0..nu {
                let difference = plaquettes(&transformed, mu, nu) - plaquettes(&configuration, mu, nu);
                assert!(difference.abs() < 1e-10, "{difference:e} in the plane {mu}, {nu}");
            }
        }
    }

    /// Checks that ψ†(x) U_μ(x) ψ(x+μ) is gauge invariant.
    #[test]
    fn hops_between_spinors_are_gauge_invariant() {
        let g = gauge_transformation(dims(), 6);
        let (links, field) = (hot(dims(), 5), spinor_field(dims(), 5));
        let (links_of_g, field_of_g) = (transform_links(&links, &g), transform_spinor(&field, &g));
        let hop = |links: &GaugeConfiguration, field: &[Spinor<f64>], site, mu, spin: usize| {
            let moved = links.link(site, mu).times(&field[dims().forward(site, mu)].0[spin]);
            (0..3).map(|c| field[site].0[spin][c].conj() * moved[c]).sum::<Complex<f64>>()
        };
        for site in 0..dims().volume() {
            for mu in 0..NDIM {
                let before = hop(&links, &field, site, mu, mu);
                let after = hop(&links_of_g, &field_of_g, site, mu, mu);
                assert!((before - after).norm() < 1e-12);
            }
        }
    }
}
