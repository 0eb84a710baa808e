//! Memory that several devices reach, and flags by which their kernels wait for each other.

use crate::common;

use lattice_cl::compute::{Device, DeviceError, PeerFlags, PeerWay, PeerWays, Peers, Selector, Team};
use std::time::{Duration, Instant};

/// The first device here, opened so often, which may use this way alone.
fn devices(count: usize, ways: PeerWays) -> Vec<Device> {
    let first = Selector::Index(common::devices()[0].index());
    let options = common::untuned().with_peer(Some(ways));
    Team::select_with(vec![first; count], &options).unwrap().devices().to_vec()
}

/// Such devices where the way works; a device that is none of PoCL's need not have one.
fn peers(count: usize, way: PeerWay) -> Option<std::sync::Arc<Peers>> {
    let devices = devices(count, PeerWays::only(way));
    let peers = Peers::of(&devices);
    if peers.is_none() {
        let pocl = devices[0].info().pocl_version().is_some();
        assert!(!pocl || way == PeerWay::Cuda, "{way}: {:?}", Peers::try_way(way, &devices[0], &devices[1]));
        common::skipped(&format!("{} has no {way}", devices[0].label()));
    }
    peers
}

#[test]
fn all_see_the_same_memory() {
    for count in [2, 3] {
        let Some(peers) = peers(count, PeerWay::Host) else { continue };
        assert_eq!((peers.way(), peers.devices().len()), (PeerWay::Host, count));
        // In the order that was asked for, the owner first.
        let users: Vec<usize> = (0..count).rev().collect();
        let mut memory = peers.memory::<f64>(&users, 1013).unwrap();
        assert_eq!(memory[0].device(), &peers.devices()[count - 1]);
        assert!(memory.iter().all(|buffer| buffer.to_vec().unwrap() == vec![0.0; 1013]));
        let plain: Vec<f64> = (0..1013).map(f64::from).collect();
        memory[count - 1].write(&plain).unwrap();
        assert!(memory.iter().all(|buffer| buffer.to_vec().unwrap() == plain));
    }
}

#[test]
fn a_way_that_is_not_allowed_is_not_used() {
    let off = devices(2, PeerWays::OFF);
    assert!(Peers::of(&off).is_none() && Peers::link(&off[0], &off[1]).is_none());
    // All must allow it.
    let mixed = [devices(1, PeerWays::USUAL), devices(1, PeerWays::OFF)].concat();
    assert!(Peers::of(&mixed).is_none());
    // A device alone has nobody to tell something.
    assert!(Peers::of(&off[..1]).is_none());
}

#[test]
fn a_flag_holds_a_device_until_it_is_raised() {
    let _waiting = common::kernels_wait();
    let Some(peers) = peers(2, PeerWay::HostFlags) else { return };
    let mut flags = PeerFlags::new(&peers).unwrap();
    // Over the end of the numbers, too.
    for epoch in (u32::MAX - 5..=u32::MAX).chain(0..20) {
        if epoch == u32::MAX - 5 {
            flags = PeerFlags::at_epoch(&peers, epoch - 1).unwrap();
        }
        for by in [0, 1] {
            flags.raise(by, 1 - by, epoch).unwrap();
            peers.devices()[by].flush().unwrap();
        }
        for on in [0, 1] {
            flags.wait(on, [1 - on], epoch).unwrap();
        }
    }
    peers.check().unwrap();
}

#[test]
fn a_wait_in_vain_ends_and_names_both() {
    let _waiting = common::kernels_wait();
    let Some(peers) = peers(2, PeerWay::HostFlags) else { return };
    let peers = peers.with_patience(Duration::from_millis(50)).unwrap();
    let flags = PeerFlags::new(&peers).unwrap();
    flags.wait(1, [], 1).unwrap();
    peers.check().unwrap();
    flags.raise(0, 1, 1).unwrap();
    peers.devices()[0].finish().unwrap();
    let begun = Instant::now();
    // The second epoch never comes. Later waits end at once.
    for epoch in 2..1000 {
        flags.wait(1, [0], epoch).unwrap();
    }
    let error = peers.check().unwrap_err();
    let [first, second] = [0, 1].map(|k| peers.devices()[k].label().to_owned());
    assert_eq!(error, DeviceError::PeerTimeout { waiter: second, awaited: first, seconds: 0.05 });
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}
