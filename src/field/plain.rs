//! Fields as plain arrays of numbers, for multigrid methods.

use super::site_field::Sites;
use super::spinors::Spinors;
use super::transfer::{self, FROM};
use super::{ParityField, SpinorField};
use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, DeviceError, KernelFamily, KernelKey, Range};
use crate::geometry::{Lattice, Layout, Shape, Shard};
use crate::host::gamma::{GAMMA, Phase};
use crate::host::{self, Spinor};
use crate::scalar::{Real, Storage};
use num_complex::Complex;

const PLAIN: KernelFamily = KernelFamily::new(
    "plain",
    &[include_str!("../../cl/layout.cl"), include_str!("../../cl/multigrid/plain.cl")],
);

/// Reals on the host, or in a buffer on each device of a lattice.
pub(crate) enum Numbers<R> {
    Host(Vec<R>),
    Devices(Vec<Buffer<R>>),
}

/// The numbers of a field, to read.
#[derive(Clone, Copy)]
pub(crate) enum NumbersView<'a, R> {
    Host(&'a [R]),
    Devices(&'a [Buffer<R>]),
}

impl<R: Real> Numbers<R> {
    pub fn view(&self) -> NumbersView<'_, R> {
        match self {
            Self::Host(numbers) => NumbersView::Host(numbers),
            Self::Devices(buffers) => NumbersView::Devices(buffers),
        }
    }

    /// Returns the numbers on the host.
    ///
    /// # Panics
    /// When they are on devices.
    pub fn on_host(&self) -> &[R] {
        match self {
            Self::Host(numbers) => numbers,
            Self::Devices(_) => unreachable!("numbers on devices are not asked for on the host"),
        }
    }

    /// Returns the buffer of each device.
    ///
    /// # Panics
    /// When they are on the host.
    pub fn on_devices(&self) -> &[Buffer<R>] {
        match self {
            Self::Devices(buffers) => buffers,
            Self::Host(_) => unreachable!("numbers on the host are not asked for on devices"),
        }
    }
}

/// Spinors of the even sites, then spinors of the odd sites if there are both.
///
/// Order and basis are those of `cl/multigrid/plain.cl`. Each device has its domain. Columns follow
/// one after the other.
pub(crate) mod plain_spinors {
    use super::*;

    /// Makes zeros for the even sites of each column, or for all sites.
    pub(crate) fn zero<R: Real>(
        lattice: &Lattice,
        all: bool,
        columns: usize,
    ) -> Result<Numbers<R>, DeviceError> {
        let reals = |volume: usize| columns * Spinor::<R>::REALS * if all { volume } else { volume / 2 };
        if lattice.team().is_host() {
            return Ok(Numbers::Host(vec![R::zero(); reals(lattice.dims().volume())]));
        }
        let of_shard = |shard: &Shard| Buffer::zeroed(&shard.device, reals(shard.domain.volume()));
        Ok(Numbers::Devices(lattice.shards().iter().map(of_shard).collect::<Result<_, _>>()?))
    }

    /// Copies a field into the numbers of its parity.
    pub(crate) fn take<T: Storage>(
        field: &ParityField<T>,
        numbers: &mut Numbers<T::Real>,
    ) -> Result<(), DeviceError> {
        let (parity, columns) = (field.parity(), field.columns());
        match numbers {
            Numbers::Host(numbers) => {
                let sites = field.spinors.on_host().len() / columns;
                let reals = sites * Spinor::<T::Real>::REALS;
                let stride = numbers.len() / columns;
                let of_columns = field.spinors.on_host().chunks(sites);
                for (own, spinors) in numbers.chunks_mut(stride).zip(of_columns) {
                    let own = &mut own[parity * reals..][..reals];
                    own.par_chunks_mut(Spinor::<T::Real>::REALS).zip(spinors).for_each(|(own, spinor)| {
                        own.copy_from_slice(bytemuck::cast_slice(&host::multigrid::plain(spinor)));
                    });
                }
            }
            Numbers::Devices(buffers) => {
                let shards = field.lattice().shards().iter();
                for ((shard, own), field) in shards.zip(buffers).zip(field.spinors.on_devices()) {
                    let columns = OfColumns { parity, columns, stride: own.len() / columns };
                    let items = items_of_site(&shard.layout(T::STORAGE));
                    let kernel = Conversion { name: "spinors_to_plain", items };
                    convert::<T>(shard, columns, kernel, field.into(), own.into())?;
                }
            }
        }
        Ok(())
    }

    /// Copies the numbers of a field's parity into the field.
    pub(crate) fn put<T: Storage>(
        numbers: &Numbers<T::Real>,
        field: &mut ParityField<T>,
    ) -> Result<(), DeviceError> {
        let (parity, columns) = (field.parity(), field.columns());
        match numbers {
            Numbers::Host(numbers) => {
                let sites = field.spinors.on_host().len() / columns;
                let reals = sites * Spinor::<T::Real>::REALS;
                let of_columns = field.spinors.on_host_mut().chunks_mut(sites);
                for (own, spinors) in numbers.chunks(numbers.len() / columns).zip(of_columns) {
                    let own = own[parity * reals..][..reals].par_chunks(Spinor::<T::Real>::REALS);
                    spinors.par_iter_mut().zip(own).for_each(|(spinor, own)| {
                        *spinor = host::multigrid::spinor(bytemuck::cast_slice(own));
                    });
                }
            }
            Numbers::Devices(buffers) => {
                let lattice = field.lattice().clone();
                let fields = field.spinors.on_devices_mut();
                for ((shard, own), field) in lattice.shards().iter().zip(buffers).zip(fields) {
                    let columns = OfColumns { parity, columns, stride: own.len() / columns };
                    let kernel = Conversion { name: "spinors_from_plain", items: 1 };
                    convert::<T>(shard, columns, kernel, own.into(), field.into())?;
                }
            }
        }
        Ok(())
    }

