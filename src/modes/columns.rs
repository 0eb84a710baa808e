//! An operator on several fields at once.

use super::field::ModeField;
use crate::compute::DeviceError;
use lattice_solvers::{Columns, ErrorOf, LinearOperator, VectorOf, VectorSpace};

/// An operator on as many columns.
pub(super) struct OnColumns<B> {
    pub operator: B,
    pub count: usize,
}

impl<A, B> Columns<A> for OnColumns<B>
where
    A: LinearOperator<Space: VectorSpace<Error = DeviceError, Vector: ModeField>>,
    B: LinearOperator<Space: VectorSpace<Error = DeviceError, Vector = VectorOf<A>>>,
{
    type Operator = B;

    fn operator(&self) -> &B {
        &self.operator
    }

    fn count(&self) -> usize {
        self.count
    }

    fn set(&self, column: usize, field: &VectorOf<A>, columns: &mut VectorOf<B>) -> Result<(), ErrorOf<A>> {
        columns.set_column(column, field)
    }

    fn get(&self, column: usize, columns: &VectorOf<B>, field: &mut VectorOf<A>) -> Result<(), ErrorOf<A>> {
        columns.column_to(column, field)
    }
}
