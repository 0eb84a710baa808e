//! Lattices that are cut over a grid of devices, in every direction, against the host and against one device.

use crate::common;

use common::spinors::{Spinor, bound, distance, half, narrow, wide};
use lattice_cl::compute::{DeviceKind, PeerWay, PeerWays, Peers, Recorder, Team};
use lattice_cl::field::{SpinorField, StoredField};
use lattice_cl::geometry::{Boundary, Grid, GridError, Lattice, LatticeError};
use lattice_cl::host::random::{hot, spinor_field, weak};
use lattice_cl::host::{self, LinkField, Reconstruction, StencilFactors};
use lattice_cl::operator::{Dirac, DiracOptions, Ending, HopEvenOdd, HopOptions, Kappa, SiteTerm, Tuning};
use lattice_cl::solve::{
    BicgstabParams, BlockCgParams, BlockSolution, CgParams, Inner, IterationPrecision, bicgstab, block_cg, cg,
};
use lattice_cl::{Dims, GaugeConfiguration, Half, Storage, StoragePrecision};
use lattice_solvers::SolverInfo;
use num_complex::Complex64;

/// Extents that are multiples of no more than they must be, and how they are cut: along t, z, z and t, y, x, x and y. Some domains have
/// one slice in the direction of a cut, and some differ from their neighbours.
fn cuts() -> Vec<(Dims, Grid)> {
    let cuts: &[([usize; 4], [usize; 4])] = match common::small() {
        true => &[([4, 2, 2, 4], [1, 1, 2, 2]), ([4, 2, 2, 2], [2, 1, 1, 1])],
        false => &[
            ([2, 4, 6, 10], [1, 1, 1, 3]),
            ([4, 2, 6, 4], [1, 1, 2, 1]),
            ([4, 6, 2, 10], [1, 1, 2, 2]),
            ([4, 4, 2, 6], [1, 3, 1, 1]),
            ([6, 2, 4, 2], [2, 1, 1, 1]),
            ([6, 6, 2, 4], [2, 2, 1, 1]),
        ],
    };
    cuts.iter().map(|&(dims, grid)| (Dims::new(dims).unwrap(), Grid::new(grid).unwrap())).collect()
}

/// A lattice that is cut over devices of this machine.
fn lattice(dims: Dims, grid: Grid) -> Lattice {
    Lattice::with_grid(&common::team_of(grid.count()), dims, grid).unwrap()
}

/// Signs in all directions that may be cut.
fn boundary() -> Boundary {
    Boundary::from_signs([-1, -1, 1, -1]).unwrap()
}

/// The twin on the host.
fn by_host(configuration: &GaugeConfiguration, factors: StencilFactors, psi: &[Spinor]) -> Vec<Spinor> {
    let mut out = vec![Spinor::default(); psi.len()];
    host::stencil(&LinkField::<f64>::new(configuration, boundary()), factors, psi, &mut out);
    out
}

#[test]
fn the_operator_is_that_of_the_host() {
    for (dims, grid) in cuts() {
        let (configuration, psi) = (hot(dims, 1), spinor_field(dims, 2));
        let lattice = lattice(dims, grid);
        let links = lattice.gauge::<f64>(&configuration, boundary()).unwrap();
        let wilson = Dirac::wilson(&links, Kappa(0.13)).unwrap();
        let mut out = lattice.spinor().unwrap();
        // Twice: the halos of one application are overwritten by the next.
        for seed in [3, 2] {
            let psi = lattice.spinor_from_host(&spinor_field(dims, seed)).unwrap();
            wilson.apply(&psi, &mut out).unwrap();
        }
        let expected = by_host(&configuration, StencilFactors::new(1.0, -0.13), &psi);
        let error = distance(&out.to_host().unwrap(), &expected);
        assert!(error < 1e-14, "{dims} cut {grid}: {error:e}");
    }
}

/// The blocks of a clover term lie on the devices as the sites do.
#[test]
fn a_clover_term_is_cut_with_its_lattice() {
    let (dims, grid) = cuts().pop().unwrap();
    let (configuration, psi) = (hot(dims, 1), spinor_field(dims, 2));
    let apply = |lattice: &Lattice| {
        let links = lattice.gauge::<f64>(&configuration, boundary()).unwrap();
        let links = links.with_clover(configuration.clone()).unwrap();
        let dirac = Dirac::new(&links, Kappa(0.13), SiteTerm::Clover { csw: 1.2, mu: 0.1 }).unwrap();
        let mut out = lattice.spinor().unwrap();
        dirac.apply(&lattice.spinor_from_host(&psi).unwrap(), &mut out).unwrap();
        out.to_host().unwrap()
    };
    let expected = apply(&Lattice::new(&Team::host(), dims).unwrap());
    let error = distance(&apply(&lattice(dims, grid)), &expected);
    assert!(error < 1e-14, "{dims} cut {grid}: {error:e}");
}

