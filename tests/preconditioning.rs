//! Even-odd preconditioning: the Schur complement by its definition, and the same solutions as without it.

use crate::common;

use common::relative;
use common::spinors::{distance, half};
use lattice_cl::compute::{DeviceError, Team};
use lattice_cl::field::{SpinorField, StoredField};
use lattice_cl::geometry::{Boundary, Lattice};
use lattice_cl::host::{Spinor, random};
use lattice_cl::operator::{Coupling, Dirac, Kappa, Mass, System};
use lattice_cl::solve::{
    self, Attempt, Auto, AutoParams, AutoSolution, BicgstabLParams, BicgstabParams, BlockCgParams,
    BlockSolution, CgParams, Checkpoints, CrParams, Earlier, GcrParams, Inner, InvertError,
    IterationPrecision, KeptChoice, MinresParams, MrParams, MultiShiftCgParams, Preconditioning, SolveParams,
    Watch, bicgstab, bicgstab_l, block_cg, block_cg_with_checkpoints, cg, cgne, cr, cr_from, gcr, minres, mr,
};
use lattice_cl::{Dims, GaugeConfiguration, io};
use lattice_solvers::{
    Failure, LinearOperator, MultiShiftOptions, Shifted, SolverError, SolverInfo, SolverState, VectorSpace,
    Wish, multi_shift_cg,
};

const COUPLINGS: [Coupling; 2] = [Coupling::Kappa(Kappa(0.105)), Coupling::Mass(Mass(0.8))];

fn dims() -> Dims {
    Dims::new([4, 2, 6, 4]).unwrap()
}

fn wilson(team: &Team, configuration: &GaugeConfiguration, coupling: Coupling) -> Dirac<f64> {
    let lattice = Lattice::new(team, configuration.dims()).unwrap();
    let links = lattice.gauge::<f64>(configuration, Boundary::antiperiodic_t()).unwrap();
    Dirac::wilson(&links, coupling).unwrap()
}

#[test]
fn parities_are_taken_out_of_a_field_and_put_back() {
    let values = [random::spinor_field(dims(), 1), random::spinor_field(dims(), 2)].concat();
    for (name, team) in common::teams() {
        let lattice = Lattice::new(&team, dims()).unwrap();
        let field = lattice.spinors_from_host::<f64>(2, &values).unwrap();
        // On devices spins are turned to another basis, and back.
        let held = field.to_host().unwrap();
        assert!(distance(&held, &values) < 1e-15, "{name}");
        let values = held;
        let mut joined = lattice.spinors::<f64>(2).unwrap();
        for parity in [1, 0] {
            let mut part = lattice.parities::<f64>(parity, 2).unwrap();
            field.copy_parity_to(&mut part).unwrap();
            let expected: Vec<_> =
                values.chunks(dims().volume()).flat_map(|field| half(field, dims(), parity)).collect();
            assert_eq!(part.to_host().unwrap(), expected, "{name}");
            joined.copy_parity_from(&part).unwrap();
        }
        assert_eq!(joined.to_host().unwrap(), values, "{name}");
    }
}

