//! Potentials on every device here, also taken for a GPU, and on the host: against reference values, formulas and each other.

use super::common;

use common::{devices, shared, small, taken_for_gpus};
use lattice_cl::compute::Team;
use lattice_cl::host::Philox;
use lattice_cl::io::MeshFile;
use lattice_cl::scalar::Precision;
use lattice_poisson::{
    Boundary, Cell, Cutoff, MeshOrder, Options, Plan, PoissonError, Solution, Stress, Units, reorder,
};
use serde_json::Value;
use std::f64::consts::PI;

const SKEW: [[f64; 3]; 3] = [[5.0, 0.0, 0.0], [0.7, 4.5, 0.0], [-0.5, 0.4, 5.5]];
const BOX: [[f64; 3]; 3] = [[5.0, 0.0, 0.0], [0.0, 4.5, 0.0], [0.0, 0.0, 5.5]];

/// The host, each device, and each taken for a GPU.
fn places() -> Vec<(String, Team)> {
    let of_device = |(kind, device): (&str, lattice_cl::compute::Device)| {
        (format!("{kind} {}", device.label()), Team::of([device]))
    };
    let plain = devices().into_iter().map(|device| ("device", device));
    let gpus = taken_for_gpus().into_iter().map(|device| ("as a GPU", device));
    let mut places = vec![("host".to_owned(), Team::host())];
    places.extend(plain.chain(gpus).map(of_device));
    places
}

fn options(boundary: Boundary, cutoff: Cutoff, precision: Precision) -> Options {
    Options::default().with_boundary(boundary).with_cutoff(cutoff).with_precision(precision)
}

fn solve(team: &Team, cell: [[f64; 3]; 3], shape: [usize; 3], options: Options, density: &[f64]) -> Solution {
    let cell = Cell::new(cell).unwrap();
    Plan::new(team, cell, shape, options).unwrap().solve(density).unwrap()
}

