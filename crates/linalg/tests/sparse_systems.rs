//! Systems with sparse matrices: which method is chosen, and what is refused.

use crate::matrices;

use lattice_linalg::sparse::market::AnyCsr;
use lattice_linalg::sparse::precondition::Substitution;
use lattice_linalg::sparse::solve::{
    FoundSymmetry, Kind, Method, SolveError, SolveOptions, Solved, condition_estimate, solve,
};
use lattice_linalg::sparse::{Csr, Format, Problem, Processor};
use lattice_solvers::{Look, Stopping};
use matrices::{matrices, matrix, places, real_matrix, sample, vector};
use num_complex::Complex64;

fn made(problem: &str) -> Csr<f64> {
    problem.parse::<Problem>().unwrap().matrix().unwrap()
}

fn options(tolerance: f64) -> SolveOptions<f64> {
    SolveOptions::default().with_stopping(Stopping::default().with_tolerance(tolerance))
}

fn solved(matrix: &Csr<f64>, options: &SolveOptions<f64>) -> Result<Solved<f64>, SolveError> {
    let b: Vec<f64> = vector(matrix.rows(), false).into_iter().map(|b| b.re).collect();
    solve(&Processor::Host, matrix.clone(), &b, options, None)
}

/// A matrix of three rows.
fn small(rows: [[f64; 3]; 3]) -> Csr<f64> {
    Csr::from_rows(
        3,
        rows.map(|row| (0..3_u32).zip(row).filter(|(_, value)| *value != 0.0).collect::<Vec<_>>()),
    )
}

#[test]
fn the_matrix_decides_on_method_and_preconditioner() {
    for (problem, method, kind) in [
        ("poisson2d:20", Method::Cg, Kind::Ic0(Substitution::Levels)),
        ("poisson2d:80", Method::Cg, Kind::Amg),
        ("convection2d:20,0.01", Method::Bicgstab, Kind::Ilu0(Substitution::Levels)),
        ("random:300,6,1", Method::Bicgstab, Kind::Ilu0(Substitution::Levels)),
    ] {
        let matrix = made(problem);
        let found = solved(&matrix, &options(1e-10)).unwrap();
        let best = &found.attempts[found.best];
        assert_eq!((best.method, best.preconditioner.kind), (method, kind), "{problem}");
        assert!(found.converged && found.true_residual <= 1e-10 && found.backward_error < 1e-9, "{problem}");
        assert!(found.warnings.is_empty() && found.attempts.len() == 1, "{:?}", found.warnings);
        assert_eq!(best.history.len(), best.iterations + 1);
    }
    // Indefinite: a shift moves eigenvalues below zero.
    let shifted =
        made("poisson2d:9").map(|row, column, value| if row == column { value - 3.9 } else { value });
    let found = solved(&shifted, &options(1e-8)).unwrap();
    assert_eq!((found.symmetry, found.attempts[0].method), (FoundSymmetry::Hermitian, Method::Minres));
    assert!(found.converged);
}

#[test]
fn every_method_and_preconditioner_solves_on_every_place() {
    let (definite, general) = (made("poisson2d:11"), made("convection2d:11,0.1"));
    let kinds = [
        Kind::None,
        Kind::Jacobi,
        Kind::BlockJacobi(Some(5)),
        Kind::BlockJacobi(None),
        Kind::Ilu0(Substitution::Levels),
        Kind::Ic0(Substitution::Levels),
        Kind::Ilu0(Substitution::Sweeps(3)),
        Kind::Ic0(Substitution::Sweeps(2)),
        Kind::Amg,
    ];
    for place in places().into_iter().take(2) {
        for method in Method::ALL {
            let matrix = if method.needs_hermitian() { &definite } else { &general };
            for kind in kinds {
                let unfit = matches!(kind, Kind::Ic0(_)) && !method.needs_hermitian();
                if unfit || (kind != Kind::None && !method.takes_preconditioner()) {
                    continue;
                }
                let chosen = options(1e-9).with_method(Some(method)).with_preconditioner(Some(kind));
                let b: Vec<f64> = vector(matrix.rows(), false).into_iter().map(|b| b.re).collect();
                let found = solve(&place, matrix.clone(), &b, &chosen, None).unwrap();
                let what = format!("{}, {}, {kind}: {}", place.label(), method.name(), found.true_residual);
                assert!(found.converged && found.attempts.len() == 1, "{what}");
                assert_eq!(method.name().parse(), Ok(method));
                assert_eq!(kind.to_string().parse(), Ok(kind));
            }
        }
    }
}

