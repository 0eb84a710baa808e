//! Motion on every device here, also taken for a GPU, and on the host.

use super::support;

use lattice_compute::Team;
use lattice_md::{
    Fetch, Forces, Grid, List, MdError, Mode, Motion, MotionState, Options, Potential, Precision, Shift,
    System, Units,
};
use support::*;

const CUTOFF: f64 = 7.3;

fn options(precision: Precision, list: List) -> Options {
    Options::new(CUTOFF)
        .with_precision(precision)
        .with_list(list)
        .with_shift(Shift::Force)
        .with_fetch(Fetch::Buffer)
}

/// Atoms of two types that move in all directions.
fn moving() -> System {
    let system = stirred(if small() { [4, 4, 4] } else { [5, 4, 5] });
    let velocity = |i: usize| [3.1, 1.7, 2.3].map(|rate: f64| 3e-3 * (rate * i as f64).sin());
    let velocities = (0..system.atoms()).map(velocity).collect();
    system.with_velocities(velocities).unwrap()
}

fn begin(team: &Team, system: &System, options: Options) -> Motion {
    Motion::new(team, system, &two_types(), options, Units::Real, 2.0).unwrap()
}

/// The largest difference of two lists of vectors.
fn difference(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let apart = a.iter().zip(b).flat_map(|(a, b)| (0..3).map(move |axis| (a[axis] - b[axis]).abs()));
    apart.fold(0.0, f64::max)
}

#[test]
fn lists_make_the_forces_of_all_pairs() {
    let system = moving();
    let table = two_types().tabulated(Grid::for_cutoff(301, 2.2, CUTOFF).unwrap(), Mode::Derivative).unwrap();
    for (place, team) in places().into_iter().skip(1) {
        for (precision, allowed) in [(Precision::Double, 1e-12), (Precision::Mixed, 1e-12)] {
            for potential in [&two_types(), &table] {
                let of = |list| {
                    Forces::new(&team, &system, potential, options(precision, list))
                        .unwrap()
                        .evaluate(system.positions())
                        .unwrap()
                };
                let wanted = of(List::AllPairs);
                // Forces that are scattered are rounded to 2⁻⁴⁰.
                for (list, allowed) in [
                    (List::Cells { skin: 0.3 }, allowed),
                    (List::Cells { skin: 2.9 }, allowed),
                    (List::HalfCells { skin: 0.9 }, 1e-10),
                    (List::Matrix, allowed),
                ] {
                    let found = of(list);
                    let label = format!("{list:?} in {precision:?} on {place}");
                    assert!(furthest(&found.forces, &wanted.forces) < allowed, "{label}");
                    // Energies of pairs nearly cancel.
                    let energy = (found.sums.energy - wanted.sums.energy).abs() / system.atoms() as f64;
                    assert!(energy < allowed, "{label}: {energy:e}");
                    assert_eq!(found.sums.pairs, wanted.sums.pairs, "{precision:?} on {place}");
                }
            }
        }
    }
}

#[test]
fn devices_move_atoms_as_the_host_does() {
    let system = moving();
    let steps = if small() { 3 } else { 60 };
    let mut host = begin(&Team::host(), &system, options(Precision::Double, List::AllPairs));
    host.advance(steps).unwrap();
    let wanted = host.frame().unwrap();
    for (place, team) in places().into_iter().skip(1) {
        for (precision, allowed) in [(Precision::Double, 1e-10), (Precision::Mixed, 1e-4)] {
            for list in [List::AllPairs, List::Cells { skin: 0.2 }] {
                let mut motion = begin(&team, &system, options(precision, list));
                motion.advance(steps).unwrap();
                let found = motion.frame().unwrap();
                let label = format!("{precision:?}, {list:?} on {place}");
                let apart = difference(&found.positions, &wanted.positions);
                assert!(apart < allowed, "{label}: {apart:e}");
                let apart = (found.energy() / wanted.energy() - 1.0).abs();
                assert!(apart < allowed, "{label}: {apart:e}");
                let rebuilds = motion.state().unwrap().rebuilds;
                assert_eq!(rebuilds > 0, list != List::AllPairs && !small(), "{label}: {rebuilds}");
            }
        }
    }
}