#[test]
fn gamma5_times_the_operator_is_hermitian() {
    for (dims, grid) in cuts().into_iter().filter(|(_, grid)| grid.count() == 4) {
        let lattice = lattice(dims, grid);
        let links = lattice.gauge_in::<f64>(&hot(dims, 5), boundary(), Reconstruction::Twelve).unwrap();
        let hermitian = Dirac::wilson(&links, Kappa(0.13)).unwrap().times_gamma5().unwrap();
        let fields = [6, 7].map(|seed| spinor_field(dims, seed));
        let applied = fields.each_ref().map(|field| {
            let mut out = lattice.spinor().unwrap();
            hermitian.apply(&lattice.spinor_from_host(field).unwrap(), &mut out).unwrap();
            out.to_host().unwrap()
        });
        let [left, right] = [(0, 1), (1, 0)].map(|(k, l)| host::spinor_fields::dot(&fields[k], &applied[l]));
        let scale = host::spinor_fields::norm2(&fields[0]);
        assert!((left - right.conj()).norm() < 1e-13 * scale, "{dims} cut {grid}: {left} {right}");
        // That of the full space.
        assert!(left.norm() > 1e-3 * scale.sqrt(), "{left}");
    }
}

/// The hop to the sites of one parity, and the full operator, of several right-hand sides.
fn check_columns<T: Storage>(
    dims: Dims,
    grid: Grid,
    reconstruction: Reconstruction,
    columns: usize,
    parity: usize,
    full: bool,
) {
    let (configuration, lattice) = (hot(dims, 8), lattice(dims, grid));
    let what = format!("{dims} cut {grid}, {} {reconstruction} reals, {columns} columns", T::STORAGE);
    let links = lattice.gauge_in::<T>(&configuration, boundary(), reconstruction).unwrap();
    let fields = |seed: u64| -> Vec<Vec<Spinor>> {
        (0..columns as u64).map(|column| spinor_field(dims, seed + column)).collect()
    };
    let (psi, shifted) = (fields(10), fields(50));
    let factors = StencilFactors { dagger: true, gamma5: parity == 1, ..StencilFactors::new(1.3, -0.7) };

    // On the sites of `parity` the field is the shifted one.
    let joined: Vec<Vec<Spinor>> = psi
        .iter()
        .zip(&shifted)
        .map(|(psi, shifted)| {
            let value = |site| if dims.parity(site) == parity { shifted[site] } else { psi[site] };
            (0..dims.volume()).map(value).collect()
        })
        .collect();
    let halves = |fields: &[Vec<Spinor>], parity| -> Vec<Spinor> {
        fields.iter().flat_map(|field| half(field, dims, parity)).collect()
    };
    let options = HopOptions::default().with_shift(true).with_columns(columns);
    let hop = HopEvenOdd::<T>::new(&links, parity, factors, options).unwrap();
    let field =
        |parity| lattice.parities_from_host(parity, columns, &narrow::<T>(&halves(&joined, parity))).unwrap();
    let mut out = hop.target().unwrap();
    hop.apply(&field(1 - parity), Some(&field(parity)), &mut out).unwrap();
    let found = wide::<T>(&out.to_host().unwrap());
    for (k, found) in found.chunks(dims.volume() / 2).enumerate() {
        let error = distance(found, &half(&by_host(&configuration, factors, &joined[k]), dims, parity));
        assert!(error < bound(T::STORAGE), "{what}, hop, column {k}: {error:e}");
    }

    if full {
        let options = DiracOptions::default().with_columns(columns);
        let wilson = Dirac::with_options(&links, Kappa(0.13), SiteTerm::Scalar, options).unwrap();
        let all = lattice.spinors_from_host(columns, &narrow::<T>(&psi.concat())).unwrap();
        let mut out = lattice.spinors(columns).unwrap();
        wilson.apply(&all, &mut out).unwrap();
        let found = wide::<T>(&out.to_host().unwrap());
        for (k, found) in found.chunks(dims.volume()).enumerate() {
            let error = distance(found, &by_host(&configuration, StencilFactors::new(1.0, -0.13), &psi[k]));
            assert!(error < bound(T::STORAGE), "{what}, full, column {k}: {error:e}");
        }
    }
}

