//! The queues of an open device: commands, events, and recorders.

mod compiling;
mod core;
mod event;
mod ordinal;
mod recorder;

pub use compiling::{CompileClock, CompileProgress, Stopwatch};
pub use core::Profiling;
pub use event::Event;
pub use recorder::{DeviceRecord, Queue, RecordedCommand, RecordedSpan, Recorder};

pub(crate) use core::Core;
pub(crate) use event::{Noted, wait_list};
pub(crate) use ordinal::Ordinal;
