//! Code made from the table of methods: types, lists, and a function for each.
//!
//! The table is `methods!` of `params.rs`. It hands its rows to one of the macros below.

/// Makes the types of parameters.
///
/// Each type has the parameters that every method has. Parameters of one method alone stand in
/// braces, with defaults.
macro_rules! parameter_types {
    ($(
        $(#[$doc:meta])*
        $Params:ident { $( $(#[$own_doc:meta])* $own:ident: $Own:ty = $default:expr, )* }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Setters)]
            #[setters(prefix = "with_")]
            #[non_exhaustive]
            pub struct $Params {
                /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
                pub tol: f64,
                /// Most iterations. Default 10 000.
                pub max_iterations: usize,
                $( $(#[$own_doc])* pub $own: $Own, )*
                /// Precision of the iteration. Default double.
                ///
                /// The residual that decides is always in double.
                pub precision: IterationPrecision,
                /// The preconditioning. Default [`Preconditioning::None`].
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
    };
}

/// Makes the types that know all methods.
macro_rules! method_types {
    ($(
        $(#[$doc:meta])*
        $function:ident: $Method:ident($OfMethod:ident) $(of $any:ident system)?, $summary:literal;
    )*) => {
        /// The parameters of one of the methods.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        pub enum SolveParams {
            $(
                #[doc = concat!("Those of [`", stringify!($function), "`](super::", stringify!($function), "()): ", $summary, ".")]
                $Method($OfMethod),
            )*
        }

        /// The methods that solve for one source.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SolveMethod {
            $( #[doc = concat!($summary, ".")] $Method, )*
        }

        impl SolveMethod {
            /// All methods.
            pub const ALL: &'static [Self] = &[$( Self::$Method ),*];

            /// Returns the method's name in results and on command lines.
            pub fn name(self) -> &'static str {
                self.krylov().name()
            }

            /// Returns the row of the method in the table of `lattice-solvers`.
            pub(crate) fn krylov(self) -> solvers::Method {
                match self { $( Self::$Method => solvers::Method::$Method, )* }
            }

            /// Returns a few words about the method.
            pub fn summary(self) -> &'static str {
                match self { $( Self::$Method => $summary, )* }
            }

            /// Returns the only system that the method iterates; `None` if it takes any.
            pub fn only_system(self) -> Option<System> {
                match self { $( Self::$Method => method_types!(@only $($any)? self), )* }
            }

            /// Returns the method's parameters.
            ///
            /// Parameters that all methods have are taken from `given`. Parameters of this method
            /// alone have their defaults.
            pub fn params(self, given: &CrParams) -> SolveParams {
                let CrParams { tol, max_iterations, precision, preconditioning, system } = *given;
                let mut params = match self {
                    $( Self::$Method => SolveParams::$Method($OfMethod::default()), )*
                };
                let common = match &mut params {
                    $( SolveParams::$Method(own) => {
                        method_types!(@set $($any)? own system);
                        (&mut own.tol, &mut own.max_iterations, &mut own.precision, &mut own.preconditioning)
                    } )*
                };
                (*common.0, *common.1, *common.2, *common.3) = (tol, max_iterations, precision, preconditioning);
                params
            }
        }

        impl SolveParams {
            /// Returns the method.
            pub(crate) fn of(&self) -> SolveMethod {
                match self { $( Self::$Method(_) => SolveMethod::$Method, )* }
            }

            /// Returns the system that is iterated.
            pub fn system(&self) -> System {
                match self { $( Self::$Method(_own) => method_types!(@system $($any)? _own self), )* }
            }

            /// Returns the precision of the iteration.
            pub fn precision(&self) -> IterationPrecision {
                match self { $( Self::$Method(own) => own.precision, )* }
            }

            /// Returns the preconditioning.
            pub fn preconditioning(&self) -> Preconditioning {
                match self { $( Self::$Method(own) => own.preconditioning, )* }
            }

            /// Returns when the method stops.
            fn stopping(&self) -> Stopping {
                match self { $( Self::$Method(own) => stopping(own.tol, own.max_iterations), )* }
            }

            /// Returns the parameters with another limit of iterations.
            pub(crate) fn with_limit(mut self, limit: usize) -> Self {
                match &mut self { $( Self::$Method(own) => own.max_iterations = limit, )* }
                self
            }
        }
    };
    (@only any $method:ident) => { None };
    (@only $method:ident) => { Some(system_of($method.krylov())) };
    (@system any $own:ident $params:ident) => { $own.system };
    (@system $own:ident $params:ident) => { system_of($params.of().krylov()) };
    (@set any $own:ident $system:ident) => { $own.system = $system };
    (@set $own:ident $system:ident) => { () };
}

/// Makes a function of each method, by which the library solves.
///
/// The functions take their types from a module `params`.
macro_rules! method_functions {
    ($(
        $(#[$doc:meta])*
        $function:ident: $Method:ident($OfMethod:ident) $(of $any:ident system)?, $summary:literal;
    )*) => { $(
        $(#[$doc])*
        pub fn $function(
            dirac: &Dirac<f64>,
            b: &SpinorField<f64>,
            params: &params::$OfMethod,
        ) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
            solve(dirac, b, None, SolveParams::$Method(*params).into(), None)
        }
    )* };
}

pub(super) use {method_functions, method_types, parameter_types};
