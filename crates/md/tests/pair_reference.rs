//! Forces against reference values, on every device here, also taken for a GPU, and on the host.

use super::support;

use lattice_compute::Team;
use lattice_md::{
    Evaluation, Fetch, Forces, Formula, Grid, Mixing, Mode, Options, Potential, Precision, Shift, System,
    Table, TableFile, read_amber, read_xyz,
};
use serde_json::Value;
use support::*;

fn evaluate(
    team: &Team,
    system: &System,
    potential: &Potential,
    precision: Precision,
    fetch: Fetch,
    cutoff: f64,
) -> Evaluation {
    let options = Options::new(cutoff).with_precision(precision).with_fetch(fetch);
    Forces::new(team, system, potential, options).unwrap().evaluate(system.positions()).unwrap()
}

fn relative(found: f64, wanted: f64) -> f64 {
    (found / wanted - 1.0).abs()
}

/// Whether precision changes nothing, because the host has one.
fn is_repetition(team: &Team, precision: Precision) -> bool {
    team.is_host() && precision != Precision::Double
}

#[test]
fn lennard_jones_is_the_reference() {
    let Some((folder, values)) = reference() else { return };
    if small() {
        return;
    }
    for name in ["argon", "mixture"] {
        let system = read_xyz(&folder.join(format!("{name}.xyz"))).unwrap();
        let (wanted, forces) = (&values[name], vectors(&folder.join(format!("{name}.forces.npy"))));
        let (potential, cutoff) = (lennard_jones(wanted), number(&wanted["cutoff"]));
        for (place, team) in places() {
            for precision in PRECISIONS {
                if is_repetition(&team, precision) {
                    continue;
                }
                let label = format!("{name} in {precision:?} on {place}");
                let [of_energy, of_forces] = match precision {
                    Precision::Double => [1e-13, 1e-12],
                    _ => [1e-6, 1e-6],
                };
                let found = evaluate(&team, &system, &potential, precision, Fetch::Auto, cutoff);
                let energy = relative(found.sums.energy, number(&wanted["energy"]));
                assert!(energy <= of_energy, "{label}: energy {energy:e}");
                let error = apart(&found.forces, &forces);
                assert!(error <= of_forces, "{label}: forces {error:e}");
                if precision == Precision::Double {
                    let most = furthest(&found.forces, &forces);
                    assert!(most <= of_forces, "{label}: a force {most:e}");
                }
                let largest = numbers(&wanted["virial"]).into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                for (found, wanted) in found.sums.virial.iter().zip(numbers(&wanted["virial"])) {
                    assert!(
                        (found - wanted).abs() <= 10.0 * of_energy * largest,
                        "{label}: {found} {wanted}"
                    );
                }
                // In single a pair at the cutoff may be counted or not.
                let pairs = found.sums.pairs.abs_diff(wanted["pairs"].as_u64().unwrap());
                assert!(pairs <= u64::from(precision != Precision::Double), "{label}: {pairs} pairs");
            }
        }
    }
}

#[test]
fn a_formula_with_an_exponential_is_the_reference() {
    let Some((folder, values)) = reference() else { return };
    if small() {
        return;
    }
    let (system, potential, forces) = morse(&folder, &values["morse"]);
    for (place, team) in places() {
        for precision in PRECISIONS {
            if is_repetition(&team, precision) {
                continue;
            }
            let found = evaluate(&team, &system, &potential, precision, Fetch::Auto, 8.0);
            let of_all = if precision == Precision::Double { 1e-12 } else { 1e-6 };
            let energy = relative(found.sums.energy, number(&values["morse"]["energy"]));
            let error = apart(&found.forces, &forces);
            assert!(energy <= of_all && error <= of_all, "{precision:?} on {place}: {energy:e} {error:e}");
        }
    }
}

