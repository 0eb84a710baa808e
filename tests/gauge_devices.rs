//! Flow and stout smearing on devices, against the host.

use crate::common;

use common::{devices, small, teams};
use lattice_cl::compute::Team;
use lattice_cl::gauge::{
    Directions, FlowAction, FlowOutcome, FlowParams, SmearError, SmearParams, Smearing, flow_on, smear,
    smear_on,
};
use lattice_cl::geometry::NDIM;
use lattice_cl::host::random::weak;
use lattice_cl::{Dims, GaugeConfiguration};
use std::ops::ControlFlow;

fn links() -> GaugeConfiguration {
    let extents = if small() { [2, 2, 4, 2] } else { [6, 2, 4, 10] };
    weak(Dims::new(extents).unwrap(), 0.4, 5)
}

fn largest_difference(a: &GaugeConfiguration, b: &GaugeConfiguration) -> f64 {
    let links = (0..NDIM * a.dims().volume()).map(|k| (k / NDIM, k % NDIM));
    links.map(|(x, mu)| a.link(x, mu).max_difference(&b.link(x, mu))).fold(0.0, f64::max)
}

fn flowed(team: &Team, action: FlowAction) -> FlowOutcome {
    let steps = if small() { 1 } else { 3 };
    let params = FlowParams::default().with_action(action).with_step(0.03).with_steps(steps).with_every(2);
    flow_on(team, &links(), &params, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

fn expect_same_flow(found: &FlowOutcome, expected: &FlowOutcome, what: &str) {
    let distance = largest_difference(&found.links, &expected.links);
    assert!(distance < 1e-14, "{what}: {distance:e}");
    assert_eq!(found.rows.len(), expected.rows.len());
    for (found, expected) in found.rows.iter().zip(&expected.rows) {
        assert_eq!(found.time, expected.time);
        for (found, expected, size) in [
            (found.energy.clover, expected.energy.clover, 1.0),
            (found.energy.plaquette, expected.energy.plaquette, 36.0),
            (found.energy.improved, expected.energy.improved, 1.0),
            (found.charge.clover, expected.charge.clover, 1.0),
            (found.charge.improved, expected.charge.improved, 1.0),
            (found.plaquette, expected.plaquette, 1.0),
        ] {
            assert!((found - expected).abs() < 1e-13 * size, "{what}: {found} {expected}");
        }
    }
    for (found, expected) in found.energies.iter().zip(&expected.energies) {
        assert!((found - expected).abs() < 1e-13, "{what}: {found} {expected}");
    }
}

#[test]
fn flows_of_devices_are_those_of_the_host() {
    let host = Team::host();
    for action in FlowAction::ALL {
        let expected = flowed(&host, action);
        for device in devices() {
            let label = device.label().to_owned();
            expect_same_flow(&flowed(&Team::of([device]), action), &expected, &format!("{action}, {label}"));
        }
    }
}

/// Some steps are too long at first, so that devices take them back.
#[test]
fn adaptive_flows_of_devices_are_those_of_the_host() {
    let tolerance = if small() { 1e-2 } else { 1e-5 };
    let adaptive = |team: &Team, action| {
        let params = FlowParams::default()
            .with_action(action)
            .with_step(0.11)
            .with_steps(2)
            .with_every(2)
            .with_tolerance(Some(tolerance));
        flow_on(team, &links(), &params, &mut |_, _| ControlFlow::Continue(())).unwrap()
    };
    for action in FlowAction::ALL {
        let expected = adaptive(&Team::host(), action);
        for device in devices() {
            let label = device.label().to_owned();
            let found = adaptive(&Team::of([device]), action);
            assert_eq!(found.integrator_steps, expected.integrator_steps, "{action}, {label}");
            expect_same_flow(&found, &expected, &format!("{action}, {label}"));
        }
    }
}

/// A field lies on the first device of a team.
#[test]
fn stout_links_of_teams_are_those_of_the_host() {
    for directions in [Directions::ALL, Directions::SPACE, "yt".parse().unwrap()] {
        let smearing = Smearing::Stout { rho: 0.11 };
        let params = SmearParams::new(smearing, 2).with_directions(directions);
        let expected = smear(&links(), &params).unwrap();
        for (name, team) in teams() {
            let found = smear_on(&team, &links(), &params).unwrap();
            let distance = largest_difference(&found, &expected);
            assert!(distance < 1e-14, "{params}, {name}: {distance:e}");
        }
    }
}

#[test]
fn what_devices_do_not_do_is_said() {
    let team = Team::of([devices().remove(0)]);
    let smearing = Smearing::Ape { alpha: 0.5 };
    let params = SmearParams::new(smearing, 1);
    assert_eq!(smear_on(&team, &links(), &params).unwrap_err(), SmearError::HostOnly("APE"));
}
