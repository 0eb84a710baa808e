//! Quark propagators and what is made of them.
//!
//! A [`Source`] gives the right-hand side of each of the twelve [`Column`]s of a propagator. Their solutions go through a [`Contraction`] one
//! after the other, which makes the [`Correlator`] of an [`Observable`] of them.

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
