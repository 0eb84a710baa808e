//! What a user prepares and evaluates.

use super::basis::Basis;
use super::density::Density;
use super::device::{OnDevice, Source, least_bytes, most_values};
use super::error::{XcError, XcResult};
use super::functional::Functional;
use super::grid::Grid;
use super::groups::{Group, Rules, grouped};
use super::host::{self, Sums};
use super::stages::StageTime;
use super::tables::values_of;
use derive_setters::Setters;
use lattice_compute::parallel::*;
use lattice_compute::schedule::{Balance, Move, fit, imbalance};
use lattice_compute::{Device, DeviceError, DeviceKind, Team, available_memory};
use lattice_files::threads::together;
use std::time::Instant;

/// Side of a cube on processors, in bohr.
const CUBE_ON_PROCESSORS: f64 = 3.0;

/// Side of a cube on other devices, in bohr.
const CUBE_ON_OTHERS: f64 = 7.0;

/// Evaluations that share what it costs to give a group to another device.
const EVALUATIONS: f64 = 10.0;

/// The numbers on devices. Functionals and energies are in double always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// Double everywhere.
    #[default]
    Double,
    /// Functions and products in single, densities and sums over groups in double: for devices that are slow in double.
    Mixed,
    /// As `Mixed`, but densities and sums are pairs of numbers in single, and the host evaluates functionals: for devices
    /// without double.
    Single,
}

lattice_files::words! {
    Numbers, "precision":
    Double = "double", "Everything in double";
    Mixed = "mixed", "Functions and products in single; densities, energies and sums over groups in double";
    Single = "single", "As mixed, with sums of two numbers in single instead of double: for devices without double"
}

impl Numbers {
    /// Returns the bytes of a function's value.
    fn bytes(self) -> usize {
        match self {
            Self::Double => size_of::<f64>(),
            Self::Mixed | Self::Single => size_of::<f32>(),
        }
    }
}

/// How a plan is made.
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Options {
    /// The numbers of functions and products on devices. The host computes in double.
    pub numbers: Numbers,
    /// Side of a cube of points in bohr; `None` for what suits the devices.
    pub cube: Option<f64>,
    /// A shell is left out of a group where |R(d)| dˡ is nowhere larger; 0 leaves none out.
    pub screen: f64,
    /// Bytes on each device for functions; `None` for half of what is free.
    pub memory: Option<u64>,
}

impl Default for Options {
    /// Returns double precision, cubes that suit the devices, 1e-10, half of the free memory.
    fn default() -> Self {
        Self { numbers: Numbers::default(), cube: None, screen: 1e-10, memory: None }
    }
}

/// The least, the median and the most of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// The least.
    pub least: usize,
    /// The median.
    pub median: usize,
    /// The most.
    pub most: usize,
}

/// What a plan consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanInfo {
    /// Points of the grid.
    pub points: usize,
    /// Points in groups: those with a weight, where functions are significant.
    pub kept_points: usize,
    /// Number of groups.
    pub groups: usize,
    /// Spheres around nuclei, before cuts.
    pub spheres: usize,
    /// Groups that were cut in halves.
    pub cuts: usize,
    /// Points of a group.
    pub points_of_groups: Spread,
    /// Functions of a group.
    pub functions_of_groups: Spread,
    /// Operations of the products of one evaluation without polarisation, in 10⁹.
    pub gflop: f64,
    /// The same if all functions were significant everywhere.
    pub gflop_dense: f64,
    /// Bytes for functions on all devices; 0 on the host.
    pub budget_bytes: u64,
    /// Bytes of functions that are kept.
    pub kept_bytes: u64,
    /// Groups whose functions are kept.
    pub kept_groups: usize,
}