/// Each is a kernel to compile. So storages go round with the cuts, unless `LATTICE_CL_TEST_ALL=1` asks for every storage on every cut.
#[test]
fn every_storage_on_cuts() {
    for (k, (dims, grid)) in cuts().into_iter().enumerate() {
        let reconstruction = |turn: usize| Reconstruction::ALL[(k + turn) % 3];
        let columns = |turn: usize| [1, 3, 2, 1][(k + turn) % 4];
        let wanted = |turn: usize| common::all_combinations() || common::small() || (k + k / 3) % 3 == turn;
        if wanted(0) {
            check_columns::<f64>(dims, grid, reconstruction(0), columns(0), k % 2, k % 3 == 1 || k == 5);
        }
        if wanted(1) {
            check_columns::<f32>(dims, grid, reconstruction(1), columns(1), (k + 1) % 2, false);
        }
        if wanted(2) {
            check_columns::<Half>(dims, grid, reconstruction(2), columns(2), k % 2, k % 3 == 2);
        }
    }
}

/// With one lane, as on GPUs: in boxes and tiles, with links that groups share, and with sums of columns.
#[test]
fn a_cut_goes_with_everything_that_gpus_do() {
    let (dims, grid) = match common::small() {
        true => ([4, 2, 2, 2], [2, 1, 1, 1]),
        false => ([8, 4, 2, 4], [2, 1, 1, 2]),
    };
    let (dims, grid) = (Dims::new(dims).unwrap(), Grid::new(grid).unwrap());
    const COLUMNS: usize = 4;
    let configuration = hot(dims, 9);
    for device in common::taken_for_gpus() {
        let team = Team::of(vec![device.clone(); grid.count()]);
        let lattice = Lattice::with_grid(&team, dims, grid).unwrap();
        let links = lattice.gauge_in::<f64>(&configuration, boundary(), Reconstruction::Twelve).unwrap();
        let fields: Vec<Vec<Spinor>> = (0..COLUMNS as u64).map(|seed| spinor_field(dims, seed)).collect();
        let halves: Vec<Spinor> = fields.iter().flat_map(|field| half(field, dims, 1)).collect();
        let source = lattice.parities_from_host(1, COLUMNS, &halves).unwrap();
        let factors = StencilFactors::new(0.0, 0.4);
        let expected: Vec<Vec<Spinor>> = fields
            .iter()
            .map(|psi| {
                let odd = |site| if dims.parity(site) == 1 { psi[site] } else { Spinor::default() };
                let masked: Vec<Spinor> = (0..dims.volume()).map(odd).collect();
                half(&by_host(&configuration, factors, &masked), dims, 0)
            })
            .collect();
        let close = |found: Vec<Spinor>, what: &str| {
            for (k, (found, expected)) in found.chunks(dims.volume() / 2).zip(&expected).enumerate() {
                let error = distance(found, expected);
                assert!(error < 1e-14, "{}: {what}, column {k}: {error:e}", device.label());
            }
        };
        let options = HopOptions::default().with_columns(COLUMNS);
        let hop = |options| HopEvenOdd::<f64>::new(&links, 0, factors, options).unwrap();
        let shipped = hop(options).tuning().unwrap();
        let varied = Tuning {
            share_links: true,
            columns_per_item: 2,
            boxes: true,
            tile_z: 2,
            work_group: 2,
            rounds: 2,
            ..shipped
        };
        for tuning in [shipped, varied] {
            let hop = hop(options.with_tuning(Some(tuning)));
            let mut out = hop.target().unwrap();
            hop.apply(&source, None, &mut out).unwrap();
            close(out.to_host().unwrap(), &format!("{tuning:?}"));
        }
        let hop = hop(options.with_ending(Ending::Gram));
        let mut out = hop.target().unwrap();
        let gram = hop.apply_with_gram(&source, None, &mut out).unwrap();
        close(out.to_host().unwrap(), "with a Gram matrix");
        for (i, j) in (0..COLUMNS).flat_map(|i| (0..COLUMNS).map(move |j| (i, j))) {
            let product: Complex64 = host::spinor_fields::dot(&expected[i], &expected[j]);
            let scale = host::spinor_fields::norm2(&expected[i]);
            assert!((gram[(i, j)] - product).norm() < 1e-13 * scale, "{} ({i}, {j})", device.label());
        }
    }
}

