//! Block Conjugate Gradient against Gaussian elimination.
//!
//! Some blocks have columns that depend on each other.

use super::dense;

use dense::keeper::StopAt;
use dense::{Dense, Random, distance, failure};
use lattice_solvers::*;
use num_complex::Complex64;
use std::cell::Cell;
use std::convert::Infallible;

const N: usize = 300;

/// A dense operator on blocks of vectors, one after the other.
struct Columns {
    a: Dense,
    space: Space,
}

struct Space {
    one: dense::Space,
    columns: usize,
    pairs: bool,
    roundoff: f64,
    /// Number of times that Q T took the place of Q.
    overwritten: Cell<usize>,
    /// Number of times that X†X was asked for alone.
    grams: Cell<usize>,
    /// Number of times that the matrices were looked at.
    looks: Cell<usize>,
}

type Vector = Vec<Complex64>;

impl Columns {
    fn new(a: Dense, columns: usize) -> Self {
        let one = dense::Space { dimension: a.rows.len() };
        let (overwritten, grams, looks) = Default::default();
        let roundoff = f64::EPSILON / 2.0;
        Self { a, space: Space { one, columns, pairs: false, roundoff, overwritten, grams, looks } }
    }

    /// Makes two operators that differ in when X is brought up to date.
    ///
    /// The first updates X in every iteration. The second prefers to do it once for two directions.
    fn both(a: impl Fn() -> Dense, columns: usize) -> [Self; 2] {
        [false, true].map(|pairs| {
            let mut operator = Self::new(a(), columns);
            operator.space.pairs = pairs;
            operator
        })
    }

    fn solutions(&self, b: &Vector) -> Vec<Vector> {
        b.chunks(self.a.rows.len()).map(|b| self.a.solve(b)).collect()
    }
}

impl Space {
    fn products(&self, x: &Vector, y: &Vector) -> SquareMatrix {
        let part = |x: &Vector, j: usize| x[j * self.one.dimension..(j + 1) * self.one.dimension].to_vec();
        SquareMatrix::from_fn(self.columns, |i, j| {
            let Ok(product) = self.one.dot(&part(x, i), &part(y, j));
            product
        })
    }

    /// Returns x + y D.
    fn plus(&self, x: &Vector, y: &Vector, d: &SquareMatrix) -> Vector {
        let n = self.one.dimension;
        (0..x.len())
            .map(|k| x[k] + (0..self.columns).map(|i| y[i * n + k % n] * d[(i, k / n)]).sum::<Complex64>())
            .collect()
    }
}

impl VectorSpace for Space {
    type Vector = Vector;
    type Scalar = Complex64;
    type Error = Infallible;

    fn dimension(&self) -> usize {
        self.columns * self.one.dimension
    }

    fn component_bytes(&self) -> usize {
        16
    }

    fn zero_vector(&self) -> Result<Vector, Infallible> {
        Ok(vec![Complex64::default(); self.dimension()])
    }

    /// Returns a vector of NaNs: elements that are read before they are written show.
    fn scratch_vector(&self) -> Result<Vector, Infallible> {
        Ok(vec![Complex64::new(f64::NAN, f64::NAN); self.dimension()])
    }

    fn copy(&self, from: &Vector, to: &mut Vector) -> Result<(), Infallible> {
        self.one.copy(from, to)
    }

    fn axpy(&self, a: &Complex64, x: &Vector, y: &mut Vector) -> Result<(), Infallible> {
        self.one.axpy(a, x, y)
    }

    fn xpby(&self, x: &Vector, b: &Complex64, y: &mut Vector) -> Result<(), Infallible> {
        self.one.xpby(x, b, y)
    }

    fn dot(&self, x: &Vector, y: &Vector) -> Result<Complex64, Infallible> {
        self.one.dot(x, y)
    }

    fn norm2(&self, x: &Vector) -> Result<Complex64, Infallible> {
        self.one.norm2(x)
    }

