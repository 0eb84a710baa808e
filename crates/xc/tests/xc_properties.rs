//! What must hold whatever the numbers are: derivatives, rotations, cuts, teams.

use super::common;

use common::{apart, as_gpu, small, team_of, teams, without_double};
use lattice_compute::Team;
use lattice_xc::{Atom, Basis, Density, Functional, Grid, Numbers, Options, Plan, Shell, Xc, XcError};

/// Three atoms with shells of every kind, turned and moved.
fn basis(turn: f64, shift: [f64; 3]) -> Basis {
    let (sin, cos) = turn.sin_cos();
    let place =
        |[x, y, z]: [f64; 3]| [cos * x - sin * y + shift[0], sin * x + cos * y + shift[1], z + shift[2]];
    let at = |charge, position| Atom { charge, position: place(position) };
    let atoms = vec![at(8, [0.1, -0.2, 0.3]), at(1, [1.4, 0.6, -0.2]), at(6, [-1.5, 1.1, 0.9])];
    let shell = |atom, momentum, primitives: &[[f64; 2]]| Shell {
        atom,
        momentum,
        is_cartesian: false,
        primitives: primitives.to_vec(),
    };
    let shells = vec![
        shell(0, 0, &[[9.0, 3.0], [2.0, 1.4], [0.5, 0.4]]),
        shell(0, 1, &[[3.0, 2.0], [0.6, 0.7]]),
        shell(0, 3, &[[0.9, 0.5]]),
        shell(1, 0, &[[1.1, 1.0], [0.3, 0.3]]),
        shell(2, 0, &[[4.0, 2.0], [0.4, 0.5]]),
        shell(2, 2, &[[0.8, 0.6]]),
        shell(2, 1, &[[0.7, 0.5]]),
    ];
    Basis::new(atoms, shells).unwrap()
}

/// A positive matrix that looks random.
fn positive(n: usize, seed: usize) -> Vec<f64> {
    let c: Vec<f64> = (0..n * 3).map(|k| 0.4 * ((7 * k + 13 * seed + k * k % 11) as f64).sin()).collect();
    (0..n * n).map(|e| (0..3).map(|o| c[e / n * 3 + o] * c[e % n * 3 + o]).sum()).collect()
}

fn density(n: usize, spins: usize) -> Density {
    match spins {
        1 => Density::new(n, positive(n, 1)).unwrap(),
        _ => Density::polarised(n, positive(n, 1), positive(n, 2)).unwrap(),
    }
}

fn coarse(basis: &Basis) -> Grid {
    Grid::molecular(basis.atoms(), radial(), 50).unwrap()
}

/// Radial points of the coarse grid.
fn radial() -> usize {
    if small() { 1 } else { 9 }
}

fn evaluate(team: &Team, basis: &Basis, grid: &Grid, options: Options, spins: usize) -> Xc {
    let density = density(basis.functions(), spins);
    Plan::new(team, basis, grid, options).unwrap().evaluate(&density, Functional::Pbe).unwrap()
}

#[track_caller]
fn expect_same(label: &str, found: &Xc, wanted: &Xc, allowed: f64) {
    let scale = wanted.energy.abs();
    assert!(
        (found.energy - wanted.energy).abs() <= allowed * scale,
        "{label}: {} {}",
        found.energy,
        wanted.energy
    );
    assert!(apart(&found.electrons, &wanted.electrons) <= allowed * scale, "{label}: electrons");
    let error = apart(&found.matrices.concat(), &wanted.matrices.concat());
    assert!(error <= allowed * scale, "{label}: matrix {error:e}");
}

#[test]
fn teams_cuts_and_memory_do_not_matter() {
    let basis = basis(0.0, [0.0; 3]);
    let grid = coarse(&basis);
    let all = Options::default().with_screen(0.0);
    let teams = teams();
    for spins in if small() { 2..=2 } else { 1..=2 } {
        let wanted = evaluate(&Team::host(), &basis, &grid, all, spins);
        for (place, team) in &teams[1..] {
            if small() && team.len() > 1 {
                continue;
            }
            let found = evaluate(team, &basis, &grid, all, spins);
            expect_same(place, &found, &wanted, 1e-12);
            assert_eq!(found.shares.len(), team.len());
        }
        let cube = all.with_cube(Some(1.3));
        expect_same("small cubes", &evaluate(&Team::host(), &basis, &grid, cube, spins), &wanted, 1e-12);
        if !small() {
            // Room for a part of the functions, or for hardly any.
            for memory in [1 << 20, 3 << 20] {
                let options = all.with_memory(Some(memory));
                let found = evaluate(&teams[1].1, &basis, &grid, options, spins);
                expect_same("little memory", &found, &wanted, 1e-12);
            }
            for (_, team) in &teams[1..3] {
                for numbers in [Numbers::Mixed, Numbers::Single] {
                    let options = all.with_numbers(numbers);
                    let label = format!("{numbers:?}");
                    expect_same(&label, &evaluate(team, &basis, &grid, options, spins), &wanted, 3e-6);
                }
            }
        }
    }
}