/// M applied to x with x_o = −(c/s) H_oe x_e is zero on the odd sites, and M̂ x_e on the even ones.
#[test]
fn the_schur_complement_is_what_is_left_of_the_operator() {
    let configuration = random::hot(dims(), 3);
    let even = half(&random::spinor_field(dims(), 4), dims(), 0);
    let other = half(&random::spinor_field(dims(), 5), dims(), 0);
    for (name, team) in common::teams() {
        for coupling in COUPLINGS {
            let wilson = wilson(&team, &configuration, coupling);
            let lattice = wilson.lattice();
            let schur = wilson.schur_complement().unwrap();
            let space = schur.space();
            let x = lattice.parity_from_host(0, &even).unwrap();
            let mut image = space.zero_vector().unwrap();
            schur.apply(&x, &mut image).unwrap();

            let mut full = lattice.spinor().unwrap();
            let mut full_image = lattice.spinor().unwrap();
            full.copy_parity_from(&x).unwrap();
            wilson.apply(&full, &mut full_image).unwrap();
            // On the odd sites this is c H_oe x_e: divided by −s it is x_o.
            let shift = if let Coupling::Mass(Mass(mass)) = coupling { 4.0 + mass } else { 1.0 };
            let odd: Vec<_> = half(&full_image.to_host().unwrap(), dims(), 1)
                .iter()
                .map(|spinor| Spinor::from_fn(|s, c| -spinor.0[s][c] / shift))
                .collect();
            full.copy_parity_from(&lattice.parity_from_host(1, &odd).unwrap()).unwrap();
            wilson.apply(&full, &mut full_image).unwrap();
            let found = full_image.to_host().unwrap();
            let on_odd: f64 = half(&found, dims(), 1).iter().map(Spinor::norm2).sum();
            assert!(on_odd < 1e-24, "{name}: {on_odd:e}");
            let image_on_host = image.to_host().unwrap();
            assert!(distance(&image_on_host, &half(&found, dims(), 0)) < 1e-14, "{name}");

            // ⟨y|M̂x⟩ = ⟨M̂†y|x⟩, and ⟨x|M̂†M̂x⟩ = ‖M̂x‖².
            let normal = schur.normal().unwrap();
            let y = lattice.parity_from_host(0, &other).unwrap();
            let mut adjoint_image = space.zero_vector().unwrap();
            normal.adjoint().apply(&y, &mut adjoint_image).unwrap();
            let dot = |x: &_, y: &_| space.dot(x, y).unwrap().value().unwrap();
            let (left, right) = (dot(&y, &image), dot(&adjoint_image, &x));
            assert!((left - right).norm() < 1e-13 * left.norm().max(1.0), "{name}: {left} {right}");
            let norm2 = dot(&image, &image).re;
            let product = normal.apply_dot(&x, &mut adjoint_image).unwrap().value().unwrap();
            assert!((product - norm2).norm() < 1e-13 * norm2, "{name}: {product} {norm2}");
        }
    }
}

