//! Solving A x = b with a sparse matrix, from its entries to a checked solution.

mod condition;
mod made;
mod options;
mod ordinary;
mod outcome;
mod symmetry;
mod system;

pub use condition::condition_estimate;
pub use options::{Kind, Method, SolveOptions};
pub use outcome::{Attempt, FoundSymmetry, PreconditionerInfo, Refinement, SolveError, Solved};

use super::csr::Csr;
use super::matrix::{Matrix, MatrixOptions};
use super::precondition::{Cycle, PreconditionError, Substitution};
use super::processor::Processor;
use crate::error::BlasError;
use crate::host::level1::{self, Arithmetic};
use lattice_solvers::range::larger;
use lattice_solvers::{
    AnyPreconditioner, Callbacks, Failure, FixedPreconditioner, LinearOperator, Look, MethodOptions, Needs,
    Operator, SolverError, SolverInfo, StateKeeper, Stopping, Task, VectorOf, Wish,
};
use made::PreconditionerParams;
use std::sync::Arc;
use system::{Made, OnTeam, System};

/// Bound of BiCGStab's breakdown, some hundred roundings of a sum in double.
///
/// Ill-conditioned matrices bring the residual near 1e-12 of orthogonal to the first one. A start
/// from there loses the directions that are known by then.
const BREAKDOWN: f64 = 1e-13;

/// Rows from which multigrid is chosen for a positive definite matrix.
const ROWS_OF_MULTIGRID: usize = 5000;