/// An exchange-correlation energy, and what came with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Xc {
    /// The energy in hartree.
    pub energy: f64,
    /// Electrons of spin up and of spin down on the grid; without polarisation half of them each.
    pub electrons: [f64; 2],
    /// The matrix in hartree, row after row: one for both spins, or that of each.
    pub matrices: Vec<Vec<f64>>,
    /// What each device had to do.
    pub shares: Vec<Share>,
    /// Groups that have gone to another device since, so that the next evaluation is in balance.
    pub moves: Vec<Move>,
}

impl Xc {
    /// Returns the longest time of a device that has groups over the shortest, less 1.
    pub fn imbalance(&self) -> f64 {
        let busy = self.shares.iter().filter(|share| share.groups > 0);
        imbalance(&busy.map(|share| share.seconds).collect::<Vec<_>>())
    }
}

/// What a device had to do in an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The device, or `host`.
    pub label: String,
    /// Number of its groups.
    pub groups: usize,
    /// Its time, without making functions that are kept.
    pub seconds: f64,
}

/// Groups in the memory of one device.
enum DeviceGroups {
    Double(OnDevice<f64, f64>),
    Mixed(OnDevice<f32, f64>),
    Single(OnDevice<f32, f32>),
}

/// Does the same with the groups of a device, whatever their numbers are.
macro_rules! with_groups {
    ($groups:expr, $name:ident => $result:expr) => {
        match $groups {
            DeviceGroups::Double($name) => $result,
            DeviceGroups::Mixed($name) => $result,
            DeviceGroups::Single($name) => $result,
        }
    };
}

/// What a device is expected to need.
struct Speed {
    /// Seconds for each group.
    times: Vec<f64>,
    /// Seconds of each evaluation that it costs to take each group: its functions are made anew.
    migration: Vec<f64>,
}

/// A device of the team.
struct Member {
    device: Device,
    budget: u64,
    groups: DeviceGroups,
}

/// A prepared evaluation for a basis, a grid and the devices of a team.
///
/// ```
/// use lattice_compute::Team;
/// use lattice_xc::{Atom, Basis, Density, Functional, Grid, Options, Plan, Shell};
///
/// // One electron pair in one Gaussian, on the points of a cube.
/// let norm = (4.0 * std::f64::consts::PI).sqrt() * (2.0 / std::f64::consts::PI).powf(0.75);
/// let shell = Shell { atom: 0, momentum: 0, is_cartesian: false, primitives: vec![[1.0, norm]] };
/// let basis = Basis::new(vec![Atom { charge: 2, position: [0.0; 3] }], vec![shell])?;
/// let at = |k: usize| 0.3 * k as f64 - 4.2;
/// let points = (0..29 * 29 * 29).map(|k| [at(k / 841), at(k / 29 % 29), at(k % 29)]).collect();
/// let grid = Grid::new(points, vec![0.027; 29 * 29 * 29])?;
/// let mut plan = Plan::new(&Team::host(), &basis, &grid, Options::default())?;
/// let xc = plan.evaluate(&Density::new(1, vec![2.0])?, Functional::Svwn5)?;
/// assert!((xc.electrons[0] + xc.electrons[1] - 2.0).abs() < 1e-6);
/// # Ok::<(), lattice_xc::XcError>(())
/// ```
pub struct Plan {
    basis: Basis,
    grid: Grid,
    groups: Vec<Group>,
    members: Vec<Member>,
    /// Which device has which groups; `None` unless there are several.
    balance: Option<Balance>,
    info: PlanInfo,
}

/// Returns the least, the median and the most.
fn spread(values: impl Iterator<Item = usize>) -> Spread {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    match values[..] {
        [] => Spread::default(),
        [least, .., most] => Spread { least, median: values[values.len() / 2], most },
        [one] => Spread { least: one, median: one, most: one },
    }
}

/// Returns half of what is free on a device, for one of so many on the same processor.
fn half_of_free(device: &Device, devices: usize) -> u64 {
    let info = device.info();
    match info.kind {
        DeviceKind::Cpu => {
            available_memory().unwrap_or(info.memory_bytes).min(info.memory_bytes) / 2 / devices as u64
        }
        _ => info.memory_bytes / 2,
    }
}

