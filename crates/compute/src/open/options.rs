//! The options of opening a device.

use super::known::OpenDevices;
use super::peer_ways::PeerWays;
use super::tuning_options::{SearchObserver, TuningMode};
use crate::kernel::{CacheMode, CompileWorkers};
use crate::queue::{CompileClock, Profiling, Recorder};
use derive_setters::Setters;
use std::time::Duration;

/// The options of opening a device.
#[derive(Clone, Debug, PartialEq, Eq, Default, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct DeviceOptions {
    /// The choice whether commands are timed.
    pub profiling: Profiling,
    /// The place of compiled programs and tuned kernel variants between runs.
    pub cache: CacheMode,
    /// The choice of a kernel's variant if none is asked for.
    pub tuning: TuningMode,
    /// Time that all searches on first use may take together.
    ///
    /// Once the time is used up, shipped variants are used. The default is `None`: each search has
    /// its own [`BUDGET`](crate::tuning::BUDGET).
    pub search_time: Option<Duration>,
    /// The observer of a search for the fastest variant.
    pub observer: SearchObserver,
    /// The recorder that writes down what the device does; none by default.
    ///
    /// A recorder that writes turns profiling on.
    pub recorder: Recorder,
    /// The clock that counts the time of compilers.
    ///
    /// All devices of a team count together.
    pub compiling: CompileClock,
    /// The processes that compile beside this one in [`build_programs`](crate::build_programs).
    ///
    /// Without them, and without a cache, this process compiles one program after another.
    pub workers: Option<CompileWorkers>,
    /// The ways in which kernels may reach the memory of other devices.
    ///
    /// `None` stands for the value of the variable [`PEER_VARIABLE`](crate::PEER_VARIABLE).
    pub peer: Option<PeerWays>,
    /// The choice whether devices without double precision are opened too.
    ///
    /// Kernels that compute in double do not compile on them. The sums of this crate are such.
    pub without_double: bool,
    /// The devices that a team takes if they are open already.
    ///
    /// `None` opens devices of its own for each team.
    pub open: Option<OpenDevices>,
}
