//! The gradient flow against values of other programs.

use crate::common;

use common::reference::{configuration_of, number, probe_of_links, reference};
use lattice_cl::GaugeConfiguration;
use lattice_cl::gauge::{FlowAction, FlowOutcome, FlowParams, FlowScales, flow};
use lattice_cl::geometry::PLANES;
use lattice_cl::host::FieldStrength;
use serde_json::Value;
use std::ops::ControlFlow;

fn flowed(configuration: &GaugeConfiguration, params: &FlowParams) -> FlowOutcome {
    flow(configuration, params, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

fn params_of(entry: &Value, every: usize) -> FlowParams {
    let action = match entry["action"].as_str() {
        Some("wilson") | None => FlowAction::Wilson,
        Some(_) => FlowAction::Symanzik,
    };
    let steps = entry["steps"].as_u64().unwrap() as usize;
    FlowParams::default()
        .with_action(action)
        .with_step(number(&entry["step"]))
        .with_steps(steps)
        .with_every(every)
}

#[test]
fn flows_are_those_of_another_program() {
    let Some(reference) = reference() else { return };
    let entries = reference["computed"].as_object().unwrap();
    let mut checked = 0;
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("flow ")) {
        let rows = entry["rows"].as_array().unwrap();
        let steps = entry["steps"].as_u64().unwrap() as usize;
        let params = params_of(entry, steps / (rows.len() - 1));
        let outcome = flowed(&configuration_of(entry), &params);
        assert_eq!(outcome.rows.len(), rows.len(), "{name}");
        let largest = outcome.rows[0];
        for (found, expected) in outcome.rows.iter().zip(rows) {
            for (found, key, size) in [
                (found.time, "t", 1e-3),
                (found.energy.clover, "energy_clover", largest.energy.clover),
                (found.energy.plaquette, "energy_plaquette", largest.energy.plaquette),
                (found.charge.clover, "charge_clover", 1.0),
                (found.plaquette, "plaquette", 1.0),
            ] {
                let difference = (found - number(&expected[key])).abs();
                assert!(difference < 1e-11 * size, "{name}, {key}: {found}, {}", expected[key]);
            }
        }
        let probe = probe_of_links(&outcome.links);
        for (found, expected) in
            [(probe.re, &entry["probe_at_the_end"][0]), (probe.im, &entry["probe_at_the_end"][1])]
        {
            assert!((found - number(expected)).abs() < 1e-11 * probe.norm(), "{name}: {found}");
        }
        if entry["t0"].is_number() {
            let scales = FlowScales::new(&outcome.energies, params.step, 0.3);
            assert!((scales.t0.unwrap() - number(&entry["t0"])).abs() < 1e-10, "{name}: {scales:?}");
            assert!((scales.w0.unwrap() - number(&entry["w0"])).abs() < 1e-10, "{name}: {scales:?}");
        }
        checked += 1;
    }
    assert_eq!(checked, 5, "flows");
}

#[test]
fn scales_are_those_of_another_program() {
    let Some(reference) = reference() else { return };
    let entries = reference["computed"].as_object().unwrap();
    let mut checked = 0;
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("scales ")) {
        let params = params_of(entry, usize::MAX);
        let outcome = flowed(&configuration_of(entry), &params);
        for (value, expected) in entry["scales"].as_object().unwrap() {
            let scales = FlowScales::new(&outcome.energies, params.step, value.parse().unwrap());
            for (found, key) in [(scales.t0, "t0"), (scales.w0, "w0")] {
                match (found, expected[key].as_f64()) {
                    (Some(found), Some(expected)) => {
                        assert!((found - expected).abs() < 1e-10, "{name}, {value}, {key}: {found}");
                    }
                    (found, expected) => assert_eq!(found, expected, "{name}, {value}, {key}"),
                }
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 12, "scales");
}

/// Chroma prints −Σ tr F² of a field strength that keeps its trace, apart for planes with t and without.
#[test]
fn energies_of_chroma_agree() {
    let Some(reference) = reference() else { return };
    let published = reference["published"].as_array().unwrap();
    let list = |id: &str| published.iter().find(|entry| entry["id"] == id).unwrap();
    let (temporal, spatial) = (list("chroma flow wflow_gact4i"), list("chroma flow wflow_gactij"));
    let mut links = configuration_of(temporal);
    let volume = links.dims().volume() as f64;
    for step in 0..11 {
        if step > 0 {
            links = flowed(&links, &FlowParams::default().with_step(0.01).with_steps(1)).links;
        }
        let mut sums = [0.0; 2];
        for site in 0..links.dims().volume() {
            let f = FieldStrength::at(&links, site);
            for ((_, nu), f) in PLANES.into_iter().zip(f.0) {
                sums[usize::from(nu == 3)] -= (f * f).trace().re / volume;
            }
        }
        for (found, entry) in sums.into_iter().zip([spatial, temporal]) {
            let (printed, tolerance) = (number(&entry["published"][step]), number(&entry["tolerance"]));
            assert!((found / printed - 1.0).abs() < tolerance, "step {step}: {found}, {printed}");
        }
    }
}
