//! Phases at the boundary: those of links multiplied on the host, in every storage, on every team, however it is cut.

use crate::common;

use common::reference::{number, reference};
use common::spinors::{Spinor, bound, distance, half, narrow, wide};
use lattice_cl::compute::Team;
use lattice_cl::geometry::{Boundary, Grid, Lattice, Theta};
use lattice_cl::host::random::{hot, spinor_field, weak};
use lattice_cl::host::{self, LinkField, Links, Matrix3, Reconstruction, StencilFactors};
use lattice_cl::operator::{Dirac, DiracOptions, HopEvenOdd, HopOptions, Kappa, SiteTerm};
use lattice_cl::solve::{CgParams, Inner, IterationPrecision, Preconditioning, cg};
use lattice_cl::{Dims, GaugeConfiguration, Half, Storage};
use num_complex::Complex64;
use std::f64::consts::PI;

const KAPPA: f64 = 0.13;

fn twisted(signs: [i8; 4], theta: [f64; 4]) -> Boundary {
    Boundary::from_signs(signs).unwrap().twisted(Theta::new(theta).unwrap())
}

/// Phases and signs in turn, so that each direction has both.
fn boundaries() -> [Boundary; 2] {
    [twisted([-1, 1, 1, -1], [0.3, 0.0, -0.7, 0.45]), twisted([1, -1, -1, 1], [0.0, 1.9, 0.0, 1.0])]
}

/// The links, each times the number that `phase` gives for its site and direction. They are not in SU(3).
fn multiplied(
    configuration: &GaugeConfiguration,
    phase: impl Fn([usize; 4], usize) -> Complex64,
) -> GaugeConfiguration {
    let dims = configuration.dims();
    let link = |k: usize| {
        let (link, phase) = (configuration.link(k / 4, k % 4), phase(dims.coordinates(k / 4), k % 4));
        Matrix3::from_fn(|i, j| link.0[i][j] * phase)
    };
    GaugeConfiguration::new(dims, Links::Double((0..4 * dims.volume()).map(link).collect()))
}

/// The stencil on the host with links that were multiplied by the phases.
fn by_host(
    configuration: &GaugeConfiguration,
    boundary: Boundary,
    factors: StencilFactors,
    psi: &[Spinor],
) -> Vec<Spinor> {
    let dims = configuration.dims();
    let phase = |x: [usize; 4], mu: usize| {
        let [sign, theta] = [f64::from(boundary.signs()[mu]), boundary.theta().angles()[mu]];
        if x[mu] + 1 == dims[mu] { sign * Complex64::cis(PI * theta) } else { 1.0.into() }
    };
    let links = LinkField::new(&multiplied(configuration, phase), Boundary::periodic());
    let mut out = vec![Spinor::default(); psi.len()];
    host::stencil(&links, factors, psi, &mut out);
    out
}

/// The operator, or its adjoint, on so many fields.
fn check_operator<T: Storage>(
    lattice: &Lattice,
    boundary: Boundary,
    reconstruction: Reconstruction,
    dagger: bool,
    columns: usize,
) {
    let dims = lattice.dims();
    let configuration = hot(dims, 1);
    let links = lattice.gauge_in::<T>(&configuration, boundary, reconstruction).unwrap();
    let options = DiracOptions::default().with_columns(columns);
    let mut dirac = Dirac::with_options(&links, Kappa(KAPPA), SiteTerm::Scalar, options).unwrap();
    if dagger {
        dirac = dirac.adjoint().unwrap();
    }
    let fields: Vec<_> = (0..columns as u64).map(|seed| spinor_field(dims, 2 + seed)).collect();
    let psi = lattice.spinors_from_host(columns, &narrow::<T>(&fields.concat())).unwrap();
    let mut out = lattice.spinors::<T>(columns).unwrap();
    dirac.apply(&psi, &mut out).unwrap();
    let factors = StencilFactors { dagger, ..StencilFactors::new(1.0, -KAPPA) };
    for (psi, found) in fields.iter().zip(wide::<T>(&out.to_host().unwrap()).chunks(dims.volume())) {
        let error = distance(found, &by_host(&configuration, boundary, factors, psi));
        let what = format!("{dims} {}, {} {reconstruction} reals, {boundary}", lattice.grid(), T::STORAGE);
        assert!(error < bound(T::STORAGE), "{what}, {columns} columns, dagger {dagger}: {error:e}");
    }
}

