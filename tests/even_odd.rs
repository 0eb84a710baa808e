//! The hop from one parity to the other, and links stored in fewer reals, on every team against the double twin.

use crate::common;

use common::spinors::{Spinor, distance, half};
use lattice_cl::compute::{Device, MatrixOperation, Team};
use lattice_cl::field::{GaugeField, ParityField};
use lattice_cl::geometry::{Boundary, Lattice, LatticeError};
use lattice_cl::hadron::{Contraction, Observable};
use lattice_cl::host::random::{hot, spinor_field};
use lattice_cl::host::{self, LinkField, Matrix3, Reconstruction, StencilFactors};
use lattice_cl::operator::{Dirac, DiracOptions, Ending, HopEvenOdd, HopOptions, Kappa, SiteTerm, Tuning};
use lattice_cl::solve::{CrParams, cr};
use lattice_cl::{Dims, GaugeConfiguration, Half, Storage, StoragePrecision};
use lattice_solvers::SquareMatrix;
use num_complex::Complex64;

fn lattices() -> Vec<Dims> {
    let extents: &[[usize; 4]] = match common::small() {
        true => &[[4, 2, 2, 4]],
        false => &[[2, 4, 6, 10], [8, 4, 4, 4]],
    };
    extents.iter().map(|extents| Dims::new(*extents).unwrap()).collect()
}

/// Antiperiodic in x and t: signs on lanes that are cut in different directions.
fn boundary() -> Boundary {
    Boundary::from_signs([-1, 1, 1, -1]).unwrap()
}

/// The hop as the full operator has it: H on a field that is zero on the sites of `parity`, plus the shift.
fn by_full_operator(
    configuration: &GaugeConfiguration,
    factors: StencilFactors,
    parity: usize,
    psi: &[Spinor],
    shifted: Option<&[Spinor]>,
) -> Vec<Spinor> {
    let dims = configuration.dims();
    let links = LinkField::<f64>::new(configuration, boundary());
    let masked: Vec<Spinor> = (0..dims.volume())
        .map(|site| match (dims.parity(site) == parity, shifted) {
            (false, _) => psi[site],
            (true, Some(shifted)) => shifted[site],
            (true, None) => Spinor::default(),
        })
        .collect();
    let mut out = vec![Spinor::default(); dims.volume()];
    host::stencil(&links, factors, &masked, &mut out);
    half(&out, dims, parity)
}

/// Parity, dagger, γ5, shift, sources.
type Case = (usize, bool, bool, bool, usize);

const COLUMNS: [usize; 6] = [1, 2, 4, 8, 12, 16];

/// Every option each way. Each is a kernel to compile, so only two of them, unless `LATTICE_CL_TEST_ALL=1` asks for every combination on
/// single devices; the number of sources goes round with `turn`.
fn cases(team: &Team, turn: usize) -> Vec<Case> {
    if team.len() == 1 && common::all_combinations() {
        let options = COLUMNS.iter().flat_map(|&sources| [(false, sources), (true, sources)]);
        let options = options.flat_map(|(dagger, sources)| [(0, dagger, sources), (1, dagger, sources)]);
        return options
            .map(|(parity, dagger, sources)| {
                (parity, dagger, sources % 4 == 0, dagger ^ (sources > 2), sources)
            })
            .collect();
    }
    let sources = |k: usize| COLUMNS[k % COLUMNS.len()];
    vec![(0, false, false, false, sources(turn)), (1, true, true, true, sources(turn + 3))]
}

