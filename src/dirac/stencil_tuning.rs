//! The kernels of the stencil as something to be tuned.

use super::stencil::Stencil;
use super::stencil_kernels::{Region, Tuning};
use crate::device::{Device, DeviceError, Team};
use crate::host::{Dims, NDIM, Spinor, WilsonForm, random};
use crate::lattice::{GaugeField, Lattice, LatticeError, ParityField, Slab, SpinorField};
use crate::scalar::Real;
use crate::tuning::{self, Found, Key, RenewError, Step, Tunable, sites_class, time_of_launch};
use num_complex::Complex;
use rayon::prelude::*;
use std::time::Duration;

/// The variants that are worth trying, in two steps: work-groups and registers; order of sites and cache hints.
///
/// `extents` are those of a sub-lattice: all of the slab, on devices with one lane.
pub fn steps<'a>(device: &Device, extents: [usize; NDIM]) -> Vec<Step<'a, Tuning>> {
    let (register_limit, hints) = (device.supports_register_limit(), device.supports_inline_ptx());
    let resources = move |from: &Tuning| {
        // Small groups are those of CPUs.
        let groups: &[usize] = if from.work_group < 32 { &[1, 2, 4, 8, 16] } else { &[64, 128] };
        let registers: &[Option<u32>] =
            if register_limit { &[Some(96), Some(128), Some(168), Some(255)] } else { &[None] };
        let variant = |work_group, max_registers| Tuning { work_group, max_registers, ..*from };
        groups.iter().flat_map(|&group| registers.iter().map(move |&limit| variant(group, limit))).collect()
    };
    let orders_and_hints = move |from: &Tuning| {
        let z = extents[2];
        let tiles = [0, 4, 8, 16].into_iter().filter(|&tile| tile < z && z.is_multiple_of(tile.max(1)));
        let hints: &[(bool, bool)] = if hints {
            &[(false, false), (true, false), (false, true), (true, true)]
        } else {
            &[(false, false)]
        };
        let variant =
            |tile_z, (stream_links, stream_output)| Tuning { tile_z, stream_links, stream_output, ..*from };
        tiles.flat_map(|tile| hints.iter().map(move |&hints| variant(tile, hints))).collect()
    };
    vec![Box::new(resources), Box::new(orders_and_hints)]
}

/// The variant that a slab uses unless another is asked for.
pub(super) fn chosen<T: Real>(slab: &Slab, links: &GaugeField<T>, region: Region) -> Tuning {
    tuning::choose(&StencilKernel { slab, links, region })
}

/// What a search found for one kernel.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The kernel, its options and the class of extents.
    pub key: Key,
    /// The variant that is used untuned.
    pub shipped: Tuning,
    /// What was found.
    pub found: Found<Tuning>,
}

/// Searches now for the fastest variant of each kernel that acts on these links: the full operator, and the hop from parity to parity
/// without and with a shift. `budget` is the time for one of them. What was kept earlier is replaced.
///
/// A team of several devices is tuned by its first one.
///
/// # Errors
/// When a device fails, and when the result cannot be kept.
pub fn tune_stencil<T: Real>(
    links: &GaugeField<T>,
    budget: Duration,
) -> Result<Vec<Tuned>, RenewError<LatticeError>> {
    let regions =
        [Region::Full, Region::Parity { parity: 0, shift: false }, Region::Parity { parity: 0, shift: true }];
    let Some(slab) = links.lattice().slabs().first() else { return Ok(Vec::new()) };
    let tuned = regions.into_iter().map(|region| {
        let kernel = StencilKernel { slab, links, region };
        let found = tuning::renew(&kernel, budget)?;
        Ok(Tuned { key: kernel.key(), shipped: kernel.shipped(), found })
    });
    tuned.collect()
}

/// The kernel of one slab.
struct StencilKernel<'a, T: Real> {
    slab: &'a Slab,
    links: &'a GaugeField<T>,
    region: Region,
}

/// The form that is timed: the others differ in signs and in the values of arguments, which cost the same.
const FORM: WilsonForm = WilsonForm { shift: 1.0, coefficient: -0.1, dagger: false, gamma5: false };