impl Plan {
    /// Prepares evaluations on the devices of a team, or on the host.
    ///
    /// # Errors
    /// [`XcError::Option`]; [`XcError::Budget`]; too little memory; a failure of a device.
    pub fn new(team: &Team, basis: &Basis, grid: &Grid, options: Options) -> XcResult<Self> {
        let on_processors = team.devices().iter().all(|device| device.info().kind == DeviceKind::Cpu);
        let cube = options.cube.unwrap_or(if on_processors { CUBE_ON_PROCESSORS } else { CUBE_ON_OTHERS });
        let bad = |option, value, wanted| Err(XcError::Option { option, value, wanted });
        if !(cube.is_finite() && cube > 0.0) {
            return bad("the side of a cube", cube, "give a positive number of bohr");
        }
        if !(options.screen >= 0.0 && options.screen < 1.0) {
            return bad("the screen", options.screen, "give a number from 0 up to 1");
        }
        let devices = team.devices();
        let rules = Rules { cube, screen: options.screen, parts: 8 * devices.len().max(1) };
        let found = grouped(basis, grid, rules);
        let groups = found.groups;
        let mut info = PlanInfo {
            points: grid.points().len(),
            kept_points: groups.iter().map(|group| group.points.len()).sum(),
            groups: groups.len(),
            spheres: found.spheres,
            cuts: found.cuts,
            points_of_groups: spread(groups.iter().map(|group| group.points.len())),
            functions_of_groups: spread(groups.iter().map(|group| group.functions)),
            gflop: groups.iter().map(|group| gflop(group.points.len(), group.functions)).sum(),
            gflop_dense: gflop(grid.points().len(), basis.functions()),
            budget_bytes: 0,
            kept_bytes: 0,
            kept_groups: 0,
        };
        if let (Some(device), true) =
            (devices.iter().find(|device| !device.info().fp64), options.numbers != Numbers::Single)
        {
            return Err(XcError::NoDouble { device: device.label().to_owned() });
        }
        let budget = |device: &Device| options.memory.unwrap_or_else(|| half_of_free(device, devices.len()));
        let source = Source { basis, grid, groups: &groups };
        let speeds: Vec<Speed> = match devices {
            [] | [_] => Vec::new(),
            _ => devices
                .iter()
                .map(|device| Speed::measure(options.numbers, device, source, budget(device)))
                .collect::<XcResult<_>>()?,
        };
        let (times, migration): (Vec<_>, Vec<_>) =
            speeds.into_iter().map(|speed| (speed.times, speed.migration)).unzip();
        let fits_nowhere =
            |job: &usize| devices.len() > 1 && times.iter().all(|times: &Vec<f64>| times[*job].is_infinite());
        if let Some(group) = (0..groups.len()).find(fits_nowhere) {
            let wanted = least_bytes([&groups[group]], options.numbers.bytes());
            return Err(XcError::Budget { budget: devices.iter().map(budget).max().unwrap_or(0), wanted });
        }
        let balance = (devices.len() > 1).then(|| Balance::new(times, migration));
        let all = [(0..groups.len()).collect()];
        let jobs: &[Vec<usize>] = balance.as_ref().map_or(&all, Balance::jobs);
        let mut members = Vec::new();
        for (device, mine) in devices.iter().zip(jobs) {
            let groups = DeviceGroups::new(options.numbers, device, source, mine, budget(device))?;
            members.push(Member { device: device.clone(), budget: budget(device), groups });
        }
        info.budget_bytes = members.iter().map(|member| member.budget).sum();
        let mut plan = Self { basis: basis.clone(), grid: grid.clone(), groups, members, balance, info };
        plan.count_kept();
        Ok(plan)
    }