fn check<T: Storage>(
    team: &Team,
    name: &str,
    configuration: &GaugeConfiguration,
    reconstructions: &[Reconstruction],
    cases: impl Fn(usize) -> Vec<Case>,
) {
    let bound = match T::STORAGE {
        StoragePrecision::Double => 1e-14,
        StoragePrecision::Single => 1e-6,
        StoragePrecision::Half => 1e-3,
    };
    let dims = configuration.dims();
    let lattice = Lattice::new(team, dims).unwrap();
    let cast = |fields: &[Vec<Spinor>], parity| -> Vec<host::Spinor<T::Real>> {
        fields.iter().flat_map(|field| half(field, dims, parity)).map(|spinor| spinor.cast()).collect()
    };
    for (turn, &reconstruction) in reconstructions.iter().enumerate() {
        let links = lattice.gauge_in::<T>(configuration, boundary(), reconstruction).unwrap();
        for (parity, dagger, gamma5, shift, sources) in cases(turn) {
            let fields = |seed: u64| -> Vec<Vec<Spinor>> {
                (0..sources as u64).map(|source| spinor_field(dims, seed + source)).collect()
            };
            let (psi, other) = (fields(1), fields(100));
            let factors = StencilFactors { dagger, gamma5, ..StencilFactors::new(1.3, -0.7) };
            let source = lattice.parities_from_host(1 - parity, sources, &cast(&psi, 1 - parity)).unwrap();
            let shifted = lattice.parities_from_host(parity, sources, &cast(&other, parity)).unwrap();
            let shifted = shift.then_some(&shifted);
            let options = HopOptions::default().with_shift(shift).with_columns(sources);
            let hop = HopEvenOdd::<T>::new(&links, parity, factors, options).unwrap();
            let mut out = hop.target().unwrap();
            hop.apply(&source, shifted, &mut out).unwrap();
            let found: Vec<Spinor> = out.to_host().unwrap().iter().map(host::Spinor::cast).collect();
            for (k, found) in found.chunks(dims.volume() / 2).enumerate() {
                let shifted = shift.then_some(other[k].as_slice());
                let expected = by_full_operator(configuration, factors, parity, &psi[k], shifted);
                let error = distance(found, &expected);
                assert!(
                    error < bound,
                    "{name} {dims} {} {reconstruction} reals, parity {parity} {dagger} {gamma5} {shift}, source {k} of \
                     {sources}: {error:e}",
                    T::STORAGE
                );
            }
        }
    }
}

#[test]
fn every_storage_and_parity_on_every_team() {
    for (k, dims) in lattices().into_iter().enumerate() {
        let configuration = hot(dims, 3);
        for (name, team) in common::teams() {
            // Compiling the kernels is what takes the time: one lattice in every combination on one device, another in every precision and
            // storage on the teams.
            let [double, single, half]: [&[Reconstruction]; 3] = match (k, team.len()) {
                (0, 0 | 1) => [&Reconstruction::ALL; 3],
                (1, 2..) => continue,
                (_, 3..) => [&[Reconstruction::Twelve], &[], &[]],
                _ => [&[Reconstruction::Twelve], &[Reconstruction::None], &[Reconstruction::Eight]],
            };
            check::<f64>(&team, &name, &configuration, double, |turn| cases(&team, turn));
            check::<f32>(&team, &name, &configuration, single, |turn| cases(&team, turn + 1));
            check::<Half>(&team, &name, &configuration, half, |turn| cases(&team, turn + 2));
        }
    }
}

#[test]
fn orders_of_blocks_and_rounds_change_nothing() {
    let dims = Dims::new(if common::small() { [4, 2, 4, 2] } else { [6, 4, 12, 8] }).unwrap();
    let configuration = hot(dims, 5);
    let psi = spinor_field(dims, 6);
    let factors = StencilFactors { dagger: true, gamma5: false, ..StencilFactors::new(0.0, 0.4) };
    let expected = by_full_operator(&configuration, factors, 1, &psi, None);
    for device in common::devices() {
        let lattice = Lattice::new(&Team::from(device.clone()), dims).unwrap();
        let links = lattice.gauge_in::<f64>(&configuration, boundary(), Reconstruction::Twelve).unwrap();
        let source = lattice.parity_from_host(0, &half(&psi, dims, 0)).unwrap();
        let hop =
            |tuning| HopEvenOdd::new(&links, 1, factors, HopOptions::default().with_tuning(tuning)).unwrap();
        let shipped = hop(None).tuning().unwrap();
        // In rounds even the fewest groups have several shares, and the last round is not full.
        for (tile_z, boxes, rounds) in [(0, false, 1), (0, true, 1), (2, false, 3), (2, true, 100)] {
            let hop = hop(Some(Tuning { tile_z, boxes, rounds, work_group: 2, ..shipped }));
            let mut out = hop.target().unwrap();
            hop.apply(&source, None, &mut out).unwrap();
            let error = distance(&out.to_host().unwrap(), &expected);
            assert!(
                error < 1e-14,
                "{}, tile {tile_z}, boxes {boxes}, rounds {rounds}: {error:e}",
                device.label()
            );
        }
    }
}

