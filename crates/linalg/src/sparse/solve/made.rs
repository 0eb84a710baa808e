//! Making of preconditioners by their kind.

use super::options::{Kind, Method};
use super::outcome::PreconditionerInfo;
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use crate::sparse::format::natural_block;
use crate::sparse::precondition::{
    Amg, AmgOptions, BlockJacobi, Ic0, Ilu0, Jacobi, Matched, PreconditionError,
};
use crate::sparse::processor::Processor;
use crate::sparse::space::Space;
use lattice_solvers::LinearOperator;

/// A preconditioner of any kind.
pub(super) type Operator<T> = Box<dyn LinearOperator<Space = Space<T>>>;

/// Size of blocks of a matrix that consists of none.
const BLOCK: usize = 4;

/// A preconditioner that is to be made.
#[derive(Clone, Copy)]
pub(super) struct PreconditionerParams<'a, T> {
    pub kind: Kind,
    /// Of the permuted and scaled matrix.
    pub matching: bool,
    pub method: Method,
    pub amg: &'a AmgOptions<T>,
}

/// Makes a preconditioner; none for [`Kind::None`] without a matching.
pub(super) fn make<T: Arithmetic>(
    place: &Processor,
    matrix: &Csr<T>,
    params: PreconditionerParams<'_, T>,
) -> Result<(Option<Operator<T>>, PreconditionerInfo), PreconditionError> {
    if !params.matching {
        return of_matrix(place, matrix, params);
    }
    let began = place.stopwatch();
    let mut info = None;
    let matched = Matched::new(place, matrix, |permuted| {
        let (operator, of_inner) = of_matrix(place, permuted, params)?;
        info = Some(of_inner);
        Ok(operator)
    })?;
    let info = info.expect("it was made");
    let setup_seconds = began.seconds();
    let info =
        PreconditionerInfo { matched: true, bytes: info.bytes + matched.bytes(), setup_seconds, ..info };
    Ok((Some(Box::new(matched)), info))
}

/// Makes the preconditioner of a matrix as it is.
fn of_matrix<T: Arithmetic>(
    place: &Processor,
    matrix: &Csr<T>,
    PreconditionerParams { kind, matching: _, method, amg }: PreconditionerParams<'_, T>,
) -> Result<(Option<Operator<T>>, PreconditionerInfo), PreconditionError> {
    let began = place.stopwatch();
    let (mut levels, mut operator_complexity) = (None, None);
    let mut made = kind;
    let (operator, bytes): (Option<Operator<T>>, u64) = match kind {
        Kind::None => (None, 0),
        Kind::Jacobi => {
            let jacobi = match method {
                Method::Minres => Jacobi::positive(place, matrix)?,
                _ => Jacobi::new(place, matrix)?,
            };
            let bytes = jacobi.bytes();
            (Some(Box::new(jacobi)), bytes)
        }
        Kind::BlockJacobi(size) => {
            let natural = || Some(natural_block(matrix)).filter(|size| *size > 1).unwrap_or(BLOCK);
            let size = size.unwrap_or_else(natural);
            made = Kind::BlockJacobi(Some(size));
            let blocks = BlockJacobi::new(place, matrix, size)?;
            let bytes = blocks.bytes();
            (Some(Box::new(blocks)), bytes)
        }
        Kind::Ilu0(substitution) => {
            let factors = Ilu0::with(place, matrix, substitution)?;
            let bytes = factors.bytes();
            (Some(Box::new(factors)), bytes)
        }
        Kind::Ic0(substitution) => {
            let factors = Ic0::with(place, matrix, substitution)?;
            let bytes = factors.bytes();
            (Some(Box::new(factors)), bytes)
        }
        Kind::Amg => {
            let block = if amg.block > 1 || amg.near_null_space.is_some() {
                amg.block
            } else {
                natural_block(matrix)
            };
            let multigrid = Amg::new(place, matrix, &AmgOptions { block, ..amg.clone() })?;
            levels = Some(multigrid.rows().to_vec());
            operator_complexity = Some(multigrid.operator_complexity());
            let bytes = multigrid.bytes();
            (Some(Box::new(multigrid)), bytes)
        }
    };
    let setup_seconds = began.seconds();
    let info =
        PreconditionerInfo { kind: made, matched: false, levels, operator_complexity, setup_seconds, bytes };
    Ok((operator, info))
}