    fn scalar(&self, value: Complex64) -> Complex64 {
        value
    }

    fn quotient(&self, numerator: &Complex64, denominator: &Complex64) -> Complex64 {
        self.one.quotient(numerator, denominator)
    }

    fn conjugate(&self, a: &Complex64) -> Complex64 {
        a.conj()
    }

    fn negate(&self, a: &Complex64) -> Complex64 {
        -a
    }

    fn read_all(&self, scalars: &[&Complex64]) -> Result<Vec<Complex64>, Infallible> {
        self.one.read_all(scalars)
    }
}

impl BlockSpace for Space {
    type Recurrence = BlockRecurrence;

    fn recurrence(&self, from: BlockRecurrence) -> Result<BlockRecurrence, Infallible> {
        Ok(from)
    }

    fn see(&self, there: &BlockRecurrence) -> Result<BlockRecurrence, Infallible> {
        self.looks.set(self.looks.get() + 1);
        Ok(there.clone())
    }

    fn advance_by(
        &self,
        there: &BlockRecurrence,
        [pending, steps]: [bool; 2],
        x: &mut Vector,
        q: &mut Vector,
        p: &mut Vector,
        o: Option<&mut Vector>,
    ) -> Result<(), Infallible> {
        self.advance_block(there.advance(pending, steps), x, q, p, o)
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn roundoff(&self) -> f64 {
        self.roundoff
    }

    fn steps_in_pairs(&self) -> bool {
        self.pairs
    }

    fn gram(&self, x: &Vector) -> Result<SquareMatrix, Infallible> {
        self.grams.set(self.grams.get() + 1);
        Ok(self.products(x, x))
    }

    fn subtract_block(
        &self,
        z: &Vector,
        d: &SquareMatrix,
        q: &mut Vector,
    ) -> Result<SquareMatrix, Infallible> {
        let negative = SquareMatrix::from_fn(self.columns, |i, j| -d[(i, j)]);
        *q = self.plus(q, z, &negative);
        Ok(self.products(q, q))
    }

    fn advance_block(
        &self,
        Advance { earlier, step, turn, keep, overwrite }: Advance<'_>,
        x: &mut Vector,
        q: &mut Vector,
        p: &mut Vector,
        o: Option<&mut Vector>,
    ) -> Result<(), Infallible> {
        for (i, j) in (0..self.columns).flat_map(|i| (0..i).map(move |j| (i, j))) {
            assert_eq!((turn[(i, j)], keep[(j, i)]), (0.0.into(), 0.0.into()), "not triangular");
        }
        if let Some(earlier) = earlier {
            *x = self.plus(x, o.as_ref().unwrap(), earlier);
        }
        if let Some(step) = step {
            *x = self.plus(x, p, step);
        }
        let turned = self.plus(&vec![Complex64::default(); q.len()], q, turn);
        let next = self.plus(&turned, p, keep);
        *o.unwrap_or(p) = next;
        if overwrite {
            self.overwritten.set(self.overwritten.get() + 1);
            *q = turned;
        }
        Ok(())
    }
}

impl LinearOperator for Columns {
    type Space = Space;

    fn space(&self) -> &Space {
        &self.space
    }

    fn apply(&self, x: &Vector, out: &mut Vector) -> Result<(), Infallible> {
        let n = self.a.rows.len();
        for (x, out) in x.chunks(n).zip(out.chunks_mut(n)) {
            let mut image = out.to_vec();
            self.a.apply(&x.to_vec(), &mut image)?;
            out.copy_from_slice(&image);
        }
        Ok(())
    }