fn check_fields<T: Storage>(dims: Dims, grid: Grid) {
    let lattice = lattice(dims, grid);
    let what = format!("{dims} cut {grid}, {}", T::STORAGE);
    let bound = if T::STORAGE == StoragePrecision::Half { 1e-4 } else { bound(T::STORAGE) };
    let fields = [spinor_field(dims, 1), spinor_field(dims, 2)].concat();
    let there = lattice.spinors_from_host::<T>(2, &narrow::<T>(&fields)).unwrap();
    assert!(distance(&wide::<T>(&there.to_host().unwrap()), &fields) < bound, "{what}");
    let mut again = lattice.spinors::<T>(2).unwrap();
    again.set_bytes(&there.to_bytes().unwrap()).unwrap();
    assert!(again.to_host().unwrap() == there.to_host().unwrap(), "{what}: bytes");
    let mut odd = lattice.parities::<T>(1, 2).unwrap();
    there.copy_parity_to(&mut odd).unwrap();
    let expected: Vec<Spinor> = fields.chunks(dims.volume()).flat_map(|field| half(field, dims, 1)).collect();
    assert!(distance(&wide::<T>(&odd.to_host().unwrap()), &expected) < bound, "{what}: odd sites");

    // In the first domain and in the last one.
    for site in [[0; 4], dims.extents().map(|extent| extent - 1)] {
        let point = lattice.point_source::<T>(site, 2, 1).unwrap().to_host().unwrap();
        for (k, spinor) in wide::<T>(&point).iter().enumerate() {
            let expected = if k == dims.site(site) { 1.0 } else { 0.0 };
            assert!((spinor.norm2() - expected).abs() < bound, "{what}: a source at {site:?}, {k}");
        }
    }
}

#[test]
fn fields_come_back() {
    // As `every_storage_on_cuts`, storages go round.
    let all = common::all_combinations() || common::small();
    for (k, (dims, grid)) in cuts().into_iter().enumerate() {
        let wanted = |turn: usize| all || (k + k / 3) % 3 == turn;
        if wanted(0) {
            check_fields::<f64>(dims, grid);
        }
        if wanted(1) {
            check_fields::<f32>(dims, grid);
        }
        if wanted(2) {
            check_fields::<Half>(dims, grid);
        }
    }
    if !common::small() {
        // In several pieces, of rows and of slices.
        check_fields::<f64>(Dims::new([16, 16, 20, 18]).unwrap(), Grid::new([1, 1, 2, 1]).unwrap());
        check_fields::<f64>(Dims::new([16, 16, 20, 18]).unwrap(), Grid::new([2, 1, 1, 1]).unwrap());
    }
}

#[test]
fn a_solve_takes_the_steps_of_a_single_device() {
    let dims = Dims::new(if common::small() { [4, 2, 2, 4] } else { [4, 4, 6, 6] }).unwrap();
    let configuration = weak(dims, 0.2, 3);
    let source = spinor_field(dims, 4);
    let solve = |grid: Grid, precision| {
        let lattice = lattice(dims, grid);
        let links = lattice.gauge_in::<f64>(&configuration, boundary(), Reconstruction::Twelve).unwrap();
        let wilson = Dirac::wilson(&links, Kappa(0.115)).unwrap();
        let params = CgParams::default().with_tol(1e-10).with_precision(precision);
        let (solution, info) = cg(&wilson, &lattice.spinor_from_host(&source).unwrap(), &params).unwrap();
        assert!(info.residual.true_residual <= 1e-10, "{grid} {precision}");
        (solution.to_host().unwrap(), info.iterations)
    };
    for precision in [IterationPrecision::Double, IterationPrecision::Mixed(Inner::Half)] {
        let (alone, iterations) = solve(Grid::ONE, precision);
        // In half precision on one cut, whose kernels `every_way_of_sums_gives_the_same_solution` has too.
        let both = precision == IterationPrecision::Double || common::all_combinations();
        for parts in [[2, 1, 1, 1], [1, 1, 2, 2]].into_iter().take(if both { 2 } else { 1 }) {
            let grid = Grid::new(parts).unwrap();
            let (solution, found) = solve(grid, precision);
            // Sums are rounded in another order, half precision more than that.
            let more = if precision == IterationPrecision::Double { 0 } else { 2 };
            assert!(found.abs_diff(iterations) <= more, "{grid} {precision}: {found} {iterations}");
            let error = distance(&solution, &alone);
            assert!(error < 1e-8, "{grid} {precision}: {error:e}");
        }
    }
}

