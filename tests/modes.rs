//! The lowest modes of Dirac operators, their files, and deflation by them.

use crate::common;

use common::{all_combinations, shared, team_of, teams};
use lattice_cl::compute::{DeviceError, Team};
use lattice_cl::field::{SpinorField, StoredField};
use lattice_cl::geometry::{Boundary, Lattice};
use lattice_cl::host::{Spinor, random};
use lattice_cl::io::read_gauge;
use lattice_cl::job::{Action, Deflation, Job, Method, Problem, Task};
use lattice_cl::modes::{DiracModes, ModesError, ModesFileError, ModesParams};
use lattice_cl::operator::{Dirac, Kappa, SchurSymmetry, SiteTerm, System};
use lattice_cl::solve::{
    BlockCgParams, CgParams, Checkpoints, Inner, InvertError, IterationPrecision, Preconditioning,
    SolveParams, block_cg, block_cg_from, cg, solve_from,
};
use lattice_cl::{Dims, GaugeConfiguration};
use lattice_solvers::{LinearOperator, SolverInfo, SolverState, SquareMatrix, VectorOf, VectorSpace, Wish};
use num_complex::Complex64;
use std::f64::consts::PI;
use std::sync::Arc;

fn dirac(lattice: &Lattice, links: &Arc<GaugeConfiguration>, kappa: f64, term: SiteTerm) -> Dirac<f64> {
    let field = lattice.gauge::<f64>(links, Boundary::antiperiodic_t()).unwrap();
    let field = if term.csw() != 0.0 { field.with_clover(Arc::clone(links)).unwrap() } else { field };
    Dirac::new(&field, Kappa(kappa), term).unwrap()
}

/// The host and one device, or every team if all combinations are wanted.
fn few_teams() -> Vec<(String, Team)> {
    if all_combinations() {
        return teams();
    }
    vec![("host".to_owned(), Team::host()), ("one device".to_owned(), team_of(1))]
}

fn find(dirac: &Dirac<f64>, params: &ModesParams) -> DiracModes {
    DiracModes::find(dirac, params, &mut |_| (), None).unwrap().0
}

/// Eigenvalues of M†M without interaction, each as often as it occurs, and κ H(p) with them.
///
/// M(p) = 1 − 2κ Σ cos p + 2iκ (Σ γ sin p + μ γ5).
fn free(extents: [usize; 4], kappa: f64, mu: f64) -> Vec<f64> {
    let dims = Dims::new(extents).unwrap();
    let mut values = Vec::new();
    for site in 0..dims.volume() {
        let n = dims.coordinates(site);
        let momentum =
            |mu: usize| PI * (2.0 * n[mu] as f64 + if mu == 3 { 1.0 } else { 0.0 }) / extents[mu] as f64;
        let cosines: f64 = (0..4).map(|mu| momentum(mu).cos()).sum();
        let sines: f64 = (0..4).map(|mu| momentum(mu).sin().powi(2)).sum();
        let value = (1.0 - 2.0 * kappa * cosines).powi(2) + 4.0 * kappa * kappa * (sines + mu * mu);
        values.extend([value; 12]);
    }
    values.sort_by(f64::total_cmp);
    values
}

