//! The methods that solve for one source.
//!
//! The file has the table of all methods, their parameters, and their calls.

use super::iteration::{Iterated, Iteration};
use super::method_macros::{method_types, parameter_types};
use super::plan::{IterationPrecision, Preconditioning};
use crate::operator::{DiracOperator, Normal, System};
use lattice_solvers::{self as solvers, MrSmoother, Preconditioner, Recurrence, Stopping};
use serde::{Deserialize, Serialize};
use std::fmt;

parameter_types! {
    /// Parameters of [`cr`](super::cr).
    CrParams {
        /// The system that is iterated. Default [`System::Normal`].
        system: System = System::default(),
    }
    /// Parameters of [`minres`](super::minres).
    MinresParams {}
    /// Parameters of [`cg`](super::cg) and [`cgne`](super::cgne).
    CgParams {}
    /// Parameters of [`bicgstab`](super::bicgstab).
    ///
    /// An iteration has two applications of M.
    BicgstabParams {}
    /// Parameters of [`bicgstab_l`](super::bicgstab_l).
    ///
    /// An iteration has 2ℓ applications of M.
    BicgstabLParams {
        /// ℓ, the degree of the polynomials. Default 2.
        ///
        /// The polynomials make the residual minimal.
        degree: usize = 2,
    }
    /// Parameters of [`gcr`](super::gcr).
    GcrParams {
        /// m, the directions that are kept, each two fields. Default 16.
        restart: usize = 16,
        /// Steps of Minimal Residual that make a direction of a residual. Default 4.
        ///
        /// With no steps the direction is the residual itself.
        smoothing: usize = 4,
    }
    /// Parameters of [`mr`](super::mr).
    MrParams {
        /// ω, more than 0 and less than 2. Default 1.
        relaxation: f64 = 1.0,
    }
}

/// Hands the rows of all methods to a macro of `method_macros.rs`.
///
/// A row starts with the documentation of the library's function and its name. Then come the
/// method, its parameters, its name, and the system that it iterates or `any`. The last part is a
/// line for the help of a program. The call of a method stands below, under the same name.
macro_rules! methods {
    ($then:ident) => {
        $then! {
            /// Solves M x = b by Conjugate Residual, from x = 0.
            ///
            /// [`CrParams::system`] says which system is iterated: M†M x = M†b and γ5M x = γ5b with
            /// the published recurrence, M x = b with the general one (see
            /// [`lattice_solvers::conjugate_residual`]). All three stop when ‖b − M x‖ / ‖b‖,
            /// recomputed in double, is at most [`CrParams::tol`].
            ///
            /// # Errors
            /// [`InvertError::NotConverged`] carries the best iterate and the residual history.
            cr: Cr(CrParams), "cr", any, "Conjugate Residual";

            /// Solves M x = b by MINRES on γ5M x = γ5b, from x = 0.
            ///
            /// See [`lattice_solvers::minres`]. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`], and [`InvertError::NotHermitian`] for one flavour of twisted
            /// mass.
            minres: Minres(MinresParams), "minres", Hermitian, "MINRES on γ5M";

            /// Solves M x = b by Conjugate Gradient on M†M x = M†b, from x = 0.
            ///
            /// Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            cg: Cg(CgParams), "cg", Normal, "Conjugate Gradient on M†M";

            /// Solves M x = b by Conjugate Gradient on M M†y = b with x = M†y, from x = 0.
            ///
            /// See [`lattice_solvers::cgne`]. The error falls in each iteration. With [`cg`] the
            /// residual falls in each iteration. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            cgne: Cgne(CgParams), "cgne", Direct, "Conjugate Gradient on M M†y = b, x = M†y";

            /// Solves M x = b by BiCGStab on this system itself, from x = 0.
            ///
            /// See [`lattice_solvers::bicgstab`]. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            bicgstab: Bicgstab(BicgstabParams), "bicgstab", Direct, "BiCGStab on M";

            /// Solves M x = b by BiCGStab(ℓ) on this system itself, from x = 0.
            ///
            /// See [`lattice_solvers::bicgstab_l`]. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            bicgstab_l: BicgstabL(BicgstabLParams), "bicgstab-l", Direct, "BiCGStab(2) on M";

            /// Solves M x = b by GCR(m) on this system itself, from x = 0.
            ///
            /// The preconditioner is [`GcrParams::smoothing`](super::GcrParams::smoothing). See
            /// [`lattice_solvers::gcr`]. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            gcr: Gcr(GcrParams), "gcr", Direct, "GCR(16) on M, preconditioned by four steps of mr";

            /// Solves M x = b by Minimal Residual on this system itself, from x = 0.
            ///
            /// See [`lattice_solvers::minimal_residual`]. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            mr: Mr(MrParams), "mr", Direct, "Minimal Residual on M";
        }
    };
}

pub(super) use methods;

methods!(method_types);

/// ω of the steps that precondition GCR.
const SMOOTHER_RELAXATION: f64 = 1.0;

