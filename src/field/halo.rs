//! What neighbouring domains tell each other: half-spinors on the slices beside a cut.

use super::communicator::Communicator;
use super::faces::{Exchange, Faces, Packed, Received};
use crate::device::{Argument, ArgumentList, Buffer, DeviceError, Kernel, Range};
use crate::geometry::Lattice;
use crate::host::Spinor;
use crate::scalar::Storage;
use std::sync::Arc;

/// The halos of all domains of a lattice. Half-spinors are in the precision of the arithmetic.
pub(crate) struct Halo<T: Storage> {
    exchange: Exchange<T::Real>,
    columns: usize,
}

/// What a launch of the packing kernel for one direction needs of one domain.
pub(crate) struct Packing<'a, T: Storage> {
    pub kernel: &'a Kernel,
    pub range: Range,
    pub psi: &'a Buffer<T::Stored>,
    pub links: &'a Buffer<T::Stored>,
    /// The arguments after the four buffers.
    pub trailing: [Argument<'a>; 6],
}

impl<T: Storage> Halo<T> {
    /// Complex numbers in a half-spinor.
    const COMPONENTS: usize = Spinor::<T::Real>::COMPONENTS / 2;

    /// For this many fields at once.
    pub fn new(
        lattice: &Lattice,
        columns: usize,
        communicator: &impl Communicator,
    ) -> Result<Self, DeviceError> {
        let exchange = communicator.faces(lattice, |shard, mu| {
            columns * 2 * 2 * Self::COMPONENTS * shard.layout(T::STORAGE).face_sites(mu)
        })?;
        Ok(Self { exchange, columns })
    }

    /// Packs the faces of each domain and starts to pass them to its neighbours: those of the sites of one parity, or of all. Kernels
    /// that are launched later find them there, or if this is true, only those after [`finish`](Self::finish).
    ///
    /// `packings` are those of each domain's cut directions, domain by domain.
    pub fn start<'a>(
        &mut self,
        communicator: &impl Communicator,
        parity: Option<usize>,
        packings: impl Iterator<Item = Packing<'a, T>>,
    ) -> Result<bool, DeviceError> {
        self.exchange.begin();
        // Until all devices have packed.
        let peers = self.exchange.flags.as_ref().map(|flags| Arc::clone(flags.peers()));
        let _order = peers.as_ref().map(|peers| peers.in_order());
        let (epoch, flags) = (self.exchange.epoch, &self.exchange.flags);
        let domains = self.exchange.domains.iter_mut().enumerate();
        let faces = domains.flat_map(|(domain, faces)| faces.iter_mut().map(move |faces| (domain, faces)));
        for ((domain, faces), packing) in faces.zip(packings) {
            let Faces { behind, ahead, packed, beside, groups_done, .. } = faces;
            let [behind, ahead] = [behind, ahead].map(|face| face.sent(epoch));
            let len = ahead.len();
            let fields =
                [packing.psi.into(), packing.links.into(), Argument::from(behind), Argument::from(ahead)];
            let mut arguments = ArgumentList::new(fields).and(packing.trailing);
            let mut event = None;
            if let (Some(flags), Some(done)) = (flags, groups_done) {
                arguments.extend(flags.raise_arguments(done, domain, *beside, epoch));
                packing.kernel.start(packing.range, arguments.as_slice())?;
                flags.raised(domain, *beside, epoch)?;
            } else {
                event = Some(packing.kernel.launch(packing.range, arguments.as_slice())?);
            }
            *packed = Some(Packed { event, elements: part(len, self.columns, parity) });
        }
        communicator.start_exchange(&mut self.exchange)
    }

    /// Passes on what has been started.
    pub fn finish(&mut self, communicator: &impl Communicator) -> Result<(), DeviceError> {
        communicator.finish_exchange(&mut self.exchange)
    }

    /// What domain `k` received in each cut direction.
    pub fn received(&self, k: usize) -> impl Iterator<Item = Received<'_, T::Real>> {
        self.exchange.received(k)
    }

    /// The arguments of a kernel of domain `k` that waits for what it received; none where that is there already.
    pub fn wait_arguments(&self, k: usize) -> impl Iterator<Item = Argument<'_>> {
        let flags = self.exchange.flags.as_ref();
        flags.map(|flags| flags.wait_arguments(k, self.exchange.epoch)).into_iter().flatten()
    }
}

/// The elements of a halo buffer of this length that belong to the sites of one parity, or of both. Of several fields all are sent.
fn part(len: usize, columns: usize, parity: Option<usize>) -> std::ops::Range<usize> {
    match parity {
        Some(parity) if columns == 1 => parity * (len / 2)..(parity + 1) * (len / 2),
        _ => 0..len,
    }
}