/// A function that watches a solve.
///
/// Every look at the residual calls it with the method. `false` ends the solve.
pub type Watch<'a> = &'a mut (dyn FnMut(Method, &Look) -> bool + 'a);

/// Solves A x = b at a place.
///
/// Without a method in the options, the matrix decides: Conjugate Gradient if it is Hermitian and a
/// leading part is positive definite, MINRES if it is Hermitian, else BiCGStab; GCR and CGNE follow
/// if a method gives up. Nothing depends on a clock. Every change is a warning and one more
/// [`Attempt`].
///
/// A method that gives up is no error: [`Solved::converged`] tells, and `x` is the best iterate.
///
/// ```
/// use lattice_linalg::sparse::solve::{SolveOptions, solve};
/// use lattice_linalg::sparse::{Processor, Problem};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Or `Market::read(Path::new("A.mtx"))?.to_csr()?`.
/// let matrix = "poisson2d:20".parse::<Problem>()?.matrix()?;
/// let b = vec![1.0; matrix.rows()];
/// let solved = solve(&Processor::Host, matrix, &b, &SolveOptions::default(), None)?;
/// assert!(solved.converged && solved.true_residual <= 1e-10);
/// println!("{} iterations of {}", solved.attempts[0].iterations, solved.attempts[0].method.name());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`SolveError`] if the system cannot be solved for, or a device fails.
pub fn solve<T: Arithmetic>(
    place: &Processor,
    matrix: impl Into<Arc<Csr<T>>>,
    b: &[T],
    options: &SolveOptions<T>,
    watch: Option<Watch<'_>>,
) -> Result<Solved<T>, SolveError> {
    let mut solved = solve_columns(std::slice::from_ref(place), matrix, &[b], options, watch)?;
    Ok(solved.remove(0))
}

/// Solves A x = b for several right-hand sides, on one place or a team of places.
///
/// On a team each place has neighbouring rows ([`TeamMatrix`](super::team::TeamMatrix)), and its own
/// preconditioner for them ([`TeamPreconditioner`](super::team::TeamPreconditioner)). Matrix and
/// preconditioners are made once for all right-hand sides. A watch that ends a solve ends all.
///
/// # Errors
/// Those of [`solve()`].
pub fn solve_columns<T: Arithmetic>(
    places: &[Processor],
    matrix: impl Into<Arc<Csr<T>>>,
    columns: &[&[T]],
    options: &SolveOptions<T>,
    mut watch: Option<Watch<'_>>,
) -> Result<Vec<Solved<T>>, SolveError> {
    let source: Arc<Csr<T>> = matrix.into();
    let found = expect_solvable(&source, columns, options)?;
    let (source, of_matrix) = ordinary::matrix(source);
    let (right_sides, powers): (Vec<Vec<T>>, Vec<i32>) = columns.iter().map(|b| ordinary::column(b)).unzip();
    let columns: Vec<&[T]> = right_sides.iter().map(Vec::as_slice).collect();
    let mut solved = solve_ordinary(places, &source, &columns, found, options, &mut watch)?;
    for ((solved, b), of_column) in solved.iter_mut().zip(&columns).zip(powers) {
        ordinary::restore(solved, &source, b, of_column - of_matrix, options.stopping.tolerance);
    }
    Ok(solved)
}

/// Solves systems whose numbers methods take as they are.
fn solve_ordinary<T: Arithmetic>(
    places: &[Processor],
    source: &Arc<Csr<T>>,
    columns: &[&[T]],
    found: FoundSymmetry,
    options: &SolveOptions<T>,
    watch: &mut Option<Watch<'_>>,
) -> Result<Vec<Solved<T>>, SolveError> {
    let mut solved = with_values(places, source, columns, found, options, watch)?;
    let stalled = |solved: &Solved<T>| {
        let interrupted = solved.attempts.iter().any(|attempt| attempt.failure == Some(Failure::Interrupted));
        !solved.converged && !interrupted
    };
    if options.single_values && solved.iter().any(stalled) {
        // What rounded values do not solve is solved again with the whole ones.
        let whole = SolveOptions { single_values: false, ..options.clone() };
        for (column, solved) in columns.iter().zip(&mut solved).filter(|(_, solved)| stalled(solved)) {
            let mut again = with_values(places, source, &[column], found, &whole, watch)?.remove(0);
            let steps = solved.refinement.map_or(0, |refinement| refinement.steps);
            again.refinement = Some(Refinement { steps, fell_back: true });
            again.best += solved.attempts.len();
            again.attempts.splice(0..0, solved.attempts.drain(..));
            again.warnings.splice(0..0, solved.warnings.drain(..));
            again
                .warnings
                .push("values in single precision were not enough, and the whole ones were taken".to_owned());
            *solved = again;
        }
    }
    Ok(solved)
}

/// Refuses a system that cannot be solved with these options, and returns the matrix's symmetry.
fn expect_solvable<T: Arithmetic>(
    source: &Csr<T>,
    columns: &[&[T]],
    options: &SolveOptions<T>,
) -> Result<FoundSymmetry, SolveError> {
    let rows = source.rows();
    if rows != source.columns() {
        return Err(SolveError::NotSquare { rows, columns: source.columns() });
    }
    if let Some(b) = columns.iter().find(|b| b.len() != rows) {
        return Err(SolveError::RightSide { wanted: rows, found: b.len() });
    }
    symmetry::expect_no_empty_line(source)?;
    let (symmetry, asymmetry) = symmetry::found(source);
    let is_hermitian = matches!(symmetry, FoundSymmetry::Hermitian | FoundSymmetry::PositiveDefinite);
    if symmetry == FoundSymmetry::SkewHermitian && !T::IS_COMPLEX && !rows.is_multiple_of(2) {
        return Err(SolveError::OddSkew { rows });
    }
    if let Some(method) = options.method {
        if method.needs_hermitian() && !is_hermitian {
            let (row, column, difference) = (asymmetry.row + 1, asymmetry.column + 1, asymmetry.difference);
            return Err(SolveError::NotHermitian { method, row, column, difference });
        }
        if !method.takes_preconditioner() && options.preconditioner.is_some_and(|kind| kind != Kind::None) {
            return Err(SolveError::NoPreconditioner { method });
        }
        if options.matching && !method.takes_preconditioner() {
            return Err(SolveError::NoPreconditioner { method });
        }
        if options.matching && method.needs_hermitian_preconditioner() {
            return Err(SolveError::Matching { needs: method.name() });
        }
        if options.preconditioner == Some(Kind::Amg)
            && options.amg.cycle == Cycle::K
            && !method.bears_changes()
        {
            return Err(SolveError::Cycle { method });
        }
    }
    if options.matching && matches!(options.preconditioner, Some(Kind::Ic0(_))) {
        return Err(SolveError::Matching { needs: "ic0" });
    }
    Ok(symmetry)
}

/// Brings the matrix to its places, and solves for all right-hand sides.
fn with_values<T: Arithmetic>(
    places: &[Processor],
    source: &Arc<Csr<T>>,
    columns: &[&[T]],
    symmetry: FoundSymmetry,
    options: &SolveOptions<T>,
    watch: &mut Option<Watch<'_>>,
) -> Result<Vec<Solved<T>>, SolveError> {
    let began = places.first().unwrap_or(&Processor::Host).stopwatch();
    let of_matrix = MatrixOptions {
        format: options.format,
        single_values: options.single_values,
        ..MatrixOptions::default()
    };
    match places {
        [place] => {
            let system = Matrix::with_options(place, Arc::clone(source), of_matrix)?;
            let transfer = began.seconds();
            on_system(&system, source, columns, symmetry, options, transfer, watch)
        }
        _ => {
            let system = OnTeam::new(places, Arc::clone(source), of_matrix)?;
            let transfer = began.seconds();
            on_system(&system, source, columns, symmetry, options, transfer, watch)
        }
    }
}

/// Solves for all right-hand sides, one after the other.
fn on_system<T: Arithmetic, S: System<T>>(
    system: &S,
    source: &Csr<T>,
    columns: &[&[T]],
    symmetry: FoundSymmetry,
    options: &SolveOptions<T>,
    transfer_seconds: f64,
    watch: &mut Option<Watch<'_>>,
) -> Result<Vec<Solved<T>>, SolveError> {
    let methods = match options.method {
        Some(method) => vec![method],
        None => methods_for(symmetry, options),
    };
    // The preconditioner of each method, once it is needed.
    let mut known: Vec<Option<Made<S::Space>>> = methods.iter().map(|_| None).collect();
    let mut all = Vec::new();
    for b in columns {
        let mut solved = Solved {
            x: vec![T::default(); source.rows()],
            attempts: Vec::new(),
            best: 0,
            true_residual: f64::INFINITY,
            backward_error: f64::INFINITY,
            converged: false,
            format: system.format(),
            bytes: system.bytes(),
            symmetry,
            warnings: Vec::new(),
            transfer_seconds,
            refinement: options.single_values.then_some(Refinement { steps: 0, fell_back: false }),
        };
        if level1::nrm2(b) == 0.0 {
            solved.warnings.push("the right-hand side is zero, and so is the solution".to_owned());
        }
        let mut interrupted = false;
        for (k, &method) in methods.iter().enumerate() {
            let is_new = known[k].is_none();
            if is_new {
                known[k] = Some(precondition(
                    system,
                    source.rows(),
                    method,
                    options,
                    symmetry,
                    &mut solved.warnings,
                )?);
            }
            let Some((preconditioner, info)) = &known[k] else { unreachable!("it was just made") };
            let setup_seconds = if is_new { info.setup_seconds } else { 0.0 };
            let info = PreconditionerInfo { setup_seconds, ..info.clone() };
            let changes = info.kind == Kind::Amg && options.amg.cycle == Cycle::K;
            let prepared = PreparedMethod {
                system,
                source,
                method,
                preconditioner: preconditioner.as_deref(),
                changes,
                options,
            };
            let (x, attempt, steps) = prepared.refined(b, info, watch)?;
            if let Some(refinement) = &mut solved.refinement {
                refinement.steps += steps;
            }
            let failure = attempt.failure;
            let [true_residual, backward_error] = residuals(source, b, &x);
            solved.attempts.push(attempt);
            // Written so that a NaN is not better.
            if true_residual < solved.true_residual || k == 0 {
                (solved.x, solved.best) = (x, k);
                (solved.true_residual, solved.backward_error) = (true_residual, backward_error);
            }
            solved.converged = solved.true_residual <= options.stopping.tolerance;
            interrupted = failure == Some(Failure::Interrupted);
            if solved.converged || interrupted {
                break;
            }
            if let Some(next) = methods.get(k + 1) {
                let reason =
                    failure.map_or("its residual is not the true one".to_owned(), |why| why.to_string());
                solved.warnings.push(format!(
                    "{} gave up: {reason}; {} is tried",
                    method.name(),
                    next.name()
                ));
            }
        }
        all.push(solved);
        if interrupted {
            break;
        }
    }
    Ok(all)
}

/// A method with everything but the right-hand side.
struct PreparedMethod<'a, T, S: System<T>> {
    system: &'a S,
    source: &'a Csr<T>,
    method: Method,
    preconditioner: Option<&'a dyn LinearOperator<Space = S::Space>>,
    changes: bool,
    options: &'a SolveOptions<T>,
}

