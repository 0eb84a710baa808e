//! Pairs around and below the first sample of a table: the force is the slope of the energy, and is counted.

use super::support;

use lattice_compute::Team;
use lattice_md::{
    BelowRange, Fetch, Forces, Grid, Interpolation, List, MdError, Mixing, Mode, Motion, Options, Potential,
    Precision, Spacing, System, Units,
};
use support::*;

/// The first sample, in Å.
const BEGIN: f64 = 2.5;

const CUTOFF: f64 = 8.5;

/// Two argon atoms so far apart, askew in their box, that fly at each other so fast.
fn two(distance: f64, speed: f64) -> System {
    let direction = [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0];
    let positions = [[1.0, 2.0, 19.0], direction.map(|x| distance * x)];
    let second = std::array::from_fn(|axis| positions[0][axis] + positions[1][axis]);
    let velocities = vec![direction.map(|x| speed * x), direction.map(|x| -speed * x)];
    System::new([20.0; 3], vec!["Ar".to_owned()], vec![0, 0], vec![positions[0], second])
        .unwrap()
        .with_velocities(velocities)
        .unwrap()
}

fn argon() -> Potential {
    Potential::lennard_jones(&[[0.238, 3.405]], Mixing::default()).unwrap()
}

fn table(mode: Mode, spacing: Spacing, interpolation: Interpolation) -> Potential {
    let grid = Grid::new(2001, BEGIN, 9.0).unwrap().spaced(spacing);
    let Potential::Table { table, mode } = argon().tabulated(grid, mode).unwrap() else {
        panic!("a table is one")
    };
    Potential::Table { table: table.interpolated(interpolation), mode }
}

/// Every kind of table, with a name.
fn tables() -> Vec<(String, Potential)> {
    let mut tables = Vec::new();
    for mode in [Mode::Derivative, Mode::Potential] {
        for spacing in [Spacing::R, Spacing::R2] {
            for interpolation in [Interpolation::Linear, Interpolation::Cubic] {
                let name = format!("{mode:?} {interpolation:?} in {spacing:?}");
                tables.push((name, table(mode, spacing, interpolation)));
            }
        }
    }
    tables
}

/// Every way in which a place reads a table: precision, memory, and the error of its filter.
fn ways(team: &Team) -> Vec<(Precision, Fetch, f64)> {
    let Some(device) = team.devices().first() else { return vec![(Precision::Double, Fetch::Auto, 0.0)] };
    let mut ways: Vec<_> = PRECISIONS.map(|precision| (precision, Fetch::Buffer, 0.0)).into();
    if let Some(images) = device.linear_images() {
        ways.push((Precision::Mixed, Fetch::Image, images.filter_error));
    }
    ways
}

/// E, and E′ by the forces on both atoms.
fn energy_and_slope(forces: &mut Forces, distance: f64) -> [f64; 2] {
    let system = two(distance, 0.0);
    let found = forces.evaluate(system.positions()).unwrap();
    let [a, b] = [found.forces[0], found.forces[1]];
    assert!((0..3).all(|axis| a[axis] == -b[axis]));
    // The force on the first atom goes along the direction to the second one where E rises.
    [found.sums.energy, (2.0 * a[0] - a[1] + 2.0 * a[2]) / 3.0]
}

