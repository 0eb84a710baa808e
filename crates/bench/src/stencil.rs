//! `cr-solve bench stencil`: Dirac operators and hops in every storage.
//!
//! Every kernel is checked and then timed.

use super::outcome::{Benchmark, Samples, Subject};
use super::session::{How, Session};
use crate::statistics::Spread;
use lattice_cl::compute::{Device, DeviceError, Event, Team};
use lattice_cl::field::{GaugeField, ParityField, SpinorField};
use lattice_cl::geometry::{Boundary, Lattice};
use lattice_cl::host::{
    BlockUse, GaugeConfiguration, Reconstruction, SiteBlocks, Spinor, StencilFactors, hop, link_with_phase,
    random,
};
use lattice_cl::operator::{
    Dirac, DiracOptions, HopEvenOdd, HopOptions, Kappa, SiteTerm, Tuning, tuning_steps,
};
use lattice_cl::scalar::{Half, Real, Storage, StoragePrecision};
use lattice_cl::tuning::longer_batch;
use lattice_cli::choices::word;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::lattice::stencil_storages::StencilStorages;
use lattice_cli::lattice::variants::describe;
use lattice_cli::memory::Need;
use lattice_solvers::range::larger;
use lattice_solvers::{LinearOperator, Work};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The command line of `bench stencil`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    storages: StencilStorages,
    /// Operators: the full operator, or its hop to one parity
    #[arg(long, value_parser = word::<Operator>(), value_delimiter = ',', default_value = "hop")]
    operator: Vec<Operator>,
    /// Time all kernel variants, and show the best
    ///
    /// Variants differ in work-group sizes, register limits, sources per work-item, cache hints and order of sites.
    #[arg(long)]
    search: bool,
    /// Measure all devices together, and none of them alone
    #[arg(long, conflicts_with = "search")]
    together: bool,
    #[command(flatten)]
    pub how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Hop,
    Full,
    CloverHop,
    Clover,
    TwistedHop,
    Twisted,
    TwistedCloverHop,
    TwistedClover,
}

lattice_files::words! {
    Operator, "operator":
    Hop = "hop", "H from the odd sites to the even ones, 1320 flops a site";
    Full = "full" | "wilson", "M = 1 − κH on all sites, 1368 flops a site";
    CloverHop = "clover-hop", "A⁻¹ H with A = 1 + κ c_sw T, 1872 flops a site";
    Clover = "clover", "A − κH on all sites, 1872 flops a site";
    TwistedHop = "twisted-hop", "(1 − 2iκμγ5) H, 1368 flops a site";
    Twisted = "twisted" | "twisted-mass", "1 + 2iκμγ5 − κH on all sites, 1416 flops a site";
    TwistedCloverHop = "twisted-clover-hop", "A⁻¹ H with A = 1 + 2iκμγ5 + κ c_sw T, 1872 flops a site";
    TwistedClover = "twisted-clover", "A − κH with this A on all sites, 1872 flops a site"
}

/// One variant of a kernel, checked and timed.
#[derive(Serialize)]
struct Timed {
    tuning: Tuning,
    /// Relative deviation from the double twin, on the sites that were checked.
    deviation: f64,
    event_seconds: Spread,
    #[serde(skip)]
    samples: Samples,
    #[serde(skip)]
    work: Work,
}

/// Sites at which each kernel is compared with the twin.
const CHECKED_SITES: usize = 500;

