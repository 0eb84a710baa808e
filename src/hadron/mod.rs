//! Quark propagators, and the correlators that are made of them.
//!
//! A [`Source`] gives the right-hand side of each of the twelve [`Column`]s of a propagator, smeared
//! by a [`SpinorSmearing`] or not. Their solutions go through a [`Contraction`] one after the other.
//! The contraction makes the [`Correlator`] of an [`Observable`].

mod contraction;
mod correlator;
mod noise;
mod observable;
mod propagator;
mod smearing;
mod source;

pub use contraction::Contraction;
pub use correlator::{Correlator, effective_mass};
pub use noise::{Dilution, Noise, NoiseKind};
pub use observable::Observable;
pub use propagator::Column;
pub use smearing::{LinkSmearing, SpinorSmearing, SpinorSmearingError};
pub use source::{NoiseSource, Source, SourceError, SourceFields};
