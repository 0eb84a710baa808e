//! Solving A x = b with a sparse matrix, from its entries to a checked solution.

mod made;
mod options;
mod outcome;
mod symmetry;

pub use options::{Kind, Method, SolveOptions};
pub use outcome::{Attempt, FoundSymmetry, PreconditionerInfo, SolveError, Solved};

use super::csr::Csr;
use super::matrix::Matrix;
use super::place::Place;
use super::precondition::{Cycle, PreconditionError};
use super::space::Space;
use super::vector::Vector;
use crate::error::BlasError;
use crate::host::level1::{self, Arithmetic};
use lattice_solvers::{
    BicgstabOptions, Callbacks, CgOptions, CrOptions, Failure, GcrOptions, LinearOperator, Look,
    MinresOptions, PreconditionedCgOptions, RightPreconditioned, SolverError, SolverInfo, StateKeeper,
    VectorSpace, Wish, bicgstab, cgne, conjugate_gradient, conjugate_residual, gcr, minres,
    preconditioned_cg, preconditioned_minres,
};
use std::sync::Arc;
use std::time::Instant;

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
/// use lattice_linalg::sparse::{Place, Problem};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Or `Market::read(Path::new("A.mtx"))?.to_csr()?`.
/// let matrix = "poisson2d:20".parse::<Problem>()?.matrix()?;
/// let b = vec![1.0; matrix.rows()];
/// let solved = solve(&Place::Host, matrix, &b, &SolveOptions::default(), None)?;
/// assert!(solved.converged && solved.true_residual <= 1e-10);
/// println!("{} iterations of {}", solved.attempts[0].iterations, solved.attempts[0].method.name());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`SolveError`] if the system cannot be solved for, or a device fails.
pub fn solve<T: Arithmetic>(
    place: &Place,
    matrix: impl Into<Arc<Csr<T>>>,
    b: &[T],
    options: &SolveOptions<T>,
    mut watch: Option<Watch<'_>>,
) -> Result<Solved<T>, SolveError> {
    let source: Arc<Csr<T>> = matrix.into();
    let (rows, columns) = (source.rows(), source.columns());
    if rows != columns {
        return Err(SolveError::NotSquare { rows, columns });
    }
    if b.len() != rows {
        return Err(SolveError::RightSide { wanted: rows, found: b.len() });
    }
    symmetry::expect_no_empty_line(&source)?;
    let (symmetry, asymmetry) = symmetry::found(&source);
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
        if options.preconditioner == Some(Kind::Amg)
            && options.amg.cycle == Cycle::K
            && !method.bears_changes()
        {
            return Err(SolveError::Cycle { method });
        }
    }
    let began = Instant::now();
    let a = match options.format {
        Some(format) => Matrix::with_format(place, Arc::clone(&source), format)?,
        None => Matrix::new(place, Arc::clone(&source))?,
    };
    let right_side = Vector::from_slice(place, b)?;
    let mut solved = Solved {
        x: vec![T::default(); rows],
        attempts: Vec::new(),
        best: 0,
        true_residual: f64::INFINITY,
        backward_error: f64::INFINITY,
        converged: false,
        format: a.format(),
        bytes: a.bytes(),
        symmetry,
        warnings: Vec::new(),
        transfer_seconds: began.elapsed().as_secs_f64(),
    };
    if level1::nrm2(b) == 0.0 {
        solved.warnings.push("the right-hand side is zero, and so is the solution".to_owned());
    }
    let methods = match options.method {
        Some(method) => vec![method],
        None => methods_for(symmetry, options),
    };
    for (k, &method) in methods.iter().enumerate() {
        let (preconditioner, info) = precondition(&a, method, options, symmetry, &mut solved.warnings)?;
        let began = Instant::now();
        let (x, history, failure) = {
            let mut keeper =
                Watcher { method, watch: watch.as_mut().map(|watch| &mut **watch as Watch<'_>), stop: false };
            let changes = info.kind == Kind::Amg && options.amg.cycle == Cycle::K;
            match attempt(method, &a, preconditioner.as_deref(), changes, &right_side, options, &mut keeper) {
                Ok((x, info)) => (x, info, None),
                Err(SolverError::NotConverged { failure, best, info }) => (best, *info, Some(failure)),
                Err(SolverError::Source(error)) => return Err(error.into()),
                Err(SolverError::Operation(error)) => return Err(error.into()),
                Err(SolverError::Parameter { name, value, allowed }) => {
                    return Err(SolveError::Parameter { name, value, allowed });
                }
                Err(SolverError::ForeignState(_)) => unreachable!("no state is kept"),
            }
        };
        a.place().finish()?;
        let seconds = began.elapsed().as_secs_f64();
        let x = x.to_vec()?;
        let [true_residual, backward_error] = residuals(&source, b, &x);
        solved.attempts.push(Attempt {
            method,
            preconditioner: info,
            iterations: history.iterations,
            iterated: history.residual.iterated,
            true_residual,
            history: history.history,
            seconds,
            failure,
        });
        // Written so that a NaN is not better.
        if true_residual < solved.true_residual || k == 0 {
            (solved.x, solved.best) = (x, k);
            (solved.true_residual, solved.backward_error) = (true_residual, backward_error);
        }
        solved.converged = solved.true_residual <= options.stopping.tolerance;
        if solved.converged || failure == Some(Failure::Interrupted) {
            break;
        }
        if let Some(next) = methods.get(k + 1) {
            let reason = failure.map_or("its residual is not the true one".to_owned(), |why| why.to_string());
            solved.warnings.push(format!("{} gave up: {reason}; {} is tried", method.name(), next.name()));
        }
    }
    Ok(solved)
}

/// Returns the methods for a matrix, in their order.
///
/// With a preconditioner that changes they are those that bear it.
fn methods_for<T>(symmetry: FoundSymmetry, options: &SolveOptions<T>) -> Vec<Method> {
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

/// A preconditioner, if there is one, and its description.
type Made<T> = (Option<made::Operator<T>>, PreconditionerInfo);

/// Makes the given preconditioner, or the first one that the matrix has.
fn precondition<T: Arithmetic>(
    a: &Matrix<T>,
    method: Method,
    options: &SolveOptions<T>,
    symmetry: FoundSymmetry,
    warnings: &mut Vec<String>,
) -> Result<Made<T>, SolveError> {
    let make = |kind| made::make(a.place(), a.source(), kind, method, &options.amg);
    let wrong = |kind, source| match source {
        PreconditionError::Operation(error) => SolveError::Operation(error),
        source => SolveError::Precondition { kind, source: Box::new(source) },
    };
    if let Some(kind) = options.preconditioner.filter(|_| method.takes_preconditioner()) {
        return make(kind).map_err(|source| wrong(kind, source));
    }
    let first = match method {
        _ if !method.takes_preconditioner() => Kind::None,
        Method::Cg if a.rows() >= ROWS_OF_MULTIGRID => Kind::Amg,
        Method::Cg => Kind::Ic0,
        Method::Minres => Kind::Jacobi,
        _ if symmetry == FoundSymmetry::SkewHermitian => Kind::None,
        _ => Kind::Ilu0,
    };
    let mut kinds = vec![first];
    if !matches!(first, Kind::Jacobi | Kind::None) {
        kinds.push(Kind::Jacobi);
    }
    if first != Kind::None {
        kinds.push(Kind::None);
    }
    for (k, &kind) in kinds.iter().enumerate() {
        match make(kind) {
            Err(error) if k + 1 < kinds.len() && !matches!(error, PreconditionError::Operation(_)) => {
                warnings.push(format!("preconditioner {kind}: {error}; {} is taken", kinds[k + 1]));
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

type Outcome<T> = Result<(Vector<T>, SolverInfo), SolverError<Vector<T>, BlasError>>;

/// Solves by one method, with its preconditioner, which may be no fixed operator.
fn attempt<T: Arithmetic>(
    method: Method,
    a: &Matrix<T>,
    preconditioner: Option<&dyn LinearOperator<Space = Space<T>>>,
    changes: bool,
    b: &Vector<T>,
    options: &SolveOptions<T>,
    keeper: &mut dyn StateKeeper<Vector<T>, BlasError>,
) -> Outcome<T> {
    let stopping = options.stopping;
    let callbacks = Callbacks { true_residual: None, keeper: Some(keeper) };
    match (method, preconditioner) {
        (Method::Cg, None) => {
            conjugate_gradient(a, b, None, &CgOptions { stopping, ..Default::default() }, callbacks)
        }
        (Method::Cg, Some(k)) => {
            let options = PreconditionedCgOptions { stopping, flexible: changes, ..Default::default() };
            let mut applied = |r: &Vector<T>, z: &mut Vector<T>| {
                k.apply(r, z)?;
                Ok(k.work())
            };
            preconditioned_cg(a, b, None, &options, &mut applied, callbacks)
        }
        (Method::Minres, None) => {
            minres(a, b, None, &MinresOptions { stopping, ..Default::default() }, callbacks)
        }
        (Method::Minres, Some(k)) => {
            let options = MinresOptions { stopping, ..Default::default() };
            let mut applied = |r: &Vector<T>, z: &mut Vector<T>| {
                k.apply(r, z)?;
                Ok(k.work())
            };
            preconditioned_minres(a, b, None, &options, &mut applied, callbacks)
        }
        (Method::Cr, _) => {
            conjugate_residual(a, b, None, &CrOptions { stopping, ..Default::default() }, callbacks)
        }
        (Method::Bicgstab, None) => {
            bicgstab(a, b, None, &BicgstabOptions { stopping, breakdown: BREAKDOWN }, callbacks)
        }
        (Method::Bicgstab, Some(k)) => {
            let both = RightPreconditioned::new(a, k)?;
            let options = BicgstabOptions { stopping, breakdown: BREAKDOWN };
            let solution = |y: &Vector<T>| {
                let mut x = a.space().zero_vector()?;
                k.apply(y, &mut x)?;
                Ok::<_, BlasError>(x)
            };
            let callbacks = callbacks.for_operator();
            match bicgstab(&both, b, None, &options, callbacks) {
                Ok((y, info)) => Ok((solution(&y)?, info)),
                Err(SolverError::NotConverged { failure, best, info }) => {
                    Err(SolverError::NotConverged { failure, best: solution(&best)?, info })
                }
                Err(error) => Err(error),
            }
        }
        (Method::Gcr, None) => {
            let options = GcrOptions { stopping, restart: options.restart, ..Default::default() };
            gcr(a, b, None, &options, None, callbacks)
        }
        (Method::Gcr, Some(k)) => {
            let options = GcrOptions { stopping, restart: options.restart, ..Default::default() };
            let mut applied = |r: &Vector<T>, z: &mut Vector<T>| {
                k.apply(r, z)?;
                Ok(k.work())
            };
            gcr(a, b, None, &options, Some(&mut applied), callbacks)
        }
        (Method::Cgne, _) => {
            let adjoint = Matrix::new(a.place(), a.source().adjoint())?;
            cgne(a, &adjoint, b, None, &CgOptions { stopping, ..Default::default() }, callbacks)
        }
    }
}

/// Returns ‖b − A x‖ / ‖b‖ and the backward error, computed on the host.
fn residuals<T: Arithmetic>(matrix: &Csr<T>, b: &[T], x: &[T]) -> [f64; 2] {
    let mut r = vec![T::default(); b.len()];
    matrix.multiply(x, &mut r);
    r.iter_mut().zip(b).for_each(|(r, b)| *r = *b - *r);
    let largest = |x: &[T]| x.iter().map(|x| x.to_complex().norm()).fold(0.0, f64::max);
    let (size, scale) = (level1::nrm2(&r), level1::nrm2(b));
    let relative = if scale == 0.0 { size } else { size / scale };
    let below = matrix.norm_infinity() * largest(x) + largest(b);
    [relative, if below == 0.0 { 0.0 } else { largest(&r) / below }]
}