    /// Counts what is kept on the devices.
    fn count_kept(&mut self) {
        let caches = self.members.iter().map(|member| with_groups!(&member.groups, groups => groups.cache()));
        (self.info.kept_bytes, self.info.kept_groups) =
            caches.fold((0, 0), |(bytes, groups), cache| (bytes + cache.bytes, groups + cache.groups));
    }

    /// Returns what the plan consists of.
    pub fn info(&self) -> &PlanInfo {
        &self.info
    }

    fn check(&self, density: &Density) -> XcResult<()> {
        let functions = self.basis.functions();
        if density.functions() != functions {
            let found = density.functions() * density.functions();
            return Err(XcError::DensitySize { functions, found });
        }
        Ok(())
    }

    /// Computes energy, electrons and matrix of a density matrix.
    ///
    /// # Errors
    /// [`XcError::DensitySize`]; a failure of a device.
    pub fn evaluate(&mut self, density: &Density, functional: Functional) -> XcResult<Xc> {
        self.check(density)?;
        if self.members.is_empty() {
            let began = Instant::now();
            let sums = host::evaluate(&self.basis, &self.grid, &self.groups, density, functional);
            let seconds = began.elapsed().as_secs_f64();
            let share = Share { label: "host".to_owned(), groups: self.groups.len(), seconds };
            return Ok(Xc::new(sums, vec![share], Vec::new()));
        }
        let found = at_once(&mut self.members, |member| {
            with_groups!(&mut member.groups, groups => match groups.is_empty() {
                true => Ok(None),
                false => groups.evaluate(density, functional).map(Some),
            })
        })?;
        let began = Instant::now();
        let mut shares = Vec::new();
        for (number, (member, found)) in self.members.iter().zip(&found).enumerate() {
            let groups =
                self.balance.as_ref().map_or(self.groups.len(), |balance| balance.jobs()[number].len());
            let seconds = found.as_ref().map_or(0.0, |(_, seconds)| *seconds);
            shares.push(Share { label: member.device.label().to_owned(), groups, seconds });
        }
        let mut sums = found.into_iter().flatten().map(|(sums, _)| sums);
        let first = sums.next().unwrap_or_else(|| Sums {
            energy: 0.0,
            electrons: [0.0; 2],
            matrices: density.spins().iter().map(|spin| vec![0.0; spin.len()]).collect(),
        });
        let sums = sums.fold(first, added);
        let moves = self.rebalance(&shares, began.elapsed().as_secs_f64())?;
        Ok(Xc::new(sums, shares, moves))
    }

    /// Returns the device that gets no groups, because the others are as fast without it.
    pub fn left_out(&self) -> Option<&str> {
        let number = self.balance.as_ref()?.left_out()?;
        Some(self.members[number].device.label())
    }

    /// Moves groups from slow devices to fast ones, after an evaluation whose sums over devices took so many seconds.
    fn rebalance(&mut self, shares: &[Share], adding: f64) -> XcResult<Vec<Move>> {
        let Self { basis, grid, groups, members, balance: Some(balance), .. } = self else {
            return Ok(Vec::new());
        };
        let seconds: Vec<f64> = shares.iter().map(|share| share.seconds).collect();
        let whole = seconds.iter().copied().fold(0.0, f64::max) + adding;
        let was_left_out = balance.left_out().is_some();
        let moves = balance.after(&seconds, whole);
        let is_settled = !was_left_out && balance.left_out().is_some();
        let source = Source { basis, grid, groups };
        for (number, member) in members.iter_mut().enumerate() {
            let of = |has: fn(&Move) -> usize, lacks: fn(&Move) -> usize| {
                // A group may come and go on.
                let went = |job: usize| moves.iter().any(|step| step.job == job && lacks(step) == number);
                let jobs = moves.iter().filter(|step| has(step) == number && !went(step.job));
                jobs.map(|step| step.job).collect::<Vec<_>>()
            };
            let (gone, come) = (of(|step| step.from, |step| step.to), of(|step| step.to, |step| step.from));
            if !gone.is_empty() {
                with_groups!(&mut member.groups, groups => groups.remove(source, &gone))?;
            }
            if !come.is_empty() {
                with_groups!(&mut member.groups, groups => groups.insert(source, &come))?;
            }
            if is_settled {
                with_groups!(&mut member.groups, groups => groups.settle(source))?;
            }
        }
        self.count_kept();
        Ok(moves)
    }

