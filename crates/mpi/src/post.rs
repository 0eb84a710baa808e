//! File descriptors that ranks of one machine hand to each other.
//!
//! Each rank has a datagram socket with an abstract name, so no file is left behind. Abstract names
//! are open to every process of the machine. So each message begins with a secret of its receiver,
//! which the receiver has told the other ranks by MPI. Other messages are ignored.

use crate::error::MpiError;
use crate::world::World;
use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, recvmsg, sendmsg_addr,
};
use std::fmt;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a name, and of a secret.
const KEY: usize = 16;

/// The longest time that a rank waits for a descriptor of another one.
const PATIENCE: Duration = Duration::from_secs(120);

/// The longest time that a rank waits for the first descriptor.
///
/// The first one tells whether descriptors arrive at all.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);

/// A descriptor that has arrived, or the news that there is none.
struct Parcel {
    from: usize,
    content: Option<OwnedFd>,
    about: u64,
}

/// Passes file descriptors between ranks that are all on one machine.
pub struct Post {
    world: Arc<World>,
    socket: UnixDatagram,
    /// The name and the secret of each rank.
    keys: Vec<[[u8; KEY]; 2]>,
    /// Parcels from ranks that were not asked for them yet.
    arrived: Mutex<Vec<Parcel>>,
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Post({:?})", self.world)
    }
}

impl Post {
    /// Opens a socket on each rank, and hands a descriptor to each other rank.
    ///
    /// The descriptor is a trial. Every rank calls this. The result is `None` on all ranks if they
    /// are on several machines, or if a descriptor has not arrived.
    ///
    /// # Errors
    /// [`MpiError::Failed`].
    pub fn open(world: &Arc<World>) -> Result<Option<Self>, MpiError> {
        let alone = world.size_of_node() < world.size();
        let opened = if alone { Err(io::ErrorKind::HostUnreachable.into()) } else { bind() };
        let own = opened.as_ref().map_or_else(|_| Vec::new(), |(_, keys)| keys.concat());
        let all = world.gather_any(&own)?;
        let keys: Option<Vec<_>> = all.iter().map(|bytes| keys_of(bytes)).collect();
        let (Ok((socket, _)), Some(keys)) = (opened, keys) else { return Ok(None) };
        let post = Self { world: Arc::clone(world), socket, keys, arrived: Mutex::default() };
        let arrives = post.try_all().is_ok();
        let all = world.gather(&[u8::from(arrives)])?;
        Ok(all.iter().all(|&arrives| arrives == 1).then_some(post))
    }

    /// Returns the ranks.
    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// Hands a descriptor to each other rank.
    fn try_all(&self) -> io::Result<()> {
        let (me, size) = (self.world.rank(), self.world.size());
        for distance in 1..size {
            self.send((me + distance) % size, Some(self.socket.as_fd()), distance as u64)?;
            let from = (me + size - distance) % size;
            match self.receive_within(from, FIRST_PATIENCE)? {
                (Some(_), about) if about == distance as u64 => {}
                _ => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
        Ok(())
    }

    /// Sends a descriptor to another rank, with a number about it.
    ///
    /// Without `content` it sends the news that there is no descriptor.
    ///
    /// # Errors
    /// When the socket of that rank is gone, or is full for two minutes.
    pub fn send(&self, to: usize, content: Option<BorrowedFd<'_>>, about: u64) -> io::Result<()> {
        let [name, secret] = &self.keys[to];
        let rank = (self.world.rank() as u64).to_le_bytes();
        let about = about.to_le_bytes();
        let parts = [IoSlice::new(secret), IoSlice::new(&rank), IoSlice::new(&about)];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<BorrowedFd<'_>> = content.into_iter().collect();
        if !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let address = SocketAddrUnix::new_abstract_name(name)?;
        retry_on_intr(|| sendmsg_addr(&self.socket, &address, &parts, &mut control, SendFlags::empty()))?;
        Ok(())
    }

    /// Waits for what another rank sends next, and returns it with the number about it.
    ///
    /// The descriptor is `None` if that rank has none to give.
    ///
    /// # Errors
    /// When nothing has arrived in two minutes.
    pub fn receive(&self, from: usize) -> io::Result<(Option<OwnedFd>, u64)> {
        self.receive_within(from, PATIENCE)
    }

    fn receive_within(&self, from: usize, patience: Duration) -> io::Result<(Option<OwnedFd>, u64)> {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline = Instant::now() + patience;
        loop {
            if let Some(place) = arrived.iter().position(|parcel| parcel.from == from) {
                let Parcel { content, about, .. } = arrived.remove(place);
                return Ok((content, about));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.socket.set_read_timeout(Some(left))?;
            arrived.extend(self.next()?);
        }
    }

    /// Receives one message. The result is `None` if the message is none of a rank.
    fn next(&self) -> io::Result<Option<Parcel>> {
        let mut bytes = [0; KEY + 16];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = retry_on_intr(|| {
            let mut parts = [IoSliceMut::new(&mut bytes)];
            recvmsg(&self.socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)
        })?;
        let mut content = None;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                content = descriptors.last();
            }
        }
        let (secret, numbers) = bytes.split_at(KEY);
        let [from, about] =
            [&numbers[..8], &numbers[8..]].map(|bytes| u64::from_le_bytes(std::array::from_fn(|k| bytes[k])));
        let is_whole = received.bytes == KEY + 16
            && !received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC)
            && secret == self.keys[self.world.rank()][1];
        Ok(is_whole.then_some(Parcel { from: from as usize, content, about }))
    }
}

/// Opens a socket with a random name. Returns the name, and a secret.
fn bind() -> io::Result<(UnixDatagram, [[u8; KEY]; 2])> {
    let mut keys = [[0; KEY]; 2];
    let mut random = File::open("/dev/urandom")?;
    keys.iter_mut().try_for_each(|key| random.read_exact(key))?;
    let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(keys[0])?)?;
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok((socket, keys))
}

/// Returns the keys that a rank has told. A rank without a socket tells none.
fn keys_of(bytes: &[u8]) -> Option<[[u8; KEY]; 2]> {
    let (name, secret) = (bytes.len() == 2 * KEY).then(|| bytes.split_at(KEY))?;
    Some([name, secret].map(|key| std::array::from_fn(|k| key[k])))
}