#[test]
fn every_method_finds_the_same_solution_with_and_without_it() {
    let configuration = random::weak(dims(), 0.2, 6);
    let precisions = [
        (IterationPrecision::Double, 1e-11),
        (IterationPrecision::Mixed(Inner::Half), 1e-12),
        (IterationPrecision::Single, 1e-4),
        (IterationPrecision::Mixed(Inner::Single), 1e-12),
    ];
    // The host and one device: what several devices do is in the tests of the operators. No method knows where it runs, so the device has
    // one coupling, and double and half precision, which are all the kernels there are but those of a solve in single.
    for (name, team) in common::teams().into_iter().take(2) {
        let (couplings, precisions) = match team.is_host() {
            true => (&COUPLINGS[..], &precisions[..]),
            false => (&COUPLINGS[..1], &precisions[..2]),
        };
        for &coupling in couplings {
            let wilson = wilson(&team, &configuration, coupling);
            let lattice = wilson.lattice();
            let source = lattice.spinor_from_host(&random::spinor_field(dims(), 7)).unwrap();
            let (expected, _) = cr(&wilson, &source, &CrParams::default().with_tol(1e-13)).unwrap();
            let expected = expected.to_host().unwrap();
            for &(precision, tol) in precisions {
                let solve = |preconditioning| {
                    let [normal, hermitian, direct] = [System::Normal, System::Hermitian, System::Direct]
                        .map(|system| {
                            CrParams::default()
                                .with_tol(tol)
                                .with_system(system)
                                .with_precision(precision)
                                .with_preconditioning(preconditioning)
                        })
                        .map(|params| cr(&wilson, &source, &params).unwrap());
                    let params = CgParams::default()
                        .with_tol(tol)
                        .with_precision(precision)
                        .with_preconditioning(preconditioning);
                    let cg = cg(&wilson, &source, &params).unwrap();
                    let params = CgParams::default()
                        .with_tol(tol)
                        .with_precision(precision)
                        .with_preconditioning(preconditioning);
                    let cgne = cgne(&wilson, &source, &params).unwrap();
                    let params = BicgstabParams::default()
                        .with_tol(tol)
                        .with_precision(precision)
                        .with_preconditioning(preconditioning);
                    let bicgstab = bicgstab(&wilson, &source, &params).unwrap();
                    let params = BicgstabLParams::default()
                        .with_tol(tol)
                        .with_precision(precision)
                        .with_preconditioning(preconditioning);
                    let bicgstab_l = bicgstab_l(&wilson, &source, &params).unwrap();
                    let params = GcrParams::default()
                        .with_tol(tol)
                        .with_precision(precision)
                        .with_preconditioning(preconditioning);
                    let gcr = gcr(&wilson, &source, &params).unwrap();
                    let params = MrParams::default()
                        .with_tol(tol)
                        .with_precision(precision)
                        .with_preconditioning(preconditioning);
                    let mr = mr(&wilson, &source, &params).unwrap();
                    let params = MinresParams::default()
                        .with_tol(tol)
                        .with_precision(precision)
                        .with_preconditioning(preconditioning);
                    let minres = minres(&wilson, &source, &params).unwrap();
                    [normal, hermitian, direct, cg, cgne, bicgstab, bicgstab_l, gcr, mr, minres]
                };
                let plain = solve(Preconditioning::None);
                let preconditioned = solve(Preconditioning::EvenOdd);
                for (k, ((x, info), (_, plain))) in preconditioned.iter().zip(&plain).enumerate() {
                    let what = format!("{name}, {coupling:?}, {precision}, method {k}");
                    assert!(
                        info.iterations < plain.iterations,
                        "{what}: {} {}",
                        info.iterations,
                        plain.iterations
                    );
                    assert!(info.residual.true_residual <= tol, "{what}");
                    let error = distance(&x.to_host().unwrap(), &expected);
                    assert!(error < 20.0 * tol, "{what}: {error:e}");
                }
            }
            let params = CrParams::default().with_preconditioning(Preconditioning::EvenOdd);
            let guess = lattice.spinor_from_host(&expected).unwrap();
            let (_, done) = cr_from(&wilson, &source, &guess, &params).unwrap();
            assert_eq!(done.iterations, 0, "{name}");
        }
    }
}

#[test]
fn shifted_normal_equations_are_solved_at_once() {
    let configuration = random::weak(dims(), 0.2, 8);
    let shifts = [20.0, 0.0, 0.05];
    for (name, team) in common::teams().into_iter().take(2) {
        let wilson = wilson(&team, &configuration, COUPLINGS[0]);
        let normal = wilson.schur_complement().unwrap().normal().unwrap();
        let space = normal.space();
        let source = half(&random::spinor_field(dims(), 9), dims(), 0);
        let b = wilson.lattice().parity_from_host(0, &source).unwrap();
        let (all, info) = multi_shift_cg(&normal, &shifts, &b, &MultiShiftOptions::default(), None).unwrap();
        for (Shifted { x, residual, iterations, .. }, shift) in all.iter().zip(shifts) {
            let mut image = space.zero_vector().unwrap();
            normal.apply(x, &mut image).unwrap();
            space.axpy(&space.scalar(shift.into()), x, &mut image).unwrap();
            let found = distance(&image.to_host().unwrap(), &source);
            assert!(found <= 1e-10 && residual.true_residual <= 1e-10, "{name} {shift}: {found:e}");
            assert!(*iterations <= info.iterations, "{name} {shift}");
        }
        assert!(2 * all[0].iterations < info.iterations, "{name}: large shifts converge first");

        // Those of the operator on all sites, by the definition of M†M.
        let values = random::spinor_field(dims(), 9);
        let b = wilson.lattice().spinor_from_host(&values).unwrap();
        let (all, info) =
            solve::multi_shift_cg(&wilson, &b, &shifts, &MultiShiftCgParams::default()).unwrap();
        let (normal, space) = (wilson.normal().unwrap(), wilson.space());
        for (Shifted { x, residual, iterations, .. }, shift) in all.iter().zip(shifts) {
            let (mut image, mut squared) = (space.zero_vector().unwrap(), space.zero_vector().unwrap());
            wilson.apply(x, &mut image).unwrap();
            normal.adjoint().apply(&image, &mut squared).unwrap();
            space.axpy(&space.scalar(shift.into()), x, &mut squared).unwrap();
            let found = distance(&squared.to_host().unwrap(), &values);
            assert!(
                relative(found, residual.true_residual) < 1e-6 && found <= 1e-10,
                "{name} {shift}: {found:e}"
            );
            assert!(*iterations <= info.iterations, "{name} {shift}");
        }
        let Err(SolverError::NotConverged { best, .. }) = solve::multi_shift_cg(
            &wilson,
            &b,
            &shifts,
            &MultiShiftCgParams::default().with_max_iterations(2),
        ) else {
            panic!("{name}: two iterations are too few");
        };
        assert_eq!(best.len(), shifts.len(), "{name}");
    }
}