    /// Returns the number of points of a group, and of its functions.
    pub fn size_of_group(&self, group: usize) -> Option<[usize; 2]> {
        self.groups.get(group).map(|group| [group.points.len(), group.functions])
    }

    /// Times the stages of an evaluation on each device, with making all functions anew.
    ///
    /// Devices are waited for after each stage. The host has no stages.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn stages(&mut self, density: &Density, functional: Functional) -> XcResult<Vec<Vec<StageTime>>> {
        self.check(density)?;
        at_once(
            &mut self.members,
            |member| with_groups!(&mut member.groups, groups => groups.stages(density, functional)),
        )
    }

    /// Computes the derivative of the energy by the position of each atom, in hartree/bohr.
    ///
    /// Grid and density matrix stay as they are: only the functions of the atom move.
    ///
    /// # Errors
    /// [`XcError::DensitySize`]; too little memory; a failure of a device.
    pub fn gradient(&mut self, density: &Density, functional: Functional) -> XcResult<Vec<[f64; 3]>> {
        self.check(density)?;
        let Self { basis, grid, groups, members, .. } = self;
        if members.is_empty() {
            return Ok(host::gradient(basis, grid, groups, density, functional));
        }
        let atoms = basis.atoms().len();
        let basis = &*basis;
        let found = at_once(members, |member| {
            let mut found = vec![[0.0; 3]; atoms];
            with_groups!(&mut member.groups, groups => groups.add_gradient(basis, density, functional, &mut found))?;
            Ok(found)
        })?;
        let mut sums = vec![[0.0; 3]; atoms];
        for found in found {
            for (sum, part) in sums.as_flattened_mut().iter_mut().zip(found.as_flattened()) {
                *sum += part;
            }
        }
        Ok(sums)
    }
}

/// Operations of both products of a group in 10⁹.
fn gflop(points: usize, functions: usize) -> f64 {
    4.0 * points as f64 * (functions * functions) as f64 / 1e9
}

/// Adds the sums of another device.
fn added(mut sums: Sums, more: Sums) -> Sums {
    sums.energy += more.energy;
    sums.electrons.iter_mut().zip(more.electrons).for_each(|(sum, part)| *sum += part);
    for (matrix, more) in sums.matrices.iter_mut().zip(more.matrices) {
        matrix.par_iter_mut().zip(more).with_min_len(1 << 14).for_each(|(sum, part)| *sum += part);
    }
    sums
}

/// Does something on all devices at once, and returns the results in their order.
fn at_once<R: Send>(
    members: &mut [Member],
    work: impl Fn(&mut Member) -> XcResult<R> + Sync,
) -> XcResult<Vec<R>> {
    let is_busy = |member: &&Member| with_groups!(&member.groups, groups => !groups.is_empty());
    if members.iter().filter(is_busy).count() < 2 {
        return members.iter_mut().map(work).collect();
    }
    let work = &work;
    let all = together(members.iter_mut().map(|member| move || work(member)));
    all.map_err(DeviceError::from)?.into_iter().collect()
}

/// Returns ten ranges of groups of all sizes, by whose times devices are compared.
///
/// A range ends at each tenth of the groups. It is as wide as a batch of the device, so that what each launch costs is shared as in
/// an evaluation. No range has more than a fortieth of all, unless it is one group.
fn ladder(groups: &[Group], batch: usize) -> Vec<std::ops::Range<usize>> {
    let all: usize = groups.iter().map(values_of).sum();
    let most = batch.min(all / 40);
    let range = |step: usize| {
        let end = (step + 1) * groups.len() / 10;
        let (mut begin, mut values) = (end, 0);
        while begin > 0 {
            values += values_of(&groups[begin - 1]);
            if begin < end && values > most {
                break;
            }
            begin -= 1;
        }
        begin..end
    };
    let mut ladder: Vec<_> = (0..10).map(range).collect();
    ladder.dedup();
    ladder.retain(|range| !range.is_empty());
    ladder
}

