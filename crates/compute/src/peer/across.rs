//! The trial of ways between devices of several ranks, by all ranks together.

use super::cuda;
use super::handover::Elsewhere;
use super::kernels::{FLAGS, PeerKernels, written};
use super::peers::Peers;
use super::probe::{GROUP, WORDS, word};
use crate::error::Result;
use crate::kernel::{Argument, Range};
use crate::memory::Buffer;
use crate::open::{Device, PeerWay, Team};
use lattice_mpi::{MpiError, Post, World};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Longest time that a kernel of the trial waits for another rank.
const PATIENCE: Duration = Duration::from_secs(5);

/// Rounds of question and answer between two devices.
const ROUNDS: u32 = 10;

/// Returns the best way that works between the devices of all ranks.
///
/// All devices must allow it, and the trial must succeed between every two of them. Every rank
/// calls this, and gets the same result. `None` if ranks are on several machines, or if no way
/// works.
pub(super) fn way_between_ranks(
    team: &Team,
    world: &Arc<World>,
) -> Result<Option<(PeerWay, Arc<Post>)>, MpiError> {
    let allowed = PeerWay::ALL.map(|way| u8::from(way.is_memory() && is_allowed(team, world, way)));
    let all = world.gather(&allowed)?;
    let by_all = |k: &usize| all.chunks_exact(allowed.len()).all(|allowed| allowed[*k] == 1);
    let ways: Vec<PeerWay> = (0..allowed.len()).filter(by_all).map(|k| PeerWay::ALL[k]).collect();
    if ways.is_empty() {
        return Ok(None);
    }
    let Some(post) = Post::open(world)?.map(Arc::new) else {
        tracing::info!("ranks are on several machines, or pass no file descriptors: faces go by messages");
        return Ok(None);
    };
    let ranks: Arc<[usize]> = (0..world.size()).flat_map(|rank| vec![rank; team.len()]).collect();
    for way in ways {
        let elsewhere = Elsewhere { post: Arc::clone(&post), ranks: Arc::clone(&ranks) };
        match Trial::run(way, elsewhere, team)? {
            None => {
                tracing::info!("ranks reach each other's memory by {way}");
                return Ok(Some((way, post)));
            }
            Some(reason) => tracing::info!("ranks have no memory in common by {way}: {reason}"),
        }
    }
    Ok(None)
}

/// Tells whether the devices of this rank may be tried in a way.
fn is_allowed(team: &Team, world: &World, way: PeerWay) -> bool {
    let devices = team.devices();
    let fits = |device: &Device| {
        let in_place = way.is_cuda() || device.info().computes_in_host_memory();
        in_place && device.peer_ways().iter().any(|allowed| allowed == way)
    };
    let is_twice = |k: usize| devices[..k].contains(&devices[k]);
    devices.len() * world.size() <= FLAGS && devices.iter().all(fits) && !(0..devices.len()).any(is_twice)
}

/// A trial of one way.
///
/// Every rank takes the same steps. After each step all ranks exchange its result.
struct Trial<'a> {
    world: &'a World,
    peers: Peers,
    kernels: Vec<Arc<PeerKernels>>,
    /// Memory of each device, as the devices of this rank see it.
    memory: Vec<Vec<Buffer<u32>>>,
}

impl<'a> Trial<'a> {
    /// Tries a way, and returns the reason if it does not work.
    fn run(way: PeerWay, elsewhere: Elsewhere, team: &'a Team) -> Result<Option<String>, MpiError> {
        let world = Arc::clone(elsewhere.post.world());
        let identities = || team.devices().iter().map(cuda::identity).collect::<Result<Vec<_>, _>>();
        let own = if way.is_cuda() { identities() } else { Ok(Vec::new()) };
        let told = own.as_ref().map_or_else(|_| Vec::new(), |own| own.join("\n").into_bytes());
        let all = world.gather_any(&told)?;
        let failed = agree(&world, own.as_ref().map(drop).map_err(String::clone))?;
        if failed.is_some() {
            return Ok(failed);
        }
        if way.is_cuda() {
            let all: Vec<String> = all
                .iter()
                .flat_map(|own| String::from_utf8_lossy(own).lines().map(str::to_owned).collect::<Vec<_>>())
                .collect();
            // Kernels of one GPU need not run at the same time.
            if all.iter().collect::<BTreeSet<_>>().len() < all.len() {
                return Ok(Some("two ranks have one GPU".to_owned()));
            }
        }
        let (made, failed) = Trial::new(way, elsewhere, team, &world)?;
        match (made, failed) {
            (Some(mut trial), None) => trial.steps(),
            (_, failed) => Ok(failed.or_else(|| Some("there is no memory".to_owned()))),
        }
    }

