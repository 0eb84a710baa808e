//! The memory and the disk space that a job takes, known before it runs.

use super::action::Quark;
use super::deflation::Deflation;
use super::document::Job;
use super::hadrons::NamedHadrons;
use super::invalid::Invalid;
use super::method::Parameters;
use super::problem::lattice_of;
use super::sources::{LabelledSource, SourceSmearing};
use super::task::Task;
use crate::compute::{Device, Team};
use crate::geometry::{Dims, Lattice, LatticeError, NDIM};
use crate::hadron::{Column, HadronSet, Source};
use crate::host::{Matrix3, Spinor};
use crate::modes::ModesParams;
use crate::multigrid::{self, Multigrid, SetupError};
use crate::scalar::StoragePrecision;
use crate::solve::{Auto, BlockCgParams, CgParams, FieldSizes, Fields, Preconditioning, SolveParams};

/// The memory and the disk space that a job takes.
///
/// Counted are links, fields, blocks of clover terms, levels of multigrid and propagators. The program itself,
/// drivers and compilers take more.
#[derive(Clone, Debug)]
pub struct Needs {
    /// One entry for each device that has a part of the lattice; none on the host.
    pub devices: Vec<DeviceNeed>,
    /// Bytes of the host's memory, beside those of its devices.
    pub on_host: u64,
    /// Bytes of the files of a checkpoint, at most.
    pub checkpoint: u64,
    /// Bytes of the solutions of all propagators.
    pub solutions: u64,
    /// The solves, for one column each or for all columns at once.
    pub solves: usize,
    /// Columns of a solve.
    pub columns: usize,
    /// The method of a solve, the first one of an automatic choice.
    pub method: SolveParams,
}

/// The memory that a job takes of one device.
#[derive(Clone, Debug)]
pub struct DeviceNeed {
    /// The device.
    pub device: Device,
    /// The sites of its part.
    pub sites: usize,
    /// Bytes of buffers.
    pub bytes: u64,
}

/// Errors of finding the needs of a job.
#[derive(Debug, thiserror::Error)]
pub enum NeedsError {
    /// The job is not valid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The lattice cannot be divided so, or a device fails.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
    /// No multigrid method fits the lattice.
    #[error(transparent)]
    Multigrid(#[from] SetupError),
}

/// The greatest of several needs, on each device and on the host.
#[derive(Default)]
struct Most {
    on_devices: u64,
    on_host: u64,
}

impl Needs {
    /// Returns the needs of a job for a lattice on the devices of a team.
    ///
    /// No links are needed, and no kernel is compiled.
    ///
    /// # Errors
    /// * If the job is not valid.
    /// * If the lattice cannot be divided so.
    /// * If no blocks of a multigrid method divide the lattice.
    pub fn of(job: &Job, team: &Team, dims: Dims) -> Result<Self, NeedsError> {
        job.check()?;
        let lattice = lattice_of(job, team, dims)?;
        let quarks = job.quarks()?;
        let all = quarks.iter().map(|quark| Solving::of(job, quark, quarks.len(), &lattice));
        let all = all.collect::<Result<Vec<Solving>, NeedsError>>()?;
        // The quark whose solves take most.
        let bytes = |sizes, place| all.iter().map(|solving| solving.bytes(sizes, place)).max().unwrap_or(0);
        let solving = &all[0];
        let sizes = |shard, sites| FieldSizes { shard, sites, reconstruction: job.configuration.links };
        let whole = sizes(lattice.shards().first(), dims.volume());
        let mut devices = Vec::new();
        for (place, shard) in lattice.shards().iter().enumerate() {
            let sites = shard.domain.volume();
            let mut bytes = bytes(sizes(Some(shard), sites), place);
            if place == 0 {
                bytes += links_of_smearing(job, dims)?;
            }
            devices.push(DeviceNeed { device: shard.device.clone(), sites, bytes });
        }
        let mut on_host = Self::beside_devices(job, dims)?;
        on_host.on_host += all
            .iter()
            .filter_map(|solving| solving.multigrid.first())
            .map(|need| need.on_host)
            .max()
            .unwrap_or(0);
        if devices.is_empty() {
            on_host.on_devices = bytes(whole, 0);
        }
        let labels = job.labels()?;
        let column = field(dims);
        let total = labels.concat().len();
        // The solution of a single solve is its result. Columns that are solved at once are not kept.
        let kept = if total > 1 && !job.solves_at_once() { total as u64 * column } else { 0 };
        let state = |solving: &Solving| -> u64 {
            match lattice.shards() {
                [] => solving.fields.bytes_of_checkpoint(whole),
                shards => {
                    let of = |shard| sizes(Some(shard), 0);
                    shards.iter().map(|shard| solving.fields.bytes_of_checkpoint(of(shard))).sum()
                }
            }
        };
        let state = all.iter().map(state).max().unwrap_or(0);
        Ok(Self {
            devices,
            on_host: on_host.on_host + on_host.on_devices,
            checkpoint: state + kept,
            solutions: total as u64 * column,
            solves: total / solving.fields.columns,
            columns: solving.fields.columns,
            method: solving.method,
        })
    }

