//! Modes of Hermitian operators by thick-restart Lanczos.

use super::dense;

use dense::{Dense, Random, keeper::StopAt};
use lattice_solvers::vec::from_fn;
use lattice_solvers::*;
use num_complex::Complex64;
use std::cell::Cell;
use std::convert::Infallible;

type Vector = Vec<Complex64>;

/// Returns random vectors that depend on their numbers alone.
fn random(number: u64, vector: &mut Vector) -> Result<(), Infallible> {
    let n = vector.len();
    *vector = Random(977 * (number + 1)).vector(n);
    Ok(())
}

/// Makes U Λ U† with a random unitary U.
fn with_spectrum(eigenvalues: &[f64], seed: u64) -> Dense {
    let n = eigenvalues.len();
    let unitary = SquareMatrix::from_fn(n, {
        let general = Dense::indefinite(n, seed);
        move |i, j| general.rows[i][j]
    })
    .hermitian_eigen()
    .unwrap()
    .vectors;
    let scaled = SquareMatrix::from_fn(n, |i, j| unitary[(i, j)] * eigenvalues[j]);
    let product = &scaled * &unitary.adjoint();
    Dense::from_fn(n, |i, j| 0.5 * (product[(i, j)] + product[(j, i)].conj()))
}

fn check<A>(what: &str, a: &A, modes: &[Mode<Vector>], expected: &[f64], tolerance: f64)
where
    A: LinearOperator<Space: VectorSpace<Vector = Vector, Scalar = Complex64, Error = Infallible>>,
{
    let found: Vec<f64> = modes.iter().map(|mode| mode.value).collect();
    assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
    let dot = |x: &Vector, y: &Vector| x.iter().zip(y).map(|(x, y)| x.conj() * y).sum::<Complex64>();
    for (k, (mode, expected)) in modes.iter().zip(expected).enumerate() {
        assert!((mode.value - expected).abs() < 1e-12, "{what}, {k}: {found:?}, {expected} expected");
        let mut image = mode.vector.clone();
        let Ok(()) = a.apply(&mode.vector, &mut image);
        image.iter_mut().zip(&mode.vector).for_each(|(image, v)| *image -= mode.value * v);
        let residual = dot(&image, &image).re.sqrt();
        assert!(residual <= tolerance, "{what}, {k}: {residual:e}");
        assert!((residual - mode.residual).abs() <= 1e-14, "{what}, {k}: {residual:e} {:e}", mode.residual);
        for (l, other) in modes[..=k].iter().enumerate() {
            let unit = f64::from(u8::from(k == l));
            assert!((dot(&mode.vector, &other.vector) - unit).norm() < 1e-12, "{what}, {k}, {l}");
        }
    }
}

fn find<A>(a: &A, options: &LanczosOptions) -> (Vec<Mode<Vector>>, LanczosInfo)
where
    A: LinearOperator<Space: VectorSpace<Vector = Vector, Scalar = Complex64, Error = Infallible>>,
{
    match thick_restart_lanczos(a, options, &mut random, LanczosCallbacks::default()) {
        Ok(found) => found,
        Err(error) => panic!("{options:?}: {error}"),
    }
}

