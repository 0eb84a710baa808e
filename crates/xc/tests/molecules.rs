//! Energies, matrices and gradients of molecules on every device and on the host, against PySCF.

mod common;

use common::{Molecule, apart, array, reference, small, teams};
use lattice_compute::Team;
use lattice_xc::{Functional, Numbers, Options, Plan, Xc};

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
    let options = Options { screen: 0.0, ..Options::default() };
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
    let options = Options { numbers: Numbers::Mixed, ..Options::default() };
    for (name, of_energy) in [("h2o", 1e-6), ("benzene", 5e-6)] {
        let molecule = Molecule::read(&folder, name);
        let (grid, density, basis) = (molecule.grid(), molecule.density(), molecule.basis.clone());
        let mut plan = Plan::new(&common::team_of(1), &basis, &grid, options).unwrap();
        let found = plan.evaluate(&density, Functional::Pbe).unwrap();
        compare(name, &molecule, Functional::Pbe, &found, [of_energy, 3e-6]);
    }
}
