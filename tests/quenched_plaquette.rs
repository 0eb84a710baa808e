//! The average plaquette of quenched SU(3) against the values in the literature.

use lattice_cl::Dims;
use lattice_cl::gauge::{GenerateParams, Start, generate};
use std::ops::ControlFlow;

/// Sweeps left out at the start, and sweeps in one bin: several autocorrelation times of the plaquette.
const THERMALISATION: usize = 70;
const BIN: usize = 12;
const BINS: usize = 12;

/// The plaquette of an 8³×16 lattice and its error, from the scatter of bins.
fn plaquette_with_error(beta: f64) -> [f64; 2] {
    let params = GenerateParams::default()
        .with_beta(beta)
        .with_sweeps(THERMALISATION + BIN * BINS)
        .with_overrelaxation(2)
        .with_seed(2024);
    let mut bins = [0.0; BINS];
    let mut observer = |sweep: usize, plaquette: f64| {
        if sweep > THERMALISATION {
            bins[(sweep - THERMALISATION - 1) / BIN] += plaquette / BIN as f64;
        }
        ControlFlow::Continue(())
    };
    generate(Dims::new([8, 8, 8, 16]).unwrap(), Start::Cold, &params, &mut observer).unwrap();
    let mean = bins.iter().sum::<f64>() / BINS as f64;
    let scatter = bins.iter().map(|bin| (bin - mean).powi(2)).sum::<f64>();
    [mean, (scatter / (BINS * (BINS - 1)) as f64).sqrt()]
}

fn check(beta: f64, literature: f64) {
    let [mean, sigma] = plaquette_with_error(beta);
    println!("β = {beta}: {mean:.5} ± {sigma:.5}, literature {literature}");
    assert!(sigma < 5e-4, "the error {sigma} is too large to test anything");
    assert!((mean - literature).abs() < 4.0 * sigma, "{mean} ± {sigma} instead of {literature}");
}

#[test]
fn at_beta_6_0() {
    check(6.0, 0.59368);
}

#[test]
fn at_beta_5_7() {
    check(5.7, 0.5492);
}
