//! Solving M x = b from Rust: guesses, every way of iterating, and what is left of a solve that gives up.

use crate::common;

use common::spinors::distance;
use lattice_cl::Dims;
use lattice_cl::compute::{Device, DeviceError, Team};
use lattice_cl::field::StoredField;
use lattice_cl::geometry::{Anisotropy, Boundary, Lattice};
use lattice_cl::host::{Reconstruction, random};
use lattice_cl::operator::{Dirac, Kappa, SiteTerm, System};
use lattice_cl::solve::{
    Attempt, Auto, AutoParams, BicgstabLParams, BicgstabParams, BlockCgParams, CgParams, Checkpoints,
    CrParams, GcrParams, Inner, InvertError, IterationPrecision, MinresParams, MrParams, MultiShiftCgParams,
    Preconditioning, SolveParams, Watch, block_cg_with_checkpoints, build_programs_of_solve, cg, cr, cr_from,
    multi_shift_cg, multi_shift_cg_watched, solve_with_checkpoints,
};
use lattice_solvers::{Failure, Look, SolverInfo, SolverState, Watching, Wish};

const SYSTEMS: [System; 3] = [System::Normal, System::Hermitian, System::Direct];

fn wilson(team: &Team) -> Dirac<f64> {
    let dims = Dims::new([4, 2, 6, 4]).unwrap();
    let links = Lattice::new(team, dims)
        .unwrap()
        .gauge::<f64>(&random::weak(dims, 0.2, 1), Boundary::antiperiodic_t())
        .unwrap();
    Dirac::wilson(&links, Kappa(0.105)).unwrap()
}

#[test]
fn a_guess_saves_iterations_and_leads_to_the_same_solution() {
    for (name, team) in common::teams() {
        let wilson = wilson(&team);
        let lattice = wilson.lattice();
        let source = lattice.spinor_from_host(&random::spinor_field(lattice.dims(), 2)).unwrap();
        for system in SYSTEMS {
            for (precision, rough, tol) in
                [(IterationPrecision::Double, 1e-5, 1e-11), (IterationPrecision::Single, 1e-2, 1e-4)]
            {
                let params = CrParams::default().with_tol(tol).with_system(system).with_precision(precision);
                let (solution, cold) = cr(&wilson, &source, &params).unwrap();
                let (guess, _) = cr(&wilson, &source, &params.with_tol(rough)).unwrap();
                let (warm_solution, warm) = cr_from(&wilson, &source, &guess, &params).unwrap();
                let what = format!("{name}, {system}, {precision}");
                assert!(warm.iterations < cold.iterations, "{what}: {} {}", warm.iterations, cold.iterations);
                assert!(warm.history[0] < 10.0 * rough, "{what}: {:e}", warm.history[0]);
                assert!(warm.residual.true_residual <= tol, "{what}");
                let error = distance(&warm_solution.to_host().unwrap(), &solution.to_host().unwrap());
                assert!(error < 20.0 * tol, "{what}: {error:e}");
                let (_, done) = cr_from(&wilson, &source, &solution, &params.with_tol(1.1 * tol)).unwrap();
                assert!(done.iterations <= 1, "{what}: {}", done.iterations);
            }
        }
    }
}

#[test]
fn what_a_limited_solve_reached_is_in_the_error() {
    for (name, team) in common::teams() {
        let wilson = wilson(&team);
        let source = wilson.lattice().point_source([1, 0, 5, 3], 3, 1).unwrap();
        let limit = 4;
        let mut outcomes = vec![cg(&wilson, &source, &CgParams::default().with_max_iterations(limit))];
        for system in SYSTEMS {
            let params = CrParams::default().with_max_iterations(limit).with_system(system);
            outcomes.push(cr(&wilson, &source, &params));
        }
        for outcome in outcomes {
            let Err(InvertError::NotConverged { failure, best, info }) = outcome else {
                panic!("{name}: {outcome:?}");
            };
            assert_eq!(failure, Failure::IterationLimit { limit }, "{name}");
            assert_eq!((info.iterations, info.history.len()), (limit, limit + 1), "{name}");
            // The residual that is told is that of the iterate that is returned.
            let mut image = wilson.lattice().spinor().unwrap();
            wilson.apply(&best, &mut image).unwrap();
            let residual = distance(&image.to_host().unwrap(), &source.to_host().unwrap());
            assert!(common::relative(residual, info.residual.true_residual) < 1e-12, "{name}: {residual}");
            assert!(residual < 1.0, "{name}: {residual}");
        }
    }
}

