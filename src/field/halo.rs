//! Halos: half-spinors on the slices beside a cut, from neighbouring domains.

use super::communicator::Communicator;
use super::faces::{Exchange, Faces, Packed, Received};
use crate::device::{Argument, ArgumentList, Buffer, DeviceError, Kernel, Range};
use crate::geometry::Lattice;
use crate::host::Spinor;
use crate::scalar::Storage;
use crate::sync::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The halos of all domains of a lattice.
///
/// Half-spinors are in the precision of the arithmetic.
pub(crate) struct Halo<T: Storage> {
    exchange: Exchange<T::Real>,
    columns: usize,
}

/// A halo that all stencils of a lattice share.
///
/// The halo is locked from the packing of faces to the launch that reads the received faces.
pub(crate) type SharedHalo<T> = Arc<Mutex<Halo<T>>>;

/// The halos of a lattice, by the number of fields.
struct Halos<T: Storage>(Mutex<HashMap<usize, SharedHalo<T>>>);

impl<T: Storage> Default for Halos<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// The data of one domain for a launch of the packing kernel.
pub(crate) struct Packing<'a, T: Storage> {
    pub kernel: &'a Kernel,
    pub range: Range,
    pub psi: &'a Buffer<T::Stored>,
    pub links: &'a Buffer<T::Stored>,
    /// The arguments after the fields.
    pub place: [Argument<'a>; 4],
    /// The arguments of the phase in each cut direction.
    pub phases: Vec<[Argument<'a>; 2]>,
}

impl<T: Storage> Halo<T> {
    /// Complex numbers in a half-spinor.
    const COMPONENTS: usize = Spinor::<T::Real>::COMPONENTS / 2;

    /// Returns the halo of a lattice for this many fields, made on first use.
    ///
    /// Memory that devices share takes milliseconds to allocate.
    pub fn shared(
        lattice: &Lattice,
        columns: usize,
        communicator: &impl Communicator,
    ) -> Result<SharedHalo<T>, DeviceError> {
        let halos = lattice.kept::<Halos<T>>();
        let mut halos = lock(&halos.0);
        if let Some(halo) = halos.get(&columns) {
            return Ok(Arc::clone(halo));
        }
        let halo = Arc::new(Mutex::new(Self::new(lattice, columns, communicator)?));
        halos.insert(columns, Arc::clone(&halo));
        Ok(halo)
    }

    fn new(lattice: &Lattice, columns: usize, communicator: &impl Communicator) -> Result<Self, DeviceError> {
        let exchange = communicator.faces(lattice, |shard, mu| {
            columns * 2 * 2 * Self::COMPONENTS * shard.layout(T::STORAGE).face_sites(mu)
        })?;
        Ok(Self { exchange, columns })
    }

    /// Packs the faces of each domain and starts to send them to its neighbours.
    ///
    /// The faces have the sites of one parity, or all sites. Kernels that are launched later find the
    /// faces. If the result is `true`, only kernels after [`finish`](Self::finish) find them. `packings`
    /// has one entry for each domain.
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
        let groups_done = &self.exchange.groups_done;
        let number = |domain: usize| peers.as_ref().map_or(domain, |peers| peers.numbers()[domain]);
        let domains = self.exchange.domains.iter_mut().enumerate();
        for ((domain, all), packing) in domains.zip(packings) {
            let mut arguments =
                ArgumentList::new([packing.psi.into(), packing.links.into()]).and(packing.place);
            for (faces, phase) in all.iter_mut().zip(packing.phases) {
                let Faces { behind, ahead, beside, .. } = faces;
                arguments.extend([behind, ahead].map(|face| Argument::from(face.sent(epoch))));
                arguments.extend(phase);
                if let Some(flags) = flags {
                    arguments.extend(beside.map(|at| flags.argument(at, number(domain))));
                }
            }
            let mut event = None;
            if let Some(flags) = flags {
                arguments.extend(flags.raise_arguments(&groups_done[domain], number(domain), epoch));
                packing.kernel.start(packing.range, arguments.as_slice())?;
                all.iter().try_for_each(|faces| flags.raised(number(domain), faces.beside, epoch))?;
            } else {
                event = Some(packing.kernel.launch(packing.range, arguments.as_slice())?);
            }
            for faces in all {
                let elements = part(faces.ahead.sent(epoch).len(), self.columns, parity);
                faces.packed = Some(Packed { event: event.clone(), elements });
            }
        }
        communicator.start_exchange(&mut self.exchange)
    }

    /// Finishes the exchange that was started.
    pub fn finish(&mut self, communicator: &impl Communicator) -> Result<(), DeviceError> {
        communicator.finish_exchange(&mut self.exchange)
    }

    /// Returns the faces that domain `k` received in each cut direction.
    pub fn received(&self, k: usize) -> impl Iterator<Item = Received<'_, T::Real>> {
        self.exchange.received(k)
    }

    /// Returns the arguments of a kernel of domain `k` that waits for its faces.
    ///
    /// The result is empty if the faces have arrived already.
    pub fn wait_arguments(&self, k: usize) -> impl Iterator<Item = Argument<'_>> {
        let flags = self.exchange.flags.as_ref();
        let epoch = self.exchange.epoch;
        flags.map(|flags| flags.wait_arguments(flags.peers().numbers()[k], epoch)).into_iter().flatten()
    }
}

/// Returns the elements of a halo buffer that belong to one parity, or to both.
///
/// Several fields are sent as a whole.
fn part(len: usize, columns: usize, parity: Option<usize>) -> std::ops::Range<usize> {
    match parity {
        Some(parity) if columns == 1 => parity * (len / 2)..(parity + 1) * (len / 2),
        _ => 0..len,
    }
}