/// The hop to the sites of one parity.
fn check_hop<T: Storage>(
    lattice: &Lattice,
    boundary: Boundary,
    reconstruction: Reconstruction,
    parity: usize,
) {
    let dims = lattice.dims();
    let (configuration, psi) = (hot(dims, 3), spinor_field(dims, 4));
    let links = lattice.gauge_in::<T>(&configuration, boundary, reconstruction).unwrap();
    let factors = StencilFactors { gamma5: true, ..StencilFactors::new(0.0, 1.1) };
    let hop = HopEvenOdd::<T>::new(&links, parity, factors, HopOptions::default()).unwrap();
    let source = lattice.parity_from_host(1 - parity, &narrow::<T>(&half(&psi, dims, 1 - parity))).unwrap();
    let mut out = hop.target().unwrap();
    hop.apply(&source, None, &mut out).unwrap();
    let expected = half(&by_host(&configuration, boundary, factors, &psi), dims, parity);
    let error = distance(&wide::<T>(&out.to_host().unwrap()), &expected);
    let what = format!("{dims} {}, {} {reconstruction} reals, {boundary}", lattice.grid(), T::STORAGE);
    assert!(error < bound(T::STORAGE), "{what}, hop to {parity}: {error:e}");
}

#[test]
fn every_storage_has_the_phases() {
    use Reconstruction::{Eight, None, Twelve};
    let [first, second] = boundaries();
    let dims = Dims::new(if common::small() { [2, 2, 4, 2] } else { [4, 2, 6, 8] }).unwrap();
    // Several devices are below.
    for (_, team) in common::teams().into_iter().filter(|(_, team)| team.len() < 2) {
        let lattice = Lattice::new(&team, dims).unwrap();
        check_operator::<f64>(&lattice, first, None, false, 1);
        check_operator::<f64>(&lattice, first, Twelve, true, 1);
        check_operator::<f64>(&lattice, second, Eight, false, 2);
        check_operator::<Half>(&lattice, first, None, false, 1);
        check_hop::<f32>(&lattice, first, Eight, 0);
        check_hop::<f32>(&lattice, second, None, 1);
        check_hop::<Half>(&lattice, first, Twelve, 1);
        check_hop::<Half>(&lattice, second, Eight, 0);
    }
}

/// With one lane and shared links.
#[test]
fn gpus_have_the_phases() {
    let dims = Dims::new(if common::small() { [2, 2, 4, 2] } else { [4, 2, 6, 8] }).unwrap();
    for device in common::taken_for_gpus() {
        let lattice = Lattice::new(&Team::from(device), dims).unwrap();
        let [first, second] = boundaries();
        check_operator::<f64>(&lattice, first, Reconstruction::Twelve, false, 1);
        check_hop::<Half>(&lattice, second, Reconstruction::Eight, 1);
    }
}

/// Faces in each direction, between domains and around the lattice.
#[test]
fn a_lattice_may_be_cut_where_there_are_phases() {
    use Reconstruction::{Eight, None, Twelve};
    let cuts: &[([usize; 4], [usize; 4])] = match common::small() {
        true => &[([4, 2, 2, 4], [2, 1, 1, 2])],
        false => &[
            ([6, 2, 4, 2], [2, 1, 1, 1]),
            ([2, 6, 2, 4], [1, 3, 1, 1]),
            ([4, 2, 6, 4], [1, 1, 2, 1]),
            ([2, 4, 2, 10], [1, 1, 1, 3]),
        ],
    };
    for &(extents, grid) in cuts {
        let grid = Grid::new(grid).unwrap();
        let team = common::team_of(grid.count());
        let lattice = Lattice::with_grid(&team, Dims::new(extents).unwrap(), grid).unwrap();
        let [first, second] = boundaries();
        check_operator::<f64>(&lattice, first, Twelve, false, 1);
        check_operator::<f64>(&lattice, second, None, false, 1);
        check_hop::<f32>(&lattice, second, Eight, 1);
        check_hop::<Half>(&lattice, first, Eight, 0);
    }
}

#[test]
fn phases_that_are_signs_give_the_bits_of_signs() {
    let dims = Dims::new([2, 4, 2, 4]).unwrap();
    let (configuration, psi) = (hot(dims, 5), spinor_field(dims, 6));
    let signs = Boundary::from_signs([-1, 1, 1, -1]).unwrap();
    let angles = twisted([1, -1, 1, 1], [1.0, -1.0, 2.0, -3.0]);
    // A team of one and a team of two, and the host.
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() < 3) {
        let lattice = Lattice::new(&team, dims).unwrap();
        for reconstruction in [Reconstruction::None, Reconstruction::Twelve] {
            let apply = |boundary| {
                let links = lattice.gauge_in::<f64>(&configuration, boundary, reconstruction).unwrap();
                let mut out = lattice.spinor().unwrap();
                let dirac = Dirac::wilson(&links, Kappa(KAPPA)).unwrap();
                dirac.apply(&lattice.spinor_from_host(&psi).unwrap(), &mut out).unwrap();
                out.to_host().unwrap()
            };
            assert!(apply(signs) == apply(angles), "{name}, {reconstruction} reals");
        }
    }
}

