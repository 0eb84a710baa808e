use super::coarse_lattice::CoarseLattice;
use super::coarse_operator::CoarseOperator;
use super::coarse_space::{CoarseSpace, SiteNumbers, WholeVector};
use super::dense::DenseInverse;
use super::error::SetupError;
use super::finer::{CoarseLevel, FineLevel, Finer};
use super::finer_sites::{FinerNumbers, FinerPart, FinerParts};
use super::galerkin::galerkin;
use super::near_null::near_null_vectors;
use super::random::RandomNumbers;
use super::raw_blocks::{RawBlocks, WITHIN};
use super::transfer::{EVERY_SITE, Levels, Members, Transfer, Vectors};
use crate::compute::{Buffer, Device, DeviceOptions, Team, discover};
use crate::field::{Numbers, plain_spinors};
use crate::geometry::{Boundary, Dims, Grid, Lattice, NDIM};
use crate::host::Spinor;
use crate::host::gamma::GAMMA;
use crate::host::multigrid::{BLOCKS, plain, project};
use crate::host::random::hot;
use crate::operator::{Dirac, Kappa, SiteTerm};
use crate::scalar::{Half, Real, Storage};
use lattice_solvers::LinearOperator;
use num_complex::{Complex, Complex64};
use std::sync::Arc;

const DIMS: [usize; NDIM] = [4, 4, 6, 4];
const BLOCK: [usize; NDIM] = [2, 4, 3, 2];
const VECTORS: usize = 3;
const KAPPA: f64 = 0.11;

/// The host, a device, and the device twice, with a part of the lattice for each.
fn lattices() -> Vec<Lattice> {
    let dims = Dims::new(DIMS).unwrap();
    let device = Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap();
    let twice = Team::of(vec![device.clone(); 2]);
    vec![
        Lattice::new(&Team::host(), dims).unwrap(),
        Lattice::new(&Team::of([device]), dims).unwrap(),
        Lattice::with_grid(&twice, dims, Grid::new([1, 1, 2, 1]).unwrap()).unwrap(),
    ]
}

fn place(lattice: &Lattice) -> Team {
    lattice.team().devices().first().map_or_else(Team::host, |device| Team::of([device.clone()]))
}

fn fine_level<R: Real>(lattice: &Lattice, term: SiteTerm, sources: usize) -> FineLevel<R> {
    let configuration = Arc::new(hot(lattice.dims(), 5));
    let links = lattice.gauge::<R>(&configuration, Boundary::antiperiodic_t()).unwrap();
    let links = links.with_clover(configuration).unwrap();
    FineLevel::new(&Dirac::new(&links, Kappa(KAPPA), term).unwrap(), BLOCK, sources).unwrap()
}

/// Numbers without a rule that a kernel could follow by accident.
fn number(k: usize) -> Complex64 {
    Complex::new((1.3 * (k * k % 1013) as f64).sin(), (0.7 * (k % 517) as f64 + 0.2).cos())
}

fn numbers<R: Real>(count: usize, from: usize) -> Vec<Complex<R>> {
    let number = |k| {
        let z = number(k);
        Complex::new(R::from_f64(z.re), R::from_f64(z.im))
    };
    (0..count).map(|k| number(from + k)).collect()
}

/// A level's transfer and coarse operator. The transfer takes all sites for those of the first half, so that it shows the whole of V.
fn coarsened<R: Real, F: Finer<R>>(
    finer: &mut F,
    place: &Team,
    extents: [usize; NDIM],
    block: [usize; NDIM],
    vectors: &[Numbers<R>],
    count: usize,
) -> (Transfer<R>, RawBlocks<R>, CoarseOperator<R>) {
    let lattice = Arc::new(CoarseLattice::new(std::array::from_fn(|mu| extents[mu] / block[mu])));
    let space = CoarseSpace::new(place, &lattice, 2 * count, finer.sources()).unwrap();
    let mut parts = finer.parts();
    parts.own.iter_mut().for_each(|part| part.evens = part.sites.len());
    let levels =
        Levels { level: 0, finer: finer.numbers(), parts: &parts, block, lattice: &lattice, space: &space };
    let transfer = Transfer::new(&levels, Vectors::Made(vectors)).unwrap();
    let raw = galerkin(finer, &transfer, |_, _| ()).unwrap();
    let unscaled = CoarseOperator::raw(&space, &lattice, &raw).unwrap();
    (transfer, raw, unscaled)
}