/// The hop and the operator of so many fields, several times, as each way gives them.
fn check_ways<T: Storage>(dims: Dims, grid: Grid, columns: usize, full: bool) {
    let configuration = hot(dims, 11);
    let fields: Vec<Spinor> = (0..columns as u64).flat_map(|seed| spinor_field(dims, seed)).collect();
    let apply = |ways: PeerWays| {
        let lattice = Lattice::with_grid(&common::team_in(grid.count(), ways), dims, grid).unwrap();
        let links = lattice.gauge_in::<T>(&configuration, boundary(), Reconstruction::Twelve).unwrap();
        if full {
            let options = DiracOptions::default().with_columns(columns);
            let wilson = Dirac::with_options(&links, Kappa(0.13), SiteTerm::Scalar, options).unwrap();
            let mut fields =
                [(); 2].map(|()| lattice.spinors_from_host(columns, &narrow::<T>(&fields)).unwrap());
            // Faces of one application are still on their way when the next begins.
            for _ in 0..3 {
                let [from, to] = &mut fields;
                wilson.apply(from, to).unwrap();
                wilson.apply(to, from).unwrap();
            }
            return fields[0].to_host().unwrap();
        }
        let options = HopOptions::default().with_columns(columns);
        let hop =
            |parity| HopEvenOdd::<T>::new(&links, parity, StencilFactors::new(0.0, 0.3), options).unwrap();
        let hops = [hop(0), hop(1)];
        let odd: Vec<Spinor> = fields.chunks(dims.volume()).flat_map(|field| half(field, dims, 1)).collect();
        let mut odd = lattice.parities_from_host(1, columns, &narrow::<T>(&odd)).unwrap();
        let mut even = hops[0].target().unwrap();
        for _ in 0..3 {
            hops[0].apply(&odd, None, &mut even).unwrap();
            hops[1].apply(&even, None, &mut odd).unwrap();
        }
        odd.to_host().unwrap()
    };
    let mut ways = common::peer_ways(grid.count()).into_iter();
    let expected = apply(ways.next().unwrap());
    for way in ways {
        assert!(apply(way) == expected, "{dims} cut {grid}, {} {columns} columns, {way:?}", T::STORAGE);
    }
}

/// Threads with a lattice each have the kernels of one team wait for each other in one order.
#[test]
fn lattices_of_one_team_take_turns() {
    let _waiting = common::kernels_wait();
    let (dims, grid) = (Dims::new([4, 2, 2, 4]).unwrap(), Grid::new([1, 1, 1, 2]).unwrap());
    let solve = |team: &Team, seed| {
        let lattice = Lattice::with_grid(team, dims, grid).unwrap();
        let links = lattice.gauge::<f64>(&weak(dims, 0.2, seed), boundary()).unwrap();
        let wilson = Dirac::wilson(&links, Kappa(0.115)).unwrap();
        let b = lattice.spinor_from_host(&spinor_field(dims, seed)).unwrap();
        cg(&wilson, &b, &CgParams::default().with_tol(1e-10)).map(|(x, _)| x.to_host().unwrap())
    };
    let expected = [1, 2].map(|seed| solve(&common::team_in(2, PeerWays::OFF), seed).unwrap());
    let team = common::team_in(2, PeerWays::only(PeerWay::HostFlags));
    std::thread::scope(|scope| {
        for (expected, seed) in expected.iter().zip(1..) {
            let (team, solve) = (&team, &solve);
            scope.spawn(move || {
                for round in 0..5 {
                    assert!(&solve(team, seed).unwrap() == expected, "links {seed}, round {round}");
                }
            });
        }
    });
}

/// Whichever way faces go, they are the same numbers.
#[test]
fn every_way_of_faces_gives_the_same_bits() {
    let _waiting = common::kernels_wait();
    for (k, (dims, grid)) in cuts().into_iter().enumerate() {
        match k % 3 {
            0 => check_ways::<f64>(dims, grid, 1, k % 2 == 0),
            1 => check_ways::<f32>(dims, grid, 3, k % 2 == 0),
            _ => check_ways::<Half>(dims, grid, 2, k % 2 == 0),
        }
    }
}