/// Checks and times the kernels on each device, then on all devices together.
///
/// [`Session::teams`] tells which. `--search` leaves out all devices together. The rows of one
/// device are those of the first rank.
///
/// # Errors
/// If a device fails, or if a kernel computes something wrong. A wrong kernel is not timed.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    if arguments.search && session.ranks().world().is_some() {
        let message = "--search tries variants on one device, and here are several ranks".to_owned();
        return Err(Failure::usage(message).hint("leave out --search, or start one process"));
    }
    let mut teams = session.teams("stencil", arguments.together)?;
    if arguments.search {
        teams.retain(|(number, _)| number.is_some());
    }
    for (number, team) in &teams {
        let (number, device) = (*number, &team.devices()[0]);
        for &dims in &arguments.storages.dims {
            let name = if number.is_none() && team.len() > 1 { "all devices" } else { device.label() };
            session.report.note(format_args!("{name}: {dims}, random links and spinors"));
            let need = Need::of_stencil(dims, arguments.storages.most_columns());
            need.expect_room(format_args!("random links and spinors of a lattice of {dims}"), Some(device))?;
            let configuration = Arc::new(random::hot(dims, 1));
            let psi = random::spinor_field(dims, 2);
            let case = Case { number, device, team, configuration: &configuration, psi: &psi, arguments };
            for precision in arguments.storages.precisions() {
                match precision {
                    StoragePrecision::Double => case.measure::<f64>(1e-14, session)?,
                    StoragePrecision::Single => case.measure::<f32>(1e-6, session)?,
                    StoragePrecision::Half => case.measure::<Half>(1e-3, session)?,
                }
            }
        }
    }
    Ok(())
}

/// κ of the operators.
///
/// Random links have a large field strength. With these parameters the blocks of the clover term
/// stay positive.
const KAPPA: f64 = 0.13;
const CSW: f64 = 0.5;
const MU: f64 = 0.7;

impl Operator {
    /// Tells whether the operator is a hop from one parity to the other.
    fn is_hop(self) -> bool {
        matches!(
            self,
            Operator::Hop | Operator::CloverHop | Operator::TwistedHop | Operator::TwistedCloverHop
        )
    }

    fn site_term(self) -> SiteTerm {
        match self {
            Operator::Hop | Operator::Full => SiteTerm::Scalar,
            Operator::CloverHop | Operator::Clover => SiteTerm::Clover { csw: CSW, mu: 0.0 },
            Operator::TwistedHop | Operator::Twisted => SiteTerm::Twisted { mu: MU },
            Operator::TwistedCloverHop | Operator::TwistedClover => SiteTerm::Clover { csw: CSW, mu: MU },
        }
    }

    /// Returns the factors of the kernel: the whole operator, or its hop.
    ///
    /// The hop has the remainder of the inverse of A.
    fn factors(self) -> StencilFactors {
        let full = self.site_term().factors(Kappa(KAPPA));
        if self.is_hop() {
            let (_, coefficient) = full.shift.split_inverse();
            StencilFactors { shift: 0.0.into(), coefficient, ..full }
        } else {
            full
        }
    }
}

/// One lattice with its data.
struct Case<'a> {
    /// The number of the device, if it is alone.
    number: Option<usize>,
    /// The first of the team.
    device: &'a Device,
    team: &'a Team,
    configuration: &'a Arc<GaugeConfiguration>,
    psi: &'a [Spinor<f64>],
    arguments: &'a Arguments,
}

/// The fields of one row.
enum Fields<T: Storage> {
    Hop { psi: ParityField<T>, out: ParityField<T> },
    Full { psi: SpinorField<T>, out: SpinorField<T> },
}

/// A kernel variant.
enum Variant<T: Storage> {
    Hop(Box<HopEvenOdd<T>>),
    Full(Box<Dirac<T>>),
}

impl<T: Storage> Fields<T> {
    fn new(
        operator: Operator,
        lattice: &Lattice,
        psi: &[Spinor<f64>],
        sources: usize,
    ) -> Result<Self, Failure> {
        let dims = lattice.dims();
        let sites = |parity: Option<usize>| -> Vec<Spinor<T::Real>> {
            let all = (0..sources).flat_map(|source| (0..dims.volume()).map(move |site| (source, site)));
            all.filter(|&(_, site)| parity.is_none_or(|parity| dims.parity(site) == parity))
                .map(|(source, site)| spinor_of_source(psi, source, site).cast())
                .collect()
        };
        Ok(if operator.is_hop() {
            Fields::Hop {
                psi: lattice.parities_from_host(1, sources, &sites(Some(1)))?,
                out: lattice.parities(0, sources)?,
            }
        } else {
            Fields::Full {
                psi: lattice.spinors_from_host(sources, &sites(None))?,
                out: lattice.spinors(sources)?,
            }
        })
    }

