//! Tests of faces and sums between the domains of a small grid, in every way.

use super::*;
use crate::compute::{
    Buffer, Device, DeviceOptions, Fault, PeerFlags, PeerWay, PeerWays, PinnedBuffer, Selector, Team,
    TeamSums, discover,
};
use crate::field::KERNELS_WAIT;
use crate::field::faces::{Packed, Side};
use crate::geometry::{Dims, Grid};
use crate::sync::lock;
use std::time::Duration;

/// Makes a team of `count` copies of the first device, with these ways and a context each.
fn team(count: usize, ways: PeerWays) -> Team {
    let found = discover().devices;
    let options = DeviceOptions::default().with_peer(Some(ways));
    Team::of((0..count).map(|_| Device::open(&found[0], &options).unwrap()).collect::<Vec<_>>())
}

/// Checks that each face of so many numbers receives what its neighbour sent, in one of the ways.
fn check_faces(grid: Grid, ways: PeerWays, numbers: usize) {
    let lattice = small_lattice(grid, ways);
    let local = Local::new(&lattice).unwrap();
    let exchange = local.faces::<f64>(&lattice, |_, _| numbers).unwrap();
    check_exchange(&lattice, numbers, exchange, |exchange| local.exchange(exchange).unwrap());
}

fn small_lattice(grid: Grid, ways: PeerWays) -> Lattice {
    let dims = Dims::new([4, 4, 4, 4]).unwrap();
    Lattice::with_grid(&team(grid.count(), ways), dims, grid).unwrap()
}

/// Checks exchanges of faces of so many numbers, all but the first and the last.
fn check_exchange(
    lattice: &Lattice,
    numbers: usize,
    mut exchange: Exchange<f64>,
    carry: impl Fn(&mut Exchange<f64>),
) {
    let sent_numbers = 1..numbers - 1;
    let grid = lattice.grid();
    let name = |domain: usize, mu: usize, side: Side, epoch: u32| {
        f64::from(1000 * epoch) + (10 * domain + 2 * mu + side as usize) as f64
    };
    for epoch in 1..6 {
        exchange.begin();
        let wanted = exchange.flags.is_none();
        for (domain, all) in exchange.domains.iter_mut().enumerate() {
            let device = lattice.shards()[domain].device.clone();
            for faces in all {
                for side in Side::BOTH {
                    let value = name(domain, faces.mu, side, epoch);
                    let mut sent = side.of(faces).sent(epoch).slice_mut(sent_numbers.clone()).unwrap();
                    sent.write(&vec![value; numbers - 2]).unwrap();
                }
                // Any event will do: the buffers are filled.
                let mut other = Buffer::zeroed(&device, 1).unwrap();
                let zero = Arc::new(PinnedBuffer::<f64>::zeroed(&device, 1).unwrap());
                let written = zero.share_start_to(other.slice_mut(..).unwrap(), &[]).unwrap();
                let event = wanted.then(|| written.event().clone());
                faces.packed = Some(Packed { event, elements: sent_numbers.clone() });
            }
        }
        // Kernels that pack would have done this.
        if let Some(flags) = &exchange.flags {
            let pairs = (0..grid.count()).flat_map(|by| (0..grid.count()).map(move |at| (by, at)));
            pairs.for_each(|(by, at)| flags.raise(by, at, epoch).unwrap());
        }
        carry(&mut exchange);
        for (domain, all) in exchange.domains.iter_mut().enumerate() {
            for faces in all {
                let (mu, neighbours) = (faces.mu, Neighbours::of(grid, domain));
                for side in Side::BOTH {
                    let sent = name(side.neighbour(&neighbours)[mu], mu, side.opposite(), epoch);
                    let received = side.of(faces).of_launch(epoch).0.to_vec().unwrap();
                    let ends = [received[0], received[numbers - 1]];
                    assert_eq!(ends, [0.0; 2], "{grid} {domain} {mu}");
                    assert!(received[sent_numbers.clone()].iter().all(|&number| number == sent));
                }
            }
        }
    }
}

