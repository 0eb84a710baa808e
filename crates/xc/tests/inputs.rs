//! Molden files, own grids, and input that is refused.

use super::common;

use common::{ArrayFile, Molecule, apart, array, json, reference, small};
use lattice_compute::Team;
use lattice_xc::{Atom, Basis, Density, Functional, Grid, Molden, Options, Plan, Shell, XcError};

#[test]
fn molden_files_have_basis_and_density() {
    let Some(folder) = reference() else { return };
    for name in ["h2o", "co", "no2", "benzene"] {
        let molecule = Molecule::read(&folder, name);
        let text = std::fs::read_to_string(folder.join(format!("{name}.molden"))).unwrap();
        let Molden { basis, density, electrons, notes } = Molden::parse(&text).unwrap();
        assert!(notes.is_empty(), "{name}: {notes:?}");
        let wanted: f64 = molecule.electrons().iter().sum();
        assert!((electrons / wanted - 1.0).abs() < 1e-3, "{name}: {electrons} {wanted}");
        assert_eq!(basis.atoms().len(), molecule.basis.atoms().len());
        for (found, wanted) in basis.atoms().iter().zip(molecule.basis.atoms()) {
            assert_eq!(found.charge, wanted.charge);
            assert!(apart(&found.position, &wanted.position) < 1e-13, "{name}");
        }
        for (found, wanted) in basis.shells().iter().zip(molecule.basis.shells()) {
            assert_eq!((found.atom, found.momentum), (wanted.atom, wanted.momentum), "{name}");
            for (found, wanted) in found.primitives.iter().zip(&wanted.primitives) {
                assert!((found[1] / wanted[1] - 1.0).abs() < 1e-12, "{name}: {found:?} {wanted:?}");
            }
        }
        let wanted = molecule.density();
        assert_eq!(density.spins().len(), wanted.spins().len());
        assert!(apart(&density.spins().concat(), &wanted.spins().concat()) < 1e-12, "{name}");
    }
}

const HYDROGEN: &str = "[Molden Format]\n[Atoms] Angs\nH 1 1 0 0 0\nH 2 1 0 0 0.74\n[GTO]\n1 0\ns 1 1.0\n0.5D0 1.0\n\n2 0\n\
                        sp 1\n0.5 1.0 1.0\n\n[5D]\n[MO]\nEne= -0.5\nSpin= Alpha\nOccup= 2.0\n1 0\n2 0\n3 0\n4 0\n5 1.0\n";

#[test]
fn molden_files_that_cannot_be_used_are_refused_at_their_line() {
    let good = Molden::parse(HYDROGEN).unwrap();
    assert_eq!(good.basis.functions(), 5);
    assert!((good.basis.atoms()[1].position[2] - 0.74 / 0.529177210903).abs() < 1e-12);
    assert_eq!((good.density.spins()[0][24], good.notes.len()), (2.0, 0));
    let without = |section: &str| format!("the file has no {section}");
    for (from, to, wanted) in [
        ("sp 1", "d 1", "line 12: a primitive of this shell has 2 numbers"),
        ("sp 1", "i 1", "line 11: `i` is no shell that is known; s, p, d, f, g, h and sp are"),
        ("sp 1", "sp x", "line 11: `x` is no number of primitives; write digits"),
        ("0.5 1.0 1.0", "0.5 0 1.0", "line 11: no coefficient of this s shell is other than 0"),
        (
            "1 0\ns 1 1.0",
            "s 1 1.0",
            "line 6: `s` begins a shell before the number of its atom; write that first, as `1 0`",
        ),
        ("[5D]\n", "", ""),
        ("3 0\n", "", ""),
        ("3 0\n", "4 0\n", "line 16: the orbital has coefficient 4 twice; write it once"),
        ("3 0\n", "0 0\n", "line 21: functions are counted from 1; there is none with the number 0"),
        (
            "5 1.0\n",
            "6 1.0\n",
            "line 16: the orbital has a coefficient of function 6, and the basis 5 functions; tags as [5D7F] say which shells are pure",
        ),
        ("Occup= 2.0\n", "", "line 16: the orbital has no occupation; write it with Occup="),
        (
            "Occup= 2.0\n",
            "Occup= 0\n",
            "line 16: no orbital of the file is occupied; write their electrons with Occup=",
        ),
        ("Alpha", "Up", "line 17: `Up` is no spin; write Alpha or Beta"),
        (
            "H 1 1 0",
            "Yy 1 -1 0",
            "line 3: `Yy` with the number `-1` is no element; write its nuclear charge, or 0 for a ghost",
        ),
        ("1 0\n2", "1 nan\n2", "line 19: `nan` is no finite number"),
        ("2 0\nsp", "3 0\nsp", "line 10: `3` is no number of an atom; there are 2"),
        ("[MO]", "[NO]", &format!("line 1: {}", without("orbitals; write it with [MO]"))),
        ("[Atoms]", "[A]", &format!("line 1: {}", without("atoms; write it with [Atoms]"))),
        (
            "[GTO]",
            "[STO]",
            "line 5: functions of Slater ([STO]) are not known; write the file with Gaussian ones, [GTO]",
        ),
        ("[5D]", "[GTO]", "line 14: the section [GTO] stands a second time; leave one of them"),
        ("0.5D0 1.0", "-0.5 1.0", "line 8: the exponent -0.5 is not positive"),
    ] {
        assert!(HYDROGEN.contains(from), "{from}");
        match Molden::parse(&HYDROGEN.replacen(from, to, 1)) {
            Ok(_) => assert_eq!(wanted, "", "{from} as {to}"),
            Err(error) => assert_eq!(error.to_string(), wanted, "{from} as {to}"),
        }
    }
    assert!(Molden::parse("").is_err());
    // Without a matrix of them, many functions are a short file.
    let many = HYDROGEN.replace("sp 1\n0.5 1.0 1.0\n", &"h 1\n1 1\n".repeat(1000));
    let error = Molden::parse(&many.replace("[5D]", "[21H]")).unwrap_err().to_string();
    assert!(error.ends_with("the basis has 21001 functions; at most 20000 are possible"), "{error}");
}