/// The hop and the full operator on three fields, where the work-items of a group share their links.
fn check_shared_links<T: Storage>(device: &Device, reconstruction: Reconstruction, bound: f64) {
    const COLUMNS: usize = 3;
    // No extent can be halved for lanes.
    let dims = Dims::new(if common::small() { [2; 4] } else { [6, 2, 6, 2] }).unwrap();
    let configuration = hot(dims, 7);
    let lattice = Lattice::new(&Team::from(device.clone()), dims).unwrap();
    let links = lattice.gauge_in::<T>(&configuration, boundary(), reconstruction).unwrap();
    let fields = |seed: u64| -> Vec<Vec<Spinor>> {
        (0..COLUMNS as u64).map(|source| spinor_field(dims, seed + source)).collect()
    };
    let (psi, other) = (fields(1), fields(100));
    let cast = |fields: &[Vec<Spinor>], parity: Option<usize>| -> Vec<host::Spinor<T::Real>> {
        let part = |field: &Vec<Spinor>| parity.map_or(field.clone(), |parity| half(field, dims, parity));
        fields.iter().flat_map(part).map(|spinor| spinor.cast()).collect()
    };
    let close = |found: &[host::Spinor<T::Real>], expected: &dyn Fn(usize) -> Vec<Spinor>, what: &str| {
        for (k, found) in found.chunks(found.len() / COLUMNS).enumerate() {
            let found: Vec<Spinor> = found.iter().map(host::Spinor::cast).collect();
            let error = distance(&found, &expected(k));
            let label = device.label();
            assert!(error < bound, "{label} {} {reconstruction} {what}, source {k}: {error:e}", T::STORAGE);
        }
    };
    let shared = |tuning: Tuning, work_group, rounds| {
        Some(Tuning { share_links: true, columns_per_item: 1, work_group, rounds, ..tuning })
    };

    let factors = StencilFactors { dagger: true, gamma5: true, ..StencilFactors::new(1.3, -0.7) };
    let options = HopOptions::default().with_shift(true).with_columns(COLUMNS);
    let hop = |tuning| HopEvenOdd::<T>::new(&links, 1, factors, options.with_tuning(tuning)).unwrap();
    let shipped = hop(None).tuning().unwrap();
    let source = lattice.parities_from_host(0, COLUMNS, &cast(&psi, Some(0))).unwrap();
    let shifted = lattice.parities_from_host(1, COLUMNS, &cast(&other, Some(1))).unwrap();
    // The second does not divide the blocks, and works in rounds.
    for (work_group, rounds) in [(4, 1), (5, 3)] {
        let hop = hop(shared(shipped, work_group, rounds));
        assert!(hop.tuning().unwrap().share_links, "{}", device.label());
        let mut out = hop.target().unwrap();
        hop.apply(&source, Some(&shifted), &mut out).unwrap();
        let expected = |k: usize| by_full_operator(&configuration, factors, 1, &psi[k], Some(&other[k]));
        close(&out.to_host().unwrap(), &expected, &format!("hop, {work_group} blocks in {rounds} rounds"));
    }

    let all = lattice.spinors_from_host(COLUMNS, &cast(&psi, None)).unwrap();
    // Groups with both parities, and with one.
    for (work_group, rounds) in [(4, 3), (5, 1)] {
        let options =
            DiracOptions::default().with_columns(COLUMNS).with_tuning(shared(shipped, work_group, rounds));
        let wilson = Dirac::with_options(&links, Kappa(0.1), SiteTerm::Scalar, options).unwrap();
        let mut out = lattice.spinors(COLUMNS).unwrap();
        wilson.apply(&all, &mut out).unwrap();
        let factors = StencilFactors::new(1.0, -0.1);
        let expected = |k: usize| {
            let mut out = vec![Spinor::default(); dims.volume()];
            host::stencil(&LinkField::<f64>::new(&configuration, boundary()), factors, &psi[k], &mut out);
            out
        };
        close(&out.to_host().unwrap(), &expected, &format!("full, {work_group} blocks in {rounds} rounds"));
    }
}