/// The system, its formula, and its forces. Types are in the order of the file.
fn morse(folder: &std::path::Path, values: &Value) -> (System, Potential, Vec<[f64; 3]>) {
    let system = read_xyz(&folder.join("morse.xyz")).unwrap();
    let number_of = |name: &str| usize::from(name == "Cl");
    let row = |name: &str, a: &str, b: &str| numbers(&values[name][number_of(a)])[number_of(b)];
    let coefficients = system.names().iter().flat_map(|a| {
        system
            .names()
            .iter()
            .map(move |b| [row("depth", a, b), row("steepness", a, b), row("distance", a, b), 0.0])
    });
    let potential = Potential::of_formula(Formula::Morse, coefficients.collect()).unwrap();
    (system, potential, vectors(&folder.join("morse.forces.npy")))
}

#[test]
fn tables_of_a_file_have_the_error_that_they_promise() {
    let Some((folder, values)) = reference() else { return };
    if small() {
        return;
    }
    let wanted = &values["morse"];
    let (system, _, forces) = morse(&folder, wanted);
    let file = TableFile::read(&folder.join("morse.table")).unwrap();
    assert_eq!(file.names(), ["PAIR_11", "PAIR_12", "PAIR_22"]);
    assert!(file.names().iter().all(|name| file.section(name).unwrap().inconsistency() < 1e-3));
    let number_of = |row: usize| usize::from(system.names()[row] == "Cl") + 1;
    let sections: Vec<_> = (0..4)
        .map(|row| {
            let [a, b] = [number_of(row / 2), number_of(row % 2)];
            file.section(&format!("PAIR_{}{}", a.min(b), a.max(b))).unwrap()
        })
        .collect();
    let table =
        Table::sampled(2, Grid::new(1500, 1.8, 8.5).unwrap(), |row, r| sections[row].energy_and_slope(r))
            .unwrap();
    for (mode, of_forces) in [(Mode::Derivative, 2e-5), (Mode::Potential, 5e-5)] {
        let potential = Potential::Table { table: table.clone(), mode };
        for (place, team) in places() {
            for precision in [Precision::Double, Precision::Mixed] {
                if is_repetition(&team, precision) {
                    continue;
                }
                let found = evaluate(&team, &system, &potential, precision, Fetch::Buffer, 8.0);
                let energy = relative(found.sums.energy, number(&wanted["energy"]));
                let error = apart(&found.forces, &forces);
                assert!(energy <= 1e-5 && error <= of_forces, "{mode:?} on {place}: {energy:e} {error:e}");
            }
        }
    }
}

