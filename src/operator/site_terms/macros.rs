//! The macro that makes the type of site terms of their table.

/// Makes the type of site terms, from one row for each.
///
/// A row has the parameters of the term, the name of its operator, and behind `|` the name if all
/// parameters are given. Examples are for tests. An operator has the first term that has all
/// parameters whose keys are given, so a term stands behind those that it extends.
macro_rules! site_terms {
    ($(
        $(#[$doc:meta])*
        $Term:ident { $( $(#[$parameter_doc:meta])* $parameter:ident: $Parameter:ident ),+ $(,)? }
        = $name:literal $(| $full_name:literal)?, examples: $({ $($field:ident: $value:expr),+ }),+;
    )+) => {
        /// The part of a Dirac operator within a site, besides the mass.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub enum SiteTerm {
            /// Nothing: the Wilson operator.
            #[default]
            Scalar,
            $( $(#[$doc])* $Term { $( $(#[$parameter_doc])* $parameter: f64 ),+ }, )+
        }

        impl SiteTerm {
            /// Examples of all terms but that of the Wilson operator, for tests.
            pub const EXAMPLES: &'static [Self] = &[$($( Self::$Term { $($field: $value),+ } ),+),+];

            /// All terms, in the order of the table.
            const ALL: &'static [Self] = &[Self::Scalar, $( Self::$Term { $($parameter: 0.0),+ } ),+];

            /// Returns the parameters with their values.
            fn values(self) -> Vec<(&'static dyn Parameter, f64)> {
                match self {
                    Self::Scalar => Vec::new(),
                    $( Self::$Term { $($parameter),+ } => vec![$( (&$Parameter, $parameter) ),+], )+
                }
            }

            /// Returns the term with other values of its parameters.
            fn map(self, value: impl Fn(&dyn Parameter, f64) -> f64) -> Self {
                match self {
                    Self::Scalar => self,
                    $( Self::$Term { $($parameter),+ } => {
                        Self::$Term { $( $parameter: value(&$Parameter, $parameter) ),+ }
                    } )+
                }
            }

            /// Returns the names of the operator: with the first parameter, and with all.
            fn names(self) -> &'static [&'static str] {
                match self {
                    Self::Scalar => &["Wilson"],
                    $( Self::$Term { .. } => &[$name $(, $full_name)?], )+
                }
            }
        }
    };
}
