//! Energies, matrices and gradients of molecules on every device and on the host, against PySCF.

use super::common;

use common::{Molecule, apart, array, reference, small, teams};
use lattice_compute::Team;
use lattice_xc::{Atom, Basis, Density, Functional, Grid, Numbers, Options, Plan, Xc};

/// tr(D V) over all spins.
fn trace(density: &lattice_xc::Density, matrices: &[Vec<f64>]) -> f64 {
    let of = |(d, v): (&Vec<f64>, &Vec<f64>)| d.iter().zip(v).map(|(d, v)| d * v).sum::<f64>();
    density.spins().iter().zip(matrices).map(of).sum()
}

#[track_caller]
fn compare(label: &str, molecule: &Molecule, functional: Functional, found: &Xc, tolerances: [f64; 2]) {
    let [of_energy, of_matrix] = tolerances;
    let energy = molecule.number(&format!("exc_{functional}"));
    let error = (found.energy - energy).abs();
    assert!(error <= of_energy, "{label}: energy {error:e}");
    for (found, wanted) in found.electrons.iter().zip(molecule.electrons()) {
        assert!((found - wanted).abs() <= 10.0 * of_energy, "{label}: electrons {found} {wanted}");
    }
    let wanted = array(&molecule.file, &format!("vxc_{functional}")).values;
    let error = apart(&found.matrices.concat(), &wanted);
    assert!(error <= of_matrix, "{label}: matrix {error:e}");
    let trace = trace(&molecule.density(), &found.matrices);
    let error = (trace - molecule.number(&format!("trace_{functional}"))).abs();
    assert!(error <= 10.0 * of_energy, "{label}: trace {error:e}");
    let n = molecule.basis.functions();
    for matrix in &found.matrices {
        assert!((0..n * n).all(|e| matrix[e] == matrix[e % n * n + e / n]), "{label}: symmetric to the bit");
    }
}

#[test]
fn molecules_have_the_reference_values() {
    let Some(folder) = reference() else { return };
    if small() {
        return;
    }
    let teams = teams();
    for name in ["h2o", "co", "no2", "benzene"] {
        let molecule = Molecule::read(&folder, name);
        let (grid, density, basis) = (molecule.grid(), molecule.density(), molecule.basis.clone());
        for (number, (place, team)) in teams.iter().enumerate() {
            // Unless everything is asked for: the others on one device, and the one with f functions on the host too.
            let is_asked = match name {
                "h2o" => number > 0,
                "co" => number < 2,
                _ => number == 1,
            };
            if !is_asked && !common::all_combinations() {
                continue;
            }
            let mut plan = Plan::new(team, &basis, &grid, Options::default()).unwrap();
            for functional in Functional::ALL {
                let label = format!("{name}, {functional} on {place}");
                let found = plan.evaluate(&density, functional).unwrap();
                compare(&label, &molecule, functional, &found, [1e-10, 1e-10]);
                let again = plan.evaluate(&density, functional).unwrap();
                if team.len() < 2 {
                    // Several devices may have exchanged groups.
                    let bits = |xc: &Xc| (xc.energy, xc.electrons, xc.matrices.clone());
                    assert_eq!(bits(&found), bits(&again), "{label}: the same bits");
                }
                assert!((found.energy - again.energy).abs() <= 1e-12, "{label}: again");
            }
            let gradient = plan.gradient(&density, Functional::Pbe).unwrap();
            let wanted = array(&molecule.file, "grad_pbe").values;
            let error = apart(gradient.as_flattened(), &wanted);
            assert!(error <= 1e-9, "{name} on {place}: gradient {error:e}");
        }
    }
}

