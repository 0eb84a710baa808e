//! The sinks of propagators.

use crate::hadron::SpinorSmearing;

/// What is done to solutions before they are contracted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sink {
    /// The smearing that their source names, if it names one.
    OfSource,
    /// This smearing.
    Smeared(SpinorSmearing),
    /// Nothing.
    Bare,
}

impl From<Option<SpinorSmearing>> for Sink {
    fn from(smearing: Option<SpinorSmearing>) -> Self {
        smearing.map_or(Self::OfSource, Self::Smeared)
    }
}