/// Points in another order are in the same groups.
#[test]
fn the_order_of_points_does_not_matter() {
    let basis = basis(0.0, [0.0; 3]);
    let grid = coarse(&basis);
    let turned_round = |values: &[f64]| values.iter().rev().copied().collect();
    let points = grid.points().iter().rev().copied().collect();
    let other = Grid::new(points, turned_round(grid.weights())).unwrap();
    let [found, wanted] =
        [&other, &grid].map(|grid| evaluate(&team_of(1), &basis, grid, Options::default(), 1));
    expect_same("other order", &found, &wanted, 1e-11);
}

#[test]
fn grids_of_devices_are_those_of_the_host() {
    let basis = basis(0.4, [0.3, -0.2, 0.1]);
    let wanted = coarse(&basis);
    let found = Grid::molecular_on(&as_gpu(), basis.atoms(), radial(), 50).unwrap();
    assert_eq!(found.points(), wanted.points());
    let largest = wanted.weights().iter().copied().fold(0.0, f64::max);
    assert!(apart(found.weights(), wanted.weights()) < 1e-13 * largest);
    // A processor leaves it to the host.
    assert_eq!(Grid::molecular_on(&team_of(1), basis.atoms(), radial(), 50).unwrap(), wanted);
}

#[test]
fn devices_without_double_take_part_in_single_alone() {
    let basis = basis(0.0, [0.0; 3]);
    let (grid, team) = (coarse(&basis), without_double());
    for numbers in [Numbers::Double, Numbers::Mixed] {
        let options = Options::default().with_numbers(numbers);
        let error = Plan::new(&team, &basis, &grid, options).err().unwrap();
        assert!(matches!(error, XcError::NoDouble { .. }), "{error}");
    }
    let options = Options::default().with_numbers(Numbers::Single);
    let wanted = evaluate(&Team::host(), &basis, &grid, options, 2);
    expect_same("single", &evaluate(&team, &basis, &grid, options, 2), &wanted, 3e-6);
    let gradient = |team: &Team| {
        let mut plan = Plan::new(team, &basis, &grid, options).unwrap();
        plan.gradient(&density(basis.functions(), 2), Functional::Pbe).unwrap()
    };
    let [found, wanted] = [gradient(&team), gradient(&Team::host())];
    assert!(apart(found.as_flattened(), wanted.as_flattened()) < 1e-5 * wanted[0][0].abs().max(1.0));
}

#[test]
fn plans_tell_what_they_are() {
    let basis = basis(0.0, [0.0; 3]);
    let grid = coarse(&basis);
    let plan = Plan::new(&team_of(1), &basis, &grid, Options::default()).unwrap();
    let info = plan.info();
    assert_eq!((info.points, info.spheres), (3 * radial() * 50, 3));
    assert!(info.kept_points <= info.points && info.gflop <= info.gflop_dense);
    assert_eq!(info.kept_groups, info.groups);
    assert!(info.kept_bytes > 0 && info.kept_bytes < info.budget_bytes);
    assert!(info.functions_of_groups.most <= basis.functions());
}

/// Shells of every kind that `basis` lacks: Cartesian ones, and those up to h.
fn other_kinds() -> Basis {
    let at = |charge, position| Atom { charge, position };
    let atoms = vec![at(8, [0.1, -0.2, 0.3]), at(6, [1.4, 0.6, -0.2])];
    let shell = |(number, (momentum, is_cartesian)): (usize, (usize, bool))| Shell {
        atom: number % 2,
        momentum,
        is_cartesian,
        primitives: vec![[0.8 + 0.1 * momentum as f64, 0.5], [2.0, 0.2]],
    };
    let kinds = [(1, true), (2, true), (3, true), (4, false), (4, true), (5, false), (5, true)];
    let kinds = kinds.into_iter().take(if small() { 2 } else { 7 });
    Basis::new(atoms, kinds.enumerate().map(shell).collect()).unwrap()
}

