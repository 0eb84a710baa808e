//! The kernels of the stencil as something to be tuned.

use super::super::site_terms::SiteTerm;
use super::application::{Fields, Stencil};
use super::kernels::kernel_key;
use super::parts::{Ending, EndingFields};
use super::task::{Region, Task};
use super::variants::Tuning;
use crate::compute::parallel::*;
use crate::compute::{Device, DeviceError, DeviceKind, KernelKey, Number, Team};
use crate::field::{BlockField, GaugeField, LinkFormat, Sites, Spinors};
use crate::geometry::{Dims, Lattice, LatticeError, NDIM, Shard};
use crate::host::{Spinor, StencilFactors, random};
use crate::scalar::{Real, Storage};
use crate::tuning::{self, Key, RenewError, Step, Tunable, TuningResult, sites_class, time_of_launch};
use num_complex::Complex;
use std::sync::Arc;
use std::time::Duration;

/// Returns the variants that are worth trying, in steps.
///
/// On GPUs the steps are:
/// * work-groups, registers and columns in a work-item;
/// * order of sites and cache hints;
/// * boxes;
/// * rounds.
///
/// Compilers for processors may not have the time for all steps. So on processors prefetches come
/// first, then rounds, order of sites and cache hints, then the others.
///
/// `extents` belong to a sub-lattice: all of the domain, on devices with one lane.
pub fn steps<'a>(device: &Device, extents: [usize; NDIM], columns: usize) -> Vec<Step<'a, Tuning>> {
    let processor = device.info().kind == DeviceKind::Cpu;
    let (register_limit, hints) = (device.supports_register_limit(), device.supports_inline_ptx());
    let resources = move |from: &Tuning| {
        let groups: &[usize] = if processor { &[1, 2, 4, 8, 16] } else { &[16, 32, 64, 128, 256] };
        let registers: &[Option<u32>] =
            if register_limit { &[Some(96), Some(128), Some(168), Some(255)] } else { &[None] };
        let shares: &[bool] = if columns > 1 && !processor { &[false, true] } else { &[false] };
        let mut variants = Vec::new();
        for columns_per_item in [1, 2, 4].into_iter().filter(|&count| columns.is_multiple_of(count)) {
            for &work_group in groups {
                // A GPU's group has two warps at least, and its registers are for so many
                // work-items only.
                let items = work_group * columns / columns_per_item;
                if processor || (64..=256).contains(&items) {
                    // The number of blocks of a work-group stays, in a share or one after the
                    // other.
                    let rounds = if processor { (from.rounds / work_group).max(1) } else { from.rounds };
                    for &share_links in shares {
                        let variant = |&max_registers| Tuning {
                            work_group,
                            columns_per_item,
                            share_links,
                            max_registers,
                            rounds,
                            ..*from
                        };
                        variants.extend(registers.iter().map(variant));
                    }
                }
            }
        }
        variants
    };
    let orders_and_hints = move |from: &Tuning| {
        let z = extents[2];
        let tiles =
            [0, 4, 8, 12, 16, 24].into_iter().filter(|&tile| tile < z && z.is_multiple_of(tile.max(1)));
        let hints: &[(bool, bool)] = match (hints, processor) {
            (true, _) => &[(false, false), (true, false), (false, true), (true, true)],
            (false, true) => &[(false, false), (false, true)],
            (false, false) => &[(false, false)],
        };
        let variant =
            |tile_z, (stream_links, stream_output)| Tuning { tile_z, stream_links, stream_output, ..*from };
        tiles.flat_map(|tile| hints.iter().map(move |&hints| variant(tile, hints))).collect()
    };
    let boxes = move |from: &Tuning| {
        let even = extents[1..].iter().all(|extent| extent.is_multiple_of(2));
        let boxes: &[bool] = if even { &[false, true] } else { &[] };
        boxes.iter().map(|&boxes| Tuning { boxes, ..*from }).collect()
    };
    let rounds = move |from: &Tuning| {
        let rounds: &[usize] = match (processor, register_limit && columns == 1) {
            (true, _) => &[1, 8, 32, 128],
            (false, true) => &[1, 4, 16, 64],
            (false, false) => &[],
        };
        rounds.iter().map(|&rounds| Tuning { rounds, ..*from }).collect()
    };
    let prefetches =
        move |from: &Tuning| [0, 1, 2].into_iter().map(|prefetch| Tuning { prefetch, ..*from }).collect();
    if processor {
        return vec![Box::new(prefetches), Box::new(rounds), Box::new(orders_and_hints), Box::new(resources)];
    }
    vec![Box::new(resources), Box::new(orders_and_hints), Box::new(boxes), Box::new(rounds)]
}