/// Hops between parities on two devices, packed ahead of the stencil and by its first groups.
///
/// Groups of PoCL that wait keep a thread busy. So a domain is one group.
fn check_packing<T: Storage>(
    kind: DeviceKind,
    extents: [usize; 4],
    parts: [usize; 4],
    columns: usize,
    ending: Ending,
) {
    check_packing_in_rounds::<T>(kind, extents, parts, columns, ending, 1 << 16);
}

/// The same with groups of this many rounds. Stencils may pack only if all domains are one group.
fn check_packing_in_rounds<T: Storage>(
    kind: DeviceKind,
    extents: [usize; 4],
    parts: [usize; 4],
    columns: usize,
    ending: Ending,
    rounds: usize,
) {
    let (dims, grid) = (Dims::new(extents).unwrap(), Grid::new(parts).unwrap());
    let what = format!("{dims} cut {grid}, {} {columns} columns, {ending:?}, {kind:?}", T::STORAGE);
    let configuration = hot(dims, 15);
    let fields: Vec<Spinor> = (0..columns as u64).flat_map(|seed| spinor_field(dims, seed)).collect();
    let halves = |parity| {
        let half = fields.chunks(dims.volume()).flat_map(|field| half(field, dims, parity));
        narrow::<T>(&half.collect::<Vec<_>>())
    };
    let apply = |way: Option<PeerWay>| {
        let recorder = Recorder::new();
        let team = common::recorded_team(kind, way.map_or(PeerWays::OFF, PeerWays::only), &recorder);
        let lattice = Lattice::with_grid(&team, dims, grid).unwrap();
        let links = lattice.gauge_in::<T>(&configuration, boundary(), Reconstruction::Twelve).unwrap();
        let hop = |parity| {
            let hop = |options| {
                HopEvenOdd::<T>::new(&links, parity, StencilFactors::new(0.0, 0.3), options).unwrap()
            };
            let options = HopOptions::default().with_columns(columns).with_ending(ending);
            let shipped = hop(options).tuning().unwrap();
            let work_group = if kind == DeviceKind::Gpu { 128 } else { shipped.work_group };
            hop(options.with_tuning(Some(Tuning { rounds, work_group, ..shipped })))
        };
        let hops = [hop(0), hop(1)];
        let mut parities =
            [0, 1].map(|parity| lattice.parities_from_host(parity, columns, &halves(parity)).unwrap());
        let mut sums = Vec::new();
        for round in 0..6 {
            let [even, odd] = &mut parities;
            let (hop, from, to) = if round % 2 == 0 { (&hops[0], odd, even) } else { (&hops[1], even, odd) };
            match ending {
                Ending::Products => {
                    let against = lattice.parities_from_host(round % 2, 1, &halves(round % 2)).unwrap();
                    let numbers = hop.apply_with_products(from, None, to, &against).unwrap();
                    sums.extend(numbers.map(|number| number.value().unwrap()));
                }
                Ending::Gram => {
                    let gram = hop.apply_with_gram(from, None, to).unwrap();
                    sums.extend((0..columns).map(|k| gram[(0, k)]));
                }
                _ => hop.apply(from, None, to).unwrap(),
            }
        }
        let results = parities.map(|field| field.to_host().unwrap());
        let records = recorder.take().unwrap();
        let commands = records.iter().flat_map(|record| &record.commands);
        (results, sums, commands.filter(|command| command.span.name == "pack_halos").count())
    };
    let (expected, expected_sums, _) = apply(None);
    let (found, sums, packed) = apply(Some(PeerWay::HostFlags));
    assert!(found == expected && sums == expected_sums, "{what}");
    // Both devices pack ahead of the first stencil alone, which may be compiled then.
    if rounds == 1 << 16 {
        assert_eq!(packed, 2, "{what}: launches that pack");
    }
}

/// A stencil whose first groups pack its faces gives the bits of one behind a launch that packs.
#[test]
fn a_stencil_may_pack_its_faces_itself() {
    let _waiting = common::kernels_wait();
    let (cpu, gpu) = (DeviceKind::Cpu, DeviceKind::Gpu);
    let team = common::recorded_team(cpu, PeerWays::only(PeerWay::HostFlags), &Recorder::default());
    if Peers::of(team.devices()).is_none() {
        return common::skipped("kernels of the first device do not wait for those of another one");
    }
    check_packing::<f64>(cpu, [4, 2, 6, 4], [1, 1, 2, 1], 1, Ending::Products);
    check_packing::<f32>(cpu, [4, 4, 2, 6], [1, 1, 1, 2], 3, Ending::Store);
    check_packing::<Half>(cpu, [6, 2, 4, 2], [2, 1, 1, 1], 2, Ending::Store);
    check_packing::<Half>(gpu, [4, 2, 2, 10], [1, 1, 1, 2], 1, Ending::Products);
    check_packing::<f64>(gpu, [4, 6, 2, 4], [1, 2, 1, 1], 3, Ending::Store);
    check_packing::<f64>(gpu, [4, 2, 2, 4], [1, 1, 1, 2], 4, Ending::Gram);
    // With two lanes, one domain has a single group and might pack, and the other has two: nobody packs then.
    check_packing_in_rounds::<f64>(cpu, [6, 2, 4, 2], [2, 1, 1, 1], 1, Ending::Products, 8);
}

