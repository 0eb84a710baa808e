//! How a device is to be opened.

use super::peer_ways::PeerWays;
use super::tuning_options::{SearchObserver, TuningMode};
use crate::kernel::CacheMode;
use crate::queue::{CompileClock, Profiling, Recorder};
use std::time::Duration;

/// How to open a device.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DeviceOptions {
    /// Whether commands are timed.
    pub profiling: Profiling,
    /// Where compiled programs and tuned kernel variants are kept between runs.
    pub cache: CacheMode,
    /// Which variant of a kernel is used where none is asked for.
    pub tuning: TuningMode,
    /// Time that all searches on first use may take together; where it is used up, shipped variants are used. Default `None`: each has its
    /// own [`BUDGET`](crate::tuning::BUDGET).
    pub search_time: Option<Duration>,
    /// Who is told of a search for the fastest variant.
    pub observer: SearchObserver,
    /// Who writes down what the device does; nobody by default. One that does turns profiling on.
    pub recorder: Recorder,
    /// Who counts the time that compilers take; all devices of a team count together.
    pub compiling: CompileClock,
    /// In which ways kernels may reach the memory of other devices. `None` stands for what the variable
    /// [`PEER_VARIABLE`](crate::PEER_VARIABLE) says.
    pub peer: Option<PeerWays>,
}