/// Near-null vectors, as many at a time as the level has right-hand sides.
fn near_null<R: Real, F: Finer<R>>(
    finer: &F,
    stream: u32,
    count: usize,
    iterations: usize,
) -> Vec<Numbers<R>> {
    let made = |first: usize| {
        near_null_vectors(finer, finer.random(stream + first as u32).unwrap(), iterations).unwrap()
    };
    (0..count).step_by(finer.sources()).map(made).collect()
}

/// Vectors of all sites in groups of `sources`, as a level has them.
fn in_groups<R: Real>(
    numbers: FinerNumbers,
    parts: &FinerParts,
    vectors: &[Vec<Complex<R>>],
    sources: usize,
) -> Vec<Numbers<R>> {
    let of_site = 2 * numbers.half;
    let layout = SiteNumbers { columns: of_site, lanes: numbers.lanes };
    let of_part = |part: &FinerPart, group: &[Vec<Complex<R>>]| -> Vec<R> {
        let of_vector = |vector: &Vec<Complex<R>>| {
            let own: Vec<_> =
                part.sites.iter().flat_map(|&site| vector[site * of_site..][..of_site].to_vec()).collect();
            layout.to_memory(&own).into_owned()
        };
        group.iter().flat_map(of_vector).collect()
    };
    let of_group = |group: &[Vec<Complex<R>>]| match &parts.own[..] {
        [part @ FinerPart { device: None, .. }] => Numbers::Host(of_part(part, group)),
        parts => {
            let buffer = |part: &FinerPart| {
                Buffer::from_slice(part.device.as_ref().unwrap(), &of_part(part, group)).unwrap()
            };
            Numbers::Devices(parts.iter().map(buffer).collect())
        }
    };
    vectors.chunks(sources).map(of_group).collect()
}

fn whole<R: Real>(transfer: &Transfer<R>, values: &[Complex<R>]) -> WholeVector<R> {
    let mut vector = WholeVector::zero(transfer.coarse_space(), transfer.lattice()).unwrap();
    vector.set(transfer.coarse_space(), transfer.lattice(), values).unwrap();
    vector
}

/// The numbers of all sites, right-hand sides one after the other.
fn on_host<R: Real>(transfer: &Transfer<R>, vector: &WholeVector<R>) -> Vec<Complex<R>> {
    vector.to_host(transfer.coarse_space(), transfer.lattice()).unwrap()
}

/// Counts the numbers of a coarse vector, with all right-hand sides.
fn count<R: Real>(transfer: &Transfer<R>) -> usize {
    let space = transfer.coarse_space();
    space.sources() * transfer.lattice().volume() * space.numbers.columns
}

fn expect_close<R: Real>(found: &[Complex<R>], expected: &[Complex<R>], bound: f64, what: &str) {
    let double = |z: &Complex<R>| Complex64::new(Real::to_f64(z.re), Real::to_f64(z.im));
    let [found, expected] = [found, expected].map(|all| all.iter().map(double).collect::<Vec<_>>());
    let largest = expected.iter().map(|z| z.norm()).fold(0.0, f64::max);
    assert_eq!(found.len(), expected.len(), "{what}");
    for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let difference = (found - expected).norm();
        assert!(difference < bound * largest, "{what}: number {k} is {found}, not {expected}");
    }
}