/// On unit links the second residual of BiCGStab is orthogonal to a point source: its textbook form breaks down exactly.
#[test]
fn bicgstab_solves_the_free_field_with_a_point_source() {
    let configuration = GaugeConfiguration::unit(Dims::new([4, 4, 4, 8]).unwrap());
    // The host and one device: what several devices do is in the tests of the operators.
    for (name, team) in common::teams().into_iter().take(2) {
        let wilson = wilson(&team, &configuration, Kappa(0.12).into());
        let source = wilson.lattice().point_source([0; 4], 0, 0).unwrap();
        for preconditioning in [Preconditioning::None, Preconditioning::EvenOdd] {
            let params = BicgstabParams::default().with_preconditioning(preconditioning);
            let (_, info) = bicgstab(&wilson, &source, &params).unwrap();
            assert!(info.residual.true_residual <= params.tol, "{name}");
            let params = BicgstabLParams::default().with_preconditioning(preconditioning);
            let (_, info) = bicgstab_l(&wilson, &source, &params).unwrap();
            assert!(info.residual.true_residual <= params.tol, "{name}");
        }
        // Mixed precision on this lattice would be compiled for this alone.
        if !team.is_host() {
            continue;
        }
        let found =
            Auto::new(AutoParams::default()).solve(&wilson, &source, &mut Watcher::default()).unwrap();
        assert!(found.info.residual.true_residual <= 1e-10, "{name}");
        let [Attempt { params: SolveParams::Bicgstab(_), failure: None, .. }] = found.attempts[..] else {
            panic!("{name}: {:?}", found.attempts);
        };
    }
}

/// Writes down what it is told.
#[derive(Default)]
struct Watcher {
    told: Vec<(Attempt, SolveParams, f64)>,
    stops_at_once: bool,
}

impl Watch for Watcher {
    fn wish(&mut self) -> Wish {
        if self.stops_at_once { Wish::Stop } else { Wish::GoOn }
    }

    fn falls_back(&mut self, failed: &Attempt, next: &SolveParams, from: f64) {
        self.told.push((failed.clone(), *next, from));
    }
}