/// Most steps of refinement.
const MOST_STEPS: usize = 30;

/// Residual to which a system with rounded values is solved in a step of refinement.
const TOLERANCE_OF_STEP: f64 = 1e-6;

impl<T: Arithmetic, S: System<T>> PreparedMethod<'_, T, S> {
    /// Solves, and refines the solution while values are rounded.
    ///
    /// Returns the steps of refinement as well.
    fn refined(
        &self,
        b: &[T],
        preconditioner: PreconditionerInfo,
        watch: &mut Option<Watch<'_>>,
    ) -> Result<(Vec<T>, Attempt, usize), SolveError> {
        let tolerance = self.options.stopping.tolerance;
        let is_rounded = self.options.single_values && !is_single(self.source);
        let scale = level1::nrm2(b);
        let began = self.system.stopwatch();
        let mut attempt = Attempt {
            method: self.method,
            preconditioner,
            iterations: 0,
            iterated: f64::INFINITY,
            true_residual: f64::INFINITY,
            history: Vec::new(),
            seconds: 0.0,
            failure: None,
        };
        let mut x = vec![T::default(); b.len()];
        let mut right_side = b.to_vec();
        let mut steps = 0;
        loop {
            // The share of the first residual that is left.
            let share = if scale == 0.0 { 1.0 } else { level1::nrm2(&right_side) / scale };
            let of_step = if is_rounded { (tolerance / share).max(TOLERANCE_OF_STEP) } else { tolerance };
            let (step, info, failure) = self.once(&right_side, of_step, watch)?;
            level1::axpy(T::from_complex(1.0.into()), &step, &mut x);
            attempt.iterations += info.iterations;
            attempt.iterated = share * info.residual.iterated;
            let skipped = usize::from(steps > 0);
            attempt.history.extend(info.history.iter().skip(skipped).map(|residual| share * residual));
            attempt.failure = failure;
            let before = attempt.true_residual;
            [attempt.true_residual, _] = residuals(self.source, b, &x);
            let gains = attempt.true_residual < 0.5 * before;
            if !is_rounded
                || failure.is_some()
                || attempt.true_residual <= tolerance
                || !gains
                || steps == MOST_STEPS
            {
                break;
            }
            self.source.multiply(&x, &mut right_side);
            right_side.iter_mut().zip(b).for_each(|(r, b)| *r = *b - *r);
            steps += 1;
        }
        attempt.seconds = began.seconds();
        Ok((x, attempt, steps))
    }

    /// Solves once, to a tolerance.
    fn once(
        &self,
        b: &[T],
        tolerance: f64,
        watch: &mut Option<Watch<'_>>,
    ) -> Result<(Vec<T>, SolverInfo, Option<Failure>), SolveError> {
        let stopping = Stopping { tolerance, ..self.options.stopping };
        let right_side = self.system.vector(b)?;
        let mut keeper = Watcher {
            method: self.method,
            watch: watch.as_mut().map(|watch| &mut **watch as Watch<'_>),
            stop: false,
        };
        let (x, info, failure) = match self.attempt(&right_side, stopping, &mut keeper) {
            Ok((x, info)) => (x, info, None),
            Err(SolverError::NotConverged { failure, best, info }) => (best, *info, Some(failure)),
            Err(SolverError::Source(error)) => return Err(error.into()),
            Err(SolverError::Operation(error)) => return Err(error.into()),
            Err(SolverError::Parameter { name, value, allowed }) => {
                return Err(SolveError::Parameter { name, value, allowed });
            }
            Err(SolverError::ForeignState(_)) => unreachable!("no state is kept"),
        };
        self.system.finish()?;
        Ok((self.system.values(&x)?, info, failure))
    }
}