impl<T: Storage> Stencil<T> {
    /// Makes the stencil with `tuning`, or with the best known variant.
    pub fn new(links: &GaugeField<T>, task: Task, tuning: Option<Tuning>) -> Result<Self, DeviceError> {
        Self::in_variants(links, task, |shard| match tuning {
            Some(tuning) => expect_runs(tuning, &shard.device, task),
            None => Ok(chosen(shard, links, task)),
        })
    }
}

/// Returns the variant that a caller asks for, if the device can run it.
fn expect_runs(tuning: Tuning, device: &Device, task: Task) -> Result<Tuning, DeviceError> {
    match tuning.complaint(device, task.columns) {
        None => Ok(tuning),
        Some(reason) => {
            let local = [tuning.work_group, 1, 1];
            Err(DeviceError::InvalidRange { kernel: "wilson".to_owned(), global: local, local, reason })
        }
    }
}

/// Returns the variant that a domain uses unless another is asked for.
fn chosen<T: Storage>(shard: &Shard, links: &GaugeField<T>, task: Task) -> Tuning {
    if task.ending.is_of_block() {
        // There is little to choose.
        return shipped::<T>(shard, links.format(), task);
    }
    tuning::choose(&StencilKernel { shard, links, task })
}

/// Returns the variant like [`chosen`], if it is known without a search.
fn known<T: Storage>(shard: &Shard, links: &LinkFormat, task: Task) -> Tuning {
    if task.ending.is_of_block() {
        return shipped::<T>(shard, links, task);
    }
    let complaint = |tuning: &Tuning| complaint(shard, task, tuning);
    tuning::known(&shard.device, &key::<T>(shard, links, task), complaint, || {
        shipped::<T>(shard, links, task)
    })
}

/// Returns the key of the kernels that a domain uses by default for a task.
///
/// No variant is searched for.
pub(crate) fn known_key<T: Storage>(shard: &Shard, links: &LinkFormat, task: Task) -> KernelKey {
    let layout = shard.layout(T::STORAGE);
    let tuning = known::<T>(shard, links, task).fitting(&shard.device, &layout, links.reconstruction, task);
    kernel_key::<T>(shard, links, task, tuning)
}

/// The result of a search for one kernel.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The kernel, its options and the class of extents.
    pub key: Key,
    /// The variant that is used untuned.
    pub shipped: Tuning,
    /// The variant that was found.
    pub found: TuningResult<Tuning>,
}

/// Returns the number of kernels that [`tune_stencil`] tunes for `columns` fields.
pub fn kernels_to_tune(columns: usize) -> usize {
    tasks_to_tune(SiteTerm::Scalar, columns).len()
}

/// Returns the full operator, and the hops of its Schur complement.
///
/// The hop to odd sites ends with the inverse of the operator's site term. The hop back adds the
/// site term itself.
fn tasks_to_tune(site_term: SiteTerm, columns: usize) -> Vec<Task> {
    let factors = site_term.typical_factors();
    let (_, inverse) = factors.shift.split_inverse();
    let hop = StencilFactors { shift: 0.0.into(), coefficient: inverse, ..factors };
    let [to_odd, to_even] = [false, true].map(|shift| Region::Parity { parity: 0, shift });
    let all = [(factors, Region::Full), (hop, to_odd), (factors, to_even)];
    let task = |ending| move |(factors, region)| Task { factors, region, ending, columns };
    // The operators of solves end with sums.
    let with_products = all.into_iter().filter(|&(_, region)| columns == 1 && region != to_odd);
    all.into_iter().map(task(Ending::Store)).chain(with_products.map(task(Ending::Products))).collect()
}