    /// Returns the bytes on the host beside the fields of solves.
    fn beside_devices(job: &Job, dims: Dims) -> Result<Most, NeedsError> {
        let links = configuration(dims);
        let sources = job.labelled_sources()?;
        let smears = |source: &LabelledSource| source.smearing != SourceSmearing::default();
        let smeared = sources.iter().filter(|source| source.smearing.links.is_some()).count() as u64;
        let quarks = job.quarks()?;
        let named = job.named_hadrons(&quarks)?;
        let currents = job.hadrons.hadrons.as_ref().is_some_and(|sets| sets.0.contains(&HadronSet::Currents))
            || named.iter().any(NamedHadrons::wants_links)
            || sources.iter().any(|source| source.sequential.is_some());
        let fat = job.action.fat_links.is_some();
        // Links of a file, and smeared ones, while operators are made.
        let reading = links * (1 + u64::from(fat));
        let clover = quarks.iter().any(|quark| matches!(quark.action.clover(), Ok(Some(_))));
        let mut solving = 0;
        let smears_sinks = named.iter().any(|hadrons| hadrons.sink.is_some());
        if clover || currents || smears_sinks || sources.iter().any(smears) {
            solving += links * (1 + u64::from(fat && (clover || currents)));
        }
        solving += links * (smeared + u64::from(currents));
        let files = sources.iter().filter(|one| matches!(one.source, Source::File(_))).count();
        solving += field(dims) * (columns() * files) as u64;
        // The solution, and the one with its sink smeared.
        let smears_sinks = smears_sinks || sources.iter().any(|one| one.smearing.sink.is_some());
        solving += field(dims) * (1 + u64::from(smears_sinks));
        let sequential = job.sequential(&quarks, &sources)?;
        let kept = job.propagators()?.into_iter().map(|of| job.sinks(&named, &sequential, of).len());
        let keeps_all = quarks.len() > 1 || !named.is_empty() || !sequential.is_empty();
        let at_once: usize = if keeps_all { kept.sum() } else { kept.max().unwrap_or(0) };
        // The field of a sequential source is on one time slice.
        if !sequential.is_empty() {
            solving += field(dims) * columns() as u64 / dims[NDIM - 1] as u64;
        }
        solving += field(dims) * (columns() * at_once) as u64;
        Ok(Most { on_devices: 0, on_host: reading.max(solving) })
    }
}

/// The fields of the solves of a job.
struct Solving {
    fields: Fields,
    /// The fields of a method that takes over from the first one.
    other: Option<Fields>,
    method: SolveParams,
    multigrid: Vec<multigrid::Bytes>,
    /// The fields of modes while they are searched for, by parities.
    modes: u64,
    operators: usize,
}

impl Solving {
    /// Returns the fields of the solves for one of `operators` quarks.
    fn of(job: &Job, quark: &Quark, operators: usize, lattice: &Lattice) -> Result<Self, NeedsError> {
        let site_term = quark.site_term;
        let team = lattice.team();
        let parameters = quark.parameters(team);
        let columns = if job.command == Task::Spectrum { columns() } else { 1 };
        let (mut other, mut levels) = (None, Vec::new());
        let (fields, method) = match parameters {
            Parameters::One(params) => (Fields::of(&params, site_term), params),
            Parameters::Auto(params, _) => {
                let steps = Auto::new(params).steps(team);
                other = steps.get(1).map(|cg| Fields::of(cg, site_term));
                (Fields::of(&steps[0], site_term), steps[0])
            }
            Parameters::AllAtOnce(params) => {
                let BlockCgParams { tol, max_iterations, precision, preconditioning } = params;
                let of_one = SolveParams::Cg(CgParams { tol, max_iterations, precision, preconditioning });
                (Fields::of_block_cg(&params, site_term, columns), of_one)
            }
            Parameters::Multigrid(params) => {
                levels = multigrid::bytes(&params, lattice, columns)?;
                let outer = Multigrid::outer(&params);
                (Fields::of(&outer, site_term), outer)
            }
        };
        let parities = if quark.method.preconditioning == Preconditioning::None { 2 } else { 1 };
        let modes = parities * fields_of_modes(quark.method.deflate.as_ref(), lattice, parities);
        Ok(Self { fields, other, method, multigrid: levels, modes, operators })
    }