/// Tells whether all values are numbers of single precision.
fn is_single<T: Arithmetic>(matrix: &Csr<T>) -> bool {
    matrix.values().iter().all(|value| {
        let value = value.to_complex();
        let same = |part: f64| f64::from(part as f32) == part;
        same(value.re) && same(value.im)
    })
}

/// Returns the methods for a matrix, in their order.
///
/// With a preconditioner that changes they are those that bear it.
fn methods_for<T>(symmetry: FoundSymmetry, options: &SolveOptions<T>) -> Vec<Method> {
    if options.matching {
        return vec![Method::Bicgstab, Method::Gcr];
    }
    let mut methods = match symmetry {
        FoundSymmetry::PositiveDefinite => vec![Method::Cg, Method::Minres, Method::Gcr],
        FoundSymmetry::Hermitian => vec![Method::Minres, Method::Gcr],
        FoundSymmetry::SkewHermitian => vec![Method::Cgne, Method::Gcr],
        FoundSymmetry::General => vec![Method::Bicgstab, Method::Gcr, Method::Cgne],
    };
    if options.preconditioner == Some(Kind::Amg) && options.amg.cycle == Cycle::K {
        methods.retain(|method| method.bears_changes());
    }
    methods
}

/// Makes the given preconditioner, or the first one that the matrix has.
fn precondition<T: Arithmetic, S: System<T>>(
    system: &S,
    rows: usize,
    method: Method,
    options: &SolveOptions<T>,
    symmetry: FoundSymmetry,
    warnings: &mut Vec<String>,
) -> Result<Made<S::Space>, SolveError> {
    let make = |kind, matching| {
        system.precondition(PreconditionerParams { kind, matching, method, amg: &options.amg })
    };
    let wrong = |kind, source| match source {
        PreconditionError::Operation(error) => SolveError::Operation(error),
        PreconditionError::StructurallySingular(error) => SolveError::StructurallySingular(error),
        source => SolveError::Precondition { kind, source: Box::new(source) },
    };
    if let Some(kind) = options.preconditioner.filter(|_| method.takes_preconditioner()) {
        return make(kind, options.matching).map_err(|source| wrong(kind, source));
    }
    let first = match method {
        _ if !method.takes_preconditioner() => Kind::None,
        Method::Cg if rows >= ROWS_OF_MULTIGRID => Kind::Amg,
        Method::Cg => Kind::Ic0(Substitution::Levels),
        Method::Minres => Kind::Jacobi,
        _ if symmetry == FoundSymmetry::SkewHermitian && !options.matching => Kind::None,
        _ => Kind::Ilu0(Substitution::Levels),
    };
    let mut kinds = vec![(first, options.matching)];
    if matches!(first, Kind::Ilu0(_)) && !options.matching {
        // Zeros on the diagonal, or pivots that vanish.
        kinds.push((first, true));
    }
    if first == Kind::Amg {
        kinds.push((Kind::Ic0(Substitution::Levels), false));
    }
    if !matches!(first, Kind::Jacobi | Kind::None) {
        kinds.push((Kind::Jacobi, options.matching));
    }
    if first != Kind::None {
        kinds.push((Kind::None, options.matching));
    }
    for (k, &(kind, matching)) in kinds.iter().enumerate() {
        match make(kind, matching) {
            Err(PreconditionError::StructurallySingular(error)) if !S::IS_CUT => return Err(error.into()),
            Err(error) if k + 1 < kinds.len() && !matches!(error, PreconditionError::Operation(_)) => {
                let (next, matching) = kinds[k + 1];
                let of_rows = if matching { " with a matching of rows" } else { "" };
                warnings.push(format!("preconditioner {kind}: {error}; {next}{of_rows} is taken"));
            }
            made => return made.map_err(|source| wrong(kind, source)),
        }
    }
    unreachable!("no preconditioner at all is always possible")
}