/// Spectra with their names, sorted.
fn spectra(n: usize) -> Vec<(&'static str, Vec<f64>)> {
    let with = |f: &dyn Fn(usize) -> f64| {
        let mut values: Vec<f64> = (0..n).map(f).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    vec![
        ("even", with(&|k| -1.0 + 0.05 * k as f64)),
        ("multiple", with(&|k| (k / 5) as f64 * 0.2)),
        ("clustered", with(&|k| if k < 6 { 1.0 + 1e-7 * k as f64 } else { 2.0 + 0.1 * k as f64 })),
        ("graded", with(&|k| 10.0_f64.powf(-4.0 + 5.0 * k as f64 / n as f64))),
        (
            "many times",
            with(&|k| {
                if k < 30 {
                    -2.0
                } else if k > 60 {
                    4.0
                } else {
                    0.1 * k as f64 - 3.0
                }
            }),
        ),
        ("one value", with(&|_| 3.0)),
        ("zero", with(&|_| 0.0)),
    ]
}

#[test]
fn modes_at_both_ends_are_those_of_known_spectra() {
    let n = 91;
    for (name, values) in spectra(n) {
        let a = with_spectrum(&values, 31);
        let size = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
        for (end, block, degree) in [
            (SpectrumEnd::Lowest, 1, 0),
            (SpectrumEnd::Lowest, 3, 12),
            (SpectrumEnd::Largest, 2, 0),
            (SpectrumEnd::Largest, 1, 8),
        ] {
            let what = format!("{name}, {end:?}, block {block}, degree {degree}");
            let options = LanczosOptions::new(8)
                .with_end(end)
                .with_block(block)
                .with_degree(degree)
                .with_subspace(36)
                .with_max_applications(20_000);
            let (modes, info) = find(&a, &options);
            let expected: Vec<f64> = match end {
                SpectrumEnd::Lowest => values[..8].to_vec(),
                SpectrumEnd::Largest => values.iter().rev().take(8).copied().collect(),
            };
            check(&what, &a, &modes, &expected, 1e-10 * size + 1e-14);
            assert!(info.applications > 0 && info.restarts > 0, "{what}");
            assert!(info.work.flops >= a.work().flops * info.applications as u64, "{what}");
        }
    }
}

#[test]
fn a_space_with_few_dimensions_gives_all_its_modes() {
    for n in [1, 2, 5, 9] {
        let values: Vec<f64> = (0..n).map(|k| (k / 2) as f64 - 1.0).collect();
        let a = with_spectrum(&values, 32);
        for degree in [0, 8] {
            let options = LanczosOptions::new(9).with_degree(degree);
            let (modes, _) = find(&a, &options);
            check(&format!("{n}, {degree}"), &a, &modes, &values, 1e-10);
        }
    }
}

/// The one-dimensional Laplace operator on a ring: eigenvalues 4 sin²(πk/n), each but two twice.
fn ring(n: usize) -> impl LinearOperator<Space = vec::VecSpace<Complex64>> {
    from_fn(n, move |x: &[Complex64], out: &mut [Complex64]| {
        (0..n).for_each(|i| out[i] = 2.0 * x[i] - x[(i + 1) % n] - x[(i + n - 1) % n]);
    })
}

#[test]
fn a_polynomial_saves_restarts() {
    let n = 400;
    let a = ring(n);
    let mut expected: Vec<f64> =
        (0..n).map(|k| 4.0 * (std::f64::consts::PI * k as f64 / n as f64).sin().powi(2)).collect();
    expected.sort_by(f64::total_cmp);
    let count = 10;
    let mut restarts = Vec::new();
    for degree in [0, 20, 60] {
        let options = LanczosOptions::new(count).with_degree(degree);
        let (modes, info) = find(&a, &options);
        check(&format!("degree {degree}"), &a, &modes, &expected[..count], 4e-10);
        restarts.push(info.restarts);
    }
    assert!(restarts[1] < restarts[0] && restarts[2] <= restarts[1], "{restarts:?}");
}

#[test]
fn modes_nearest_zero_have_their_signs() {
    let mut values = vec![-0.3, 0.3, 0.31, -0.5, -0.5, 0.5, 0.5, 0.7];
    values.extend((0..50).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 } * (1.0 + 0.05 * k as f64)));
    let q = with_spectrum(&values, 33);
    for count in [1, 3, 5, 8] {
        let options = LanczosOptions::new(count).with_degree(8);
        let (modes, _) = modes_nearest_zero(&q, &options, &mut random, LanczosCallbacks::default()).unwrap();
        assert_eq!(modes.len(), count);
        for (k, mode) in modes.iter().enumerate() {
            assert!((mode.value.abs() - values[k].abs()).abs() < 1e-11, "{count}, {k}: {}", mode.value);
            assert!(mode.residual < 1e-8, "{count}, {k}: {:e}", mode.residual);
        }
        let sign = |positive: bool| modes.iter().filter(|mode| (mode.value > 0.0) == positive).count();
        if count == 8 {
            assert_eq!((sign(true), sign(false)), (5, 3));
        }
    }
}

/// A matrix on several vectors at once, one behind the other.
struct Several {
    columns: usize,
    n: usize,
    operator: OnSeveral,
}

struct OnSeveral {
    a: Dense,
    space: vec::VecSpace<Complex64>,
    applications: Cell<usize>,
}

impl LinearOperator for OnSeveral {
    type Space = vec::VecSpace<Complex64>;

    fn space(&self) -> &Self::Space {
        &self.space
    }