#[test]
fn a_method_that_gives_up_hands_over() {
    let Some(folder) = matrices() else { return };
    // A leading part is positive definite, the matrix is not: CG meets a negative curvature.
    let mut rows: Vec<Vec<(u32, f64)>> = (0..300_u32).map(|i| vec![(i, 1.0 + f64::from(i))]).collect();
    rows[250] = vec![(250, 1.0), (251, 2.0)];
    rows[251] = vec![(250, 2.0), (251, 1.0)];
    let sly = Csr::from_rows(300, rows);
    let chosen = options(1e-8).with_preconditioner(Some(Kind::None));
    let found = solved(&sly, &chosen).unwrap();
    assert_eq!(found.symmetry, FoundSymmetry::PositiveDefinite);
    assert!(found.converged && found.attempts.len() > 1, "{:?}", found.attempts.len());
    assert!(found.warnings[0].starts_with("cg gave up: breakdown: (p, Ap)"), "{:?}", found.warnings);
    // A skew-symmetric matrix has neither method's Hermitian part.
    let skew = real_matrix(&folder, "skew500");
    let found = solved(&skew, &options(1e-8)).unwrap();
    assert_eq!((found.symmetry, found.attempts[0].method), (FoundSymmetry::SkewHermitian, Method::Cgne));
    assert!(found.converged, "{}", found.true_residual);
}

#[test]
fn without_convergence_there_is_the_best_iterate() {
    let matrix = made("poisson2d:30");
    let stopping = Stopping::default().with_tolerance(1e-10).with_max_iterations(5);
    let chosen = SolveOptions::default()
        .with_method(Some(Method::Cg))
        .with_preconditioner(Some(Kind::Jacobi))
        .with_stopping(stopping);
    let found = solved(&matrix, &chosen).unwrap();
    assert!(!found.converged && found.true_residual < 1.0 && found.attempts[0].failure.is_some());
    let mut looks = 0;
    let mut watch = |_: Method, look: &Look| {
        looks += 1;
        look.iterations < 3
    };
    let b = vec![1.0; matrix.rows()];
    let found = solve(&Processor::Host, matrix, &b, &options(1e-10), Some(&mut watch)).unwrap();
    assert!(!found.converged && found.attempts.len() == 1 && looks > 1);
}

