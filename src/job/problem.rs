//! A job that stands ready on its devices.

use super::action::{Quark, coupling_label};
use super::document::Job;
use super::error::JobError;
use super::flavour::Flavour;
use super::invalid::Invalid;
use super::label::Label;
use super::method::{Method, Parameters};
use super::observables::ObservableEntry;
use super::solver::Solver;
use super::sources::{LabelledSource, SourceSmearing};
use super::task::Task;
use crate::device::Team;
use crate::field::GaugeField;
use crate::gauge;
use crate::geometry::{Dims, Lattice, LatticeError};
use crate::hadron::{Column, LinkSmearing, SourceError, SourceFields, SpinorSmearing};
use crate::host::{GaugeConfiguration, Spinor};
use crate::io;
use crate::multigrid::Multigrid;
use crate::operator::Dirac;
use crate::solve::{Auto, build_programs_of_solve};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::thread;

/// A job whose operators stand ready on its devices.
pub struct Problem {
    pub(super) job: Job,
    /// The operators, one for each mass and flavour.
    pub(super) quarks: Vec<Quark>,
    pub(super) operators: Vec<Dirac<f64>>,
    pub(super) sources: Vec<LabelledSource>,
    pub(super) observables: Vec<ObservableEntry>,
    /// The right-hand sides of the sources.
    pub(super) prepared: Vec<Prepared>,
    /// Of the columns of each propagator.
    pub(super) labels: Vec<Vec<Label>>,
    /// What tells the configuration from others, if it is known.
    fingerprint: Option<String>,
}

impl Problem {
    /// Reads the configuration of the job, and puts the operators on the devices of a team. Meanwhile kernels are compiled.
    ///
    /// # Errors
    /// When the job makes no sense, when the file cannot be read or believed, and when a device fails.
    pub fn open(job: &Job, team: &Team) -> Result<Self, JobError> {
        job.check()?;
        let file = job.configuration.file.as_ref().ok_or(Invalid::NoConfiguration)?;
        let (links, configuration) = thread::scope(|scope| {
            let compile = |dims| {
                scope.spawn(move || build_programs(job, team, dims));
            };
            let options = io::ReadOptions { extents: Some(&compile), ..job.configuration.read_options() };
            let file = io::read_gauge_with(file, &options)?;
            let configuration = Arc::new(file.configuration);
            Ok::<_, JobError>((links_of(job, &configuration, team)?, configuration))
        })?;
        Self::of_links(job, &links)?.with_configuration(&configuration)
    }