#[test]
fn links_that_a_group_shares_are_the_links() {
    for device in common::devices() {
        check_shared_links::<f64>(&device, Reconstruction::Twelve, 1e-14);
        check_shared_links::<f32>(&device, Reconstruction::None, 1e-6);
        check_shared_links::<Half>(&device, Reconstruction::Twelve, 1e-3);
        check_shared_links::<Half>(&device, Reconstruction::Eight, 1e-3);
    }
}

/// Hops that go on with columns: with the Gram matrix of the result, and with what its product with a matrix is subtracted from.
fn check_column_endings(name: &str, team: &Team, dims: Dims, reconstruction: Reconstruction, sources: usize) {
    const PARITY: usize = 1;
    let what = format!("{name} {dims} {reconstruction} reals, {sources} sources");
    let configuration = hot(dims, 7);
    let lattice = Lattice::new(team, dims).unwrap();
    let links = lattice.gauge_in::<f64>(&configuration, boundary(), reconstruction).unwrap();
    let fields = |seed: u64, parity: usize| -> Vec<Vec<Spinor>> {
        (0..sources as u64).map(|source| half(&spinor_field(dims, seed + source), dims, parity)).collect()
    };
    let whole = |seed: u64| (0..sources as u64).map(move |source| spinor_field(dims, seed + source));
    let upload = |fields: &[Vec<Spinor>], parity| {
        lattice.parities_from_host(parity, sources, &fields.concat()).unwrap()
    };
    let close = |found: &ParityField<f64>, expected: &[Vec<Spinor>], what: &str| {
        let found = found.to_host().unwrap();
        for (k, (found, expected)) in found.chunks(dims.volume() / 2).zip(expected).enumerate() {
            let error = distance(found, expected);
            assert!(error < 1e-14, "{what}, source {k}: {error:e}");
        }
    };
    let close_gram = |found: &SquareMatrix, of: &[Vec<Spinor>], what: &str| {
        for (i, j) in (0..sources).flat_map(|i| (0..sources).map(move |j| (i, j))) {
            let expected = host::spinor_fields::dot(&of[i], &of[j]);
            let scale = (host::spinor_fields::dot(&of[i], &of[i]).re
                * host::spinor_fields::dot(&of[j], &of[j]).re)
                .sqrt();
            let error = (found[(i, j)] - expected).norm() / scale;
            assert!(error < 1e-13, "{what} ({i}, {j}): {error:e}");
        }
    };
    let factors = StencilFactors { dagger: true, gamma5: true, ..StencilFactors::new(1.3, -0.7) };
    let hop = |ending| {
        let options = HopOptions::default().with_shift(true).with_ending(ending).with_columns(sources);
        HopEvenOdd::<f64>::new(&links, PARITY, factors, options).unwrap()
    };
    let source = upload(&fields(1, 1 - PARITY), 1 - PARITY);
    let shifted = upload(&fields(100, PARITY), PARITY);
    let hopped: Vec<_> = whole(1)
        .zip(whole(100))
        .map(|(psi, other)| by_full_operator(&configuration, factors, PARITY, &psi, Some(&other)))
        .collect();

    let with_gram = hop(Ending::Gram);
    let mut out = with_gram.target().unwrap();
    let gram = with_gram.apply_with_gram(&source, Some(&shifted), &mut out).unwrap();
    close(&out, &hopped, &what);
    close_gram(&gram, &hopped, &format!("{what}, Gram"));

    let d = SquareMatrix::from_fn(sources, |i, j| {
        Complex64::new((1.3 * (3 * i + j) as f64).sin(), (1.3 + (i * j) as f64).cos())
    });
    let before = fields(200, PARITY);
    let expected: Vec<Vec<Spinor>> = (0..sources)
        .map(|j| {
            let mut column = before[j].clone();
            for (i, hopped) in hopped.iter().enumerate() {
                host::spinor_fields::axpy(-d[(i, j)], hopped, &mut column);
            }
            column
        })
        .collect();
    let subtracting = hop(Ending::SubtractColumns);
    let grams = [(); 2].map(|()| {
        let mut q = upload(&before, PARITY);
        let gram = subtracting.subtract_block(&d, &source, Some(&shifted), &mut q).unwrap();
        close(&q, &expected, &format!("{what}, Q − Z D"));
        close_gram(&gram, &expected, &format!("{what}, Q†Q"));
        gram
    });
    assert!(grams[0] == grams[1], "{what}: the same bits each time");
}

