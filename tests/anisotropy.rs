//! Anisotropic lattices: against the definition, against a correlator of Chroma, in every storage and cut.

use crate::common;

use common::reference::{gamma5, number, reference};
use common::spinors::{Spinor, distance};
use lattice_cl::compute::Team;
use lattice_cl::geometry::{Anisotropy, Boundary, Grid, Lattice, PLANES, Theta};
use lattice_cl::host::random::{hot, spinor_field, weak};
use lattice_cl::host::{self, CloverBlocks, FieldStrength, LinkField, Links, Matrix3, Reconstruction, gamma};
use lattice_cl::io::read_gauge;
use lattice_cl::operator::{Dirac, DiracError, Kappa, Mass, SiteTerm};
use lattice_cl::solve::{CgParams, Inner, IterationPrecision, Preconditioning, cg};
use lattice_cl::{Dims, GaugeConfiguration, Half, Storage, StoragePrecision};
use num_complex::Complex64;

const KAPPA: f64 = 0.12;
/// c_R and c_T.
const CLOVER: [f64; 2] = [0.91, 1.07];

fn anisotropy() -> Anisotropy {
    Anisotropy::new(2.464, 0.95).unwrap()
}

fn boundary() -> Boundary {
    Boundary::antiperiodic_t().twisted(Theta::new([0.0, 0.3, 0.0, 0.0]).unwrap())
}

/// M ψ in κ normalisation, from the definition.
///
/// Every hop has its weight and its spin matrix, every plane its coefficient.
fn by_definition(configuration: &GaugeConfiguration, mu: f64, psi: &[Spinor]) -> Vec<Spinor> {
    let dims = configuration.dims();
    let (xi0, ratio) = (anisotropy().xi0(), anisotropy().nu() / anisotropy().xi0());
    let links = LinkField::<f64>::new(configuration, boundary());
    let weights = PLANES.map(|(_, nu)| if nu == 3 { CLOVER[1] } else { CLOVER[0] / xi0 });
    let mass = 0.5 / KAPPA - 4.0;
    let turned = gamma5(psi);
    (0..dims.volume())
        .map(|x| {
            let f = FieldStrength::at(configuration, x);
            let clover =
                CloverBlocks::of_field_strength(&f.0, mass + 1.0 + 3.0 * ratio, 0.5, weights).times(&psi[x]);
            let mut sum =
                Spinor::from_fn(|s, c| clover.0[s][c] + Complex64::new(0.0, mu) * turned[x].0[s][c]);
            for direction in 0..4 {
                let (ahead, behind) = (dims.forward(x, direction), dims.backward(x, direction));
                let times = |u: &Matrix3<f64>, psi: &Spinor| host::Spinor(psi.0.map(|v| u.times(&v)));
                let forward = times(links.link(x, direction), &psi[ahead]);
                let backward = times(&links.link(behind, direction).adjoint(), &psi[behind]);
                let spin = |psi: &Spinor| gamma::spin_times(&gamma::GAMMA[direction], psi);
                let (f, b) = (spin(&forward), spin(&backward));
                let weight = if direction == 3 { 0.5 } else { 0.5 * ratio };
                sum = Spinor::from_fn(|s, c| {
                    let hops = forward.0[s][c] - f.0[s][c] + backward.0[s][c] + b.0[s][c];
                    sum.0[s][c] - hops * weight
                });
            }
            Spinor::from_fn(|s, c| sum.0[s][c] * (2.0 * KAPPA))
        })
        .collect()
}

fn operator<T: Storage>(
    lattice: &Lattice,
    configuration: &GaugeConfiguration,
    reconstruction: Reconstruction,
    mu: f64,
) -> Dirac<T> {
    let links = lattice.gauge_in::<T>(configuration, boundary(), reconstruction).unwrap();
    let weights = [CLOVER[0] / anisotropy().xi0(), CLOVER[1]];
    let links =
        links.with_anisotropy(anisotropy()).with_weighted_clover(configuration.clone(), weights).unwrap();
    Dirac::new(&links, Kappa(KAPPA), SiteTerm::Clover { csw: 1.0, mu }).unwrap()
}

