//! A whole job.

use super::action::{Action, Quark};
use super::configuration::Configuration;
use super::hadrons::{HadronEntry, HadronTable};
use super::invalid::Invalid;
use super::label::Label;
use super::method::Method;
use super::observables::{Direction, ObservableEntry};
use super::one_or_more::OneOrMore;
use super::outputs::{Devices, Outputs};
use super::quarks::QuarkEntry;
use super::solver::Solver;
use super::sources::{LabelledSource, SmearingEntry, SourceEntry, labelled};
use super::task::Task;
use crate::hadron::{Column, Source};
use crate::operator::Flavour;
use crate::operator::{Coupling, System};
use derive_setters::Setters;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

/// A whole job, as a job file or a command line describes it.
///
/// A job with several masses or sources computes each mass with each source.
/// Its results have the same bits as those of single jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Job {
    /// The task.
    pub command: Task,
    /// The links.
    #[serde(default)]
    pub configuration: Configuration,
    /// The operator.
    #[serde(default)]
    pub action: Action,
    /// The source, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "SourceEntry")]
    pub sources: Option<SourceEntry>,
    /// The quarks, if they are more than masses of one action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quark: Vec<QuarkEntry>,
    /// The sources, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<SourceEntry>,
    /// Smearings that sources name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub smearing: Vec<SmearingEntry>,
    /// The method that solves the equation.
    #[serde(default)]
    pub solver: Method,
    /// The observables (spectrum only). Default: the pion along outputs.along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observable: Vec<ObservableEntry>,
    /// Hadrons of spectrum.
    #[serde(default, skip_serializing_if = "HadronTable::is_empty")]
    pub hadrons: HadronTable,
    /// Hadrons of named quarks (spectrum only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hadron: Vec<HadronEntry>,
    /// The files.
    #[serde(default)]
    pub outputs: Outputs,
    /// The devices.
    #[serde(default)]
    pub devices: Devices,
}

impl Job {
    /// Returns the JSON schema of a job.
    pub fn schema() -> Schema {
        schema_for!(Job)
    }

    /// Returns the sources with their labels.
    ///
    /// # Errors
    /// If they are given twice, two have the same label, or a smearing, spin or colour does not exist.
    pub fn labelled_sources(&self) -> Result<Vec<LabelledSource>, Invalid> {
        labelled(self.sources.as_ref(), &self.source, &self.smearing)
    }

    /// Returns the tables of sources as they are, each with its name.
    fn source_tables(&self) -> impl Iterator<Item = (String, &SourceEntry)> {
        let of_one = self.sources.iter().map(|one| ("sources".to_owned(), one));
        let several = self.source.iter().enumerate();
        of_one.chain(several.map(|(k, entry)| (format!("source[{k}]"), entry)))
    }

    /// Returns the labels of the solves for one column each, by propagator.
    ///
    /// There is a propagator of each quark, for each of its sources. The labels are in the order
    /// of the solves.
    ///
    /// # Errors
    /// All errors of [`propagators`](Self::propagators).
    pub fn labels(&self) -> Result<Vec<Vec<Label>>, Invalid> {
        let (quarks, sources) = (self.quarks()?, self.labelled_sources()?);
        let labels = self.propagators()?.into_iter().enumerate().map(|(number, [quark, source])| {
            let (quark, source) = (&quarks[quark].label, &sources[source]);
            let label = |column| Label::new(quark, source, column, number);
            match self.command {
                Task::Invert => vec![label(source.column)],
                Task::Spectrum => Column::all().map(label).collect(),
            }
        });
        Ok(labels.collect())
    }

    /// Returns `true` if all columns of a propagator are one solve.
    pub fn solves_at_once(&self) -> bool {
        self.solver.solver == Solver::BlockCg
    }

    /// Returns the observables; none for `invert`.
    ///
    /// # Errors
    /// If they are given twice.
    pub fn observables(&self) -> Result<Vec<ObservableEntry>, Invalid> {
        match (self.command, &self.observable[..], self.outputs.along) {
            (Task::Invert, ..) => Ok(Vec::new()),
            (_, [], along) => {
                Ok(vec![ObservableEntry { along: along.unwrap_or_default(), ..Default::default() }])
            }
            (.., Some(_)) => Err(Invalid::BothObservables),
            (_, several, None) => Ok(several.to_vec()),
        }
    }