    /// Returns the bytes on a device, or in the place of one on the host.
    fn bytes(&self, sizes: FieldSizes<'_>, place: usize) -> u64 {
        let of = |fields: &Fields| (fields.bytes_of_links(sizes, self.operators), fields.bytes(sizes));
        let (links, fields) = of(&self.fields);
        if let Some(&multigrid::Bytes { levels, set_up, columns, .. }) = self.multigrid.get(place) {
            let solving = if columns > 0 { columns } else { fields };
            return links + levels + set_up.max(solving);
        }
        // The method that takes over begins with the best solution so far.
        let best = 2 * sizes.half_spinors(StoragePrecision::Double);
        let of_other = self.other.as_ref().map(of).map_or(0, |(links, fields)| links + fields + best);
        let modes = self.modes * sizes.half_spinors(StoragePrecision::Double);
        (links + fields).max(of_other) + modes
    }
}

/// Returns the number of fields that deflation takes.
///
/// A search has the modes and a Krylov space. A file tells the number of its modes by its length.
fn fields_of_modes(deflation: Option<&Deflation>, lattice: &Lattice, parities: u64) -> u64 {
    match deflation {
        None => 0,
        Some(Deflation::Count(count)) => {
            let ModesParams { count, block, .. } = ModesParams::new(*count);
            (3 * count + block + 30) as u64
        }
        Some(Deflation::File(path)) => {
            let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
            2 * bytes / (parities * field(lattice.dims()))
        }
    }
}

/// Returns the bytes of the links that spinors are smeared with, on the first device.
///
/// They stay there during solves, which take more than smearing takes beside them.
fn links_of_smearing(job: &Job, dims: Dims) -> Result<u64, Invalid> {
    let sources = job.labelled_sources()?;
    let kinds: Vec<_> = sources
        .iter()
        .filter(|one| one.smearing.source.is_some() || one.smearing.sink.is_some())
        .map(|one| one.smearing.links)
        .collect();
    let distinct = kinds.iter().enumerate().filter(|(k, kind)| !kinds[..*k].contains(kind)).count();
    // Links in x, y and z.
    Ok(distinct as u64 * (configuration(dims) / NDIM as u64 * 3))
}

/// Returns the columns of a propagator.
fn columns() -> usize {
    Column::all().count()
}

/// Returns the bytes of the links of a configuration in double.
fn configuration(dims: Dims) -> u64 {
    (dims.volume() * NDIM * size_of::<Matrix3<f64>>()) as u64
}

/// Returns the bytes of a field of spinors in double.
fn field(dims: Dims) -> u64 {
    (dims.volume() * size_of::<Spinor<f64>>()) as u64
}
