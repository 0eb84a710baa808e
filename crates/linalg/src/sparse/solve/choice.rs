//! The choice of methods and preconditioners, where the options leave it open.

use super::made::PreconditionerParams;
use super::options::{Kind, Method, SolveOptions};
use super::outcome::{FoundSymmetry, SolveError};
use super::system::{Made, System};
use crate::host::level1::Arithmetic;
use crate::sparse::precondition::{Cycle, PreconditionError, Substitution};

/// Rows from which multigrid is chosen for a positive definite matrix.
const ROWS_OF_MULTIGRID: usize = 5000;

/// Returns the methods for a matrix, in their order.
///
/// With a preconditioner that changes they are those that bear it.
pub(super) fn methods_for<T>(symmetry: FoundSymmetry, options: &SolveOptions<T>) -> Vec<Method> {
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
pub(super) fn precondition<T: Arithmetic, S: System<T>>(
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