    /// Checks everything that can be wrong before anything is read.
    ///
    /// A job without a configuration file is fine: its links may be in memory.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), Invalid> {
        self.check_task()?;
        let quarks = self.quarks()?;
        self.action.check_fat_links()?;
        self.observables()?;
        self.hadrons.check()?;
        self.solver.check()?;
        for Quark { site_term, method, .. } in &quarks {
            if !site_term.is_gamma5_hermitian() && method.iterated_system() == System::Hermitian {
                return Err(Invalid::NotHermitian);
            }
            if self.command == Task::Invert && method.solver == Solver::BlockCg {
                return Err(Invalid::SeveralColumns);
            }
        }
        self.named_hadrons(&quarks)?;
        self.sequential(&quarks, &self.labelled_sources()?)?;
        match (self.outputs.resume_if_present, &self.outputs.checkpoint, &self.outputs.resume) {
            (true, _, Some(_)) => Err(Invalid::ResumeTwice),
            (true, None, _) => Err(Invalid::NoCheckpoint),
            _ => Ok(()),
        }
    }

    /// Refuses keys that the task does not have.
    fn check_task(&self) -> Result<(), Invalid> {
        let task = self.command;
        let no_key = |key: String, table, allowed| Err(Invalid::OtherTask { key, task, table, allowed });
        if task == Task::Invert {
            let of_spectra =
                [("along", self.outputs.along.is_some()), ("report", self.outputs.report.is_some())];
            if let Some((key, _)) = of_spectra.into_iter().find(|(_, is_given)| *is_given) {
                let allowed =
                    "output, plot, trace, results, checkpoint, every, resume, resume-if-present, force";
                return no_key(format!("outputs.{key}"), "outputs", allowed);
            }
            let of_sources =
                self.source_tables().map(|(table, entry)| (table + ".smear-sink", entry.smear_sink));
            let named = self.smearing.iter().enumerate();
            let of_smearings = named.map(|(k, entry)| (format!("smearing[{k}].sink"), entry.sink));
            if let Some((key, _)) = of_sources.chain(of_smearings).find(|(_, sink)| sink.is_some()) {
                let (table, allowed) = if key.starts_with("smearing") {
                    ("[smearing]", "name, source, links")
                } else {
                    (
                        "source",
                        "source, label, smearing, smear-source, smear-links, slices, parts, spin, colour",
                    )
                };
                return no_key(key, table, allowed);
            }
            let is_sequential = |entry: &SourceEntry| matches!(entry.source, Source::Sequential(_));
            if let Some((table, _)) = self.source_tables().find(|(_, entry)| is_sequential(entry)) {
                let problem = "invert has one column of a propagator, and a sequential source goes on from all twelve; take spectrum";
                return Err(Invalid::Sequential { key: table + ".source", problem: problem.to_owned() });
            }
            let allowed = "no keys here: it measures nothing";
            if !self.hadrons.is_empty() {
                return no_key("hadrons".to_owned(), "hadrons", allowed);
            }
            if !self.hadron.is_empty() {
                return no_key("hadron".to_owned(), "[hadron]", allowed);
            }
            if !self.observable.is_empty() {
                return no_key("observable".to_owned(), "[observable]", allowed);
            }
            return Ok(());
        }
        for (table, SourceEntry { spin, colour, .. }) in self.source_tables() {
            let given = [("spin", spin), ("colour", colour)];
            if let Some((name, _)) = given.into_iter().find(|(_, value)| value.is_some()) {
                let kind = if table == "sources" { "sources" } else { "[source]" };
                let allowed = "source, label, smearing, smear-source, smear-sink, smear-links, from, quarks, current-momenta, slices, parts";
                return no_key(format!("{table}.{name}"), kind, allowed);
            }
        }
        Ok(())
    }

    /// Returns the job with all defaults, as results show it.
    #[must_use]
    pub fn resolved(&self) -> Self {
        let mut job = self.clone();
        // System and precision of a method are not those of a quark with another method.
        job.solver = match self.quark.iter().any(|quark| quark.solver.is_some()) {
            false => self.solver.resolved(),
            true => Method { tol: Some(self.solver.tolerance()), ..self.solver.clone() },
        };
        if job.source.is_empty() {
            job.sources.get_or_insert_default();
        }
        if job.command == Task::Invert {
            for entry in job.sources.iter_mut().chain(&mut job.source) {
                entry.spin.get_or_insert(0);
                entry.colour.get_or_insert(0);
            }
        } else if job.observable.is_empty() {
            job.outputs.along.get_or_insert_default();
        }
        // The sources of a diluted entry have labels of their own.
        let is_one = |entry: &&mut SourceEntry| entry.slices.is_none() && entry.parts.is_none();
        for entry in job.source.iter_mut().filter(is_one) {
            entry.label.get_or_insert_with(|| entry.source.label());
        }
        job.devices.device.get_or_insert_with(|| OneOrMore::One("auto".to_owned()));
        job
    }

    /// Returns the equation of a propagator in words, of a job without `[[quark]]`.
    pub fn equation_words(&self, coupling: Coupling, flavour: Option<Flavour>, source: &Source) -> String {
        self.action.equation_words(coupling, flavour, source)
    }

    /// Returns the direction that a job with one observable measures along.
    pub fn along(&self) -> Direction {
        self.observable.first().map(|entry| entry.along).or(self.outputs.along).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hadron::SpinorSmearing;
    use crate::job::SourceSmearing;

    fn job(json: &str) -> Result<Job, String> {
        let job: Job = serde_json::from_str(json).map_err(|error| error.to_string())?;
        job.check().map_err(|error| format!("{:?}: {error}", error.key()))?;
        Ok(job)
    }

    #[test]
    fn a_job_says_lists() {
        let job = job(
            r#"{ "command": "spectrum", "action": { "kappa": [0.12, 0.13] },
                 "source": [{ "source": "point:0,0,0,0" }, { "source": "point:1,0,0,4", "label": "half way" }],
                 "observable": [{ "along": "t" }, { "observable": "pion", "along": "z" }] }"#,
        )
        .unwrap();
        assert_eq!(job.action.couplings().unwrap().len(), 2);
        let labels: Vec<_> = job.labelled_sources().unwrap().into_iter().map(|source| source.label).collect();
        assert_eq!(labels, ["point 0.0.0.0", "half way"]);
        let along: Vec<_> = job.observables().unwrap().iter().map(|entry| entry.along.0).collect();
        assert_eq!(along, [3, 2]);
        let back: Job = serde_json::from_value(serde_json::to_value(&job).unwrap()).unwrap();
        assert_eq!(back, job);
    }

    /// A source means the same in every notation.
    ///
    /// The notations are its keys, a smearing that it names, and the text of the command line.
    #[test]
    fn a_source_is_said_in_the_same_way_everywhere() {
        let shell = r#""smear-source": "gaussian:2,10", "smear-links": "stout:0.1,3""#;
        let texts = [
            format!(r#""sources": {{ "source": "z4:1,0,t=2", {shell} }}"#),
            format!(r#""source": [{{ "kind": "z4:1,0,t=2", {shell} }}]"#),
            r#""smearing": [{ "name": "shell", "source": "gaussian:2,10", "links": "stout:0.1,3" }],
               "source": [{ "kind": "z4:1,0,t=2", "smearing": "shell" }]"#
                .to_owned(),
        ];
        let smearing = SourceSmearing {
            source: Some(SpinorSmearing::Gaussian { width: 2.0, steps: 10 }),
            links: Some("stout:0.1,3".parse().unwrap()),
            ..SourceSmearing::default()
        };
        for text in texts {
            let text = format!(r#"{{ "command": "spectrum", "action": {{ "kappa": 0.1 }}, {text} }}"#);
            let job = job(&text).unwrap();
            let [source] = &job.labelled_sources().unwrap()[..] else { panic!("one source") };
            assert_eq!(source.source.to_string(), "z4:1,0,t=2");
            assert_eq!((source.smearing, source.label.as_str()), (smearing, "z4 1.0.t=2"));
            let back: Job = serde_json::from_value(serde_json::to_value(&job).unwrap()).unwrap();
            assert_eq!(back, job);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_key() {
        let cases = [
            (r#""action": {}"#, "kappa or mass"),
            (r#""action": { "kappa": [] }"#, "kappa or mass"),
            (r#""action": { "kappa": [0.1, 0.2, 0.1] }"#, "kappa 0.1 stands there twice"),
            (r#""action": { "kappa": [0.1, -1.0] }"#, "action.kappa"),
            (r#""action": { "kappa": 0.1, "mass": 0.1 }"#, "both kappa and mass"),
            (r#""action": { "kappa": 0.1, "c": 1 }"#, "unknown field `c`"),
            (r#""action": { "kappa": 0.1, "boundary": "open" }"#, "open is not allowed"),
            (r#""action": { "kappa": 0.1 }, "sources": { "spin": 0 }"#, "sources.spin is no key of spectrum"),
            (r#""action": { "kappa": 0.1 }, "source": [{}, {}]"#, "two sources are called `point 0.0.0.0`"),
            (r#""action": { "kappa": 0.1 }, "source": [{}, { "colour": 1 }]"#, "source[1].colour"),
            (r#""action": { "kappa": 0.1 }, "source": [{}], "sources": {}"#, "both [sources] and [[source]]"),
            (r#""action": { "kappa": 0.1 }, "solver": { "tol": 1.5 }"#, "solver.tol"),
            (r#""action": { "kappa": 0.1 }, "solver": { "system": "direct" }"#, "solver.system"),
            (
                r#""action": { "kappa": 0.1 }, "observable": [{}], "outputs": { "along": "x" }"#,
                "[[observable]]",
            ),
            (r#""action": { "kappa": 0.1 }, "outputs": { "resume-if-present": true }"#, "checkpoint"),
            (r#""action": { "kappa": 0.1 }, "configuration": { "links": 9 }"#, "18, 12 or 8"),
            (
                r#""action": { "kappa": 0.1 }, "hadrons": { "hadrons": "mesons,octett" }"#,
                "mesons, octet, decuplet",
            ),
            (r#""action": { "kappa": 0.1 }, "hadrons": { "momenta": 2 }"#, "hadrons.momenta"),
            (
                r#""action": { "kappa": 0.1 }, "source": [{ "smear-links": "stout:0.1,3" }]"#,
                "source[0].smear-links has nothing to smear",
            ),
            (
                r#""action": { "kappa": 0.1 }, "smearing": [{ "name": "a", "links": "stout:0.1,3" }]"#,
                "smearing[0].links has nothing to smear",
            ),
            (
                r#""action": { "kappa": 0.1 }, "smearing": [{ "name": "a" }, { "name": "a" }]"#,
                "smearing[1].name",
            ),
            (r#""action": { "kappa": 0.1 }, "smearing": [{}]"#, "a name of its own"),
            (
                r#""action": { "kappa": 0.1 }, "smearing": [{ "name": "a" }, { "name": "b" }],
                   "source": [{ "smearing": "c" }]"#,
                "no [[smearing]] of the job; there are: a, b",
            ),
            (
                r#""action": { "kappa": 0.1 }, "smearing": [{ "name": "a" }],
                   "sources": { "smearing": "a", "smear-sink": "gaussian:1,2" }"#,
                "sources.smearing names a [[smearing]] beside",
            ),
            (
                r#""action": { "kappa": 0.1 }, "source": [{ "kind": "volume", "source": "volume" }]"#,
                "duplicate",
            ),
            (r#""action": { "kappa": 0.1, "fat-links": "stout:0.3,1" }"#, "stable up to 0.1250"),
            (r#""action": { "kappa": 0.1, "fat-links": "hyp:0.5,0.5,0.5,1,xy" }"#, "HYP smearing takes all"),
            (
                r#""action": { "kappa": 0.1 }, "sources": { "smear-source": "gaussian:9,2" }"#,
                "width lies between 0 and 1.4142",
            ),
        ];
        for (keys, wanted) in cases {
            let error = job(&format!(r#"{{ "command": "spectrum", {keys} }}"#)).unwrap_err();
            assert!(error.contains(wanted), "{keys}: `{wanted}` is not in: {error}");
        }
        for (keys, wanted) in [
            (r#""hadrons": { "hadrons": "mesons" }"#, "hadrons is no key of invert"),
            (r#""sources": { "smear-sink": "gaussian:1,2" }"#, "sources.smear-sink is no key of invert"),
            (
                r#""smearing": [{ "name": "a", "sink": "gaussian:1,2" }]"#,
                "smearing[0].sink is no key of invert; [[smearing]] may have name",
            ),
        ] {
            let error = job(&format!(r#"{{ "command": "invert", "action": {{ "kappa": 0.1 }}, {keys} }}"#));
            assert!(error.as_ref().unwrap_err().contains(wanted), "{keys}: {error:?}");
        }
        let error = job(r#"{ "command": "invert", "action": { "kappa": 0.1 }, "sources": { "spin": 4 } }"#);
        assert!(error.unwrap_err().contains("sources.spin"));
    }
}
