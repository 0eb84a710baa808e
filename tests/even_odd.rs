//! The hop from one parity to the other, and links stored in fewer reals, on every team against the double twin.

mod common;

use lattice_cl::device::Team;
use lattice_cl::dirac::{CrParams, HopEvenOdd, HopOptions, Kappa, Wilson, cr};
use lattice_cl::host::random::{hot, spinor_field};
use lattice_cl::host::{self, Boundary, LinkField, Matrix3, Reconstruction, WilsonForm};
use lattice_cl::lattice::{Lattice, LatticeError};
use lattice_cl::observables::PionCorrelator;
use lattice_cl::{Dims, GaugeConfiguration, Half, Storage, StoragePrecision};
use num_complex::Complex64;

type Spinor = host::Spinor<f64>;

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

fn half(field: &[Spinor], dims: Dims, parity: usize) -> Vec<Spinor> {
    (0..dims.volume()).filter(|&site| dims.parity(site) == parity).map(|site| field[site]).collect()
}

fn distance(a: &[Spinor], b: &[Spinor]) -> f64 {
    let difference: f64 =
        a.iter().zip(b).map(|(a, b)| Spinor::from_fn(|s, c| a.0[s][c] - b.0[s][c]).norm2()).sum();
    (difference / b.iter().map(Spinor::norm2).sum::<f64>()).sqrt()
}

/// The hop as the full operator has it: H on a field that is zero on the sites of `parity`, plus the shift.
fn by_full_operator(
    configuration: &GaugeConfiguration,
    form: WilsonForm,
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
    host::wilson(&links, form, &masked, &mut out);
    half(&out, dims, parity)
}

/// A form with every option each way: parity, dagger, γ5, shift, sources. Few, because each is a kernel to compile.
type Case = (usize, bool, bool, bool, usize);

const CASES: [Case; 2] = [(0, false, false, false, 1), (1, true, true, true, 3)];

fn check<T: Storage>(
    team: &Team,
    name: &str,
    configuration: &GaugeConfiguration,
    reconstructions: &[Reconstruction],
    cases: &[Case],
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
    for &reconstruction in reconstructions {
        let links = lattice.gauge_in::<T>(configuration, boundary(), reconstruction).unwrap();
        for &(parity, dagger, gamma5, shift, sources) in cases {
            let fields = |seed: u64| -> Vec<Vec<Spinor>> {
                (0..sources as u64).map(|source| spinor_field(dims, seed + source)).collect()
            };
            let (psi, other) = (fields(1), fields(100));
            let form = WilsonForm { shift: 1.3, coefficient: -0.7, dagger, gamma5 };
            let source = lattice.parities_from_host(1 - parity, sources, &cast(&psi, 1 - parity)).unwrap();
            let shifted = lattice.parities_from_host(parity, sources, &cast(&other, parity)).unwrap();
            let shifted = shift.then_some(&shifted);
            let options = HopOptions { shift, sources, ..Default::default() };
            let hop = HopEvenOdd::<T>::new(&links, parity, form, options).unwrap();
            let mut out = hop.target().unwrap();
            hop.apply(&source, shifted, &mut out).unwrap();
            let found: Vec<Spinor> = out.to_host().unwrap().iter().map(host::Spinor::cast).collect();
            for (k, found) in found.chunks(dims.volume() / 2).enumerate() {
                let shifted = shift.then_some(other[k].as_slice());
                let expected = by_full_operator(configuration, form, parity, &psi[k], shifted);
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
                _ => [&[Reconstruction::Twelve], &[Reconstruction::None], &[Reconstruction::Eight]],
            };
            check::<f64>(&team, &name, &configuration, double, &CASES);
            check::<f32>(&team, &name, &configuration, single, &CASES);
            check::<Half>(&team, &name, &configuration, half, &CASES);
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
            check::<f64>(&team, &name, configuration, fewer, &CASES[..1]);
            check::<f32>(&team, &name, configuration, fewer, &CASES[..1]);
            check::<Half>(&team, &name, configuration, fewer, &CASES[..1]);
        }
    }
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
            let wilson = Wilson::new(&links, Kappa(0.12)).unwrap();
            let source = lattice.point_source([0; 4], 0, 0).unwrap();
            let (x, _) = cr(&wilson, &source, &CrParams { tol: 1e-12, ..Default::default() }).unwrap();
            let mut correlator = PionCorrelator::new(dims, 3, 0);
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
