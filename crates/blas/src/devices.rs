//! The devices, and the process that has opened them.

use crate::settings;
use lattice_compute::{CompileClock, Device, DeviceOptions, Team};
use std::fmt::Display;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

/// The devices. Only products are computed on more than the first.
static TEAM: OnceLock<Option<Team>> = OnceLock::new();

/// The process that has begun to open the device, or 0.
static OPENER: AtomicU32 = AtomicU32::new(0);

/// The time that compilers of kernels have taken.
static COMPILING: LazyLock<CompileClock> = LazyLock::new(CompileClock::default);

/// The process that has called first, or 0.
static FIRST: AtomicU32 = AtomicU32::new(0);

fn open() -> Option<Team> {
    let options = DeviceOptions::default().with_compiling(COMPILING.clone());
    let team = done(Team::select_with(settings::devices(), &options))?;
    if team.devices().is_empty() {
        eprintln!(
            "lattice-cl-blas: warning: there is no OpenCL device; the next library answers all calls. Install one, for \
             example PoCL"
        );
        return None;
    }
    Some(team)
}

/// Tells whether this process may have a device.
///
/// A process that was forked cannot use the device of its parent. It must not even wait for threads
/// that its parent had.
pub fn is_possible() -> bool {
    let opener = OPENER.load(Ordering::Acquire);
    opener == 0 || opener == std::process::id()
}

/// Makes this process the one that may open the device, unless another one is.
///
/// This comes before anything that other threads may have to wait for.
pub fn is_ours() -> bool {
    // Another process stays the opener.
    let _ = OPENER.compare_exchange(0, std::process::id(), Ordering::AcqRel, Ordering::Acquire);
    is_possible()
}

/// Returns the devices, if there are some in this process. The first call opens them.
pub fn team() -> Option<&'static Team> {
    if is_ours() { TEAM.get_or_init(open).as_ref() } else { None }
}

/// Returns the first device, if there is one in this process. The first call opens it.
pub fn device() -> Option<&'static Device> {
    team()?.devices().first()
}

/// Returns the names of the devices if they have been opened.
pub fn labels() -> Option<String> {
    Some(TEAM.get()?.as_ref()?.labels().join(" and "))
}

/// Returns the time on the wall in which kernels were compiled so far.
pub fn compile_time() -> Duration {
    COMPILING.time()
}

/// Remembers that this process has called first.
pub fn remember_process() {
    FIRST.store(std::process::id(), Ordering::Relaxed);
}

/// Tells whether this process has called first, and is not one that was forked later.
pub fn is_first_process() -> bool {
    FIRST.load(Ordering::Relaxed) == std::process::id()
}

/// Returns the value, or warns that the next library answers this call.
pub fn done<T, E: Display>(result: Result<T, E>) -> Option<T> {
    result
        .map_err(|error| eprintln!("lattice-cl-blas: warning: the next library answers a call: {error}"))
        .ok()
}