fn cr<A: DiracOperator>(params: &CrParams, of: Iteration<'_, '_, A>) -> Iterated<A> {
    let Iteration { operator, source, guess, stopping, callbacks } = of;
    let recurrence =
        if params.system == System::Direct { Recurrence::General } else { Recurrence::Hermitian };
    let options = solvers::CrOptions { stopping, recurrence, ..Default::default() };
    Ok(match params.system {
        System::Direct => solvers::conjugate_residual(operator, source, guess, &options, callbacks),
        System::Hermitian => {
            let hermitian = operator.times_gamma5()?;
            solvers::conjugate_residual(&hermitian, source, guess, &options, callbacks)
        }
        System::Normal => {
            let normal = Normal::new(operator)?;
            solvers::conjugate_residual(&normal, source, guess, &options, callbacks)
        }
    })
}

fn minres<A: DiracOperator>(_: &MinresParams, of: Iteration<'_, '_, A>) -> Iterated<A> {
    let hermitian = of.operator.times_gamma5()?;
    let options = solvers::MinresOptions { stopping: of.stopping, ..Default::default() };
    Ok(solvers::minres(&hermitian, of.source, of.guess, &options, None, of.callbacks))
}

fn cg<A: DiracOperator>(_: &CgParams, of: Iteration<'_, '_, A>) -> Iterated<A> {
    let normal = Normal::new(of.operator)?;
    let options = solvers::CgOptions { stopping: of.stopping, ..Default::default() };
    Ok(solvers::conjugate_gradient(&normal, of.source, of.guess, &options, None, of.callbacks))
}

fn cgne<A: DiracOperator>(_: &CgParams, of: Iteration<'_, '_, A>) -> Iterated<A> {
    let adjoint = of.operator.adjoint()?;
    let options = solvers::CgOptions { stopping: of.stopping, ..Default::default() };
    Ok(solvers::cgne(of.operator, &adjoint, of.source, of.guess, &options, of.callbacks))
}

fn bicgstab<A: DiracOperator>(_: &BicgstabParams, of: Iteration<'_, '_, A>) -> Iterated<A> {
    let options = solvers::BicgstabOptions { stopping: of.stopping, ..Default::default() };
    Ok(solvers::bicgstab(of.operator, of.source, of.guess, &options, of.callbacks))
}

fn bicgstab_l<A: DiracOperator>(params: &BicgstabLParams, of: Iteration<'_, '_, A>) -> Iterated<A> {
    let options =
        solvers::BicgstabLOptions { stopping: of.stopping, degree: params.degree, ..Default::default() };
    Ok(solvers::bicgstab_l(of.operator, of.source, of.guess, &options, of.callbacks))
}

fn gcr<A: DiracOperator>(params: &GcrParams, of: Iteration<'_, '_, A>) -> Iterated<A> {
    let Iteration { operator, source, guess, stopping, callbacks } = of;
    let options = solvers::GcrOptions { stopping, restart: params.restart, ..Default::default() };
    if params.smoothing == 0 {
        return Ok(solvers::gcr(operator, source, guess, &options, None, callbacks));
    }
    let mut smoother = match MrSmoother::new(operator, params.smoothing, SMOOTHER_RELAXATION) {
        Ok(smoother) => smoother,
        Err(error) => return Ok(Err(error)),
    };
    let mut precondition = |r: &_, z: &mut _| smoother.apply(r, z);
    Ok(solvers::gcr(operator, source, guess, &options, Some(&mut precondition), callbacks))
}

/// Solves by GCR with a given preconditioner.
///
/// A plan for another method leaves the defaults of GCR.
pub(super) fn gcr_preconditioned<A: DiracOperator>(
    plan: &Plan,
    preconditioner: &mut dyn Preconditioner<A::Space>,
    of: Iteration<'_, '_, A>,
) -> Iterated<A> {
    let restart = match plan.params {
        SolveParams::Gcr(params) => params.restart,
        _ => GcrParams::default().restart,
    };
    let options = solvers::GcrOptions { stopping: of.stopping, restart, ..Default::default() };
    Ok(solvers::gcr(of.operator, of.source, of.guess, &options, Some(preconditioner), of.callbacks))
}

fn mr<A: DiracOperator>(params: &MrParams, of: Iteration<'_, '_, A>) -> Iterated<A> {
    let options =
        solvers::MrOptions { stopping: of.stopping, relaxation: params.relaxation, ..Default::default() };
    Ok(solvers::minimal_residual(of.operator, of.source, of.guess, &options, of.callbacks))
}

impl SolveParams {
    /// Returns the name of the method.
    pub fn method(&self) -> &'static str {
        self.of().name()
    }
}

impl fmt::Display for SolveParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method())?;
        if self.preconditioning() != Preconditioning::None {
            write!(f, " {}", self.preconditioning())?;
        }
        write!(f, " in {}", self.precision())
    }
}

/// The settings that every solve needs.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub params: SolveParams,
    pub stopping: Stopping,
}

impl From<SolveParams> for Plan {
    fn from(params: SolveParams) -> Self {
        Self { params, stopping: params.stopping() }
    }
}

pub(crate) fn stopping(tolerance: f64, max_iterations: usize) -> Stopping {
    Stopping { tolerance, max_iterations, ..Default::default() }
}
