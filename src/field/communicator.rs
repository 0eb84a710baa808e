//! How faces and sums travel between the domains of a lattice.

use crate::device::{Buffer, DeviceError, Event, Pending, PinnedBuffer};
use crate::geometry::{Lattice, NDIM, Neighbours};
use bytemuck::Pod;
use std::ops::Range;
use std::sync::Arc;

/// What knows where the other domains of a lattice are. Everything else knows its own domain alone.
pub(crate) trait Communicator {
    /// Carries the packed faces of each domain to its neighbours: what one sends ahead the next one receives from behind.
    ///
    /// `domains` has the faces of each domain of this process, in the order of their numbers, in the directions that are cut.
    /// Kernels that are launched later find there what was received. Before anything is written, all faces have been packed,
    /// so that no earlier kernel of these queues still reads what was received last.
    ///
    /// # Errors
    /// When a transfer fails.
    fn exchange<R: Pod>(&self, domains: &mut [Vec<Faces<R>>]) -> Result<(), DeviceError>;

    /// total = the sum over all domains of equally long arrays; `parts` has those of this process, which are added in their order.
    ///
    /// # Errors
    /// When numbers cannot be had from elsewhere.
    fn sum(&self, parts: &[&[f64]], total: &mut [f64]) -> Result<(), DeviceError>;
}

/// The two faces of a domain across one direction.
pub(crate) struct Faces<R> {
    /// The direction.
    pub mu: usize,
    /// Before the first slice.
    pub behind: Face<R>,
    /// After the last slice.
    pub ahead: Face<R>,
    /// What both send next: when it is there, and which elements of the buffers it is.
    pub packed: Option<(Event, Range<usize>)>,
}

/// What passes through one face, in buffers of the domain's device.
pub(crate) struct Face<R> {
    /// What the neighbour is sent.
    pub sent: Buffer<R>,
    /// What the neighbour sent.
    pub received: Buffer<R>,
    /// The last message on its way, in pinned memory; after a failed transfer there is none.
    under_way: Option<Pending<Arc<PinnedBuffer<R>>>>,
}

impl<R> Faces<R> {
    /// With buffers that `buffer` makes.
    pub fn new(mu: usize, buffer: impl Fn() -> Result<Buffer<R>, DeviceError>) -> Result<Self, DeviceError> {
        let face = || Ok::<_, DeviceError>(Face { sent: buffer()?, received: buffer()?, under_way: None });
        Ok(Self { mu, behind: face()?, ahead: face()?, packed: None })
    }
}

impl<R: Pod> Face<R> {
    /// Pinned memory for what is sent next: that of the last message, once it has arrived.
    fn staging(&mut self) -> Result<PinnedBuffer<R>, DeviceError> {
        let last = self.under_way.take().map(Pending::wait).transpose()?.and_then(Arc::into_inner);
        last.map_or_else(|| PinnedBuffer::zeroed(self.sent.device(), self.sent.len()), Ok)
    }
}

/// All domains are on devices of a team in this process.
///
/// A device cannot reach the memory of another one through OpenCL, so a face goes by the host: from one device to pinned memory,
/// and from there to the other.
#[derive(Clone)]
pub(crate) struct Local {
    /// Those of each domain.
    neighbours: Arc<[Neighbours]>,
}

/// The face of a domain that a message goes through.
#[derive(Clone, Copy)]
enum Side {
    Behind,
    Ahead,
}

impl Side {
    fn of<R>(self, faces: &mut Faces<R>) -> &mut Face<R> {
        match self {
            Side::Behind => &mut faces.behind,
            Side::Ahead => &mut faces.ahead,
        }
    }

    fn opposite(self) -> Self {
        match self {
            Side::Behind => Side::Ahead,
            Side::Ahead => Side::Behind,
        }
    }

    fn neighbour(self, neighbours: &Neighbours) -> [usize; NDIM] {
        match self {
            Side::Behind => neighbours.behind,
            Side::Ahead => neighbours.ahead,
        }
    }
}

/// What a domain sends through one face, on its way to the host.
struct Message<R> {
    domain: usize,
    /// The place of the direction among those that are cut.
    direction: usize,
    side: Side,
    elements: Range<usize>,
    read: Pending<PinnedBuffer<R>>,
}

impl Local {
    pub fn new(lattice: &Lattice) -> Self {
        let grid = lattice.grid();
        Self { neighbours: (0..grid.count()).map(|number| Neighbours::of(grid, number)).collect() }
    }
}