/// V†V = 1, V†MV is the coarse operator, and this is γ5-hermitian where M is.
fn expect_identities<F: Finer<f64>>(
    finer: &mut F,
    (transfer, raw, unscaled): &(Transfer<f64>, RawBlocks<f64>, CoarseOperator<f64>),
    is_hermitian: bool,
    what: &str,
) {
    let (lattice, n) = (transfer.lattice(), transfer.coarse_space().numbers.columns);
    let values = numbers::<f64>(count(transfer), 1);
    let vector = whole(transfer, &values);
    let (mut fine, mut image) = (finer.whole().unwrap(), finer.whole().unwrap());
    transfer.prolong(&vector, &mut fine).unwrap();
    let mut restricted = whole(transfer, &vec![Complex64::default(); values.len()]);
    transfer.restrict(fine.view(), Members::All, &mut restricted).unwrap();
    expect_close(&on_host(transfer, &restricted), &values, 1e-13, &format!("{what}: V†V"));

    finer.apply(&fine, &mut image, None).unwrap();
    transfer.restrict(image.view(), Members::All, &mut restricted).unwrap();
    let mut coarse_image = whole(transfer, &values);
    unscaled.apply_whole(&vector, &mut coarse_image).unwrap();
    let [found, expected] = [&coarse_image, &restricted].map(|vector| on_host(transfer, vector));
    expect_close(&found, &expected, 1e-13, &format!("{what}: V†MV"));

    let blocks = raw.to_host();
    let hermitian = (0..lattice.volume()).all(|place| {
        let own = &blocks[(place * BLOCKS + WITHIN) * n * n..][..n * n];
        (0..n * n).all(|k| {
            let (row, column) = (k / n, k % n);
            let sign = if (row + column) % 2 == 0 { 1.0 } else { -1.0 };
            (own[k] - sign * own[column * n + row].conj()).norm() < 1e-13
        })
    });
    assert_eq!(hermitian, is_hermitian, "{what}");
}

/// Checks that the system does what its blocks say.
///
/// S x = x − Â Â x, for D (1 + Â) = M.
fn expect_system(transfer: &Transfer<f64>, raw: &mut RawBlocks<f64>, unscaled: &CoarseOperator<f64>) {
    let lattice = transfer.lattice();
    let system = CoarseOperator::scaled(transfer.coarse_space(), lattice, raw, 1).unwrap();
    // The solution x of M x = c for a known x: its first half solves the system of the source.
    let x = whole(transfer, &numbers(count(transfer), 7));
    let zero = || whole(transfer, &vec![Complex64::default(); count(transfer)]);
    let (mut c, mut turned, mut source) = (zero(), zero(), zero());
    unscaled.apply_whole(&x, &mut c).unwrap();
    system.source(&c, &mut turned, &mut source.even).unwrap();
    let mut image = zero();
    system.apply(&x.even, &mut image.even).unwrap();
    let halves = [&image, &source]
        .map(|vector| transfer.coarse_space().to_host(&vector.even, lattice.evens()).unwrap());
    let [found, expected] = halves;
    expect_close(&found, &expected, 1e-11, "the system");
    let mut again = zero();
    lattice_solvers::VectorSpace::copy(system.space(), &x.even, &mut again.even).unwrap();
    system.solution(&turned, &mut again).unwrap();
    let [found, expected] = [&again, &x].map(|vector| on_host(transfer, vector));
    expect_close(&found, &expected, 1e-11, "the other half");
}

#[test]
fn coarse_operators_are_those_of_galerkin_on_every_operator_and_level() {
    let terms = [SiteTerm::Clover { csw: 1.1, mu: 0.2 }, SiteTerm::Scalar, SiteTerm::Twisted { mu: 0.3 }];
    for (lattice, term) in lattices().iter().zip(terms) {
        let mut fine = fine_level::<f64>(lattice, term, VECTORS);
        let vectors = near_null(&fine, 0, VECTORS, 4);
        let place = place(lattice);
        let what = format!("{term:?} on {} devices", lattice.team().len());
        let made = coarsened(&mut fine, &place, DIMS, BLOCK, &vectors, VECTORS);
        expect_identities(&mut fine, &made, term.is_gamma5_hermitian(), &what);
        let (transfer, mut raw, unscaled) = made;
        expect_system(&transfer, &mut raw, &unscaled);

        // The level below it: 2, 1, 2 and 2 sites, in blocks of two in z.
        let space = transfer.coarse_space().for_sources(2).unwrap();
        let system = CoarseOperator::scaled(&space, transfer.lattice(), &mut raw, 1).unwrap();
        let mut coarse = CoarseLevel::new(system, Some(unscaled.for_sources(2).unwrap()));
        let vectors = near_null(&coarse, 100, 2, 2);
        let made = coarsened(&mut coarse, &place, [2, 1, 2, 2], [1, 1, 2, 1], &vectors, 2);
        expect_identities(&mut coarse, &made, term.is_gamma5_hermitian(), &format!("{what}, second level"));
    }
}