/// Beyond the critical hopping parameter eigenvalues of M lie on both sides of zero, which BiCGStab does not stand.
#[test]
fn an_automatic_choice_goes_on_with_another_method_and_remembers_it() {
    let configuration = random::weak(dims(), 0.2, 6);
    let mixed = IterationPrecision::Mixed(Inner::Single);
    for (name, team) in common::teams().into_iter().take(2) {
        let wilson = wilson(&team, &configuration, Kappa(0.2).into());
        let lattice = wilson.lattice();
        let mut auto = Auto::new(AutoParams::default().with_precision(Some(mixed)));
        for seed in [7, 8] {
            let source = lattice.spinor_from_host(&random::spinor_field(dims(), seed)).unwrap();
            let mut watcher = Watcher::default();
            let found = auto.solve(&wilson, &source, &mut watcher).unwrap();
            let solved_by_cg = matches!(found.attempts.last().unwrap().params, SolveParams::Cg(_));
            assert!(solved_by_cg && found.info.residual.true_residual <= 1e-10, "{name}");
            let iterations: usize = found.attempts.iter().map(|attempt| attempt.iterations).sum();
            assert_eq!((found.info.iterations, found.info.history.len()), (iterations, iterations + 1));
            if seed == 7 {
                let [(failed, SolveParams::Cg(next), _)] = &watcher.told[..] else {
                    panic!("{name}: {:?}", watcher.told);
                };
                assert!(matches!(failed.params, SolveParams::Bicgstab(_)) && failed.failure.is_some());
                assert_eq!((failed, next.precision), (&found.attempts[0], mixed));
            } else {
                assert_eq!((found.attempts.len(), watcher.told.len()), (1, 0), "{name}");
            }
        }
    }
}

#[test]
fn an_automatic_choice_goes_on_from_the_iterate_that_was_reached() {
    let configuration = random::weak(dims(), 0.2, 6);
    let wilson = wilson(&Team::host(), &configuration, COUPLINGS[0]);
    let source = wilson.lattice().spinor_from_host(&random::spinor_field(dims(), 7)).unwrap();
    let solve = |max_iterations, watcher: &mut Watcher| {
        Auto::new(AutoParams::default().with_max_iterations(max_iterations)).solve(&wilson, &source, watcher)
    };
    let needed = solve(10_000, &mut Watcher::default()).unwrap().info.iterations;
    let cg_alone = {
        let preconditioning = Preconditioning::EvenOdd;
        let params = CgParams::default().with_preconditioning(preconditioning);
        cg(&wilson, &source, &params).unwrap().1.iterations
    };
    // BiCGStab has half of these, not enough.
    let mut watcher = Watcher::default();
    let found = solve(2 * needed - 2, &mut watcher).unwrap();
    let (_, _, from) = watcher.told[0];
    assert_eq!(from, found.attempts[0].residual.true_residual);
    assert!(from < 1e-6 && found.attempts[1].iterations < cg_alone / 2, "{from:e} {:?}", found.attempts);

    let Err(InvertError::AllGaveUp { best, info, attempts, .. }) = solve(4, &mut Watcher::default()) else {
        panic!("four iterations are too few");
    };
    let smallest = attempts.iter().map(|attempt| attempt.residual.true_residual).fold(1.0, f64::min);
    assert_eq!((attempts.len(), info.iterations, info.residual.true_residual), (2, 4, smallest));
    let mut image = wilson.space().zero_vector().unwrap();
    wilson.apply(&best, &mut image).unwrap();
    let b = source.to_host().unwrap();
    assert!((distance(&image.to_host().unwrap(), &b) - smallest).abs() < 1e-6 * smallest);

    let mut watcher = Watcher { stops_at_once: true, ..Default::default() };
    let Err(InvertError::NotConverged { failure, .. }) = solve(10_000, &mut watcher) else {
        panic!("it was stopped");
    };
    assert_eq!((failure, watcher.told.len()), (Failure::Interrupted, 0));
}