/// Searches now for the fastest variant of each kernel that acts on these links.
///
/// The kernels are the full operator, and the hop from parity to parity without and with a shift.
/// All act on `columns` fields at once. For one field, the search includes the kernels that sum up
/// products for solves.
///
/// `budget` is the time for one kernel. The results replace earlier ones.
///
/// Kernels with the blocks of a clover term are searched for separately. Kernels of a twisted mass
/// have the variants of Wilson kernels.
///
/// A team of several devices is tuned by its first device.
///
/// # Errors
/// When a device fails, when a clover term has no inverse on these links, and when the result
/// cannot be kept.
///
/// # Panics
/// When there is a clover term, and the links were not made with [`GaugeField::with_clover`].
pub fn tune_stencil<T: Storage>(
    links: &GaugeField<T>,
    site_term: SiteTerm,
    columns: usize,
    budget: Duration,
) -> Result<Vec<Tuned>, RenewError<LatticeError>> {
    let Some(shard) = links.lattice().shards().first() else { return Ok(Vec::new()) };
    let tuned = tasks_to_tune(site_term, columns).into_iter().map(|task| {
        let kernel = StencilKernel { shard, links, task };
        let found = tuning::renew(&kernel, budget)?;
        Ok(Tuned { key: kernel.key(), shipped: kernel.shipped(), found })
    });
    tuned.collect()
}

/// The kernel of one domain.
struct StencilKernel<'a, T: Storage> {
    shard: &'a Shard,
    links: &'a GaugeField<T>,
    task: Task,
}

/// The factors that are timed without blocks.
///
/// Other factors differ in signs and in values of arguments, which cost the same.
const FACTORS: StencilFactors = StencilFactors::new(1.0, -0.1);

/// The factor of the result that is subtracted again and again.
///
/// The factor is so small that nothing overflows.
const MULTIPLE: Complex<f64> = Complex::new(1e-6, 0.0);

impl<T: Storage> Tunable for StencilKernel<'_, T> {
    type Variant = Tuning;
    type Data = Data<T>;
    type Error = LatticeError;

    fn device(&self) -> &Device {
        &self.shard.device
    }

    fn key(&self) -> Key {
        key::<T>(self.shard, self.links.format(), self.task)
    }

    fn shipped(&self) -> Tuning {
        shipped::<T>(self.shard, self.links.format(), self.task)
    }

    fn steps(&self) -> Vec<Step<'_, Tuning>> {
        let layout = self.shard.layout(T::STORAGE);
        steps(&self.shard.device, layout.sub_extents(), self.task.columns)
    }

    fn complaint(&self, tuning: &Tuning) -> Option<String> {
        complaint(self.shard, self.task, tuning)
    }

    fn data(&self) -> Result<Data<T>, LatticeError> {
        let links = self.links_of_the_device_alone()?;
        let (sites_in, sites_out) = self.task.region.sites();
        let spinors = |sites: Sites| {
            let count = self.task.columns * sites.of(links.lattice().dims().volume());
            Spinors::from_host(links.lattice(), sites, self.task.columns, &irregular(count))
        };
        let shifted = matches!(self.task.region, Region::Parity { shift: true, .. });
        let StencilFactors { shift, coefficient, .. } = self.task.factors;
        Ok(Data {
            _blocks: [links.blocks(shift.matrix)?, links.blocks(coefficient.matrix)?],
            psi: spinors(sites_in)?,
            shifted: if shifted { Some(spinors(sites_out)?) } else { None },
            out: spinors(sites_out)?,
            against: if self.task.ending == Ending::Products { Some(spinors(sites_out)?) } else { None },
            links,
        })
    }

    fn time(&self, tuning: &Tuning, data: &mut Data<T>) -> Result<Duration, LatticeError> {
        let Data { links, psi, shifted, out, against, .. } = data;
        let factors = if self.task.has_blocks() { self.task.factors } else { FACTORS };
        let stencil = Stencil::new(links, Task { factors, ..self.task }, Some(*tuning))?;
        let launch = || {
            let multiple = (self.task.ending == Ending::Subtract).then(|| Number::from(MULTIPLE));
            let (shifted, against, multiple) = (shifted.as_ref(), against.as_ref(), multiple.as_ref());
            let ending = EndingFields { against, multiple, matrix: None };
            let fields = Fields { psi, shifted, out, ending };
            stencil.apply(fields, None).map(drop)
        };
        Ok(time_of_launch(launch, || self.shard.device.finish())?)
    }
}