/// Codes such as tmLQCD have e^{iθ/L} on every link. Their propagator is ours times e^{−iθ(x−y)/L}.
#[test]
fn spread_phases_are_a_gauge_transformation_away() {
    let dims = Dims::new([2, 4, 2, 6]).unwrap();
    let configuration = weak(dims, 0.3, 7);
    let theta = [0.4, -0.3, 0.25, 1.0];
    let y = [1, 2, 0, 4];
    let solve = |configuration: &GaugeConfiguration, boundary, reconstruction, precision| {
        let lattice = Lattice::new(&common::teams()[1].1, dims).unwrap();
        let links = lattice.gauge_in::<f64>(configuration, boundary, reconstruction).unwrap();
        let dirac = Dirac::wilson(&links, Kappa(0.12)).unwrap();
        let b = lattice.point_source::<f64>(y, 1, 2).unwrap();
        let preconditioning = Preconditioning::EvenOdd;
        let params = CgParams::default()
            .with_tol(1e-12)
            .with_precision(precision)
            .with_preconditioning(preconditioning);
        cg(&dirac, &b, &params).unwrap().0.to_host().unwrap()
    };
    let angle = |mu: usize| PI * theta[mu] / dims[mu] as f64;
    let spread = multiplied(&configuration, |_, mu| Complex64::cis(angle(mu)));
    let double = IterationPrecision::Double;
    let theirs = solve(&spread, Boundary::periodic(), Reconstruction::None, double);
    let boundary = twisted([1; 4], theta);
    for (reconstruction, precision) in [
        (Reconstruction::None, double),
        (Reconstruction::Eight, IterationPrecision::Mixed(Inner::Half)),
        (Reconstruction::Twelve, IterationPrecision::Mixed(Inner::Single)),
    ] {
        let ours = solve(&configuration, boundary, reconstruction, precision);
        let turned: Vec<Spinor> = ours
            .iter()
            .enumerate()
            .map(|(site, psi)| {
                let x = dims.coordinates(site);
                let angle: f64 = (0..4).map(|mu| angle(mu) * (x[mu] as f64 - y[mu] as f64)).sum();
                Spinor::from_fn(|s, c| psi.0[s][c] * Complex64::cis(-angle))
            })
            .collect();
        let error = distance(&turned, &theirs);
        assert!(error < 1e-10, "{reconstruction} reals in {precision}: {error:e}");
        assert!(distance(&ours, &theirs) > 0.01, "phases matter");
    }
}

/// Σ|S|² of Chroma for free quarks with phases e^{0.2πi} in x and e^{0.4πi} in y.
#[test]
fn a_free_quark_with_phases_is_that_of_chroma() {
    let Some(reference) = reference() else { return };
    let all = reference["published"].as_array().unwrap();
    let entry = all.iter().find(|entry| entry["id"] == "chroma prec_wilson-twisted").unwrap();
    let dims = Dims::new([4, 4, 4, 8]).unwrap();
    let (kappa, boundary) = (0.1, twisted([1; 4], [0.2, 0.4, 0.0, 0.0]));
    let lattice = Lattice::new(&Team::host(), dims).unwrap();
    let links = lattice.gauge::<f64>(&GaugeConfiguration::unit(dims), boundary).unwrap();
    let dirac = Dirac::wilson(&links, Kappa(kappa)).unwrap();
    let mut sums = vec![0.0; dims[3]];
    for (spin, colour) in (0..4).flat_map(|spin| (0..3).map(move |colour| (spin, colour))) {
        let b = lattice.point_source::<f64>([0; 4], spin, colour).unwrap();
        let (x, _) = cg(&dirac, &b, &CgParams::default().with_tol(1e-12)).unwrap();
        for (site, psi) in x.to_host().unwrap().iter().enumerate() {
            sums[dims.coordinates(site)[3]] += psi.norm2();
        }
    }
    for (t, expected) in entry["published"].as_array().unwrap().iter().enumerate() {
        // Mass normalisation.
        let found = 4.0 * kappa * kappa * sums[t];
        let relative = found / number(expected) - 1.0;
        assert!(relative.abs() < number(&entry["tolerance"]), "t = {t}: {found}, {expected}");
        let exact = number(&entry["reference"][t]);
        assert!((found / exact - 1.0).abs() < 1e-10, "t = {t}: {found}, {exact}");
    }
}