/// Where BiCGStab converges well it stays; near the critical hopping parameter CG takes its place, after a trial.
#[test]
fn an_automatic_choice_ends_with_the_cheaper_method() {
    let Some(shared) = common::shared() else { return };
    let configuration = io::read_gauge(shared.join("data/lat.sample.l4444")).unwrap();
    for (kappa, cheaper) in [(0.14, "bicgstab"), (0.16, "cg")] {
        let wilson = wilson(&Team::host(), &configuration, Kappa(kappa).into());
        let mut auto = Auto::new(AutoParams::default());
        let mut watcher = Watcher::default();
        let mut solve = |spin, colour| {
            let source = wilson.lattice().point_source([0; 4], spin, colour).unwrap();
            auto.solve(&wilson, &source, &mut watcher).unwrap().attempts
        };
        let methods =
            |attempts: &[Attempt]| attempts.iter().map(|attempt| attempt.params.method()).collect::<Vec<_>>();
        let all = [solve(0, 0), solve(0, 1), solve(0, 2), solve(1, 0)];
        assert_eq!(methods(&all[0]), ["bicgstab"], "{kappa}");
        assert_eq!(methods(&all[1]), ["cg", cheaper], "{kappa}: {:?}", all[1]);
        assert_eq!(all[1][0].iterations, all[0][0].iterations.div_ceil(2), "{kappa}: a trial is short");
        assert_eq!((methods(&all[2]), methods(&all[3])), (vec![cheaper], vec![cheaper]), "{kappa}");
        // The measure of the choice: what the other method needs for the same source.
        let source = wilson.lattice().point_source([0; 4], 0, 0).unwrap();
        let IterationPrecision::Mixed(_) = all[0][0].params.precision() else { panic!("{kappa}") };
        let (precision, preconditioning) = (all[0][0].params.precision(), Preconditioning::EvenOdd);
        let params = CgParams::default().with_precision(precision).with_preconditioning(preconditioning);
        let by_cg = cg(&wilson, &source, &params).unwrap().1.work.bytes;
        assert_eq!(by_cg < all[0][0].work.bytes, cheaper == "cg", "{kappa}");
        assert!(watcher.told.is_empty(), "{kappa}: nothing failed");
    }
}

/// Wishes to stop at a certain one of the times that it is asked.
#[derive(Default)]
struct StopAt {
    asked: usize,
    stop: Option<usize>,
    kept: Option<KeptChoice>,
}

impl Watch for StopAt {
    fn kept(&mut self) -> Option<KeptChoice> {
        self.kept.take()
    }

    fn wish(&mut self) -> Wish {
        self.asked += 1;
        if Some(self.asked) == self.stop { Wish::KeepAndStop } else { Wish::GoOn }
    }

    fn keep(
        &mut self,
        earlier: &Earlier<&dyn StoredField>,
        state: &SolverState<&dyn StoredField>,
    ) -> Result<(), DeviceError> {
        let Earlier { attempts, history, best } = earlier.clone();
        let best = best.map(|best| best.to_bytes()).transpose()?;
        let SolverState { method, vectors, scalars, numbers, counts, history: state_history } = state.clone();
        let vectors = vectors.into_iter().map(|(name, field)| Ok((name, field.to_bytes()?)));
        let vectors = vectors.collect::<Result<_, DeviceError>>()?;
        let state = SolverState { method, vectors, scalars, numbers, counts, history: state_history };
        self.kept = Some((Earlier { attempts, history, best }, state));
        Ok(())
    }

    fn falls_back(&mut self, _: &Attempt, _: &SolveParams, _: f64) {}
}

/// Where nothing is chosen.
impl Checkpoints for StopAt {
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        Watch::kept(self).map(|(_, state)| state)
    }

    fn wish(&mut self) -> Wish {
        Watch::wish(self)
    }

    fn keep(&mut self, state: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        Watch::keep(self, &Earlier::default(), state)
    }
}

