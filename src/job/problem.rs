//! A job whose operators are on the devices.

use super::action::{Quark, coupling_label};
use super::document::Job;
use super::error::JobError;
use super::hadrons::NamedHadrons;
use super::invalid::Invalid;
use super::label::Label;
use super::method::Parameters;
use super::observables::ObservableEntry;
use super::sequential::NamedSequential;
use super::sink::Sink;
use super::solver::Solver;
use super::sources::{LabelledSource, SourceSmearing};
use super::task::Task;
use crate::compute::Team;
use crate::field::GaugeField;
use crate::gauge;
use crate::geometry::{Dims, Lattice, LatticeError, NDIM};
use crate::hadron::{
    Column, HadronMeasurement, HadronSet, HadronSets, LinkSmearing, Momenta, SinkField, SmearingLinks,
    Source, SourceError, SourceFields, SpinorSmearing,
};
use crate::host::{GaugeConfiguration, LinkField, Spinor, TimePhases};
use crate::io;
use crate::io::text;
use crate::multigrid::Multigrid;
use crate::operator::Dirac;
use crate::solve::{Auto, build_programs_of_solve};
use lattice_files::threads;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::thread;

/// Keys of operator and method that have an entry of their own in the identity, or change no number.
const APART_FROM_IDENTITY: [&str; 10] = [
    "kappa",
    "mass",
    "boundary",
    "solver",
    "system",
    "preconditioning",
    "precision",
    "tol",
    "max-iterations",
    "multigrid-setup",
];

/// A job whose operators are on the devices.
pub struct Problem {
    pub(super) job: Job,
    /// The quarks, one for each operator.
    pub(super) quarks: Vec<Quark>,
    /// The quark and the source of each propagator.
    pub(super) propagators: Vec<[usize; 2]>,
    pub(super) operators: Vec<Dirac<f64>>,
    pub(super) sources: Vec<LabelledSource>,
    pub(super) observables: Vec<ObservableEntry>,
    /// The right-hand sides of the sources.
    pub(super) prepared: Vec<Prepared>,
    /// The momenta of hadrons.
    momenta: Momenta,
    /// The hadrons of named quarks.
    pub(super) named_hadrons: Vec<NamedHadrons>,
    /// The momenta of each of them.
    pub(super) named_momenta: Vec<Momenta>,
    /// The propagators of sequential sources.
    pub(super) sequential: Vec<NamedSequential>,
    /// The momenta of the currents of each of them.
    pub(super) sequential_momenta: Vec<Momenta>,
    /// The configuration, if hadrons want its links.
    configuration: Option<Arc<GaugeConfiguration>>,
    /// Labels of the columns of each propagator.
    pub(super) labels: Vec<Vec<Label>>,
    time_phases: TimePhases,
    /// The fingerprint of the configuration, if it is known.
    fingerprint: Option<String>,
}

impl Problem {
    /// Reads the job's configuration, and puts the operators on the devices of a team.
    ///
    /// Kernels compile while the file is read.
    ///
    /// # Errors
    /// If the job is not valid, if the file cannot be read or fails a check, or if a device fails.
    pub fn open(job: &Job, team: &Team) -> Result<Self, JobError> {
        job.check()?;
        let file = job.configuration.file.as_ref().ok_or(Invalid::NoConfiguration)?;
        let (links, configuration) = thread::scope(|scope| {
            let compile = |dims| {
                if let Ok(lattice) = lattice_of(job, team, dims) {
                    // Without a thread they compile when they are needed.
                    drop(threads::start(scope, move || build_programs(job, &lattice)));
                }
            };
            let options = io::ReadOptions { extents: Some(&compile), ..job.configuration.read_options() };
            let file = io::read_gauge_with(file, &options)?;
            let configuration = Arc::new(file.configuration);
            Ok::<_, JobError>((links_of(job, &configuration, team)?, configuration))
        })?;
        Self::of_links(job, &links)?.with_configuration(&configuration)
    }

    /// Puts the operators on devices like [`open`](Self::open), with links from memory.
    ///
    /// # Errors
    /// All errors of [`open`](Self::open), but those of the file.
    pub fn on(
        job: &Job,
        configuration: impl Into<Arc<GaugeConfiguration>>,
        team: &Team,
    ) -> Result<Self, JobError> {
        let configuration = configuration.into();
        Self::of_links(job, &links_of(job, &configuration, team)?)?.with_configuration(&configuration)
    }