    /// As [`open`](Self::open), with a configuration that is in memory.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn on(
        job: &Job,
        configuration: impl Into<Arc<GaugeConfiguration>>,
        team: &Team,
    ) -> Result<Self, JobError> {
        let configuration = configuration.into();
        Self::of_links(job, &links_of(job, &configuration, team)?)?.with_configuration(&configuration)
    }

    /// As [`open`](Self::open), with links that are on their devices: see [`links_of`].
    ///
    /// A job that smears sources or sinks wants [`with_configuration`](Self::with_configuration) too.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_links(job: &Job, links: &GaugeField<f64>) -> Result<Self, JobError> {
        job.check()?;
        let quarks = job.action.quarks()?;
        let operators = quarks.iter().map(|quark| Dirac::new(links, quark.coupling, quark.site_term));
        let sources = job.labelled_sources()?;
        let dims = links.lattice().dims();
        let prepared = sources.iter().map(|source| Prepared::new(job, source, dims));
        Ok(Self {
            operators: operators.collect::<Result<_, _>>()?,
            quarks,
            prepared: prepared.collect::<Result<_, _>>()?,
            sources,
            observables: job.observables()?,
            labels: job.labels()?,
            job: job.clone(),
            fingerprint: None,
        })
    }

    /// The same, with the configuration whose links smear sources and sinks. Links are smeared here.
    ///
    /// # Errors
    /// When links cannot be smeared.
    pub fn with_configuration(mut self, configuration: &Arc<GaugeConfiguration>) -> Result<Self, JobError> {
        let mut smeared: Vec<(LinkSmearing, Arc<GaugeConfiguration>)> = Vec::new();
        for (prepared, labelled) in self.prepared.iter_mut().zip(&self.sources) {
            let smearing = labelled.smearing;
            let links = match smearing.links {
                None => Arc::clone(configuration),
                Some(kind) => match smeared.iter().find(|(other, _)| *other == kind) {
                    Some((_, links)) => Arc::clone(links),
                    None => {
                        let links = Arc::new(gauge::smear(configuration, &kind.0)?);
                        smeared.push((kind, Arc::clone(&links)));
                        links
                    }
                },
            };
            prepared.smear(smearing, &links);
        }
        Ok(self)
    }

    /// The same, and what tells its configuration from others: files of a multigrid method's set-up are bound to it.
    #[must_use]
    pub fn with_fingerprint(self, fingerprint: impl Into<String>) -> Self {
        Self { fingerprint: Some(fingerprint.into()), ..self }
    }

    /// The file of a multigrid method's set-up, and what it is bound to.
    pub(super) fn setup_file(&self) -> Result<Option<(&Path, &str)>, Invalid> {
        let Some(path) = &self.job.solver.multigrid_setup else { return Ok(None) };
        let fingerprint = self.fingerprint.as_deref().ok_or(Invalid::NoFingerprint)?;
        Ok(Some((path, fingerprint)))
    }

    /// The job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The lattice.
    pub fn lattice(&self) -> &Lattice {
        self.operators[0].lattice()
    }

    /// The extents of the lattice.
    pub fn dims(&self) -> Dims {
        self.lattice().dims()
    }

    /// The labels of the solves for one column each, in their order.
    pub fn labels(&self) -> Vec<Label> {
        self.labels.concat()
    }

    /// The operators, one for each mass and flavour.
    pub fn operators(&self) -> &[Dirac<f64>] {
        &self.operators
    }

    /// How many propagators the job has: masses times flavours times sources.
    pub fn propagators_wanted(&self) -> usize {
        self.labels.len()
    }

    /// Operator and source of the propagator of this number.
    ///
    /// # Panics
    /// When there is none.
    pub fn propagator(&self, number: usize) -> (&Dirac<f64>, &LabelledSource) {
        (&self.operators[number / self.sources.len()], &self.sources[number % self.sources.len()])
    }

    /// The flavour of the quarks of the propagator of this number; `None` without a twisted mass.
    ///
    /// # Panics
    /// When there is none.
    pub fn flavour(&self, number: usize) -> Option<Flavour> {
        self.quarks[number / self.sources.len()].flavour
    }

    /// What stands ready of the source of the propagator of this number.
    ///
    /// # Errors
    /// When it is smeared, and nobody has given the links.
    pub(super) fn prepared(&self, number: usize) -> Result<&Prepared, Invalid> {
        let source = number % self.sources.len();
        let prepared = &self.prepared[source];
        let lacks_links = self.sources[source].smearing.has_links() && !prepared.has_links;
        if lacks_links { Err(Invalid::NoLinks) } else { Ok(prepared) }
    }

    /// What tells the job from others, by name: what its solutions depend on. `configuration` stands for the links.
    ///
    /// A state of one job is of use to another only if all of it is the same.
    pub fn identity(&self, configuration: &str) -> Vec<(String, String)> {
        let (job, team) = (&self.job, self.lattice().team());
        let joined = |texts: Vec<String>| texts.join("; ");
        let mut couplings: Vec<_> =
            self.operators.iter().map(|dirac| coupling_label(dirac.coupling())).collect();
        // Once for all flavours.
        couplings.dedup();
        let values = couplings.iter().filter_map(|text| Some(text.split_once(' ')?.1.to_owned())).collect();
        let columns: Vec<Column> = self.sources.iter().map(|source| source.column).collect();
        let own = [
            ("command", job.command.to_string()),
            ("lattice", self.dims().to_string()),
            ("configuration", configuration.to_owned()),
            (job.action.normalisation(), joined(values)),
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
        // Jobs without it are those of versions that did not have it.
        let action = &job.action;
        let numbers = [
            ("mu", action.mu),
            ("csw", action.csw),
            ("clover-r", action.clover_r),
            ("clover-t", action.clover_t),
            ("anisotropy", action.anisotropy),
            ("nu", action.nu),
        ];
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, format!("{:?}", number?))));
        let multigrid = (job.solver.solver == Solver::Multigrid).then(|| {
            let Method { multigrid_levels, multigrid_vectors, multigrid_block, .. } = &job.solver;
            ("multigrid", format!("{multigrid_levels:?}, {multigrid_vectors:?}, {multigrid_block:?}"))
        });
        let flavour = action.flavour.map(|flavour| ("flavour", flavour.to_string()));
        let theta = action.theta.map(|theta| ("theta", theta.to_string()));
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
        let columns = (job.command == Task::Invert).then(|| {
            [("spin", of_columns(|column| column.spin)), ("colour", of_columns(|column| column.colour))]
        });
        let all = own
            .into_iter()
            .chain(numbers)
            .chain(multigrid)
            .chain(flavour)
            .chain(theta)
            .chain(smearings.into_iter().flatten())
            .chain(columns.into_iter().flatten());
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// A source that stands ready.
pub(super) struct Prepared {
    /// The right-hand sides.
    pub fields: SourceFields,
    /// The smearing of solutions before they are contracted, with its links.
    pub sink: Option<(SpinorSmearing, Arc<GaugeConfiguration>)>,
    /// `true` if links were given.
    has_links: bool,
}

