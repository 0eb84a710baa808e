//! Halos: half-spinors on the slices beside a cut, from neighbouring domains.

use super::communicator::Communicator;
use super::faces::{Exchange, Faces, FacesOfLaunch, Packed};
use crate::compute::{Argument, ArgumentList, Buffer, DeviceError, Kernel, PeerFlags, Peers, Range};
use crate::geometry::{FieldKind, Lattice};
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

/// The flags of one domain in one exchange.
pub(crate) struct DomainFlags<'a> {
    flags: &'a PeerFlags,
    /// The counter of work-groups that have packed.
    groups_done: &'a Buffer<u32>,
    /// The number of the domain among those of all ranks.
    number: usize,
    epoch: u32,
}

impl<'a> DomainFlags<'a> {
    fn of(
        flags: Option<&'a PeerFlags>,
        groups_done: &'a [Buffer<u32>],
        domain: usize,
        epoch: u32,
    ) -> Option<Self> {
        let flags = flags?;
        Some(Self {
            flags,
            groups_done: &groups_done[domain],
            number: flags.peers().numbers()[domain],
            epoch,
        })
    }

    /// Returns the arguments of a kernel that waits for the domains beside.
    pub fn wait_arguments(&self) -> [Argument<'a>; 4] {
        self.flags.wait_arguments(self.number, self.epoch)
    }

    /// Returns the flags of the domains behind and ahead, for a kernel that packs.
    pub fn told(&self, beside: [usize; 2]) -> [Argument<'a>; 2] {
        beside.map(|at| self.flags.argument(at, self.number))
    }

    /// Returns the arguments of a kernel that packs, and waits for nothing.
    pub fn raise_arguments(&self) -> [Argument<'a>; 3] {
        self.flags.raise_arguments(self.groups_done, self.number, self.epoch)
    }

    /// Returns the arguments of a kernel that packs, and waits for the domains beside.
    pub fn meeting_arguments(&self) -> Result<[Argument<'a>; 3], DeviceError> {
        self.flags.meeting_arguments(self.groups_done, self.number, self.epoch)
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
            columns * 2 * 2 * FieldKind::WILSON.sent_by_face_site() * shard.layout(T::STORAGE).face_sites(mu)
        })?;
        Ok(Self { exchange, columns })
    }

    /// Returns the devices if they wait for each other's flags.
    pub fn waiting_peers(&self) -> Option<Arc<Peers>> {
        self.exchange.flags.as_ref().map(|flags| Arc::clone(flags.peers()))
    }

    /// Begins an exchange in which the kernels that read faces pack them too.
    ///
    /// The caller locks the order of [`waiting_peers`](Self::waiting_peers), launches such a kernel on each
    /// device, and flushes the launches.
    pub fn begin(&mut self) {
        self.exchange.begin();
    }

    /// Packs the faces of each domain and starts to send them to its neighbours.
    ///
    /// The caller has locked the order of [`waiting_peers`](Self::waiting_peers).
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
        let (epoch, flags) = (self.exchange.epoch, self.exchange.flags.as_ref());
        let groups_done = &self.exchange.groups_done;
        let domains = self.exchange.domains.iter_mut().enumerate();
        for ((domain, all), packing) in domains.zip(packings) {
            let flags = DomainFlags::of(flags, groups_done, domain, epoch);
            let mut arguments =
                ArgumentList::new([packing.psi.into(), packing.links.into()]).and(packing.place);
            for (faces, phase) in all.iter_mut().zip(packing.phases) {
                let Faces { behind, ahead, beside, .. } = faces;
                arguments.extend([behind, ahead].map(|face| Argument::from(face.sent(epoch))));
                arguments.extend(phase);
                arguments.extend(flags.iter().flat_map(|flags| flags.told(*beside)));
            }
            arguments.extend(flags.iter().flat_map(DomainFlags::raise_arguments));
            let mut event = None;
            if let Some(DomainFlags { flags, number, .. }) = flags {
                packing.kernel.start(packing.range, arguments.as_slice())?;
                all.iter().try_for_each(|faces| flags.raised(number, faces.beside, epoch))?;
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

    /// Returns the faces of domain `k` for a launch, and its flags if kernels wait for faces.
    ///
    /// In each cut direction, the faces are those that the domain received, and those to send behind and
    /// ahead.
    pub fn of_launch(
        &mut self,
        k: usize,
    ) -> (impl Iterator<Item = FacesOfLaunch<'_, T::Real>>, Option<DomainFlags<'_>>) {
        let Exchange { domains, epoch, flags, groups_done, .. } = &mut self.exchange;
        let (epoch, flags, groups_done) = (*epoch, flags.as_ref(), &groups_done[..]);
        let has_flags = flags.is_some();
        let faces = domains[k].iter_mut().map(move |faces| faces.of_launch(epoch, has_flags));
        (faces, DomainFlags::of(flags, groups_done, k, epoch))
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