    fn work(&self) -> Work {
        self.a.work().times(self.space.columns as u64)
    }
}

impl BlockOperator for Columns {
    fn descend_block(
        &self,
        x: &Vector,
        image: &mut Vector,
        q: &mut Vector,
        recurrence: &mut BlockRecurrence,
    ) -> Result<(), Infallible> {
        self.apply(x, image)?;
        recurrence.follow_curvature(&self.space.products(x, image));
        let gram = self.space.subtract_block(image, &recurrence.subtrahend, q)?;
        recurrence.follow_residual(&gram);
        Ok(())
    }
}

/// Makes a positive matrix with a few eigenvalues far below the others.
///
/// A block has an advantage with such a matrix.
fn spread(seed: u64) -> Dense {
    let mut random = Random(seed);
    let upper = Dense::from_fn(N, |_, _| random.complex());
    let diagonal = |i: usize| if i < 10 { 0.02 * (1.0 + i as f64) } else { 2.0 + 0.01 * i as f64 };
    // The norm of `small` is below the smallest of these.
    let small =
        |i: usize, j: usize| (upper.rows[i][j] + upper.rows[j][i].conj()) * (0.004 / (N as f64).sqrt());
    Dense::from_fn(N, |i, j| small(i, j) + if i == j { diagonal(i) } else { 0.0 })
}

fn solve(a: &Columns, b: &Vector) -> (Block<Vector>, SolverInfo) {
    block_conjugate_gradient(a, b, &BlockCgOptions::default(), BlockCallbacks::default()).unwrap()
}

/// Checks that every solution is right.
///
/// The true residual of a solution must be the reported one.
#[track_caller]
fn check(a: &Columns, b: &Vector, block: &Block<Vector>, tolerance: f64) {
    let columns = block.x.chunks(N).zip(b.chunks(N));
    for (j, ((x, b), residual)) in columns.zip(&block.residuals).enumerate() {
        let zero = vec![Complex64::default(); N];
        let norm = distance(b, &zero);
        if norm == 0.0 {
            assert_eq!((x, residual.true_residual), (&zero[..], 0.0), "source {j}");
            continue;
        }
        let exact = a.a.residual(x, b);
        assert!(exact <= tolerance, "source {j}: {exact:e}");
        assert!((exact - residual.true_residual).abs() < 1e-14, "source {j}: {exact:e} {residual:?}");
    }
}

#[test]
fn it_solves_every_source_in_fewer_iterations() {
    let mut last = usize::MAX;
    for columns in [1, 2, 5, 12] {
        let a = Columns::new(spread(201), columns);
        let b = Random(202).vector(columns * N);
        let (block, info) = solve(&a, &b);
        check(&a, &b, &block, 1e-10);
        assert!(info.iterations < last, "{columns} columns: {} {last}", info.iterations);
        assert_eq!((info.history.len(), info.applications), (info.iterations + 1, info.iterations + 1));
        last = info.iterations;
        if columns == 1 {
            let (_, plain) =
                conjugate_gradient(&spread(201), &b, None, &CgOptions::default(), None, None).unwrap();
            assert_eq!(info.iterations, plain.iterations);
            // The recurrence is the one of plain Conjugate Gradient.
            for (expected, found) in plain.history.iter().zip(&info.history).take(20) {
                assert!((expected - found).abs() <= 1e-6 * expected, "{expected} {found}");
            }
        }
    }
}

/// The norms of the columns of C are the norms of the residuals.
#[test]
fn what_is_iterated_is_what_is_true() {
    let mut b = Random(204).vector(4 * N);
    b[..N].iter_mut().for_each(|b| *b *= 1e8);
    for (a, limit) in
        Columns::both(|| spread(203), 4).iter().flat_map(|a| (1..8).map(move |limit| (a, limit)))
    {
        let stopping = Stopping::default().with_max_iterations(limit);
        let params = BlockCgOptions::default().with_stopping(stopping);
        let (why, block, info) = failure(block_conjugate_gradient(a, &b, &params, BlockCallbacks::default()));
        assert_eq!(why, Failure::IterationLimit { limit });
        assert_eq!(info.history.len(), limit + 1);
        for (x, (b, residual)) in block.x.chunks(N).zip(b.chunks(N).zip(&block.residuals)) {
            let exact = a.a.residual(x, b);
            assert!((exact - residual.iterated).abs() < 1e-12, "{exact} {residual:?}");
            assert!((exact - residual.true_residual).abs() < 1e-14, "{exact} {residual:?}");
        }
    }
}

#[test]
fn two_directions_at_once_give_the_same_bits() {
    let b = Random(224).vector(3 * N);
    let [at_once, in_pairs] = Columns::both(|| spread(225), 3);
    let [one, other] = [&at_once, &in_pairs].map(|a| solve(a, &b));
    assert_eq!((&one.0, &one.1.history), (&other.0, &other.1.history));
    // Each iteration takes half a pass over memory less.
    let pass = (at_once.space.dimension() * at_once.space.component_bytes()) as u64;
    let saved = (one.1.work.bytes - other.1.work.bytes) / pass;
    assert_eq!(saved, one.1.iterations as u64 / 2);
}

#[test]
fn a_failure_has_the_best_iterate_though_residuals_rise() {
    // Eigenvalues from 1 to 1e6, and much of the solution where they are small.
    let eigenvalue = |i: usize| 10f64.powf(6.0 * i as f64 / (N - 1) as f64);
    let wide = |i: usize, j: usize| Complex64::from(if i == j { eigenvalue(i) } else { 0.0 });
    let b = Random(223).vector(2 * N).into_iter().enumerate();
    let b: Vector = b.map(|(k, b)| b / eigenvalue(k % N).sqrt()).collect();
    for a in Columns::both(|| Dense::from_fn(N, wide), 2) {
        // X is there for every iteration, or for every second one.
        let every = if a.space.pairs { 2 } else { 1 };
        let mut risen = 0;
        for limit in 1..40 {
            let stopping = Stopping::default().with_max_iterations(limit);
            let params = BlockCgOptions::default().with_stopping(stopping);
            let (_, block, info) =
                failure(block_conjugate_gradient(&a, &b, &params, BlockCallbacks::default()));
            let last = *info.history.last().unwrap();
            let smallest = info.history.iter().step_by(every).copied().fold(last, f64::min);
            let found = block.residuals.iter().map(|residual| residual.iterated).fold(0.0, f64::max);
            assert!(found <= 4.0 * smallest, "{limit}: {found} {smallest}");
            risen += usize::from(found < last);
            for (x, (b, residual)) in block.x.chunks(N).zip(b.chunks(N).zip(&block.residuals)) {
                let exact = a.a.residual(x, b);
                assert!((exact - residual.true_residual).abs() < 1e-9 * exact, "{exact} {residual:?}");
                assert!((exact - residual.iterated).abs() < 1e-6 * exact, "{exact} {residual:?}");
            }
        }
        assert!(risen > 5, "the last one was not the best {risen} times");
    }
}

#[test]
fn sources_that_depend_on_each_other_are_solved() {
    let mut random = Random(205);
    let zero = vec![Complex64::default(); N];
    let [one, other] = [random.vector(N), random.vector(N)];
    let sum: Vector = one.iter().zip(&other).map(|(one, other)| one * 2.0 - other * Complex64::i()).collect();
    let nearly: Vector = one.iter().zip(&other).map(|(one, other)| one + other * 1e-9).collect();
    let cases: [&[&Vector]; 6] = [
        &[&one, &one],
        &[&one, &zero, &other],
        &[&zero, &zero],
        &[&one, &other, &sum],
        &[&sum, &sum, &sum, &sum],
        &[&one, &nearly, &other, &one],
    ];
    for (case, columns) in cases.iter().enumerate() {
        let a = Columns::new(spread(206), columns.len());
        let b: Vector = columns.iter().flat_map(|column| column.iter().copied()).collect();
        let (block, info) = solve(&a, &b);
        check(&a, &b, &block, 1e-10);
        assert!(info.iterations < 200, "case {case}: {}", info.iterations);
    }
    // Two equal columns take as many iterations as one.
    let alone = solve(&Columns::new(spread(206), 1), &one).1.iterations;
    let twice = solve(&Columns::new(spread(206), 2), &[&one[..], &one].concat()).1.iterations;
    assert_eq!(alone, twice);
}

#[test]
fn what_is_stored_of_q_stays_until_its_columns_are_too_much_alike() {
    let mut random = Random(215);
    let [one, other] = [random.vector(N), random.vector(N)];
    let alike: Vector = one.iter().zip(&other).map(|(one, other)| one + other * 0.03).collect();
    let mut overwritten = Vec::new();
    for b in [[&one[..], &other].concat(), [&one[..], &alike].concat()] {
        let a = Columns::new(spread(216), 2);
        let (block, info) = solve(&a, &b);
        check(&a, &b, &block, 1e-10);
        let count = a.space.overwritten.get();
        assert!(count < info.iterations / 4, "{count}");
        let stored = info.work.bytes - a.work().times(info.applications as u64).bytes;
        let bytes = (a.space.dimension() * a.space.component_bytes()) as u64;
        // An iteration takes three passes for Q, five for P and X, and one for each product.
        let iterations = 9 * info.iterations as u64;
        let rest = stored / bytes - iterations - count as u64;
        assert!(rest <= 10, "{rest} passes outside of iterations");
        overwritten.push(count);
    }
    assert!(overwritten[0] == 0 && overwritten[1] > 0, "{overwritten:?}");
}

/// The Krylov space of all columns is the whole space after a few iterations.
#[test]
fn it_ends_when_the_space_is_exhausted() {
    for (n, columns) in [(7, 7), (31, 6), (61, 12)] {
        let a = Columns::new(Dense::positive(n, 207), columns);
        let b = Random(208).vector(columns * n);
        let (block, info) = solve(&a, &b);
        for (x, exact) in block.x.chunks(n).zip(a.solutions(&b)) {
            assert!(distance(x, &exact) < 1e-8, "{n}");
        }
        // One iteration more is allowed, and one where rounding has made the last of them miss.
        assert!(info.iterations <= n.div_ceil(columns) + 2, "{n}: {}", info.iterations);
    }
}

/// Corrections to a solution that is kept elsewhere, like those of low precision.
#[test]
fn a_solution_may_be_kept_elsewhere() {
    let a = Columns::new(spread(211), 5);
    let b = Random(212).vector(5 * N);
    let params = BlockCgOptions::default();
    let (_, alone) = solve(&a, &b);
    let mut solution = vec![Complex64::default(); 5 * N];
    let mut times = 0;
    let mut residuals = |x: &mut Vector, r: Option<&mut Vector>| {
        times += 1;
        solution.iter_mut().zip(&*x).for_each(|(solution, x)| *solution += x);
        x.fill(Complex64::default());
        let r = r.expect("residuals are replaced each time");
        a.apply(&solution, r)?;
        r.iter_mut().zip(&b).for_each(|(r, b)| *r = b - *r);
        let norm = |x: &[Complex64]| distance(x, &vec![Complex64::default(); x.len()]);
        Ok(r.chunks(N).zip(b.chunks(N)).map(|(r, b)| norm(r) / norm(b)).collect())
    };
    let callbacks = BlockCallbacks::default().with_residuals(Some(&mut residuals)).with_replaced_at(0.1);
    let (block, info) = block_conjugate_gradient(&a, &b, &params, callbacks).unwrap();
    assert!(block.x.iter().all(|x| *x == Complex64::default()));
    check(&a, &b, &Block { x: solution, residuals: block.residuals }, 1e-10);
    assert!((5..15).contains(&times), "{times}");
    // The directions go on: nothing is lost by replacing.
    assert!(info.iterations <= alone.iterations + 2, "{} {}", info.iterations, alone.iterations);
}

/// The first look shows by which factor the residuals that count are larger.
///
/// The residuals are larger than the iterated ones. After the look the directions go on.
#[test]
fn the_first_look_replaces_nothing() {
    let (a, b) = (Columns::new(spread(211), 5), Random(212).vector(5 * N));
    let (_, alone) = solve(&a, &b);
    for pairs in [false, true] {
        let mut a = Columns::new(spread(211), 5);
        a.space.pairs = pairs;
        let mut looks = Vec::new();
        let mut residuals = |x: &mut Vector, r: Option<&mut Vector>| {
            looks.push(r.is_none());
            let of_columns = x.chunks(N).zip(b.chunks(N)).map(|(x, b)| 30.0 * a.a.residual(x, b));
            let of_columns: Vec<f64> = of_columns.collect();
            if let Some(r) = r {
                a.residual(&b, x, r)?;
            }
            Ok(of_columns)
        };
        let callbacks = BlockCallbacks::default().with_residuals(Some(&mut residuals));
        let (block, info) = block_conjugate_gradient(&a, &b, &BlockCgOptions::default(), callbacks).unwrap();
        assert_eq!(looks, [true, false], "{pairs}");
        for (x, b) in block.x.chunks(N).zip(b.chunks(N)) {
            assert!(a.a.residual(x, b) <= 1e-10 / 30.0, "{pairs}");
        }
        // The smaller residuals take this many iterations, and one in which a pair may be finished.
        let smaller =
            BlockCgOptions::default().with_stopping(Stopping::default().with_tolerance(1e-10 / 30.0));
        let (_, plain) = block_conjugate_gradient(&a, &b, &smaller, BlockCallbacks::default()).unwrap();
        assert!(info.iterations > alone.iterations && info.iterations <= plain.iterations + 1, "{pairs}");
    }
}

/// The residuals that count may be smaller than the iterated ones.
///
/// Only the iterated ones are looked at on the way.
#[test]
fn what_is_small_enough_at_the_limit_is_a_solution() {
    let (a, b) = (Columns::new(spread(211), 3), Random(212).vector(3 * N));
    let params = BlockCgOptions::default().with_stopping(Stopping::default().with_max_iterations(3));
    let mut residuals = |_: &mut Vector, _: Option<&mut Vector>| Ok(vec![1e-11, 1e-12, 0.0]);
    let callbacks = BlockCallbacks::default().with_residuals(Some(&mut residuals));
    let (_, info) = block_conjugate_gradient(&a, &b, &params, callbacks).unwrap();
    assert_eq!((info.iterations, info.residual.true_residual), (3, 1e-11));
    assert!(info.residual.iterated > 1e-10);
}

#[test]
fn residuals_that_are_no_numbers_end_it() {
    let (a, b) = (Columns::new(spread(211), 3), Random(212).vector(3 * N));
    let mut residuals = |_: &mut Vector, _: Option<&mut Vector>| Ok(vec![1e-11, f64::NAN, 1.0]);
    let callbacks = BlockCallbacks::default().with_residuals(Some(&mut residuals));
    let (why, _, _) = failure(block_conjugate_gradient(&a, &b, &BlockCgOptions::default(), callbacks));
    assert!(matches!(why, Failure::PrecisionLimit { true_residual, .. } if true_residual.is_nan()), "{why}");
}

#[test]
fn it_gives_up_with_a_reason() {
    let b = Random(213).vector(3 * N);
    let run = |a: Dense, params: &BlockCgOptions, keeper: Option<&mut StopAt>| {
        let keeper = keeper.map(|keeper| keeper as &mut dyn StateKeeper<_, _>);
        let callbacks = BlockCallbacks::default().with_keeper(keeper);
        let (why, block, info) =
            failure(block_conjugate_gradient(&Columns::new(a, 3), &b, params, callbacks));
        assert!(block.x.iter().all(|x| x.is_finite()) && block.residuals.len() == 3);
        (why, info)
    };
    let params = BlockCgOptions::default();
    let (why, _) = run(Dense::indefinite(N, 214), &params, None);
    assert!(matches!(why, Failure::Breakdown { quantity: "P†AP", .. }), "{why}");

    let (why, _) = run(Dense::from_fn(N, |_, _| Complex64::default()), &params, None);
    assert!(matches!(why, Failure::Breakdown { quantity: "P†AP", relative: 0.0, .. }), "{why}");

    let mut poisoned = spread(215);
    poisoned.rows[3][4].re = f64::NAN;
    let (why, info) = run(poisoned, &params, None);
    assert!(matches!(why, Failure::NotFinite { .. }), "{why}");
    assert_eq!(info.iterations, 0);

    let stopping = Stopping::default().with_tolerance(1e-19);
    let (why, info) = run(spread(216), &params.with_stopping(stopping), None);
    assert!(matches!(why, Failure::PrecisionLimit { .. }), "{why}");
    assert!(info.residual.true_residual < 1e-13, "{:?}", info.residual);

    let mut keeper = StopAt { stop: 4, ..Default::default() };
    let (why, info) = run(spread(217), &params, Some(&mut keeper));
    assert_eq!((why, info.iterations), (Failure::Interrupted, 3));

    let stopping = Stopping::default().with_tolerance(-1.0);
    let params = params.with_stopping(stopping);
    let a = Columns::new(spread(218), 3);
    let result = block_conjugate_gradient(&a, &b, &params, BlockCallbacks::default());
    assert!(matches!(result, Err(SolverError::Parameter { name: "tolerance", .. })));
}

/// Iterations after an event change nothing, so the host may learn of it late.
#[test]
fn when_it_looks_changes_no_bit() {
    let mut random = Random(226);
    let (one, other) = (random.vector(N), random.vector(N));
    let nearly: Vector = one.iter().zip(&other).map(|(one, other)| one + other * 0.01).collect();
    let ordinary = [&one[..], &other, &random.vector(N)].concat();
    let alike = [&one[..], &nearly, &random.vector(N)].concat();
    // Rounding is coarse in the last case, and columns become too much alike.
    for (b, roundoff) in [(&ordinary, f64::EPSILON / 2.0), (&alike, f64::EPSILON / 2.0), (&alike, 1e-4)] {
        for mut a in Columns::both(|| spread(227), 3) {
            a.space.roundoff = roundoff;
            let run = |look_every| {
                a.space.looks.set(0);
                a.space.grams.set(0);
                let stopping = Stopping::default().with_look_every(look_every);
                let params = BlockCgOptions::default().with_stopping(stopping);
                let (block, info) =
                    block_conjugate_gradient(&a, b, &params, BlockCallbacks::default()).unwrap();
                check(&a, b, &block, 1e-10);
                (block, info.history, a.space.looks.get(), a.space.grams.get())
            };
            let (block, history, looks, grams) = run(None);
            assert!(roundoff < 1e-5 || grams > 5, "{grams} products alone");
            for every in [2, 7, 100] {
                let (found, found_history, fewer, _) = run(Some(every));
                assert_eq!((&found, &found_history), (&block, &history), "{roundoff} {every}");
                assert!(fewer < looks, "{fewer} {looks}");
            }
        }
    }
}

/// The host learns late that there is nothing to go on with.
#[test]
fn a_failure_is_the_same_whenever_it_is_seen() {
    let b = Random(213).vector(3 * N);
    let mut poisoned = spread(215);
    poisoned.rows[3][4].re = f64::NAN;
    for a in [Dense::indefinite(N, 214), poisoned] {
        let a = Columns::new(a, 3);
        let run = |look_every| {
            let stopping = Stopping::default().with_look_every(look_every);
            let params = BlockCgOptions::default().with_stopping(stopping);
            failure(block_conjugate_gradient(&a, &b, &params, BlockCallbacks::default()))
        };
        let (why, block, info) = run(None);
        for every in [3, 32] {
            let (found, other, told) = run(Some(every));
            assert_eq!(format!("{found:?}"), format!("{why:?}"));
            assert_eq!(told.history, info.history);
            let same_x = block.x.iter().zip(&other.x).all(|(x, y)| x.re.to_bits() == y.re.to_bits());
            assert!(same_x, "{every}: {why}");
        }
    }
}

#[test]
fn a_solve_that_was_interrupted_gives_the_same_bits() {
    // The second column depends on the first. Its directions are left out, which must not be
    // forgotten.
    let mut b = Random(220).vector(4 * N);
    b.copy_within(..N, N);
    let looks = Cell::new(1);
    let run = |a: &Columns, keeper: &mut StopAt, max_iterations| {
        let callbacks = BlockCallbacks::default().with_keeper(Some(keeper));
        let look_every = Some(looks.get());
        let stopping = Stopping::default()
            .with_tolerance(1e-13)
            .with_max_iterations(max_iterations)
            .with_look_every(look_every);
        let params = BlockCgOptions::default().with_stopping(stopping);
        let told = |info: SolverInfo| SolverInfo { time: Default::default(), ..info };
        match block_conjugate_gradient(a, &b, &params, callbacks) {
            Ok((block, info)) => (block, told(info), None),
            Err(SolverError::NotConverged { failure, best, info }) => (best, told(*info), Some(failure)),
            Err(error) => panic!("{error}"),
        }
    };
    // One limit leads to the solution, the other to a failure with the best iterate.
    let operators = Columns::both(|| spread(219), 4);
    let cases = operators.iter().flat_map(|a| [(a, 1000, 1), (a, 9, 1), (a, 1000, 5)]);
    for (a, limit, look_every) in cases {
        looks.set(look_every);
        let mut never = StopAt::default();
        let whole = run(a, &mut never, limit);
        assert_eq!(whole.2.is_none(), limit == 1000, "{:?}", whole.2);
        // While a step is pending the keeper is not asked.
        assert!(never.asked >= if a.space.pairs { 5 } else { 9 } / look_every);
        for stop in 1..=never.asked {
            let mut keeper = StopAt { stop, ..Default::default() };
            assert_eq!(run(a, &mut keeper, limit).2, Some(Failure::Interrupted), "{stop}");
            let mut rest = StopAt { from: keeper.kept, ..Default::default() };
            assert_eq!(run(a, &mut rest, limit), whole, "stopped at {stop} of {}", never.asked);
            assert_eq!(rest.asked, never.asked - stop + 1);
        }
    }
}

#[test]
fn a_state_of_another_solve_is_refused() {
    let a = Columns::new(spread(221), 2);
    let b = Random(222).vector(2 * N);
    let run = |a: &Columns, b: &Vector, keeper: &mut StopAt| {
        let callbacks = BlockCallbacks::default().with_keeper(Some(keeper));
        block_conjugate_gradient(a, b, &BlockCgOptions::default(), callbacks).unwrap_err()
    };
    let mut keeper = StopAt { stop: 3, ..Default::default() };
    run(&a, &b, &mut keeper);
    let state = keeper.kept.unwrap();
    let other = SolverState { method: "Conjugate Gradient".into(), ..state.clone() };
    let error = run(&a, &b, &mut StopAt { from: Some(other), ..Default::default() });
    assert!(matches!(error, SolverError::ForeignState(_)), "{error}");
    // The state has two columns, not three.
    let (a, b) = (Columns::new(spread(221), 3), Random(222).vector(3 * N));
    let error = run(&a, &b, &mut StopAt { from: Some(state), ..Default::default() });
    assert!(error.to_string().contains("`C`"), "{error}");
}
