//! Observables of a gauge configuration: plaquette, link trace, Polyakov loop.
//!
//! Links are read in the precision they are stored in and every sum is taken in double, in a fixed
//! order.

use crate::geometry::NDIM;
use crate::host::{GaugeConfiguration, LinksOfSites, Matrix3, ordered_sum, ordered_sum_of_sites};
use num_complex::Complex;
use serde::Serialize;
use std::ops::Add;

/// The average of Re tr U_μν / 3 over plaquettes; 1 on the free field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Plaquette {
    /// Over all six planes.
    pub average: f64,
    /// Over the three planes without t.
    pub spatial: f64,
    /// Over the three planes with t.
    pub temporal: f64,
}

/// Returns the average plaquette: Re tr / 3, averaged over sites and planes.
///
/// The plaquette is U_μ(x) U_ν(x+μ) U†_μ(x+ν) U†_ν(x). Processes that have parts of the links all
/// call this, and get the same bits as one that has all.
pub fn plaquette(config: &impl LinksOfSites) -> Plaquette {
    let volume = config.dims().volume();
    let t = NDIM - 1;
    let sums = ordered_sum_of_sites(volume, config.part(), [0.0; 2], add, |site| {
        let mut sums = [0.0; 2];
        for nu in 1..NDIM {
            for mu in 0..nu {
                let there = config.link(site, mu) * config.link(config.forward(site, mu), nu);
                let back = config.link(site, nu) * config.link(config.forward(site, nu), mu);
                sums[usize::from(nu == t)] += real_trace_with_adjoint(&there, &back);
            }
        }
        sums
    });
    let [spatial, temporal] = sums.unwrap_or([f64::NAN; 2]);
    let planes = 9.0 * volume as f64; // three planes, three colours
    Plaquette {
        average: (spatial + temporal) / (2.0 * planes),
        spatial: spatial / planes,
        temporal: temporal / planes,
    }
}

/// Returns Re tr U / 3, averaged over all links.
///
/// The trace depends on the gauge. NERSC headers carry it as a check. Processes that have parts of
/// the links all call this.
pub fn link_trace(config: &GaugeConfiguration) -> f64 {
    let volume = config.dims().volume();
    let sum = ordered_sum_of_sites(
        volume,
        config.part(),
        0.0,
        |a, b| a + b,
        |site| (0..NDIM).map(|mu| config.link(site, mu).trace().re).sum(),
    );
    sum.unwrap_or(f64::NAN) / (3 * NDIM * volume) as f64
}

/// Returns the Polyakov loop, averaged over space.
///
/// The loop is tr / 3 of U_t(x,0) U_t(x,1) … U_t(x,T−1).
pub fn polyakov_loop(config: &GaugeConfiguration) -> Complex<f64> {
    let dims = config.dims();
    let t = NDIM - 1;
    let space = dims.volume() / dims[t];
    let sum = ordered_sum(space, Complex::default(), Complex::add, |site| {
        (0..dims[t])
            .map(|slice| config.link(site + slice * space, t))
            .fold(Matrix3::identity(), |line, link| line * link)
            .trace()
    });
    sum / (3 * space) as f64
}

/// Computes Re tr(A B†) without forming the product.
fn real_trace_with_adjoint(a: &Matrix3<f64>, b: &Matrix3<f64>) -> f64 {
    a.0.iter().flatten().zip(b.0.iter().flatten()).map(|(a, b)| a.re * b.re + a.im * b.im).sum()
}

fn add(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Dims;
    use crate::host::{Links, Unitarity, unitarity};

    /// Links that differ from each other, in SU(3).
    fn sample(dims: Dims) -> GaugeConfiguration {
        let links = (0..NDIM * dims.volume())
            .map(|n| {
                Matrix3::from_fn(|i, j| {
                    let k = (9 * n + 3 * i + j) as f64;
                    Complex::new((1.3 * k).sin() + if i == j { 1.5 } else { 0.0 }, (0.7 * k * k).cos())
                })
                .reunitarised()
            })
            .collect();
        GaugeConfiguration::new(dims, Links::Double(links))
    }

    #[test]
    fn the_free_field_is_one_everywhere() {
        let config = GaugeConfiguration::unit(Dims::new([2, 4, 6, 8]).unwrap());
        let one = Plaquette { average: 1.0, spatial: 1.0, temporal: 1.0 };
        assert_eq!(plaquette(&config), one);
        assert_eq!(link_trace(&config), 1.0);
        assert_eq!(polyakov_loop(&config), Complex::new(1.0, 0.0));
        let none = Unitarity { unitarity_deviation: 0.0, determinant_deviation: 0.0 };
        assert_eq!(unitarity(&config), none);
    }

    #[test]
    fn sums_do_not_depend_on_the_number_of_threads() {
        let config = sample(Dims::new([6, 8, 10, 8]).unwrap());
        let all = || (plaquette(&config), link_trace(&config), polyakov_loop(&config), unitarity(&config));
        let with =
            |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(all);
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn gauge_transformations_change_the_link_trace_only() {
        let dims = Dims::new([2, 4, 2, 6]).unwrap();
        let config = sample(dims);
        let rotation = |site: usize| sample(dims).link(site, 0);
        let links = (0..NDIM * dims.volume())
            .map(|n| {
                let (site, mu) = (n / NDIM, n % NDIM);
                rotation(site) * config.link(site, mu) * rotation(dims.forward(site, mu)).adjoint()
            })
            .collect();
        let rotated = GaugeConfiguration::new(dims, Links::Double(links));
        assert!((plaquette(&config).average - plaquette(&rotated).average).abs() < 1e-13);
        assert!((plaquette(&config).temporal - plaquette(&rotated).temporal).abs() < 1e-13);
        assert!((polyakov_loop(&config) - polyakov_loop(&rotated)).norm() < 1e-13);
        assert!((link_trace(&config) - link_trace(&rotated)).abs() > 1e-3);
    }

    #[test]
    fn a_not_a_number_is_never_lost() {
        let dims = Dims::new([2, 2, 2, 2]).unwrap();
        for n in [0, 17, 63] {
            let mut config = sample(dims);
            let Links::Double(links) = config.links_mut() else { unreachable!("made in double") };
            links[n].0[2][1].re = f64::NAN;
            let Unitarity { unitarity_deviation, determinant_deviation } = unitarity(&config);
            assert!(unitarity_deviation.is_nan() && determinant_deviation.is_nan());
            assert!(plaquette(&config).average.is_nan());
        }
    }
}
