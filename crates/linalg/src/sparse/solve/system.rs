//! What a solve needs of a matrix: at one place, or on a team.

use super::made::{self, Operator, PreconditionerParams};
use super::options::Kind;
use super::outcome::PreconditionerInfo;
use crate::error::{BlasError, BlasResult};
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use crate::sparse::format::Format;
use crate::sparse::matrix::{FormatError, Matrix, MatrixOptions};
use crate::sparse::precondition::{AmgOptions, PreconditionError};
use crate::sparse::processor::Processor;
use crate::sparse::space::Space;
use crate::sparse::team::{TeamMatrix, TeamPreconditioner, TeamSpace, TeamVector};
use crate::sparse::vector::Vector;
use lattice_compute::{Number, Stopwatch};
use lattice_solvers::{LinearOperator, VectorOf, VectorSpace};
use std::sync::Arc;

/// A preconditioner on a space.
pub(super) type Preconditioner<S> = Box<dyn LinearOperator<Space = S>>;

/// A preconditioner, if there is one, and its description.
pub(super) type Made<S> = (Option<Preconditioner<S>>, PreconditionerInfo);

/// A matrix where it multiplies, and what is made of it.
pub(super) trait System<T> {
    type Space: VectorSpace<Scalar = Number, Error = BlasError>;
    type Matrix: LinearOperator<Space = Self::Space>;

    /// Preconditioners see only a part of the columns.
    const IS_CUT: bool;

    fn matrix(&self) -> &Self::Matrix;

    fn vector(&self, values: &[T]) -> BlasResult<VectorOf<Self::Matrix>>;

    fn values(&self, vector: &VectorOf<Self::Matrix>) -> BlasResult<Vec<T>>;

    fn adjoint(&self) -> BlasResult<Self::Matrix>;

    fn precondition(
        &self,
        params: PreconditionerParams<'_, T>,
    ) -> Result<Made<Self::Space>, PreconditionError>;

    fn finish(&self) -> BlasResult<()>;

    /// Starts a stopwatch that stands still while compilers work.
    fn stopwatch(&self) -> Stopwatch;

    /// Returns the format, that of the first place.
    fn format(&self) -> Format;

    fn bytes(&self) -> u64;
}

impl<T: Arithmetic> System<T> for Matrix<T> {
    type Space = Space<T>;
    type Matrix = Self;

    const IS_CUT: bool = false;

    fn matrix(&self) -> &Self {
        self
    }

    fn vector(&self, values: &[T]) -> BlasResult<Vector<T>> {
        Vector::from_slice(self.place(), values)
    }

    fn values(&self, vector: &Vector<T>) -> BlasResult<Vec<T>> {
        vector.to_vec()
    }

    fn adjoint(&self) -> BlasResult<Self> {
        Self::new(self.place(), self.source().adjoint())
    }

    fn precondition(&self, params: PreconditionerParams<'_, T>) -> Result<Made<Space<T>>, PreconditionError> {
        made::make(self.place(), self.source(), params)
    }

    fn finish(&self) -> BlasResult<()> {
        self.place().finish()
    }

    fn stopwatch(&self) -> Stopwatch {
        self.place().stopwatch()
    }

    fn format(&self) -> Format {
        self.format()
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }
}

/// A matrix on a team.
pub(super) struct OnTeam<'a, T> {
    places: &'a [Processor],
    matrix: TeamMatrix<T>,
}

impl<'a, T: Arithmetic> OnTeam<'a, T> {
    pub fn new(
        places: &'a [Processor],
        source: Arc<Csr<T>>,
        options: MatrixOptions,
    ) -> Result<Self, FormatError> {
        Ok(Self { places, matrix: TeamMatrix::new(places, source, options)? })
    }
}

impl<T: Arithmetic> System<T> for OnTeam<'_, T> {
    type Space = TeamSpace<T>;
    type Matrix = TeamMatrix<T>;

    const IS_CUT: bool = true;

    fn matrix(&self) -> &TeamMatrix<T> {
        &self.matrix
    }

    fn vector(&self, values: &[T]) -> BlasResult<TeamVector<T>> {
        self.matrix.space().vector(values)
    }

    fn values(&self, vector: &TeamVector<T>) -> BlasResult<Vec<T>> {
        vector.to_vec()
    }

    fn adjoint(&self) -> BlasResult<TeamMatrix<T>> {
        self.matrix.adjoint()
    }

    /// Makes the preconditioner of each place's rows.
    fn precondition(
        &self,
        params: PreconditionerParams<'_, T>,
    ) -> Result<Made<TeamSpace<T>>, PreconditionError> {
        let amg = params.amg;
        let rows = self.matrix.source().rows().max(1);
        let mut infos: Vec<PreconditionerInfo> = Vec::new();
        if params.kind == Kind::None && !params.matching {
            return made::make(&self.places[0], &Csr::<T>::empty(0, 0), params).map(|(_, info)| (None, info));
        }
        let made = TeamPreconditioner::new(&self.matrix, |place, own, range| {
            let modes = amg.near_null_space.as_ref().map_or(0, |vectors| vectors.len() / rows);
            let near_null_space = amg.near_null_space.as_ref().map(|vectors| {
                vectors.get(range.start * modes..range.end * modes).unwrap_or_default().to_vec()
            });
            let amg = AmgOptions { near_null_space, ..amg.clone() };
            let (operator, info) = made::make(place, own, PreconditionerParams { amg: &amg, ..params })
                .map_err(|error| error.counted_from(range.start))?;
            infos.push(info);
            let operator: Operator<T> =
                operator.expect("only the kind none without a matching has no operator");
            Ok::<_, PreconditionError>(operator)
        })?;
        Ok((Some(Box::new(made)), together(infos)))
    }

    fn finish(&self) -> BlasResult<()> {
        self.matrix.space().finish()
    }

    fn stopwatch(&self) -> Stopwatch {
        self.places[0].stopwatch()
    }

    fn format(&self) -> Format {
        self.matrix.formats()[0]
    }

    fn bytes(&self) -> u64 {
        self.matrix.bytes().iter().sum()
    }
}

/// Describes the preconditioners of all places as one.
fn together(infos: Vec<PreconditionerInfo>) -> PreconditionerInfo {
    let mut infos = infos.into_iter();
    let mut all = infos.next().expect("a team has a place");
    for info in infos {
        all.bytes += info.bytes;
        all.setup_seconds += info.setup_seconds;
        if let (Some(rows), Some(more)) = (&mut all.levels, info.levels) {
            rows.resize(rows.len().max(more.len()), 0);
            rows.iter_mut().zip(more).for_each(|(rows, more)| *rows += more);
        }
        if let (Some(complexity), Some(other)) = (&mut all.operator_complexity, info.operator_complexity) {
            *complexity = complexity.max(other);
        }
    }
    all
}