#[test]
fn modes_without_interaction_are_those_of_the_closed_form() {
    let kappa = 0.115;
    // All momenta of a small lattice: every mode there is.
    let extents = [2, 2, 2, 2];
    let team = Team::host();
    for (term, mu) in [(SiteTerm::Scalar, 0.0), (SiteTerm::Twisted { mu: 0.3 }, 0.3)] {
        let lattice = Lattice::new(&team, Dims::new(extents).unwrap()).unwrap();
        let dirac = dirac(&lattice, &Arc::new(random::cold(lattice.dims())), kappa, term);
        let expected = free(extents, kappa, mu);
        let params = ModesParams::new(expected.len())
            .with_preconditioning(Preconditioning::None)
            .with_block(24)
            .with_degree(0);
        let modes = find(&dirac, &params);
        assert_eq!(modes.count(), expected.len());
        for (found, expected) in modes.values().iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-12, "{term:?}: {found} {expected}");
        }
    }
    // The lowest of a larger one.
    let extents = [4, 2, 2, 6];
    for (name, team) in few_teams() {
        let lattice = Lattice::new(&team, Dims::new(extents).unwrap()).unwrap();
        let dirac = dirac(&lattice, &Arc::new(random::cold(lattice.dims())), kappa, SiteTerm::Scalar);
        let expected = free(extents, kappa, 0.0);
        let params = ModesParams::new(14).with_preconditioning(Preconditioning::None).with_block(12);
        let modes = find(&dirac, &params);
        for (found, expected) in modes.values().iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-12, "{name}: {found} {expected}");
        }
        let hermitian = params.with_system(System::Hermitian);
        let modes = find(&dirac, &hermitian);
        for (found, expected) in modes.values().iter().zip(&expected) {
            assert!((found.abs() - expected.sqrt()).abs() < 1e-12, "{name}: {found} {expected}");
        }
    }
}

/// Makes the matrix of an operator on all sites, or on the even ones.
fn matrix<A>(
    operator: &A,
    of_unit: impl Fn(usize) -> VectorOf<A>,
    host: impl Fn(&VectorOf<A>) -> Vec<Spinor<f64>>,
) -> SquareMatrix
where
    A: LinearOperator<Space: VectorSpace<Error = DeviceError>>,
{
    let n = operator.space().dimension();
    let mut image = operator.space().zero_vector().unwrap();
    let columns: Vec<Vec<Complex64>> = (0..n)
        .map(|k| {
            operator.apply(&of_unit(k), &mut image).unwrap();
            host(&image).iter().flat_map(|spinor| spinor.0.into_iter().flatten()).collect()
        })
        .collect();
    SquareMatrix::from_fn(n, |i, j| columns[j][i])
}

fn unit(sites: usize, k: usize) -> Vec<Spinor<f64>> {
    let mut spinors = vec![Spinor::default(); sites];
    spinors[k / 12].0[k % 12 / 3][k % 3] = 1.0.into();
    spinors
}

/// Returns all eigenvalues of M†M or γ5M, by a dense solve of the host.
fn dense(dirac: &Dirac<f64>, system: System, preconditioning: Preconditioning) -> Vec<f64> {
    let lattice = dirac.lattice();
    let sites = lattice.dims().volume();
    let of_unit = |k| lattice.spinor_from_host(&unit(sites, k)).unwrap();
    let host = |x: &SpinorField<f64>| x.to_host().unwrap();
    let matrix = match (preconditioning, system) {
        (Preconditioning::None, System::Hermitian) => matrix(&dirac.times_gamma5().unwrap(), of_unit, host),
        (Preconditioning::None, _) => matrix(&dirac.normal().unwrap(), of_unit, host),
        (preconditioning, _) => {
            let symmetry = match preconditioning {
                Preconditioning::EvenOdd => SchurSymmetry::Asymmetric,
                _ => SchurSymmetry::Symmetric,
            };
            let operator = dirac.schur_complement_in(symmetry).unwrap().normal().unwrap();
            let of_unit = |k| lattice.parity_from_host(0, &unit(sites / 2, k)).unwrap();
            matrix(&operator, of_unit, |x| x.to_host().unwrap())
        }
    };
    let mut values = matrix.hermitian_eigenvalues().unwrap();
    values.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    values
}

/// Compares the lowest modes of a configuration with those of a dense solve.
fn check_against_dense(
    team: &Team,
    name: &str,
    extents: [usize; 4],
    links: &Arc<GaugeConfiguration>,
    cases: &[(SiteTerm, System, Preconditioning)],
) {
    for &(term, system, preconditioning) in cases {
        let on_host = Lattice::new(&Team::host(), Dims::new(extents).unwrap()).unwrap();
        let expected = dense(&dirac(&on_host, links, 0.13, term), system, preconditioning);
        let lattice = Lattice::new(team, on_host.dims()).unwrap();
        let dirac = dirac(&lattice, links, 0.13, term);
        let params = ModesParams::new(6).with_system(system).with_preconditioning(preconditioning);
        let modes = find(&dirac, &params);
        let what = format!("{name}, {term:?}, {system}, {preconditioning}");
        assert_eq!(modes.count(), 6, "{what}");
        for (found, wanted) in modes.values().iter().zip(&expected) {
            assert!((found - wanted).abs() < 1e-11, "{what}: {:?} {:?}", modes.values(), &expected[..6]);
        }
        let largest = modes.residuals().into_iter().fold(0.0, f64::max);
        assert!(largest < 1e-8, "{what}: {largest:e}");
    }
}