/// Checks the forces of a table against its energies at distances below, at and across the first sample.
fn check_forces(label: &str, forces: &mut Forces, precision: Precision, filter: f64) {
    // Slopes are as steep as 400 here.
    let exact = if precision == Precision::Double && filter == 0.0 { 1e-9 } else { 2e-5 };
    let [first, slope] = energy_and_slope(forces, BEGIN - 1e-3);
    let [of_formula, slope_of_formula] = argon().energy_and_slope(0, BEGIN);
    assert!((first + 1e-3 * slope - of_formula).abs() < 2e-5 * of_formula.abs(), "{label}: {first}");
    assert!((slope / slope_of_formula - 1.0).abs() < 2e-3, "{label}: {slope} for {slope_of_formula}");
    for distance in [0.9, 1.7, 2.3, 2.45] {
        let [energy, found] = energy_and_slope(forces, distance);
        assert!((found / slope - 1.0).abs() < exact, "{label} at {distance}: {found} {slope}");
        let h = 0.02;
        let [left, right] = [distance - h, distance + h].map(|r| energy_and_slope(forces, r)[0]);
        let by_energy = (right - left) / (2.0 * h);
        assert!((by_energy / found - 1.0).abs() < 10.0 * exact, "{label} at {distance}: {by_energy} {found}");
        let line = first + slope * (distance - BEGIN + 1e-3);
        assert!((energy / line - 1.0).abs() < exact, "{label} at {distance}: {energy} {line}");
    }
    // Neither energy nor force jumps at the first sample.
    let [below, above] = [BEGIN - 1e-5, BEGIN + 1e-5].map(|r| energy_and_slope(forces, r));
    assert!((above[0] - below[0]).abs() < 2e-2, "{label}: {below:?} {above:?}");
    assert!((above[1] / below[1] - 1.0).abs() < 1e-3 + filter, "{label}: {below:?} {above:?}");
    // Energies differ by the integral of the slope, as well as lines between samples allow.
    for (from, to) in [(2.1, 2.4), (2.3, 2.7), (2.48, 2.51), (2.499, 2.504), (2.5, 2.52), (2.4, 3.4)] {
        let parts = 4000;
        let step = (to - from) / f64::from(parts);
        let distances: Vec<f64> = (0..parts).map(|i| from + step * (f64::from(i) + 0.5)).collect();
        let curve = forces.curve([0, 0], &distances).unwrap();
        let integral: f64 = curve.iter().map(|[_, slope]| step * slope).sum();
        let [left, right] = [from, to].map(|r| energy_and_slope(forces, r)[0]);
        let apart = (right - left - integral).abs();
        assert!(apart < 3e-2 + 10.0 * filter, "{label} from {from} to {to}: {apart:e}");
    }
}

/// Lets two atoms collide so hard that they come below the first sample, and part again.
fn check_collision(label: &str, team: &Team, potential: &Potential, options: Options) {
    let system = two(4.0, 0.0354);
    let mut motion = Motion::new(team, &system, potential, options, Units::Real, 0.25).unwrap();
    let begin = motion.frame().unwrap();
    assert_eq!((begin.sums.below, motion.below()), (0, 0), "{label}");
    let (mut nearest, mut last) = (f64::INFINITY, 0);
    for _ in 0..30 {
        motion.advance(8).unwrap();
        let frame = motion.frame().unwrap();
        let apart = (frame.energy() - begin.energy()).abs();
        assert!(apart < 0.1, "{label} at step {}: {apart} of {}", frame.step, begin.energy());
        let d: [f64; 3] = std::array::from_fn(|axis| frame.positions[1][axis] - frame.positions[0][axis]);
        nearest = nearest.min(d.iter().map(|x| x * x).sum::<f64>().sqrt());
        assert!(motion.below() >= last + frame.sums.below.min(1), "{label}");
        last = motion.below();
    }
    let end = motion.frame().unwrap();
    // They go back by the way that they came.
    assert!(end.velocities[0][0] < -0.95 * begin.velocities[0][0], "{label}: {end:?}");
    assert!(nearest < BEGIN && end.sums.below == 0 && last > 3, "{label}: {nearest} {last}");
}

#[test]
fn forces_are_the_slope_of_the_energy_below_at_and_across_the_first_sample() {
    for (place, team) in places() {
        for (name, potential) in tables() {
            for (precision, fetch, filter) in ways(&team) {
                if small() && precision != Precision::Double {
                    continue;
                }
                let label = format!("{name} by {fetch:?} in {precision:?} on {place}");
                let options = Options::new(CUTOFF)
                    .with_precision(precision)
                    .with_fetch(fetch)
                    .with_list(List::AllPairs);
                let mut forces = Forces::new(&team, &two(4.0, 0.0), &potential, options).unwrap();
                check_forces(&label, &mut forces, precision, filter);
                check_collision(&label, &team, &potential, options);
            }
        }
    }
}