#[test]
fn motion_goes_on_from_a_state_in_the_same_bits() {
    let system = moving();
    let [first, second] = if small() { [2, 1] } else { [23, 31] };
    for (place, team) in places() {
        for precision in [Precision::Double, Precision::Mixed] {
            let options = options(precision, List::Cells { skin: 0.2 });
            let mut whole = begin(&team, &system, options);
            whole.advance(first).unwrap();
            let kept = whole.state().unwrap().to_blocks();
            let looked = whole.frame().unwrap();
            whole.advance(second).unwrap();
            let state = MotionState::from_blocks(system.atoms(), &kept).unwrap();
            let mut resumed =
                Motion::resume(&team, &system, &two_types(), options, Units::Real, 2.0, state).unwrap();
            assert_eq!(resumed.frame().unwrap(), looked, "{precision:?} on {place}");
            resumed.advance(second).unwrap();
            assert_eq!(resumed.state().unwrap(), whole.state().unwrap(), "{precision:?} on {place}");
            let mut again = begin(&team, &system, options);
            again.advance(first).unwrap();
            again.advance(second).unwrap();
            assert_eq!(again.state().unwrap(), whole.state().unwrap(), "{precision:?} on {place}");
        }
    }
}

#[test]
fn time_may_be_reversed() {
    if small() {
        return;
    }
    let system = moving();
    let steps = if all() { 1000 } else { 300 };
    for (place, team) in places().into_iter().skip(1) {
        let options = options(Precision::Double, List::Cells { skin: 0.6 });
        let mut there = begin(&team, &system, options);
        there.advance(steps).unwrap();
        let turned = there.frame().unwrap();
        let back: Vec<[f64; 3]> = turned.velocities.iter().map(|v| v.map(|v| -v)).collect();
        let mut state = there.state().unwrap();
        state.velocities = back;
        let mut motion =
            Motion::resume(&team, &system, &two_types(), options, Units::Real, 2.0, state).unwrap();
        motion.advance(steps).unwrap();
        let apart = difference(&motion.frame().unwrap().positions, system.positions());
        assert!(apart < 1e-9, "{place}: {apart:e}");
    }
}

#[test]
fn argon_moves_as_the_reference() {
    let Some((folder, values)) = reference() else { return };
    if small() {
        return;
    }
    let system = argon(&folder);
    let potential = lennard_jones(&values["argon"]);
    let rows = values["argon"]["motion"]["rows"].as_array().unwrap();
    let at_20 = vectors(&folder.join("argon.step20.positions.npy"));
    for (place, team) in places() {
        for (precision, of_energy, of_position) in
            [(Precision::Double, 1e-9, 1e-9), (Precision::Mixed, 1e-4, 1e-4)]
        {
            if team.is_host() && precision != Precision::Double {
                continue;
            }
            let options = Options::new(8.5).with_precision(precision).with_shift(Shift::Energy);
            let mut motion = Motion::new(&team, &system, &potential, options, Units::Real, 2.0).unwrap();
            for row in rows {
                let row = numbers(row);
                motion.advance(row[0] as u64 - motion.step()).unwrap();
                let frame = motion.frame().unwrap();
                for (found, wanted) in [(frame.sums.energy, row[1]), (frame.kinetic, row[2])] {
                    let error = (found / wanted - 1.0).abs();
                    assert!(error < of_energy, "step {} in {precision:?} on {place}: {error:e}", row[0]);
                }
                if row[0] == 20.0 {
                    let apart = difference(&frame.positions, &at_20);
                    assert!(apart < of_position, "{precision:?} on {place}: {apart:e}");
                }
            }
        }
    }
}

#[test]
fn atoms_that_are_too_fast_end_the_motion() {
    let system = moving();
    let mut velocities = system.velocities().unwrap().to_vec();
    velocities[11] = [0.0, 0.7, 0.0];
    let fast = system.with_velocities(velocities).unwrap();
    for (place, team) in places().into_iter().skip(1) {
        let mut motion = begin(&team, &fast, options(Precision::Double, List::Cells { skin: 1.0 }));
        let error = motion.advance(5).unwrap_err();
        assert!(matches!(error, MdError::TooFast { atom: 12, .. }), "{place}: {error}");
    }
}

#[test]
fn motion_needs_masses_and_a_duration() {
    let system = System::new([20.0; 3], vec!["X".to_owned()], vec![0], vec![[0.0; 3]]).unwrap();
    let potential = Potential::lennard_jones(&[[0.238, 3.405]], Default::default()).unwrap();
    let new = |system: &System, duration| {
        Motion::new(&Team::host(), system, &potential, Options::new(8.0), Units::Real, duration)
            .err()
            .unwrap()
    };
    assert_eq!(new(&system, 2.0), MdError::NoMass("X".to_owned()));
    let heavy = system.with_masses(&[12.0]).unwrap();
    assert_eq!(new(&heavy, 0.0), MdError::Duration(0.0));
}