const CLOVER: SiteTerm = SiteTerm::Clover { csw: 1.2, mu: 0.0 };
const TWISTED: SiteTerm = SiteTerm::Twisted { mu: 0.05 };

#[test]
fn modes_of_configurations_are_those_of_a_dense_solve() {
    let extents = [2, 2, 2, 4];
    let links = Arc::new(random::weak(Dims::new(extents).unwrap(), 0.4, 11));
    let cases = [
        (SiteTerm::Scalar, System::Normal, Preconditioning::None),
        (SiteTerm::Scalar, System::Hermitian, Preconditioning::None),
        (CLOVER, System::Normal, Preconditioning::EvenOdd),
        (CLOVER, System::Hermitian, Preconditioning::None),
        (TWISTED, System::Normal, Preconditioning::EvenOdd),
        (CLOVER, System::Normal, Preconditioning::EvenOddSymmetric),
    ];
    for (name, team) in few_teams() {
        // Kernels to compile are what takes the time.
        let all = team.is_host() || all_combinations();
        let cases = if all { &cases[..] } else { &cases[3..4] };
        check_against_dense(&team, &name, extents, &links, cases);
    }
}

/// Takes minutes: the dense matrix has 1536 rows.
#[test]
fn modes_on_4_to_the_4_are_those_of_a_dense_solve() {
    if !all_combinations() {
        return;
    }
    let extents = [4; 4];
    let links = Arc::new(random::weak(Dims::new(extents).unwrap(), 0.4, 12));
    let cases =
        [SiteTerm::Scalar, CLOVER, TWISTED].map(|term| (term, System::Normal, Preconditioning::EvenOdd));
    check_against_dense(&team_of(1), "4^4", extents, &links, &cases);
    let Some(shared) = shared() else { return };
    for name in ["lat.sample.l4444.ildg", "chroma_disordered_4444.ildg"] {
        let links = Arc::new(read_gauge(shared.join("data").join(name)).unwrap());
        let [wilson, clover, _] = cases;
        check_against_dense(&team_of(1), name, extents, &links, &[wilson, clover]);
    }
}

#[test]
fn one_flavour_of_twisted_mass_has_no_modes_of_gamma5() {
    let lattice = Lattice::new(&Team::host(), Dims::new([2, 2, 2, 2]).unwrap()).unwrap();
    let dirac = dirac(&lattice, &Arc::new(random::weak(lattice.dims(), 0.3, 13)), 0.12, TWISTED);
    for system in [System::Hermitian, System::Direct] {
        let params = ModesParams::new(2).with_system(system);
        let error = DiracModes::find(&dirac, &params, &mut |_| (), None).err().unwrap();
        assert!(matches!(error, ModesError::NotHermitian(_)), "{error}");
    }
    let error = DiracModes::find(&dirac, &ModesParams::new(0), &mut |_| (), None).err().unwrap();
    assert!(error.to_string().contains("count = 0 is not allowed"), "{error}");
}

fn norm_of_difference(dirac: &Dirac<f64>, x: &SpinorField<f64>, y: &SpinorField<f64>) -> f64 {
    let space = dirac.space();
    let mut difference = space.zero_vector().unwrap();
    space.copy(x, &mut difference).unwrap();
    space.axpy(&space.scalar((-1.0).into()), y, &mut difference).unwrap();
    let [norm2] = space.read([&space.norm2(&difference).unwrap()]).unwrap();
    norm2.re.sqrt()
}

