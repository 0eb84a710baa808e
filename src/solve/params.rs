//! The methods that solve for one source, and their parameters: one table of both.

use super::plan::{IterationPrecision, Preconditioning};
use crate::operator::System;
use lattice_solvers::Stopping;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Makes the types of the table below, and all that follows from a method's row.
///
/// Parameters are what every method has, and in braces a method's own with their defaults. A method has a variant, its parameters,
/// its name, the system that it iterates or `any`, and a line for the help of a program.
macro_rules! methods {
    (
        parameters { $(
            $(#[$doc:meta])*
            $Params:ident { $( $(#[$own_doc:meta])* $own:ident: $Own:ty = $default:expr, )* }
        )* }
        methods { $(
            $Method:ident($OfMethod:ident), $name:literal, $system:ident, $summary:literal;
        )* }
    ) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
            pub struct $Params {
                /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
                pub tol: f64,
                /// Most iterations. Default 10 000.
                pub max_iterations: usize,
                $( $(#[$own_doc])* pub $own: $Own, )*
                /// Precision of the iteration; the residual that decides is always in double. Default double.
                pub precision: IterationPrecision,
                /// Which form of the equation is iterated. Default [`Preconditioning::None`].
                pub preconditioning: Preconditioning,
            }

            impl Default for $Params {
                fn default() -> Self {
                    let Stopping { tolerance, max_iterations, .. } = Stopping::default();
                    Self {
                        tol: tolerance,
                        max_iterations,
                        $( $own: $default, )*
                        precision: IterationPrecision::Double,
                        preconditioning: Preconditioning::None,
                    }
                }
            }
        )*

        /// The parameters of one of the methods.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        pub enum SolveParams {
            $(
                #[doc = concat!("Those of `", $name, "`: ", $summary, ".")]
                $Method($OfMethod),
            )*
        }

        /// The methods that solve for one source.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SolveMethod {
            $( #[doc = concat!($summary, ".")] $Method, )*
        }

        impl SolveMethod {
            /// All of them.
            pub const ALL: &'static [Self] = &[$( Self::$Method ),*];

            /// Its name, as results and command lines have it.
            pub fn name(self) -> &'static str {
                match self { $( Self::$Method => $name, )* }
            }

            /// What it is, in a few words.
            pub fn summary(self) -> &'static str {
                match self { $( Self::$Method => $summary, )* }
            }

            /// The system that it iterates; `None` if it can iterate each.
            pub fn only_system(self) -> Option<System> {
                match self { $( Self::$Method => methods!(@only $system), )* }
            }

            /// Its parameters, with what they have in common with `given`. Its own have their defaults.
            pub fn params(self, given: &CrParams) -> SolveParams {
                let CrParams { tol, max_iterations, precision, preconditioning, system } = *given;
                let mut params = match self {
                    $( Self::$Method => SolveParams::$Method($OfMethod::default()), )*
                };
                let common = match &mut params {
                    $( SolveParams::$Method(own) => {
                        methods!(@set $system own system);
                        (&mut own.tol, &mut own.max_iterations, &mut own.precision, &mut own.preconditioning)
                    } )*
                };
                (*common.0, *common.1, *common.2, *common.3) = (tol, max_iterations, precision, preconditioning);
                params
            }
        }

        impl SolveParams {
            /// The method.
            pub(crate) fn of(&self) -> SolveMethod {
                match self { $( Self::$Method(_) => SolveMethod::$Method, )* }
            }

            /// The system that is iterated.
            pub fn system(&self) -> System {
                match self { $( Self::$Method(_own) => methods!(@system $system _own), )* }
            }

            /// Precision of the iteration.
            pub fn precision(&self) -> IterationPrecision {
                match self { $( Self::$Method(own) => own.precision, )* }
            }

            /// Which form of the equation is iterated.
            pub fn preconditioning(&self) -> Preconditioning {
                match self { $( Self::$Method(own) => own.preconditioning, )* }
            }

            /// When the method stops.
            fn stopping(&self) -> Stopping {
                match self { $( Self::$Method(own) => stopping(own.tol, own.max_iterations), )* }
            }

            /// The same with another limit of iterations.
            pub(crate) fn with_limit(mut self, limit: usize) -> Self {
                match &mut self { $( Self::$Method(own) => own.max_iterations = limit, )* }
                self
            }
        }
    };
    (@only any) => { None };
    (@only $system:ident) => { Some(System::$system) };
    (@system any $own:ident) => { $own.system };
    (@system $system:ident $own:ident) => { System::$system };
    (@set any $own:ident $system:ident) => { $own.system = $system };
    (@set $only:ident $own:ident $system:ident) => { () };
}

methods! {
    parameters {
        /// Parameters of [`cr`](super::cr).
        CrParams {
            /// Which system is iterated. Default [`System::Normal`].
            system: System = System::default(),
        }
        /// Parameters of [`minres`](super::minres).
        MinresParams {}
        /// Parameters of [`cg`](super::cg) and [`cgne`](super::cgne).
        CgParams {}
        /// Parameters of [`bicgstab`](super::bicgstab), whose iterations are two applications of M each.
        BicgstabParams {}
        /// Parameters of [`bicgstab_l`](super::bicgstab_l), whose iterations are 2ℓ applications of M each.
        BicgstabLParams {
            /// ℓ, the degree of the polynomials by which the residual is made minimal. Default 2.
            degree: usize = 2,
        }
        /// Parameters of [`gcr`](super::gcr).
        GcrParams {
            /// m, the directions that are kept, each two fields. Default 16.
            restart: usize = 16,
            /// Steps of Minimal Residual that make a direction of a residual; with none it is the residual itself. Default 4.
            smoothing: usize = 4,
        }
        /// Parameters of [`mr`](super::mr).
        MrParams {
            /// ω, more than 0 and less than 2. Default 1.
            relaxation: f64 = 1.0,
        }
    }
    methods {
        Cr(CrParams), "cr", any, "Conjugate Residual";
        Minres(MinresParams), "minres", Hermitian, "MINRES on γ5M";
        Cg(CgParams), "cg", Normal, "Conjugate Gradient on M†M";
        // CGNE iterates the residual of the direct system.
        Cgne(CgParams), "cgne", Direct, "Conjugate Gradient on M M†y = b, x = M†y";
        Bicgstab(BicgstabParams), "bicgstab", Direct, "BiCGStab on M";
        BicgstabL(BicgstabLParams), "bicgstab-l", Direct, "BiCGStab(2) on M";
        Gcr(GcrParams), "gcr", Direct, "GCR(16) on M, preconditioned by four steps of mr";
        Mr(MrParams), "mr", Direct, "Minimal Residual on M";
    }
}

impl SolveParams {
    /// The name of the method.
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

/// What every solve needs to know.
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
