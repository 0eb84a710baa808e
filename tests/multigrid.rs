//! The multigrid method: the solutions of other methods in few cycles, for every operator and however the lattice is cut.

use crate::common;

use common::{all_combinations, small, team_of, teams};
use lattice_cl::compute::Team;
use lattice_cl::field::SpinorField;
use lattice_cl::geometry::{Boundary, Grid, Lattice};
use lattice_cl::host::{Spinor, random};
use lattice_cl::multigrid::{
    Block, CycleKind, Multigrid, MultigridParams, SetupError, SetupFile, SetupFileError, SetupProgress,
    SetupWatch,
};
use lattice_cl::operator::{Dirac, Kappa, SiteTerm};
use lattice_cl::solve::{
    Attempt, Auto, AutoParams, AutoSolution, BicgstabParams, BlockSolution, CgParams, Inner, Preconditioning,
    SolveParams, Watch, bicgstab, cg,
};
use lattice_cl::{Dims, GaugeConfiguration};
use lattice_solvers::{LinearOperator, VectorSpace};
use std::sync::Arc;

const TERMS: [SiteTerm; 4] = [
    SiteTerm::Scalar,
    SiteTerm::Clover { csw: 1.0, mu: 0.0 },
    SiteTerm::Twisted { mu: 0.05 },
    SiteTerm::Clover { csw: 1.0, mu: -0.03 },
];

fn few_vectors() -> MultigridParams {
    MultigridParams::default().with_vectors(Some(6)).with_setup_iterations(20)
}

fn dirac(
    lattice: &Lattice,
    configuration: &Arc<GaugeConfiguration>,
    kappa: f64,
    term: SiteTerm,
) -> Dirac<f64> {
    let links = lattice.gauge::<f64>(configuration, Boundary::antiperiodic_t()).unwrap();
    let links = if term.csw() != 0.0 { links.with_clover(Arc::clone(configuration)).unwrap() } else { links };
    Dirac::new(&links, Kappa(kappa), term).unwrap()
}

/// ‖x − y‖ / ‖y‖
fn distance(dirac: &Dirac<f64>, x: &SpinorField<f64>, y: &SpinorField<f64>) -> f64 {
    let space = dirac.space();
    let mut difference = space.zero_vector().unwrap();
    space.copy(x, &mut difference).unwrap();
    space.axpy(&space.scalar((-1.0).into()), y, &mut difference).unwrap();
    let norms = [space.norm2(&difference).unwrap(), space.norm2(y).unwrap()];
    let [difference, norm] = space.read([&norms[0], &norms[1]]).unwrap();
    (difference.re / norm.re).sqrt()
}

fn source(lattice: &Lattice) -> SpinorField<f64> {
    lattice.point_source([1, 0, 1, 1], 2, 1).unwrap()
}

#[test]
fn solutions_are_those_of_cg_on_every_operator_and_team() {
    let dims = Dims::new(if small() { [4, 4, 2, 4] } else { [4, 4, 4, 12] }).unwrap();
    let configuration = Arc::new(random::weak(dims, 0.3, 3));
    for (number, (name, team)) in teams().into_iter().enumerate() {
        let lattice = Lattice::new(&team, dims).unwrap();
        // Kernels to compile are what takes the time: operators take turns.
        let all = team.is_host() || all_combinations();
        for (_, term) in TERMS.into_iter().enumerate().filter(|(k, _)| all || number % TERMS.len() == *k) {
            let dirac = dirac(&lattice, &configuration, 0.125, term);
            let b = source(&lattice);
            let mut multigrid = Multigrid::new(&dirac, few_vectors(), |_| ()).unwrap();
            let (x, info) = multigrid.solve(&dirac, &b, None).unwrap();
            assert!(info.residual.true_residual <= 1e-10, "{name}, {term:?}");
            let params = CgParams::default().with_preconditioning(Preconditioning::EvenOdd);
            let (y, of_cg) = cg(&dirac, &b, &params).unwrap();
            let distance = distance(&dirac, &x, &y);
            assert!(distance < 1e-8, "{name}, {term:?}: {distance:e}");
            assert!(info.iterations < of_cg.iterations / 2, "{name}, {term:?}: {}", info.iterations);
        }
    }
}

