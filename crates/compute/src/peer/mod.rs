//! Memory of one device that kernels of others read and write.
//!
//! [`Peers::of`] tries the ways that there are between the devices of a team, and believes one only when bytes have gone both ways.
//! Where none works, what devices tell each other goes through the host, by [`PinnedBuffer`](crate::PinnedBuffer)s.
//!
//! What must hold, so that nobody waits for ever and nothing is overwritten too early:
//!
//! 1. A flag is raised only behind the writes that it speaks of, in the same queue.
//! 2. What a kernel waits for is enqueued and flushed before the host can wait for that kernel, and all devices have it in one order. There are two kinds
//!    of kernels that wait:
//!    * A *follower* waits for kernels that were enqueued and flushed before it: a stencil for what its neighbours packed.
//!    * Kernels that *meet* wait for each other: those that add the sums of a launch, one on each device.
//!
//!    Packing kernels and those that meet are enqueued on all devices by one thread under [`Peers::in_order`]. So these groups are in one
//!    order, the same in every queue. Take the first group that is not done. Whatever is ahead of its kernels in their queues waits at most for earlier groups, which
//!    are done: a follower came into the queue behind the group that it follows, and ahead of this one. So all kernels of the group come to run, whatever else
//!    the host enqueues or waits for. The host itself waits inside of such a group only for what a first launch compiles; kernels that
//!    meet have been launched before, alone (`TeamSums::new`), and those that pack wait for nothing.
//! 3. Everything is there twice, for odd and for even epochs. Who writes for epoch e + 2 has waited for epoch e + 1 of every device that
//!    reads it, and each of them raised that flag behind its reading of epoch e. So there must be no device that is written to but does not
//!    write itself: whoever gets something in an epoch gives something to the same device in that epoch.
//!    * Faces: in queue k a stencil of epoch e reads ahead of the packing for e + 1, which raises the flag. A lattice is a torus: neighbours are mutual.
//!    * Sums: the kernel that meets in epoch e has read all boxes when it ends, ahead of the one that sends for e + 1.
//!    * A flag is behind by one epoch at most when it is raised, so that numbers may run over.
//! 4. No wait is without an end. One in vain leaves a mark on its device, later ones end at once, and sums of it are no numbers.
//!    [`Peers::check`] tells who waited for whom.
//! 5. Where many work-groups wait in one kernel, those that they wait for are on another processor, which they cannot keep busy
//!    ([`PeerWay::waits_beside_work`](crate::PeerWay::waits_beside_work)). Elsewhere a kernel of one work-group waits, ahead of them.
//! 6. A device does not share its processor with one that it waits for, where kernels wait: see [`PeerWay::HostFlags`](crate::PeerWay). Kernels of n devices
//!    that meet need n threads of a processor, as n − 1 may wait for the last one.
//!
//! Devices of several ranks keep the same rules, if all ranks are on one machine:
//!
//! * A rank hands its memory to others as a file descriptor (`handover`), by the [`Post`](lattice_mpi::Post) of `crates/mpi`. All ranks go through one list of allocations
//!   in one order. Epochs, flags and mailboxes are those of a team in one process; a device's number is that of its domain.
//! * Each host enqueues for its own devices. All ranks run the same program, so the groups of rule 2 are in one order in every queue. A host that has not
//!   enqueued its part of a group waits at most for its own queue, where earlier groups are ahead, or for other ranks in a call of MPI that all make before this group.
//! * All ranks meet ([`Peers::all_are_here`]) behind the making of flags and mailboxes, which write flags themselves. Without flags they meet in each exchange of faces.
//! * Patience is longer, because one rank alone writes files. The launcher ends all ranks when one is gone.
//! * `across` tries each way by all ranks together when the team is made (`Team::across`), with the kernels of `probe`.
//!
//! Tests have flags come late or never, by a `Fault`.

#[cfg(target_os = "linux")]
mod across;
#[cfg(unix)]
mod cuda;
mod faults;
mod flags;
#[cfg(target_os = "linux")]
mod handover;
#[cfg(not(target_os = "linux"))]
#[path = "handover_elsewhere.rs"]
mod handover;
mod host;
mod joined;
mod kernels;
mod memory;
mod peers;
mod probe;
mod rates;

pub use faults::Fault;
pub use flags::PeerFlags;
pub use kernels::{FLAG_SOURCE, FLAGS};
pub use peers::Peers;
pub use rates::{PeerLink, PeerRates};

pub(crate) use kernels::{PeerKernels, written};