#[test]
fn deflated_solves_take_fewer_iterations_to_the_same_solution() {
    for (name, team) in few_teams() {
        let lattice = Lattice::new(&team, Dims::new([4, 4, 4, 4]).unwrap()).unwrap();
        let links = Arc::new(random::weak(lattice.dims(), 0.25, 14));
        let cases: &[_] = &[
            (SiteTerm::Scalar, System::Normal, Preconditioning::EvenOdd),
            (SiteTerm::Scalar, System::Hermitian, Preconditioning::None),
            (TWISTED, System::Normal, Preconditioning::EvenOddSymmetric),
        ];
        let cases = if team.is_host() || all_combinations() { cases } else { &cases[..1] };
        for &(term, system, preconditioning) in cases {
            let dirac = dirac(&lattice, &links, 0.1365, term);
            let params = ModesParams::new(24).with_system(system).with_preconditioning(preconditioning);
            let modes = find(&dirac, &params);
            let b = lattice.point_source([1, 0, 2, 1], 2, 1).unwrap();
            let cg_params = CgParams::default().with_preconditioning(preconditioning);
            let (x, plain) = cg(&dirac, &b, &cg_params).unwrap();
            let guess = modes.guess(&dirac, &b).unwrap();
            let (y, deflated) = solve_from(&dirac, &b, &guess, &SolveParams::Cg(cg_params), None).unwrap();
            let what = format!("{name}, {term:?}, {system}, {preconditioning}");
            assert!(deflated.residual.true_residual <= 1e-10, "{what}");
            assert!(norm_of_difference(&dirac, &x, &y) < 1e-7, "{what}");
            let (plain, deflated) = (plain.iterations, deflated.iterations);
            assert!(10 * deflated < 7 * plain, "{what}: {deflated} of {plain} iterations");
        }
    }
}

/// Interrupts a solve at two of its steps, and compares what goes on from there with the whole one.
fn check_that_it_goes_on(
    solve: impl Fn(&mut StopAt) -> Result<(SpinorField<f64>, SolverInfo), InvertError>,
    whole: &SpinorField<f64>,
    what: &str,
) {
    let mut never = StopAt::default();
    solve(&mut never).unwrap();
    for stop in [never.asked / 2, never.asked - 1] {
        let mut keeper = StopAt { stop, ..Default::default() };
        let stopped = solve(&mut keeper).unwrap_err();
        assert!(stopped.to_string().contains("interrupted"), "{what}: {stopped}");
        let (again, _) = solve(&mut StopAt { from: keeper.kept, ..Default::default() }).unwrap();
        assert!(again.to_bytes().unwrap() == whole.to_bytes().unwrap(), "{what}, stopped at {stop}");
    }
}

/// The source of M†M x = M†b hides what rounding puts along the modes.
#[test]
fn mixed_precision_with_modes_reaches_the_tolerance_about_as_soon_as_double() {
    for (name, team) in few_teams() {
        let lattice = Lattice::new(&team, Dims::new([4, 4, 4, 8]).unwrap()).unwrap();
        let links = random::weak(lattice.dims(), 0.25, 14);
        let links = lattice.gauge::<f64>(&links, Boundary::periodic()).unwrap();
        // The lowest eigenvalue of M†M is 1e-6, the largest of these modes 0.3.
        let dirac = Dirac::wilson(&links, Kappa(0.135)).unwrap();
        let preconditioning = Preconditioning::EvenOdd;
        let modes = find(&dirac, &ModesParams::new(48).with_preconditioning(preconditioning));
        let b = lattice.point_source([1, 0, 2, 1], 2, 1).unwrap();
        let guess = modes.guess(&dirac, &b).unwrap();
        for tol in [8e-10, 1e-10] {
            let params = |precision| {
                SolveParams::Cg(
                    CgParams::default()
                        .with_tol(tol)
                        .with_precision(precision)
                        .with_preconditioning(preconditioning),
                )
            };
            let (x, double) = modes.solve(&dirac, &b, &params(IterationPrecision::Double), None).unwrap();
            for inner in [Inner::Single, Inner::Half] {
                let params = params(IterationPrecision::Mixed(inner));
                let (y, mixed) = modes.solve(&dirac, &b, &params, None).unwrap();
                let counts = (mixed.iterations, double.iterations);
                let what = format!("{name}, {tol:e}, {inner:?}: {counts:?} iterations");
                assert!(mixed.residual.true_residual <= tol, "{what}");
                assert!(mixed.iterations <= 2 * double.iterations, "{what}");
                assert!(norm_of_difference(&dirac, &x, &y) < 1e4 * tol, "{what}");
                check_that_it_goes_on(|keeper| modes.solve(&dirac, &b, &params, Some(keeper)), &y, &what);
                // From the guess alone the way is longer, but does not end before the tolerance.
                let from_guess = solve_from(&dirac, &b, &guess, &params, None);
                assert!(from_guess.is_ok(), "{what}: {:?}", from_guess.err());
            }
        }
    }
}