impl Speed {
    /// Times a ladder of groups, and fits what all groups take: by their operations or by their bytes, whichever fits better.
    fn measure(numbers: Numbers, device: &Device, source: Source<'_>, budget: u64) -> XcResult<Self> {
        let groups = source.groups;
        let fits = |group: &Group| least_bytes([group], numbers.bytes()) <= budget;
        let work = |group: &Group| group.points.len() as f64 * (group.functions * group.functions) as f64;
        let bytes = |group: &Group| values_of(group) as f64;
        let functions = source.basis.functions();
        // Not zeros, so that functionals are evaluated.
        let diagonal = |e: usize| if e / functions == e % functions { 1.0 } else { 0.0 };
        let unit = Density::new(functions, (0..functions * functions).map(diagonal).collect())?;
        let (mut measured, mut making) = (Vec::new(), f64::INFINITY);
        let mut sizes = [Vec::new(), Vec::new()];
        let batch = most_values(device, budget, numbers.bytes());
        for range in ladder(groups, batch) {
            let jobs: Vec<usize> = range.filter(|&job| fits(&groups[job])).collect();
            if jobs.is_empty() {
                continue;
            }
            let mut on_device = DeviceGroups::new(numbers, device, source, &jobs, budget)?;
            let [seconds, of_value] =
                with_groups!(&mut on_device, groups => groups.warm_seconds(&unit, Functional::Pbe))?;
            let count = jobs.len() as f64;
            measured.push(seconds / count);
            making = making.min(of_value);
            for (sizes, size) in sizes.iter_mut().zip([&work as &dyn Fn(&Group) -> f64, &bytes]) {
                sizes.push(jobs.iter().map(|&job| size(&groups[job])).sum::<f64>() / count);
            }
        }
        if measured.is_empty() {
            let none = vec![f64::INFINITY; groups.len()];
            return Ok(Self { times: none.clone(), migration: none });
        }
        let [by_work, by_bytes] = sizes.map(|sizes| fit(&sizes, &measured));
        let seconds = |group: &Group| match (fits(group), by_work.error <= by_bytes.error) {
            (false, _) => f64::INFINITY,
            (true, true) => by_work.seconds(work(group)),
            (true, false) => by_bytes.seconds(bytes(group)),
        };
        Ok(Self {
            times: groups.iter().map(seconds).collect(),
            migration: groups.iter().map(|group| making * bytes(group) / EVALUATIONS).collect(),
        })
    }
}

impl Xc {
    fn new(sums: Sums, shares: Vec<Share>, moves: Vec<Move>) -> Self {
        let Sums { energy, electrons, matrices } = sums;
        Self { energy, electrons, matrices, shares, moves }
    }
}

impl DeviceGroups {
    /// Prepares groups on a device.
    fn new(
        numbers: Numbers,
        device: &Device,
        source: Source<'_>,
        jobs: &[usize],
        budget: u64,
    ) -> XcResult<Self> {
        let wanted = least_bytes(jobs.iter().map(|&job| &source.groups[job]), numbers.bytes());
        if wanted > budget {
            return Err(XcError::Budget { budget, wanted });
        }
        Ok(match numbers {
            Numbers::Double => DeviceGroups::Double(OnDevice::new(device, source, jobs, budget)?),
            Numbers::Mixed => DeviceGroups::Mixed(OnDevice::new(device, source, jobs, budget)?),
            Numbers::Single => DeviceGroups::Single(OnDevice::new(device, source, jobs, budget)?),
        })
    }
}
