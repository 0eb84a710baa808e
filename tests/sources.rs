//! Sources and guesses of every size, and what is left of a solve that gives up, for every way of solving.

use crate::common;

use common::spinors::distance;
use lattice_cl::Dims;
use lattice_cl::compute::{DeviceError, Team};
use lattice_cl::field::SpinorField;
use lattice_cl::geometry::{Boundary, Lattice};
use lattice_cl::host::{Spinor, random};
use lattice_cl::operator::{Dirac, Kappa, System};
use lattice_cl::solve::{
    BicgstabLParams, BicgstabParams, BlockCgParams, BlockSolution, CgParams, Checkpoints, CrParams,
    GcrParams, Inner, InvertError, IterationPrecision, MinresParams, MrParams, MultiShiftCgParams,
    Preconditioning, SolveParams, block_cg, cr_from, multi_shift_cg, solve_with_checkpoints,
};
use lattice_solvers::{Failure, Shifted, SolverError, SolverInfo, SourceError, Watching};
use num_complex::Complex;

const PRECISIONS: [IterationPrecision; 4] = [
    IterationPrecision::Double,
    IterationPrecision::Mixed(Inner::Single),
    IterationPrecision::Mixed(Inner::Half),
    IterationPrecision::Single,
];

const PRECONDITIONINGS: [Preconditioning; 2] = [Preconditioning::EvenOdd, Preconditioning::None];

/// Squares of these are no numbers any more, or not in single precision.
const POWERS: [i32; 5] = [-1000, -540, -90, 70, 900];

type Values = Vec<Spinor<f64>>;
type Solved = Result<(SpinorField<f64>, SolverInfo), InvertError>;

fn wilson(team: &Team, kappa: f64) -> Dirac<f64> {
    let dims = Dims::new([4, 2, 6, 4]).unwrap();
    let lattice = Lattice::new(team, dims).unwrap();
    let links = lattice.gauge::<f64>(&random::weak(dims, 0.2, 1), Boundary::antiperiodic_t()).unwrap();
    Dirac::wilson(&links, Kappa(kappa)).unwrap()
}

/// Every method in every precision and form, or some that have every one of these at least once: kernels of a device take long to compile.
fn ways(team: &Team, max_iterations: usize) -> Vec<SolveParams> {
    let mut ways = Vec::new();
    for precision in PRECISIONS {
        for preconditioning in PRECONDITIONINGS {
            let tol = tolerance(precision);
            let cg = CgParams::default()
                .with_tol(tol)
                .with_max_iterations(max_iterations)
                .with_precision(precision)
                .with_preconditioning(preconditioning);
            let bicgstab = BicgstabParams::default()
                .with_tol(tol)
                .with_max_iterations(max_iterations)
                .with_precision(precision)
                .with_preconditioning(preconditioning);
            let l = BicgstabLParams::default()
                .with_tol(tol)
                .with_max_iterations(max_iterations)
                .with_precision(precision)
                .with_preconditioning(preconditioning);
            let gcr = GcrParams::default()
                .with_tol(tol)
                .with_max_iterations(max_iterations)
                .with_precision(precision)
                .with_preconditioning(preconditioning);
            let mr = MrParams::default()
                .with_tol(tol)
                .with_max_iterations(max_iterations)
                .with_precision(precision)
                .with_preconditioning(preconditioning);
            let cr = |system| {
                SolveParams::Cr(
                    CrParams::default()
                        .with_tol(tol)
                        .with_max_iterations(max_iterations)
                        .with_system(system)
                        .with_precision(precision)
                        .with_preconditioning(preconditioning),
                )
            };
            ways.extend([
                SolveParams::Bicgstab(bicgstab),
                cr(System::Normal),
                cr(System::Hermitian),
                cr(System::Direct),
                SolveParams::Cg(cg),
                SolveParams::Cgne(cg),
                SolveParams::BicgstabL(l),
                SolveParams::Gcr(gcr),
                SolveParams::Mr(mr),
                SolveParams::Minres(
                    MinresParams::default()
                        .with_tol(tol)
                        .with_max_iterations(max_iterations)
                        .with_precision(precision)
                        .with_preconditioning(preconditioning),
                ),
            ]);
        }
    }
    if team.is_host() {
        return ways;
    }
    // Of ten methods and eight forms, each once.
    ways.into_iter().step_by(11).collect()
}

fn tolerance(precision: IterationPrecision) -> f64 {
    if precision == IterationPrecision::Single { 1e-4 } else { 1e-9 }
}

fn solve(wilson: &Dirac<f64>, b: &Values, params: &SolveParams) -> Solved {
    let b = wilson.lattice().spinor_from_host(b).unwrap();
    let mut nobody = Watching(|_: &_| ());
    solve_with_checkpoints(wilson, &b, params, &mut nobody as &mut dyn Checkpoints)
}