/// M, and M† as γ5 M(−μ) γ5.
fn check<T: Storage>(lattice: &Lattice, reconstruction: Reconstruction) {
    let dims = lattice.dims();
    let (configuration, psi) = (hot(dims, 1), spinor_field(dims, 2));
    let mu = 0.2;
    let m = operator::<T>(lattice, &configuration, reconstruction, mu);
    let narrow: Vec<host::Spinor<T::Real>> = psi.iter().map(Spinor::cast).collect();
    let there = lattice.spinor_from_host::<T>(&narrow).unwrap();
    let bound = match T::STORAGE {
        StoragePrecision::Double => 1e-14,
        StoragePrecision::Single => 1e-6,
        StoragePrecision::Half => 1e-3,
    };
    let adjoint = gamma5(&by_definition(&configuration, -mu, &gamma5(&psi)));
    let expected = by_definition(&configuration, mu, &psi);
    for (m, expected, what) in [(&m, expected, "M"), (&m.adjoint().unwrap(), adjoint, "M†")] {
        let mut out = lattice.spinor::<T>().unwrap();
        m.apply(&there, &mut out).unwrap();
        let found: Vec<Spinor> = out.to_host().unwrap().iter().map(host::Spinor::cast).collect();
        let error = distance(&found, &expected);
        let (grid, storage) = (lattice.grid(), T::STORAGE);
        assert!(error < bound, "{what}, {dims} {grid}, {storage} {reconstruction} reals: {error:e}");
    }
}

#[test]
fn the_operator_is_its_definition() {
    use Reconstruction::{Eight, None, Twelve};
    let dims = Dims::new(if common::small() { [2, 2, 4, 2] } else { [4, 2, 6, 4] }).unwrap();
    for (_, team) in common::teams().into_iter().filter(|(_, team)| team.len() < 2) {
        let lattice = Lattice::new(&team, dims).unwrap();
        check::<f64>(&lattice, None);
        check::<f64>(&lattice, Twelve);
        check::<f32>(&lattice, Eight);
        check::<Half>(&lattice, None);
    }
    let grid = Grid::new([2, 1, 1, 2]).unwrap();
    let dims = Dims::new([4, 2, 2, 4]).unwrap();
    let lattice = Lattice::with_grid(&common::team_of(grid.count()), dims, grid).unwrap();
    check::<f64>(&lattice, Twelve);
}

#[test]
fn an_isotropic_lattice_keeps_its_bits() {
    let dims = Dims::new([2, 4, 2, 4]).unwrap();
    let (configuration, psi) = (hot(dims, 3), spinor_field(dims, 4));
    let isotropic = Anisotropy::new(1.0, 1.0).unwrap();
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() < 3) {
        let lattice = Lattice::new(&team, dims).unwrap();
        let plain = || lattice.gauge::<f64>(&configuration, Boundary::antiperiodic_t()).unwrap();
        let apply = |links, coupling: lattice_cl::operator::Coupling| {
            let m = Dirac::clover(&links, coupling, 1.3).unwrap();
            let mut out = lattice.spinor().unwrap();
            m.apply(&lattice.spinor_from_host(&psi).unwrap(), &mut out).unwrap();
            out.to_host().unwrap()
        };
        for coupling in [Kappa(0.13).into(), Mass(-0.1).into()] {
            let before = apply(plain().with_clover(configuration.clone()).unwrap(), coupling);
            let links = plain().with_anisotropy(isotropic);
            let after = apply(links.with_weighted_clover(configuration.clone(), [1.0; 2]).unwrap(), coupling);
            assert!(before == after, "{name}");
        }
    }
}