#[test]
fn a_face_receives_what_its_neighbour_sent() {
    let _waiting = lock(&KERNELS_WAIT);
    let grid = |parts| Grid::new(parts).unwrap();
    for ways in [PeerWays::OFF, PeerWays::only(PeerWay::Host)] {
        check_faces(grid([2, 1, 1, 3]), ways, 5);
    }
    check_faces(grid([1, 1, 2, 1]), PeerWays::only(PeerWay::HostFlags), 5);
}

/// Messages of these faces are carried by threads.
#[test]
fn a_large_face_receives_what_its_neighbour_sent() {
    check_faces(Grid::new([1, 2, 1, 2]).unwrap(), PeerWays::OFF, 20_003);
}

/// What is packed of each face, for another start of the same exchange.
struct PackedAgain(Vec<Option<Packed>>);

fn packed_again(exchange: &Exchange<f64>) -> PackedAgain {
    let again = |packed: &Packed| Packed { event: packed.event.clone(), elements: packed.elements.clone() };
    PackedAgain(exchange.domains.iter().flatten().map(|faces| faces.packed.as_ref().map(again)).collect())
}

impl PackedAgain {
    fn give_to(self, exchange: &mut Exchange<f64>) {
        let faces = exchange.domains.iter_mut().flatten();
        faces.zip(self.0).for_each(|(faces, packed)| faces.packed = packed);
    }
}

/// An application that fails between start and finish leaves messages under way.
#[test]
fn messages_that_nobody_waited_for_are_forgotten() {
    let grid = Grid::new([1, 1, 1, 2]).unwrap();
    let lattice = small_lattice(grid, PeerWays::OFF);
    let local = Local::new(&lattice).unwrap();
    let exchange = local.faces::<f64>(&lattice, |_, _| 20_003).unwrap();
    check_exchange(&lattice, 20_003, exchange, |exchange| {
        let packed = packed_again(exchange);
        assert!(local.start_exchange(exchange).unwrap());
        assert_eq!(exchange.carried.len(), 4);
        packed.give_to(exchange);
        local.exchange(exchange).unwrap();
        assert!(exchange.carried.is_empty());
    });
}

/// Devices with a context in common pass faces on from event to event, also after an application that failed.
#[test]
fn a_face_receives_what_events_pass_on() {
    let grid = Grid::new([2, 1, 1, 3]).unwrap();
    let options = DeviceOptions::default().with_peer(Some(PeerWays::OFF));
    let first = discover().devices[0].index.to_string();
    let team = Team::select_with(Selector::list(&[first.as_str(); 6].join(",")), &options).unwrap();
    let lattice = Lattice::with_grid(&team, Dims::new([4; 4]).unwrap(), grid).unwrap();
    let local = Local::new(&lattice).unwrap();
    assert!(matches!(local.transport, FaceTransport::Events));
    let exchange = local.faces::<f64>(&lattice, |_, _| 20_003).unwrap();
    check_exchange(&lattice, 20_003, exchange, |exchange| {
        let packed = packed_again(exchange);
        assert!(local.start_exchange(exchange).unwrap());
        packed.give_to(exchange);
        assert!(local.start_exchange(exchange).unwrap());
        local.finish_exchange(exchange).unwrap();
        assert!(exchange.messages.is_empty());
    });
}

/// Takes a copy through the host for the driver's.
#[test]
fn a_face_receives_what_the_driver_copies() {
    let grid = Grid::new([2, 1, 1, 3]).unwrap();
    let lattice = small_lattice(grid, PeerWays::OFF);
    let neighbours: Vec<_> = (0..grid.count()).map(|number| Neighbours::of(grid, number)).collect();
    let exchange = staged::faces::<f64>(&neighbours, lattice.shards(), 2, |_, _| 5).unwrap();
    let copy = |from: BufferView<'_, f64>, mut to: BufferViewMut<'_, f64>, packed: &[&Event]| {
        packed.iter().try_for_each(|event| event.wait())?;
        to.write(&from.to_vec()?)?;
        Ok(packed[0].clone())
    };
    check_exchange(&lattice, 5, exchange, |exchange| {
        copied::start(&neighbours, exchange, copy).unwrap();
        assert_eq!(exchange.copies.len(), 6 * 4);
        copied::finish(exchange).unwrap();
        assert!(exchange.copies.is_empty());
    });
}