/// Expects the same bits of random numbers on the host and a device.
fn expect_equal_random_numbers<R: Real>() {
    let random = |sites| RandomNumbers { sites, of_site: 12, first_stream: 7 };
    let expected = random(&[0, 5, 17, 3, 40]).on_host::<R>(2);
    let device = Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap();
    let mut found = Buffer::<R>::zeroed(&device, 2 * expected.len()).unwrap();
    random(&[0, 5, 17, 3, 40]).on_device(&mut found, 2).unwrap();
    assert_eq!(bytemuck::cast_slice::<R, Complex<R>>(&found.to_vec().unwrap()), &expected[..]);

    let sites: Vec<usize> = (0..5000).collect();
    let numbers = random(&sites).on_host::<R>(1);
    let parts: Vec<f64> = numbers.iter().flat_map(|z| [Real::to_f64(z.re), Real::to_f64(z.im)]).collect();
    assert!(parts.iter().all(|x| x.abs() <= 1.0));
    let count = parts.len() as f64;
    let [mean, square] = [1, 2].map(|power| parts.iter().map(|x| x.powi(power)).sum::<f64>() / count);
    // Five standard deviations: √(1/3) and √(4/45) of one sample.
    assert!(mean.abs() < 5.0 * 0.578 / count.sqrt(), "{mean}");
    assert!((square - 1.0 / 3.0).abs() < 5.0 * 0.299 / count.sqrt(), "{square}");
}

#[test]
fn kernels_alone_make_the_random_numbers_of_their_twin() {
    expect_equal_random_numbers::<f32>();
    expect_equal_random_numbers::<f64>();
}

#[test]
fn random_vectors_belong_to_sites() {
    let made: Vec<Vec<Complex64>> = lattices()
        .iter()
        .map(|lattice| {
            let fine = fine_level::<f64>(lattice, SiteTerm::Scalar, 2);
            let spinors = fine.random(7).unwrap().to_host().unwrap();
            spinors.iter().flat_map(|spinor| spinor.0.as_flattened().to_vec()).collect()
        })
        .collect();
    // Devices have spinors in another basis.
    for other in &made[1..] {
        expect_close(other, &made[0], 1e-14, "random vectors");
    }
}

/// Expects equal results of kernels and twins from equal numbers.
fn expect_twins<R: Real>(bound: f64) {
    let lattices = lattices();
    let results = lattices.iter().map(|lattice| {
        let mut fine = fine_level::<R>(lattice, SiteTerm::Scalar, 2);
        let sites: usize = DIMS.iter().product();
        // Vectors that no device has computed.
        let vectors: Vec<_> = (0..VECTORS).map(|k| numbers::<R>(12 * sites, 31 * k)).collect();
        let groups = in_groups(fine.numbers(), &fine.parts(), &vectors, 1);
        let (transfer, raw, unscaled) = coarsened(&mut fine, &place(lattice), DIMS, BLOCK, &groups, VECTORS);
        let values = numbers::<R>(count(&transfer), 3);
        let vector = whole(&transfer, &values);
        let mut image = whole(&transfer, &values);
        unscaled.apply_from_ahead(&vector, &mut image, 2).unwrap();
        let mut fine_vector = fine.whole().unwrap();
        transfer.take(3, EVERY_SITE, &mut fine_vector).unwrap();
        let mut taken = whole(&transfer, &values);
        transfer.restrict(fine_vector.view(), Members::Last(2), &mut taken).unwrap();
        let [image, taken] = [&image, &taken].map(|vector| on_host(&transfer, vector));
        (transfer.kept().unwrap().into_whole(), raw.to_host(), image, taken)
    });
    let results: Vec<_> = results.collect();
    let (vectors, raw, image, taken) = &results[0];
    for (other_vectors, other, other_image, other_taken) in &results[1..] {
        expect_close(other_vectors, vectors, bound, "vectors");
        expect_close(other, raw, bound, "blocks");
        expect_close(other_image, image, bound, "a hop");
        expect_close(other_taken, taken, bound, "a column");
    }
}

#[test]
fn kernels_are_their_twins() {
    expect_twins::<f64>(1e-13);
}

/// In single precision devices keep vectors and blocks in 16 bits.
#[test]
fn kernels_with_numbers_in_16_bits_are_nearly_their_twins() {
    expect_twins::<f32>(2e-4);
}

