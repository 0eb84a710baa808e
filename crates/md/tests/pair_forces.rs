//! What holds for all forces, at sizes that are multiples of nothing.

use super::support;

use lattice_compute::Team;
use lattice_md::{
    Evaluation, Fetch, Forces, Formula, Grid, Interpolation, List, MdError, Mode, Options, PairTuning,
    Potential, Precision, Shift, Spacing, System, tune_pairs,
};
use support::*;

const CUTOFF: f64 = 7.3;

fn sample() -> System {
    stirred(if small() { [4, 4, 4] } else { [5, 4, 5] })
}

fn forces(team: &Team, system: &System, potential: &Potential, options: Options) -> Forces {
    Forces::new(team, system, potential, options).unwrap()
}

fn evaluate(team: &Team, system: &System, potential: &Potential, options: Options) -> Evaluation {
    forces(team, system, potential, options).evaluate(system.positions()).unwrap()
}

/// Each kind of potential.
fn potentials() -> Vec<(&'static str, Potential)> {
    let direct = two_types();
    let table = |mode| direct.tabulated(Grid::for_cutoff(301, 2.2, CUTOFF).unwrap(), mode).unwrap();
    let (derivative, potential) = (table(Mode::Derivative), table(Mode::Potential));
    let pair = |depth, distance| [depth, 1.2, distance, 0.0];
    let rows = vec![pair(0.24, 3.8), pair(0.3, 4.0), pair(0.3, 4.0), pair(0.4, 4.2)];
    let morse = Potential::of_formula(Formula::Morse, rows).unwrap();
    vec![("direct", direct), ("morse", morse), ("derivative", derivative), ("potential", potential)]
}

#[test]
fn kernels_are_their_twin() {
    let system = sample();
    for (name, potential) in potentials() {
        for (shift, list) in [
            (Shift::None, List::AllPairs),
            (Shift::Energy, List::AllPairs),
            (Shift::Force, List::AllPairs),
            (Shift::Force, List::default()),
        ] {
            let options = Options::new(CUTOFF)
                .with_shift(shift)
                .with_list(list)
                .with_precision(Precision::Double)
                .with_fetch(Fetch::Buffer);
            let wanted = evaluate(&Team::host(), &system, &potential, options);
            for (place, team) in places() {
                let label = format!("{name}, {shift:?}, {list:?} on {place}");
                let found = evaluate(&team, &system, &potential, options);
                assert!(furthest(&found.forces, &wanted.forces) < 1e-12, "{label}");
                assert!((found.sums.energy / wanted.sums.energy - 1.0).abs() < 1e-12, "{label}");
                assert_eq!(found.sums.pairs, wanted.sums.pairs, "{label}");
                let largest = wanted.sums.virial.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                for (found, wanted) in found.sums.virial.iter().zip(wanted.sums.virial) {
                    assert!((found - wanted).abs() < 1e-12 * largest, "{label}");
                }
            }
        }
    }
}

/// Tables of every kind but the plain ones.
fn tables() -> Vec<(String, Potential)> {
    let mut tables = Vec::new();
    for (spacing, interpolation) in [
        (Spacing::R2, Interpolation::Linear),
        (Spacing::R, Interpolation::Cubic),
        (Spacing::R2, Interpolation::Cubic),
    ] {
        for mode in [Mode::Derivative, Mode::Potential] {
            let grid = Grid::for_cutoff(301, 2.2, CUTOFF).unwrap().spaced(spacing);
            let Potential::Table { table, mode } = two_types().tabulated(grid, mode).unwrap() else {
                panic!("a table is one")
            };
            let table = table.interpolated(interpolation);
            let name = format!("{mode:?} {interpolation:?} in {spacing:?}");
            tables.push((name, Potential::Table { table, mode }));
        }
    }
    tables
}