fn times(factor: f64, field: &[Spinor<f64>]) -> Values {
    field.iter().map(|spinor| Spinor::from_fn(|s, c| spinor.0[s][c] * factor)).collect()
}

/// The field times a power of two, which is exact.
fn shifted(power: i32, field: &[Spinor<f64>]) -> Values {
    times(2f64.powi(power - power / 2), &times(2f64.powi(power / 2), field))
}

/// found = the expected field times a power of two, on the host to the last bit. Devices turn spins to another basis, where small components are sums.
fn expect_same(what: &str, team: &Team, found: &[Spinor<f64>], power: i32, expected: &[Spinor<f64>]) {
    if team.is_host() {
        assert!(found == shifted(power, expected), "{what}");
    } else {
        let distance = distance(&shifted(-power, found), expected);
        assert!(distance < 1e-13, "{what}: {distance:e}");
    }
}

/// ‖b − M x‖ / ‖b‖
fn residual(wilson: &Dirac<f64>, x: &SpinorField<f64>, b: &[Spinor<f64>]) -> f64 {
    let mut image = wilson.lattice().spinors(x.columns()).unwrap();
    wilson.apply(x, &mut image).unwrap();
    distance(&image.to_host().unwrap(), b)
}

/// The host and a device: what several devices do is in the tests of the operators.
fn teams() -> impl Iterator<Item = (String, Team)> {
    common::teams()
        .into_iter()
        .filter(|(_, team)| team.len() <= 1)
        .map(|(name, team)| (name.to_string(), team))
}

#[test]
fn a_source_of_any_size_has_the_solution_of_the_ordinary_one_to_the_last_bit() {
    for (name, team) in teams() {
        let wilson = wilson(&team, 0.105);
        let b = wilson.lattice().point_source::<f64>([1, 0, 5, 3], 3, 1).unwrap().to_host().unwrap();
        for params in ways(&team, 1000) {
            let (x, info) = solve(&wilson, &b, &params).unwrap();
            let x = x.to_host().unwrap();
            for power in POWERS {
                let what = format!("{name}, {params:?}, 2^{power}");
                let (found, of_scaled) = solve(&wilson, &shifted(power, &b), &params).unwrap();
                expect_same(&what, &team, &found.to_host().unwrap(), power, &x);
                assert_eq!(of_scaled.iterations, info.iterations, "{what}");
                // Of the smallest components digits may be lost.
                let residuals = [of_scaled, info.clone()].map(|info| info.residual.true_residual);
                assert!(common::relative(residuals[0], residuals[1]) < 1e-9, "{what}: {residuals:?}");
            }
        }
    }
}

#[test]
fn a_solution_that_is_out_of_range_is_an_error() {
    let wilson = wilson(&Team::host(), 0.12);
    let b = random::spinor_field(wilson.lattice().dims(), 5);
    let params = SolveParams::Cg(CgParams::default().with_tol(1e-9));
    for power in [-1070, -1060, -1040, -1022, 1018, 1021, 1022] {
        let source = shifted(power, &b);
        match solve(&wilson, &source, &params) {
            Ok((x, info)) => {
                let x = shifted(-power, &x.to_host().unwrap());
                let x = wilson.lattice().spinor_from_host(&x).unwrap();
                let found = residual(&wilson, &x, &shifted(-power, &source));
                assert!(found <= 1e-9 && info.iterations > 0, "2^{power}: {found:e}");
            }
            Err(InvertError::NotConverged { failure: Failure::OutOfRange { true_residual }, best, info }) => {
                assert!(!(-1030..1000).contains(&power), "2^{power}");
                assert!(true_residual > 1e-9 && true_residual <= 1.0, "2^{power}: {true_residual:e}");
                assert_eq!(info.residual.true_residual, true_residual, "2^{power}");
                let finite = |x: &Spinor<f64>| x.0.iter().flatten().all(|x| x.is_finite());
                assert!(best.to_host().unwrap().iter().all(finite), "2^{power}");
            }
            Err(error) => panic!("2^{power}: {error}"),
        }
    }
    let tiny = solve(&wilson, &shifted(-1070, &b), &params).unwrap_err();
    assert!(tiny.to_string().contains("out of the range"), "{tiny}");
}