    /// Makes the operators from links that [`links_of`] returned.
    ///
    /// Jobs that smear sources or sinks need [`with_configuration`](Self::with_configuration) too.
    ///
    /// # Errors
    /// All errors of [`open`](Self::open), but those of the file.
    pub fn of_links(job: &Job, links: &GaugeField<f64>) -> Result<Self, JobError> {
        job.check()?;
        let quarks = job.quarks()?;
        let operators = quarks.iter().map(|quark| Dirac::new(links, quark.coupling, quark.site_term));
        let sources = job.labelled_sources()?;
        let dims = links.lattice().dims();
        let prepared = sources.iter().map(|source| Prepared::new(job, source, dims));
        let sequential = job.sequential(&quarks, &sources)?;
        Ok(Self {
            sequential_momenta: sequential.iter().map(|one| one.momenta(dims)).collect::<Result<_, _>>()?,
            sequential,
            named_hadrons: job.named_hadrons(&quarks)?,
            named_momenta: job.hadron.iter().map(|entry| entry.momenta(dims)).collect::<Result<_, _>>()?,
            propagators: job.propagators()?,
            operators: operators.collect::<Result<_, _>>()?,
            quarks,
            prepared: prepared.collect::<Result<_, _>>()?,
            momenta: job.hadrons.momenta(dims)?,
            configuration: None,
            sources,
            observables: job.observables()?,
            labels: job.labels()?,
            time_phases: links.time_phases().clone(),
            job: job.clone(),
            fingerprint: None,
        })
    }

    /// Returns the problem with the configuration that smears sources and sinks.
    ///
    /// The links are smeared here, if the job says so.
    ///
    /// # Errors
    /// If links cannot be smeared.
    pub fn with_configuration(mut self, configuration: &Arc<GaugeConfiguration>) -> Result<Self, JobError> {
        let plain = Arc::new(SmearingLinks::from(Arc::clone(configuration)));
        let mut smeared: Vec<(LinkSmearing, Arc<SmearingLinks>)> = Vec::new();
        for (prepared, labelled) in self.prepared.iter_mut().zip(&self.sources) {
            let smearing = labelled.smearing;
            let links = match smearing.links {
                None => Arc::clone(&plain),
                Some(kind) => match smeared.iter().find(|(other, _)| *other == kind) {
                    Some((_, links)) => Arc::clone(links),
                    None => {
                        let links = Arc::new(SmearingLinks::from(gauge::smear(configuration, &kind.0)?));
                        smeared.push((kind, Arc::clone(&links)));
                        links
                    }
                },
            };
            prepared.smear(smearing, &links);
        }
        if self.wants_links_of_currents() {
            self.configuration = Some(self.job.action.links(configuration)?);
        }
        Ok(self)
    }

    /// Returns the problem with a fingerprint of its configuration.
    ///
    /// A file of a multigrid set-up holds this fingerprint and serves no other configuration.
    #[must_use]
    pub fn with_fingerprint(self, fingerprint: impl Into<String>) -> Self {
        let mut fingerprint = fingerprint.into();
        if let Some(kind) = self.job.action.fat_links {
            fingerprint += &format!(", fat links {kind}");
        }
        Self { fingerprint: Some(fingerprint), ..self }
    }

    /// Returns the file of the multigrid set-up, and the configuration's fingerprint.
    pub(super) fn setup_file(&self) -> Result<Option<(&Path, &str)>, Invalid> {
        let Some(path) = &self.job.solver.multigrid.setup else { return Ok(None) };
        let fingerprint =
            self.fingerprint.as_deref().ok_or(Invalid::NoFingerprint { key: "multigrid-setup" })?;
        Ok(Some((path, fingerprint)))
    }

    /// Returns the fingerprint of the configuration, if it is known.
    pub(super) fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// Returns the job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Returns the lattice.
    pub fn lattice(&self) -> &Lattice {
        self.operators[0].lattice()
    }

    /// Returns the extents of the lattice.
    pub fn dims(&self) -> Dims {
        self.lattice().dims()
    }

    /// Returns the labels of the solves for one column each, in order.
    pub fn labels(&self) -> Vec<Label> {
        self.labels.concat()
    }

    /// Counts the solves that are left, and the later masses that have some of them.
    ///
    /// `done` solves of the propagator `number` are behind. Solves for heavier quarks do not count.
    pub(super) fn solves_left(&self, number: usize, done: usize) -> [usize; 2] {
        let own = self.propagators[number][0];
        let kappa = |operator: usize| self.operators[operator].coupling().kappa();
        let counts = |operator: usize| kappa(operator) >= kappa(own);
        let later = (number + 1..self.labels.len()).filter(|later| counts(self.propagators[*later][0]));
        let solves = later.map(|later| self.labels[later].len()).sum::<usize>();
        let masses = (own + 1..self.operators.len()).filter(|&operator| counts(operator)).count();
        [self.labels[number].len() - done + solves, masses]
    }

