//! `[hadrons]` and `[[hadron]]`: correlators of mesons, baryons and currents.

use super::action::Quark;
use super::invalid::Invalid;
use super::momenta::{check_momenta, momenta};
use super::one_or_more::OneOrMore;
use super::quarks::numbers_of;
use super::sources::LabelledSource;
use crate::geometry::Dims;
use crate::hadron::{HadronSet, HadronSets, Momenta, MomentaError, SpinorSmearing};
use crate::io::text;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The hadrons to measure along t (spectrum only).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct HadronTable {
    /// Sets of hadrons along t: mesons,octet,decuplet,currents.
    ///
    /// mesons are all 16 x 16 pairs of matrices at source and sink. The result as JSON has the hadrons.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SETS"))]
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub hadrons: Option<HadronSets>,
    /// Momenta p = 2πn/L with n_x² + n_y² + n_z² up to this number. Default: 0.
    #[cfg_attr(feature = "cli", arg(long, value_name = "N2", requires = "hadrons", hide_short_help = true))]
    #[schemars(with = "u32")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub momenta: Option<u64>,
    /// Average hadrons over equivalent momenta.
    #[cfg_attr(feature = "cli", arg(long, requires = "hadrons", hide_short_help = true))]
    pub average_momenta: bool,
}

impl HadronTable {
    /// Returns `true` if nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Checks the keys.
    ///
    /// # Errors
    /// If momenta are given without hadrons, or are too many.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let given = [("momenta", self.momenta.is_some()), ("average-momenta", self.average_momenta)];
        if let (None, Some((key, _))) = (&self.hadrons, given.into_iter().find(|(_, is_given)| *is_given)) {
            return Err(Invalid::MomentaOfNothing(key));
        }
        check_momenta(self.momenta)
    }

    /// Returns the momenta on a lattice.
    ///
    /// # Errors
    /// If the lattice does not have them all.
    pub(super) fn momenta(&self, dims: Dims) -> Result<Momenta, MomentaError> {
        momenta(self.momenta, self.average_momenta, dims)
    }
}

/// `[[hadron]]`: hadrons along t of one to three quarks that `[[quark]]` names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct HadronEntry {
    /// Labels of the quarks: one, or q1 and q2 of mesons q1 q̄2 and baryons q1 q2 q2, or three for Λ.
    #[schemars(with = "OneOrMore<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarks: Option<OneOrMore<String>>,
    /// Sets of hadrons with commas between them: mesons, octet, decuplet, currents.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub hadrons: Option<HadronSets>,
    /// Labels of the sources. Default: all that these quarks have in common.
    #[schemars(with = "OneOrMore<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<OneOrMore<String>>,
    /// Momenta p = 2πn/L with n_x² + n_y² + n_z² up to this number. Default: 0.
    #[schemars(with = "u32")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub momenta: Option<u64>,
    /// Average over equivalent momenta.
    pub average_momenta: bool,
    /// Smear the solutions first: gaussian:W,N or wuppertal:ALPHA,N. Default: as the source says.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub smear_sink: Option<SpinorSmearing>,
}

/// An entry of `[[hadron]]` with its names looked up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedHadrons {
    /// The sets.
    pub sets: Vec<HadronSet>,
    /// The numbers of the quarks, one to three.
    pub quarks: Vec<usize>,
    /// The numbers of the sources.
    pub sources: Vec<usize>,
    /// The smearing of solutions; `None` for that of the source.
    pub sink: Option<SpinorSmearing>,
}

impl NamedHadrons {
    /// Returns `true` if the propagator of a quark and a source is wanted.
    pub fn wants(&self, [quark, source]: [usize; 2]) -> bool {
        self.quarks.contains(&quark) && self.sources.contains(&source)
    }

    /// Returns `true` if links are wanted, for the conserved current.
    pub fn wants_links(&self) -> bool {
        self.quarks.len() == 1 && self.sets.contains(&HadronSet::Currents)
    }
}

impl HadronEntry {
    /// Returns the momenta on a lattice.
    ///
    /// # Errors
    /// If the lattice does not have them all.
    pub(super) fn momenta(&self, dims: Dims) -> Result<Momenta, MomentaError> {
        momenta(self.momenta, self.average_momenta, dims)
    }

    /// Looks up the names. `key` gives the key of a name.
    pub(super) fn named(
        &self,
        quarks: &[Quark],
        sources: &[LabelledSource],
        key: impl Fn(&str) -> String,
    ) -> Result<NamedHadrons, Invalid> {
        let Some(HadronSets(sets)) = self.hadrons.clone() else {
            return Err(Invalid::NoHadrons(key("hadrons")));
        };
        let names: Vec<String> = quarks.iter().filter_map(|quark| quark.name.clone()).collect();
        let wanted = self.quarks.as_ref().filter(|wanted| (1..=3).contains(&wanted.as_slice().len()));
        let Some(wanted) = wanted else { return Err(Invalid::HadronQuarks { key: key("quarks"), names }) };
        let of_entry = numbers_of(Some(wanted), &names, &key("quarks"), "[[quark]]")?;
        if of_entry.len() == 3 && sets.iter().any(|&set| set != HadronSet::Octet) {
            return Err(Invalid::ThreeQuarks(key("hadrons")));
        }
        let labels: Vec<String> = sources.iter().map(|source| source.label.clone()).collect();
        let mut in_common = numbers_of(self.source.as_ref(), &labels, &key("source"), "[[source]]")?;
        in_common.sort_unstable();
        in_common.dedup();
        let asked = in_common.len();
        in_common.retain(|&source| {
            let is_solved_for = |&quark: &usize| quarks[quark].sources.contains(&source);
            sources[source].sequential.is_none() && of_entry.iter().all(is_solved_for)
        });
        if in_common.is_empty() || self.source.is_some() && in_common.len() < asked {
            return Err(Invalid::SourceOfHadron(key(if self.source.is_some() {
                "source"
            } else {
                "quarks"
            })));
        }
        if let Some(Err(problem)) = self.smear_sink.map(SpinorSmearing::check) {
            return Err(Invalid::SpinorSmearing { key: key("smear-sink"), problem });
        }
        check_momenta(self.momenta)
            .map_err(|fault| Invalid::OfHadron { key: key("momenta"), fault: Box::new(fault) })?;
        Ok(NamedHadrons { sets, quarks: of_entry, sources: in_common, sink: self.smear_sink })
    }
}