#[test]
fn pairs_below_a_table_are_counted_at_every_step_by_every_list() {
    let potential = table(Mode::Derivative, Spacing::R, Interpolation::Linear);
    // A collision, and a third atom in the way of nobody.
    let system = {
        let pair = two(4.0, 0.0354);
        let positions = [pair.positions(), &[[11.0, 12.0, 9.0]]].concat();
        let velocities = [pair.velocities().unwrap(), &[[0.0; 3]]].concat();
        System::new(pair.edges(), vec!["Ar".to_owned()], vec![0; 3], positions)
            .unwrap()
            .with_velocities(velocities)
            .unwrap()
    };
    let options = |list, below_range| {
        Options::new(CUTOFF)
            .with_precision(Precision::Double)
            .with_fetch(Fetch::Buffer)
            .with_list(list)
            .with_below_range(below_range)
    };
    let begin = |team: &Team, list, below_range| {
        Motion::new(team, &system, &potential, options(list, below_range), Units::Real, 0.25).unwrap()
    };
    // One step after the other, by the frames.
    let mut slow = begin(&Team::host(), List::AllPairs, BelowRange::Line);
    let (mut wanted, mut first) = (0, None);
    for _ in 0..240 {
        slow.advance(1).unwrap();
        let frame = slow.frame().unwrap();
        wanted += frame.sums.below;
        first = first.or((frame.sums.below > 0).then_some(frame.step));
    }
    assert!(wanted > 3 && slow.below() == wanted, "{wanted} {}", slow.below());
    for (place, team) in places() {
        for list in [List::AllPairs, List::Cells { skin: 0.5 }, List::HalfCells { skin: 0.5 }, List::Matrix] {
            let label = format!("{list:?} on {place}");
            let mut motion = begin(&team, list, BelowRange::Line);
            motion.advance(100).unwrap();
            let state = motion.state().unwrap();
            motion.advance(140).unwrap();
            assert_eq!(motion.below(), wanted, "{label}");
            let kept = options(list, BelowRange::Line);
            let mut resumed =
                Motion::resume(&team, &system, &potential, kept, Units::Real, 0.25, state).unwrap();
            resumed.advance(140).unwrap();
            assert_eq!(resumed.below(), wanted, "{label}");

            let mut stopped = begin(&team, list, BelowRange::Stop);
            let error = stopped.advance(240).unwrap_err();
            let MdError::BelowRange { atoms, distance, rmin, step } = error else {
                panic!("{label}: {error}")
            };
            assert_eq!((atoms, rmin, step), ([1, 2], BEGIN, first), "{label}");
            assert!(distance < BEGIN && distance > 2.4, "{label}: {distance}");
        }
    }
}

#[test]
fn forces_and_motion_that_begin_below_a_table_may_be_refused() {
    let potential = table(Mode::Potential, Spacing::R2, Interpolation::Cubic);
    let system = two(2.4, 0.0);
    for (place, team) in places() {
        for precision in [Precision::Double, Precision::Mixed] {
            let of =
                |below_range| Options::new(CUTOFF).with_precision(precision).with_below_range(below_range);
            let evaluate = |options| {
                Forces::new(&team, &system, &potential, options).unwrap().evaluate(system.positions())
            };
            let motion = |options| {
                Motion::new(&team, &system, &potential, options, Units::Real, 1.0).map(|m| m.below())
            };
            assert_eq!(evaluate(of(BelowRange::Line)).unwrap().sums.below, 1, "{place}");
            assert_eq!(motion(of(BelowRange::Line)), Ok(1), "{place}");
            let error = evaluate(of(BelowRange::Stop)).unwrap_err();
            assert!(
                matches!(error, MdError::BelowRange { atoms: [1, 2], step: None, .. }),
                "{place}: {error}"
            );
            let error = motion(of(BelowRange::Stop)).unwrap_err();
            assert!(
                error.to_string().contains("2.400000 apart at step 0, nearer than 2.5"),
                "{place}: {error}"
            );
        }
    }
}
