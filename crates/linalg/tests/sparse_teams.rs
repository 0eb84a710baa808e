//! Sparse matrices on teams: products and solves are those of one place, to rounding.

use crate::matrices;

use lattice_linalg::host::level1::Arithmetic;
use lattice_linalg::sparse::precondition::Substitution;
use lattice_linalg::sparse::solve::{Kind, Method, SolveOptions, solve, solve_columns};
use lattice_linalg::sparse::team::TeamMatrix;
use lattice_linalg::sparse::{Csr, FormatError, MatrixOptions, Problem, Processor};
use lattice_solvers::{LinearOperator, Stopping, VectorSpace};
use matrices::{devices, places, sample, small, taken_for_gpus, vector};
use num_complex::Complex64;

fn made(problem: &str) -> Csr<f64> {
    problem.parse::<Problem>().unwrap().matrix().unwrap()
}

/// The host three times, each place twice, and all places together.
fn teams() -> Vec<Vec<Processor>> {
    let mut teams = vec![vec![Processor::Host; 3], vec![Processor::Host]];
    for (a, b) in [(devices(), devices()), (taken_for_gpus(), devices())] {
        teams.extend(a.into_iter().zip(b).map(|(a, b)| vec![Processor::Device(a), Processor::Device(b)]));
    }
    teams.push(places());
    teams
}

fn largest<T: Arithmetic>(values: &[T]) -> f64 {
    values.iter().map(|value| value.to_complex().norm()).fold(0.0, f64::max)
}

fn check<T: Arithmetic>(team: &[Processor], matrix: &Csr<T>, options: MatrixOptions, tolerance: f64) {
    let made = TeamMatrix::new(team, matrix.clone(), options).unwrap();
    let nan = T::from_complex(Complex64::new(f64::NAN, f64::NAN));
    let transposed = matrix.transposed();
    // Fewer vectors after more: the room for parts of others changes.
    for (vectors, is_transposed) in [(1, false), (3, false), (1, true), (1, false)] {
        let (a, from, to) = match is_transposed {
            false => (matrix, made.space_of_x(), made.space()),
            true => (&transposed, made.space(), made.space_of_x()),
        };
        let x: Vec<T> = vector(a.columns() * vectors, true).into_iter().map(T::from_complex).collect();
        let mut expected = vec![T::default(); a.rows() * vectors];
        for v in 0..vectors {
            let x: Vec<T> = x.iter().skip(v).step_by(vectors).copied().collect();
            let mut y = vec![T::default(); a.rows()];
            a.multiply(&x, &mut y);
            expected.iter_mut().skip(v).step_by(vectors).zip(y).for_each(|(to, y)| *to = y);
        }
        let product = || {
            let x = from.block(vectors, &x).unwrap();
            let mut y = to.block(vectors, &vec![nan; expected.len()]).unwrap();
            for _ in 0..2 {
                match is_transposed {
                    true => made.multiply_transposed(&x, &mut y).unwrap(),
                    false => made.multiply_block(vectors, &x, &mut y).unwrap(),
                }
            }
            y.to_vec().unwrap()
        };
        let y = product();
        for (row, (y, expected_y)) in y.iter().zip(&expected).enumerate() {
            let difference = (y.to_complex() - expected_y.to_complex()).norm();
            let what = format!("{} places, {vectors} vectors, component {row}", team.len());
            assert!(difference <= tolerance * largest(&expected), "{what}: {difference:e}");
        }
        assert!(y == product(), "the bits of another run");
    }
    assert_eq!(made.formats().len(), team.len());
    assert_eq!(made.bytes().len(), team.len());
}