    /// Returns the operators, one for each quark: each mass and flavour, or each `[[quark]]`.
    pub fn operators(&self) -> &[Dirac<f64>] {
        &self.operators
    }

    /// Returns the quarks of the operators.
    pub fn quarks(&self) -> &[Quark] {
        &self.quarks
    }

    /// Returns the sources.
    pub fn sources(&self) -> &[LabelledSource] {
        &self.sources
    }

    /// Returns the number of propagators: of each quark, for each of its sources.
    pub fn propagators_wanted(&self) -> usize {
        self.labels.len()
    }

    /// Returns operator and source of the propagator of this number.
    ///
    /// # Panics
    /// If the job has no such propagator.
    pub fn propagator(&self, number: usize) -> (&Dirac<f64>, &LabelledSource) {
        let [quark, source] = self.propagators[number];
        (&self.operators[quark], &self.sources[source])
    }

    /// Returns the quark of the propagator of this number.
    ///
    /// # Panics
    /// If the job has no such propagator.
    pub fn quark(&self, number: usize) -> &Quark {
        &self.quarks[self.propagators[number][0]]
    }

    /// Returns the measurement of hadrons from a source at this site, if there is one.
    pub(super) fn hadrons(&self, origin: [usize; NDIM]) -> Option<HadronMeasurement> {
        let HadronSets(sets) = self.job.hadrons.hadrons.clone()?;
        Some(self.measurement(sets, self.momenta.clone(), origin))
    }

    /// Returns a measurement from a source at this site.
    pub(super) fn measurement(
        &self,
        sets: Vec<HadronSet>,
        momenta: Momenta,
        origin: [usize; NDIM],
    ) -> HadronMeasurement {
        HadronMeasurement { team: self.lattice().team().clone(), sets, momenta, origin }
    }

    /// Returns the phases of the quarks in t.
    pub fn time_phases(&self) -> &TimePhases {
        &self.time_phases
    }

    /// Returns the sinks of a propagator that hadrons and sequential sources are made of.
    pub(super) fn sinks(&self, number: usize) -> Vec<Sink> {
        self.job.sinks(&self.named_hadrons, &self.sequential, self.propagators[number])
    }

    /// Returns the number of the sequential source that the propagator of this number is of.
    pub(super) fn sequential_of(&self, number: usize) -> Option<usize> {
        self.sequential.iter().position(|one| one.propagator == self.propagators[number])
    }

    fn wants_links_of_currents(&self) -> bool {
        self.hadrons([0; NDIM]).is_some_and(|hadrons| hadrons.wants_links())
            || self.named_hadrons.iter().any(NamedHadrons::wants_links)
            || !self.sequential.is_empty()
    }

    /// The links of the conserved current, with the phases of the boundary.
    ///
    /// # Errors
    /// When they are wanted, and nobody has given the configuration.
    pub(super) fn links_of_currents(&self) -> Result<Option<LinkField<f64>>, Invalid> {
        match &self.configuration {
            Some(configuration) => Ok(Some(LinkField::new(configuration, self.job.action.boundary()))),
            None if self.wants_links_of_currents() => Err(Invalid::NoLinks),
            None => Ok(None),
        }
    }

    /// Returns the prepared source of the propagator of this number.
    ///
    /// # Errors
    /// If the source is smeared and links are missing.
    pub(super) fn prepared(&self, number: usize) -> Result<&Prepared, Invalid> {
        let [_, source] = self.propagators[number];
        let prepared = &self.prepared[source];
        let is_smeared = |sink: &Sink| matches!(sink, Sink::Smeared(_));
        let wants_links =
            self.sources[source].smearing.has_links() || self.sinks(number).iter().any(is_smeared);
        let lacks_links = wants_links && prepared.links.is_none();
        if lacks_links { Err(Invalid::NoLinks) } else { Ok(prepared) }
    }