#[test]
fn preconditioned_solves_meet_the_definition() {
    let dims = Dims::new([2, 4, 2, 6]).unwrap();
    let configuration = weak(dims, 0.3, 5);
    let cases = [
        (Preconditioning::EvenOdd, IterationPrecision::Double, Reconstruction::None, 0.0),
        (
            Preconditioning::EvenOddSymmetric,
            IterationPrecision::Mixed(Inner::Half),
            Reconstruction::Eight,
            0.1,
        ),
    ];
    // The host, and a device.
    for ((_, team), (preconditioning, precision, reconstruction, mu)) in
        common::teams().into_iter().zip(cases)
    {
        let lattice = Lattice::new(&team, dims).unwrap();
        let source = lattice.point_source::<f64>([1, 2, 0, 3], 1, 2).unwrap();
        let b = source.to_host().unwrap();
        let m = operator::<f64>(&lattice, &configuration, reconstruction, mu);
        let params = CgParams::default()
            .with_tol(1e-11)
            .with_precision(precision)
            .with_preconditioning(preconditioning);
        let (x, _) = cg(&m, &source, &params).unwrap();
        let error = distance(&by_definition(&configuration, mu, &x.to_host().unwrap()), &b);
        assert!(error < 1e-10, "{preconditioning} {precision}: {error:e}");
    }
}

#[test]
fn a_mass_without_an_operator_is_refused() {
    let dims = Dims::new([2; 4]).unwrap();
    let lattice = Lattice::new(&Team::host(), dims).unwrap();
    let links = lattice.gauge::<f64>(&GaugeConfiguration::unit(dims), Boundary::periodic()).unwrap();
    let links = links.with_anisotropy(Anisotropy::new(3.0, 1.0).unwrap());
    // 1 − 6κ(1 − 1/3) = 0 at κ = 1/4, where m = −2.
    assert!(Dirac::wilson(&links, Kappa(0.249)).is_ok());
    for refused in [Dirac::wilson(&links, Kappa(0.26)), Dirac::wilson(&links, Mass(-2.1))] {
        let Err(DiracError::Coupling(error)) = refused else { panic!("it is an operator") };
        assert!(error.to_string().contains("must be positive"), "{error}");
    }
}

/// The product of two matrices.
fn product(a: &Matrix3<f64>, b: &Matrix3<f64>) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| (0..3).map(|k| a.0[i][k] * b.0[k][j]).sum())
}

/// U_k → exp(TA(ρ C_k U_k†)) U_k for the directions of space, with staples in space (C. Morningstar and M. Peardon, hep-lat/0311018).
fn stout_in_space(configuration: &GaugeConfiguration, rho: f64) -> GaugeConfiguration {
    let dims = configuration.dims();
    let u = |site: usize, mu: usize| configuration.link(site, mu);
    let smeared = |k: usize| {
        let (x, mu) = (k / 4, k % 4);
        if mu == 3 {
            return u(x, 3);
        }
        let mut staples = Matrix3::<f64>::from_fn(|_, _| Complex64::default());
        for nu in (0..3).filter(|&nu| nu != mu) {
            let (over, beside) = (dims.forward(x, nu), dims.forward(x, mu));
            let below = dims.backward(x, nu);
            let above = product(&product(&u(x, nu), &u(over, mu)), &u(beside, nu).adjoint());
            let under = product(&u(below, nu).adjoint(), &u(below, mu));
            let under = product(&under, &u(dims.forward(below, mu), nu));
            staples = Matrix3::from_fn(|i, j| staples.0[i][j] + above.0[i][j] + under.0[i][j]);
        }
        let omega = product(&staples, &u(x, mu).adjoint()).scale(rho);
        let anti = Matrix3::from_fn(|i, j| (omega.0[i][j] - omega.0[j][i].conj()) * 0.5);
        let trace = (0..3).map(|i| anti.0[i][i]).sum::<Complex64>() / 3.0;
        let q = Matrix3::from_fn(|i, j| if i == j { anti.0[i][j] - trace } else { anti.0[i][j] });
        // The exponential as its series; q is small.
        let mut term = Matrix3::from_fn(|i, j| Complex64::from(f64::from(u8::from(i == j))));
        let mut exponential = term;
        for n in 1..30 {
            term = product(&term, &q).scale(1.0 / f64::from(n));
            exponential = Matrix3::from_fn(|i, j| exponential.0[i][j] + term.0[i][j]);
        }
        product(&exponential, &u(x, mu))
    };
    GaugeConfiguration::new(dims, Links::Double((0..4 * dims.volume()).map(smeared).collect()))
}