    fn apply(&self, x: &Vector, out: &mut Vector) -> Result<(), Infallible> {
        let n = self.a.space().dimension();
        self.applications.set(self.applications.get() + 1);
        for (x, out) in x.chunks(n).zip(out.chunks_mut(n)) {
            let mut image = vec![Complex64::ZERO; n];
            self.a.apply(&x.to_vec(), &mut image)?;
            out.copy_from_slice(&image);
        }
        Ok(())
    }
}

impl Several {
    fn new(a: Dense, columns: usize) -> Self {
        let n = a.space().dimension();
        let operator = OnSeveral { a, space: vec::VecSpace::new(columns * n), applications: Cell::new(0) };
        Self { columns, n, operator }
    }
}

impl Columns<Dense> for Several {
    type Operator = OnSeveral;

    fn operator(&self) -> &OnSeveral {
        &self.operator
    }

    fn count(&self) -> usize {
        self.columns
    }

    fn set(&self, column: usize, vector: &Vector, columns: &mut Vector) -> Result<(), Infallible> {
        columns[column * self.n..][..self.n].copy_from_slice(vector);
        Ok(())
    }

    fn get(&self, column: usize, columns: &Vector, vector: &mut Vector) -> Result<(), Infallible> {
        vector.copy_from_slice(&columns[column * self.n..][..self.n]);
        Ok(())
    }
}

#[test]
fn several_vectors_at_once_give_the_same_bits() {
    let values: Vec<f64> = (0..70).map(|k| 0.1 + (k as f64 * 0.05).powi(2)).collect();
    for (degree, block, columns) in [(0, 3, 3), (8, 4, 4), (12, 5, 3), (8, 2, 6)] {
        let what = format!("degree {degree}, block {block}, {columns} columns");
        let a = with_spectrum(&values, 41);
        let several = Several::new(with_spectrum(&values, 41), columns);
        let options = LanczosOptions::new(6).with_degree(degree).with_block(block);
        let one_by_one = told(thick_restart_lanczos(&a, &options, &mut random, LanczosCallbacks::default()));
        let none = LanczosCallbacks::default();
        let at_once = told(thick_restart_lanczos_on_columns(&a, &several, &options, &mut random, none));
        assert_eq!((&at_once.0, at_once.2), (&one_by_one.0, one_by_one.2), "{what}");
        let applications = (at_once.1.applications, one_by_one.1.applications);
        assert_eq!(applications.0, applications.1, "{what}");
        let saved = several.operator.applications.get();
        assert!(
            saved > 0 && 2 * saved < applications.0 + 2 * options.count,
            "{what}: {saved} {applications:?}"
        );
        check(&what, &a, &at_once.0, &values[..6], 4e-9);

        let signed: Vec<f64> =
            values.iter().enumerate().map(|(k, x)| if k % 3 == 0 { -x } else { *x }).collect();
        let q = with_spectrum(&signed, 42);
        let several = Several::new(with_spectrum(&signed, 42), columns);
        let none = LanczosCallbacks::default;
        let one_by_one = told(modes_nearest_zero(&q, &options, &mut random, none()));
        let at_once = told(modes_nearest_zero_on_columns(&q, &several, &options, &mut random, none()));
        assert_eq!(at_once.0, one_by_one.0, "{what}");
    }
}

fn callbacks(keeper: &mut StopAt) -> LanczosCallbacks<'_, Vector, Infallible> {
    LanczosCallbacks::default().with_keeper(Some(keeper))
}

type LanczosResult = Result<(Vec<Mode<Vector>>, LanczosInfo), LanczosError<Vector, Infallible>>;

/// The parts of a result that must be the same: all but the time.
fn told(outcome: LanczosResult) -> (Vec<Mode<Vector>>, LanczosInfo, Option<Failure>) {
    let (modes, info, failure) = match outcome {
        Ok((modes, info)) => (modes, info, None),
        Err(LanczosError::NotConverged { failure, found, info }) => (found, *info, Some(failure)),
        Err(error) => panic!("{error}"),
    };
    (modes, LanczosInfo { time: Default::default(), ..info }, failure)
}