#[test]
fn hops_end_with_products_of_columns() {
    // No extent can be halved for lanes, and groups are not filled.
    let dims = Dims::new(if common::small() { [2, 2, 2, 6] } else { [6, 2, 6, 10] }).unwrap();
    for (name, team) in common::teams() {
        let real =
            team.devices().iter().all(|device| device.supports_matrix_units(MatrixOperation::SmallDouble));
        // What imitates them takes long to compile.
        if team.len() > if real { 2 } else { 1 } {
            continue;
        }
        check_column_endings(&name, &team, dims, Reconstruction::Twelve, 6);
        if team.len() == 1 && real {
            for sources in [4, 8, 10, 12] {
                check_column_endings(&name, &team, dims, Reconstruction::Eight, sources);
            }
            check_column_endings(&name, &team, dims, Reconstruction::None, 12);
        }
    }
}

#[test]
fn links_with_vanishing_elements() {
    // Unit links, and diagonal ones whose phases differ from site to site.
    let dims = lattices()[0];
    let diagonal = (0..4 * dims.volume()).map(|k| {
        let angles = [0.1 * k as f64, std::f64::consts::PI, -0.1 * k as f64 - std::f64::consts::PI];
        Matrix3::from_fn(
            |i, j| if i == j { Complex64::from_polar(1.0, angles[i]) } else { Complex64::default() },
        )
    });
    let diagonal = GaugeConfiguration::new(dims, host::Links::Double(diagonal.collect()));
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 1) {
        for configuration in [&GaugeConfiguration::unit(dims), &diagonal] {
            let fewer = &Reconstruction::ALL[1..];
            let bare = |_| vec![(0, false, false, false, 1)];
            check::<f64>(&team, &name, configuration, fewer, bare);
            check::<f32>(&team, &name, configuration, fewer, bare);
            check::<Half>(&team, &name, configuration, fewer, bare);
        }
    }
}

/// ‖a − b‖ / ‖b‖ of the hop with links in precision `T` that were converted on the device from double.
fn error_with_converted_links<T: Storage>(team: &Team, reconstruction: Reconstruction) -> f64 {
    let dims = lattices()[0];
    let (configuration, psi) = (hot(dims, 6), spinor_field(dims, 7));
    let lattice = Lattice::new(team, dims).unwrap();
    let links = lattice.gauge_in::<f64>(&configuration, boundary(), reconstruction).unwrap();
    let factors = StencilFactors::new(0.0, 1.0);
    let hop = HopEvenOdd::new(&links.cast::<T>().unwrap(), 0, factors, HopOptions::default()).unwrap();
    let source: lattice_cl::field::ParityField<f64> =
        lattice.parity_from_host(1, &half(&psi, dims, 1)).unwrap();
    let mut out = hop.target().unwrap();
    hop.apply(&source.cast().unwrap(), None, &mut out).unwrap();
    let found = out.cast::<f64>().unwrap().to_host().unwrap();
    distance(&found, &by_full_operator(&configuration, factors, 0, &psi, None))
}

