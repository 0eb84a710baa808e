//! Field strength and clover term on the host, against values of another program and their own properties.

use crate::common;

use common::reference::{
    boundary_of, configuration_of, expect_image, number, operator, operators_of, probe, reference,
};
use common::spinors::Spinor;
use lattice_cl::gauge::{energy, plaquette, topological_charge};
use lattice_cl::geometry::{Dims, PLANES};
use lattice_cl::host::random::{hot, spinor_field, weak};
use lattice_cl::host::{CloverBlocks, FieldStrength, GaugeConfiguration, Links, Matrix3, gamma};
use num_complex::Complex;

#[test]
fn energy_and_charge_are_those_of_another_program() {
    let Some(reference) = reference() else { return };
    let entries = reference["computed"].as_object().unwrap();
    let mut checked = 0;
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("gauge ")) {
        let configuration = configuration_of(entry);
        let near = |found: f64, key: &str, size: f64| {
            assert!((found - number(&entry[key])).abs() < 1e-12 * size, "{name}, {key}: {found}");
        };
        let found = energy(&configuration);
        near(found.clover, "energy_clover", found.clover);
        near(found.plaquette, "energy_plaquette", found.plaquette);
        near(
            topological_charge(&configuration).clover,
            "charge_clover",
            configuration.dims().volume() as f64,
        );
        checked += 1;
    }
    assert_eq!(checked, 4, "configurations");
}

#[test]
fn clover_operators_give_the_values_of_another_program() {
    let Some(reference) = reference() else { return };
    let entries = reference["computed"].as_object().unwrap();
    let mut checked = 0;
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("operators ")) {
        let configuration = configuration_of(entry);
        let phi = probe(configuration.dims());
        for (key, term, expected) in operators_of(entry) {
            let image = operator(&configuration, boundary_of(entry), number(&entry["kappa"]), term, &phi);
            expect_image(&image, &phi, &expected, &format!("{name} {key}"));
            checked += 1;
        }
    }
    assert_eq!(checked, 15, "operators");
}

/// −Σ γ_μ γ_ν F_μν ψ, plane by plane.
fn term_by_planes(f: &FieldStrength, psi: &Spinor) -> Spinor {
    let mut sum = Spinor::default();
    for ((mu, nu), f) in PLANES.into_iter().zip(&f.0) {
        let turned = gamma::spin_times(&gamma::GAMMA[mu], &gamma::spin_times(&gamma::GAMMA[nu], psi));
        sum = Spinor::from_fn(|s, c| {
            sum.0[s][c] - (0..3).map(|k| f.0[c][k] * turned.0[s][k]).sum::<Complex<f64>>()
        });
    }
    sum
}

#[test]
fn blocks_are_the_sum_over_planes_and_their_inverse_undoes_them() {
    let configuration = hot(Dims::new([2, 4, 6, 2]).unwrap(), 5);
    let field = spinor_field(configuration.dims(), 7);
    for (site, psi) in field.iter().enumerate() {
        let f = FieldStrength::at(&configuration, site);
        let blocks = CloverBlocks::of_field_strength(&f.0, 0.0, 1.0, [1.0; 6]);
        let expected = term_by_planes(&f, psi);
        let size = expected.norm2().sqrt();
        let difference = blocks.times(psi);
        let distance = Spinor::from_fn(|s, c| difference.0[s][c] - expected.0[s][c]).norm2().sqrt();
        assert!(distance < 1e-14 * size, "site {site}: {distance}");
        let least = blocks.smallest_eigenvalue();
        assert!(blocks.inverse().is_none() && least < 0.0, "T has no trace over spins and colours");
        let positive = CloverBlocks::of_field_strength(&f.0, 0.5 - least, 1.0, [1.0; 6]);
        assert!((positive.smallest_eigenvalue() - 0.5).abs() < 1e-11);
        let back = positive.inverse().unwrap().times(&positive.times(psi));
        let distance = Spinor::from_fn(|s, c| back.0[s][c] - psi.0[s][c]).norm2().sqrt();
        assert!(distance < 1e-13 * psi.norm2().sqrt(), "site {site}: {distance}");
    }
}

#[test]
fn energy_and_charge_do_not_depend_on_the_gauge() {
    let dims = Dims::new([4, 2, 4, 6]).unwrap();
    let configuration = weak(dims, 0.5, 8);
    let rotation = |site: usize| hot(dims, 9).link(site, 0);
    let rotations: Vec<Matrix3<f64>> = (0..dims.volume()).map(rotation).collect();
    let links = (0..4 * dims.volume())
        .map(|n| {
            let (site, mu) = (n / 4, n % 4);
            rotations[site] * configuration.link(site, mu) * rotations[dims.forward(site, mu)].adjoint()
        })
        .collect();
    let rotated = GaugeConfiguration::new(dims, Links::Double(links));
    let (before, after) = (energy(&configuration), energy(&rotated));
    assert!((before.clover - after.clover).abs() < 1e-13 * before.clover);
    assert!((before.improved - after.improved).abs() < 1e-13 * before.improved);
    let (charge, charge_after) = (topological_charge(&configuration), topological_charge(&rotated));
    assert!((charge.clover - charge_after.clover).abs() < 1e-13);
    assert!((charge.improved - charge_after.improved).abs() < 1e-13);
    // On smooth fields the two discretisations agree.
    assert!((before.plaquette - 36.0 * (1.0 - plaquette(&configuration).average)).abs() < 1e-14);
}