/// Cycles, and iterations of BiCGStab, for operators with the near-null vectors of the first.
fn cycles_of(lattice: &Lattice, roughness: f64, cases: &[(f64, SiteTerm)]) -> Vec<[usize; 2]> {
    let configuration = Arc::new(random::weak(lattice.dims(), roughness, 3));
    let b = source(lattice);
    let mut multigrid: Option<Multigrid> = None;
    let counts = cases.iter().map(|&(kappa, term)| {
        let dirac = dirac(lattice, &configuration, kappa, term);
        let mut levels = match multigrid.take() {
            None => Multigrid::new(&dirac, MultigridParams::default(), |_| ()).unwrap(),
            Some(levels) => Multigrid::for_operator(levels, &dirac, |_| ()).unwrap(),
        };
        let (x, info) = levels.solve(&dirac, &b, None).unwrap();
        let params = BicgstabParams::default().with_preconditioning(Preconditioning::EvenOdd);
        let (y, of_bicgstab) = bicgstab(&dirac, &b, &params).unwrap();
        assert!(distance(&dirac, &x, &y) < 1e-7, "{kappa} {term:?}");
        multigrid = Some(levels);
        [info.iterations, of_bicgstab.iterations]
    });
    counts.collect()
}

#[test]
fn cycles_hardly_grow_as_quarks_become_light() {
    if small() {
        return;
    }
    let lattice = Lattice::new(&team_of(1), Dims::new([8, 8, 8, 8]).unwrap()).unwrap();
    let kappas = [0.136, 0.1345, 0.132, 0.129];
    let counts = cycles_of(&lattice, 0.25, &kappas.map(|kappa| (kappa, SiteTerm::Scalar)));
    let [light, heavy] = [counts[0], counts[3]];
    // Within a fifth of their mean.
    let mean = counts.iter().map(|[cycles, _]| *cycles as f64).sum::<f64>() / counts.len() as f64;
    assert!(counts.iter().all(|[cycles, _]| (*cycles as f64 - mean).abs() <= 0.2 * mean), "{counts:?}");
    assert!(2 * light[1] > 3 * heavy[1], "{counts:?}: the masses are too much alike");
}

/// Larger lattices have more and slower modes.
#[test]
fn cycles_hardly_grow_with_the_volume() {
    if !all_combinations() || small() {
        eprintln!("SKIPPED: cycles of two volumes; LATTICE_CL_TEST_ALL=1 runs them");
        return;
    }
    let counts = [[8, 8, 8, 16], [12, 12, 12, 24]].map(|extents| {
        let lattice = Lattice::new(&team_of(1), Dims::new(extents).unwrap()).unwrap();
        cycles_of(&lattice, 0.25, &[(0.136, SiteTerm::Scalar)])[0]
    });
    let [less, more] = counts.map(|[cycles, _]| cycles as f64);
    assert!((less - more).abs() <= 0.2 * (less + more) / 2.0, "{counts:?}");
}

#[test]
fn cycles_with_a_clover_term_or_a_twisted_mass_are_nearly_those_without() {
    if small() {
        return;
    }
    let lattice = Lattice::new(&team_of(1), Dims::new([8, 8, 8, 8]).unwrap()).unwrap();
    let twisted = SiteTerm::Twisted { mu: 0.003 / (2.0 * 0.136) };
    let of_links = cycles_of(&lattice, 0.25, &[(0.136, SiteTerm::Scalar), (0.136, twisted)]);
    let clover = SiteTerm::Clover { csw: 1.5, mu: 0.0 };
    let of_clover = cycles_of(&lattice, 0.25, &[(0.131, clover)]);
    for others in [of_links[1], of_clover[0]] {
        let ratio = others[0] as f64 / of_links[0][0] as f64;
        assert!((0.7..=1.3).contains(&ratio), "{of_links:?} {of_clover:?}");
    }
}

/// One column and three at once.
#[test]
fn cycles_in_half_precision_are_nearly_as_many_as_in_single() {
    if small() {
        return;
    }
    let lattice = Lattice::new(&team_of(1), Dims::new([8, 8, 8, 8]).unwrap()).unwrap();
    let configuration = Arc::new(random::weak(lattice.dims(), 0.25, 3));
    let dirac = dirac(&lattice, &configuration, 0.136, SiteTerm::Scalar);
    let [single, half] = [Inner::Single, Inner::Half].map(|precision| {
        let params = MultigridParams::default().with_vectors(Some(8)).with_precision(precision);
        let mut multigrid = Multigrid::new(&dirac, params, |_| ()).unwrap();
        let (x, info) = multigrid.solve(&dirac, &source(&lattice), None).unwrap();
        let mut b = lattice.spinors(3).unwrap();
        for k in 0..3 {
            b.copy_column_from(k, &lattice.point_source([0, 1, 0, 1], k, 1).unwrap()).unwrap();
        }
        let BlockSolution { residuals, info: of_columns, .. } =
            multigrid.solve_columns(&dirac, &b, None).unwrap();
        assert!(residuals.iter().all(|residual| residual.true_residual <= 1e-10), "{residuals:?}");
        (x, [info.iterations, of_columns.iterations])
    });
    assert!(distance(&dirac, &half.0, &single.0) < 1e-7);
    for (half, single) in half.1.into_iter().zip(single.1) {
        // Another replacement of the residual may bring two cycles.
        assert!(half as f64 <= 1.1 * single as f64 + 2.0, "{half} and {single}");
    }
}