    /// Allocates memory of each device for all of them, and compiles the kernels.
    fn new<'w>(
        way: PeerWay,
        elsewhere: Elsewhere,
        team: &Team,
        world: &'w World,
    ) -> Result<(Option<Trial<'w>>, Option<String>), MpiError> {
        let words = |error: crate::DeviceError| error.to_string();
        let peers = Peers::among(team.devices(), team.labels(), Some(elsewhere), way, PATIENCE);
        let failed = agree(world, peers.as_ref().map(drop).map_err(|error| error.to_string()))?;
        let (Ok(peers), None) = (peers, &failed) else { return Ok((None, failed)) };
        // A rank whose memory cannot be shared tells the others, which go on to the next memory.
        let memory: Vec<_> = (0..peers.count()).map(|owner| peers.memory_of(owner, WORDS)).collect();
        let memory: Result<Vec<_>, String> = memory.into_iter().collect::<Result<_>>().map_err(words);
        let kernels = peers.devices().iter().map(PeerKernels::of).collect::<Result<Vec<_>>>();
        let made = memory.and_then(|memory| Ok((memory, kernels.map_err(words)?)));
        let failed = agree(world, made.as_ref().map(drop).map_err(String::clone))?;
        let trial = made.ok().map(|(memory, kernels)| Trial { world, peers, kernels, memory });
        Ok((trial, failed))
    }

    /// Passes words between every two devices, then questions and answers by flags.
    fn steps(&mut self) -> Result<Option<String>, MpiError> {
        let words = |error: crate::DeviceError| error.to_string();
        for writer in 0..self.peers.count() {
            let written = self.write_all(writer).map_err(words);
            if let Some(failed) = agree(self.world, written)? {
                return Ok(Some(failed));
            }
            let found = self.check_all(writer).map_err(words).and_then(|found| found);
            if let Some(failed) = agree(self.world, found)? {
                return Ok(Some(failed));
            }
        }
        if !self.peers.way().has_flags() {
            return Ok(None);
        }
        for second in 0..self.peers.count() {
            for first in 0..second {
                // Without rounds first: the host waits for a first launch, while it compiles.
                for rounds in [0, ROUNDS] {
                    let zeroed = self.zero(first).map_err(words);
                    if let Some(failed) = agree(self.world, zeroed)? {
                        return Ok(Some(failed));
                    }
                    let met = self.ping([first, second], rounds).map_err(words).and_then(|met| met);
                    if let Some(failed) = agree(self.world, met)? {
                        return Ok(Some(failed));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Writes words into the memory of every device.
    ///
    /// Does nothing if the writer is a device of another rank.
    fn write_all(&mut self, writer: usize) -> Result<()> {
        let Some(place) = self.peers.place(writer) else { return Ok(()) };
        for (owner, memory) in self.memory.iter_mut().enumerate() {
            let to = &mut memory[place];
            let (range, count) = (Range::covering(to.len(), GROUP), Argument::value(to.len() as u32));
            let seed = Argument::value(seed(writer, owner));
            self.kernels[place].write.start(range, &[to.into(), seed, count])?;
        }
        self.peers.devices()[place].finish()
    }

    /// Reads and checks the words that a device has written.
    ///
    /// Each device of this rank reads them in the memory of every device.
    fn check_all(&self, writer: usize) -> Result<Result<(), String>> {
        for (place, device) in self.peers.devices().iter().enumerate() {
            for (owner, memory) in self.memory.iter().enumerate() {
                let from = &memory[place];
                let (range, count) = (Range::covering(from.len(), GROUP), Argument::value(from.len() as u32));
                let mut copy = Buffer::<u32>::uninitialised(device, from.len())?;
                self.kernels[place].read.start(range, &[from.into(), (&mut copy).into(), count])?;
                let found = copy.to_vec()?;
                if let Some(at) = (0..found.len()).find(|&at| found[at] != word(seed(writer, owner), at)) {
                    let [from, to] = [writer, self.peers.numbers()[place]].map(|k| self.peers.label(k));
                    return Ok(Err(format!("word {at} that {from} wrote did not come to {to}")));
                }
            }
        }
        Ok(Ok(()))
    }

    /// Makes the memory of a device zero.
    ///
    /// Does nothing if the device belongs to another rank.
    fn zero(&mut self, owner: usize) -> Result<()> {
        let Some(place) = self.peers.place(owner) else { return Ok(()) };
        self.memory[owner][place].fill(0)?;
        self.peers.devices()[place].finish()
    }

    /// Runs rounds of question and answer between two devices.
    ///
    /// The flags are in the memory of the first device.
    fn ping(&self, pair: [usize; 2], rounds: u32) -> Result<Result<(), String>> {
        let mut marks = Vec::new();
        for (k, number) in pair.into_iter().enumerate() {
            let Some(place) = self.peers.place(number) else { continue };
            let mark = Buffer::<u32>::zeroed(&self.peers.devices()[place], 1)?;
            let arguments = [
                written(&self.memory[pair[0]][place]),
                Argument::value(k as u32),
                Argument::value(rounds),
                Argument::value(PATIENCE.as_millis() as u32),
                written(&mark),
            ];
            self.kernels[place].ping.start(Range::groups(1, 1), &arguments)?;
            self.peers.devices()[place].flush()?;
            marks.push(mark);
        }
        let mut met = true;
        for mark in &marks {
            met &= mark.to_vec()? == [0];
        }
        let [first, second] = pair.map(|number| self.peers.label(number));
        Ok(if met { Ok(()) } else { Err(format!("kernels of {first} and {second} waited in vain")) })
    }
}

/// Returns a different number for each pair of devices.
fn seed(writer: usize, owner: usize) -> u32 {
    0x5eed_0001 ^ ((writer as u32) << 8 | owner as u32).wrapping_mul(0x9e37_79b9)
}

/// Tells all ranks the result of a step, and returns the first failure.
fn agree(world: &World, own: Result<(), String>) -> Result<Option<String>, MpiError> {
    let told = own.err().unwrap_or_default();
    let all = world.gather_any(told.as_bytes())?;
    let failed = all.iter().find(|told| !told.is_empty());
    Ok(failed.map(|told| String::from_utf8_lossy(told).into_owned()))
}
