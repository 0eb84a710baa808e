//! Energy, charge, loops of a configuration, against values of other programs.

use crate::common;

use common::reference::{configuration_of, number, reference};
use lattice_cl::gauge::{WilsonLoops, link_trace, plaquette, polyakov_loop};
use serde_json::Value;

/// Compares with a list of lists, relative to its largest entry.
fn expect_loops(found: &WilsonLoops, expected: &Value, name: &str) {
    let expected: Vec<Vec<f64>> = expected
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(number).collect())
        .collect();
    assert_eq!(found.loops.len(), expected.len());
    let largest = expected.iter().flatten().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    for (r, (found, expected)) in found.loops.iter().zip(&expected).enumerate() {
        assert_eq!(found.len(), expected.len());
        for (t, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() < 1e-12 * largest, "{name}: {found} at {r}, {t}");
        }
    }
}

#[test]
fn loops_are_those_of_another_program() {
    let Some(reference) = reference() else { return };
    let entries = reference["computed"].as_object().unwrap();
    let mut checked = 0;
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("wilson loops ")) {
        let configuration = configuration_of(entry);
        let in_time = WilsonLoops::in_time(&configuration, &configuration, [4, 4]).unwrap();
        expect_loops(&in_time, &entry["loops"], name);
        let in_space = WilsonLoops::in_space(&configuration, [4, 4]).unwrap();
        expect_loops(&in_space, &entry["spatial"], name);
        checked += 1;
    }
    assert_eq!(checked, 4, "configurations");
}

#[test]
fn plaquettes_and_traces_are_those_of_another_program() {
    let Some(reference) = reference() else { return };
    let entries = reference["computed"].as_object().unwrap();
    let mut checked = 0;
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("gauge ")) {
        let configuration = configuration_of(entry);
        let (found, polyakov) = (plaquette(&configuration), polyakov_loop(&configuration));
        for (found, key) in [
            (found.average, &entry["plaquette"]),
            (found.spatial, &entry["plaquette_spatial"]),
            (found.temporal, &entry["plaquette_temporal"]),
            (link_trace(&configuration), &entry["link_trace"]),
            (polyakov.re, &entry["polyakov"][0]),
            (polyakov.im, &entry["polyakov"][1]),
        ] {
            assert!((found - number(key)).abs() < 1e-13, "{name}: {found}, {key}");
        }
        checked += 1;
    }
    assert_eq!(checked, 4, "configurations");
}
