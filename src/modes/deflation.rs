//! First guesses that have the slow part of a solution.
//!
//! Only the guess is made of the modes, and no operator is projected. The modes are eigenvectors,
//! so the residual stays orthogonal to them in the whole iteration, up to their own residuals. A
//! projection in each iteration would cost as many passes over memory as there are modes, and
//! would save no iteration.

use super::search::{DiracModes, Fields};
use crate::device::DeviceError;
use crate::field::SpinorField;
use crate::operator::{Dirac, DiracOperator, System};
use crate::solve::InvertError;
use lattice_solvers::{Mode, VectorOf, VectorSpace};

impl DiracModes {
    /// Returns the part of the solution of M x = b that the modes span.
    ///
    /// x = Σ v (v, M†b)/λ with modes of M†M, and x = Σ v (v, γ5b)/λ with modes of γ5M. With
    /// even-odd preconditioning this is so on the even sites, for the preconditioned source. The
    /// odd sites follow. Columns are taken one after the other.
    ///
    /// # Errors
    /// When a device fails.
    ///
    /// # Panics
    /// When `b` lives on another lattice than the modes.
    pub fn guess(&self, dirac: &Dirac<f64>, b: &SpinorField<f64>) -> Result<SpinorField<f64>, InvertError> {
        if b.columns() > 1 {
            return self.guess_of_columns(dirac, b);
        }
        match (&self.fields, self.preconditioning.schur_symmetry()) {
            (Fields::Even(modes), Some(symmetry)) => {
                let parts = dirac.even_odd_parts(b, symmetry)?;
                let operator = dirac.schur_complement_in(symmetry)?;
                let even = projected(&operator, modes, self.system, &parts.source(b)?)?;
                let mut x = dirac.lattice().spinor()?;
                parts.solution(&even, &mut x)?;
                Ok(x)
            }
            (Fields::All(modes), _) => Ok(projected(dirac, modes, self.system, b)?),
            (Fields::Even(_), None) => unreachable!("modes on even sites are those of a Schur complement"),
        }
    }

    fn guess_of_columns(
        &self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
    ) -> Result<SpinorField<f64>, InvertError> {
        let lattice = dirac.lattice();
        let (mut all, mut one) = (lattice.spinors(b.columns())?, lattice.spinor()?);
        for column in 0..b.columns() {
            b.copy_column_to(column, &mut one)?;
            all.copy_column_from(column, &self.guess(dirac, &one)?)?;
        }
        Ok(all)
    }
}

fn projected<A: DiracOperator>(
    operator: &A,
    modes: &[Mode<VectorOf<A>>],
    system: System,
    source: &VectorOf<A>,
) -> Result<VectorOf<A>, DeviceError> {
    let space = operator.space();
    let map = if system == System::Hermitian { operator.gamma5()? } else { operator.adjoint()? };
    let mut image = space.zero_vector()?;
    map.apply(source, &mut image)?;
    let mut x = space.zero_vector()?;
    for Mode { value, vector, .. } in modes {
        let share = space.dot(vector, &image)?;
        space.axpy(&space.quotient(&share, &space.scalar((*value).into())), vector, &mut x)?;
    }
    Ok(x)
}