/// Where faces are under way, groups inside run before those at faces: results and sums have the bits that they have in one launch.
#[test]
fn groups_inside_may_run_before_faces_have_come() {
    let (dims, grid) = match common::small() {
        true => ([4, 2, 2, 8], [1, 1, 1, 2]),
        false => ([4, 6, 8, 12], [1, 1, 1, 2]),
    };
    let (dims, grid) = (Dims::new(dims).unwrap(), Grid::new(grid).unwrap());
    let configuration = hot(dims, 12);
    let fields = [spinor_field(dims, 13), spinor_field(dims, 14)].map(|field| half(&field, dims, 1));
    let apply = |ways: PeerWays, work_group: usize, ending: Ending| {
        let lattice = Lattice::with_grid(&common::team_in(2, ways), dims, grid).unwrap();
        let links = lattice.gauge::<f64>(&configuration, boundary()).unwrap();
        let options = HopOptions::default().with_ending(ending);
        let hop =
            |options| HopEvenOdd::<f64>::new(&links, 0, StencilFactors::new(0.0, 0.3), options).unwrap();
        let shipped = hop(options).tuning().unwrap();
        let tuning = Some(Tuning { work_group, rounds: 1, ..shipped });
        let hop = hop(options.with_tuning(tuning));
        let source = lattice.parities_from_host(1, 1, &fields[0]).unwrap();
        let against = lattice.parities_from_host(0, 1, &fields[1]).unwrap();
        let mut out = hop.target().unwrap();
        let mut sums = Vec::new();
        for _ in 0..3 {
            match ending {
                Ending::Products => {
                    let numbers = hop.apply_with_products(&source, None, &mut out, &against).unwrap();
                    sums.extend(numbers.map(|number| number.value().unwrap()));
                }
                _ => hop.apply(&source, None, &mut out).unwrap(),
            }
        }
        (out.to_host().unwrap(), sums)
    };
    for (work_group, ending) in [(1, Ending::Store), (3, Ending::Products)] {
        let expected = apply(PeerWays::only(PeerWay::Host), work_group, ending);
        let found = apply(PeerWays::OFF, work_group, ending);
        assert!(found == expected, "groups of {work_group}, {ending:?}");
    }
}

/// What a solve gives in one way.
struct Solved {
    solution: Vec<Spinor>,
    iterations: usize,
}

/// Checks that every way of faces and sums gives the same solution after as many iterations.
fn check_solves(
    dims: Dims,
    parts: [usize; 4],
    term: SiteTerm,
    what: &str,
    solve: impl Fn(&Dirac<f64>, &SpinorField<f64>) -> (SpinorField<f64>, SolverInfo),
) {
    let grid = Grid::new(parts).unwrap();
    let configuration = weak(dims, 0.2, 3);
    let columns = if what.starts_with("block") { 3 } else { 1 };
    let source: Vec<Spinor> = (4..4 + columns as u64).flat_map(|seed| spinor_field(dims, seed)).collect();
    let by = |ways: PeerWays| {
        let lattice = Lattice::with_grid(&common::team_in(grid.count(), ways), dims, grid).unwrap();
        let links = lattice.gauge_in::<f64>(&configuration, boundary(), Reconstruction::Twelve).unwrap();
        let links = links.with_clover(configuration.clone()).unwrap();
        let dirac = Dirac::new(&links, Kappa(0.115), term).unwrap();
        let (solution, info) = solve(&dirac, &lattice.spinors_from_host(columns, &source).unwrap());
        assert!(info.residual.true_residual <= 1e-10, "{what}, {grid} {ways:?}");
        Solved { solution: solution.to_host().unwrap(), iterations: info.iterations }
    };
    let mut ways = common::peer_ways(grid.count()).into_iter();
    let expected = by(ways.next().unwrap());
    for way in ways {
        let found = by(way);
        assert_eq!(found.iterations, expected.iterations, "{what}, {grid} {way:?}");
        assert!(found.solution == expected.solution, "{what}, {grid} {way:?}");
    }
}