#[test]
fn an_automatic_choice_that_was_interrupted_goes_on_to_the_same_bits() {
    let configuration = random::weak(dims(), 0.2, 6);
    let told = |mut solution: AutoSolution| {
        solution.info.time = Default::default();
        solution.attempts.iter_mut().for_each(|attempt| attempt.time = Default::default());
        (solution.x.to_host().unwrap(), solution.info, solution.attempts)
    };
    // Here BiCGStab gives up; there CG is tried for the second source.
    for (kappa, sources) in [(0.2, [7, 8]), (0.105, [7, 8])] {
        let wilson = wilson(&Team::host(), &configuration, Kappa(kappa).into());
        let team = wilson.lattice().team();
        let solve = |auto: &mut Auto, seed, keeper: &mut StopAt| {
            let source = wilson.lattice().spinor_from_host(&random::spinor_field(dims(), seed)).unwrap();
            auto.solve(&wilson, &source, keeper)
        };
        let mut whole = Auto::new(AutoParams::default());
        let mut before = Vec::new();
        for seed in sources {
            // As a run that was interrupted knows it.
            let again = || {
                let mut auto = Auto::new(AutoParams::default());
                before.iter().for_each(|attempts: &Vec<Attempt>| auto.learn(team, attempts));
                auto
            };
            let mut never = StopAt::default();
            let wanted = solve(&mut whole, seed, &mut never).unwrap();
            let attempts = wanted.attempts.clone();
            let wanted = told(wanted);
            let stops = [1, never.asked / 2, never.asked - 1];
            let mut interrupted_in = Vec::new();
            for stop in stops {
                let mut keeper = StopAt { stop: Some(stop), ..Default::default() };
                let Err(InvertError::NotConverged { failure, .. }) = solve(&mut again(), seed, &mut keeper)
                else {
                    panic!("{kappa}, {seed}: it does not stop");
                };
                assert_eq!(failure, Failure::Interrupted);
                interrupted_in.push(keeper.kept.as_ref().unwrap().0.attempts.len());
                let mut rest = StopAt { kept: keeper.kept, ..Default::default() };
                let rest = solve(&mut again(), seed, &mut rest).unwrap();
                assert!(told(rest) == wanted, "{kappa}, {seed}, stopped at {stop} of {}", never.asked);
            }
            assert_eq!(interrupted_in[0], 0);
            assert_eq!(interrupted_in[2], attempts.len() - 1, "the last attempt was interrupted too");
            before.push(attempts);
        }
        assert_eq!(
            before.iter().map(Vec::len).max(),
            Some(2),
            "{kappa}: one source was not solved by one method"
        );
    }
}

/// Sources one after the other, in one field.
fn together(lattice: &Lattice, sources: &[Vec<Spinor<f64>>]) -> SpinorField<f64> {
    lattice.spinors_from_host(sources.len(), &sources.concat()).unwrap()
}

