//! The table of methods for one right-hand side, a row each.

use crate::outcome::SolverError;
use crate::progress::SolveResult;
use crate::right_preconditioned::RightPreconditioned;
use crate::task::{Accepts, Needs, Task};
use crate::{
    BicgstabLOptions, BicgstabOptions, CgOptions, CrOptions, GcrOptions, MinresOptions, MrOptions,
    VectorSpace,
};

/// Makes the enumeration of methods from its rows.
///
/// A row has the name in results and on command lines, the operators that the method is for, the
/// preconditioners that it takes, and its call. The call takes a [`Task`].
macro_rules! methods {
    ($( $(#[$doc:meta])* $Method:ident = $name:literal, $needs:expr, $accepts:expr, $call:expr; )*) => {
        /// A Krylov method for one right-hand side.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method {
            $( $(#[$doc])* $Method, )*
        }

        impl Method {
            /// All methods.
            pub const ALL: &'static [Self] = &[$( Self::$Method ),*];

            /// Returns the method's name in results and on command lines.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$Method => $name, )* }
            }

            /// Returns the operators that the method is for.
            pub const fn needs(self) -> Needs {
                match self { $( Self::$Method => $needs, )* }
            }

            /// Returns the preconditioners that the method takes.
            pub const fn accepts(self) -> Accepts {
                match self { $( Self::$Method => $accepts, )* }
            }

            /// Calls the method, with a preconditioner of its own or none.
            pub(crate) fn call<S: VectorSpace>(self, task: Task<'_, '_, S>) -> SolveResult<S> {
                match self {
                    $( Self::$Method => {
                        let call: fn(Task<'_, '_, S>) -> SolveResult<S> = $call;
                        call(task)
                    } )*
                }
            }
        }
    };
}

methods! {
    /// Conjugate Residual. With [`Recurrence::General`](crate::Recurrence::General) for any operator.
    Cr = "cr", Needs::Hermitian, Accepts::None, |task| {
        let mut options = CrOptions { recurrence: task.options.recurrence, ..Default::default() };
        task.options.set(&mut options.stopping, &mut options.breakdown);
        crate::conjugate_residual(task.operator, task.b, task.guess, &options, task.callbacks)
    };
    /// MINRES.
    Minres = "minres", Needs::Hermitian, Accepts::Hermitian, |task| {
        let mut options = MinresOptions::default();
        task.options.set(&mut options.stopping, &mut options.breakdown);
        crate::minres(task.operator, task.b, task.guess, &options, task.preconditioner, task.callbacks)
    };
    /// Conjugate Gradient.
    Cg = "cg", Needs::PositiveDefinite, Accepts::HermitianThatChanges, |task| {
        let mut options = CgOptions { flexible: task.preconditioner_changes(), ..Default::default() };
        task.options.set(&mut options.stopping, &mut options.breakdown);
        crate::conjugate_gradient(task.operator, task.b, task.guess, &options, task.preconditioner, task.callbacks)
    };
    /// Conjugate Gradient on A A†y = b, with x = A†y.
    Cgne = "cgne", Needs::Adjoint, Accepts::None, |task| {
        let mut options = CgOptions::default();
        task.options.set(&mut options.stopping, &mut options.breakdown);
        let adjoint = task.adjoint()?;
        crate::cgne(task.operator, adjoint, task.b, task.guess, &options, task.callbacks)
    };
    /// BiCGStab.
    Bicgstab = "bicgstab", Needs::Nothing, Accepts::Fixed, |task| {
        let mut options = BicgstabOptions::default();
        task.options.set(&mut options.stopping, &mut options.breakdown);
        crate::bicgstab(task.operator, task.b, task.guess, &options, task.callbacks)
    };
    /// BiCGStab(ℓ).
    BicgstabL = "bicgstab-l", Needs::Nothing, Accepts::Fixed, |task| {
        let mut options = BicgstabLOptions { degree: task.options.degree, ..Default::default() };
        task.options.set(&mut options.stopping, &mut options.breakdown);
        crate::bicgstab_l(task.operator, task.b, task.guess, &options, task.callbacks)
    };
    /// Generalised Conjugate Residual with restarts, which has the residuals of GMRES.
    Gcr = "gcr", Needs::Nothing, Accepts::Any, |task| {
        let mut options = GcrOptions { restart: task.options.restart, ..Default::default() };
        task.options.set(&mut options.stopping, &mut options.breakdown);
        crate::gcr(task.operator, task.b, task.guess, &options, task.preconditioner, task.callbacks)
    };
    /// Minimal Residual.
    Mr = "mr", Needs::Nothing, Accepts::None, |task| {
        let mut options = MrOptions { relaxation: task.options.relaxation, ..Default::default() };
        task.options.set(&mut options.stopping, &mut options.breakdown);
        crate::minimal_residual(task.operator, task.b, task.guess, &options, task.callbacks)
    };
}

impl Method {
    /// Solves A x = b.
    ///
    /// A preconditioner of a method that has none of its own is on the right of A, and the way back
    /// x = K y is gone.
    ///
    /// # Errors
    /// Those of the method. [`SolverError::Parameter`] for a preconditioner that the method does not
    /// take, or without the adjoint that it needs.
    pub fn solve<S: VectorSpace>(self, task: Task<'_, '_, S>) -> SolveResult<S> {
        if task.preconditioner.is_some() && self.accepts() == Accepts::None {
            return Err(refused("number of preconditioners"));
        }
        if task.preconditioner_changes() && !self.accepts().changing() {
            return Err(refused("number of preconditioners that change"));
        }
        let Task { operator, adjoint, b, guess, options, preconditioner, callbacks } = task;
        match preconditioner.as_deref().and_then(|k| k.fixed()).filter(|_| self.accepts() == Accepts::Fixed) {
            None => self.call(Task { operator, adjoint, b, guess, options, preconditioner, callbacks }),
            Some(k) => RightPreconditioned::new(operator, k)?.solve(|operator| {
                self.call(Task { operator, adjoint, b, guess, options, preconditioner: None, callbacks })
            }),
        }
    }
}

fn refused<V, E: std::error::Error>(name: &'static str) -> SolverError<V, E> {
    SolverError::Parameter { name, value: 1.0, allowed: "0" }
}