/// Sums that stay on the devices are those that the host adds, and numbers that devices make of them are those that the host makes.
#[test]
fn every_way_of_sums_gives_the_same_solution() {
    let _waiting = common::kernels_wait();
    let dims = Dims::new(if common::small() { [4, 2, 2, 4] } else { [4, 4, 6, 6] }).unwrap();
    let (tol, half) = (1e-10, IterationPrecision::Mixed(Inner::Half));
    check_solves(dims, [1, 1, 1, 2], SiteTerm::Scalar, "cg", |dirac, b| {
        cg(dirac, b, &CgParams::default().with_tol(tol)).unwrap()
    });
    check_solves(dims, [2, 1, 1, 1], SiteTerm::Scalar, "cg, mixed-half", |dirac, b| {
        cg(dirac, b, &CgParams::default().with_tol(tol).with_precision(half)).unwrap()
    });
    // Products and quotients of complex sums.
    check_solves(dims, [2, 1, 1, 1], SiteTerm::Scalar, "bicgstab, mixed-half", |dirac, b| {
        bicgstab(dirac, b, &BicgstabParams::default().with_tol(tol).with_precision(half)).unwrap()
    });
    // Gram matrices, and matrices that devices or the host make of them.
    check_solves(dims, [1, 1, 2, 1], SiteTerm::Scalar, "block-cg", |dirac, b| {
        let BlockSolution { x, info, .. } =
            block_cg(dirac, b, &BlockCgParams::default().with_tol(tol)).unwrap();
        (x, info)
    });
    let clover = SiteTerm::Clover { csw: 1.1, mu: 0.05 };
    check_solves(dims, [1, 1, 2, 2], clover, "bicgstab of twisted clover", |dirac, b| {
        bicgstab(dirac, b, &BicgstabParams::default().with_tol(tol)).unwrap()
    });
}

#[test]
fn a_cut_that_is_impossible_is_refused_with_the_reason() {
    let dims = Dims::new([6, 4, 4, 2]).unwrap();
    let refused = |team: &Team, parts| match Lattice::with_grid(team, dims, Grid::new(parts).unwrap()) {
        Err(LatticeError::Grid(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(lattice) => panic!("cut {}", lattice.grid()),
    };
    let error = refused(&common::team_of(3), [1, 1, 1, 3]);
    assert!(matches!(error, GridError::TooManyParts { mu: 3, most: 2, .. }), "{error}");
    let error = refused(&common::team_of(4), [4, 1, 1, 1]);
    assert!(matches!(error, GridError::TooManyParts { mu: 0, most: 3, .. }), "{error}");
    let error = refused(&common::team_of(3), [1, 1, 2, 1]);
    assert!(matches!(error, GridError::DeviceCount { devices: 3, .. }), "{error}");
    let error = refused(&Team::host(), [1, 1, 1, 2]);
    assert!(matches!(error, GridError::DeviceCount { devices: 1, .. }), "{error}");
    assert!(Lattice::with_grid(&Team::host(), dims, Grid::ONE).is_ok());
    // Without a launcher of MPI there is one rank.
    match Lattice::with_grids(&common::team_of(2), dims, None, Grid::new([1, 1, 1, 2])) {
        Err(LatticeError::Grid(error @ GridError::RankCount { ranks: 1, .. })) => {
            assert!(error.to_string().contains("for 2 ranks, but there is one"), "{error}");
        }
        other => panic!("{:?}", other.map(|lattice| lattice.grid())),
    }
    let alone = Lattice::with_grids(&common::team_of(2), dims, None, Some(Grid::ONE)).unwrap();
    assert_eq!((alone.grid().count(), alone.ranks_grid()), (2, Grid::ONE));
}

#[test]
fn devices_without_a_part_are_idle() {
    let lattice = Lattice::new(&common::team_of(3), Dims::new([2; 4]).unwrap()).unwrap();
    assert_eq!((lattice.grid().parts(), lattice.idle_devices()), ([1, 1, 1, 2], 1));
    let lattice = Lattice::new(&common::team_of(2), Dims::new([2, 2, 6, 2]).unwrap()).unwrap();
    assert_eq!((lattice.grid().parts(), lattice.idle_devices()), ([1, 1, 2, 1], 0));
}