impl<T: Real> Tunable for StencilKernel<'_, T> {
    type Variant = Tuning;
    type Data = Data<T>;
    type Error = LatticeError;

    fn device(&self) -> &Device {
        &self.slab.device
    }

    fn key(&self) -> Key {
        let layout = self.slab.layout(self.links.lattice().dims(), T::PRECISION);
        let extents = format!("lanes={} {}", layout.lanes(), sites_class(layout.volume()));
        let region = match self.region {
            Region::Full => "full",
            Region::Parity { shift: false, .. } => "parity",
            Region::Parity { shift: true, .. } => "parity+shift",
        };
        Key::new("wilson", extents)
            .option("region", region)
            .option("precision", T::PRECISION)
            .option("links", self.links.reconstruction().reals())
    }

    fn shipped(&self) -> Tuning {
        Tuning::shipped(&self.slab.device, T::PRECISION, self.links.reconstruction())
    }

    fn steps(&self) -> Vec<Step<'_, Tuning>> {
        let layout = self.slab.layout(self.links.lattice().dims(), T::PRECISION);
        steps(&self.slab.device, layout.sub_extents())
    }

    fn data(&self) -> Result<Data<T>, LatticeError> {
        let links = self.links_of_the_device_alone()?;
        let fields = Fields::new(links.lattice(), self.region)?;
        Ok(Data { links, fields })
    }

    fn time(&self, tuning: &Tuning, data: &mut Data<T>) -> Result<Duration, LatticeError> {
        let stencil = Stencil::tuned(&data.links, FORM, self.region, Some(*tuning))?;
        Ok(time_of_launch(|| data.fields.apply(&stencil), || self.slab.device.finish())?)
    }
}

impl<T: Real> StencilKernel<'_, T> {
    /// The links themselves if one device holds them all. A slab among several waits for its neighbours: it is timed as a lattice of
    /// its own, with other links.
    fn links_of_the_device_alone(&self) -> Result<GaugeField<T>, LatticeError> {
        let lattice = self.links.lattice();
        if lattice.slabs().len() == 1 {
            return Ok(self.links.clone());
        }
        let [x, y, z, _] = lattice.dims().extents();
        // Extents are even; one slice more or less does not matter.
        let dims = Dims::new([x, y, z, self.slab.t_extent.next_multiple_of(2)]).unwrap_or(lattice.dims());
        let alone = Lattice::new(&Team::from(self.slab.device.clone()), dims)?;
        alone.gauge_in(&random::hot(dims, 1), self.links.boundary(), self.links.reconstruction())
    }
}

/// What a launch needs.
struct Data<T: Real> {
    links: GaugeField<T>,
    fields: Fields<T>,
}

/// What a stencil is applied to, and where the result goes.
enum Fields<T: Real> {
    Full { psi: SpinorField<T>, out: SpinorField<T> },
    Parity { psi: ParityField<T>, shifted: Option<ParityField<T>>, out: ParityField<T> },
}

impl<T: Real> Fields<T> {
    fn new(lattice: &Lattice, region: Region) -> Result<Self, LatticeError> {
        let volume = lattice.dims().volume();
        match region {
            Region::Full => {
                let psi = lattice.spinor_from_host(&irregular(volume))?;
                Ok(Fields::Full { psi, out: lattice.spinor()? })
            }
            Region::Parity { parity, shift } => {
                let field = |parity| lattice.parity_from_host(parity, &irregular(volume / 2));
                let shifted = if shift { Some(field(parity)?) } else { None };
                Ok(Fields::Parity {
                    psi: field(1 - parity)?,
                    shifted,
                    out: ParityField::zero(lattice, parity)?,
                })
            }
        }
    }

    fn apply(&mut self, stencil: &Stencil<T>) -> Result<(), DeviceError> {
        match self {
            Fields::Full { psi, out } => stencil.apply(psi, out, drop),
            Fields::Parity { psi, shifted, out } => stencil.apply_to_parity(psi, shifted.as_ref(), out, drop),
        }
    }
}

/// Spinors of order 1 without a pattern. Zeros would need less power than a field does, and so be faster than it.
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
