//! The operator on several vectors at once.

use super::filter::Filter;
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};

/// The operator A on several vectors at once, which are the columns of one.
///
/// An operator that reads its coefficients once for all columns is faster than A on one vector
/// after the other.
pub trait Columns<A: LinearOperator> {
    /// The operator on columns.
    type Operator: LinearOperator<Space: VectorSpace<Error = ErrorOf<A>>>;

    /// Returns the operator on columns.
    fn operator(&self) -> &Self::Operator;

    /// Returns the number of columns.
    fn count(&self) -> usize;

    /// Copies a vector into a column.
    ///
    /// # Errors
    /// The space's own error.
    fn set(
        &self,
        column: usize,
        vector: &VectorOf<A>,
        columns: &mut VectorOf<Self::Operator>,
    ) -> Result<(), ErrorOf<A>>;

    /// Copies a column into a vector.
    ///
    /// # Errors
    /// The space's own error.
    fn get(
        &self,
        column: usize,
        columns: &VectorOf<Self::Operator>,
        vector: &mut VectorOf<A>,
    ) -> Result<(), ErrorOf<A>>;
}

/// The iterated operator on several vectors at once, whatever its columns are.
pub(super) trait Together<A: LinearOperator> {
    /// Returns the most vectors at once.
    fn most(&self) -> usize;

    /// Applies the polynomial, or A, to some vectors, and returns the work.
    fn apply(&mut self, filter: Option<&Filter>, vectors: &[VectorOf<A>]) -> Result<Work, ErrorOf<A>>;

    /// Copies the image of one of the vectors.
    fn image(&self, number: usize, image: &mut VectorOf<A>) -> Result<(), ErrorOf<A>>;
}

/// Columns with the memory for an application.
pub(super) struct Prepared<'a, A: LinearOperator, C: Columns<A>> {
    columns: &'a C,
    x: VectorOf<C::Operator>,
    image: VectorOf<C::Operator>,
    spare: [VectorOf<C::Operator>; 2],
}

impl<'a, A: LinearOperator, C: Columns<A>> Prepared<'a, A, C> {
    pub fn new(columns: &'a C) -> Result<Self, ErrorOf<A>> {
        let space = columns.operator().space();
        let zero = || space.zero_vector();
        Ok(Self { columns, x: zero()?, image: zero()?, spare: [zero()?, zero()?] })
    }
}

impl<A: LinearOperator, C: Columns<A>> Together<A> for Prepared<'_, A, C> {
    fn most(&self) -> usize {
        self.columns.count()
    }

    fn apply(&mut self, filter: Option<&Filter>, vectors: &[VectorOf<A>]) -> Result<Work, ErrorOf<A>> {
        let Self { columns, x, image, spare } = self;
        for (column, vector) in vectors.iter().enumerate() {
            columns.set(column, vector, x)?;
        }
        let operator = columns.operator();
        match filter {
            None => {
                operator.apply(x, image)?;
                Ok(operator.work())
            }
            Some(filter) => {
                filter.apply(operator, x, image, spare)?;
                Ok(filter.work(operator))
            }
        }
    }

    fn image(&self, number: usize, image: &mut VectorOf<A>) -> Result<(), ErrorOf<A>> {
        self.columns.get(number, &self.image, image)
    }
}
