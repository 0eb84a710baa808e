//! First guesses that have the slow part of a solution.
//!
//! Only the guess is made of the modes, and no operator is projected. The modes are eigenvectors,
//! so the residual stays orthogonal to them in the whole iteration, up to their own residuals. A
//! projection in each iteration would cost as many passes over memory as there are modes, and
//! would save no iteration. In mixed precision a residual may get parts along the modes by
//! rounding. They are taken out when the residual is replaced.

use super::search::{DiracModes, Fields};
use crate::compute::DeviceError;
use crate::field::{ParityField, SpinorField};
use crate::operator::{Dirac, DiracOperator, SchurComplement, System};
use crate::solve::{Checkpoints, Deflate, InvertError, SolveParams, solve_deflated, solve_from};
use lattice_solvers::{Mode, SolverInfo, VectorOf, VectorSpace};

impl DiracModes {
    /// Solves M x = b by the method of the parameters, from the part that the modes span.
    ///
    /// Mixed precision takes what rounding puts along the modes out of residuals again, if the modes
    /// have the preconditioning of the parameters. `checkpoints` keeps the states of the solve.
    ///
    /// # Errors
    /// The errors of [`solve_from`].
    ///
    /// # Panics
    /// When `b` lives on another lattice than the modes.
    pub fn solve(
        &self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
        params: &SolveParams,
        checkpoints: Option<&mut dyn Checkpoints>,
    ) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
        if params.preconditioning() == self.preconditioning {
            return solve_deflated(dirac, b, self, params, checkpoints);
        }
        solve_from(dirac, b, &self.guess(dirac, b)?, params, checkpoints)
    }

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

impl Deflate for DiracModes {
    fn on_all_sites(
        &self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
    ) -> Result<SpinorField<f64>, DeviceError> {
        let Fields::All(modes) = &self.fields else { unreachable!("modes without preconditioning") };
        projected(dirac, modes, self.system, b)
    }

    fn on_even_sites(
        &self,
        operator: &SchurComplement<f64>,
        b: &ParityField<f64>,
    ) -> Result<ParityField<f64>, DeviceError> {
        let Fields::Even(modes) = &self.fields else { unreachable!("modes with even-odd preconditioning") };
        projected(operator, modes, self.system, b)
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