/// The largest difference relative to the largest value.
fn apart(found: &[f64], wanted: &[f64]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    let largest = wanted.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Compares energy and stresses with an entry of `values.json`.
fn compare_energies(label: &str, found: &Solution, wanted: &Value, volume: f64, allowed: f64) {
    let energy = wanted["energy"].as_f64().unwrap();
    let error = (found.energy / energy - 1.0).abs();
    assert!(error <= allowed, "{label}: energy {error:e}");
    let Stress { fixed_charge, fixed_density } = found.stress.unwrap();
    for (name, stress) in [("stress_fixed_charge", fixed_charge), ("stress_fixed_density", fixed_density)] {
        for (found, wanted) in stress.iter().zip(numbers(&wanted[name])) {
            let error = (found - wanted).abs() / (energy / volume);
            assert!(error <= allowed, "{label}: {name} {error:e}");
        }
    }
}

/// The reference values and their folder, or `None` with a loud line.
fn reference() -> Option<(std::path::PathBuf, Value)> {
    let folder = shared()?.join("reference/poisson");
    let text = match std::fs::read_to_string(folder.join("values.json")) {
        Ok(text) => text,
        Err(error) => {
            common::skipped(&format!("{}: {error}", folder.display()));
            return None;
        }
    };
    Some((folder, serde_json::from_str(&text).unwrap()))
}

#[test]
fn periodic_potentials_are_the_reference() {
    let Some((folder, values)) = reference() else { return };
    if small() {
        return;
    }
    for name in ["pair", "prime", "charged", "random"] {
        let path = folder.join(format!("{name}.npz"));
        let file = MeshFile::read(&path).unwrap();
        let potential = MeshFile::read_beside(&path, "potential", file.shape).unwrap();
        let (cell, wanted) = (file.cell.unwrap(), &values[name]);
        let volume = Cell::new(cell).unwrap().volume();
        // Random numbers have all components, so their potential loses more digits.
        let of_potential = if name == "random" { [1e-13, 2e-6] } else { [2e-14, 1e-6] };
        for (place, team) in places() {
            for (precision, which) in [(Precision::Double, 0), (Precision::Single, 1)] {
                let label = format!("{name} in {precision} on {place}");
                let of_energy = [1e-13, of_potential[1]][which];
                let found = solve(
                    &team,
                    cell,
                    file.shape,
                    options(Boundary::Periodic, Cutoff::None, precision),
                    &file.values,
                );
                let error = apart(&found.potential, &potential);
                assert!(error <= of_potential[which], "{label}: potential {error:e}");
                compare_energies(&label, &found, wanted, volume, of_energy);
                let of_sums = [2e-13, 2e-6][which];
                for (found, wanted) in found.dipole.iter().zip(numbers(&wanted["dipole"])) {
                    assert!((found - wanted).abs() <= of_sums * 10.0, "{label}: dipole {found} {wanted}");
                }
                let charge = wanted["charge"].as_f64().unwrap();
                assert!((found.charge - charge).abs() <= of_sums, "{label}: charge {}", found.charge);
                let found = solve(
                    &team,
                    cell,
                    file.shape,
                    options(Boundary::Periodic, Cutoff::Sphere, precision),
                    &file.values,
                );
                compare_energies(
                    &format!("{label} with cutoff"),
                    &found,
                    &wanted["with_cutoff"],
                    volume,
                    of_energy,
                );
            }
        }
    }
}

#[test]
fn a_density_in_free_space_has_the_exact_potential() {
    let Some((folder, values)) = reference() else { return };
    if small() {
        return;
    }
    let path = folder.join("isolated.npz");
    let file = MeshFile::read(&path).unwrap();
    let exact = MeshFile::read_beside(&path, "potential", file.shape).unwrap();
    let energy = values["isolated"]["exact_energy"].as_f64().unwrap();
    for (place, team) in places() {
        for (precision, of_potential, of_energy) in
            [(Precision::Double, 5e-12, 1e-11), (Precision::Single, 2e-6, 2e-6)]
        {
            if team.is_host() && precision == Precision::Single {
                continue;
            }
            let options = options(Boundary::Isolated, Cutoff::None, precision);
            let found = solve(&team, file.cell.unwrap(), file.shape, options, &file.values);
            let error = apart(&found.potential, &exact);
            assert!(error <= of_potential, "{precision} on {place}: {error:e}");
            let error = (found.energy / energy - 1.0).abs();
            assert!(error <= of_energy, "{precision} on {place}: energy {error:e}");
            assert_eq!(found.stress, None);
        }
    }
}

#[test]
fn a_cube_file_has_its_energy() {
    let Some((folder, values)) = reference() else { return };
    let file = MeshFile::read(folder.join("density.cube")).unwrap();
    let wanted = &values["density.cube"];
    for (place, team) in places() {
        for (precision, allowed) in [(Precision::Double, 1e-12), (Precision::Single, 1e-5)] {
            let options = options(Boundary::Periodic, Cutoff::None, precision);
            let found = solve(&team, file.cell.unwrap(), file.shape, options, &file.values);
            for (name, found) in [("energy", found.energy), ("charge", found.charge)] {
                let error = (found / wanted[name].as_f64().unwrap() - 1.0).abs();
                assert!(error <= allowed, "{name} in {precision} on {place}: {error:e}");
            }
            for sample in wanted["potential_samples"].as_array().unwrap() {
                let [i, j, k, value] = numbers(sample)[..] else { panic!("{sample}") };
                let point = [i, j, k].map(|index| index as usize);
                let at = MeshOrder::Sequential.place(file.shape, point);
                assert!((found.potential[at] - value).abs() <= allowed, "{precision} on {place}");
            }
        }
    }
}

#[test]
fn a_plane_wave_on_any_mesh_has_its_potential() {
    let cell = Cell::new(SKEW).unwrap();
    let most = if small() { 5 } else { 64 };
    for (place, team) in places() {
        for n in 3..=most {
            let axis = n % 3;
            let mut shape = [1, 2, 3];
            shape[axis] = n;
            let g = cell.reciprocal()[axis];
            let square: f64 = g.iter().map(|x| x * x).sum();
            let count: usize = shape.iter().product();
            let index = |l: usize| [l / (shape[1] * shape[2]), l / shape[2] % shape[1], l % shape[2]][axis];
            let density: Vec<f64> =
                (0..count).map(|l| (2.0 * PI * index(l) as f64 / n as f64).cos()).collect();
            let precision = if n % 2 == 0 { Precision::Double } else { Precision::Single };
            let allowed = if precision == Precision::Double || team.is_host() { 1e-13 } else { 1e-5 };
            let found =
                solve(&team, SKEW, shape, options(Boundary::Periodic, Cutoff::None, precision), &density);
            let wanted: Vec<f64> = density.iter().map(|x| 4.0 * PI / square * x).collect();
            let error = apart(&found.potential, &wanted);
            assert!(error <= allowed, "{shape:?} on {place}: {error:e}");
            let energy = PI * cell.volume() / square;
            assert!((found.energy / energy - 1.0).abs() <= allowed, "{shape:?} on {place}");
        }
    }
}

/// Numbers that look random.
fn random(seed: u64, count: usize) -> Vec<f64> {
    let mut draw = Philox::new(seed, 5, 0);
    (0..count).map(|_| f64::from(draw.next_u32()) / f64::from(u32::MAX) - 0.4).collect()
}

#[test]
fn devices_are_the_host_on_meshes_of_any_extents() {
    // A first axis beyond local memory, then products in one kernel by radices, by both convolutions, and with zeros behind a density.
    let shapes: &[[usize; 3]] = if small() {
        &[[2, 3, 2]]
    } else {
        &[
            [1, 1, 1],
            [2, 3, 2],
            [5, 1, 4],
            [6, 7, 10],
            [4, 9, 17],
            [5000, 1, 2],
            [48, 50, 54],
            [19, 60, 119],
            [47, 30, 94],
            [29, 30, 28],
        ]
    };
    for &shape in shapes {
        let count = shape.iter().product();
        let density = random(count as u64, count);
        for (boundary, cutoff, cell) in [
            (Boundary::Periodic, Cutoff::None, SKEW),
            (Boundary::Periodic, Cutoff::Sphere, SKEW),
            (Boundary::Isolated, Cutoff::None, BOX),
        ] {
            let wanted = if shape == [29, 30, 28] { Boundary::Isolated } else { Boundary::Periodic };
            if count > 5000 && (boundary, cutoff) != (wanted, Cutoff::None) {
                continue;
            }
            let options = options(boundary, cutoff, Precision::Double);
            let wanted = solve(&Team::host(), cell, shape, options, &density);
            for (place, team) in places().into_iter().skip(1) {
                let found = solve(&team, cell, shape, options, &density);
                let label = format!("{boundary:?} {cutoff:?} {shape:?} on {place}");
                let largest = wanted.potential.iter().fold(1e-3, |largest: f64, x| largest.max(x.abs()));
                let potentials = found.potential.iter().zip(&wanted.potential);
                assert!(
                    potentials.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 2e-13 * largest,
                    "{label}"
                );
                assert!((found.energy - wanted.energy).abs() <= 1e-13 * wanted.energy.abs(), "{label}");
                assert!((found.charge - wanted.charge).abs() < 1e-12, "{label}");
                assert_eq!(found.stress.is_some(), wanted.stress.is_some());
            }
        }
    }
}

#[test]
fn a_plan_is_used_again_with_the_same_bits() {
    let shape = [6, 4, 10];
    let density = random(9, 240);
    for (place, team) in places() {
        for boundary in [Boundary::Periodic, Boundary::Isolated] {
            let plain = options(boundary, Cutoff::None, Precision::Double);
            let mut plan = Plan::new(&team, Cell::new(BOX).unwrap(), shape, plain).unwrap();
            let first = plan.solve(&density).unwrap();
            let mut again = plan.solve(&random(10, 240)).unwrap();
            plan.solve_into(&density, &mut again).unwrap();
            assert_eq!(first.potential, again.potential, "{place}");
            assert_eq!(
                (first.energy, first.charge, first.dipole),
                (again.energy, again.charge, again.dipole)
            );
            // Another order of the mesh is another order of the same bits.
            let order = MeshOrder::Clustered(2);
            let (mut clustered, mut back) = (vec![0.0; 240], vec![0.0; 240]);
            reorder(shape, (&density, MeshOrder::Sequential), (&mut clustered, order));
            let found = solve(&team, BOX, shape, plain.with_order(order), &clustered);
            reorder(shape, (&found.potential, order), (&mut back, MeshOrder::Sequential));
            assert_eq!((back, found.energy), (first.potential.clone(), first.energy), "{place}");
            let found = solve(&team, BOX, shape, plain.with_units(Units::Rydberg), &density);
            assert_eq!(found.energy, 2.0 * first.energy);
            assert!(found.potential.iter().zip(&first.potential).all(|(a, b)| *a == 2.0 * b));
            assert_eq!((found.charge, found.dipole), (first.charge, first.dipole));
        }
    }
}

#[test]
fn slabs_through_the_host_are_the_whole() {
    let shapes: &[[usize; 3]] = if small() { &[[2, 3, 2]] } else { &[[1, 1, 1], [5, 7, 6], [9, 4, 17]] };
    // A plane and a column, two of each, everything.
    for (number, &shape) in shapes.iter().enumerate() {
        let [n1, n2, n3] = shape.map(|n| n as u64);
        let least = 8 * n2 * (n3 + 2 * (n3 / 2 + 1)) + 16 * n1 * (n3 / 2 + 1);
        let count = shape.iter().product();
        let density = random(number as u64, count);
        for (place, team) in places() {
            let plain = Options::default().with_cutoff(Cutoff::Sphere);
            let wanted = solve(&team, SKEW, shape, plain, &density);
            let mut first: Option<Solution> = None;
            let twice = Team::of(team.devices().iter().chain(team.devices()).cloned());
            for (team, bytes) in [(&team, least), (&team, 2 * least), (&twice, least), (&team, 1 << 30)] {
                if team.is_host() || team.devices().is_empty() {
                    continue;
                }
                let out_of_core = plain.with_out_of_core(Some(bytes));
                let found = solve(team, SKEW, shape, out_of_core, &density);
                let label = format!("{shape:?} within {bytes} bytes on {place}");
                let largest = wanted.potential.iter().fold(1e-3, |largest: f64, x| largest.max(x.abs()));
                let potentials = found.potential.iter().zip(&wanted.potential);
                assert!(
                    potentials.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 2e-13 * largest,
                    "{label}"
                );
                assert!((found.energy - wanted.energy).abs() <= 1e-13 * wanted.energy.abs(), "{label}");
                let (a, b) = (found.stress.unwrap(), wanted.stress.unwrap());
                for (a, b) in a.fixed_charge.iter().zip(b.fixed_charge) {
                    assert!((a - b).abs() <= 1e-12 * wanted.energy.abs(), "{label}");
                }
                assert!((found.charge - wanted.charge).abs() < 1e-12, "{label}");
                if bytes == least {
                    // Two devices share the slabs of one, bit for bit.
                    let known = first.get_or_insert_with(|| found.clone());
                    assert_eq!((&known.potential, known.energy), (&found.potential, found.energy), "{label}");
                }
            }
            if !team.is_host() {
                let tight = plain.with_out_of_core(Some(least - 1));
                let refused = Plan::new(&team, Cell::new(SKEW).unwrap(), shape, tight).err().unwrap();
                assert!(matches!(refused, PoissonError::Memory { .. }), "{refused}");
            }
        }
    }
    let slabs = Options::default().with_boundary(Boundary::Isolated).with_out_of_core(Some(1 << 20));
    let refused = Plan::new(&Team::host(), Cell::new(BOX).unwrap(), [2; 3], slabs).err();
    assert_eq!(refused, Some(PoissonError::IsolatedSlabs));
}

#[test]
fn devices_share_several_densities() {
    let shape = [5, 6, 4];
    let densities: Vec<Vec<f64>> = (0..3).map(|seed| random(seed, 120)).collect();
    let densities: Vec<&[f64]> = densities.iter().map(Vec::as_slice).collect();
    for (place, team) in places() {
        let team = if team.is_host() {
            team
        } else {
            Team::of(team.devices().iter().chain(team.devices()).cloned())
        };
        let mut plan = Plan::new(&team, Cell::new(SKEW).unwrap(), shape, Options::default()).unwrap();
        let together = plan.solve_all(&densities).unwrap();
        for (density, found) in densities.iter().zip(&together) {
            let alone = plan.solve(density).unwrap();
            assert_eq!((alone.potential, alone.energy), (found.potential.clone(), found.energy), "{place}");
        }
        assert!(plan.solve_all(&[]).unwrap().is_empty());
        assert!(matches!(
            plan.solve_all(&[densities[0], &[1.0]]),
            Err(PoissonError::Length { found: 1, .. })
        ));
    }
}

/// The stress is the derivative of the energy by the strain.
#[test]
fn the_stress_is_that_of_strained_cells() {
    let shape = [6, 5, 4];
    let density = random(3, 120);
    let periodic = options(Boundary::Periodic, Cutoff::None, Precision::Double);
    let volume = Cell::new(SKEW).unwrap().volume();
    let stress = solve(&Team::host(), SKEW, shape, periodic, &density).stress.unwrap();
    let strained = |a: usize, b: usize, strain: f64, keeps_charge: bool| {
        let mut cell = SKEW;
        for row in 0..3 {
            cell[row][a] += strain * SKEW[row][b];
        }
        let scale = if keeps_charge { volume / Cell::new(cell).unwrap().volume() } else { 1.0 };
        let density: Vec<f64> = density.iter().map(|x| x * scale).collect();
        solve(&Team::host(), cell, shape, periodic, &density).energy
    };
    for (number, [a, b]) in lattice_poisson::TENSOR_AXES.into_iter().enumerate() {
        for (found, keeps_charge) in [(stress.fixed_charge, true), (stress.fixed_density, false)] {
            let step = 1e-5;
            let slope =
                (strained(a, b, step, keeps_charge) - strained(a, b, -step, keeps_charge)) / (2.0 * step);
            assert!((found[number] - slope / volume).abs() < 1e-8, "{number}: {} {slope}", found[number]);
        }
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let cell = Cell::new(SKEW).unwrap();
    for (place, team) in places() {
        let refused =
            |shape: [usize; 3], options: Options| Plan::new(&team, cell, shape, options).err().unwrap();
        assert_eq!(refused([4, 0, 4], Options::default()), PoissonError::NoPoints([4, 0, 4]));
        let isolated = options(Boundary::Isolated, Cutoff::None, Precision::Double);
        assert_eq!(refused([4; 3], isolated), PoissonError::SkewIsolated);
        let order = Options::default().with_order(MeshOrder::Clustered(4));
        assert!(matches!(refused([4, 6, 8], order), PoissonError::Order { axis: 2, extent: 6, .. }));
        if !team.is_host() {
            let large = refused([1 << 16; 3], Options::default());
            assert!(matches!(large, PoissonError::Memory { .. }), "{place}: {large}");
        }
        let single = options(Boundary::Periodic, Cutoff::None, Precision::Single);
        let mut plan = Plan::new(&team, cell, [2, 2, 2], single).unwrap();
        let short = plan.solve(&[0.0; 7]).unwrap_err();
        assert!(matches!(short, PoissonError::Length { wanted: 8, found: 7, .. }));
        for (value, wanted) in [(f64::NAN, "value 3 of the density is NaN"), (2e30, "too large for single")] {
            let mut density = [0.0; 8];
            density[3] = value;
            let error = plan.solve(&density).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
        assert!(plan.solve(&[0.0; 8]).unwrap().potential.iter().all(|&value| value == 0.0), "{place}");
    }
}