#[test]
fn tables_are_the_reference_with_exact_fractions_and_near_it_from_images() {
    let Some((folder, values)) = reference() else { return };
    if small() {
        return;
    }
    let system = read_xyz(&folder.join("argon.xyz")).unwrap();
    let wanted = &values["argon"];
    let direct = vectors(&folder.join("argon.forces.npy"));
    for (mode, name) in [(Mode::Derivative, "derivative"), (Mode::Potential, "potential")] {
        for samples in [512, 4096] {
            let entry = &wanted[format!("{name}_{samples}")];
            let grid = Grid::new(samples, number(&entry["rmin"]), number(&entry["rmax"])).unwrap();
            let potential = lennard_jones(wanted).tabulated(grid, mode).unwrap();
            for (place, team) in places() {
                let mut ways = vec![(Precision::Double, Fetch::Buffer, 1e-12)];
                if !team.is_host() {
                    ways.push((Precision::Mixed, Fetch::Buffer, 1e-5));
                }
                if let Some(images) = team.devices().first().and_then(|device| device.linear_images()) {
                    // The filter's error is relative to the step between samples. Slopes steepen by a tenth of their value in the steepest step.
                    let allowed = 1e-5 + 0.2 * images.filter_error;
                    ways.push((Precision::Double, Fetch::Image, allowed));
                    ways.push((Precision::Mixed, Fetch::Image, allowed));
                } else if !team.is_host() {
                    skipped(&format!("{place} has no images with a linear filter"));
                }
                for (precision, fetch, allowed) in ways {
                    let label = format!("{name} {samples} by {fetch:?} in {precision:?} on {place}");
                    let found = evaluate(&team, &system, &potential, precision, fetch, 8.5);
                    let energy = relative(found.sums.energy, number(&entry["energy"]));
                    assert!(energy <= allowed, "{label}: energy {energy:e}");
                    if samples == 512 {
                        let forces = vectors(&folder.join(format!("argon.{name}_{samples}.forces.npy")));
                        let error = apart(&found.forces, &forces);
                        // A potential's slope is a difference of two values, over two steps.
                        let allowed = if precision == Precision::Double { allowed } else { 3.0 * allowed };
                        assert!(error <= allowed, "{label}: forces {error:e}");
                    }
                    let error = apart(&found.forces, &direct);
                    let wanted = number(&entry["relative_force_to_direct"]);
                    if precision == Precision::Double && fetch == Fetch::Buffer {
                        assert!(relative(error, wanted) < 1e-6, "{label}: {error:e} for {wanted:e}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_files_of_amber_have_the_energies_of_openmm() {
    let Some((folder, values)) = reference() else { return };
    if small() {
        return;
    }
    for name in ["argon", "mixture"] {
        let path = |ending: &str| folder.join(format!("{name}.{ending}"));
        let files = read_amber(&path("prmtop"), &path("inpcrd"), false).unwrap();
        let wanted = number(&values[name]["amber_files_openmm_energy"]);
        let cutoff = number(&values[name]["cutoff"]);
        // OpenMM takes ε and σ of like types and mixes them. Nine digits of A and B of unlike types have another rounding.
        let Potential::Formula { coefficients, .. } = &files.potential else {
            panic!("prmtop files have formulas")
        };
        let types = files.system.names().len();
        let of_type = |of: usize| {
            let [a, b, ..] = coefficients[of * types + of];
            [b * b / (4.0 * a), (a / b).powf(1.0 / 6.0)]
        };
        let of_types: Vec<_> = (0..types).map(of_type).collect();
        let mixed = Potential::lennard_jones(&of_types, Mixing::LorentzBerthelot).unwrap();
        for (place, team) in places() {
            for (potential, allowed) in [(&files.potential, 1e-8), (&mixed, 1e-9)] {
                let found = evaluate(&team, &files.system, potential, Precision::Double, Fetch::Auto, cutoff);
                let error = relative(found.sums.energy, wanted);
                assert!(error <= allowed, "{name} on {place}: {error:e}");
            }
        }
    }
}

#[test]
fn a_shift_moves_energies_and_forces_to_zero_at_the_cutoff() {
    let Some((folder, values)) = reference() else { return };
    if small() {
        return;
    }
    let system = argon(&folder);
    let potential = lennard_jones(&values["argon"]);
    let [at_cutoff, slope] = potential.energy_and_slope(0, 8.5);
    for (place, team) in places() {
        let of = |shift| {
            let options = Options::new(8.5).with_shift(shift).with_precision(Precision::Double);
            Forces::new(&team, &system, &potential, options).unwrap().evaluate(system.positions()).unwrap()
        };
        let [plain, energy, force] = [Shift::None, Shift::Energy, Shift::Force].map(of);
        let wanted = number(&values["argon"]["motion"]["rows"][0][1]);
        assert!(relative(energy.sums.energy, wanted) < 1e-12, "{place}");
        let shifted = plain.sums.energy - at_cutoff * plain.sums.pairs as f64;
        assert!(relative(energy.sums.energy, shifted) < 1e-12, "{place}");
        assert_eq!(energy.forces, plain.forces, "{place}");
        assert!(apart(&force.forces, &plain.forces) < 10.0 * slope.abs(), "{place}");
        assert_ne!(force.forces, plain.forces, "{place}");
    }
}
