//! What neighbouring domains tell each other: half-spinors on the slices beside a cut.

use super::communicator::Communicator;
use super::faces::{Exchange, Packed};
use crate::device::{Argument, ArgumentList, Buffer, DeviceError, Kernel, Range};
use crate::geometry::Lattice;
use crate::host::Spinor;
use crate::scalar::Storage;

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

    /// Packs the faces of each domain and passes them to its neighbours: those of the sites of one parity, or of all. Kernels
    /// that are launched later find them there.
    ///
    /// `packings` are those of each domain's cut directions, domain by domain.
    pub fn exchange<'a>(
        &mut self,
        communicator: &impl Communicator,
        parity: Option<usize>,
        packings: impl Iterator<Item = Packing<'a, T>>,
    ) -> Result<(), DeviceError> {
        self.exchange.begin();
        let wants_events = self.exchange.waits_for_events();
        for ((faces, epoch), packing) in self.exchange.faces_mut().zip(packings) {
            let [behind, ahead] = [&mut faces.behind, &mut faces.ahead].map(|face| face.sent(epoch));
            let len = ahead.len();
            let fields =
                [packing.psi.into(), packing.links.into(), Argument::from(behind), Argument::from(ahead)];
            let arguments = ArgumentList::new(fields).and(packing.trailing);
            let event = if wants_events {
                Some(packing.kernel.launch(packing.range, arguments.as_slice())?)
            } else {
                packing.kernel.start(packing.range, arguments.as_slice())?;
                None
            };
            faces.packed = Some(Packed { event, elements: part(len, self.columns, parity) });
        }
        communicator.exchange(&mut self.exchange)
    }

    /// What domain `k` received in each cut direction: from ahead, from behind.
    pub fn received(&self, k: usize) -> impl Iterator<Item = [&Buffer<T::Real>; 2]> {
        self.exchange.received(k)
    }
}

/// The elements of a halo buffer of this length that belong to the sites of one parity, or of both. Of several fields all are sent.
fn part(len: usize, columns: usize, parity: Option<usize>) -> std::ops::Range<usize> {
    match parity {
        Some(parity) if columns == 1 => parity * (len / 2)..(parity + 1) * (len / 2),
        _ => 0..len,
    }
}