#[test]
fn tables_of_every_kind_are_their_twin() {
    let system = sample();
    for (name, potential) in tables() {
        let options = |precision, fetch| {
            Options::new(CUTOFF).with_shift(Shift::Force).with_precision(precision).with_fetch(fetch)
        };
        let wanted = evaluate(&Team::host(), &system, &potential, options(Precision::Double, Fetch::Buffer));
        for (place, team) in places().into_iter().skip(1) {
            let mut ways =
                vec![(Precision::Double, Fetch::Buffer, 1e-12), (Precision::Mixed, Fetch::Buffer, 2e-5)];
            if let Some(images) = team.devices()[0].linear_images() {
                // Cubics are exact, but for their numbers in single.
                let filter = if name.contains("Cubic") { 0.0 } else { images.filter_error };
                ways.push((Precision::Double, Fetch::Image, 2e-5 + filter));
            }
            for (precision, fetch, allowed) in ways {
                let found = evaluate(&team, &system, &potential, options(precision, fetch));
                let apart = furthest(&found.forces, &wanted.forces);
                let label = format!("{name} by {fetch:?} in {precision:?} on {place}");
                assert!(apart < allowed, "{label}: {apart:e}");
                // Energies of pairs nearly cancel.
                let energy = (found.sums.energy - wanted.sums.energy).abs() / system.atoms() as f64;
                assert!(energy < allowed, "{label}: energy {energy:e}");
            }
        }
    }
}

#[test]
fn forces_of_a_table_converge_with_its_samples() {
    let system = sample();
    let exact = evaluate(
        &Team::host(),
        &system,
        &two_types(),
        Options::new(CUTOFF).with_precision(Precision::Double),
    );
    for (place, team) in places().into_iter().take(2) {
        for mode in [Mode::Derivative, Mode::Potential] {
            for spacing in [Spacing::R, Spacing::R2] {
                let error = |samples| {
                    let grid = Grid::for_cutoff(samples, 2.2, CUTOFF).unwrap().spaced(spacing);
                    let options =
                        Options::new(CUTOFF).with_precision(Precision::Double).with_fetch(Fetch::Buffer);
                    let table = two_types().tabulated(grid, mode).unwrap();
                    apart(&evaluate(&team, &system, &table, options).forces, &exact.forces)
                };
                let exponent = (error(1000) / error(16_000)).log2() / 4.0;
                assert!((exponent - 2.0).abs() < 0.1, "{mode:?} {spacing:?} on {place}: {exponent}");
            }
        }
    }
}

#[test]
fn variants_change_no_forces() {
    let system = sample();
    let double = Options::new(CUTOFF).with_precision(Precision::Double);
    let wanted = evaluate(&Team::host(), &system, &two_types(), double);
    for (place, team) in places().into_iter().skip(1) {
        let of_device = forces(&team, &system, &two_types(), double).tuning().unwrap();
        for reach in [1, 3] {
            let group = if of_device.group == 1 { 1 } else { 32 };
            let tuning = PairTuning { group, reach, image: false };
            let mut prepared = forces(&team, &system, &two_types(), double.with_tuning(Some(tuning)));
            assert_eq!(prepared.tuning(), Some(tuning), "{place}");
            let found = prepared.evaluate(system.positions()).unwrap();
            assert!(furthest(&found.forces, &wanted.forces) < 1e-12, "{tuning} on {place}");
        }
        let impossible = PairTuning { group: 1 << 20, ..of_device };
        let prepared = forces(&team, &system, &two_types(), double.with_tuning(Some(impossible)));
        assert_eq!(prepared.tuning(), Some(of_device), "{place}");
    }
}