    /// Takes away what a variant has left, which the next one might leave out.
    fn clear(&mut self) -> Result<(), Failure> {
        match self {
            Fields::Hop { out, .. } => *out = out.lattice().parities(out.parity(), out.columns())?,
            Fields::Full { out, .. } => *out = out.lattice().spinors(out.columns())?,
        }
        Ok(())
    }

    fn result(&self) -> Result<Vec<Spinor<T::Real>>, DeviceError> {
        match self {
            Fields::Hop { out, .. } => out.to_host(),
            Fields::Full { out, .. } => out.to_host(),
        }
    }
}

impl<T: Storage> Variant<T> {
    fn new(
        operator: Operator,
        links: &GaugeField<T>,
        sources: usize,
        tuning: Option<Tuning>,
    ) -> Result<Self, Failure> {
        Ok(if operator.is_hop() {
            let options = HopOptions::default().with_columns(sources).with_tuning(tuning);
            Variant::Hop(Box::new(HopEvenOdd::new(links, 0, operator.factors(), options)?))
        } else {
            let options = DiracOptions::default().with_columns(sources).with_tuning(tuning);
            let dirac = Dirac::with_options(links, Kappa(KAPPA), operator.site_term(), options)?;
            Variant::Full(Box::new(dirac))
        })
    }

    fn apply(&self, fields: &mut Fields<T>) -> Result<(), DeviceError> {
        match (self, fields) {
            (Variant::Hop(hop), Fields::Hop { psi, out }) => hop.apply(psi, None, out),
            (Variant::Full(wilson), Fields::Full { psi, out }) => wilson.apply(psi, out),
            _ => unreachable!("the fields are made for the operator"),
        }
    }

    fn apply_observed(&self, fields: &mut Fields<T>) -> Result<Option<Event>, DeviceError> {
        let mut event = None;
        let launched = |of_kernel| event = Some(of_kernel);
        match (self, fields) {
            (Variant::Hop(hop), Fields::Hop { psi, out }) => hop.apply_observed(psi, None, out, launched)?,
            (Variant::Full(wilson), Fields::Full { psi, out }) => {
                wilson.apply_observed(psi, out, launched)?;
            }
            _ => unreachable!("the fields are made for the operator"),
        }
        Ok(event)
    }

    /// Returns the time of a row of launches, by the wall clock and by the device.
    ///
    /// The kernels follow each other like in a solve. Only the first and the last launch have an
    /// event, because events on a small lattice keep the driver busier than the GPU. Several devices
    /// have no common clock.
    fn time_of_row(
        &self,
        fields: &mut Fields<T>,
        launches: u32,
        team: &Team,
    ) -> Result<(Duration, Option<Duration>), DeviceError> {
        let begin = Instant::now();
        if team.len() > 1 {
            (0..launches).try_for_each(|_| self.apply(fields))?;
            team.finish()?;
            return Ok((begin.elapsed(), None));
        }
        let first = self.apply_observed(fields)?;
        for _ in 2..launches {
            self.apply(fields)?;
        }
        let last = if launches > 1 { self.apply_observed(fields)? } else { first.clone() };
        let on_device = first.zip(last).map(|(first, last)| first.until(&last)).transpose()?.flatten();
        Ok((begin.elapsed(), on_device))
    }

    fn work(&self) -> Work {
        match self {
            Variant::Hop(hop) => hop.work(),
            Variant::Full(wilson) => LinearOperator::work(&**wilson),
        }
    }
}