#[test]
fn an_odd_coarse_lattice_has_a_system_on_all_sites() {
    let lattice = Lattice::new(&Team::host(), Dims::new([2, 4, 6, 2]).unwrap()).unwrap();
    let configuration = hot(lattice.dims(), 5);
    let links = lattice.gauge::<f64>(&configuration, Boundary::antiperiodic_t()).unwrap();
    let block = [2, 2, 2, 2];
    let mut fine = FineLevel::new(&Dirac::wilson(&links, Kappa(KAPPA)).unwrap(), block, 1).unwrap();
    let vectors = near_null(&fine, 0, VECTORS, 4);
    let mut made = coarsened(&mut fine, &Team::host(), [2, 4, 6, 2], block, &vectors, VECTORS);
    assert!(!made.0.lattice().has_parities());
    expect_identities(&mut fine, &made, true, "1x2x3x1 blocks");
    expect_system(&made.0, &mut made.1, &made.2);
    let numbers = fine.whole().unwrap();
    assert!(matches!(numbers, Numbers::Host(_)));
}

/// Kernels without an operator, on few sites: what Oclgrind can look at.
fn expect_kernels_alone<R: Real>(sources: usize, count: usize, bound: f64) {
    let finer_lattice = CoarseLattice::new([2, 2, 3, 2]);
    let (half, block) = (3, [2, 1, 3, 1]);
    let sites = finer_lattice.volume();
    let lattice = Arc::new(CoarseLattice::new([1, 2, 1, 2]));
    let vectors: Vec<_> = (0..count).map(|k| numbers::<R>(2 * half * sites, 31 * k)).collect();
    let fine = numbers::<R>(sources * 2 * half * sites, 5);
    let blocks = numbers::<R>(lattice.volume() * BLOCKS * 4 * count * count, 11);
    let device = Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap();
    let device = Team::of([device]);
    // A processor has many lanes, a GPU one.
    let results = [(Team::host(), 1), (device.clone(), 0), (device, 1)].map(|(place, lanes)| {
        let space = CoarseSpace::<R>::new(&place, &lattice, 2 * count, sources).unwrap();
        let lanes = if lanes == 0 { space.numbers.lanes } else { lanes };
        let space = space.with_numbers(SiteNumbers { lanes, ..space.numbers });
        let part = FinerPart {
            device: place.devices().first().cloned(),
            coordinates: (0..sites).map(|place| finer_lattice.coordinates(place)).collect(),
            sites: (0..sites).rev().collect(),
            order: (0..sites).rev().collect(),
            evens: sites / 3,
        };
        let finer = FinerNumbers { half, padded: 2 * half, lanes: 1 };
        let parts = FinerParts { own: vec![part], world: None };
        let levels = Levels { level: 0, finer, parts: &parts, block, lattice: &lattice, space: &space };
        let groups = in_groups(finer, &parts, &vectors, sources);
        let transfer = Transfer::new(&levels, Vectors::Made(&groups)).unwrap();
        let kept = transfer.kept().unwrap();
        let again = Transfer::new(&levels, Vectors::Kept(&kept)).unwrap();
        assert_eq!(again.kept().unwrap(), kept);
        let reals: &[R] = bytemuck::cast_slice(&fine);
        let mut numbers_of_fine = match place.devices().first() {
            None => Numbers::Host(reals.to_vec()),
            Some(device) => Numbers::Devices(vec![Buffer::from_slice(device, reals).unwrap()]),
        };
        let many = sources * lattice.volume() * 2 * count;
        let mut coarse = whole(&transfer, &numbers::<R>(many, 17));
        let mut found = kept.into_whole();
        for members in [Members::Evens, Members::All, Members::Last(2)] {
            transfer.restrict(numbers_of_fine.view(), members, &mut coarse).unwrap();
            found.extend(on_host(&transfer, &coarse));
        }
        let mut raw = RawBlocks::of_host(&space, &lattice, &blocks).unwrap();
        raw.set_columns(2, 1, &coarse, &space, &lattice).unwrap();
        raw.complete(&lattice, &[1, 3]).unwrap();
        found.extend(raw.to_host());
        let operator = CoarseOperator::raw(&space, &lattice, &raw).unwrap();
        let mut image = whole(&transfer, &numbers::<R>(many, 19));
        operator.apply_whole(&coarse, &mut image).unwrap();
        found.extend(on_host(&transfer, &image));
        let system = CoarseOperator::scaled(&space, &lattice, &mut raw, 1).unwrap();
        let kept = system.kept().unwrap();
        assert_eq!(CoarseOperator::of_kept(&space, &lattice, kept.clone()).unwrap().kept().unwrap(), kept);
        found.extend(kept.into_whole());
        let mut take_and_prolong = |then: &dyn Fn(&mut Numbers<R>)| {
            then(&mut numbers_of_fine);
            let reals = match &numbers_of_fine {
                Numbers::Host(numbers) => numbers.clone(),
                Numbers::Devices(buffers) => buffers[0].to_vec().unwrap(),
            };
            found.extend_from_slice(bytemuck::cast_slice::<R, Complex<R>>(&reals));
        };
        take_and_prolong(&|fine| transfer.take(3, 2, fine).unwrap());
        take_and_prolong(&|fine| transfer.prolong(&coarse, fine).unwrap());
        found
    });
    expect_close(&results[1], &results[0], bound, "kernels alone");
    expect_close(&results[2], &results[0], bound, "kernels with one lane");
}

