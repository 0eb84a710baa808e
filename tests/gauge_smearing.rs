//! Smeared links against values of other programs.

use crate::common;

use common::reference::{configuration_of, number, probe_of_links, reference};
use lattice_cl::GaugeConfiguration;
use lattice_cl::gauge::{
    Directions, Projection, SmearParams, Smearing, WilsonLoops, energy_and_charge, link_trace, plaquette,
    polyakov_loop, smear,
};

fn with(smearing: Smearing, steps: usize, directions: Directions) -> SmearParams {
    SmearParams::new(smearing, steps).with_directions(directions)
}

/// α of c U + Σ C in d directions.
fn alpha_of(c: f64, d: f64) -> f64 {
    2.0 * (d - 1.0) / (2.0 * (d - 1.0) + c)
}

/// The smearing that a key of the values names: for example `ape_spatial_c2.5_n3`.
fn named(name: &str) -> SmearParams {
    let ape = Smearing::Ape { alpha: alpha_of(2.5, 3.0) };
    let (stout, alphas) = (|rho| Smearing::Stout { rho }, [0.75, 0.6, 0.3]);
    let hyp = Smearing::Hyp { alphas };
    match name {
        "ape_spatial_c2.5_n1" => with(ape, 1, Directions::SPACE),
        "ape_spatial_c2.5_n3" => with(ape, 3, Directions::SPACE),
        "ape_4d_alpha0.6_n2" => with(Smearing::Ape { alpha: 0.6 }, 2, Directions::ALL),
        "stout_rho0.1_n3" => with(stout(0.1), 3, Directions::ALL),
        "stout_spatial_rho0.15_n5" => with(stout(0.15), 5, Directions::SPACE),
        "hyp_0.75_0.6_0.3_n1" => with(hyp, 1, Directions::ALL),
        "hyp_0.75_0.6_0.3_n3" => with(hyp, 3, Directions::ALL),
        "hyp_spatial_0.6_0.3_n1" => with(hyp, 1, Directions::SPACE),
        name => panic!("{name} is no smearing"),
    }
}

#[test]
fn smeared_links_are_those_of_another_program() {
    let Some(reference) = reference() else { return };
    let entries = reference["computed"].as_object().unwrap();
    let mut checked = 0;
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("smearing ")) {
        let configuration = configuration_of(entry);
        for (kind, expected) in entry.as_object().unwrap().iter().filter(|(_, value)| value.is_object()) {
            let smeared = smear(&configuration, &named(kind)).unwrap();
            let (energy, charge) = energy_and_charge(&smeared);
            let (plaquette, polyakov, probe) =
                (plaquette(&smeared), polyakov_loop(&smeared), probe_of_links(&smeared));
            for (found, key, size) in [
                (plaquette.average, &expected["plaquette"], 1.0),
                (plaquette.spatial, &expected["plaquette_spatial"], 1.0),
                (plaquette.temporal, &expected["plaquette_temporal"], 1.0),
                (link_trace(&smeared), &expected["link_trace"], 1.0),
                (polyakov.re, &expected["polyakov"][0], 1.0),
                (polyakov.im, &expected["polyakov"][1], 1.0),
                (probe.re, &expected["probe"][0], probe.norm()),
                (probe.im, &expected["probe"][1], probe.norm()),
                (energy.clover, &expected["energy_clover"], energy.clover),
                (energy.plaquette, &expected["energy_plaquette"], 36.0),
                (charge.clover, &expected["charge_clover"], 1.0),
            ] {
                let difference = (found - number(key)).abs();
                assert!(difference < 1e-11 * size, "{name}, {kind}: {found}, {key}");
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 24, "smeared fields");
}

fn loops_after(configuration: &GaugeConfiguration, steps: usize) -> Vec<Vec<f64>> {
    let params = with(Smearing::Ape { alpha: alpha_of(2.5, 3.0) }, steps, Directions::SPACE);
    let space = smear(configuration, &params).unwrap();
    WilsonLoops::in_time(&space, configuration, [4, 4]).unwrap().loops
}

#[test]
fn loops_of_smeared_links_are_those_of_another_program() {
    let Some(reference) = reference() else { return };
    let entry = &reference["computed"]["loops of smeared links lat.sample.l4444"];
    let loops = loops_after(&configuration_of(entry), 5);
    for (r, row) in loops.iter().enumerate() {
        for (t, found) in row.iter().enumerate() {
            assert!((found - number(&entry["loops"][r][t])).abs() < 1e-11, "{found} at {r}, {t}");
        }
    }
}

/// Of MILC, which ends its projections before they have converged: physics.md.
#[test]
fn loops_of_milc_agree_as_far_as_its_projection_goes() {
    let Some(reference) = reference() else { return };
    let published = reference["published"].as_array().unwrap();
    let mut checked = 0;
    for (id, steps) in [("milc hvy_qpot APE 5 loops", 5), ("milc hvy_qpot APE 10 loops", 10)] {
        let entry = published.iter().find(|entry| entry["id"] == id).unwrap();
        let loops = loops_after(&configuration_of(entry), steps);
        let found = [loops[0][0], loops[1][0], loops[0][1], loops[1][1]];
        let list = |key: &str| -> Vec<f64> { entry[key].as_array().unwrap().iter().map(number).collect() };
        let largest = list("published").iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        for (k, found) in found.iter().enumerate() {
            assert!((found - list("reference")[k]).abs() < 1e-11 * largest, "{id}: {found}");
            let tolerance = number(&entry["tolerance"]) * largest;
            assert!((found - list("published")[k]).abs() < tolerance, "{id}: {found}");
            checked += 1;
        }
    }
    assert_eq!(checked, 8, "loops");
}

/// What the specification says of the two projections, on the file of MILC.
#[test]
fn projections_differ_as_they_do_in_other_programs() {
    let Some(reference) = reference() else { return };
    let configuration = configuration_of(&reference["computed"]["gauge lat.sample.l4444"]);
    for (name, expected) in
        [("ape_spatial_c2.5_n1", 7e-6), ("ape_4d_alpha0.6_n2", 9e-5), ("hyp_0.75_0.6_0.3_n1", 6e-6)]
    {
        let after = |projection| {
            let params = named(name).with_projection(projection).with_steps(1);
            plaquette(&smear(&configuration, &params).unwrap()).average
        };
        let difference = (after(Projection::Trace) - after(Projection::Polar)).abs();
        assert!((0.5..2.0).contains(&(difference / expected)), "{name}: {difference:e}");
    }
}
