//! OpenCL devices behind safe types, and the search for fast kernel variants.
//!
//! ```text
//! discover()  →  Team  →  Device  →  Program  →  Kernel::launch(Range, &[Argument])  →  Event
//!                           └──→  Buffer<T> · views · Image2d · PinnedBuffer<T> · Pending<…> · Reduction
//! ```
//!
//! Its folders are floors, lowest first. Imports point down: `select` → `cuda` → `queue` → `kernel` → `open`
//! → `memory` → `peer` → `sums` → `measure`. [`tuning`] stands above. Modules that are not
//! listed serve the crates of this workspace, and change without notice.
//!
//! * A [`Team`] is an ordered list of open [`Device`]s. The empty team is the host.
//! * A [`Device`] has an in-order compute queue and an in-order copy queue of its own. Devices of a team
//!   that do not reach each other's memory have a context in common, and a third queue each.
//!   Everything runs on the compute queue in the order of the calls, with two exceptions. Transfers
//!   of [`PinnedBuffer`] run beside it on the copy queue, ordered by [`Event`]s. The host may
//!   zero new memory before its first use.
//! * A [`Program`] is built from a [`KernelKey`], and cached in memory and on disk.
//! * A [`Kernel`] declares its parameters in its text. The compiler reports them, and each launch is
//!   checked against the report.
//! * Devices can be opened with a [`Recorder`]. It writes down every command, for traces. Without a
//!   recorder this costs nothing.
//! * Every failure is a [`DeviceError`].
//!
//! *Architecture invariant:* no other crate of the workspace names `opencl3`. Its callers write no
//! `unsafe`.

#![allow(unsafe_code)]
#![deny(clippy::undocumented_unsafe_blocks)]

mod absence;
#[cfg(unix)]
mod cuda;
mod error;
pub mod host;
mod kernel;
mod measure;
mod memory;
mod open;
#[doc(hidden)]
pub mod parallel;
mod peer;
pub mod philox;
mod queue;
pub mod scalar;
#[doc(hidden)]
pub mod schedule;
mod select;
mod spare;
mod sums;
#[doc(hidden)]
pub mod sync;
pub mod tuning;

pub use absence::Absence;
pub use error::{BuildFailure, DeviceError, Result};
pub use kernel::{
    Argument, ArgumentList, CacheMode, Compilation, CompileWorkers, Kernel, KernelFamily, KernelKey,
    MatrixOperation, NO_CACHE_VARIABLE, Program, Range, TUNING_FILE_VARIABLE, pocl_lacks_a_cache,
};
pub use lattice_files::room::{NoRoom, available_memory, expect_room, reserve};
pub use lattice_mpi as mpi;
pub use measure::{
    AccessKernels, ArithmeticRate, GatherList, LinearImages, PeriodicNumbers, PowerSums, Stream,
    StreamArrays, StreamKernels, StreamLaunch, SumsLayout, TeamRates, arithmetic_rate, random_places,
    repeated, triad_bandwidth,
};
pub use memory::{
    AnyBuffer, Buffer, BufferView, BufferViewMut, Counters, Image2d, Pending, PinnedBuffer, Scratch,
    check_device, check_length, vec_in_huge_pages,
};
pub use open::{
    AttachmentKey, Device, DeviceOptions, ForeignHandle, OpenDevices, PEER_VARIABLE, PeerWay, PeerWays,
    SearchObserver, SearchProgress, Team, TuningMode, WeakDevice, build_programs, serve_compile_requests,
};
#[doc(hidden)]
pub use peer::Fault;
pub use peer::{
    FLAG_SOURCE, FLAGS, MAILBOX_SOURCE, MOST_IN_ARRAY, PeerCopies, PeerFlags, PeerLink, PeerRates, Peers,
    Undertaking,
};
pub use queue::{
    CompileClock, CompileProgress, DeviceRecord, Event, Profiling, Queue, RecordedCommand, RecordedSpan,
    Recorder, Stopwatch,
};
pub use select::{
    DeviceIndex, DeviceInfo, DeviceKind, DiscoveredDevice, Discovery, Remark, Selector, discover,
};
pub use sums::{
    MOST_SUMS, ManySums, Meeting, NUMBER_SOURCE, Number, NumberMemory, REDUCTION_SOURCE, REDUCTION_VALUES,
    Reduction, TeamSums,
};

// One program tests the crate from within and from outside.
#[cfg(test)]
extern crate self as lattice_compute;
#[cfg(test)]
#[path = "../tests/all.rs"]
mod from_outside;