impl Prepared {
    /// Reads the file of a source, if it has one. Nothing is smeared yet.
    fn new(job: &Job, labelled: &LabelledSource, dims: Dims) -> Result<Self, SourceError> {
        let fields = SourceFields::new(labelled.source.clone(), dims, None)?;
        match job.command {
            Task::Invert => fields.check(labelled.column)?,
            Task::Spectrum => Column::all().try_for_each(|column| fields.check(column))?,
        }
        Ok(Self { fields, sink: None, has_links: false })
    }

    /// Smears with these links.
    fn smear(&mut self, smearing: SourceSmearing, links: &Arc<GaugeConfiguration>) {
        let with_links = |kind: SpinorSmearing| (kind, Arc::clone(links));
        self.fields.smear(smearing.source.map(with_links));
        self.sink = smearing.sink.map(with_links);
        self.has_links = true;
    }

    /// Returns a solution with its sink smeared, if it is to be.
    pub fn at_sink<'a>(&self, x: &'a [Spinor<f64>]) -> Cow<'a, [Spinor<f64>]> {
        match &self.sink {
            Some((smearing, links)) => Cow::Owned(smearing.apply(links, x)),
            None => Cow::Borrowed(x),
        }
    }
}

/// Puts the links of a job on the devices of a team. With a clover term they keep the configuration, which it is made of.
///
/// # Errors
/// When the job makes no sense, when a source lies outside the lattice, and when a device fails.
pub fn links_of(
    job: &Job,
    configuration: &Arc<GaugeConfiguration>,
    team: &Team,
) -> Result<GaugeField<f64>, JobError> {
    for labelled in job.labelled_sources()? {
        labelled.source.check(configuration.dims())?;
    }
    let lattice = lattice_of(job, team, configuration.dims())?;
    let links = lattice.gauge_in(configuration, job.action.boundary(), job.configuration.links)?;
    let links = links.with_anisotropy(job.action.anisotropy()?);
    match job.action.clover()? {
        None => Ok(links),
        Some(clover) => Ok(links.with_weighted_clover(Arc::clone(configuration), clover.weights)?),
    }
}

/// Compiles what the solves of a job will run on a lattice of these extents. It may be called before there are any links.
///
/// What is wrong with the job is not told here.
pub fn build_programs(job: &Job, team: &Team, dims: Dims) {
    let lies_on = |sources: Vec<LabelledSource>| sources.iter().all(|one| one.source.check(dims).is_ok());
    if job.labelled_sources().is_ok_and(lies_on)
        && let Ok(lattice) = lattice_of(job, team, dims)
        && let (Ok(anisotropy), Ok(quarks)) = (job.action.anisotropy(), job.action.quarks())
    {
        let params = match job.solver.parameters(team) {
            Parameters::One(params) => params,
            Parameters::Auto(params) => Auto::new(params).first_step(team),
            Parameters::Multigrid(params) => Multigrid::outer(&params),
            // Its programs are made as they are wanted.
            Parameters::AllAtOnce(_) => return,
        };
        let (boundary, reconstruction) = (job.action.boundary(), job.configuration.links);
        // Flavours of one mass: kernels take masses as arguments.
        for quark in quarks.iter().filter(|quark| quark.coupling == quarks[0].coupling) {
            let site_term = quark.site_term;
            build_programs_of_solve(&lattice, boundary, anisotropy, reconstruction, site_term, &params);
        }
    }
}

/// The lattice of a job, cut over its grids of devices and ranks.
fn lattice_of(job: &Job, team: &Team, dims: Dims) -> Result<Lattice, LatticeError> {
    Lattice::with_grids(team, dims, job.devices.grid, job.devices.ranks_grid)
}