#[test]
fn fields_are_converted_on_the_devices() {
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 1) {
        for reconstruction in [Reconstruction::Twelve, Reconstruction::Eight] {
            let single = error_with_converted_links::<f32>(&team, reconstruction);
            let half = error_with_converted_links::<Half>(&team, reconstruction);
            assert!(single < 1e-6, "{name} {reconstruction}: {single:e}");
            // The host has no fixed point: its fields of half precision are in single.
            let least = if team.is_host() { 0.0 } else { 1e-6 };
            assert!((least..1e-3).contains(&half), "{name} {reconstruction}: {half:e}");
        }
    }
}

#[test]
fn a_spinor_of_half_precision_is_rounded_by_its_unit() {
    let dims = lattices()[0];
    // Spinors of very different sizes, and one of zeros.
    let mut psi = spinor_field(dims, 8);
    for (site, spinor) in psi.iter_mut().enumerate() {
        let scale = 10f64.powi(site as i32 % 20 - 10);
        *spinor = if site == 5 { Spinor::default() } else { Spinor::from_fn(|s, c| spinor.0[s][c] * scale) };
    }
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() == 1) {
        let lattice = Lattice::new(&team, dims).unwrap();
        let double = lattice.spinor_from_host::<f64>(&psi).unwrap();
        let single: Vec<host::Spinor<f32>> = psi.iter().map(Spinor::cast).collect();
        let converted = double.cast::<Half>().unwrap().to_host().unwrap();
        let uploaded = lattice.spinor_from_host::<Half>(&single).unwrap().to_host().unwrap();
        for (site, exact) in psi.iter().enumerate() {
            let numbers = |spinor: &Spinor| -> Vec<f64> {
                spinor.0.as_flattened().iter().flat_map(|z| [z.re, z.im]).collect()
            };
            // What is stored are sums and differences of the upper and the lower spins.
            let stored = Spinor::from_fn(|s, c| {
                let (upper, lower) = (exact.0[s % 2][c], exact.0[s % 2 + 2][c]);
                let sum = if s < 2 { upper + lower } else { upper - lower };
                sum * std::f64::consts::FRAC_1_SQRT_2
            });
            let unit = numbers(&stored).iter().fold(0.0, |largest: f64, x| largest.max(x.abs())) / 32767.0;
            let bound = 0.51 * unit * std::f64::consts::SQRT_2;
            for found in [&converted[site], &uploaded[site]] {
                for (found, exact) in numbers(&found.cast()).iter().zip(numbers(exact)) {
                    assert!((found - exact).abs() <= bound, "{name} site {site}: {found} {exact}");
                }
            }
        }
    }
}