#[test]
fn several_sources_are_solved_at_once() {
    let configuration = random::weak(dims(), 0.2, 6);
    let sources: Vec<_> = (0..12).map(|seed| random::spinor_field(dims(), 20 + seed)).collect();
    let precisions = [
        IterationPrecision::Double,
        IterationPrecision::Mixed(Inner::Half),
        IterationPrecision::Mixed(Inner::Single),
    ];
    for (name, team) in common::teams().into_iter().take(2) {
        // On a device double only, unless everything is asked for: its kernels for several sources are compiled for this alone.
        let all = team.is_host() || common::all_combinations();
        let precisions = if all { &precisions[..] } else { &precisions[..1] };
        let wilson = wilson(&team, &configuration, COUPLINGS[0]);
        let lattice = wilson.lattice();
        let b = together(lattice, &sources);
        // All but the time.
        let told = |block: &BlockSolution| {
            let info = SolverInfo { time: Default::default(), ..block.info.clone() };
            (block.x.to_host().unwrap(), block.residuals.clone(), info)
        };
        for preconditioning in [Preconditioning::EvenOdd, Preconditioning::None] {
            if !all && preconditioning == Preconditioning::None {
                continue;
            }
            let params = CgParams::default().with_preconditioning(preconditioning).with_tol(1e-11);
            let alone: Vec<_> = sources
                .iter()
                .map(|b| cg(&wilson, &lattice.spinor_from_host(b).unwrap(), &params).unwrap())
                .collect();
            let fewest = alone.iter().map(|(_, info)| info.iterations).min().unwrap();
            for &precision in precisions {
                let params = BlockCgParams::default()
                    .with_preconditioning(preconditioning)
                    .with_precision(precision)
                    .with_tol(1e-11);
                let what = format!("{name}, {preconditioning}, {precision}");
                let mut never = StopAt::default();
                let block = block_cg_with_checkpoints(&wilson, &b, &params, &mut never).unwrap();
                let mut keeper = StopAt { stop: Some(never.asked * 2 / 3), ..Default::default() };
                let stopped = block_cg_with_checkpoints(&wilson, &b, &params, &mut keeper);
                assert!(
                    matches!(stopped, Err(InvertError::NotConverged { failure: Failure::Interrupted, .. })),
                    "{what}"
                );
                let mut rest = StopAt { kept: keeper.kept, ..Default::default() };
                let rest = block_cg_with_checkpoints(&wilson, &b, &params, &mut rest).unwrap();
                assert!(told(&rest) == told(&block), "{what}: it goes on to another result");
                let BlockSolution { x, residuals, info } = block;
                assert!(info.iterations < fewest, "{what}: {} {fewest}", info.iterations);
                assert_eq!(info.history.len(), info.iterations + 1, "{what}");
                let solutions = x.to_host().unwrap();
                for ((found, (expected, _)), residual) in
                    solutions.chunks(dims().volume()).zip(&alone).zip(residuals)
                {
                    let error = distance(found, &expected.to_host().unwrap());
                    assert!(
                        error < 1e-9 && residual.true_residual <= 1e-11,
                        "{what}: {error:e} {residual:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn sources_that_depend_on_each_other_are_solved_at_once() {
    let configuration = random::weak(dims(), 0.2, 6);
    let [one, other] = [31, 32].map(|seed| random::spinor_field(dims(), seed));
    let zero = vec![Spinor::default(); one.len()];
    let wilson = wilson(&Team::host(), &configuration, COUPLINGS[0]);
    let lattice = wilson.lattice();
    let sum: Vec<_> =
        one.iter().zip(&other).map(|(a, b)| Spinor::from_fn(|s, c| a.0[s][c] + b.0[s][c])).collect();
    let sources = [one.clone(), zero, other, one, sum];
    for precision in [IterationPrecision::Double, IterationPrecision::Mixed(Inner::Single)] {
        let params = BlockCgParams::default().with_precision(precision);
        let BlockSolution { x, residuals, .. } =
            block_cg(&wilson, &together(lattice, &sources), &params).unwrap();
        let mut images = lattice.spinors(5).unwrap();
        wilson.for_columns(5).unwrap().apply(&x, &mut images).unwrap();
        let images = images.to_host().unwrap();
        for (k, (image, b)) in images.chunks(dims().volume()).zip(&sources).enumerate() {
            if k == 1 {
                assert!(image.iter().all(|image| *image == Spinor::default()));
                assert_eq!(residuals[k].true_residual, 0.0);
            } else {
                let error = distance(image, b);
                assert!((error - residuals[k].true_residual).abs() < 1e-13, "{error:e} {:?}", residuals[k]);
                assert!(error <= params.tol, "{precision}, source {k}: {error:e}");
            }
        }
    }
}

#[test]
fn a_block_that_is_not_solved_is_an_error_with_what_was_reached() {
    let configuration = random::weak(dims(), 0.2, 6);
    let sources: Vec<_> = (0..3).map(|seed| random::spinor_field(dims(), 40 + seed)).collect();
    // Far beyond the critical hopping parameter.
    let wilson = wilson(&Team::host(), &configuration, Kappa(0.2).into());
    let b = together(wilson.lattice(), &sources);
    let params = BlockCgParams::default().with_max_iterations(20);
    let Err(InvertError::NotConverged { failure, best, info }) = block_cg(&wilson, &b, &params) else {
        panic!("twenty iterations are too few");
    };
    assert_eq!((failure, info.iterations), (Failure::IterationLimit { limit: 20 }, 20));
    assert_eq!(best.columns(), 3);
    assert!(best.to_host().unwrap().iter().all(|spinor| spinor.norm2().is_finite()));

    let many = wilson.lattice().spinors(25).unwrap();
    let refused = block_cg(&wilson, &many, &params).unwrap_err();
    assert!(matches!(refused, InvertError::Parameter { name: "number of sources", .. }), "{refused}");
}