#[test]
fn blocks_of_odd_shapes_and_three_levels_solve() {
    let cases: [([usize; 4], MultigridParams, &str); 5] = [
        (
            [2, 6, 2, 2],
            few_vectors().with_vectors(Some(2)).with_levels(Some(4)),
            "3 levels, 2 vectors on blocks of 2x3x2x2, 2 vectors on blocks of 1x2x1x1, fewer than 4: no blocks divide 1x1x1x1 sites",
        ),
        ([6, 4, 2, 10], few_vectors(), "2 levels, 6 vectors on blocks of 3x4x2x5"),
        (
            [6, 6, 2, 6],
            few_vectors().with_block(Some(Block([2, 2, 2, 2]))).with_levels(Some(3)),
            "3 levels, 6 vectors on blocks of 2x2x2x2, 6 vectors on blocks of 3x3x1x3",
        ),
        (
            [4, 4, 4, 8],
            few_vectors().with_block(Some(Block([2, 2, 2, 2]))).with_levels(Some(3)),
            "3 levels, 6 vectors on blocks of 2x2x2x2, 6 vectors on blocks of 2x2x2x2",
        ),
        (
            [4, 4, 4, 8],
            few_vectors()
                .with_block(Some(Block([2, 2, 2, 2])))
                .with_levels(Some(3))
                .with_cycle(CycleKind::K)
                .with_smoother_degree(3),
            "3 levels, 6 vectors on blocks of 2x2x2x2, 6 vectors on blocks of 2x2x2x2",
        ),
    ];
    let team = team_of(1);
    for (extents, params, levels) in cases {
        let lattice = Lattice::new(&team, Dims::new(extents).unwrap()).unwrap();
        let configuration = Arc::new(random::weak(lattice.dims(), 0.3, 3));
        let dirac = dirac(&lattice, &configuration, 0.125, SiteTerm::Scalar);
        let mut multigrid = Multigrid::new(&dirac, params, |_| ()).unwrap();
        assert_eq!(multigrid.levels().to_string(), levels);
        let (_, info) = multigrid.solve(&dirac, &source(&lattice), None).unwrap();
        assert!(
            info.residual.true_residual <= 1e-10 && info.iterations < 40,
            "{extents:?}: {}",
            info.iterations
        );
    }
}

#[test]
fn a_lattice_without_blocks_is_named() {
    let grid = Grid::new([1, 1, 2, 1]).unwrap();
    let lattice = Lattice::with_grid(&team_of(2), Dims::new([4, 4, 2, 4]).unwrap(), grid).unwrap();
    let configuration = Arc::new(random::weak(lattice.dims(), 0.3, 3));
    let dirac = dirac(&lattice, &configuration, 0.12, SiteTerm::Scalar);
    let Err(error) = Multigrid::new(&dirac, few_vectors(), |_| ()) else { panic!("one site is no block") };
    assert!(matches!(error, SetupError::NoBlock { mu: 2, .. }), "{error}");
    assert!(error.to_string().contains("direction z"), "{error}");
}

