//! Memory of one device that kernels of other devices read and write.
//!
//! [`Peers::of`] tries the ways that exist between the devices of a team. A way counts only after
//! bytes have gone in both directions. If no way works, devices exchange data through the host, by
//! [`PinnedBuffer`](crate::PinnedBuffer)s.
//!
//! These rules ensure that nobody waits for ever and that nothing is overwritten too early:
//!
//! 1. A flag is raised behind the writes that it announces, in the same queue.
//! 2. A kernel waits for other kernels. They are enqueued and flushed before the host may wait for
//!    that kernel. All devices have them in one order. Two kinds of kernels wait:
//!    * A *follower* waits for kernels that were enqueued and flushed before it. For example, a
//!      stencil waits for the packing kernels of its neighbours.
//!    * Kernels that *meet* wait for each other, one on each device. They add the sums of a launch or
//!      arrays of sums, or they are stencils that pack their own faces.
//!
//!    One thread enqueues packing kernels and kernels that meet on all devices, under
//!    [`Peers::in_order`]. All teams share the locks of their devices. So these groups of kernels have
//!    one order, the same in every queue.
//!    Take the first group that is not done. The commands ahead of its kernels wait at most for
//!    earlier groups, which are done. A follower is in the queue behind the group that it follows,
//!    and ahead of this group. So all kernels of the group come to run, whatever else the host
//!    enqueues or waits for. Inside such a group the host waits only for the compilation at a first
//!    launch. Kernels that meet have been launched before, alone (`TeamSums::new`) or as followers
//!    ([`Kernel::is_compiled_for`](crate::Kernel::is_compiled_for)). Packing kernels wait for nothing.
//!
//!    Stencils that pack end when all of them have come to run. Their packing groups are the first of
//!    the launch and wait for nothing. Devices start groups in the order of their numbers, so waiting
//!    groups keep no packing group from its place. Groups at faces wait for packing groups alone. The
//!    group that adds the sums is the last one to end on its device. It waits for the last groups
//!    elsewhere, which wait for packing groups at most.
//! 3. Everything exists twice, for odd and for even epochs. The writer of epoch e + 2 has waited for
//!    epoch e + 1 of every device that reads its data. Each reader raised that flag behind its
//!    reading of epoch e. So every device that is written to in an epoch must write to the same
//!    device in that epoch.
//!    * Faces: in each queue the stencil of epoch e reads ahead of the packing for e + 1, which
//!      raises the flag. So it is if the stencil of epoch e + 1 packs itself, because a launch begins
//!      when the one before it has ended. While it packs, it reads faces of epoch e + 1 alone. Neighbours
//!      write those of e + 2 after a launch that has waited for its flag, and the launch that reads epoch
//!      e has ended before this flag. A lattice is a torus, so neighbours are mutual.
//!    * Sums: the kernel that meets in epoch e has read all boxes when it ends. The kernel that sends
//!      for e + 1 comes behind it.
//!    * A flag is at most one epoch behind when it is raised, so its number may overflow.
//! 4. Every wait has an end. A wait in vain leaves a mark on its device. Later waits end at once, and
//!    their sums are NaN, on every device that they are sent to. [`Peers::check`] tells who waited for whom.
//!    Launches that fail midway break the team, by an [`Undertaking`]: a later epoch would be taken for the
//!    missing one.
//! 5. Many work-groups wait in one kernel only if the kernels that they wait for run on another
//!    processor, which the waiting cannot keep busy
//!    ([`PeerWay::waits_beside_work`](crate::PeerWay::waits_beside_work)). Otherwise a kernel of one
//!    work-group waits ahead of them, or the kernel has a single group that waits.
//! 6. If kernels wait, a device does not share its processor with a device that it waits for: see
//!    [`PeerWay::HostFlags`](crate::PeerWay). Kernels of n devices that meet need n threads of a
//!    processor, because n − 1 of them may wait for the last one.
//!
//! Devices of several ranks keep the same rules, if all ranks are on one machine:
//!
//! * A rank hands its memory to others as a file descriptor (`handover`), by the
//!   [`Post`](lattice_mpi::Post) of `crates/mpi`. All ranks go through one list of allocations in one
//!   order. Epochs, flags and mailboxes are like those of a team in one process. A device's number is
//!   that of its domain.
//! * Each host enqueues for its own devices. All ranks run the same program, so the groups of rule 2
//!   are in one order in every queue. A host may not have enqueued its part of a group yet. Then it
//!   waits at most for its own queue, where earlier groups are ahead, or for other ranks. All ranks
//!   make the calls of MPI with such waits before this group.
//! * All ranks meet ([`Peers::all_are_here`]) after flags and mailboxes are made, because making them
//!   writes flags. Without flags, ranks meet in each exchange of faces.
//! * Patience is longer, because one rank alone writes files. The launcher ends all ranks when one is
//!   gone.
//! * All ranks together try each way when the team is made (`Team::across`, in `across`), with the
//!   kernels of `probe`.
//!
//! AMD's driver copies between its GPUs instead ([`PeerCopies`]). Kernels then wait for nothing.
//!
//! Tests have flags come late or never, by a `Fault`.

#[cfg(target_os = "linux")]
mod across;
mod copies;
#[cfg(unix)]
mod cuda;
mod extension;
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

pub use copies::PeerCopies;
pub use faults::Fault;
pub use flags::PeerFlags;
pub use kernels::{FLAG_SOURCE, FLAGS, MAILBOX_SOURCE, MOST_IN_ARRAY};
pub use peers::{Peers, Undertaking};
pub use rates::{PeerLink, PeerRates};

pub(crate) use kernels::{PeerKernels, written};
