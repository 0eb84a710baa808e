//! Sequential sources of a job, with their quarks looked up.

use super::action::Quark;
use super::document::Job;
use super::invalid::Invalid;
use super::momenta::momenta;
use super::quarks::numbers_of;
use super::sink::Sink;
use super::sources::LabelledSource;
use crate::geometry::Dims;
use crate::hadron::{Momenta, MomentaError, Sequential, Source};

/// A sequential propagator: a quark that goes on from the sink of a hadron.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedSequential {
    /// The sink.
    pub sink: Sequential,
    /// The numbers of its quark and of its source.
    pub propagator: [usize; 2],
    /// The number of the source of the hadron.
    pub from: usize,
    /// The numbers of the hadron's quarks.
    pub quarks: Vec<usize>,
    /// The sink of the propagator that the current couples to, which has no smearing.
    pub bare: Sink,
    /// n² of the momenta of the current.
    momenta: Option<u64>,
}

impl NamedSequential {
    /// Returns the quark and the source of the propagator that the current couples to.
    pub fn coupled(&self) -> [usize; 2] {
        [self.quarks[self.sink.quark], self.from]
    }

    /// Returns the sinks that the propagator of a quark and a source needs.
    pub fn sinks(&self, propagator: [usize; 2]) -> impl Iterator<Item = Sink> {
        let [quark, source] = propagator;
        let is_of_hadron = source == self.from && self.quarks.contains(&quark);
        let of_hadron = is_of_hadron.then_some(Sink::OfSource);
        let coupled = (propagator == self.coupled()).then_some(self.bare);
        let own = (propagator == self.propagator).then_some(Sink::Bare);
        of_hadron.into_iter().chain(coupled).chain(own)
    }

    /// Returns the momenta of the current on a lattice.
    ///
    /// # Errors
    /// If the lattice does not have them all.
    pub fn momenta(&self, dims: Dims) -> Result<Momenta, MomentaError> {
        momenta(self.momenta, false, dims)
    }

    /// Returns what tells the sequential propagator from others, beside its own quark and source.
    pub fn identity(&self) -> String {
        let quarks: Vec<String> = self.quarks.iter().map(usize::to_string).collect();
        format!("{} of source {}, quarks {}", self.sink, self.from, quarks.join(" "))
    }
}

/// Returns `true` if the operator of one quark is γ5 M† γ5 of the other's.
fn is_adjoint(one: &Quark, other: &Quark) -> bool {
    one.coupling == other.coupling && one.site_term == other.site_term.other_flavour()
}

impl Job {
    /// Returns the sequential propagators, in the order of their quarks.
    ///
    /// # Errors
    /// If a source names quarks that are not there or do not fit, or if no quark goes on from its sink.
    pub(super) fn sequential(
        &self,
        quarks: &[Quark],
        sources: &[LabelledSource],
    ) -> Result<Vec<NamedSequential>, Invalid> {
        let mut all = Vec::new();
        for (k, quark) in quarks.iter().enumerate() {
            for &source in &quark.sources {
                all.extend(self.sequential_of(quarks, sources, [k, source])?);
            }
        }
        for (number, labelled) in sources.iter().enumerate() {
            let Some(keys) = &labelled.sequential else { continue };
            if !all.iter().any(|one| one.propagator[1] == number) {
                return Err(Invalid::Sequential {
                    key: keys.key("quarks"),
                    problem: "no quark of the job goes on from this sink: its operator has to be that of the current's quark, with a twisted mass that of the other flavour".into(),
                });
            }
        }
        Ok(all)
    }

    /// Returns the sequential propagator of a quark and a source, if it is one and the quark fits.
    fn sequential_of(
        &self,
        quarks: &[Quark],
        sources: &[LabelledSource],
        propagator: [usize; 2],
    ) -> Result<Option<NamedSequential>, Invalid> {
        let [quark, source] = propagator;
        let (Source::Sequential(sink), Some(keys)) = (&sources[source].source, &sources[source].sequential)
        else {
            return Ok(None);
        };
        let fault = |name: &str, problem: String| Err(Invalid::Sequential { key: keys.key(name), problem });
        let count = sink.hadron.quarks();
        let of_hadron = match &keys.quarks {
            None => {
                let fits = |&k: &usize| is_adjoint(&quarks[k], &quarks[quark]);
                let Some(own) = [quark].into_iter().chain(0..quarks.len()).find(fits) else {
                    return Ok(None);
                };
                vec![own; count]
            }
            Some(wanted) => {
                let names: Vec<String> = quarks.iter().filter_map(|quark| quark.name.clone()).collect();
                let numbers = numbers_of(Some(wanted), &names, &keys.key("quarks"), "[[quark]]")?;
                match numbers[..] {
                    [one] => vec![one; count],
                    _ if numbers.len() == count => numbers,
                    _ => {
                        return fault(
                            "quarks",
                            format!("{} has {count} quarks, or one for all", sink.hadron),
                        );
                    }
                }
            }
        };
        if !is_adjoint(&quarks[of_hadron[sink.quark]], &quarks[quark]) {
            return Ok(None);
        }
        if let Some(&missing) = of_hadron.iter().find(|&&k| !quarks[k].sources.contains(&keys.from)) {
            let label = quarks[missing].label.trim_end_matches(", ");
            let from = &sources[keys.from].label;
            return fault("from", format!("the quark {label} is not solved for the source {from}"));
        }
        let is_smeared = sources[keys.from].smearing.sink.is_some();
        Ok(Some(NamedSequential {
            sink: sink.clone(),
            propagator,
            from: keys.from,
            quarks: of_hadron,
            bare: if is_smeared { Sink::Bare } else { Sink::OfSource },
            momenta: keys.momenta,
        }))
    }
}