/// Columns of very different sizes, among them zero, and one that is solved for alone.
#[test]
fn columns_at_once_have_the_solutions_of_one_after_the_other() {
    for team in [Team::host(), team_of(1), team_of(2)] {
        let lattice = Lattice::new(&team, Dims::new([4, 2, 4, 8]).unwrap()).unwrap();
        let configuration = Arc::new(random::weak(lattice.dims(), 0.3, 3));
        let dirac = dirac(&lattice, &configuration, 0.125, SiteTerm::Scalar);
        let mut multigrid = Multigrid::new(&dirac, few_vectors(), |_| ()).unwrap();
        let small = random::spinor_field(lattice.dims(), 4);
        let small: Vec<_> = small.iter().map(|psi| Spinor::from_fn(|s, c| psi.0[s][c] * 1e-5)).collect();
        let columns =
            [source(&lattice), lattice.spinor_from_host(&small).unwrap(), lattice.spinor().unwrap()];
        let mut b = lattice.spinors(columns.len()).unwrap();
        columns.iter().enumerate().for_each(|(k, column)| b.copy_column_from(k, column).unwrap());
        let BlockSolution { x, residuals, info } = multigrid.solve_columns(&dirac, &b, None).unwrap();
        assert!(residuals.iter().all(|residual| residual.true_residual <= 1e-10), "{residuals:?}");
        assert_eq!(residuals[2].true_residual, 0.0);
        let mut one = lattice.spinor().unwrap();
        for (k, column) in columns[..2].iter().enumerate() {
            let (alone, of_one) = multigrid.solve(&dirac, column, None).unwrap();
            x.copy_column_to(k, &mut one).unwrap();
            let distance = distance(&dirac, &one, &alone);
            assert!(distance < 1e-8, "column {k}: {distance:e}");
            // The small one has to fall as far as if it were large.
            assert!(
                info.iterations <= 2 * of_one.iterations,
                "{} and {}",
                info.iterations,
                of_one.iterations
            );
        }
    }
}

#[test]
fn solutions_turn_as_sources_and_links_do() {
    let lattice = Lattice::new(&team_of(1), Dims::new([4, 4, 4, 4]).unwrap()).unwrap();
    let configuration = random::weak(lattice.dims(), 0.3, 3);
    let transformation = random::gauge_transformation(lattice.dims(), 8);
    let turned = random::transform_links(&configuration, &transformation);
    let b = random::spinor_field(lattice.dims(), 4);
    let solve = |configuration: GaugeConfiguration, b: &[lattice_cl::host::Spinor<f64>]| {
        let dirac = dirac(&lattice, &Arc::new(configuration), 0.125, SiteTerm::Scalar);
        let b = lattice.spinor_from_host::<f64>(b).unwrap();
        let mut multigrid = Multigrid::new(&dirac, few_vectors(), |_| ()).unwrap();
        let (x, info) = multigrid.solve(&dirac, &b, None).unwrap();
        (dirac, x, info.iterations)
    };
    let (_, x, cycles) = solve(configuration, &b);
    let (dirac, y, turned_cycles) = solve(turned, &random::transform_spinor(&b, &transformation));
    let x = random::transform_spinor(&x.to_host().unwrap(), &transformation);
    let x = lattice.spinor_from_host::<f64>(&x).unwrap();
    assert!(distance(&dirac, &y, &x) < 1e-8);
    // Random vectors do not turn with the links: cycles are about as many.
    assert!(cycles.abs_diff(turned_cycles) <= 3, "{cycles} and {turned_cycles}");
}

#[test]
fn a_kept_set_up_solves_to_the_same_bits_and_is_bound_to_its_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("conf.mg");
    let lattice = Lattice::new(&team_of(1), Dims::new([4, 4, 4, 4]).unwrap()).unwrap();
    let configuration = Arc::new(random::weak(lattice.dims(), 0.3, 3));
    let dirac = dirac(&lattice, &configuration, 0.125, SiteTerm::Scalar);
    let mut multigrid = Multigrid::new(&dirac, few_vectors(), |_| ()).unwrap();
    multigrid.write(&path, &dirac, "A").unwrap();
    let mut read = Multigrid::read(&path, &dirac, "A", few_vectors(), |_| ()).unwrap().unwrap();
    let b = source(&lattice);
    let [x, y] = [&mut multigrid, &mut read].map(|levels| levels.solve(&dirac, &b, None).unwrap().0);
    assert_eq!(x.to_host().unwrap(), y.to_host().unwrap());

    let refused = |configuration: &str, params: MultigridParams| match Multigrid::read(
        &path,
        &dirac,
        configuration,
        params,
        |_| (),
    )
    .unwrap()
    {
        Ok(_) => panic!("it is another"),
        Err(error) => error,
    };
    let error = refused("B", few_vectors());
    assert!(matches!(error, SetupFileError::Other { what: "configuration", .. }), "{error}");
    let error = refused("A", few_vectors().with_vectors(Some(5)));
    assert!(error.to_string().contains("conf.mg") && error.to_string().contains("5 vectors"), "{error}");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(refused("A", few_vectors()), SetupFileError::File(_)));
}

/// Stops a set-up after so many groups of vectors.
struct StopAfter {
    groups: usize,
    told: Vec<SetupProgress>,
}