#[test]
fn systems_without_a_solution_are_refused() {
    let chosen = options(1e-10);
    let oblong = sample(4, 3, false).to_csr().unwrap().cast::<f64>();
    let refused = |matrix: &Csr<f64>, options: &SolveOptions<f64>| solved(matrix, options).unwrap_err();
    assert_eq!(refused(&oblong, &chosen), SolveError::NotSquare { rows: 4, columns: 3 });
    let empty_row = small([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]]);
    assert_eq!(refused(&empty_row, &chosen), SolveError::Empty { what: "row", number: 2 });
    assert_eq!(refused(&empty_row.transposed(), &chosen), SolveError::Empty { what: "column", number: 2 });
    let skew = small([[0.0, 1.0, 2.0], [-1.0, 0.0, 3.0], [-2.0, -3.0, 0.0]]);
    assert_eq!(refused(&skew, &chosen), SolveError::OddSkew { rows: 3 });
    let general = small([[4.0, 1.0, 0.0], [0.0, 4.0, 2.5], [0.0, 1.0, 4.0]]);
    let cg = chosen.clone().with_method(Some(Method::Cg));
    let error = refused(&general, &cg);
    assert!(matches!(error, SolveError::NotHermitian { row: 2, column: 3, difference: 1.5, .. }), "{error}");
    let residual = chosen.clone().with_method(Some(Method::Cr)).with_preconditioner(Some(Kind::Jacobi));
    let symmetric = small([[4.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 4.0]]);
    assert_eq!(refused(&symmetric, &residual), SolveError::NoPreconditioner { method: Method::Cr });
    let blocks = chosen.clone().with_format(Some(Format::Blocks(2)));
    assert!(refused(&symmetric, &blocks).to_string().starts_with("blocks of 2 do not divide a 3×3 matrix"));
    let hollow = small([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 4.0]]);
    let jacobi = chosen.clone().with_method(Some(Method::Gcr)).with_preconditioner(Some(Kind::Jacobi));
    assert!(refused(&hollow, &jacobi).to_string().contains("the diagonal entry of row 1 is zero"));
    let error = solve(&Processor::Host, symmetric.clone(), &[1.0; 2], &chosen, None).unwrap_err();
    assert_eq!(error, SolveError::RightSide { wanted: 3, found: 2 });
    let nan = solve(&Processor::Host, symmetric.clone(), &[1.0, f64::NAN, 1.0], &chosen, None);
    assert!(matches!(nan, Err(SolveError::Source(_))));
    let zero = solve(&Processor::Host, symmetric, &[0.0; 3], &chosen, None).unwrap();
    assert_eq!((zero.x, zero.converged), (vec![0.0; 3], true));
    assert!(zero.warnings[0].contains("right-hand side is zero"));
}

#[test]
fn a_complex_system_is_solved_on_every_place() {
    let Some(folder) = matrices() else { return };
    let AnyCsr::Complex(gauge) = matrix(&folder, "gauge32") else { panic!("complex") };
    let b = vector(gauge.rows(), true);
    for place in places() {
        let found = solve::<Complex64>(&place, gauge.clone(), &b, &SolveOptions::default(), None).unwrap();
        assert!(found.converged && found.symmetry == FoundSymmetry::PositiveDefinite, "{}", place.label());
        assert!((found.x[0] - Complex64::new(0.6742847163697469, 0.9607098915845038)).norm() < 1e-8);
    }
}

/// The rows of a matrix in another order, so that hardly a diagonal entry is left.
fn shuffled(matrix: &Csr<f64>) -> Csr<f64> {
    let n = matrix.rows();
    let row = |i: usize| (i * 7 + 3) % n;
    Csr::from_rows(
        n,
        (0..n).map(|i| {
            // Scales of rows and columns differ by a hundred.
            let scale = |j: usize| 10f64.powi((i % 3) as i32 - 1) * 10f64.powi((j % 3) as i32 - 1);
            matrix.row(row(i)).map(|(j, value)| (j as u32, value * scale(j))).collect::<Vec<_>>()
        }),
    )
}

