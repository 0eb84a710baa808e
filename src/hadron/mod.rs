//! Quark propagators, and the correlators that are made of them.
//!
//! A [`Source`] gives the right-hand side of each of the twelve [`Column`]s of a propagator, smeared
//! by a [`SpinorSmearing`] or not. Their solutions go through a [`Contraction`] one after the other.
//! The contraction makes the [`Correlator`] of an [`Observable`].
//!
//! Hadrons want all columns at once, in a [`QuarkPropagator`]. A [`HadronMeasurement`] makes the
//! correlators of [`mesons`], baryons and currents of one or two quarks.
//!
//! A [`Sequential`] source lets a quark go on from a hadron's sink. With its propagator a
//! [`ThreePoint`] has a current between source and sink.

mod baryon;
mod contraction;
mod correlator;
mod current;
mod measurement;
mod meson;
mod momenta;
mod named;
mod noise;
mod observable;
mod on_device;
mod propagator;
mod quark;
mod sequential;
mod smearing;
mod source;
mod spin;
mod three_point;

pub use baryon::{
    BaryonCorrelator, BaryonForm, BaryonOperator, NamedOperator, baryons, decuplet_operators, naive_lambda,
    octet_operators, parity_projector, spin_projector, vector_diquark,
};
pub use contraction::Contraction;
pub use correlator::{Correlator, effective_mass};
pub use current::{CurrentCorrelator, conserved_vector, local_axial};
pub use measurement::{HadronMeasurement, HadronSet, HadronSets, Hadrons};
pub use meson::{MesonCorrelator, mesons, physical_sign};
pub use momenta::{Momenta, MomentaError, Momentum, momenta_up_to};
pub use named::{NAMED_HADRONS, NamedHadron};
pub use noise::{Dilution, Noise, NoiseKind};
pub use observable::Observable;
pub use on_device::{
    DeviceSpinor, SmearingLinks, baryons_on, conserved_vector_on, local_axial_on, mesons_on,
};
pub use propagator::Column;
pub use quark::{QuarkPropagator, SitePropagator};
pub use sequential::{Sequential, SinkField, SinkHadron, SourceOperator};
pub use smearing::{LinkSmearing, SpinorSmearing, SpinorSmearingError};
pub use source::{NoiseSource, Source, SourceError, SourceFields};
pub use spin::{SpinTensor, gamma};
pub use three_point::{ThreePoint, ThreePointCorrelator};