    /// Returns the names and values that the solutions of the job depend on.
    ///
    /// `configuration` stands for the links. A state of one job serves another job only if all
    /// values are equal.
    pub fn identity(&self, configuration: &str) -> Vec<(String, String)> {
        let (job, team) = (&self.job, self.lattice().team());
        let joined = |texts: Vec<String>| texts.join("; ");
        let mut couplings: Vec<_> =
            self.operators.iter().map(|dirac| coupling_label(dirac.coupling())).collect();
        // The flavours of one mass share an entry.
        couplings.dedup();
        let values = couplings.iter().filter_map(|text| Some(text.split_once(' ')?.1.to_owned())).collect();
        let columns: Vec<Column> = self.sources.iter().map(|source| source.column).collect();
        let own = [
            ("command", job.command.to_string()),
            ("lattice", self.dims().to_string()),
            ("configuration", configuration.to_owned()),
            (job.normalisation(), joined(values)),
            ("boundary", format!("{:?}", job.action.boundary.signs())),
            ("links", job.configuration.links.to_string()),
            ("source", joined(self.sources.iter().map(|source| source.source.to_string()).collect())),
            ("solver", job.solver.solver.to_string()),
            ("system", job.solver.iterated_system().to_string()),
            ("preconditioning", job.solver.preconditioning.to_string()),
            ("precision", job.solver.precision_on(team).to_string()),
            ("tolerance", format!("{:e}", job.solver.tolerance())),
            ("storage of fields", self.lattice().storage_description()),
        ];
        // Every other key of the operator and the method that is given, so that none is forgotten.
        let others = [text::keys(&job.action), text::keys(&job.solver)].into_iter().flatten();
        let others =
            others.filter(|(key, _)| !APART_FROM_IDENTITY.contains(&key.as_str())).map(|(key, value)| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                (key, text)
            });
        let of_columns =
            |part: fn(&Column) -> usize| joined(columns.iter().map(part).map(|n| n.to_string()).collect());
        let smearing = |name, of: fn(&LabelledSource) -> Option<String>| {
            let texts: Vec<Option<String>> = self.sources.iter().map(of).collect();
            let any = texts.iter().any(Option::is_some);
            any.then(|| (name, joined(texts.into_iter().map(Option::unwrap_or_default).collect())))
        };
        let smearings = [
            smearing("smear-source", |source| source.smearing.source.map(|kind| kind.to_string())),
            smearing("smear-links", |source| source.smearing.links.map(|kind| kind.to_string())),
        ];
        let sequential = (!self.sequential.is_empty())
            .then(|| ("sequential", joined(self.sequential.iter().map(NamedSequential::identity).collect())));
        let columns = (job.command == Task::Invert).then(|| {
            [("spin", of_columns(|column| column.spin)), ("colour", of_columns(|column| column.colour))]
        });
        // What each quark has of its own, and the sources that it is solved for.
        let quarks = (!job.quark.is_empty())
            .then(|| ("quarks", serde_json::to_string(&job.quark).unwrap_or_default()));
        let named = own
            .into_iter()
            .chain(quarks)
            .chain(smearings.into_iter().flatten())
            .chain(sequential)
            .chain(columns.into_iter().flatten());
        named.map(|(name, value)| (name.to_owned(), value)).chain(others).collect()
    }
}

/// A source with its right-hand sides and its links.
pub(super) struct Prepared {
    /// The right-hand sides.
    pub fields: SourceFields,
    /// The smearing of solutions before they are contracted.
    sink: Option<SpinorSmearing>,
    /// The links of smearing, if they were given.
    links: Option<Arc<SmearingLinks>>,
}

impl Prepared {
    /// Reads the file of a source, if the source has one, without smearing.
    fn new(job: &Job, labelled: &LabelledSource, dims: Dims) -> Result<Self, SourceError> {
        let fields = SourceFields::new(labelled.source.clone(), dims, None)?;
        match job.command {
            Task::Invert => fields.check(labelled.column)?,
            Task::Spectrum => Column::all().try_for_each(|column| fields.check(column))?,
        }
        Ok(Self { fields, sink: None, links: None })
    }

    /// Takes the field at the sink of a hadron, which is smeared like that of the hadron's source.
    pub fn at_hadron(&self, source: Source, field: SinkField, dims: Dims) -> Self {
        let smearing = self.sink.zip(self.links.clone());
        Self { fields: SourceFields::at_sink(source, dims, field, smearing), sink: None, links: None }
    }

    /// Smears the source with these links.
    fn smear(&mut self, smearing: SourceSmearing, links: &Arc<SmearingLinks>) {
        let with_links = |kind: SpinorSmearing| (kind, Arc::clone(links));
        self.fields.smear(smearing.source.map(with_links));
        self.sink = smearing.sink;
        self.links = Some(Arc::clone(links));
    }