#[test]
fn products_of_teams_are_those_of_one_place() {
    let general = sample(97, 97, true).to_csr().unwrap();
    let (tall, wide) = (sample(119, 43, true).to_csr().unwrap(), sample(31, 107, true).to_csr().unwrap());
    let problems = ["poisson2d:23", "elasticity3d:3", "random:301,7,1", "poisson3d:1x1x2"];
    let problems = &problems[if small() { 3 } else { 0 }..];
    for team in teams() {
        let options = MatrixOptions::default();
        for oblong in [&tall, &wide] {
            check::<Complex64>(&team, oblong, options, 1e-14);
            check::<f64>(&team, &oblong.cast(), options, 1e-14);
        }
        // A column alone, and rows without entries.
        check::<f64>(
            &team,
            &Csr::from_rows(1, (0..9).map(|row| (row % 4 == 1).then_some((0, 2.0)))),
            options,
            1e-14,
        );
        for problem in problems {
            check(&team, &made(problem), options, 1e-14);
        }
        check::<Complex64>(&team, &general, options, 1e-14);
        check::<f32>(&team, &general.cast(), options, 1e-5);
        // −1 and 4 are numbers of single precision.
        check(&team, &made("poisson2d:12"), options.with_single_values(true), 1e-14);
    }
}

#[test]
fn vectors_in_parts_have_the_sums_of_whole_ones() {
    let matrix = made("poisson2d:19");
    let x: Vec<f64> = vector(matrix.rows(), false).into_iter().map(|x| x.re).collect();
    let norm2: f64 = x.iter().map(|x| x * x).sum();
    for team in teams() {
        let made = TeamMatrix::new(&team, matrix.clone(), MatrixOptions::default()).unwrap();
        let space = made.space();
        let x = space.vector(&x).unwrap();
        let sums = space.read([&space.dot(&x, &x).unwrap(), &space.norm2(&x).unwrap()]).unwrap();
        for sum in sums {
            assert!((sum.re - norm2).abs() <= 1e-13 * norm2 && sum.im == 0.0, "{sum} {norm2}");
        }
        assert!(space.vector(&[1.0; 3]).is_err());
    }
    let nowhere = TeamMatrix::new(&[], Csr::<f64>::empty(3, 4), MatrixOptions::default());
    assert!(matches!(nowhere.err(), Some(FormatError::Operation(_))));
    let oblong =
        TeamMatrix::new(&[Processor::Host], Csr::<f64>::empty(3, 4), MatrixOptions::default()).unwrap();
    let [mut x, mut y] = [oblong.space_of_x(), oblong.space()].map(|space| space.zero_block(2).unwrap());
    assert!(oblong.multiply(&x, &mut y).is_err() && oblong.multiply_transposed(&x, &mut y).is_err());
    assert!(oblong.multiply_block(2, &x, &mut y).is_ok() && oblong.multiply_block(2, &y, &mut x).is_err());
}

#[test]
fn solves_on_teams_are_those_of_one_place() {
    let (definite, general) = (made("poisson2d:21"), made("convection2d:15,0.1"));
    let solvable = |method: Method| if method.needs_hermitian() { &definite } else { &general };
    for team in teams().into_iter().skip(2) {
        for (method, kind) in [
            (Method::Cg, Kind::None),
            (Method::Cg, Kind::Jacobi),
            (Method::Minres, Kind::Jacobi),
            (Method::Cr, Kind::None),
            (Method::Bicgstab, Kind::Jacobi),
            (Method::Gcr, Kind::Jacobi),
            (Method::Cgne, Kind::None),
        ] {
            let matrix = solvable(method);
            let b: Vec<f64> = vector(matrix.rows(), false).into_iter().map(|b| b.re).collect();
            let options = SolveOptions::default()
                .with_method(Some(method))
                .with_preconditioner(Some(kind))
                .with_stopping(Stopping::default().with_tolerance(1e-9));
            let one = solve(&Processor::Host, matrix.clone(), &b, &options, None).unwrap();
            let all = solve_columns(&team, matrix.clone(), &[&b], &options, None).unwrap().remove(0);
            let what = format!("{} places, {}, {kind}", team.len(), method.name());
            assert!(one.converged && all.converged, "{what}: {}", all.true_residual);
            let [of_one, of_all] = [&one, &all].map(|solved| solved.attempts[0].iterations);
            // Another order of sums moves a long iteration a little.
            assert!(of_one.abs_diff(of_all) <= 2 + of_one / 20, "{what}: {of_one} {of_all}");
        }
        // Block-diagonal preconditioners cost iterations, not the solution.
        for kind in [Kind::Ic0(Substitution::Levels), Kind::Amg, Kind::BlockJacobi(Some(3))] {
            let options = SolveOptions::default()
                .with_method(Some(Method::Cg))
                .with_preconditioner(Some(kind))
                .with_stopping(Stopping::default().with_tolerance(1e-9));
            let b = vec![1.0; definite.rows()];
            let found = solve_columns(&team, definite.clone(), &[&b], &options, None).unwrap().remove(0);
            assert!(found.converged, "{} places, {kind}: {}", team.len(), found.true_residual);
        }
    }
}