/// With the variants that are shipped, or in so many rounds of small groups.
fn check_products<T: Storage>(team: &Team, name: &str, rounds: Option<usize>, bound: f64) {
    let dims = lattices()[0];
    let configuration = hot(dims, 9);
    let lattice = Lattice::new(team, dims).unwrap();
    let links = lattice.gauge_in::<T>(&configuration, boundary(), Reconstruction::Twelve).unwrap();
    let field = |seed, parity| {
        let spinors: Vec<host::Spinor<T::Real>> =
            half(&spinor_field(dims, seed), dims, parity).iter().map(Spinor::cast).collect();
        lattice.parity_from_host::<T>(parity, &spinors).unwrap()
    };
    let factors = StencilFactors { dagger: true, gamma5: true, ..StencilFactors::new(1.0, -0.12) };
    let hop = |ending| {
        let shipped = HopOptions::default().with_shift(true).with_ending(ending);
        let hop = HopEvenOdd::new(&links, 0, factors, shipped).unwrap();
        match (hop.tuning(), rounds) {
            (Some(tuning), Some(rounds)) => {
                let tuning = Some(Tuning { rounds, work_group: 1, ..tuning });
                HopEvenOdd::new(&links, 0, factors, shipped.with_tuning(tuning)).unwrap()
            }
            _ => hop,
        }
    };
    let (psi, shifted, against) = (field(1, 1), field(2, 0), field(3, 0));
    let mut only_norm2 = field(4, 0);
    let alone = hop(Ending::Norm2).apply_with_norm2(&psi, Some(&shifted), &mut only_norm2).unwrap();
    let mut less = field(3, 0);
    let multiple = Complex64::new(0.3, -0.7);
    let left = hop(Ending::Subtract).subtract(&multiple.into(), &psi, Some(&shifted), &mut less).unwrap();
    let hop = hop(Ending::Products);
    let mut out = hop.target().unwrap();
    let sums = hop.apply_with_products(&psi, Some(&shifted), &mut out, &against).unwrap();
    let [sum, sum_norm2] = sums.map(|sum| sum.value().unwrap());
    let (out, against) = (out.to_host().unwrap(), against.to_host().unwrap());
    let product = host::spinor_fields::dot(&against, &out);
    let norm2 = host::spinor_fields::norm2(&out);
    let scale = (norm2 * host::spinor_fields::norm2(&against)).sqrt();
    assert!((sum - product).norm() < bound * scale, "{name}: {sum} {product}");
    assert!((sum_norm2 - norm2).norm() < bound * norm2, "{name}: {sum_norm2} {norm2}");

    assert_eq!(alone.value().unwrap(), sum_norm2, "{name}: a norm without a product");
    assert!(only_norm2.to_host().unwrap() == out, "{name}: what is stored with a norm");
    let mut expected = against;
    host::spinor_fields::axpy(-multiple, &out, &mut expected);
    let (less, left) = (less.to_host().unwrap(), left.value().unwrap());
    let wide =
        |field: &[host::Spinor<T::Real>]| field.iter().map(|spinor| spinor.cast()).collect::<Vec<Spinor>>();
    assert!(distance(&wide(&less), &wide(&expected)) < bound, "{name}: a difference");
    let norm2 = host::spinor_fields::norm2(&less);
    assert!((left - norm2).norm() < bound * norm2, "{name}: {left} {norm2}");
}

#[test]
fn products_are_made_while_the_result_is_stored() {
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 2) {
        check_products::<f64>(&team, &name, None, 1e-13);
        check_products::<f64>(&team, &name, Some(3), 1e-13);
        check_products::<f32>(&team, &name, None, 1e-6);
        // What is summed up has not been rounded to half precision yet.
        check_products::<Half>(&team, &name, None, 1e-4);
    }
}

/// Half precision has numbers up to 1. Links of any size are what they are in all precisions, or are refused.
#[test]
fn links_of_any_size_hop_alike_in_all_precisions() {
    let dims = lattices()[0];
    let psi = spinor_field(dims, 6);
    let factors = StencilFactors { dagger: true, gamma5: false, ..StencilFactors::new(0.0, 0.4) };
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 2) {
        let lattice = Lattice::new(&team, dims).unwrap();
        for (size, one) in [(1.7, 1.0), (3.0, 1.0), (0.01, 1.0), (1.0 + 1e-6, 1.0), (1.0, 4.0)] {
            let mut configuration = hot(dims, 4);
            for (site, mu) in (0..dims.volume()).flat_map(|site| (0..4).map(move |mu| (site, mu))) {
                let factor = if (site, mu) == (3, 2) { size * one } else { size };
                configuration.set_link(site, mu, configuration.link(site, mu).scale(factor));
            }
            let expected = by_full_operator(&configuration, factors, 1, &psi, None);
            let double = lattice.gauge::<f64>(&configuration, boundary()).unwrap();
            let check = |found: Vec<Spinor>, bound: f64| {
                let error = distance(&found, &expected);
                assert!(error < bound, "{name}, {size} and {one}: {error}");
            };
            check(hopped(&double, factors, &psi), 1e-14);
            check(hopped(&double.cast::<f32>().unwrap(), factors, &psi), 1e-6);
            check(hopped(&double.cast::<Half>().unwrap(), factors, &psi), 2e-3);
            let half = lattice.gauge::<Half>(&configuration, boundary()).unwrap();
            check(hopped(&half, factors, &psi), 2e-3);
            check(hopped(&half.cast::<f64>().unwrap(), factors, &psi), 2e-3);
        }
        let mut configuration = hot(dims, 4);
        configuration.set_link(3, 2, configuration.link(3, 2).scale(1e5));
        let double = lattice.gauge::<f64>(&configuration, boundary()).unwrap();
        assert!(double.cast::<f32>().is_ok());
        let made = lattice.gauge::<Half>(&configuration, boundary()).map(drop);
        for refused in [made, double.cast::<Half>().map(drop)] {
            // The host has numbers of any size in half precision too.
            let is_right = matches!(refused, Err(LatticeError::LinkTooLarge { found, .. }) if found > 1e4);
            assert!(is_right || (team.is_host() && refused.is_ok()), "{name}: {refused:?}");
        }
    }
}