#[test]
fn a_source_that_is_zero_has_no_iterations_and_one_that_is_not_finite_no_solution() {
    for (name, team) in teams() {
        let wilson = wilson(&team, 0.105);
        let zero = vec![Spinor::default(); wilson.lattice().dims().volume()];
        for params in ways(&team, 1000) {
            let (x, info) = solve(&wilson, &zero, &params).unwrap();
            assert!(x.to_host().unwrap() == zero, "{name}, {params:?}");
            assert_eq!((info.iterations, info.residual.true_residual), (0, 0.0), "{name}, {params:?}");
            for bad in [f64::NAN, f64::INFINITY] {
                let mut b = zero.clone();
                b[7].0[2][1] = Complex::new(0.0, bad);
                let refused = solve(&wilson, &b, &params).unwrap_err();
                let not_finite = matches!(refused, InvertError::Source(SourceError::NotFinite));
                assert!(not_finite, "{name}, {params:?}: {refused}");
            }
        }
    }
}

#[test]
fn sources_that_are_solved_for_together_may_be_of_any_size_each() {
    for (name, team) in teams() {
        let wilson = wilson(&team, 0.105);
        let dims = wilson.lattice().dims();
        let values: Vec<_> = (0..3).map(|seed| random::spinor_field(dims, 20 + seed)).collect();
        let together = |powers: [i32; 3]| {
            let all: Vec<_> = values.iter().zip(powers).flat_map(|(b, power)| shifted(power, b)).collect();
            wilson.lattice().spinors_from_host(3, &all).unwrap()
        };
        for (precision, preconditioning) in PRECISIONS.into_iter().zip(PRECONDITIONINGS.into_iter().cycle()) {
            let params = BlockCgParams::default()
                .with_tol(1e-9)
                .with_precision(precision)
                .with_preconditioning(preconditioning);
            for powers in [[-1000, 3, 900], [-560, -560, -90], [0, 0, 600]] {
                let what = format!("{name}, {params:?}, {powers:?}");
                let BlockSolution { x, residuals, info } =
                    block_cg(&wilson, &together(powers), &params).unwrap();
                let x = x.to_host().unwrap();
                for (k, x) in x.chunks(dims.volume()).enumerate() {
                    let x = wilson.lattice().spinor_from_host(&shifted(-powers[k], x)).unwrap();
                    let found = residual(&wilson, &x, &values[k]);
                    assert!(found <= 1e-9 && info.iterations > 0, "{what}, source {k}: {found:e}");
                    let told = residuals[k].true_residual;
                    assert!((found - told).abs() < 1e-13, "{what}, source {k}: {found:e} {told:e}");
                }
            }
            let mut bad = values.concat();
            bad[dims.volume() + 3].0[1][1].re = f64::INFINITY;
            let bad = wilson.lattice().spinors_from_host(3, &bad).unwrap();
            let refused = block_cg(&wilson, &bad, &params).unwrap_err();
            assert!(matches!(refused, InvertError::Source(SourceError::NotFinite)), "{name}: {refused}");
        }
    }
}

#[test]
fn shifted_equations_have_sources_of_any_size() {
    for (name, team) in teams() {
        let wilson = wilson(&team, 0.105);
        let b = wilson.lattice().point_source::<f64>([1, 0, 5, 3], 3, 1).unwrap().to_host().unwrap();
        let solve = |power, params: &MultiShiftCgParams| {
            let b = wilson.lattice().spinor_from_host(&shifted(power, &b)).unwrap();
            multi_shift_cg(&wilson, &b, &[0.5, 0.0], params)
        };
        let (expected, _) = solve(0, &MultiShiftCgParams::default()).unwrap();
        for power in POWERS {
            let (all, _) = solve(power, &MultiShiftCgParams::default()).unwrap();
            for (Shifted { x, residual, .. }, expected) in all.iter().zip(&expected) {
                let what = format!("{name}, 2^{power}");
                expect_same(&what, &team, &x.to_host().unwrap(), power, &expected.x.to_host().unwrap());
                let residuals = [residual, &expected.residual].map(|residual| residual.true_residual);
                assert!(common::relative(residuals[0], residuals[1]) < 1e-9, "{what}: {residuals:?}");
            }
        }
        let lost = solve(-1070, &MultiShiftCgParams::default());
        let Err(SolverError::NotConverged { failure: Failure::OutOfRange { .. }, best, .. }) = lost else {
            panic!("{name}: no digits are left of it");
        };
        assert!(best.iter().any(|Shifted { residual, .. }| residual.true_residual > 1e-10), "{name}");
        assert!(best.iter().all(|Shifted { residual, .. }| residual.true_residual <= 1.0), "{name}");
        let bad = shifted(1000, &shifted(1000, &b));
        let bad = wilson.lattice().spinor_from_host(&bad).unwrap();
        let refused = multi_shift_cg(&wilson, &bad, &[0.0], &MultiShiftCgParams::default()).unwrap_err();
        let refused: SolverError<_, DeviceError> = refused;
        assert!(matches!(refused, SolverError::Source(SourceError::NotFinite)), "{name}: {refused}");
    }
}