#[test]
fn files_of_modes_come_back_on_every_team_and_serve_no_other_operator() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("low.modes");
    let dims = Dims::new([4, 2, 2, 4]).unwrap();
    let links = Arc::new(random::weak(dims, 0.3, 15));
    for preconditioning in [Preconditioning::EvenOdd, Preconditioning::None] {
        let lattice = Lattice::new(&team_of(1), dims).unwrap();
        let here = dirac(&lattice, &links, 0.13, SiteTerm::Scalar);
        let modes = find(&here, &ModesParams::new(6).with_preconditioning(preconditioning));
        modes.write(&path, &here, "the links", "a test").unwrap();
        for (name, team) in teams() {
            let lattice = Lattice::new(&team, dims).unwrap();
            let there = dirac(&lattice, &links, 0.13, SiteTerm::Scalar);
            let read = DiracModes::read(&path, &there, "the links").unwrap();
            assert_eq!((read.values(), read.residuals()), (modes.values(), modes.residuals()), "{name}");
            let b = lattice.point_source([1, 1, 0, 3], 3, 2).unwrap();
            let guess = read.guess(&there, &b).unwrap().to_host().unwrap();
            let wanted =
                modes.guess(&here, &here.lattice().point_source([1, 1, 0, 3], 3, 2).unwrap()).unwrap();
            let far = guess.iter().zip(wanted.to_host().unwrap()).flat_map(|(x, y)| {
                let parts = x.0.into_iter().flatten().zip(y.0.into_iter().flatten());
                parts.map(|(x, y)| (x - y).norm()).collect::<Vec<_>>()
            });
            assert!(far.fold(0.0, f64::max) < 1e-11, "{name}");
        }
    }
    let host = Lattice::new(&Team::host(), dims).unwrap();
    let right = dirac(&host, &links, 0.13, SiteTerm::Scalar);
    let refused = |dirac: &Dirac<f64>, configuration: &str| {
        DiracModes::read(&path, dirac, configuration).err().unwrap().to_string()
    };
    assert!(refused(&right, "others").contains("its configuration is the links, here it is others"));
    assert!(refused(&dirac(&host, &links, 0.131, SiteTerm::Scalar), "the links").contains("its operator is"));
    assert!(refused(&dirac(&host, &links, 0.13, TWISTED), "the links").contains("its operator is"));
    let larger = Lattice::new(&Team::host(), Dims::new([4, 4, 2, 4]).unwrap()).unwrap();
    let other = dirac(&larger, &Arc::new(random::cold(larger.dims())), 0.13, SiteTerm::Scalar);
    assert!(refused(&other, "the links").contains("its lattice is 4x2x2x4"));
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(DiracModes::read(&path, &right, "the links"), Err(ModesFileError::File(_))));
    std::fs::write(&path, &bytes[..middle]).unwrap();
    assert!(matches!(DiracModes::read(&path, &right, "the links"), Err(ModesFileError::File(_))));
    assert!(refused(&right, "the links").contains("low.modes"));
}

/// Stops a search at one of its steps, and keeps its state.
#[derive(Default)]
struct StopAt {
    asked: usize,
    stop: usize,
    from: Option<SolverState<Vec<u8>>>,
    kept: Option<SolverState<Vec<u8>>>,
}

