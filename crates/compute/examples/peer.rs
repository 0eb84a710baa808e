//! Shows which devices reach each other's memory, by which way, and how fast.
//!
//! `peer [--repeat N]` tries every two devices, both ways. Then all devices use flags and memory
//! together, N times.

use lattice_compute::{
    Buffer, Device, DeviceKind, DeviceOptions, PeerFlags, PeerRates, PeerWay, PeerWays, Peers, Result,
    discover,
};
use std::time::Instant;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--repeat").skip(1);
    let repeat = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(1000);
    let found = discover();
    let mut devices = found
        .devices
        .iter()
        .map(|found| Device::open(found, &DeviceOptions::default()))
        .collect::<Result<Vec<_>>>()?;
    // Only the GPUs, if there are several.
    if devices.iter().filter(|device| device.info().kind == DeviceKind::Gpu).count() > 1 {
        devices.retain(|device| device.info().kind == DeviceKind::Gpu);
    }
    if devices.len() == 1 {
        devices.push(Device::open(&found.devices[0], &DeviceOptions::default())?);
    }
    for device in &devices {
        println!("{} · driver {}", device.label(), device.info().driver_version);
    }
    let begun = Instant::now();
    for owner in &devices {
        for user in &devices {
            if owner == user {
                continue;
            }
            match PeerRates::measure(owner, user)? {
                None => println!("{} → {}: through the host", user.index(), owner.index()),
                Some(rates) => {
                    let trip = rates.round_trip.map_or_else(|| "-".to_owned(), |time| format!("{time:?}"));
                    println!(
                        "{} → {}: {}, write {:.1} GB/s, read {:.1} GB/s, flags {trip} a round trip",
                        user.index(),
                        owner.index(),
                        Peers::link(owner, user).map_or("", PeerWay::name),
                        rates.write / 1e9,
                        rates.read / 1e9,
                    );
                }
            }
        }
    }
    println!("{:?}", begun.elapsed());
    for way in PeerWay::ALL {
        let options = DeviceOptions { peer: Some(PeerWays::only(way)), ..DeviceOptions::default() };
        let again = |device: &Device| found.devices.iter().find(|found| found.index == device.index());
        let devices = devices.iter().filter_map(again).map(|found| Device::open(found, &options));
        let devices = devices.collect::<Result<Vec<_>>>()?;
        let Some(peers) = Peers::of(&devices) else {
            let reason = Peers::try_way(way, &devices[0], &devices[1]).err().unwrap_or_default();
            println!("{way}: not between all of them: {reason}");
            continue;
        };
        println!("{peers:?}");
        if way.has_flags() {
            all_to_all(&peers, repeat)?;
        }
        drop((peers, devices));
        println!("  closed");
    }
    drop(devices);
    println!("done");
    Ok(())
}

/// Lets every device wait for every other one, again and again.
fn all_to_all(peers: &std::sync::Arc<Peers>, repeat: u32) -> Result<()> {
    let count = peers.devices().len();
    let flags = PeerFlags::new(peers)?;
    let begun = Instant::now();
    for epoch in 1..=repeat {
        for by in 0..count {
            for at in (0..count).filter(|&at| at != by) {
                flags.raise(by, at, epoch)?;
            }
            peers.devices()[by].flush()?;
        }
        for on in 0..count {
            flags.wait(on, (0..count).filter(|&other| other != on), epoch)?;
        }
    }
    peers.check()?;
    println!("  raise and wait, {repeat} times: {:?} each", begun.elapsed() / repeat);
    let memory: Vec<Buffer<f64>> = peers.memory(&(0..count).collect::<Vec<_>>(), 1 << 20)?;
    println!("  {} buffers of one memory", memory.len());
    drop((memory, flags));
    println!("  let go of");
    Ok(())
}