/// Wishes to stop at a certain one of the times that it is asked.
#[derive(Default)]
struct StopAt {
    asked: usize,
    stop: Option<usize>,
    state: Option<SolverState<Vec<u8>>>,
}

impl Checkpoints for StopAt {
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.state.take()
    }

    fn wish(&mut self) -> Wish {
        self.asked += 1;
        if Some(self.asked) == self.stop { Wish::KeepAndStop } else { Wish::GoOn }
    }

    fn keep(&mut self, state: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        let SolverState { method, vectors, scalars, numbers, counts, history } = state.clone();
        let vectors = vectors.into_iter().map(|(name, field)| Ok((name, field.to_bytes()?)));
        let vectors = vectors.collect::<Result<_, DeviceError>>()?;
        self.state = Some(SolverState { method, vectors, scalars, numbers, counts, history });
        Ok(())
    }
}

/// Every method, and every precision and preconditioning with one of them.
fn every_method() -> [SolveParams; 11] {
    use IterationPrecision::{Double, Mixed, Single};
    use Preconditioning::{EvenOdd, None};
    let cr = |system, tol, precision, preconditioning| {
        SolveParams::Cr(
            CrParams::default()
                .with_tol(tol)
                .with_precision(precision)
                .with_preconditioning(preconditioning)
                .with_system(system),
        )
    };
    let bicgstab = |tol, precision, preconditioning| {
        SolveParams::Bicgstab(
            BicgstabParams::default()
                .with_tol(tol)
                .with_precision(precision)
                .with_preconditioning(preconditioning),
        )
    };
    let cg =
        CgParams::default().with_tol(1e-8).with_precision(Mixed(Inner::Half)).with_preconditioning(EvenOdd);
    [
        cr(System::Normal, 1e-6, Double, None),
        cr(System::Hermitian, 1e-6, Double, EvenOdd),
        cr(System::Direct, 1e-4, Single, EvenOdd),
        SolveParams::Cg(cg),
        bicgstab(1e-8, Mixed(Inner::Half), None),
        bicgstab(1e-6, Double, EvenOdd),
        SolveParams::BicgstabL(BicgstabLParams::default().with_tol(1e-6)),
        SolveParams::Gcr(GcrParams::default().with_tol(1e-8).with_precision(Mixed(Inner::Half))),
        SolveParams::Cgne(CgParams::default().with_tol(1e-8).with_precision(Mixed(Inner::Half))),
        SolveParams::Minres(MinresParams::default().with_tol(1e-6).with_preconditioning(EvenOdd)),
        SolveParams::Mr(MrParams::default().with_tol(1e-4).with_preconditioning(EvenOdd)),
    ]
}

#[test]
fn a_solve_that_was_interrupted_goes_on_to_the_same_bits() {
    let every = every_method();
    // More than two devices do nothing that two do not.
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 2) {
        let wilson = wilson(&team);
        let source = wilson.lattice().point_source([1, 0, 5, 3], 3, 1).unwrap();
        // On two devices only sums are made otherwise.
        let some = if team.len() == 2 { &every[..5] } else { &every[..] };
        for &params in some {
            let what = format!("{name}, {params:?}");
            // What is built beforehand is all that is needed.
            build_programs_of_solve(
                wilson.lattice(),
                Boundary::antiperiodic_t(),
                Anisotropy::default(),
                Reconstruction::None,
                SiteTerm::Scalar,
                &params,
            );
            let programs = || team.devices().iter().map(Device::program_count).collect::<Vec<_>>();
            let built = programs();
            let solve = |keeper: &mut StopAt| solve_with_checkpoints(&wilson, &source, &params, keeper);
            let mut never = StopAt::default();
            let (x, info) = solve(&mut never).unwrap();
            assert_eq!(programs(), built, "{what}: not all programs were built beforehand");
            let mut keeper = StopAt { stop: Some(never.asked * 2 / 3), ..Default::default() };
            let Err(InvertError::NotConverged { failure, .. }) = solve(&mut keeper) else {
                panic!("{what}: it does not stop");
            };
            assert_eq!(failure, Failure::Interrupted, "{what}");
            let mut rest = StopAt { state: keeper.state, ..Default::default() };
            let (rest_x, rest_info) = solve(&mut rest).unwrap();
            let told = |info| SolverInfo { time: Default::default(), ..info };
            assert_eq!(told(rest_info), told(info), "{what}");
            assert!(rest_x.to_host().unwrap() == x.to_host().unwrap(), "{what}: other bits");
        }
    }
}