#[test]
fn the_adjoint_lies_as_the_matrix_does() {
    // By its own entries the adjoint would be cut after another row.
    let matrix = made("random:300,5,3");
    let options = SolveOptions::default().with_method(Some(Method::Cgne));
    let team = [Processor::Host, Processor::Host];
    let b = vec![1.0; matrix.rows()];
    assert!(solve_columns(&team, matrix, &[&b], &options, None).unwrap()[0].converged);
}

#[test]
fn several_right_hand_sides_share_matrix_and_preconditioner() {
    let matrix = made("poisson2d:75");
    let columns: Vec<Vec<f64>> = [1.0, -2.0, 0.0]
        .iter()
        .map(|scale| (0..matrix.rows()).map(|k| scale * (k as f64).sin()).collect())
        .collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let options = SolveOptions::default().with_stopping(Stopping::default().with_tolerance(1e-9));
    let found = solve_columns(&[Processor::Host], matrix, &columns, &options, None).unwrap();
    assert_eq!(found.len(), 3);
    for solved in &found {
        assert!(solved.converged && solved.attempts[0].preconditioner.kind == Kind::Amg);
    }
    for (x, y) in found[0].x.iter().zip(&found[1].x) {
        assert!((2.0 * x + y).abs() <= 1e-7);
    }
    assert!(found[2].x.iter().all(|x| *x == 0.0) && found[2].warnings.len() == 1);
    assert_eq!(found[1].attempts[0].preconditioner.setup_seconds, 0.0);
}

#[test]
fn values_in_single_precision_are_refined_away() {
    let matrix = made("convection2d:18,0.1");
    let b: Vec<f64> = vector(matrix.rows(), false).into_iter().map(|b| b.re).collect();
    let options = SolveOptions::default()
        .with_single_values(true)
        .with_stopping(Stopping::default().with_tolerance(1e-11));
    for place in places() {
        let found = solve(&place, matrix.clone(), &b, &options, None).unwrap();
        let refinement = found.refinement.unwrap();
        assert!(found.converged && found.true_residual <= 1e-11, "{}", found.true_residual);
        assert!(refinement.steps > 0 && !refinement.fell_back, "{refinement:?}");
    }
    // Rounding moves the smallest eigenvalue below zero: only the whole values solve.
    let n = 40;
    let nearly = Csr::from_rows(
        n,
        (0..n as u32).map(|i| {
            let near = [(i.wrapping_sub(1), -0.1), (i, 0.2), (i + 1, -0.1)];
            let end = if i == 0 || i as usize + 1 == n { 0.1 + 1e-9 } else { 0.2 };
            near.into_iter()
                .filter(|(j, _)| (*j as usize) < n)
                .map(move |(j, value)| (j, if i == j { end } else { value }))
                .collect::<Vec<_>>()
        }),
    );
    let b = vec![1.0; n];
    let found = solve(
        &Processor::Host,
        nearly,
        &b,
        &options.with_stopping(Stopping::default().with_tolerance(1e-5)),
        None,
    )
    .unwrap();
    assert!(found.converged && found.refinement.unwrap().fell_back, "{:?}", found.refinement);
    assert!(found.warnings.last().unwrap().contains("single precision"), "{:?}", found.warnings);
}