impl Communicator for Local {
    fn exchange<R: Pod>(&self, domains: &mut [Vec<Faces<R>>]) -> Result<(), DeviceError> {
        let mut messages = Vec::new();
        for (domain, all) in domains.iter_mut().enumerate() {
            for (direction, faces) in all.iter_mut().enumerate() {
                let Some((packed, elements)) = faces.packed.take() else { continue };
                for side in [Side::Behind, Side::Ahead] {
                    let face = side.of(faces);
                    let sent = face.staging()?;
                    let read = sent.read_start_from(face.sent.slice(elements.clone())?, &[&packed])?;
                    messages.push(Message { domain, direction, side, elements: elements.clone(), read });
                }
            }
        }
        let mut on_host = Vec::with_capacity(messages.len());
        for Message { domain, direction, side, elements, read } in messages {
            on_host.push((domain, direction, side, elements, Arc::new(read.wait()?)));
        }

        let mut arrivals = vec![Vec::new(); domains.len()];
        for (domain, direction, side, elements, message) in on_host {
            let mu = domains[domain][direction].mu;
            let neighbour = side.neighbour(&self.neighbours[domain])[mu];
            let to = side.opposite().of(&mut domains[neighbour][direction]);
            let under_way = message.share_start_to(to.received.slice_mut(elements)?, &[])?;
            arrivals[neighbour].push(under_way.event().clone());
            side.of(&mut domains[domain][direction]).under_way = Some(under_way);
        }
        for (all, arrivals) in domains.iter().zip(&arrivals) {
            if let Some(faces) = all.first() {
                faces.ahead.sent.device().compute_after(&arrivals.iter().collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    fn sum(&self, parts: &[&[f64]], total: &mut [f64]) -> Result<(), DeviceError> {
        total.fill(0.0);
        for part in parts {
            total.iter_mut().zip(*part).for_each(|(total, part)| *total += part);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Device, DeviceOptions, Team, discover};
    use crate::geometry::{Dims, Grid};

    /// Every face carries a number of its own, and finds that of the right neighbour.
    #[test]
    fn a_face_receives_what_its_neighbour_sent() {
        let dims = Dims::new([4, 4, 4, 4]).unwrap();
        let found = discover().devices;
        let device = Device::open(&found[0], &DeviceOptions::default()).unwrap();
        let grid = Grid::new([2, 1, 1, 3]).unwrap();
        let lattice = Lattice::with_grid(&Team::of(vec![device.clone(); grid.count()]), dims, grid).unwrap();
        let name = |domain: usize, mu: usize, side: Side| (10 * domain + 2 * mu + side as usize) as f64;
        let faces = |domain: usize, mu: usize| {
            let mut faces = Faces::new(mu, || Buffer::<f64>::zeroed(&device, 5)).unwrap();
            for side in [Side::Behind, Side::Ahead] {
                side.of(&mut faces).sent.write(&[name(domain, mu, side); 5]).unwrap();
            }
            // Any event will do: the buffers are filled.
            let mut other = Buffer::zeroed(&device, 1).unwrap();
            let zero = Arc::new(PinnedBuffer::<f64>::zeroed(&device, 1).unwrap());
            let written = zero.share_start_to(other.slice_mut(..).unwrap(), &[]).unwrap();
            Faces { packed: Some((written.event().clone(), 1..4)), ..faces }
        };
        let mut domains: Vec<_> =
            (0..grid.count()).map(|domain| vec![faces(domain, 0), faces(domain, 3)]).collect();
        let local = Local::new(&lattice);
        local.exchange(&mut domains).unwrap();
        for (domain, all) in domains.iter_mut().enumerate() {
            for faces in all {
                let (mu, neighbours) = (faces.mu, Neighbours::of(grid, domain));
                for side in [Side::Behind, Side::Ahead] {
                    let sent = name(side.neighbour(&neighbours)[mu], mu, side.opposite());
                    assert_eq!(side.of(faces).received.to_vec().unwrap(), [0.0, sent, sent, sent, 0.0]);
                }
            }
        }
    }

    #[test]
    fn sums_are_added_in_their_order() {
        let lattice = Lattice::new(&Team::host(), Dims::new([2; 4]).unwrap()).unwrap();
        let (big, mut total) = (1e300, [7.0; 2]);
        Local::new(&lattice).sum(&[&[big, 1.0], &[-big, 2.0], &[1.0, 3.0]], &mut total).unwrap();
        assert_eq!(total, [1.0, 6.0]);
    }
}