#[test]
fn a_guess_may_be_exact_or_as_bad_as_can_be() {
    for (name, team) in teams() {
        let wilson = wilson(&team, 0.105);
        let lattice = wilson.lattice();
        let b = random::spinor_field(lattice.dims(), 2);
        let field = |values: &[Spinor<f64>]| lattice.spinor_from_host::<f64>(values).unwrap();
        let exact = CrParams::default().with_tol(1e-11);
        let (exact, _) = solve(&wilson, &b, &SolveParams::Cr(exact)).unwrap();
        let exact = exact.to_host().unwrap();
        for params in ways(&team, 1000) {
            let SolveParams::Cr(params) = params else { continue };
            let what = format!("{name}, {params:?}");
            for power in [0, -540, 900] {
                let (b, guess) = (field(&shifted(power, &b)), field(&shifted(power, &exact)));
                let (x, info) = cr_from(&wilson, &b, &guess, &params).unwrap();
                assert_eq!((info.iterations, info.history.len()), (0, 1), "{what}, 2^{power}");
                assert!(info.residual.true_residual <= 1.1e-11, "{what}, 2^{power}: {info:?}");
                // Of the solution on even sites that on odd ones is made anew.
                let found = shifted(-power, &x.to_host().unwrap());
                assert!(distance(&found, &exact) < 1e-10, "{what}, 2^{power}");
            }
            // Its odd part does not matter where only even sites are iterated.
            for size in [3.0, 1e3, 1e12, 1e100, 1e300, f64::INFINITY, f64::NAN] {
                let guess = field(&times(size, &exact));
                let (x, _) = cr_from(&wilson, &field(&b), &guess, &params)
                    .unwrap_or_else(|error| panic!("{what}, {size:e}: {error}"));
                let found = residual(&wilson, &x, &b);
                assert!(found <= params.tol * (1.0 + 1e-9), "{what}, {size:e}: {found:e}");
            }
        }
    }
}

#[test]
fn what_is_left_of_a_failure_is_never_worse_than_the_beginning() {
    for (name, team) in teams() {
        // Far beyond the critical hopping parameter.
        let wilson = wilson(&team, 0.25);
        let lattice = wilson.lattice();
        let b = random::spinor_field(lattice.dims(), 3);
        let source = lattice.spinor_from_host(&b).unwrap();
        let guess = lattice.spinor_from_host(&times(0.2, &random::spinor_field(lattice.dims(), 4))).unwrap();
        let begun = residual(&wilson, &guess, &b);
        let check = |what: &str, outcome: Solved, most: f64| {
            let Err(InvertError::NotConverged { best, info, .. }) = outcome else { return };
            let (found, told) = (residual(&wilson, &best, &b), info.residual.true_residual);
            assert!(found <= most * (1.0 + 1e-12), "{what}: {found} where the beginning has {most}");
            assert!((found - told).abs() <= 1e-9 * found, "{what}: {found}, told is {told}");
        };
        for most in [1, 3, 12, 150] {
            for params in ways(&team, most) {
                let what = format!("{name}, {params:?}");
                check(&what, solve(&wilson, &b, &params), 1.0);
                if let SolveParams::Cr(params) = params {
                    let outcome = cr_from(&wilson, &source, &guess, &params);
                    check(&format!("{what}, from a guess"), outcome, begun.min(1.0));
                }
            }
        }
    }
}

#[test]
fn what_is_left_of_several_sources_is_never_worse_than_zero() {
    let wilson = wilson(&Team::host(), 0.25);
    let dims = wilson.lattice().dims();
    let values: Vec<_> = (0..3).map(|seed| random::spinor_field(dims, 30 + seed)).collect();
    let b = wilson.lattice().spinors_from_host(3, &values.concat()).unwrap();
    for (precision, preconditioning) in
        PRECISIONS.into_iter().flat_map(|precision| PRECONDITIONINGS.map(|form| (precision, form)))
    {
        for max_iterations in [1, 4, 20] {
            let params = BlockCgParams::default()
                .with_tol(1e-9)
                .with_max_iterations(max_iterations)
                .with_precision(precision)
                .with_preconditioning(preconditioning);
            let Err(InvertError::NotConverged { best, info, .. }) = block_cg(&wilson, &b, &params) else {
                continue;
            };
            let best = best.to_host().unwrap();
            let mut largest: f64 = 0.0;
            for (x, b) in best.chunks(dims.volume()).zip(&values) {
                let x = wilson.lattice().spinor_from_host(x).unwrap();
                let found = residual(&wilson, &x, b);
                assert!(found <= 1.0 + 1e-12, "{params:?}: {found}");
                largest = largest.max(found);
            }
            let told = info.residual.true_residual;
            assert!((largest - told).abs() < 1e-9, "{params:?}: {largest}, told is {told}");
        }
    }
}