#[test]
fn own_grids_give_converged_energies() {
    let Some(folder) = reference() else { return };
    if small() {
        return;
    }
    let names: &[&'static str] = if common::all_combinations() { &["h2o", "co", "benzene"] } else { &["co"] };
    for &name in names {
        let molecule = Molecule::read(&folder, name);
        let grid = Grid::molecular(molecule.basis.atoms(), 75, 302).unwrap();
        let mut plan = Plan::new(&common::team_of(1), &molecule.basis, &grid, Options::default()).unwrap();
        let found = plan.evaluate(&molecule.density(), Functional::Pbe).unwrap();
        let error = (found.energy - molecule.number("converged_exc_pbe")).abs();
        assert!(error < 2e-6, "{name}: {error:e}");
    }
}

#[test]
fn a_large_molecule_has_its_energy() {
    let Some(folder) = reference() else { return };
    if !common::all_combinations() {
        return;
    }
    let file = ArrayFile::open(folder.join("c60.npz"));
    let (basis, wanted) = (common::basis(&file), json(&folder.join("c60.json")));
    let (n, block) = (basis.functions(), array(&file, "dm_block").values);
    let density =
        (0..n * n).map(|e| if e / n / 14 == e % n / 14 { block[e / n % 14 * 14 + e % n % 14] } else { 0.0 });
    let density = Density::new(n, density.collect()).unwrap();
    let grid = Grid::molecular(basis.atoms(), 40, 194).unwrap();
    let mut plan = Plan::new(&common::team_of(1), &basis, &grid, Options::default()).unwrap();
    for functional in ["pbe", "svwn5"] {
        let found = plan.evaluate(&density, functional.parse().unwrap()).unwrap();
        let number = |name: &str| wanted[name].as_f64().unwrap();
        assert!(
            (found.energy - number(&format!("exc_{functional}"))).abs() < 1e-6,
            "{functional}: {}",
            found.energy
        );
        assert!((found.electrons[0] * 2.0 - number("nelec")).abs() < 1e-6);
        let norm = found.matrices[0].iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((norm - number(&format!("vxc_norm_{functional}"))).abs() < 1e-7, "{functional}: {norm}");
        for sample in wanted[&format!("vxc_sample_{functional}")].as_array().unwrap() {
            let [i, j, value] = [0, 1, 2].map(|k| sample[k].as_f64().unwrap());
            let error = (found.matrices[0][i as usize * n + j as usize] - value).abs();
            assert!(error < 1e-7, "{functional} ({i}, {j}): {error:e}");
        }
    }
}

fn one_function() -> Basis {
    let shell = Shell { atom: 0, momentum: 0, is_cartesian: false, primitives: vec![[1.0, 1.0]] };
    Basis::new(vec![Atom { charge: 1, position: [0.0; 3] }], vec![shell]).unwrap()
}

#[test]
fn bad_input_is_refused_by_name() {
    let message = |error: XcError| error.to_string();
    let basis = one_function();
    let grid = Grid::new(vec![[0.0; 3], [1.0; 3]], vec![1.0, 0.5]).unwrap();
    let refused = |options| message(Plan::new(&Team::host(), &basis, &grid, options).err().unwrap());
    let options = Options::default().with_cube(Some(-1.0));
    assert_eq!(refused(options), "the side of a cube is -1; give a positive number of bohr");
    let options = Options::default().with_screen(f64::NAN);
    assert_eq!(refused(options), "the screen is NaN; give a number from 0 up to 1");
    let options = Options::default().with_memory(Some(10));
    let error = Plan::new(&common::team_of(1), &basis, &grid, options).err().unwrap();
    assert!(matches!(error, XcError::Budget { budget: 10, .. }), "{error}");
    let error = Grid::molecular(basis.atoms(), 50, 300).unwrap_err();
    assert_eq!(
        message(error),
        "there is no rule with 300 angular points; choose one of 50, 110, 194, 302, 434, 590, 770"
    );
    let error = Grid::molecular(&[Atom { charge: 92, position: [0.0; 3] }], 50, 302).unwrap_err();
    assert!(matches!(error, XcError::Element { atom: 0, charge: 92 }));
    let twice = [basis.atoms()[0], basis.atoms()[0]];
    assert!(matches!(Grid::molecular(&twice, 50, 302), Err(XcError::SamePlace { atoms: [0, 1] })));
    // Functions without a nucleus have no points of their own.
    let ghost = Atom { charge: 0, position: [1.0, 0.0, 0.0] };
    let grid_of = |atoms: &[Atom]| Grid::molecular(atoms, 9, 50);
    assert_eq!(grid_of(&[twice[0], ghost, ghost]), grid_of(&twice[..1]));
    assert!(matches!(grid_of(&[ghost]), Err(XcError::Element { atom: 0, charge: 0 })));
    assert!(matches!(Grid::molecular(&twice, 0, 302), Err(XcError::Option { .. })));
    assert!(matches!(Grid::new(vec![], vec![]), Err(XcError::GridSize { .. })));
    assert!(matches!(Grid::new(vec![[0.0, f64::NAN, 0.0]], vec![1.0]), Err(XcError::GridValue { point: 0 })));
    assert!(matches!(Grid::new(vec![[0.0; 3]], vec![-1.0]), Err(XcError::GridWeights { .. })));
    assert!(matches!(Density::new(2, vec![0.0; 3]), Err(XcError::DensitySize { functions: 2, found: 3 })));
    assert!(matches!(Density::new(1, vec![f64::NAN]), Err(XcError::DensityValue { .. })));
    let error = Density::new(2, vec![1.0, 0.5, 0.25, 1.0]).unwrap_err();
    assert_eq!(
        message(error),
        "elements (1, 0) and (0, 1) of the density matrix differ by 0.25; it must be symmetric to 1e-8"
    );
    let mut plan = Plan::new(&Team::host(), &basis, &grid, Options::default()).unwrap();
    let other = Density::new(2, vec![0.0; 4]).unwrap();
    assert!(matches!(
        plan.evaluate(&other, Functional::Pbe),
        Err(XcError::DensitySize { functions: 1, found: 4 })
    ));
    for (shell, wanted) in [
        (
            Shell { atom: 0, momentum: 6, is_cartesian: true, primitives: vec![[1.0, 1.0]] },
            "shell 0 has l = 6; shells s, p, d, f, g, h are known",
        ),
        (
            Shell { atom: 3, momentum: 0, is_cartesian: false, primitives: vec![[1.0, 1.0]] },
            "shell 0 is on atom 3, but there are 1 atoms",
        ),
        (Shell { atom: 0, momentum: 0, is_cartesian: false, primitives: vec![] }, "shell 0 has no primitive"),
    ] {
        let error = Basis::new(vec![Atom { charge: 1, position: [0.0; 3] }], vec![shell]).unwrap_err();
        assert_eq!(message(error), wanted);
    }
}
