//! Smearing of spinors and correlators of hadrons on devices, against the host.

use crate::common;

use common::spinors::{Spinor, distance};
use common::{devices, small, teams};
use lattice_cl::Dims;
use lattice_cl::compute::Team;
use lattice_cl::geometry::{Boundary, NDIM};
use lattice_cl::hadron::{
    BaryonCorrelator, BaryonForm, Column, MesonCorrelator, Momenta, QuarkPropagator, SmearingLinks,
    SpinorSmearing, baryons, baryons_on, conserved_vector, conserved_vector_on, decuplet_operators,
    local_axial, local_axial_on, mesons, mesons_on, momenta_up_to, octet_operators,
};
use lattice_cl::host::LinkField;
use lattice_cl::host::random::{hot, spinor_field, weak};

fn dims() -> Dims {
    Dims::new(if small() { [2, 2, 4, 2] } else { [6, 2, 22, 4] }).unwrap()
}

#[test]
fn spinors_smeared_by_devices_are_those_of_the_host() {
    let (links, field) = (weak(dims(), 0.4, 5), spinor_field(dims(), 6));
    let steps = if small() { 2 } else { 5 };
    for smearing in
        [SpinorSmearing::Gaussian { width: 1.3, steps }, SpinorSmearing::Wuppertal { alpha: 0.25, steps }]
    {
        let expected = smearing.apply(&links, &field);
        let links = SmearingLinks::from(links.clone());
        for (name, team) in teams() {
            // The device keeps the links for the second field.
            for _ in 0..2 {
                let found: Vec<Spinor> = smearing.apply_on(&team, &links, &field).unwrap();
                let distance = distance(&found, &expected);
                assert!(distance < 1e-15, "{name}, {smearing}: {distance:e}");
            }
        }
    }
}

fn propagator(seed: u64) -> QuarkPropagator {
    let mut all = QuarkPropagator::new(dims()).unwrap();
    for (k, column) in Column::all().enumerate() {
        all.set_column(column, &spinor_field(dims(), 100 * seed + k as u64));
    }
    all
}

#[test]
fn mesons_of_devices_are_those_of_the_host() {
    let (one, other) = (propagator(1), propagator(2));
    let origin = [1, 1, 2, dims()[NDIM - 1] - 1];
    let each = Momenta::each(momenta_up_to(if small() { 0 } else { 1 }, dims()).unwrap());
    let cases = [(&one, &other, each.clone()), (&one, &one, each.averaged(dims()))];
    for (quark, antiquark, momenta) in &cases {
        let expected = mesons(quark, antiquark, origin, momenta);
        let size =
            expected.iter().flat_map(|meson| &meson.values).flatten().fold(0.0, |a: f64, b| a.max(b.abs()));
        for (name, team) in teams() {
            let found = mesons_on(&team, quark, antiquark, origin, momenta).unwrap();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                let MesonCorrelator { source, sink, momentum, values } = found;
                let channel = (source, sink, momentum);
                assert_eq!(channel, (&expected.source, &expected.sink, &expected.momentum));
                for (found, expected) in values.iter().flatten().zip(expected.values.iter().flatten()) {
                    assert!(
                        (found - expected).abs() < 1e-14 * size,
                        "{name}, {channel:?}: {found}, {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn baryons_of_devices_are_those_of_the_host() {
    let quarks = [&propagator(3), &propagator(4), &propagator(5)];
    let origin = [1, 1, 2, dims()[NDIM - 1] - 1];
    let momenta = Momenta::each(momenta_up_to(if small() { 0 } else { 1 }, dims()).unwrap());
    let cases = [
        (BaryonForm::Octet, octet_operators()),
        (BaryonForm::LambdaOctet, octet_operators()[3..4].to_vec()),
        (BaryonForm::LambdaNaive, octet_operators()[..2].to_vec()),
        (BaryonForm::Decuplet, decuplet_operators()),
    ];
    for (form, operators) in &cases {
        // Oclgrind takes minutes for all of them.
        let operators = if small() { &operators[..1] } else { operators };
        let expected = baryons("b", *form, operators, &quarks, origin, &momenta);
        let numbers = |baryon: &BaryonCorrelator| baryon.values.clone().into_iter().flatten();
        let size = expected.iter().flat_map(numbers).fold(0.0, |a: f64, b| a.max(b.abs()));
        for (name, team) in teams() {
            let found = baryons_on(&team, "b", *form, operators, &quarks, origin, &momenta).unwrap();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                let operator = (&found.name, &found.projector, found.momentum);
                assert_eq!(operator, (&expected.name, &expected.projector, expected.momentum));
                for (found, expected) in numbers(found).zip(numbers(expected)) {
                    assert!(
                        (found - expected).abs() < 1e-13 * size,
                        "{name}, {form:?}, {operator:?}: {found}, {expected}"
                    );
                }
            }
        }
    }
}

/// Devices take slices in turn, and each sum is made by one of them.
#[test]
fn the_number_of_devices_changes_no_bit() {
    let quark = propagator(6);
    let momenta = Momenta::each(momenta_up_to(if small() { 0 } else { 1 }, dims()).unwrap());
    let device = devices().remove(0);
    let of = |count: usize| {
        let team = Team::of(vec![device.clone(); count]);
        mesons_on(&team, &quark, &quark, [1, 1, 2, 1], &momenta).unwrap()
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn axial_currents_of_devices_are_those_of_the_host() {
    let (quark, antiquark) = (propagator(7), propagator(8));
    let origin = [1, 1, 2, dims()[NDIM - 1] - 1];
    let expected = local_axial(&quark, &antiquark, origin);
    let size = expected.values.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    for (name, team) in teams() {
        let found = local_axial_on(&team, &quark, &antiquark, origin).unwrap();
        assert_eq!((&found.name, found.values.len()), (&expected.name, expected.values.len()));
        for (found, expected) in found.values.iter().zip(&expected.values) {
            assert!((found - expected).abs() < 1e-13 * size, "{name}: {found}, {expected}");
        }
    }
}

#[test]
fn conserved_currents_of_devices_are_those_of_the_host() {
    let quark = propagator(5);
    let links = LinkField::new(&hot(dims(), 7), Boundary::antiperiodic_t());
    let origin = [1, 1, 2, dims()[NDIM - 1] - 1];
    let expected = conserved_vector(&quark, &links, origin);
    let size = expected.iter().flat_map(|current| &current.values).fold(0.0, |a: f64, b| a.max(b.abs()));
    for (name, team) in teams() {
        let found = conserved_vector_on(&team, &quark, &links, origin).unwrap();
        assert_eq!(found.len(), 3);
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.name, expected.name);
            for (found, expected) in found.values.iter().zip(&expected.values) {
                assert!((found - expected).abs() < 1e-13 * size, "{name}: {found}, {expected}");
            }
        }
    }
}
