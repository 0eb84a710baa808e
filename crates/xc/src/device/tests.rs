//! Groups that go from one device to another.

use super::*;
use crate::basis::{Atom, Shell};
use crate::groups::{Rules, grouped};
use crate::host;
use lattice_compute::{CacheMode, DeviceOptions, Selector, Team, TuningMode};

fn hydrogens() -> Basis {
    let atoms = [[0.0; 3], [1.4, 0.3, -0.2]].map(|position| Atom { charge: 1, position });
    let shell = |atom, momentum, exponent| {
        let primitives = vec![[exponent, 0.6]];
        Shell { atom, momentum, is_cartesian: false, primitives }
    };
    let shells = vec![shell(0, 0, 1.1), shell(0, 1, 0.7), shell(1, 0, 0.9), shell(1, 2, 0.8)];
    Basis::new(atoms.to_vec(), shells).unwrap()
}

fn add(mut sums: Sums, more: Sums) -> Sums {
    sums.energy += more.energy;
    sums.matrices[0].iter_mut().zip(&more.matrices[0]).for_each(|(sum, part)| *sum += part);
    sums
}

/// Half of the groups go to the other device, and some of them back: nothing is lost, and nothing counts twice.
fn groups_may_move<T: Real + Element, W: Real>(allowed: f64) {
    let options = DeviceOptions::default().with_cache(CacheMode::Off).with_tuning(TuningMode::Shipped);
    let team = Team::select_with([Selector::Auto], &options).unwrap();
    let Some(device) = team.devices().first() else { return };
    let basis = hydrogens();
    let grid = Grid::molecular(basis.atoms(), 12, 50).unwrap();
    let groups = grouped(&basis, &grid, Rules { cube: 1.5, screen: 1e-10, parts: 8 }).groups;
    let n = basis.functions();
    let column: Vec<f64> = (0..n).map(|k| 0.3 + 0.1 * (k as f64).sin()).collect();
    let density = Density::new(n, (0..n * n).map(|e| column[e / n] * column[e % n]).collect()).unwrap();
    let wanted = host::evaluate(&basis, &grid, &groups, &density, Functional::Pbe);
    let source = Source { basis: &basis, grid: &grid, groups: &groups };
    let count = groups.len();
    assert!(count > 12, "{count} groups");
    // A device that keeps functions, and one that has room for few of them.
    let mut first = OnDevice::<T, W>::new(device, source, &(0..count).collect::<Vec<_>>(), 1 << 30).unwrap();
    let mut second = OnDevice::<T, W>::new(device, source, &[], 1 << 16).unwrap();
    let check = |first: &mut OnDevice<T, W>, second: &mut OnDevice<T, W>| {
        let sums = [first, second].map(|part| part.evaluate(&density, Functional::Pbe).unwrap().0);
        let [one, other] = sums;
        let found = add(one, other);
        assert!((found.energy - wanted.energy).abs() < allowed, "{} {}", found.energy, wanted.energy);
        let apart = found.matrices[0].iter().zip(&wanted.matrices[0]).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < allowed);
    };
    check(&mut first, &mut second);
    let odd: Vec<usize> = (0..count).filter(|job| job % 2 == 1).collect();
    first.remove(source, &odd).unwrap();
    second.insert(source, &odd).unwrap();
    check(&mut first, &mut second);
    assert_eq!(first.cache().groups, count - odd.len());
    second.settle(source).unwrap();
    check(&mut first, &mut second);
    // Some go back, in two steps, and all others after them.
    for back in [&odd[..2], &odd[2..3], &odd[3..]] {
        second.remove(source, back).unwrap();
        first.insert(source, back).unwrap();
        check(&mut first, &mut second);
    }
    assert_eq!(first.cache().groups, count);
    assert!(second.held.is_empty());
    let stages = first.stages(&density, Functional::Pbe).unwrap();
    assert!(stages.iter().all(|stage| stage.seconds > 0.0 && stage.bytes > 0));
    check(&mut first, &mut second);
}

#[test]
fn groups_may_move_in_double() {
    groups_may_move::<f64, f64>(1e-12);
}

#[test]
fn groups_may_move_in_single() {
    groups_may_move::<f32, f32>(2e-6);
}