/// Residuals of the history, in their order, and the last one of all.
fn expect_looks(what: &str, looks: &[Look], info: &SolverInfo) {
    let (first, last) = (looks.first().unwrap(), looks.last().unwrap());
    assert_eq!((first.iterations, last.iterations), (0, info.iterations), "{what}");
    assert_eq!(last.residual, info.residual, "{what}");
    assert!(looks.windows(2).all(|pair| pair[0].iterations < pair[1].iterations), "{what}: {looks:?}");
    for look in looks {
        assert_eq!(look.residual.iterated, info.history[look.iterations], "{what}: {look:?}");
    }
}

#[test]
fn whoever_watches_is_told_of_residuals_and_changes_no_bit() {
    let told = |info| SolverInfo { time: Default::default(), ..info };
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 1) {
        let wilson = wilson(&team);
        let lattice = wilson.lattice();
        let source = lattice.point_source([1, 0, 5, 3], 3, 1).unwrap();
        for params in every_method() {
            let what = format!("{name}, {params:?}");
            let (x, info) =
                solve_with_checkpoints(&wilson, &source, &params, &mut StopAt::default()).unwrap();
            let mut looks = Vec::new();
            let mut watching = Watching(|look: &Look| looks.push(*look));
            let (watched, watched_info) =
                solve_with_checkpoints(&wilson, &source, &params, &mut watching).unwrap();
            expect_looks(&what, &looks, &info);
            assert_eq!(told(watched_info), told(info), "{what}");
            assert!(watched.to_host().unwrap() == x.to_host().unwrap(), "{what}: other bits");
        }

        let (_, info) =
            multi_shift_cg(&wilson, &source, &[0.1, 1.0], &MultiShiftCgParams::default()).unwrap();
        let mut looks = Vec::new();
        let mut watch = |look: &Look| looks.push(*look);
        let params = MultiShiftCgParams::default();
        multi_shift_cg_watched(&wilson, &source, &[0.1, 1.0], &params, &mut watch).unwrap();
        expect_looks(&format!("{name}, several shifts"), &looks, &info);

        if team.is_host() {
            let mut looks = Vec::new();
            let mut watching = Watching(|look: &Look| looks.push(*look));
            let params = BlockCgParams::default();
            let block = block_cg_with_checkpoints(&wilson, &source, &params, &mut watching).unwrap();
            assert_eq!(looks.len(), block.info.iterations + 1);
            expect_looks("block CG", &looks, &block.info);
        }
    }
}

/// Takes note of all looks.
#[derive(Default)]
struct Noting(Vec<Look>);

impl Watch for Noting {
    fn looked(&mut self, look: &Look) {
        self.0.push(*look);
    }

    fn falls_back(&mut self, _: &Attempt, _: &SolveParams, _: f64) {}
}

#[test]
fn whoever_watches_an_automatic_choice_is_told_of_all_methods() {
    let dims = Dims::new([4, 2, 6, 4]).unwrap();
    let links = Lattice::new(&Team::host(), dims)
        .unwrap()
        .gauge::<f64>(&random::weak(dims, 0.2, 6), Boundary::antiperiodic_t())
        .unwrap();
    // Here BiCGStab gives up.
    let wilson = Dirac::wilson(&links, Kappa(0.2)).unwrap();
    let source = wilson.lattice().spinor_from_host(&random::spinor_field(dims, 7)).unwrap();
    let mut noting = Noting::default();
    let found = Auto::new(AutoParams::default()).solve(&wilson, &source, &mut noting).unwrap();
    let looks = noting.0;
    assert!(found.attempts.len() > 1);
    assert!(looks.windows(2).all(|pair| pair[0].iterations <= pair[1].iterations));
    assert_eq!(looks.last().map(|look| look.iterations), Some(found.info.iterations));
    // The second method begins where the first one ended: its residual is that of the best iterate, relative to the whole source.
    let before = found.attempts[0].iterations;
    let begun = looks.iter().rev().find(|look| look.iterations == before).unwrap().residual.iterated;
    assert!(begun < 1.0, "{begun}");
}
