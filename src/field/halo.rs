//! What neighbouring slabs tell each other: half-spinors on their first and last time slice.

use crate::device::{Argument, ArgumentList, Buffer, DeviceError, Kernel, Pending, PinnedBuffer, Range};
use crate::geometry::Lattice;
use crate::host::Spinor;
use crate::scalar::Storage;
use bytemuck::Pod;
use std::sync::Arc;

/// The halos of all slabs of a lattice. Slabs are a ring along t. Half-spinors are in the precision of the arithmetic.
///
/// A device cannot reach the memory of another one through OpenCL, so everything goes by the host: from one device to pinned memory, and from
/// there to the other.
pub(crate) struct Halo<T: Storage> {
    slabs: Vec<SlabHalo<T::Real>>,
    sources: usize,
}

struct SlabHalo<T> {
    to_behind: Buffer<T>,
    to_ahead: Buffer<T>,
    from_behind: Buffer<T>,
    from_ahead: Buffer<T>,
    /// What the slab behind and the slab ahead have been sent, or are being sent, in pinned host memory; after a failed transfer there is none.
    sent: [Option<Pending<Arc<PinnedBuffer<T>>>>; 2],
}

impl<T: Pod> SlabHalo<T> {
    /// Pinned memory for what goes behind and ahead next: that of the last time, once the neighbours have it.
    fn staging(&mut self) -> Result<[PinnedBuffer<T>; 2], DeviceError> {
        let (device, len) = (self.to_behind.device().clone(), self.to_behind.len());
        let staging = |sent: &mut Option<Pending<Arc<PinnedBuffer<T>>>>| {
            let kept = sent.take().map(Pending::wait).transpose()?.and_then(Arc::into_inner);
            kept.map_or_else(|| PinnedBuffer::zeroed(&device, len), Ok)
        };
        let [behind, ahead] = &mut self.sent;
        Ok([staging(behind)?, staging(ahead)?])
    }
}

/// What a launch of the packing kernel needs of one slab.
pub(crate) struct Packing<'a, T: Storage> {
    pub kernel: &'a Kernel,
    pub range: Range,
    pub psi: &'a Buffer<T::Stored>,
    pub links: &'a Buffer<T::Stored>,
    /// The arguments after the four buffers.
    pub trailing: [Argument<'a>; 5],
}

impl<T: Storage> Halo<T> {
    /// Complex numbers in a half-spinor.
    const COMPONENTS: usize = Spinor::<T::Real>::COMPONENTS / 2;

    /// For this many fields at once.
    pub fn new(lattice: &Lattice, sources: usize) -> Result<Self, DeviceError> {
        let dims = lattice.dims();
        let slabs = lattice.slabs().iter().map(|slab| {
            let face_sites = slab.layout(dims, T::STORAGE).face_sites();
            let buffer = || Buffer::zeroed(&slab.device, sources * 2 * 2 * Self::COMPONENTS * face_sites);
            Ok(SlabHalo {
                to_behind: buffer()?,
                to_ahead: buffer()?,
                from_behind: buffer()?,
                from_ahead: buffer()?,
                sent: [None, None],
            })
        });
        Ok(Self { slabs: slabs.collect::<Result<_, DeviceError>>()?, sources })
    }

    /// Packs the faces of each slab and passes them to its neighbours: those of the sites of one parity, or of all. Kernels that are launched
    /// later find them there.
    ///
    /// The host waits for the packing, and so for every kernel enqueued before it: no earlier stencil still reads the buffers that
    /// are written here.
    pub fn exchange<'a>(
        &mut self,
        parity: Option<usize>,
        packings: impl Iterator<Item = Packing<'a, T>>,
    ) -> Result<(), DeviceError> {
        let mut reads = Vec::with_capacity(self.slabs.len());
        for (slab, packing) in self.slabs.iter_mut().zip(packings) {
            let [behind, ahead] = slab.staging()?;
            let fields = [
                packing.psi.into(),
                packing.links.into(),
                Argument::from(&mut slab.to_behind),
                Argument::from(&mut slab.to_ahead),
            ];
            let arguments = ArgumentList::new(fields).and(packing.trailing);
            let packed = packing.kernel.launch(packing.range, arguments.as_slice())?;
            let elements = part(slab.to_behind.len(), self.sources, parity);
            reads.push((
                behind.read_start_from(slab.to_behind.slice(elements.clone())?, &[&packed])?,
                ahead.read_start_from(slab.to_ahead.slice(elements)?, &[&packed])?,
            ));
        }
        let mut packed = Vec::with_capacity(reads.len());
        for (behind, ahead) in reads {
            packed.push((Arc::new(behind.wait()?), Arc::new(ahead.wait()?)));
        }

        let count = self.slabs.len();
        let mut arrivals = vec![Vec::new(); count];
        for (k, (behind, ahead)) in packed.into_iter().enumerate() {
            let elements = part(self.slabs[k].to_behind.len(), self.sources, parity);
            let neighbours = [(k + count - 1) % count, (k + 1) % count];
            let to = self.slabs[neighbours[0]].from_ahead.slice_mut(elements.clone())?;
            let behind = behind.share_start_to(to, &[])?;
            let to = self.slabs[neighbours[1]].from_behind.slice_mut(elements)?;
            let ahead = ahead.share_start_to(to, &[])?;
            for (neighbour, sent) in neighbours.into_iter().zip([&behind, &ahead]) {
                arrivals[neighbour].push(sent.event().clone());
            }
            self.slabs[k].sent = [Some(behind), Some(ahead)];
        }
        for (slab, arrivals) in self.slabs.iter().zip(&arrivals) {
            slab.to_behind.device().compute_after(&arrivals.iter().collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// What slab `k` received: from ahead, from behind.
    pub fn received(&self, k: usize) -> (&Buffer<T::Real>, &Buffer<T::Real>) {
        (&self.slabs[k].from_ahead, &self.slabs[k].from_behind)
    }
}

/// The elements of a halo buffer of this length that belong to the sites of one parity, or of both. Of several fields all are sent.
fn part(len: usize, sources: usize, parity: Option<usize>) -> std::ops::Range<usize> {
    match parity {
        Some(parity) if sources == 1 => parity * (len / 2)..(parity + 1) * (len / 2),
        _ => 0..len,
    }
}