#[test]
fn zeros_on_the_diagonal_are_permuted_away() {
    let matrix = shuffled(&made("convection2d:15,0.1"));
    assert!(lattice_linalg::sparse::zero_on_diagonal(&matrix).is_some());
    let levels = Kind::Ilu0(Substitution::Levels);
    let refused = solved(&matrix, &options(1e-9).with_preconditioner(Some(levels)));
    assert!(matches!(refused, Err(SolveError::Precondition { .. })), "{refused:?}");
    // The matrix decides, and says what it did.
    let found = solved(&matrix, &options(1e-9)).unwrap();
    let best = &found.attempts[found.best];
    assert!(found.converged && best.preconditioner.matched && best.preconditioner.kind == levels);
    assert!(found.warnings[0].contains("ilu0 with a matching of rows is taken"), "{:?}", found.warnings);
    let alone = made("convection2d:15,0.1");
    let plain = solved(&alone, &options(1e-9)).unwrap().attempts[0].iterations;
    assert!(best.iterations <= 3 * plain, "{} {plain}", best.iterations);
    let b: Vec<f64> = vector(matrix.rows(), false).into_iter().map(|b| b.re).collect();
    for place in places() {
        for kind in [
            Kind::None,
            Kind::Jacobi,
            Kind::BlockJacobi(Some(3)),
            levels,
            Kind::Ilu0(Substitution::Sweeps(4)),
        ] {
            let chosen = options(1e-9).with_preconditioner(Some(kind)).with_matching(true);
            let found = solve(&place, matrix.clone(), &b, &chosen, None).unwrap();
            let what = format!("{}, {kind}: {}", place.label(), found.true_residual);
            assert!(found.converged && found.attempts[0].preconditioner.matched, "{what}");
        }
    }
    // No permutation helps where rows share too few columns.
    let singular = small([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0], [5.0, 0.0, 0.0]]);
    let error = solved(&singular, &options(1e-9)).unwrap_err();
    assert!(matches!(error, SolveError::StructurallySingular(found) if found.rank == 2), "{error}");
    let wanted =
        |method, kind| options(1e-9).with_method(method).with_preconditioner(kind).with_matching(true);
    let ic = Some(Kind::Ic0(Substitution::Levels));
    for (chosen, error) in [
        (wanted(Some(Method::Cg), None), SolveError::Matching { needs: "cg" }),
        (wanted(None, ic), SolveError::Matching { needs: "ic0" }),
        (wanted(Some(Method::Cgne), None), SolveError::NoPreconditioner { method: Method::Cgne }),
    ] {
        assert_eq!(solved(&made("poisson2d:5"), &chosen).unwrap_err(), error);
    }
}

#[test]
fn sweeps_come_near_to_substitution() {
    let (definite, general) = (made("poisson2d:21"), made("convection2d:21,0.1"));
    for (matrix, method, kind) in [
        (&definite, Method::Cg, Kind::Ic0 as fn(Substitution) -> Kind),
        (&general, Method::Bicgstab, Kind::Ilu0),
    ] {
        let iterations = |substitution| {
            let chosen =
                options(1e-9).with_method(Some(method)).with_preconditioner(Some(kind(substitution)));
            let found = solved(matrix, &chosen).unwrap();
            assert!(found.converged, "{substitution:?}");
            found.attempts[0].iterations
        };
        let exact = iterations(Substitution::Levels);
        let [one, four, many] = [1, 4, 500].map(|count| iterations(Substitution::Sweeps(count)));
        assert!(four <= one && 2 * four <= 3 * exact, "{one} {four} {exact}");
        // A triangle of n rows is solved exactly by n sweeps.
        assert!(many.abs_diff(exact) <= 1, "{many} {exact}");
    }
}

#[test]
fn a_condition_number_is_estimated_from_below() {
    // The inverse of an M-matrix has no negative entry: its column sums solve a system with ones.
    for problem in ["poisson2d:13", "convection2d:9,0.1"] {
        let matrix = made(problem);
        let (n, transposed) = (matrix.rows(), matrix.transposed());
        let sums =
            solve(&Processor::Host, transposed.clone(), &vec![1.0; n], &options(1e-12), None).unwrap().x;
        let exact = transposed.norm_infinity() * sums.iter().fold(0.0, |most: f64, sum| most.max(*sum));
        for place in places().into_iter().take(2) {
            let found = condition_estimate(&[place], matrix.clone(), &options(1e-10), None).unwrap().unwrap();
            assert!(found <= 1.000001 * exact && 3.0 * found > exact, "{problem}: {found} {exact}");
        }
    }
    // One diagonal entry decides; phases do not.
    let phases = |k: usize| Complex64::from_polar(if k == 7 { 1e-3 } else { 2.0 }, k as f64);
    let diagonal = Csr::from_rows(20, (0..20).map(|k| [(k as u32, phases(k))]));
    let plain = SolveOptions::default().with_stopping(options(1e-10).stopping);
    let found = condition_estimate(&[Processor::Host], diagonal, &plain, None).unwrap().unwrap();
    assert!((found / 2000.0 - 1.0).abs() < 1e-6, "{found}");
    // What is not solved has no estimate.
    let stopping = Stopping::default().with_tolerance(1e-10).with_max_iterations(2);
    let few = SolveOptions::default()
        .with_method(Some(Method::Cg))
        .with_preconditioner(Some(Kind::None))
        .with_stopping(stopping);
    assert_eq!(condition_estimate(&[Processor::Host], made("poisson2d:20"), &few, None).unwrap(), None);
}