#[test]
fn a_search_keeps_what_it_found() {
    if small() {
        return;
    }
    let system = sample();
    let table = two_types().tabulated(Grid::for_cutoff(301, 2.2, CUTOFF).unwrap(), Mode::Derivative).unwrap();
    for (place, device) in tuned_devices() {
        let team = Team::of([device.clone()]);
        let options = Options::new(CUTOFF);
        let budget = std::time::Duration::from_secs(1);
        let (key, shipped, found) = tune_pairs(&device, &system, &table, options, budget).unwrap();
        assert!(key.to_string().starts_with("md pairs=derivative precision=mixed list=cells"), "{key}");
        assert!(found.tried >= 1, "{place}");
        let prepared = forces(&team, &system, &table, options);
        assert_eq!(prepared.tuning(), Some(found.variant), "{place}, shipped is {shipped}");
    }
}

#[test]
fn forces_add_to_zero_and_come_in_the_same_bits() {
    let system = sample();
    for (place, team) in places() {
        for precision in PRECISIONS {
            let options = Options::new(CUTOFF).with_precision(precision);
            let mut prepared = forces(&team, &system, &two_types(), options);
            let found = prepared.evaluate(system.positions()).unwrap();
            let allowed = if precision == Precision::Double { 1e-10 } else { 1e-5 };
            for axis in 0..3 {
                let sum: f64 = found.forces.iter().map(|force| force[axis]).sum();
                let scale = rms(&found.forces) * found.forces.len() as f64;
                assert!(sum.abs() <= allowed * scale, "{precision:?} on {place}: {sum:e}");
            }
            assert_eq!(prepared.evaluate(system.positions()).unwrap(), found, "{precision:?} on {place}");
            assert_eq!(evaluate(&team, &system, &two_types(), options), found, "{precision:?} on {place}");
        }
    }
}

#[test]
fn translations_and_permutations_change_nothing() {
    let system = sample();
    let options = Options::new(CUTOFF).with_precision(Precision::Double);
    let atoms = system.atoms();
    let moved = system.positions().iter().map(|p| [p[0] + 103.7, p[1] - 5.1, p[2] + 0.3]).collect();
    let moved = System::new(system.edges(), system.names().to_vec(), system.types().to_vec(), moved).unwrap();
    let place_of = |i: usize| i * 37 % atoms;
    assert_eq!((0..atoms).map(place_of).collect::<std::collections::HashSet<_>>().len(), atoms);
    let permuted = System::new(
        system.edges(),
        system.names().to_vec(),
        (0..atoms).map(|i| system.types()[place_of(i)]).collect(),
        (0..atoms).map(|i| system.positions()[place_of(i)]).collect(),
    )
    .unwrap();
    for (place, team) in places() {
        let wanted = evaluate(&team, &system, &two_types(), options);
        let found = evaluate(&team, &moved, &two_types(), options);
        assert!(furthest(&found.forces, &wanted.forces) < 1e-12, "{place}");
        assert!((found.sums.energy / wanted.sums.energy - 1.0).abs() < 1e-12, "{place}");
        let found = evaluate(&team, &permuted, &two_types(), options);
        let wanted: Vec<_> = (0..atoms).map(|i| wanted.forces[place_of(i)]).collect();
        assert!(furthest(&found.forces, &wanted) < 1e-12, "{place}");
    }
}

#[test]
fn forces_are_the_slope_of_the_energy() {
    let system = sample();
    let options = Options::new(CUTOFF).with_precision(Precision::Double).with_shift(Shift::Force);
    let h = 1e-5;
    for (place, team) in places() {
        let mut prepared = forces(&team, &system, &two_types(), options);
        let found = prepared.evaluate(system.positions()).unwrap();
        for (atom, axis) in [(0, 0), (17, 1), (system.atoms() - 1, 2)] {
            let mut energy = |by: f64| {
                let mut positions = system.positions().to_vec();
                positions[atom][axis] += by;
                prepared.evaluate(&positions).unwrap().sums.energy
            };
            let slope = (energy(h) - energy(-h)) / (2.0 * h);
            let wanted = -found.forces[atom][axis];
            assert!((slope - wanted).abs() < 1e-6 * rms(&found.forces), "{place}: {slope} {wanted}");
        }
    }
}