/// Every source is the random field with its sites moved on.
fn spinor_of_source(psi: &[Spinor<f64>], source: usize, site: usize) -> Spinor<f64> {
    psi[(site + 37 * source) % psi.len()]
}

impl Case<'_> {
    fn measure<T: Storage>(&self, bound: f64, session: &mut Session<'_>) -> Result<(), Failure> {
        if let Some(number) = self.number {
            session.arithmetic(number, T::Real::PRECISION)?;
        }
        let dims = self.configuration.dims();
        let lattice = Lattice::new(self.team, dims)?;
        for reconstruction in self.arguments.storages.reconstructions() {
            let boundary = Boundary::antiperiodic_t();
            let links = lattice.gauge_in::<T>(self.configuration, boundary, reconstruction)?;
            let links = links.with_clover(Arc::clone(self.configuration))?;
            for &operator in &self.arguments.operator {
                for sources in self.arguments.storages.columns() {
                    let Some((best, tried)) = self.best(&links, operator, sources, bound, session)? else {
                        return Ok(());
                    };
                    let subject = Subject::new(Benchmark::Stencil, operator.to_string());
                    let subject = match (self.number, self.team.ranks()) {
                        (Some(number), _) => subject.on(number),
                        (None, Some(world)) => subject
                            .with("ranks", world.size())
                            .with("ranks_grid", lattice.ranks_grid().to_string()),
                        (None, None) => subject.by_the_wall(),
                    };
                    let mut subject = subject
                        .with("dims", dims.to_string())
                        .with("precision", T::STORAGE.to_string())
                        .with("links", reconstruction.reals())
                        .with("rhs", sources)
                        .bytes(best.work.bytes)
                        .flops(best.work.flops)
                        .found("variant", describe(&best.tuning))
                        .found("deviation", best.deviation)
                        .found("tuning", json(&best.tuning));
                    if self.arguments.search {
                        subject = subject.found("tried", json(&tried));
                    }
                    session.push(subject, best.samples);
                }
            }
        }
        Ok(())
    }

    /// Returns the variant that a solve uses, or with `--search` the best of all.
    ///
    /// All timed variants follow. `None` after Ctrl-C.
    fn best<T: Storage>(
        &self,
        links: &GaugeField<T>,
        operator: Operator,
        sources: usize,
        bound: f64,
        session: &Session<'_>,
    ) -> Result<Option<(Timed, Vec<Timed>)>, Failure> {
        // The variant that a solve would use now.
        let chosen = match Variant::new(operator, links, sources, None)? {
            Variant::Hop(hop) => hop.tuning(),
            Variant::Full(wilson) => wilson.tuning(),
        };
        let chosen = chosen.expect("the kernels of a device are of some variant");
        let mut fields = Fields::new(operator, links.lattice(), self.psi, sources)?;
        let mut time = |tuning| {
            let variant = Variant::new(operator, links, sources, Some(tuning))?;
            self.time(
                &variant,
                &mut fields,
                (operator, links.reconstruction(), sources, tuning),
                bound,
                session,
            )
        };
        let mut tried = Vec::new();
        let Some(mut best) = time(chosen)? else { return Ok(None) };
        if !self.arguments.search {
            return Ok(Some((best, tried)));
        }
        let Some(extents) = links.lattice().lane_extents(T::STORAGE) else { return Ok(Some((best, tried))) };
        // Steps run in order, because each starts from the best variant of the step before.
        for step in tuning_steps(self.device, extents, sources) {
            for tuning in step(&best.tuning) {
                match time(tuning) {
                    Ok(None) => return Ok(None),
                    Ok(Some(timed)) if timed.event_seconds.median < best.event_seconds.median => {
                        tried.push(std::mem::replace(&mut best, timed));
                    }
                    Ok(Some(timed)) => tried.push(timed),
                    // A group that is too large for so many registers.
                    Err(failure) if failure.status == Status::Device => {
                        session.report.note(format_args!("{tuning:?}: {}", failure.error));
                    }
                    Err(failure) => return Err(failure),
                }
            }
        }
        Ok(Some((best, tried)))
    }

    /// Checks one variant, then times it; `None` after Ctrl-C.
    fn time<T: Storage>(
        &self,
        variant: &Variant<T>,
        fields: &mut Fields<T>,
        (operator, reconstruction, sources, tuning): (Operator, Reconstruction, usize, Tuning),
        bound: f64,
        session: &Session<'_>,
    ) -> Result<Option<Timed>, Failure> {
        let dims = self.configuration.dims();
        fields.clear()?;
        variant.apply(fields)?;
        let found = fields.result()?;
        let deviation = found
            .chunks(found.len() / sources)
            .enumerate()
            .map(|(source, found)| self.deviation(operator, source, found))
            .fold(0.0, larger);
        if deviation > bound || deviation.is_nan() {
            let error = anyhow::anyhow!(
                "{dims} {} with {reconstruction} reals a link and {sources} sources deviates by {deviation:.1e} from the \
                 host (at most {bound:.0e} allowed): not timed",
                T::STORAGE
            );
            return Err(Failure::new(Status::Failed, error));
        }
        let mut in_a_row = 1;
        let samples = session.samples(|_| {
            let launches = in_a_row;
            let (wall, on_device) = variant.time_of_row(fields, launches, self.team)?;
            // All ranks make equally many launches, because they work together.
            let decided = session.ranks().first_decides((wall.as_nanos() as u64).to_le_bytes())?;
            let decided = Duration::from_nanos(u64::from_le_bytes(decided));
            in_a_row = longer_batch(launches, decided).unwrap_or(launches);
            let on_device = on_device.filter(|_| self.team.ranks().is_none());
            Ok((wall / launches, on_device.map(|duration| duration / launches)))
        })?;
        let has_events = !samples.event.is_empty();
        let spread = Spread::of(if has_events { &samples.event } else { &samples.wall });
        let work = variant.work();
        Ok(spread.map(|event_seconds| Timed { tuning, deviation, event_seconds, samples, work }))
    }

    /// Returns the relative deviation of a source's result from the double twin.
    ///
    /// The comparison takes sites that are spread over the lattice.
    fn deviation<R: lattice_cl::Real>(&self, operator: Operator, source: usize, found: &[Spinor<R>]) -> f64 {
        let dims = self.configuration.dims();
        let step = (found.len() / CHECKED_SITES).max(1) | 1;
        let link = |site, mu| link_with_phase(self.configuration, Boundary::antiperiodic_t(), site, mu);
        let psi = |site: usize| spinor_of_source(self.psi, source, site);
        let (mut difference, mut norm) = (0.0, 0.0);
        for index in (0..found.len()).step_by(step) {
            let (site, own) = if operator.is_hop() {
                (2 * index + dims.parity(2 * index), None)
            } else {
                (index, Some(psi(index)))
            };
            let hopped = hop(dims, false, link, psi, site);
            let factors = operator.factors();
            let matrices = [factors.shift.matrix, factors.coefficient.matrix];
            let numbers = matrices.map(|matrix| {
                let stored = matrix.stored()?;
                Some(
                    stored
                        .at(&**self.configuration, [1.0; 2], site)
                        .expect("the blocks of these links are positive"),
                )
            });
            let blocks = std::array::from_fn(|k| {
                let BlockUse { layout, adjoint } = matrices[k].block_use()?;
                Some(SiteBlocks { layout, adjoint, numbers: numbers[k].as_deref()? })
            });
            let expected = factors.combine(own.as_ref(), &hopped, blocks);
            let found = found[index].cast::<f64>();
            difference += Spinor::from_fn(|s, c| found.0[s][c] - expected.0[s][c]).norm2();
            norm += expected.norm2();
        }
        (difference / norm).sqrt()
    }
}

/// A variant is a plain structure.
fn json(value: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}