/// Hands looks at the residual to a watch.
struct Watcher<'a> {
    method: Method,
    watch: Option<Watch<'a>>,
    stop: bool,
}

impl<V, E> StateKeeper<V, E> for Watcher<'_> {
    fn looked(&mut self, look: &Look) {
        if let Some(watch) = &mut self.watch {
            self.stop = !watch(self.method, look);
        }
    }

    fn wish(&mut self) -> Wish {
        if self.stop { Wish::Stop } else { Wish::GoOn }
    }
}

type MethodResult<V> = Result<(V, SolverInfo), SolverError<V, BlasError>>;

impl<T: Arithmetic, S: System<T>> PreparedMethod<'_, T, S> {
    /// Solves by the method, with its preconditioner, which may be no fixed operator.
    fn attempt(
        &self,
        b: &VectorOf<S::Matrix>,
        stopping: Stopping,
        keeper: &mut dyn StateKeeper<VectorOf<S::Matrix>, BlasError>,
    ) -> MethodResult<VectorOf<S::Matrix>> {
        let method = self.method.krylov();
        let adjoint = if method.needs() == Needs::Adjoint { Some(self.system.adjoint()?) } else { None };
        let breakdown = (self.method == Method::Bicgstab).then_some(BREAKDOWN);
        let changes = self.changes && self.method.bears_changes();
        let mut changing = self.preconditioner.filter(|_| changes).map(FixedPreconditioner);
        let preconditioner = match &mut changing {
            Some(changing) => Some(AnyPreconditioner::Changing(changing)),
            None => self.preconditioner.map(AnyPreconditioner::Fixed),
        };
        method.solve(Task {
            operator: self.system.matrix(),
            adjoint: adjoint.as_ref().map(|adjoint| adjoint as &Operator<'_, S::Space>),
            b,
            guess: None,
            options: MethodOptions {
                stopping,
                breakdown,
                restart: self.options.restart,
                ..Default::default()
            },
            preconditioner,
            callbacks: Callbacks { true_residual: None, keeper: Some(keeper) },
        })
    }
}

/// Returns ‖b − A x‖ / ‖b‖ and the backward error, computed on the host.
fn residuals<T: Arithmetic>(matrix: &Csr<T>, b: &[T], x: &[T]) -> [f64; 2] {
    let mut r = vec![T::default(); b.len()];
    matrix.multiply(x, &mut r);
    r.iter_mut().zip(b).for_each(|(r, b)| *r = *b - *r);
    let largest = |x: &[T]| x.iter().map(|x| x.to_complex().norm()).fold(0.0, larger);
    let (size, scale) = (level1::nrm2(&r), level1::nrm2(b));
    let relative = if scale == 0.0 { size } else { size / scale };
    let below = matrix.norm_infinity() * largest(x) + largest(b);
    [relative, if below == 0.0 { 0.0 } else { largest(&r) / below }]
}
