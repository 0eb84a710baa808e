//! Memory that a rank hands to other ranks of its machine, as file descriptors.

use super::memory::{accept, offer};
use crate::memory::Memory;
use crate::open::{Device, PeerWay};
use lattice_mpi::Post;
use std::os::fd::AsFd;
use std::sync::Arc;

/// Places of the devices of other ranks.
#[derive(Clone, Debug)]
pub(super) struct Elsewhere {
    pub post: Arc<Post>,
    /// The rank of each device, by the number of the device among all.
    pub ranks: Arc<[usize]>,
}

/// Allocates zeroed bytes of the first user, and shares them with all users.
///
/// Users are numbers of devices; `device` gives those of this rank. The ranks of all users call
/// this, in one order. Every user of this rank gets memory with the same bytes.
///
/// # Errors
/// The reason if there is no memory. Ranks that wait for it are told so.
pub(super) fn shared(
    way: PeerWay,
    elsewhere: &Elsewhere,
    device: impl Fn(usize) -> Option<Device>,
    users: &[usize],
    bytes: usize,
) -> Result<Vec<Memory>, String> {
    let Elsewhere { post, ranks } = elsewhere;
    let me = post.world().rank();
    let owner = users[0];
    let own = users.iter().filter_map(|&user| Some((user, device(user)?)));
    if ranks[owner] != me {
        if users.iter().all(|&user| ranks[user] != me) {
            return Ok(Vec::new());
        }
        let lost = |error| format!("rank {} hands nothing over: {error}", ranks[owner]);
        let (descriptor, bytes) = post.receive(ranks[owner]).map_err(lost)?;
        let descriptor = descriptor.ok_or_else(|| format!("rank {} has no memory to share", ranks[owner]))?;
        return own.map(|(_, device)| accept(way, &device, descriptor.as_fd(), bytes as usize)).collect();
    }
    let mut others: Vec<usize> = users.iter().map(|&user| ranks[user]).filter(|&rank| rank != me).collect();
    others.sort_unstable();
    others.dedup();
    let offered = device(owner).ok_or("no such device").map_err(str::to_owned);
    let offered = offered.and_then(|owner| offer(way, &owner, bytes));
    let content = offered.as_ref().ok().map(|(_, descriptor, bytes)| (descriptor.as_fd(), *bytes as u64));
    let sent = others.iter().try_for_each(|&rank| {
        post.send(rank, content.map(|(descriptor, _)| descriptor), content.map_or(0, |(_, bytes)| bytes))
    });
    let (memory, descriptor, bytes) = offered?;
    sent.map_err(|error| format!("memory cannot be handed to other ranks: {error}"))?;
    let mut memory = Some(memory);
    own.map(|(user, device)| match memory.take_if(|_| user == owner) {
        Some(memory) => Ok(memory),
        None => accept(way, &device, descriptor.as_fd(), bytes),
    })
    .collect()
}