/// The hop from even sites to odd ones, by some stored links.
fn hopped<T: Storage>(links: &GaugeField<T>, factors: StencilFactors, psi: &[Spinor]) -> Vec<Spinor> {
    let lattice = links.lattice();
    let even: Vec<host::Spinor<T::Real>> =
        half(psi, lattice.dims(), 0).iter().map(|spinor| spinor.cast()).collect();
    let hop = HopEvenOdd::<T>::new(links, 1, factors, HopOptions::default()).unwrap();
    let mut out = hop.target().unwrap();
    hop.apply(&lattice.parity_from_host(0, &even).unwrap(), None, &mut out).unwrap();
    out.to_host().unwrap().iter().map(host::Spinor::cast).collect()
}

#[test]
fn links_outside_the_group_are_refused() {
    let dims = lattices()[0];
    let mut configuration = hot(dims, 4);
    let link = configuration.link(3, 2).scale(1.0 + 1e-9);
    configuration.set_link(3, 2, link);
    for (name, team) in common::teams() {
        let lattice = Lattice::new(&team, dims).unwrap();
        for reconstruction in [Reconstruction::Twelve, Reconstruction::Eight] {
            let refused = lattice.gauge_in::<f64>(&configuration, boundary(), reconstruction);
            assert!(matches!(refused, Err(LatticeError::NotSpecialUnitary { .. })), "{name}");
            // To single precision they are in the group.
            assert!(lattice.gauge_in::<f32>(&configuration, boundary(), reconstruction).is_ok(), "{name}");
        }
        assert!(lattice.gauge_in::<f64>(&configuration, boundary(), Reconstruction::None).is_ok());
    }
}

#[test]
fn a_solve_gives_the_same_correlator_in_every_storage() {
    let dims = Dims::new([4, 4, 4, 8]).unwrap();
    let configuration = host::random::weak(dims, 0.3, 5);
    if common::small() {
        return;
    }
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 1) {
        let lattice = Lattice::new(&team, dims).unwrap();
        let correlators = Reconstruction::ALL.map(|reconstruction| {
            let links =
                lattice.gauge_in::<f64>(&configuration, Boundary::antiperiodic_t(), reconstruction).unwrap();
            let wilson = Dirac::wilson(&links, Kappa(0.12)).unwrap();
            let source = lattice.point_source([0; 4], 0, 0).unwrap();
            let (x, _) = cr(&wilson, &source, &CrParams::default().with_tol(1e-12)).unwrap();
            let mut correlator = Contraction::new(Observable::Pion, dims, 3, 0);
            correlator.add(&x.to_host().unwrap());
            correlator.values().to_vec()
        });
        for other in &correlators[1..] {
            for (a, b) in other.iter().zip(&correlators[0]) {
                assert!(common::relative(*a, *b) < 1e-10, "{name}: {a} {b}");
            }
        }
    }
}