    /// Computes ψ = (1 − γ_μ) ψ / 2.
    pub(crate) fn project<R: Real>(
        lattice: &Lattice,
        numbers: &mut Numbers<R>,
        mu: usize,
    ) -> Result<(), DeviceError> {
        let gamma = &GAMMA[mu];
        let buffers = match numbers {
            Numbers::Host(numbers) => {
                host::multigrid::project(bytemuck::cast_slice_mut::<R, Complex<R>>(numbers), gamma);
                return Ok(());
            }
            Numbers::Devices(buffers) => buffers,
        };
        let powers = gamma.map(|(_, phase)| match phase {
            Phase::One => 0_u32,
            Phase::I => 1,
            Phase::MinusOne => 2,
            Phase::MinusI => 3,
        });
        let columns = gamma.map(|(column, _)| column as u32);
        for (shard, own) in lattice.shards().iter().zip(buffers) {
            let sites = own.len() / Spinor::<R>::REALS;
            let kernel = transfer::kernel(&shard.device, key::<R>(shard), "project_plain")?;
            let arguments = [
                Argument::from(own),
                Argument::value(columns),
                Argument::value(powers),
                Argument::value(sites as u32),
            ];
            kernel.start(Range::covering(sites, 64), &arguments)?;
        }
        Ok(())
    }
}

fn key<T: Storage>(shard: &Shard) -> KernelKey {
    let layout = shard.layout(T::STORAGE);
    let key = KernelKey::of_real::<T::Real>(PLAIN)
        .define("GROUPS", Shape::SPINOR.groups)
        .define("GROUP", Shape::SPINOR.group)
        .define("ITEMS_OF_SITE", items_of_site(&layout));
    FROM.define(key, &layout, Shape::SPINOR)
}

/// Returns the work-items of a site that is put into plain order.
///
/// A GPU, which has one lane, takes one for each component. Items beside each other then store what
/// lies together.
fn items_of_site(layout: &Layout) -> usize {
    if layout.lanes() == 1 { Shape::SPINOR.components() / 2 } else { 1 }
}

/// The columns of one parity in plain order.
///
/// `stride` is the number of reals from one column to the next.
struct OfColumns {
    parity: usize,
    columns: usize,
    stride: usize,
}

/// A kernel from one order to the other.
///
/// A site has `items` work-items.
struct Conversion {
    name: &'static str,
    items: usize,
}

fn convert<T: Storage>(
    shard: &Shard,
    OfColumns { parity, columns, stride }: OfColumns,
    Conversion { name, items }: Conversion,
    from: Argument<'_>,
    to: Argument<'_>,
) -> Result<(), DeviceError> {
    let kernel = transfer::kernel(&shard.device, key::<T>(shard), name)?;
    let layout = shard.layout(T::STORAGE);
    let sites = layout.volume() / 2;
    let arguments = [
        from,
        to,
        Argument::value(transfer::sub_extents(&layout)),
        Argument::value((parity * sites) as u32),
        Argument::value(sites as u32),
        Argument::value(columns as u32),
        Argument::value(stride as u32),
    ];
    kernel.start(Range::covering(sites * columns * items, 64), &arguments)
}

/// Returns the numbers of a field as they lie in memory.
///
/// The meaning of the numbers does not matter. Numbers on the host are copied.
pub(crate) fn numbers_of<R: Real, T>(
    field: &SpinorField<R>,
    then: impl FnOnce(NumbersView<'_, R>) -> T,
) -> T {
    if !field.lattice().team().is_host() {
        return then(NumbersView::Devices(field.spinors.on_devices()));
    }
    let reals: Vec<R> = field
        .spinors
        .on_host()
        .iter()
        .flat_map(|spinor| spinor.0.as_flattened().iter().flat_map(|z| [z.re, z.im]))
        .collect();
    then(NumbersView::Host(&reals))
}

/// Returns the buffer of a field on one device.
///
/// # Panics
/// When the field is on the host.
pub(crate) fn buffer_of<R: Real>(field: &SpinorField<R>) -> &Buffer<R> {
    &field.spinors.on_devices()[0]
}

/// Returns a buffer like [`buffer_of`], to be written.
pub(crate) fn buffer_of_mut<R: Real>(field: &mut SpinorField<R>) -> &mut Buffer<R> {
    &mut field.spinors.on_devices_mut()[0]
}

/// Sets the numbers of a field as they lie in memory, with zeros behind them.
///
/// The field is on the host or on one device.
pub(crate) fn set_numbers<R: Real>(field: &mut SpinorField<R>, numbers: &[R]) -> Result<(), DeviceError> {
    let spinors: &mut Spinors<R> = &mut field.spinors;
    debug_assert_eq!(spinors.sites(), Sites::All);
    if !spinors.lattice().team().is_host() {
        let buffer = &mut spinors.on_devices_mut()[0];
        return buffer.slice_mut(..numbers.len())?.write(numbers);
    }
    let own = spinors.on_host_mut();
    own.par_iter_mut().zip(numbers.par_chunks(Spinor::<R>::REALS)).for_each(|(spinor, reals)| {
        let at = |k: usize| reals.get(k).copied().unwrap_or_else(R::zero);
        *spinor = Spinor::from_fn(|s, c| Complex::new(at(2 * (3 * s + c)), at(2 * (3 * s + c) + 1)));
    });
    Ok(())
}