/// A tridiagonal matrix of `n` rows, and `dense` more rows and columns that couple to all of them.
fn arrow(n: usize, dense: usize) -> Csr<f64> {
    let share = -1.0 / (n * dense) as f64;
    let rows = (0..n + dense).map(|row| {
        let mut entries: Vec<(u32, f64)> = Vec::new();
        if row < n {
            entries.extend((row > 0).then(|| (row as u32 - 1, -1.0)));
            entries.push((row as u32, 4.0));
            entries.extend((row + 1 < n).then_some((row as u32 + 1, -1.0)));
            entries.extend((n..n + dense).map(|column| (column as u32, share)));
        } else {
            entries.extend((0..n).map(|column| (column as u32, share)));
            entries.push((row as u32, 4.0));
        }
        entries
    });
    Csr::from_rows(n + dense, rows)
}

#[test]
fn dense_rows_do_not_make_the_levels_of_multigrid_dense() {
    for dense in [1, 3, 20] {
        let matrix = arrow(6000, dense);
        let found = solved(&matrix, &options(1e-10)).unwrap();
        let attempt = &found.attempts[found.best];
        assert_eq!((attempt.method, attempt.preconditioner.kind), (Method::Cg, Kind::Amg), "{dense}");
        assert!(found.converged && attempt.iterations < 40, "{dense}: {}", attempt.iterations);
        let complexity = attempt.preconditioner.operator_complexity.unwrap();
        assert!(complexity < 2.0, "{dense} dense rows: {complexity}");
    }
}

/// A matrix whose graph is like that of a network: neighbours have no neighbours in common.
fn network(rows: usize) -> Csr<f64> {
    let mut neighbours = vec![Vec::new(); rows];
    let mut x = 1_u64;
    for i in 0..rows {
        for _ in 0..3 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let j = (x >> 33) as usize % rows;
            if j != i {
                neighbours[i].push(j as u32);
                neighbours[j].push(i as u32);
            }
        }
    }
    let rows = neighbours.into_iter().enumerate().map(|(row, mut columns)| {
        columns.sort_unstable();
        columns.dedup();
        let diagonal = (row as u32, columns.len() as f64 + 0.1);
        let mut entries: Vec<(u32, f64)> = columns.into_iter().map(|column| (column, -1.0)).collect();
        entries.push(diagonal);
        entries.sort_unstable_by_key(|(column, _)| *column);
        entries
    });
    Csr::from_rows(rows.len(), rows)
}

#[test]
fn multigrid_ends_where_its_levels_grow() {
    let matrix = network(6000);
    let found = solved(&matrix, &options(1e-10)).unwrap();
    let attempt = &found.attempts[found.best];
    assert_eq!(attempt.preconditioner.kind, Kind::Ic0(Substitution::Levels));
    assert!(found.converged);
    assert!(found.warnings.iter().any(|warning| warning.contains("do not become smaller")));
    let asked = options(1e-10).with_preconditioner(Some(Kind::Amg));
    let error = solved(&matrix, &asked).unwrap_err().to_string();
    assert!(error.contains("choose ic0 or jacobi"), "{error}");
}
