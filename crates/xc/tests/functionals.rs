//! Functionals at points, against libxc.

use super::common;

use common::{ArrayFile, array, reference};
use lattice_xc::Functional;
use lattice_xc::functional::FunctionalComponent;

const COMPONENTS: [FunctionalComponent; 6] = [
    FunctionalComponent::LdaX,
    FunctionalComponent::Vwn5,
    FunctionalComponent::Pw92,
    FunctionalComponent::Pw92Mod,
    FunctionalComponent::PbeX,
    FunctionalComponent::PbeC,
];

/// Where the gradient is steep, local and gradient parts of about 0.1 nearly cancel: what remains has their rounding.
const ROUNDING: f64 = 1e-15;

/// Compares a number, relative to its size, or absolutely.
#[track_caller]
fn expect(what: &str, found: f64, wanted: f64, absolute: f64) {
    expect_within(what, found, wanted, 1e-11, absolute);
}

#[track_caller]
fn expect_within(what: &str, found: f64, wanted: f64, relative: f64, absolute: f64) {
    let apart = (found - wanted).abs();
    assert!(apart <= relative * wanted.abs() || apart <= absolute, "{what}: {found:e} for {wanted:e}");
}

#[test]
fn parts_are_those_of_libxc() {
    let Some(folder) = reference() else { return };
    let file = ArrayFile::open(folder.join("functionals.npz"));
    let [rho, sigma] = ["rho", "sigma"].map(|name| array(&file, name).values);
    let [up, down] = ["up", "down"].map(|name| array(&file, name).values);
    let count = rho.len();
    for part in COMPONENTS {
        let name = part.name();
        let read = |what: &str| array(&file, &format!("{name}_{what}")).values;
        let (energies, potentials) = (read("eps"), read("vrho"));
        let of_sigma = if part.needs_gradient() { read("vsigma") } else { vec![0.0; count] };
        for p in 0..count {
            let at = part.at([0.5 * rho[p]; 2], [0.25 * sigma[p]; 3]);
            let label = format!("{name} at point {p}, ρ = {:e}, σ = {:e}", rho[p], sigma[p]);
            expect(&format!("{label}: ε"), at.energy / rho[p], energies[p], ROUNDING);
            expect(&format!("{label}: v_ρ"), at.by_rho[0], potentials[p], ROUNDING);
            let by_sigma = 0.25 * at.by_sigma.iter().sum::<f64>();
            expect(&format!("{label}: v_σ"), by_sigma, of_sigma[p], ROUNDING * rho[p] / sigma[p].max(1e-300));
        }
        let (energies, potentials) = (read("pol_eps"), read("pol_vrho"));
        let of_sigma = if part.needs_gradient() { read("pol_vsigma") } else { vec![0.0; 3 * count] };
        for p in 0..count {
            let spins = [&up, &down].map(|spin| [0, 1, 2, 3].map(|k| spin[k * count + p]));
            let product = |a: usize, b: usize| (1..4).map(|k| spins[a][k] * spins[b][k]).sum::<f64>();
            let densities = [spins[0][0], spins[1][0]];
            let at = part.at(densities, [product(0, 0), product(0, 1), product(1, 1)]);
            let total = densities[0] + densities[1];
            // libxc has thresholds where one spin is missing.
            let is_edge = densities.iter().any(|&density| density <= 1e-12 * total);
            let absolute = if is_edge { 1e-9 } else { ROUNDING };
            let square = product(0, 0) + 2.0 * product(0, 1) + product(1, 1);
            // Opposite gradients cancel in the sum of the three.
            let cancelled = (product(0, 0) + product(1, 1)) / square.max(1e-300);
            let relative = 1e-11_f64.max(2.0 * f64::EPSILON * cancelled);
            let of_gradient = if is_edge { 1e-9 } else { ROUNDING * total / square.max(1e-300) };
            let label = format!("{name} at point {p}, densities {densities:?}");
            expect_within(&format!("{label}: ε"), at.energy / total, energies[p], relative, absolute);
            for spin in 0..2 {
                let label = format!("{label}: v_ρ {spin}");
                expect_within(&label, at.by_rho[spin], potentials[spin * count + p], relative, absolute);
            }
            for (pair, &found) in at.by_sigma.iter().enumerate() {
                let label = format!("{label}: v_σ {pair}");
                expect_within(&label, found, of_sigma[pair * count + p], relative, of_gradient);
            }
        }
    }
}

/// Derivatives are those of the energy, by central differences, also far from what the reference has.
#[test]
fn derivatives_are_those_of_the_energy() {
    for functional in Functional::ALL {
        for (rho, sigma) in [
            ([0.3, 0.2], [0.1, 0.05, 0.07]),
            ([1e-3, 4e-3], [1e-6, -1e-7, 2e-6]),
            ([20.0, 20.0], [300.0, 290.0, 310.0]),
        ] {
            let at = functional.at(rho, sigma);
            for which in 0..5 {
                let size = if which < 2 { rho[which] } else { sigma[which - 2].abs() };
                let moved = |sign: f64| {
                    let (mut rho, mut sigma) = (rho, sigma);
                    let distance = sign * 1e-4 * size;
                    if which < 2 {
                        rho[which] += distance
                    } else {
                        sigma[which - 2] += distance
                    }
                    functional.at(rho, sigma).energy
                };
                let slope = (moved(1.0) - moved(-1.0)) / (2e-4 * size);
                let wanted = if which < 2 { at.by_rho[which] } else { at.by_sigma[which - 2] };
                let scale = at.energy.abs() / size;
                assert!((slope - wanted).abs() < 1e-7 * scale, "{functional} {which}: {slope} {wanted}");
            }
        }
    }
}

#[test]
fn nothing_comes_of_nothing() {
    for functional in Functional::ALL {
        assert_eq!(functional.at([0.0; 2], [0.0; 3]), functional.at([-1e-15, 1e-14], [1e-40, 0.0, 0.0]));
        assert_eq!(functional.at([0.0; 2], [0.0; 3]).energy, 0.0);
        for rho in [[1e-11, 0.0], [0.0, 3.0], [1e-11, 1e-11]] {
            let at = functional.at(rho, [1e-3, 0.0, 1e-3]);
            let numbers = [at.energy, at.by_rho[0], at.by_rho[1], at.by_sigma[0], at.by_sigma[2]];
            assert!(numbers.iter().all(|x| x.is_finite()), "{functional} {rho:?}: {at:?}");
        }
        assert_eq!(functional.name().parse(), Ok(functional));
    }
    let error = "b3lyp".parse::<Functional>().unwrap_err();
    assert_eq!(error, "`b3lyp` is no functional; choose svwn5, spw92 or pbe");
}
