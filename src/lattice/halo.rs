//! What neighbouring slabs tell each other: half-spinors on their first and last time slice.

use super::Lattice;
use crate::device::{Argument, ArgumentList, Buffer, DeviceError, Kernel, PinnedBuffer, Range};
use crate::host::Spinor;
use crate::scalar::Storage;

/// The halos of all slabs of a lattice. Slabs are a ring along t. Half-spinors are in the precision of the arithmetic.
///
/// A device cannot reach the memory of another one through OpenCL, so everything goes by the host.
pub(crate) struct Halo<T: Storage> {
    slabs: Vec<SlabHalo<T::Real>>,
}

struct SlabHalo<T> {
    to_behind: Buffer<T>,
    to_ahead: Buffer<T>,
    from_behind: Buffer<T>,
    from_ahead: Buffer<T>,
    /// Pinned host memory for what goes to and comes from the slab behind, and the slab ahead. Transfers take it and give it
    /// back; after a failed one it is made anew.
    staging: Option<[PinnedBuffer<T>; 2]>,
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
                staging: None,
            })
        });
        Ok(Self { slabs: slabs.collect::<Result<_, DeviceError>>()? })
    }

    /// Packs the faces of each slab and passes them to its neighbours.
    ///
    /// The host waits for the packing, and so for every kernel enqueued before it: no earlier stencil still reads the buffers that
    /// are written here.
    pub fn exchange<'a>(
        &mut self,
        packings: impl Iterator<Item = Packing<'a, T>>,
    ) -> Result<(), DeviceError> {
        let mut reads = Vec::with_capacity(self.slabs.len());
        for (slab, packing) in self.slabs.iter_mut().zip(packings) {
            let device = slab.to_behind.device().clone();
            let fields = [
                packing.psi.into(),
                packing.links.into(),
                Argument::from(&mut slab.to_behind),
                Argument::from(&mut slab.to_ahead),
            ];
            let arguments = ArgumentList::new(fields).and(packing.trailing);
            let packed = packing.kernel.launch(packing.range, arguments.as_slice())?;
            let [behind, ahead] = match slab.staging.take() {
                Some(staging) => staging,
                None => {
                    let len = slab.to_behind.len();
                    [PinnedBuffer::zeroed(&device, len)?, PinnedBuffer::zeroed(&device, len)?]
                }
            };
            reads.push((
                behind.read_from(&slab.to_behind, &[&packed])?,
                ahead.read_from(&slab.to_ahead, &[&packed])?,
            ));
        }
        let (mut behind, mut ahead) = (Vec::new(), Vec::new());
        for (read_behind, read_ahead) in reads {
            behind.push(read_behind.wait()?);
            ahead.push(read_ahead.wait()?);
        }

        // What slab k sends ahead and what slab k + 1 sends behind change places.
        let count = self.slabs.len();
        for (k, ahead) in ahead.iter_mut().enumerate() {
            ahead.as_mut_slice().swap_with_slice(behind[(k + 1) % count].as_mut_slice());
        }

        let mut writes = Vec::with_capacity(count);
        for ((slab, behind), ahead) in self.slabs.iter_mut().zip(behind).zip(ahead) {
            writes.push((
                behind.write_to(&mut slab.from_behind, &[])?,
                ahead.write_to(&mut slab.from_ahead, &[])?,
            ));
        }
        for (slab, (behind, ahead)) in self.slabs.iter_mut().zip(writes) {
            slab.staging = Some([behind.wait()?, ahead.wait()?]);
        }
        Ok(())
    }

    /// What slab `k` received: from ahead, from behind.
    pub fn received(&self, k: usize) -> (&Buffer<T::Real>, &Buffer<T::Real>) {
        (&self.slabs[k].from_ahead, &self.slabs[k].from_behind)
    }
}