#[test]
fn without_a_screen_all_digits_agree() {
    let Some(folder) = reference() else { return };
    if small() {
        return;
    }
    let options = Options::default().with_screen(0.0);
    let names: &[&'static str] = if common::all_combinations() { &["h2o", "no2", "co"] } else { &["no2"] };
    for &name in names {
        let molecule = Molecule::read(&folder, name);
        let (grid, density, basis) = (molecule.grid(), molecule.density(), molecule.basis.clone());
        for (place, team) in [("the host", Team::host()), ("a device", common::team_of(1))] {
            let mut plan = Plan::new(&team, &basis, &grid, options).unwrap();
            for functional in Functional::ALL {
                let label = format!("{name}, {functional} on {place}");
                let found = plan.evaluate(&density, functional).unwrap();
                compare(&label, &molecule, functional, &found, [1e-11, 1e-12]);
                if functional != Functional::Pbe && !common::all_combinations() {
                    continue;
                }
                let gradient = plan.gradient(&density, functional).unwrap();
                let wanted = array(&molecule.file, &format!("grad_{functional}")).values;
                let error = apart(gradient.as_flattened(), &wanted);
                assert!(error <= 1e-12, "{label}: gradient {error:e}");
            }
        }
    }
}

#[test]
fn single_precision_is_as_good_as_expected() {
    let Some(folder) = reference() else { return };
    if small() {
        return;
    }
    for (name, of_energy) in [("h2o", 1e-6), ("benzene", 5e-6)] {
        let molecule = Molecule::read(&folder, name);
        let (grid, density, basis) = (molecule.grid(), molecule.density(), molecule.basis.clone());
        for numbers in [Numbers::Mixed, Numbers::Single] {
            let options = Options::default().with_numbers(numbers);
            let mut plan = Plan::new(&common::team_of(1), &basis, &grid, options).unwrap();
            let found = plan.evaluate(&density, Functional::Pbe).unwrap();
            let label = format!("{name}, {numbers:?}");
            compare(&label, &molecule, Functional::Pbe, &found, [of_energy, 3e-6]);
        }
    }
}

/// Real solid harmonics up to d, each up to a factor, in the order of a shell's functions.
fn harmonics(momentum: usize, [x, y, z]: [f64; 3]) -> Vec<f64> {
    let root = 3.0_f64.sqrt();
    match momentum {
        0 => vec![1.0],
        1 => vec![x, y, z],
        _ => vec![
            root * x * y,
            root * y * z,
            0.5 * (2.0 * z * z - x * x - y * y),
            root * x * z,
            0.5 * root * (x * x - y * y),
        ],
    }
}

/// The matrix M with S(R r) = M S(r) for the harmonics of a shell: orthogonal, so that it follows from S on a grid that
/// every rotation by right angles leaves alone.
fn turned(momentum: usize, turn: impl Fn([f64; 3]) -> [f64; 3]) -> Vec<Vec<f64>> {
    let (mut points, mut sums) = (Vec::new(), vec![vec![0.0; 2 * momentum + 1]; 2 * momentum + 1]);
    // Gauss's rule for polynomials up to degree 5 on the cube.
    let g = 0.6_f64.sqrt();
    for (x, a) in [(-g, 5.0), (0.0, 8.0), (g, 5.0)] {
        for (y, b) in [(-g, 5.0), (0.0, 8.0), (g, 5.0)] {
            for (z, c) in [(-g, 5.0), (0.0, 8.0), (g, 5.0)] {
                points.push(([x, y, z], a * b * c));
            }
        }
    }
    let mut norms = vec![vec![0.0; 2 * momentum + 1]; 2 * momentum + 1];
    for (point, weight) in points {
        let (before, after) = (harmonics(momentum, point), harmonics(momentum, turn(point)));
        for i in 0..before.len() {
            for j in 0..before.len() {
                sums[i][j] += weight * after[i] * before[j];
                norms[i][j] += weight * before[i] * before[j];
            }
        }
    }
    // The harmonics are orthogonal on the cube.
    (0..sums.len()).map(|i| (0..sums.len()).map(|j| sums[i][j] / norms[j][j]).collect()).collect()
}

/// Turned by any angle and moved, a molecule keeps its energy on a fine grid, though the grid has axes of its own.
#[test]
fn molecules_may_be_turned_and_moved() {
    let Some(folder) = reference() else { return };
    if small() {
        return;
    }
    let molecule = Molecule::read(&folder, "h2o");
    let (sin, cos) = 0.7_f64.sin_cos();
    let (sine, cosine) = (-1.1_f64).sin_cos();
    let turn = |[x, y, z]: [f64; 3]| {
        let [x, y] = [cos * x - sin * y, sin * x + cos * y];
        [x, cosine * y - sine * z, sine * y + cosine * z]
    };
    let basis = &molecule.basis;
    let moved = |position: [f64; 3]| {
        let [x, y, z] = turn(position);
        [x + 0.31, y - 1.7, z + 0.2]
    };
    let atoms = basis.atoms().iter().map(|atom| Atom { position: moved(atom.position), ..*atom });
    let other = Basis::new(atoms.collect(), basis.shells().to_vec()).unwrap();
    // Functions of the turned shell in those of the new axes: D' = U D Uᵀ with blocks U of shells.
    let n = basis.functions();
    let mut blocks = vec![0.0; n * n];
    for shell in 0..basis.shells().len() {
        let block = turned(basis.shells()[shell].momentum, turn);
        let range = basis.functions_of(shell);
        for (i, row) in range.clone().enumerate() {
            for (j, column) in range.clone().enumerate() {
                blocks[row * n + column] = block[i][j];
            }
        }
    }
    let density = &molecule.density().spins()[0].clone();
    let product = |a: &[f64], b: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..n * n).map(|e| (0..n).map(|k| a[e / n * n + k] * b(k, e % n)).sum()).collect()
    };
    let half = product(&blocks, &|k, column| density[k * n + column]);
    let turned_density = product(&half, &|k, column| blocks[column * n + k]);
    let energy = |basis: &Basis, density: Vec<f64>| {
        let grid = Grid::molecular(basis.atoms(), 75, 434).unwrap();
        let mut plan = Plan::new(&common::team_of(1), basis, &grid, Options::default()).unwrap();
        let found = plan.evaluate(&Density::new(n, density).unwrap(), Functional::Pbe).unwrap();
        (found.energy, found.electrons[0])
    };
    let [wanted, found] = [energy(basis, density.clone()), energy(&other, turned_density)];
    assert!((wanted.0 - found.0).abs() < 1e-6, "{wanted:?} {found:?}");
    assert!((wanted.1 - found.1).abs() < 1e-6, "{wanted:?} {found:?}");
}