#[test]
fn kernels_alone_are_their_twins() {
    expect_kernels_alone::<f64>(1, 3, 1e-12);
    expect_kernels_alone::<f32>(3, 9, 2e-4);
}

/// Vectors of which one is a multiple of another in one chirality, and a block of zeros.
#[test]
fn kernels_alone_notice_what_is_singular() {
    let lattice = Arc::new(CoarseLattice::new([1, 2, 1, 1]));
    let device = Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap();
    for place in [Team::host(), Team::of([device])] {
        let space = CoarseSpace::<f64>::new(&place, &lattice, 4, 1).unwrap();
        let mut blocks = numbers::<f64>(2 * BLOCKS * 16, 11);
        blocks[(BLOCKS + WITHIN) * 16..][..16].fill(Complex::default());
        let mut raw = RawBlocks::of_host(&space, &lattice, &blocks).unwrap();
        let error = CoarseOperator::scaled(&space, &lattice, &mut raw, 3).err().unwrap();
        assert!(matches!(error, SetupError::Singular { level: 3 }), "{error}");

        let finer_lattice = CoarseLattice::new([2, 4, 1, 1]);
        let part = FinerPart {
            device: place.devices().first().cloned(),
            coordinates: (0..8).map(|place| finer_lattice.coordinates(place)).collect(),
            sites: (0..8).collect(),
            order: (0..8).collect(),
            evens: 4,
        };
        let finer = FinerNumbers { half: 2, padded: 4, lanes: 1 };
        let parts = FinerParts { own: vec![part], world: None };
        let block = [2, 2, 1, 1];
        let levels = Levels { level: 0, finer, parts: &parts, block, lattice: &lattice, space: &space };
        let one = numbers::<f64>(32, 3);
        let mut other = numbers::<f64>(32, 40);
        other.iter_mut().zip(&one).skip(1).step_by(2).for_each(|(other, one)| *other = 3.0 * one);
        let groups = in_groups(finer, &parts, &[one, other], 1);
        let error = Transfer::new(&levels, Vectors::Made(&groups)).err().unwrap();
        assert!(matches!(error, SetupError::Dependent { level: 0, vectors: 2 }), "{error}");
    }
}