    /// Returns a solution with its sink smeared, if it is to be.
    ///
    /// The first device of a team smears it, or the host.
    ///
    /// # Errors
    /// When the device fails.
    pub fn at_sink<'a>(
        &self,
        team: &Team,
        x: &'a [Spinor<f64>],
        sink: Sink,
    ) -> Result<Cow<'a, [Spinor<f64>]>, LatticeError> {
        let smearing = match sink {
            Sink::OfSource => self.sink,
            Sink::Smeared(smearing) => Some(smearing),
            Sink::Bare => None,
        };
        Ok(match (smearing, &self.links) {
            (Some(smearing), Some(links)) => Cow::Owned(smearing.apply_on(team, links, x)?),
            _ => Cow::Borrowed(x),
        })
    }
}

/// Puts the links of a job on the devices of a team, smeared if its action says so.
///
/// With a clover term, the field keeps the configuration, because the term is computed from it.
///
/// # Errors
/// If the job is not valid, if a source lies outside the lattice, or if a device fails.
pub fn links_of(
    job: &Job,
    configuration: &Arc<GaugeConfiguration>,
    team: &Team,
) -> Result<GaugeField<f64>, JobError> {
    for labelled in job.labelled_sources()? {
        labelled.source.check(configuration.dims())?;
    }
    let lattice = lattice_of(job, team, configuration.dims())?;
    let configuration = job.action.links(configuration)?;
    let links = lattice.gauge_in(&configuration, job.action.boundary(), job.configuration.links)?;
    let links = links.with_anisotropy(job.action.anisotropy()?);
    // All quarks have the same weights of planes.
    let quarks = job.quarks()?;
    let clover = quarks.iter().find_map(|quark| quark.action.clover().transpose()).transpose()?;
    match clover {
        None => Ok(links),
        Some(clover) => Ok(links.with_weighted_clover(configuration, clover.weights)?),
    }
}

/// Returns the sites whose links a rank of a team needs to do a job.
///
/// The result is `None` where every rank needs all links: in a team of one process, for links that
/// are smeared, and for multigrid.
pub fn sites_of_rank(job: &Job, team: &Team, dims: Dims) -> Option<Vec<Range<usize>>> {
    team.ranks()?;
    let smears = |labelled: &LabelledSource| labelled.smearing != SourceSmearing::default();
    let needs_all = job.action.fat_links.is_some()
        || job.labelled_sources().ok()?.iter().any(smears)
        || !job.hadron.is_empty()
        || job.labelled_sources().ok()?.iter().any(|labelled| labelled.sequential.is_some())
        || job.quarks().ok()?.iter().any(|quark| quark.method.solver == Solver::Multigrid);
    let lattice = lattice_of(job, team, dims).ok().filter(|_| !needs_all)?;
    Some(lattice.shards().iter().flat_map(|shard| shard.domain.rows_with_halo()).collect())
}

/// Compiles the kernels of a job's solves on a lattice.
///
/// The function needs no links. It ignores faults of the job. It gives devices no commands, so that it may run
/// beside a thread that does.
pub fn build_programs(job: &Job, lattice: &Lattice) {
    let (team, dims) = (lattice.team(), lattice.dims());
    let lies_on = |sources: Vec<LabelledSource>| sources.iter().all(|one| one.source.check(dims).is_ok());
    if job.labelled_sources().is_ok_and(lies_on)
        && let (Ok(anisotropy), Ok(quarks)) = (job.action.anisotropy(), job.quarks())
    {
        let (boundary, reconstruction) = (job.action.boundary(), job.configuration.links);
        // One mass is enough, because kernels take masses as arguments.
        let is_wanted = |quark: &&Quark| quark.name.is_some() || quark.coupling == quarks[0].coupling;
        for quark in quarks.iter().filter(is_wanted) {
            let params = match quark.parameters(team) {
                Parameters::One(params) => params,
                Parameters::Auto(params, _) => Auto::new(params).first_step(team),
                Parameters::Multigrid(params) => Multigrid::outer(&params),
                // The block solver compiles its programs on first use.
                Parameters::AllAtOnce(_) => continue,
            };
            let site_term = quark.site_term;
            build_programs_of_solve(lattice, boundary, anisotropy, reconstruction, site_term, &params);
        }
    }
}

/// Returns the lattice of a job, divided among its grids of devices and ranks.
///
/// # Errors
/// If the lattice cannot be divided so, or if a device fails.
pub fn lattice_of(job: &Job, team: &Team, dims: Dims) -> Result<Lattice, LatticeError> {
    Lattice::with_grids(team, dims, job.devices.grid, job.devices.ranks_grid)
}