impl Checkpoints for StopAt {
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.from.take()
    }

    fn wish(&mut self) -> Wish {
        self.asked += 1;
        if self.asked == self.stop { Wish::KeepAndStop } else { Wish::GoOn }
    }

    fn keep(&mut self, state: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        let SolverState { method, vectors, scalars, numbers, counts, history } = state.clone();
        let vectors = vectors.into_iter().map(|(name, field)| Ok((name, field.to_bytes()?)));
        let vectors = vectors.collect::<Result<_, DeviceError>>()?;
        self.kept = Some(SolverState { method, vectors, scalars, numbers, counts, history });
        Ok(())
    }
}

#[test]
fn a_search_that_was_interrupted_gives_the_same_bits() {
    for team in [Team::host(), team_of(1)] {
        let lattice = Lattice::new(&team, Dims::new([4, 2, 4, 2]).unwrap()).unwrap();
        let dirac = dirac(&lattice, &Arc::new(random::weak(lattice.dims(), 0.3, 16)), 0.13, SiteTerm::Scalar);
        let params = ModesParams::new(5).with_degree(12).with_subspace(Some(18));
        let mut never = StopAt::default();
        let (whole, info) = DiracModes::find(&dirac, &params, &mut |_| (), Some(&mut never)).unwrap();
        assert!(info.restarts > 2);
        for stop in [3, 20, never.asked - 2] {
            let mut keeper = StopAt { stop, ..Default::default() };
            let stopped = DiracModes::find(&dirac, &params, &mut |_| (), Some(&mut keeper)).err().unwrap();
            assert!(stopped.to_string().contains("interrupted"), "{stopped}");
            let mut rest = StopAt { from: keeper.kept, ..Default::default() };
            let (again, info_again) =
                DiracModes::find(&dirac, &params, &mut |_| (), Some(&mut rest)).unwrap();
            assert_eq!(again.values(), whole.values());
            assert_eq!(again.residuals(), whole.residuals());
            assert_eq!(
                (info_again.applications, info_again.history),
                (info.applications, info.history.clone())
            );
            let b = lattice.point_source([1, 1, 0, 1], 3, 2).unwrap();
            let [one, other] =
                [&whole, &again].map(|modes| modes.guess(&dirac, &b).unwrap().to_bytes().unwrap());
            assert!(one == other);
        }
    }
}

#[test]
fn several_fields_at_once_give_the_same_modes() {
    for team in [Team::host(), team_of(1)] {
        let lattice = Lattice::new(&team, Dims::new([4, 2, 4, 2]).unwrap()).unwrap();
        let dirac = dirac(&lattice, &Arc::new(random::weak(lattice.dims(), 0.3, 18)), 0.13, CLOVER);
        // On a device each operator on columns has kernels to compile.
        let cases = [(System::Normal, Preconditioning::EvenOdd), (System::Hermitian, Preconditioning::None)];
        let all = team.is_host() || all_combinations();
        for (system, preconditioning) in cases.into_iter().take(if all { 2 } else { 1 }) {
            let params = ModesParams::new(5).with_system(system).with_preconditioning(preconditioning);
            let one_by_one = find(&dirac, &params);
            let at_once = find(&dirac, &params.with_block(3));
            for (one, other) in one_by_one.values().iter().zip(at_once.values()) {
                assert!((one - other).abs() < 1e-12, "{system}: {one} {other}");
            }
            assert!(at_once.residuals().iter().all(|residual| *residual < 1e-8));
        }
    }
}