/// [(1 − 6c) + c H]^n with c = w²/(4n): Chroma's gauge-invariant Gaussian smearing.
fn gaussian(configuration: &GaugeConfiguration, psi: &[Spinor], width: f64, n: i32) -> Vec<Spinor> {
    let dims = configuration.dims();
    let c = width * width / f64::from(4 * n);
    let mut psi = psi.to_vec();
    for _ in 0..n {
        let hopped = |x: usize| {
            let mut sum = Spinor::from_fn(|s, k| psi[x].0[s][k] * (1.0 - 6.0 * c));
            for mu in 0..3 {
                let (ahead, behind) = (dims.forward(x, mu), dims.backward(x, mu));
                let forward = psi[ahead].0.map(|v| configuration.link(x, mu).times(&v));
                let backward = psi[behind].0.map(|v| configuration.link(behind, mu).adjoint().times(&v));
                sum = Spinor::from_fn(|s, k| sum.0[s][k] + (forward[s][k] + backward[s][k]) * c);
            }
            sum
        };
        psi = (0..dims.volume()).map(hopped).collect();
    }
    psi
}

/// Σ|S|² of Chroma with ξ0, ν, c_R and c_T that all differ from 1, on links smeared in space, from a Gaussian source.
#[test]
fn an_anisotropic_clover_quark_is_that_of_chroma() {
    let Some(reference) = reference() else { return };
    let all = reference["published"].as_array().unwrap();
    let entry = all.iter().find(|entry| entry["id"] == "chroma seoprec_clover-stout3d").unwrap();
    let file = common::shared().unwrap().join("data").join(entry["file"].as_str().unwrap());
    let configuration = read_gauge(file).unwrap();
    let dims = configuration.dims();
    let smeared = stout_in_space(&stout_in_space(&configuration, 0.22), 0.22);
    let kappa = 0.115;
    let lattice = Lattice::new(&Team::host(), dims).unwrap();
    let links = lattice.gauge::<f64>(&smeared, Boundary::antiperiodic_t()).unwrap();
    let weights = [CLOVER[0] / anisotropy().xi0(), CLOVER[1]];
    let links = links.with_anisotropy(anisotropy()).with_weighted_clover(smeared, weights).unwrap();
    let dirac = Dirac::clover(&links, Kappa(kappa), 1.0).unwrap();
    let mut sums = vec![0.0; dims[3]];
    for (spin, colour) in (0..4).flat_map(|spin| (0..3).map(move |colour| (spin, colour))) {
        let point = lattice.point_source::<f64>([0; 4], spin, colour).unwrap();
        let source = gaussian(&configuration, &point.to_host().unwrap(), 2.0, 5);
        let b = lattice.spinor_from_host(&source).unwrap();
        let params = CgParams::default().with_tol(1e-12).with_preconditioning(Preconditioning::EvenOdd);
        let (x, _) = cg(&dirac, &b, &params).unwrap();
        for (site, psi) in x.to_host().unwrap().iter().enumerate() {
            sums[dims.coordinates(site)[3]] += psi.norm2();
        }
    }
    for (t, sum) in sums.iter().enumerate() {
        // Mass normalisation.
        let found = 4.0 * kappa * kappa * sum;
        let theirs = found / number(&entry["published"][t]) - 1.0;
        assert!(theirs.abs() < number(&entry["tolerance"]), "t = {t}: {found}, {theirs:e}");
        let exact = found / number(&entry["reference"][t]) - 1.0;
        assert!(exact.abs() < 1e-10, "t = {t}: {found}, {exact:e}");
    }
}