#[test]
fn a_curve_is_what_forces_have() {
    let distances: Vec<f64> = (0..333).map(|i| 1.9 + 0.02 * f64::from(i)).collect();
    let system = sample();
    for (name, potential) in potentials() {
        for (place, team) in places() {
            for (precision, allowed) in [(Precision::Double, 1e-11), (Precision::Mixed, 2e-5)] {
                let options = Options::new(CUTOFF).with_precision(precision).with_fetch(Fetch::Buffer);
                let found = forces(&team, &system, &potential, options).curve([0, 1], &distances).unwrap();
                for (&r, found) in distances.iter().zip(found) {
                    let wanted = potential.energy_and_slope(1, r);
                    for (found, wanted) in found.iter().zip(wanted) {
                        let scale = wanted.abs() + 0.1;
                        assert!(
                            (found - wanted).abs() < allowed * scale,
                            "{name} at {r} on {place}: {found} {wanted}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn pairs_below_a_table_are_counted() {
    let system = System::new(
        [20.0; 3],
        vec!["Ar".to_owned()],
        vec![0; 3],
        vec![[0.0; 3], [2.1, 0.0, 0.0], [5.0, 0.0, 0.0]],
    )
    .unwrap();
    let direct = Potential::lennard_jones(&[[0.238, 3.405]], Default::default()).unwrap();
    let table = direct.tabulated(Grid::new(4000, 2.5, 9.0).unwrap(), Mode::Derivative).unwrap();
    for (place, team) in places() {
        for precision in PRECISIONS {
            let options = Options::new(8.0).with_precision(precision);
            let found = evaluate(&team, &system, &table, options);
            assert_eq!((found.sums.pairs, found.sums.below), (3, 1), "{place}");
            let wanted = direct.energy_and_slope(0, 2.5)[1] + direct.energy_and_slope(0, 5.0)[1];
            assert!((found.forces[0][0] / wanted - 1.0).abs() < 1e-3, "{place}: {:?}", found.forces[0]);
        }
    }
}

#[test]
fn what_cannot_be_computed_is_refused() {
    let system = sample();
    let refused = |team: &Team, potential: &Potential, options| {
        Forces::new(team, &system, potential, options).err().expect("it is refused")
    };
    let one = Potential::lennard_jones(&[[0.238, 3.405]], Default::default()).unwrap();
    let table = two_types().tabulated(Grid::new(100, 2.0, 7.0).unwrap(), Mode::Derivative).unwrap();
    for (place, team) in places() {
        let cutoff = Options::new;
        assert!(matches!(refused(&team, &two_types(), cutoff(9.0)), MdError::BoxTooSmall { .. }), "{place}");
        assert!(matches!(refused(&team, &two_types(), cutoff(f64::NAN)), MdError::Cutoff(_)), "{place}");
        assert!(matches!(refused(&team, &two_types(), cutoff(0.0)), MdError::Cutoff(_)), "{place}");
        assert!(
            matches!(refused(&team, &one, cutoff(5.0)), MdError::Types { wanted: 2, found: 1 }),
            "{place}"
        );
        assert!(matches!(refused(&team, &table, cutoff(7.0)), MdError::TableTooShort { .. }), "{place}");
        let mut prepared = forces(&team, &system, &two_types(), cutoff(5.0));
        let mut positions = system.positions().to_vec();
        assert!(matches!(prepared.evaluate(&positions[1..]), Err(MdError::Length { .. })), "{place}");
        positions[3][1] = f64::NAN;
        assert!(matches!(prepared.evaluate(&positions), Err(MdError::NotFinite { atom: 4, .. })), "{place}");
        positions[3] = positions[8];
        let overlap = prepared.evaluate(&positions);
        assert!(matches!(overlap, Err(MdError::Overlap { first: 4, second: 9, .. })), "{place}: {overlap:?}");
    }
}