impl SetupWatch for StopAfter {
    fn progress(&mut self, progress: SetupProgress) {
        self.told.push(progress);
    }

    fn stops(&mut self) -> bool {
        self.told.len() >= self.groups
    }
}

#[test]
fn an_interrupted_set_up_goes_on_to_the_same_bits() {
    for team in [Team::host(), team_of(1), team_of(2)] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let lattice = Lattice::new(&team, Dims::new([4, 2, 4, 8]).unwrap()).unwrap();
        let configuration = Arc::new(random::weak(lattice.dims(), 0.3, 3));
        let of_kappa = |kappa| dirac(&lattice, &configuration, kappa, SiteTerm::Scalar);
        let dirac = of_kappa(0.125);
        // Seven vectors are made at a time.
        let params = few_vectors().with_vectors(Some(14));
        Multigrid::new(&dirac, params, |_| ()).unwrap().write(&path("whole"), &dirac, "A").unwrap();

        let set_up = |dirac: &Dirac<f64>, configuration: &str, exists: bool, groups: usize| {
            let mut watch = StopAfter { groups, told: Vec::new() };
            let file = SetupFile { path: &path("part"), configuration, exists };
            let made = Multigrid::set_up(dirac, params, Some(file), &mut watch);
            (made, watch.told)
        };
        let (stopped, _) = set_up(&dirac, "A", false, 1);
        let error = stopped.err().unwrap();
        assert!(matches!(error, SetupError::Interrupted { done: 7, of: 14 }), "{error}");

        let error = set_up(&dirac, "B", true, 9).0.err().unwrap();
        assert!(
            matches!(error, SetupError::File(_)) && error.to_string().contains("configuration"),
            "{error}"
        );
        // The vectors of another mass are made anew.
        let (others, told) = set_up(&of_kappa(0.12), "A", true, usize::MAX);
        assert!(!others.unwrap().1 && told[0].done == 7, "{:?}", told[0]);

        let (made, told) = set_up(&dirac, "A", true, usize::MAX);
        let (multigrid, is_read) = made.unwrap();
        assert!(!is_read && told[0].done == 14, "{:?}", told[0]);
        multigrid.write(&path("part"), &dirac, "A").unwrap();
        let bytes = |name: &str| std::fs::read(path(name)).unwrap();
        assert!(bytes("part") == bytes("whole"), "{} devices", team.len());
        let (read, told) = set_up(&dirac, "A", true, 1);
        assert!(read.unwrap().1 && told.is_empty());
    }
}

#[test]
fn where_cycles_do_not_converge_another_method_goes_on_from_the_best_iterate() {
    let lattice = Lattice::new(&team_of(1), Dims::new([4, 4, 4, 8]).unwrap()).unwrap();
    let configuration = Arc::new(random::weak(lattice.dims(), 0.6, 3));
    // Beyond the critical κ the smoother makes much of the residual larger.
    let dirac = dirac(&lattice, &configuration, 0.25, SiteTerm::Scalar);
    let params = MultigridParams::default().with_vectors(Some(1)).with_setup_iterations(1);
    let mut multigrid = Multigrid::new(&dirac, params, |_| ()).unwrap();
    let b = source(&lattice);
    let mut told = Told::default();
    let AutoSolution { x, info, attempts } =
        multigrid.solve_or(&mut Auto::new(AutoParams::default()), &dirac, &b, &mut told).unwrap();
    let Told(warnings) = told;
    assert!(attempts[0].multigrid && attempts[0].failure.is_some() && attempts[0].iterations <= 200);
    assert!(attempts[1..].iter().all(|attempt| !attempt.multigrid));
    // The first of the others goes on from what the cycles have reached.
    assert_eq!(warnings[0].0, attempts[0].to_string());
    assert!(warnings[0].1 <= 1.0 && warnings[0].1 == attempts[0].residual.true_residual.min(1.0));
    assert!(info.residual.true_residual <= 1e-10);
    let params = CgParams::default().with_preconditioning(Preconditioning::EvenOdd);
    let (y, _) = cg(&dirac, &b, &params).unwrap();
    assert!(distance(&dirac, &x, &y) < 1e-5);
}

/// The attempts that gave up, in words, and the residuals from which others went on.
#[derive(Default)]
struct Told(Vec<(String, f64)>);

impl Watch for Told {
    fn falls_back(&mut self, failed: &Attempt, _next: &SolveParams, from: f64) {
        self.0.push((failed.to_string(), from));
    }
}
