//! Numbers that are read in every cycle.
//!
//! They are near-null vectors and the blocks of coarse operators.

use super::coarse_space::SiteNumbers;
use super::setup_kernels::{is_fixed, kernel};
use crate::compute::mpi::World;
use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, Device, DeviceError, Range};
use crate::scalar::Real;
use bytemuck::Pod;
use num_complex::Complex;
use std::borrow::Cow;

/// Numbers on a device.
///
/// Numbers in single precision are stored in 16 bits, with a unit for each group. Cycles read half
/// as many bytes then, and their number does not grow.
pub(super) enum DeviceNumbers<R: Real> {
    /// Unchanged numbers. Kernels take units nevertheless.
    Whole(Buffer<R>, Buffer<f32>),
    Fixed(Buffer<i16>, Buffer<f32>),
}

/// Such numbers in host memory, without zeros that fill up chunks.
///
/// They have the same bits on every device.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HostNumbers<R> {
    Whole(Vec<Complex<R>>),
    Fixed {
        numbers: Vec<Complex<i16>>,
        /// One for each of the groups, which have equally many numbers.
        units: Vec<f32>,
    },
}

/// The largest number, in units.
const LARGEST: f32 = 32767.0;

/// Work-items that keep a group of numbers.
const ITEMS_OF_GROUP: usize = 64;

impl<R: Real> DeviceNumbers<R> {
    /// Keeps these numbers. `group` numbers share a unit.
    pub fn new(device: &Device, numbers: &[R], group: usize) -> Result<Self, DeviceError> {
        if !is_fixed::<R>() {
            return Ok(Self::Whole(
                Buffer::from_slice(device, numbers)?,
                Buffer::from_slice(device, &[1.0])?,
            ));
        }
        let single = |x: &R| Real::to_f64(*x) as f32;
        let unit = |group: &[R]| group.iter().map(|x| single(x).abs()).fold(0.0, f32::max) / LARGEST;
        let units: Vec<f32> = numbers.par_chunks(group).map(unit).collect();
        let mut fixed = vec![0_i16; numbers.len()];
        fixed.par_chunks_mut(group).zip(numbers.par_chunks(group)).zip(&units).for_each(
            |((fixed, numbers), &unit)| {
                for (fixed, x) in fixed.iter_mut().zip(numbers) {
                    // The conversion saturates, and where the unit is zero so are the numbers.
                    *fixed = if unit > 0.0 { (single(x) / unit).round() as i16 } else { 0 };
                }
            },
        );
        Ok(Self::Fixed(Buffer::from_slice(device, &fixed)?, Buffer::from_slice(device, &units)?))
    }

    /// Makes room for so many numbers, of which so many have a unit in common.
    pub fn room(device: &Device, reals: usize, group: usize) -> Result<Self, DeviceError> {
        Ok(if is_fixed::<R>() {
            Self::Fixed(Buffer::zeroed(device, reals)?, Buffer::zeroed(device, reals / group)?)
        } else {
            Self::Whole(Buffer::zeroed(device, reals)?, Buffer::from_slice(device, &[1.0])?)
        })
    }

    /// Makes the numbers of those in a buffer of the same device.
    pub fn of_buffer(from: &Buffer<R>, numbers: SiteNumbers, group: usize) -> Result<Self, DeviceError> {
        let device = from.device();
        let mut kept = Self::room(device, from.len(), group)?;
        match &mut kept {
            Self::Whole(to, _) => to.copy_from(from)?,
            Self::Fixed(to, units) => {
                let arguments = [
                    Argument::from(from),
                    Argument::from(to),
                    Argument::from(units),
                    Argument::value(group as u32),
                    Argument::local::<f32>(ITEMS_OF_GROUP),
                ];
                let groups = Range::groups(from.len() / group, ITEMS_OF_GROUP);
                kernel::<R>(device, "keep_numbers", numbers, 1)?.start(groups, &arguments)?;
            }
        }
        Ok(kept)
    }

    /// Brings numbers to a device. A group has `sites` times the numbers of a site.
    pub fn of_host(
        device: &Device,
        kept: &HostNumbers<R>,
        numbers: SiteNumbers,
        sites: usize,
    ) -> Result<Self, DeviceError> {
        match kept {
            HostNumbers::Fixed { numbers: fixed, units } if is_fixed::<R>() => {
                let memory = numbers.to_memory(fixed);
                Ok(Self::Fixed(Buffer::from_slice(device, &memory)?, Buffer::from_slice(device, units)?))
            }
            _ => {
                let whole = kept.clone().into_whole();
                let memory = numbers.to_memory(&whole);
                Self::new(device, &memory, 2 * numbers.padded() * sites)
            }
        }
    }

    /// The reverse of [`of_host`](Self::of_host).
    pub fn to_host(&self, numbers: SiteNumbers) -> Result<HostNumbers<R>, DeviceError> {
        Ok(match self {
            Self::Whole(whole, _) => HostNumbers::Whole(numbers.of_memory(&whole.to_vec()?)),
            Self::Fixed(fixed, units) => {
                HostNumbers::Fixed { numbers: numbers.of_memory(&fixed.to_vec()?), units: units.to_vec()? }
            }
        })
    }

