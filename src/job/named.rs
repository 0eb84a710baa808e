//! The quarks of a job, and the hadrons that name them.

use super::action::Quark;
use super::document::Job;
use super::hadrons::{HadronEntry, NamedHadrons};
use super::invalid::Invalid;
use super::method::Method;
use super::quarks::numbers_of;
use super::sequential::NamedSequential;
use super::sink::Sink;
use super::solver::Solver;
use crate::operator::Flavour;

impl Job {
    /// Returns the quarks, checked: those of `[[quark]]`, or one for each mass and flavour of the action.
    ///
    /// # Errors
    /// * All errors of [`Action::quarks`](super::Action::quarks).
    /// * If a quark has no label of its own, names a source that is not there, or has a method
    ///   whose keys do not fit.
    /// * If masses stand in the action beside `[[quark]]`, or both κ and masses are given.
    pub fn quarks(&self) -> Result<Vec<Quark>, Invalid> {
        let sources: Vec<String> = self.labelled_sources()?.into_iter().map(|source| source.label).collect();
        if self.quark.is_empty() {
            let all = |quark| Quark { sources: (0..sources.len()).collect(), ..quark };
            let quarks: Vec<Quark> = self.action.quarks()?.into_iter().map(all).collect();
            return Ok(quarks
                .into_iter()
                .map(|quark| Quark { method: self.solver.clone(), ..quark })
                .collect());
        }
        let common = &self.action;
        if common.kappa.is_some() || common.mass.is_some() || common.site_term.flavour.is_some() {
            return Err(Invalid::MassBesideQuarks);
        }
        let is_kappa = self.quark[0].kappa.is_some();
        let mut quarks: Vec<Quark> = Vec::new();
        for (k, entry) in self.quark.iter().enumerate() {
            let key = |name: &str| format!("quark[{k}].{name}");
            let label = &entry.label;
            if label.is_empty() || self.quark[..k].iter().any(|other| &other.label == label) {
                return Err(Invalid::QuarkLabel { key: key("label"), label: label.clone() });
            }
            if entry.kappa.is_some() == entry.mass.is_some() {
                return Err(Invalid::MassOfQuark { key: key("label"), label: label.clone() });
            }
            if entry.kappa.is_some() != is_kappa {
                return Err(Invalid::KappaAndMass(key(if is_kappa { "mass" } else { "kappa" })));
            }
            if entry.flavour == Some(Flavour::Both) {
                return Err(Invalid::FlavourOfQuark(key("flavour")));
            }
            let of_quark =
                |fault: Invalid| Invalid::OfQuark { number: k, label: label.clone(), fault: Box::new(fault) };
            let action = entry.action(common);
            let solver = entry.solver.unwrap_or(self.solver.solver);
            if entry.tol.is_some() && solver == Solver::Multigrid {
                return Err(Invalid::ToleranceOfMultigrid(key("tol")));
            }
            if (solver == Solver::BlockCg) != self.solves_at_once() {
                return Err(Invalid::BlockCgOfQuark(key("solver")));
            }
            let method =
                Method { solver, tol: entry.tol.or(self.solver.tol), ..self.solver.for_solver(solver) };
            method.check().map_err(of_quark)?;
            let [quark] = &action.quarks().map_err(of_quark)?[..] else {
                return Err(Invalid::FlavourOfQuark(key("flavour")));
            };
            let mut of_quark_sources =
                numbers_of(entry.source.as_ref(), &sources, &key("source"), "[[source]]")?;
            of_quark_sources.sort_unstable();
            of_quark_sources.dedup();
            quarks.push(Quark {
                label: format!("{label}, "),
                name: Some(label.clone()),
                sources: of_quark_sources,
                method,
                own_tolerance: entry.tol.is_some(),
                ..quark.clone()
            });
        }
        Ok(quarks)
    }

    /// Returns the quark and the source of each propagator, by their numbers.
    ///
    /// Sources are fastest. Propagators of sequential sources come after all others.
    ///
    /// # Errors
    /// All errors of [`quarks`](Self::quarks), and those of sequential sources whose quarks do not fit.
    pub fn propagators(&self) -> Result<Vec<[usize; 2]>, Invalid> {
        let (quarks, sources) = (self.quarks()?, self.labelled_sources()?);
        let is_plain = |source: &usize| sources[*source].sequential.is_none();
        let plain = quarks.iter().enumerate().flat_map(|(k, quark)| {
            quark.sources.iter().copied().filter(is_plain).map(move |source| [k, source])
        });
        let sequential = self.sequential(&quarks, &sources)?;
        Ok(plain.chain(sequential.into_iter().map(|one| one.propagator)).collect())
    }

    /// Returns the sinks of a propagator that hadrons and sequential sources are made of.
    ///
    /// The propagator of a sequential source is for its three-point functions alone.
    pub(super) fn sinks(
        &self,
        named: &[NamedHadrons],
        sequential: &[NamedSequential],
        propagator: [usize; 2],
    ) -> Vec<Sink> {
        let is_sequential = sequential.iter().any(|one| one.propagator == propagator);
        let of_job = (self.hadrons.hadrons.is_some() && !is_sequential).then_some(Sink::OfSource);
        let of_named = named.iter().filter(|hadrons| hadrons.wants(propagator));
        let of_sequential = sequential.iter().flat_map(|one| one.sinks(propagator));
        let mut sinks = Vec::new();
        for sink in of_job.into_iter().chain(of_named.map(|hadrons| hadrons.sink.into())).chain(of_sequential)
        {
            if !sinks.contains(&sink) {
                sinks.push(sink);
            }
        }
        sinks
    }

    /// Returns the normalisation of M for the solutions: `kappa` or `mass`.
    pub fn normalisation(&self) -> &'static str {
        match self.quark.first() {
            None => self.action.normalisation(),
            Some(quark) if quark.kappa.is_some() => "kappa",
            Some(_) => "mass",
        }
    }

    /// Returns the entries of `[[hadron]]` with their names looked up among these quarks.
    ///
    /// # Errors
    /// If a name is not there, or an entry makes no sense.
    pub(super) fn named_hadrons(&self, quarks: &[Quark]) -> Result<Vec<NamedHadrons>, Invalid> {
        if self.hadron.is_empty() {
            return Ok(Vec::new());
        }
        if !self.hadrons.is_empty() {
            return Err(Invalid::BothHadrons);
        }
        let sources = self.labelled_sources()?;
        let named = |(k, entry): (usize, &HadronEntry)| {
            entry.named(quarks, &sources, |name| format!("hadron[{k}].{name}"))
        };
        self.hadron.iter().enumerate().map(named).collect()
    }
}
