//! The methods that solve for one source.
//!
//! The file has their parameters and what else the library says of a row of [`solvers::Method`].

use super::iteration::{Iterated, Iteration};
use super::method_macros::{method_types, parameter_types};
use super::plan::{IterationPrecision, Preconditioning};
use crate::operator::{DiracOperator, Normal, System};
use derive_setters::Setters;
use lattice_solvers::update::Formula;
use lattice_solvers::{
    self as solvers, MethodOptions, MrSmoother, Needs, Operator, Preconditioner, Recurrence, Stopping, Task,
    VectorOf,
};
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
/// method, of the table of `lattice-solvers`, and its parameters. The last part is a line for the
/// help of a program.
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
            cr: Cr(CrParams) of any system, "Conjugate Residual";

            /// Solves M x = b by MINRES on γ5M x = γ5b, from x = 0.
            ///
            /// See [`lattice_solvers::minres`]. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`], and [`InvertError::NotHermitian`] for one flavour of twisted
            /// mass.
            minres: Minres(MinresParams), "MINRES on γ5M";

            /// Solves M x = b by Conjugate Gradient on M†M x = M†b, from x = 0.
            ///
            /// Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            cg: Cg(CgParams), "Conjugate Gradient on M†M";

            /// Solves M x = b by Conjugate Gradient on M M†y = b with x = M†y, from x = 0.
            ///
            /// See [`lattice_solvers::cgne`]. The error falls in each iteration. With [`cg`] the
            /// residual falls in each iteration. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            cgne: Cgne(CgParams), "Conjugate Gradient on M M†y = b, x = M†y";

            /// Solves M x = b by BiCGStab on this system itself, from x = 0.
            ///
            /// See [`lattice_solvers::bicgstab`]. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            bicgstab: Bicgstab(BicgstabParams), "BiCGStab on M";

            /// Solves M x = b by BiCGStab(ℓ) on this system itself, from x = 0.
            ///
            /// See [`lattice_solvers::bicgstab_l`]. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            bicgstab_l: BicgstabL(BicgstabLParams), "BiCGStab(2) on M";

            /// Solves M x = b by GCR(m) on this system itself, from x = 0.
            ///
            /// The preconditioner is [`GcrParams::smoothing`](super::GcrParams::smoothing). See
            /// [`lattice_solvers::gcr`]. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            gcr: Gcr(GcrParams), "GCR(16) on M, preconditioned by four steps of mr";

            /// Solves M x = b by Minimal Residual on this system itself, from x = 0.
            ///
            /// See [`lattice_solvers::minimal_residual`]. Stops like [`cr`].
            ///
            /// # Errors
            /// The errors of [`cr`].
            mr: Mr(MrParams), "Minimal Residual on M";
        }
    };
}

pub(super) use methods;

methods!(method_types);

/// ω of the steps that precondition GCR.
const SMOOTHER_RELAXATION: f64 = 1.0;

/// Returns the system that a method iterates to solve M x = b.
fn system_of(method: solvers::Method) -> System {
    match method.needs() {
        Needs::Nothing | Needs::Adjoint => System::Direct,
        Needs::Hermitian => System::Hermitian,
        Needs::PositiveDefinite => System::Normal,
    }
}

/// Solves by GCR with a given preconditioner.
///
/// A plan for another method leaves the defaults of GCR.
pub(super) fn gcr_preconditioned<A: DiracOperator>(
    plan: &Plan,
    preconditioner: &mut dyn Preconditioner<A::Space>,
    of: Iteration<'_, '_, A>,
) -> Iterated<A> {
    let params = match plan.params {
        params @ SolveParams::Gcr(_) => params,
        _ => SolveParams::Gcr(GcrParams::default()),
    };
    params.iterate_with(of, Some(preconditioner))
}

impl SolveParams {
    /// Returns the options of the method, among which are those that it alone has.
    fn options(&self, stopping: Stopping) -> MethodOptions {
        let options = MethodOptions::default().with_stopping(stopping);
        match *self {
            Self::Cr(CrParams { system: System::Direct, .. }) => options.with_recurrence(Recurrence::General),
            Self::BicgstabL(BicgstabLParams { degree, .. }) => options.with_degree(degree),
            Self::Gcr(GcrParams { restart, .. }) => options.with_restart(restart),
            Self::Mr(MrParams { relaxation, .. }) => options.with_relaxation(relaxation),
            _ => options,
        }
    }

    /// Returns the updates that the method asks its space for.
    pub(crate) fn updates(&self) -> Vec<Formula> {
        let is_replaced = matches!(self.precision(), IterationPrecision::Mixed(_));
        self.of().krylov().updates(&self.options(Stopping::default()), is_replaced)
    }

    /// Runs the method on a system.
    ///
    /// # Errors
    /// Only errors of making the system. The method's own errors are in the outcome.
    pub(crate) fn iterate<A: DiracOperator>(&self, of: Iteration<'_, '_, A>) -> Iterated<A> {
        let smoothing = if let Self::Gcr(params) = self { params.smoothing } else { 0 };
        if smoothing == 0 {
            return self.iterate_with(of, None);
        }
        let mut smoother = match MrSmoother::new(of.operator, smoothing, SMOOTHER_RELAXATION) {
            Ok(smoother) => smoother,
            Err(error) => return Ok(Err(error)),
        };
        let mut precondition = |r: &VectorOf<A>, z: &mut VectorOf<A>| smoother.apply(r, z);
        self.iterate_with(of, Some(&mut precondition))
    }

    /// Runs the method with a preconditioner.
    fn iterate_with<A: DiracOperator>(
        &self,
        of: Iteration<'_, '_, A>,
        preconditioner: Option<&mut dyn Preconditioner<A::Space>>,
    ) -> Iterated<A> {
        let Iteration { operator, source, guess, stopping, callbacks } = of;
        let method = self.of().krylov();
        let (hermitian, normal);
        let iterated: &Operator<'_, A::Space> = match self.system() {
            System::Direct => operator,
            System::Hermitian => {
                hermitian = operator.times_gamma5()?;
                &hermitian
            }
            System::Normal => {
                normal = Normal::new(operator)?;
                &normal
            }
        };
        let adjoint = if method.needs() == Needs::Adjoint { Some(operator.adjoint()?) } else { None };
        Ok(method.solve(Task {
            operator: iterated,
            adjoint: adjoint.as_ref().map(|adjoint| adjoint as &Operator<'_, A::Space>),
            b: source,
            guess,
            options: self.options(stopping),
            preconditioner: preconditioner.map(|k| k as &mut dyn Preconditioner<_>),
            callbacks,
        }))
    }
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
    Stopping::default().with_tolerance(tolerance).with_max_iterations(max_iterations)
}