    /// Returns the numbers and their units as arguments.
    pub fn arguments(&self) -> [Argument<'_>; 2] {
        match self {
            Self::Whole(numbers, units) => [numbers.into(), units.into()],
            Self::Fixed(numbers, units) => [numbers.into(), units.into()],
        }
    }

    /// The same, for kernels that write them.
    pub fn arguments_mut(&mut self) -> [Argument<'_>; 2] {
        match self {
            Self::Whole(numbers, units) => [numbers.into(), units.into()],
            Self::Fixed(numbers, units) => [numbers.into(), units.into()],
        }
    }

    /// Bytes of a complex number.
    pub fn bytes_of_number() -> u64 {
        2 * if is_fixed::<R>() { size_of::<i16>() } else { size_of::<R>() } as u64
    }
}

impl<R: Real> HostNumbers<R> {
    /// Returns the numbers, in no units.
    pub fn into_whole(self) -> Vec<Complex<R>> {
        match self {
            Self::Whole(numbers) => numbers,
            Self::Fixed { numbers, units } => {
                let group = numbers.len() / units.len().max(1);
                let of = |x: i16, unit: f32| R::from_f64(f64::from(f32::from(x) * unit));
                let number = |(k, z): (usize, &Complex<i16>)| {
                    Complex::new(of(z.re, units[k / group]), of(z.im, units[k / group]))
                };
                numbers.par_iter().enumerate().map(number).collect()
            }
        }
    }

    /// Appends numbers of the same kind, with groups of the same size.
    pub fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Whole(numbers), Self::Whole(more)) => numbers.extend(more),
            (Self::Fixed { numbers, units }, Self::Fixed { numbers: more, units: more_units }) => {
                numbers.extend(more);
                units.extend(more_units);
            }
            _ => unreachable!("the parts of a level are of one kind"),
        }
    }

    /// Returns the numbers of all ranks, in the order of ranks.
    pub fn of_all_ranks(self, world: &World) -> Result<Self, DeviceError> {
        Ok(match self {
            Self::Whole(numbers) => Self::Whole(of_all_ranks(world, &numbers)?),
            Self::Fixed { numbers, units } => {
                Self::Fixed { numbers: of_all_ranks(world, &numbers)?, units: of_all_ranks(world, &units)? }
            }
        })
    }

    /// Returns groups of `group` numbers in another order: the first becomes number `places[0]`.
    ///
    /// `places` has equally many numbers, each once.
    pub fn sorted(self, group: usize, places: &[usize]) -> Self {
        if is_unchanged(places) {
            return self;
        }
        // Group number k of the result is group number `sources[k]`.
        let mut sources = vec![0; places.len()];
        places.iter().enumerate().for_each(|(k, &place)| sources[place] = k);
        self.chosen(group, &sources).into_owned()
    }

    /// Returns these groups of `group` numbers, in this order.
    ///
    /// Nothing is copied if these are all groups in their order.
    pub fn chosen(&self, group: usize, sources: &[usize]) -> Cow<'_, Self> {
        if group * sources.len() == self.len() && is_unchanged(sources) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(match self {
            Self::Whole(numbers) => Self::Whole(chosen(numbers, group, sources)),
            Self::Fixed { numbers, units } => {
                let of_unit = group / (numbers.len() / units.len().max(1)).max(1);
                Self::Fixed {
                    numbers: chosen(numbers, group, sources),
                    units: chosen(units, of_unit, sources),
                }
            }
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Whole(numbers) => numbers.len(),
            Self::Fixed { numbers, .. } => numbers.len(),
        }
    }
}

/// Tells whether places are those of an order that changes nothing.
fn is_unchanged(places: &[usize]) -> bool {
    places.par_iter().enumerate().with_min_len(1 << 14).all(|(k, &place)| k == place)
}

/// Returns the numbers of all ranks, in the order of ranks.
pub(super) fn of_all_ranks<T: Pod + Send>(world: &World, own: &[T]) -> Result<Vec<T>, DeviceError> {
    let all = world.gather_any(bytemuck::cast_slice(own)).map_err(DeviceError::from)?.concat();
    // The bytes need not lie as numbers must.
    let numbers = all.par_chunks_exact(size_of::<T>()).with_min_len(1 << 12);
    Ok(numbers.map(bytemuck::pod_read_unaligned).collect())
}

/// Returns groups of `group` numbers, in the order of `sources`.
pub(super) fn chosen<T: Pod + Send + Sync>(from: &[T], group: usize, sources: &[usize]) -> Vec<T> {
    let mut numbers = bytemuck::zeroed_vec(group * sources.len());
    if group > 0 {
        let groups = numbers.par_chunks_mut(group).zip(sources).with_min_len((1 << 12) / group + 1);
        groups.for_each(|(own, &source)| own.copy_from_slice(&from[source * group..][..group]));
    }
    numbers
}
