//! Quark propagators, and the correlators that are made of them.
//!
//! A [`Source`] gives the right-hand side of each of the twelve [`Column`]s of a propagator. Their
//! solutions go through a [`Contraction`] one after the other. The contraction makes the
//! [`Correlator`] of an [`Observable`].

mod contraction;
mod correlator;
mod observable;
mod propagator;
mod source;

pub use contraction::Contraction;
pub use correlator::{Correlator, effective_mass};
pub use observable::Observable;
pub use propagator::Column;
pub use source::{Source, SourceError};