/// The deflated block of columns: the guess, and block CG from it.
#[test]
fn block_cg_from_a_guess_takes_fewer_iterations_to_the_same_solutions() {
    let lattice = Lattice::new(&Team::host(), Dims::new([4, 4, 4, 4]).unwrap()).unwrap();
    let dirac = dirac(&lattice, &Arc::new(random::weak(lattice.dims(), 0.25, 14)), 0.1365, SiteTerm::Scalar);
    let modes = find(&dirac, &ModesParams::new(24));
    let mut b = lattice.spinors(3).unwrap();
    for column in 0..3 {
        b.copy_column_from(column, &lattice.point_source([0, 1, 2, 3], column, 1).unwrap()).unwrap();
    }
    let guess = modes.guess(&dirac, &b).unwrap();
    for precision in [IterationPrecision::Double, IterationPrecision::Mixed(Inner::Single)] {
        let params =
            BlockCgParams::default().with_precision(precision).with_preconditioning(Preconditioning::EvenOdd);
        let plain = block_cg(&dirac, &b, &params).unwrap();
        let deflated = block_cg_from(&dirac, &b, &guess, &params, None).unwrap();
        assert!(deflated.residuals.iter().all(|residual| residual.true_residual <= 1e-10));
        let [x, y] = [&plain, &deflated].map(|solution| solution.x.to_host().unwrap());
        let far = x.iter().zip(&y).flat_map(|(x, y)| {
            let parts = x.0.into_iter().flatten().zip(y.0.into_iter().flatten());
            parts.map(|(x, y)| (x - y).norm()).collect::<Vec<_>>()
        });
        assert!(far.fold(0.0, f64::max) < 1e-8);
        let iterations = (deflated.info.iterations, plain.info.iterations);
        assert!(10 * iterations.0 < 9 * iterations.1, "{iterations:?}");
        // From the solutions nothing is left to do, and from something far away zero is nearer.
        let again = block_cg_from(&dirac, &b, &plain.x, &params, None).unwrap();
        assert_eq!(again.info.iterations, 0);
        let mut far_away = lattice.spinors(3).unwrap();
        far_away
            .copy_column_from(1, &lattice.spinor_from_host(&random::spinor_field(lattice.dims(), 5)).unwrap())
            .unwrap();
        let from_afar = block_cg_from(&dirac, &b, &far_away, &params, None).unwrap();
        let iterations = (from_afar.info.iterations, plain.info.iterations);
        assert!(iterations.0 <= iterations.1 + 5, "{iterations:?}");
    }
}

#[test]
fn jobs_are_deflated_by_a_number_of_modes_or_a_file() {
    let dims = Dims::new([4, 4, 2, 4]).unwrap();
    let links = Arc::new(random::weak(dims, 0.25, 17));
    let team = Team::host();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("low.modes");
    let job = |deflate: Option<Deflation>| {
        let solver = Method::default().with_solver("cg".parse().unwrap()).with_deflate(deflate);
        Job::default().with_command(Task::Invert).with_action(Action::kappa(0.135)).with_solver(solver)
    };
    let solved = |deflate: Option<Deflation>| {
        let problem = Problem::on(&job(deflate), Arc::clone(&links), &team).unwrap();
        let problem = problem.with_fingerprint("the links");
        let identity = problem.identity("the links");
        let outcome = problem.run(&mut ()).unwrap();
        let solve = &outcome.propagators[0].solves[0];
        assert!(outcome.converged() && solve.info.residual.true_residual <= 1e-10);
        (solve.info.iterations, identity.iter().any(|(name, _)| name == "deflate"))
    };
    let lattice = Lattice::new(&team, dims).unwrap();
    let operator = dirac(&lattice, &links, 0.135, SiteTerm::Scalar);
    find(&operator, &ModesParams::new(16)).write(&path, &operator, "the links", "a test").unwrap();
    let (plain, named) = solved(None);
    assert!(!named);
    for deflate in [Deflation::Count(16), Deflation::File(path.clone())] {
        let (deflated, named) = solved(Some(deflate));
        assert!(named && deflated < plain, "{deflated} of {plain} iterations");
    }
    let auto = job(None).with_solver(Method::default().with_deflate(Some(Deflation::Count(2))));
    assert!(auto.check().unwrap_err().to_string().contains("cg, block-cg, cr and minres"));
    let unknown = Problem::on(&job(Some(Deflation::File(path))), links, &team).unwrap();
    assert!(unknown.run(&mut ()).unwrap_err().to_string().contains("with_fingerprint"));
}