/// A device that waited in vain has no sum, and the error names both devices.
#[test]
fn after_a_wait_in_vain_there_are_no_sums() {
    let _waiting = lock(&KERNELS_WAIT);
    let (dims, grid) = (Dims::new([4; 4]).unwrap(), Grid::new([1, 1, 1, 2]).unwrap());
    let team = team(2, PeerWays::only(PeerWay::HostFlags));
    let lattice = Lattice::with_grid(&team, dims, grid).unwrap();
    let Some(peers) = lattice.peers() else { return };
    // Long enough for the other device to compile its kernels.
    let peers = peers.with_patience(Duration::from_secs(2)).unwrap();
    let sums = Some(Arc::new(TeamSums::new(&peers).unwrap()));
    let transport = FaceTransport::Reach(Reach::by(&lattice, Arc::clone(&peers), sums));
    let local = Local { transport, ..Local::new(&lattice).unwrap() };
    let add = || {
        let running = team.devices().iter().map(|device| device.reduction(1).unwrap());
        let [sum, _] = local.numbers(running.collect()).unwrap();
        sum.value().unwrap()
    };
    // Nothing was launched for these sums: the slots hold any numbers.
    assert!(add().is_finite());
    peers.check().unwrap();
    PeerFlags::new(&peers).unwrap().wait(1, [0], 1).unwrap();
    let error = peers.check().unwrap_err();
    assert!(matches!(error, DeviceError::PeerTimeout { .. }), "{error}");
    let (first, second) = (team.devices()[0].label(), team.devices()[1].label());
    assert!(
        error.to_string().contains(&format!("device {second} waited 2 s in vain for {first}")),
        "{error}"
    );
    // The first device has waited for nobody, and the second one sends it no numbers.
    assert!(add().is_nan());
    PeerFlags::new(&peers).unwrap().wait(0, [1], 1).unwrap();
    assert!(add().is_nan());
}

/// Launches that fail on one device only leave no team whose epochs are uneven.
#[test]
fn a_launch_that_fails_midway_breaks_the_team() {
    let _waiting = lock(&KERNELS_WAIT);
    let (dims, grid) = (Dims::new([4; 4]).unwrap(), Grid::new([1, 1, 1, 2]).unwrap());
    let team = team(2, PeerWays::only(PeerWay::HostFlags));
    let lattice = Lattice::with_grid(&team, dims, grid).unwrap();
    let Some(peers) = lattice.peers() else { return };
    let fault = Fault::Failing { device: 1, after: 2 };
    let peers = peers.with_fault(Duration::from_millis(50), fault).unwrap();
    let sums = Some(Arc::new(TeamSums::new(&peers).unwrap()));
    let transport = FaceTransport::Reach(Reach::by(&lattice, Arc::clone(&peers), sums));
    let local = Local { transport, ..Local::new(&lattice).unwrap() };
    let add = || {
        let running = team.devices().iter().map(|device| device.reduction(1).unwrap());
        local.numbers(running.collect()).map(|[sum, _]| sum.value().unwrap())
    };
    assert!(add().is_ok() && add().is_ok());
    assert!(matches!(add(), Err(DeviceError::PeerMemory { .. })));
    for error in [add().unwrap_err(), peers.check().unwrap_err()] {
        let DeviceError::BrokenTeam { devices } = &error else { panic!("{error}") };
        let labels: Vec<&str> = team.devices().iter().map(|device| device.label()).collect();
        assert_eq!(*devices, labels);
    }
}

#[test]
fn sums_are_added_in_their_order() {
    let lattice = Lattice::new(&Team::host(), Dims::new([2; 4]).unwrap()).unwrap();
    let (big, mut total) = (1e300, [7.0; 2]);
    let local = Local::new(&lattice).unwrap();
    local.sum(&[&[big, 1.0], &[-big, 2.0], &[1.0, 3.0]], &mut total).unwrap();
    assert_eq!(total, [1.0, 6.0]);
}