fn key<T: Storage>(shard: &Shard, links: &LinkFormat, task: Task) -> Key {
    let layout = shard.layout(T::STORAGE);
    let chunk = layout.chunk().map(|sites| format!(" chunk={sites}")).unwrap_or_default();
    let extents = format!("lanes={}{chunk} {}", layout.lanes(), sites_class(layout.volume()));
    let region = match task.region {
        Region::Full => "full",
        Region::Parity { shift: false, .. } => "parity",
        Region::Parity { shift: true, .. } => "parity+shift",
    };
    let key = Key::new("wilson", extents)
        .option("region", region)
        .option("precision", T::STORAGE)
        .option("links", links.reconstruction.reals())
        .option("sources", task.columns)
        // The summed products matter less than whether products are summed.
        .option("product", task.ending != Ending::Store);
    if task.has_blocks() { key.option("clover", true) } else { key }
}

fn complaint(shard: &Shard, task: Task, tuning: &Tuning) -> Option<String> {
    tuning.complaint(&shard.device, task.columns).map(str::to_owned)
}

fn shipped<T: Storage>(shard: &Shard, links: &LinkFormat, task: Task) -> Tuning {
    let layout = shard.layout(T::STORAGE);
    Tuning::shipped(&shard.device, &layout, links.reconstruction, task)
}

impl<T: Storage> StencilKernel<'_, T> {
    /// Returns the links themselves if one device holds them all.
    ///
    /// A domain among several waits for its neighbours. It is timed as a lattice of its own, with
    /// other links.
    fn links_of_the_device_alone(&self) -> Result<GaugeField<T>, LatticeError> {
        let lattice = self.links.lattice();
        if lattice.grid().count() == 1 {
            return Ok(self.links.clone());
        }
        // Extents are even; one slice more or less does not matter.
        let even = self.shard.domain.extents().map(|extent| extent.next_multiple_of(2));
        let dims = Dims::new(even).unwrap_or(lattice.dims());
        let alone = Lattice::new(&Team::from(self.shard.device.clone()), dims)?;
        // Smooth enough for the blocks of a clover term to have inverses.
        let configuration = random::weak(dims, 0.3, 1);
        let links = alone.gauge_in(&configuration, self.links.boundary(), self.links.reconstruction())?;
        let links = links.with_anisotropy(self.links.anisotropy());
        if self.links.has_clover() { links.with_clover(configuration) } else { Ok(links) }
    }
}

/// The data that a launch needs.
struct Data<T: Storage> {
    /// Every variant finds them made.
    _blocks: [Option<Arc<BlockField<T>>>; 2],
    links: GaugeField<T>,
    psi: Spinors<T>,
    shifted: Option<Spinors<T>>,
    out: Spinors<T>,
    against: Option<Spinors<T>>,
}

/// Returns spinors of order 1 without a pattern.
///
/// Zeros would need less power than a real field, and would be faster.
fn irregular<T: Real>(count: usize) -> Vec<Spinor<T>> {
    // Multiples of the golden ratio are spread evenly over the unit interval.
    let number = |n: usize| T::from_f64((n as f64 * 0.618_033_988_749_894_9).fract() - 0.5);
    let spinor = |site: usize| {
        Spinor::from_fn(|spin, colour| {
            let n = 2 * ((site * 4 + spin) * 3 + colour);
            Complex::new(number(n), number(n + 1))
        })
    };
    (0..count).into_par_iter().map(spinor).collect()
}
