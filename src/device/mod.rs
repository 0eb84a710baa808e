//! OpenCL devices, behind safe types: the only module that names OpenCL.
//!
//! ```text
//! discover()  →  Team  →  Device  →  Program  →  Kernel::launch(Range, &[Argument])  →  Event
//!                           └──→  Buffer<T> · views · PinnedBuffer<T> · Pending<…> · Reduction
//! ```
//!
//! * A [`Team`] is an ordered list of open [`Device`]s; the empty team is the host.
//! * A [`Device`] has a context, an in-order compute queue and an in-order copy queue of its own. Everything runs
//!   on the compute queue in the order of the calls, except the transfers of [`PinnedBuffer`], which run beside
//!   it on the copy queue and are ordered by [`Event`]s, and what is done to memory before it is used.
//! * A [`Program`] is built from a [`KernelKey`] and cached in memory and on disk. A [`Kernel`] is made with its
//!   declaration, a list of [`Parameter`]s, which is checked against the compiled kernel at once; each launch
//!   is checked against the declaration.
//! * A [`Recorder`] that devices are opened with writes down every command, for traces; without one that costs nothing.
//! * Every failure is a [`DeviceError`].
//!
//! *Architecture invariant:* nothing outside this folder names `opencl3` or writes `unsafe`.

#![allow(unsafe_code)]
#![deny(clippy::undocumented_unsafe_blocks)]

mod absence;
mod access;
mod argument;
mod arithmetic;
mod bandwidth;
mod binary_cache;
mod buffer;
mod build;
mod cache_mode;
mod caches;
mod compilation;
mod compiling;
mod core;
mod counters;
mod discovery;
mod error;
mod event;
mod first_touch;
mod handle;
mod huge_pages;
mod info;
mod kernel;
mod kernel_key;
mod mapped;
mod mapping;
mod matrix_units;
mod memory;
mod number;
mod options;
mod pending;
mod pinned;
mod pinned_memory;
mod place;
mod pool;
mod probe;
mod program;
mod recorder;
mod reduction;
mod remark;
mod room;
mod scratch;
mod selector;
mod streams;
mod team;
mod tuning_options;
mod twin;

pub use absence::Absence;
pub use access::{AccessKernels, GatherList};
pub use argument::{Argument, ArgumentList, Parameter};
pub use arithmetic::{ArithmeticRate, arithmetic_rate};
pub use bandwidth::triad_bandwidth;
pub use buffer::{Buffer, BufferView, BufferViewMut};
pub use build::build_programs;
pub use cache_mode::{CacheMode, NO_CACHE_VARIABLE, TUNING_FILE_VARIABLE};
pub use compilation::Compilation;
pub use compiling::{CompileClock, CompileProgress};
pub use core::Profiling;
pub use counters::Counters;
pub use discovery::{DeviceIndex, Discovery, FoundDevice, discover};
pub use error::{BuildFailure, DeviceError, Result};
pub use event::Event;
pub use handle::Device;
pub use info::{DeviceInfo, DeviceKind};
pub use kernel::{Kernel, Range};
pub use kernel_key::{KernelFamily, KernelKey};
pub use matrix_units::MatrixOperation;
pub use number::{NUMBER_SOURCE, Number, NumberMemory};
pub use options::DeviceOptions;
pub use pending::Pending;
pub use pinned::PinnedBuffer;
pub use program::Program;
pub use recorder::{DeviceRecord, Queue, RecordedCommand, RecordedSpan, Recorder};
pub use reduction::{REDUCTION_SOURCE, REDUCTION_VALUES, Reduction};
pub use remark::Remark;
pub use room::{NoRoom, available_memory, expect_room, reserve};
pub use scratch::Scratch;
pub use selector::Selector;
pub use streams::{StreamArrays, StreamKernels, StreamLaunch, repeated};
pub use team::Team;
pub use tuning_options::{SearchObserver, SearchProgress, TuningMode};
pub use twin::{PeriodicNumbers, Stream, random_places};

pub(crate) use buffer::{check_device, check_length};