/// In one lane, as on GPUs, and in several.
fn expect_order_of_transfers<T: Storage>(bound: f64) {
    let device = Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap();
    for dims in [[2, 4, 2, 2], [2, 6, 2, 2]] {
        let lattice = Lattice::new(&Team::of([device.clone()]), Dims::new(dims).unwrap()).unwrap();
        let columns = [3, 4].map(|seed| -> Vec<Spinor<T::Real>> {
            let real = |z: Complex64| Complex::new(T::Real::from_f64(z.re), T::Real::from_f64(z.im));
            let spinors = crate::host::random::spinor_field(lattice.dims(), seed);
            spinors.iter().map(|psi| Spinor::from_fn(|s, c| real(psi.0[s][c]))).collect()
        });
        let mut numbers = plain_spinors::zero::<T::Real>(&lattice, true, columns.len()).unwrap();
        let of_parity = |spinors: &[Spinor<T::Real>], parity: usize| -> Vec<Spinor<T::Real>> {
            let sites = (0..spinors.len()).filter(|&site| lattice.dims().parity(site) == parity);
            sites.map(|site| spinors[site]).collect()
        };
        for parity in 0..2 {
            let own = columns.each_ref().map(|spinors| of_parity(spinors, parity)).concat();
            let field = lattice.parities_from_host::<T>(parity, columns.len(), &own).unwrap();
            plain_spinors::take(&field, &mut numbers).unwrap();
            let mut again = lattice.parities::<T>(parity, columns.len()).unwrap();
            plain_spinors::put(&numbers, &mut again).unwrap();
            for (again, spinor) in again.to_host().unwrap().iter().zip(&own) {
                expect_close(again.0.as_flattened(), spinor.0.as_flattened(), bound, "there and back");
            }
        }
        let in_order = |spinors: &Vec<_>| [0, 1].map(|parity| of_parity(spinors, parity)).concat();
        let mut expected: Vec<_> =
            columns.iter().flat_map(in_order).flat_map(|spinor| plain(&spinor)).collect();
        let read = |numbers: &Numbers<T::Real>| match numbers {
            Numbers::Devices(buffers) => {
                let numbers = buffers[0].to_vec().unwrap();
                bytemuck::cast_slice::<T::Real, Complex<T::Real>>(&numbers).to_vec()
            }
            Numbers::Host(_) => unreachable!("it is on a device"),
        };
        expect_close(&read(&numbers), &expected, bound, "the order");
        for mu in 0..NDIM {
            plain_spinors::project(&lattice, &mut numbers, mu).unwrap();
            project(&mut expected, &GAMMA[mu]);
            expect_close(&read(&numbers), &expected, 10.0 * bound, "a projection");
        }
        // A field of zeros has no unit.
        let zeros = plain_spinors::zero::<T::Real>(&lattice, false, 1).unwrap();
        let mut field = lattice.parities::<T>(0, 1).unwrap();
        plain_spinors::put(&zeros, &mut field).unwrap();
        assert!(field.to_host().unwrap().iter().all(|psi| *psi == Spinor::default()));
    }
}

#[test]
fn kernels_alone_put_spinors_into_the_order_of_transfers_and_back() {
    expect_order_of_transfers::<f64>(1e-15);
    expect_order_of_transfers::<Half>(1e-4);
}

#[test]
fn the_inverse_of_a_coarsest_system_is_one_with_and_without_parities() {
    let device = Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap();
    for extents in [[1, 2, 1, 2], [1, 3, 1, 1]] {
        let lattice = Arc::new(CoarseLattice::new(extents));
        let columns = 6;
        let blocks = numbers::<f64>(lattice.volume() * BLOCKS * columns * columns, 11);
        let results = [Team::host(), Team::of([device.clone()])].map(|place| {
            // Four right-hand sides at a time, which do not divide the numbers of the second lattice.
            let space = CoarseSpace::new(&place, &lattice, columns, 4).unwrap();
            let mut raw = RawBlocks::of_host(&space, &lattice, &blocks).unwrap();
            let system = CoarseOperator::scaled(&space, &lattice, &mut raw, 1).unwrap();
            let inverse = DenseInverse::new(&system, 1).unwrap();
            let kept = inverse.kept().unwrap();
            assert_eq!(DenseInverse::of_kept(&system, &kept).unwrap().kept().unwrap(), kept);
            let zero = || WholeVector::zero(system.coarse_space(), &lattice).unwrap();
            let (mut b, mut x, mut image) = (zero(), zero(), zero());
            let values = numbers::<f64>(4 * lattice.evens() * columns, 3);
            space.set(&mut b.even, &values).unwrap();
            inverse.apply(&b.even, &mut x.even).unwrap();
            system.apply(&x.even, &mut image.even).unwrap();
            let on_host = |vector: &WholeVector<f64>| space.to_host(&vector.even, lattice.evens()).unwrap();
            expect_close(&on_host(&image), &values, 1e-9, "S S⁻¹");
            on_host(&x)
        });
        expect_close(&results[1], &results[0], 1e-9, "S⁻¹ on a device");
    }
}
