//! Gauge fixing against values of another program.

use crate::common;

use common::reference::{configuration_of, number, reference};
use lattice_cl::gauge::{FixParams, Gauge, fix_gauge};

#[test]
fn functionals_are_those_of_another_program() {
    let Some(reference) = reference() else { return };
    let entries = reference["computed"].as_object().unwrap();
    let mut checked = 0;
    for (name, entry) in entries {
        let gauge = match name.split(' ').next() {
            Some("landau") => Gauge::Landau,
            Some("coulomb") => Gauge::Coulomb,
            _ => continue,
        };
        let configuration = configuration_of(entry);
        let before = gauge.functional(&configuration);
        assert!((before - number(&entry["before"])).abs() < 1e-13, "{name}: {before}");
        let theta = gauge.theta(&configuration);
        assert!((theta / number(&entry["theta_before"]) - 1.0).abs() < 1e-12, "{name}: {theta}");
        let way = |params: FixParams, starts| {
            let params = params.with_starts(starts);
            fix_gauge(&configuration, &params, &mut |_, _, _| {}).unwrap().starts
        };
        let starts = [way(FixParams::new(gauge), 4), way(FixParams::accelerated(gauge), 1)].concat();
        let maxima: Vec<f64> = entry["functional_of_starts"].as_array().unwrap().iter().map(number).collect();
        for start in &starts {
            // One of these configurations has Gribov copies; which one is reached depends on the way.
            let is_listed = maxima.iter().any(|listed| (start.functional - listed).abs() < 1e-12);
            assert!(is_listed && start.converged, "{name}: {start:?}");
        }
        checked += 1;
    }
    assert_eq!(checked, 6, "configurations");
}