#[test]
fn a_search_that_was_interrupted_gives_the_same_bits() {
    let values: Vec<f64> = (0..60).map(|k| 0.01 * ((k / 2) * (k / 2)) as f64).collect();
    let a = with_spectrum(&values, 34);
    for (block, degree) in [(1, 0), (2, 8)] {
        let options = LanczosOptions::new(5).with_block(block).with_degree(degree).with_subspace(20);
        let mut never = StopAt::default();
        let whole = told(thick_restart_lanczos(&a, &options, &mut random, callbacks(&mut never)));
        check("whole", &a, &whole.0, &values[..5], 1e-9);
        assert!(never.asked > 50);
        for stop in (1..never.asked).step_by(7) {
            let mut keeper = StopAt { stop, ..Default::default() };
            let (_, _, failure) =
                told(thick_restart_lanczos(&a, &options, &mut random, callbacks(&mut keeper)));
            assert_eq!(failure, Some(Failure::Interrupted));
            let mut rest = StopAt { from: keeper.kept, ..Default::default() };
            let again = told(thick_restart_lanczos(&a, &options, &mut random, callbacks(&mut rest)));
            assert_eq!(again, whole, "stopped at {stop}, degree {degree}");
            assert_eq!(rest.asked, never.asked - stop + 1);
        }
    }
}

#[test]
fn a_search_gives_up_with_a_reason_and_with_what_it_found() {
    let values: Vec<f64> = (0..50).map(|k| 1.0 + k as f64).collect();
    let a = with_spectrum(&values, 35);
    let find = |options: &LanczosOptions, keeper: &mut StopAt, a: &Dense| {
        thick_restart_lanczos(a, options, &mut random, callbacks(keeper))
    };
    let few = LanczosOptions::new(6).with_max_applications(45).with_subspace(20);
    let (_, info, failure) = told(find(&few, &mut StopAt::default(), &a));
    assert_eq!(failure, Some(Failure::IterationLimit { limit: 45 }));
    assert!(info.applications >= 45 && info.applications < 60);
    for (options, name) in [
        (LanczosOptions::new(0), "count"),
        (LanczosOptions::new(3).with_block(0), "block"),
        (LanczosOptions::new(3).with_subspace(6), "subspace"),
        (LanczosOptions::new(3).with_tolerance(0.0), "tolerance"),
        (LanczosOptions::new(3).with_tolerance(f64::NAN), "tolerance"),
    ] {
        let error = find(&options, &mut StopAt::default(), &a).unwrap_err();
        assert!(matches!(error, LanczosError::Parameter { name: own, .. } if own == name), "{error}");
    }
    let mut poisoned = with_spectrum(&values, 36);
    poisoned.rows[3][5].im = f64::NAN;
    let (_, _, failure) = told(find(&LanczosOptions::new(3), &mut StopAt::default(), &poisoned));
    assert!(matches!(failure, Some(Failure::NotFinite { .. })), "{failure:?}");
}

#[test]
fn a_state_of_another_method_is_refused() {
    let a = with_spectrum(&(0..40).map(f64::from).collect::<Vec<_>>(), 37);
    let options = LanczosOptions::new(3);
    let mut keeper = StopAt { stop: 9, ..Default::default() };
    told(thick_restart_lanczos(&a, &options, &mut random, callbacks(&mut keeper)));
    let state = keeper.kept.unwrap();
    let refused = |state: SolverState<Vector>| {
        let mut keeper = StopAt { from: Some(state), ..Default::default() };
        let outcome = thick_restart_lanczos(&a, &options, &mut random, callbacks(&mut keeper));
        outcome.unwrap_err().to_string()
    };
    let mut broken = state.clone();
    broken.method = "MINRES".into();
    assert!(refused(broken).contains("thick-restart Lanczos"));
    let mut broken = state.clone();
    broken.scalars.pop();
    assert!(refused(broken).contains("`element`"));
    let mut broken = state;
    broken.vectors.clear();
    assert!(refused(broken).contains("`basis`"));
}

#[test]
fn a_search_is_watched() {
    let a = ring(120);
    let options = LanczosOptions::new(4).with_degree(20);
    let mut looks = Vec::new();
    let mut watch = |look: &LanczosLook| looks.push(*look);
    let callbacks = LanczosCallbacks::default().with_watch(Some(&mut watch));
    let (modes, info) = thick_restart_lanczos(&a, &options, &mut random, callbacks).unwrap();
    assert_eq!(modes.len(), 4);
    assert!(looks.windows(2).all(|pair| pair[0].applications < pair[1].applications));
    assert_eq!(looks.iter().map(|look| look.residual).collect::<Vec<_>>(), info.history);
    assert!(looks.last().unwrap().found >= 4);
}
