//! What follows from the table of methods: types, lists, and a function for each.
//!
//! The table is `methods!` of `params.rs`. It hands its rows to one of the macros below.

/// Makes the types of parameters. Each has what every method has, and in braces its own with their defaults.
macro_rules! parameter_types {
    ($(
        $(#[$doc:meta])*
        $Params:ident { $( $(#[$own_doc:meta])* $own:ident: $Own:ty = $default:expr, )* }
    )*) => {
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
    };
}

/// Makes the types that know all methods.
macro_rules! method_types {
    ($(
        $(#[$doc:meta])*
        $function:ident: $Method:ident($OfMethod:ident), $name:literal, $system:ident, $summary:literal;
    )*) => {
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
                match self { $( Self::$Method => method_types!(@only $system), )* }
            }

            /// Its parameters, with what they have in common with `given`. Its own have their defaults.
            pub fn params(self, given: &CrParams) -> SolveParams {
                let CrParams { tol, max_iterations, precision, preconditioning, system } = *given;
                let mut params = match self {
                    $( Self::$Method => SolveParams::$Method($OfMethod::default()), )*
                };
                let common = match &mut params {
                    $( SolveParams::$Method(own) => {
                        method_types!(@set $system own system);
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
                match self { $( Self::$Method(_own) => method_types!(@system $system _own), )* }
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

            /// Runs the method on a system.
            ///
            /// # Errors
            /// Only those of making that system; the method's own are in the outcome.
            pub(crate) fn iterate<A: DiracOperator>(&self, of: Iteration<'_, '_, A>) -> Iterated<A> {
                match self { $( Self::$Method(own) => $function(own, of), )* }
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

/// Makes a function of each method, by which the library solves. It takes the types from a module `params`.
macro_rules! method_functions {
    ($(
        $(#[$doc:meta])*
        $function:ident: $Method:ident($OfMethod:ident), $name:literal, $system:ident, $summary:literal;
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
