//! Solving A x = b with a sparse matrix, from its entries to a checked solution.

mod checks;
mod choice;
mod condition;
mod made;
mod options;
mod ordinary;
mod outcome;
mod prepared;
mod symmetry;
mod system;

pub use condition::condition_estimate;
pub use options::{Kind, Method, SolveOptions, Watch};
pub use outcome::{Attempt, FoundSymmetry, PreconditionerInfo, Refinement, SolveError, Solved};

use super::csr::Csr;
use super::matrix::{Matrix, MatrixOptions};
use super::precondition::Cycle;
use super::processor::Processor;
use crate::host::level1::{self, Arithmetic};
use lattice_solvers::Failure;
use prepared::{PreparedMethod, residuals};
use std::sync::Arc;
use system::{Made, OnTeam, System};

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
    let found = checks::expect_solvable(&source, columns, options)?;
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
        None => choice::methods_for(symmetry, options),
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
                known[k] = Some(choice::precondition(
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
