//! Reordering from a device's layout to the host's order of sites and spin basis.

use super::transfer::{self, FROM};
use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, DeviceError, KernelFamily, KernelKey, Pending, PinnedBuffer, Range};
use crate::geometry::{Layout, Shape};
use crate::host::Spinor;
use crate::scalar::Storage;

const HOST_ORDER: KernelFamily = KernelFamily::new(
    "host_order",
    &[include_str!("../../cl/layout.cl"), include_str!("../../cl/host_order.cl")],
);

/// Spinors that are under way at a time.
///
/// They take 3 or 6 MB of the device, and twice as much pinned memory.
const PIECE: usize = 1 << 15;

/// Returns the key of the kernel that reorders fields of this layout for the host.
pub fn host_order_key<T: Storage>(layout: &Layout, all_sites: bool) -> KernelKey {
    let key = KernelKey::of_real::<T::Real>(HOST_ORDER)
        .define("GROUPS", Shape::SPINOR.groups)
        .define("GROUP", Shape::SPINOR.group)
        .define("ALL_SITES", u8::from(all_sites));
    FROM.define(key, layout, Shape::SPINOR)
}

/// Copies a device's part of a field to the sites of the whole lattice on the host.
///
/// The part begins with number `start` of the buffer. It has all sites of the domain, or the sites
/// of one parity. The host copies one piece while the next is under way.
pub fn download<T: Storage>(
    buffer: &Buffer<T::Stored>,
    start: usize,
    layout: &Layout,
    all_sites: bool,
    spinors: &mut [Spinor<T::Real>],
) -> Result<(), DeviceError> {
    let (device, domain) = (buffer.device(), layout.domain());
    let key = host_order_key::<T>(layout, all_sites);
    let kernel = transfer::kernel(device, key, "spinors_in_host_order")?;
    let parities = if all_sites { 2 } else { 1 };
    let sites = layout.volume() * parities / 2;
    let mut ordered = Buffer::<T::Real>::uninitialised(device, REALS * sites.min(PIECE))?;
    let mut before: Option<Piece<T>> = None;
    for first in (0..sites).step_by(PIECE) {
        let count = PIECE.min(sites - first);
        let arguments = [
            buffer.into(),
            Argument::from(&mut ordered),
            Argument::value(transfer::sub_extents(layout)),
            Argument::value(domain.parity() as u32),
            Argument::value(start as u64),
            Argument::value(first as u32),
            Argument::value(count as u32),
        ];
        kernel.start(Range::covering(count, 64), &arguments)?;
        let pinned = PinnedBuffer::kept(device, REALS * count)?;
        let reals = pinned.read_from_in_order(ordered.slice(..REALS * count)?)?;
        let stretches = domain.stretches(first..first + count, parities).collect();
        if let Some(before) = before.replace(Piece { reals, stretches }) {
            before.arrive(spinors)?;
        }
    }
    before.map_or(Ok(()), |before| before.arrive(spinors))
}

const REALS: usize = Spinor::<f64>::REALS;

/// Spinors under way to the host.
struct Piece<T: Storage> {
    reals: Pending<PinnedBuffer<T::Real>>,
    /// The ranges of these spinors in the whole lattice, in order.
    stretches: Vec<std::ops::Range<usize>>,
}

impl<T: Storage> Piece<T> {
    fn arrive(self, spinors: &mut [Spinor<T::Real>]) -> Result<(), DeviceError> {
        let reals = self.reals.wait()?;
        let (mut reals, mut rest, mut passed) = (reals.as_slice(), spinors, 0);
        let mut parts = Vec::with_capacity(self.stretches.len());
        for stretch in self.stretches {
            let (of_stretch, others) = reals.split_at(REALS * stretch.len());
            let (before, after) = rest.split_at_mut(stretch.end - passed);
            parts.push((&mut before[stretch.start - passed..], of_stretch));
            (reals, rest, passed) = (others, after, stretch.end);
        }
        parts.into_par_iter().for_each(|(spinors, reals)| {
            spinors.par_iter_mut().zip(reals.par_chunks_exact(REALS)).for_each(|(spinor, reals)| {
                bytemuck::bytes_of_mut(&mut spinor.0).copy_from_slice(bytemuck::cast_slice(reals));
            });
        });
        Ok(())
    }
}