#[test]
fn cartesian_and_high_shells_are_those_of_the_host_and_have_gradients() {
    let basis = other_kinds();
    let grid = coarse(&basis);
    let all = Options::default().with_screen(0.0);
    let wanted = evaluate(&Team::host(), &basis, &grid, all, 2);
    expect_same("double", &evaluate(&team_of(1), &basis, &grid, all, 2), &wanted, 1e-12);
    let single = all.with_numbers(Numbers::Single);
    expect_same("single", &evaluate(&team_of(1), &basis, &grid, single, 2), &wanted, 3e-6);
    let density = density(basis.functions(), 1);
    let [own, other] = [Team::host(), team_of(1)].map(|team| {
        Plan::new(&team, &basis, &grid, all).unwrap().gradient(&density, Functional::Pbe).unwrap()
    });
    assert!(apart(own.as_flattened(), other.as_flattened()) < 1e-10);
    if small() {
        return;
    }
    for axis in 0..3 {
        let energy = |distance: f64| {
            let mut atoms = basis.atoms().to_vec();
            atoms[1].position[axis] += distance;
            let moved = Basis::new(atoms, basis.shells().to_vec()).unwrap();
            let mut plan = Plan::new(&team_of(1), &moved, &grid, all).unwrap();
            plan.evaluate(&density, Functional::Pbe).unwrap().energy
        };
        let slope = (energy(1e-4) - energy(-1e-4)) / 2e-4;
        assert!((slope - own[1][axis]).abs() < 1e-5, "{axis}: {} {slope}", own[1][axis]);
    }
}

/// Turned by a right angle about z, the grid turns too: its rules have that symmetry.
#[test]
fn turned_and_moved_molecules_have_the_same_energy() {
    let options = Options::default().with_screen(0.0);
    let energy = |turn: f64, shift: [f64; 3], functions: Functional| {
        let moved = basis(turn, shift);
        // s functions alone do not turn.
        let n = moved.functions();
        let mut values = vec![0.0; n * n];
        for shell in [0, 3, 4] {
            let function = moved.functions_of(shell).start;
            values[function * n + function] = 1.0;
        }
        let density = Density::new(n, values).unwrap();
        let mut plan = Plan::new(&Team::host(), &moved, &coarse(&moved), options).unwrap();
        plan.evaluate(&density, functions).unwrap().energy
    };
    for functional in Functional::ALL {
        let wanted = energy(0.0, [0.0; 3], functional);
        let turned = energy(std::f64::consts::FRAC_PI_2, [3.0, -1.0, 0.7], functional);
        assert!((turned / wanted - 1.0).abs() < 1e-11, "{functional}: {turned} {wanted}");
    }
}

/// The gradient is the derivative of the sum over a fixed grid, when the functions of an atom move.
#[test]
fn gradients_are_central_differences() {
    let basis = basis(0.3, [0.0; 3]);
    let grid = coarse(&basis);
    let options = Options::default().with_screen(0.0);
    let cases = [(2, Functional::Pbe), (2, Functional::Svwn5), (1, Functional::Pbe)];
    for (spins, functional) in cases.into_iter().take(if small() { 1 } else { 3 }) {
        let density = density(basis.functions(), spins);
        let places = [Team::host(), team_of(1)];
        let gradients = places.map(|team| {
            Plan::new(&team, &basis, &grid, options).unwrap().gradient(&density, functional).unwrap()
        });
        assert!(apart(gradients[0].as_flattened(), gradients[1].as_flattened()) < 1e-12);
        if small() {
            continue;
        }
        for atom in 0..3 {
            for axis in 0..3 {
                let energy = |distance: f64| {
                    let mut atoms = basis.atoms().to_vec();
                    atoms[atom].position[axis] += distance;
                    let moved = Basis::new(atoms, basis.shells().to_vec()).unwrap();
                    let mut plan = Plan::new(&Team::host(), &moved, &grid, options).unwrap();
                    plan.evaluate(&density, functional).unwrap().energy
                };
                let slope = (energy(1e-4) - energy(-1e-4)) / 2e-4;
                let found = gradients[0][atom][axis];
                assert!((slope - found).abs() < 1e-6, "{spins} {functional} {atom} {axis}: {found} {slope}");
            }
        }
    }
}

/// The matrix is the derivative of the energy by the density matrix.
#[test]
fn matrices_are_derivatives_of_the_energy() {
    let basis = basis(0.3, [0.0; 3]);
    let grid = coarse(&basis);
    let n = basis.functions();
    let mut plan = Plan::new(&Team::host(), &basis, &grid, Options::default()).unwrap();
    for functional in [Functional::Pbe, Functional::Spw92] {
        let found = plan.evaluate(&density(n, 2), functional).unwrap();
        for (spin, i, j) in [(0, 2, 5), (1, 8, 8), (1, 14, 3)] {
            let mut energy = |distance: f64| {
                let mut spins = density(n, 2).spins().to_vec();
                for place in [i * n + j, j * n + i] {
                    spins[spin][place] += 0.5 * distance;
                }
                let [up, down] = [spins[0].clone(), spins[1].clone()];
                plan.evaluate(&Density::polarised(n, up, down).unwrap(), functional).unwrap().energy
            };
            let slope = (energy(1e-5) - energy(-1e-5)) / 2e-5;
            let element = found.matrices[spin][i * n + j];
            assert!((slope - element).abs() < 1e-7, "{functional} {spin} ({i}, {j}): {element} {slope}");
        }
    }
}
