//! Memory of one device that kernels of others read and write.
//!
//! [`Peers::of`] tries the ways that there are between the devices of a team, and believes one only when bytes have gone both ways.
//! Where none works, what devices tell each other goes through the host, by [`PinnedBuffer`](crate::PinnedBuffer)s.
//!
//! What must hold, so that nobody waits for ever and nothing is overwritten too early:
//!
//! 1. A flag is raised only behind the writes that it speaks of, in the same queue.
//! 2. A kernel that waits for a flag is enqueued only after the kernel that raises it has been, on its own device, and flushed.
//!    So of all kernels under way the one that was enqueued first waits for nothing: some device always goes on, however many
//!    threads of the host enqueue, and the host may wait for any of them at any time.
//! 3. Everything is there twice, for odd and for even epochs. Who writes for epoch e + 2 has waited for epoch e + 1 of every device that
//!    reads it, and each of them raised that flag behind its reading of epoch e. So there must be no device that is written to but does not
//!    write itself: whoever gets something in an epoch gives something to the same device in that epoch.
//! 4. No wait is without an end. One in vain leaves a mark on its device, later ones end at once, and sums of it are no numbers.
//!    [`Peers::check`] tells who waited for whom.
//! 5. Where many work-groups wait in one kernel, those that they wait for are on another processor, which they cannot keep busy
//!    ([`PeerWay::waits_beside_work`](crate::PeerWay::waits_beside_work)). Elsewhere a kernel of one work-group waits, ahead of them.
//! 6. A device does not share its processor with one that it waits for, where kernels wait: see [`PeerWay::HostFlags`](crate::PeerWay).

#[cfg(unix)]
mod cuda;
mod flags;
mod host;
mod kernels;
mod memory;
mod peers;
mod probe;
mod rates;

pub use flags::PeerFlags;
pub use kernels::{FLAG_SOURCE, FLAGS};
pub use peers::Peers;
pub use rates::{PeerLink, PeerRates};

pub(crate) use kernels::{PeerKernels, written};
