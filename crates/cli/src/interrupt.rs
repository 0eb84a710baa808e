//! Requests to end the program: Ctrl-C, SIGTERM and SIGHUP.
//!
//! A computation that has something to keep or to show listens for requests. It looks for them at
//! intervals, and comes to a good end. Whoever does not listen is ended at once, in the middle of
//! reading a file or of compiling, and leaves no half-written file. So is whoever has been asked
//! before, or does not look any more.

use super::failure::{Failure, Status};
use super::report::Report;
use lattice_compute::sync::lock;
use lattice_files::leftovers;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level;
use std::io;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The time in which a computation must look for a request, at least.
const LEAST_PATIENCE: Duration = Duration::from_secs(30);

/// The patience in the longest times between two looks so far.
const TIMES: u32 = 5;

/// Interval of the watch over a computation that has been asked to end.
const WATCH: Duration = Duration::from_millis(100);

/// Signals concern the whole process, so their state is one for all.
static STATE: State = State {
    listening: AtomicUsize::new(0),
    signal: AtomicI32::new(0),
    looks: Mutex::new(Looks { last: None, longest: Duration::ZERO, has_seen: false }),
};

struct State {
    /// Number of computations that listen.
    listening: AtomicUsize,
    /// The first signal that came while somebody listened, or 0.
    signal: AtomicI32,
    looks: Mutex<Looks>,
}

/// Looks for requests.
struct Looks {
    last: Option<Instant>,
    /// The longest time between two looks.
    longest: Duration,
    /// Whether a look has found a request.
    has_seen: bool,
}

impl Looks {
    /// Notes a look.
    fn look(&mut self, now: Instant, is_pressed: bool) {
        if let Some(last) = self.last.replace(now) {
            self.longest = self.longest.max(now.saturating_duration_since(last));
        }
        self.has_seen |= is_pressed;
    }

    /// Tells whether nobody looks any more, so long after the request.
    fn is_lost(&self, since_request: Duration) -> bool {
        !self.has_seen && since_request > LEAST_PATIENCE.max(TIMES * self.longest)
    }
}

/// The watch for signals, until it is dropped.
pub struct Watch(Handle);

impl Watch {
    /// Begins to watch. The program says by `report` why it ends a computation.
    ///
    /// A signal that is ignored, as `nohup` has it, stays ignored.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn begin(report: &Arc<Report>) -> Result<Self, Failure> {
        let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        let signals = [SIGINT, SIGTERM].into_iter().chain(hang_up);
        let refused = |error: io::Error| {
            let error = anyhow::Error::new(error).context("interruptions cannot be listened for");
            Failure::new(Status::Failed, error)
        };
        let mut signals = Signals::new(signals).map_err(refused)?;
        let (handle, report) = (signals.handle(), Arc::clone(report));
        let listen = move || signals.forever().for_each(|signal| comes(signal, &report));
        thread::Builder::new().spawn(listen).map_err(refused)?;
        Ok(Self(handle))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Does what a signal asks for.
fn comes(signal: i32, report: &Arc<Report>) {
    let is_first = STATE.signal.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if !is_first || STATE.listening.load(Ordering::Relaxed) == 0 {
        end_at_once(signal);
    }
    let (begun, report) = (Instant::now(), Arc::clone(report));
    let watch = move || {
        while STATE.listening.load(Ordering::Relaxed) > 0 && !lock(&STATE.looks).has_seen {
            if lock(&STATE.looks).is_lost(begun.elapsed()) {
                let message = "the computation does not come to an end after the request, and is ended";
                report.failure(&Failure::new(status_of(signal), anyhow::Error::msg(message)));
                end_at_once(signal);
            }
            thread::sleep(WATCH);
        }
        // Nobody listens any more, and nobody has seen the request.
        if !lock(&STATE.looks).has_seen {
            end_at_once(signal);
        }
    };
    if thread::Builder::new().spawn(watch).is_err() {
        end_at_once(signal);
    }
}

/// Ends the program without what it has for its end, but leaves nothing half-written.
fn end_at_once(signal: i32) -> ! {
    leftovers::remove_all();
    low_level::exit(status_of(signal) as i32)
}

/// Returns the exit status of a process that a signal ended, by custom.
fn status_of(signal: i32) -> Status {
    match signal {
        SIGTERM => Status::Terminated,
        SIGHUP => Status::HungUp,
        _ => Status::Interrupted,
    }
}

/// Tells whether whoever started the program has the signal ignored.
///
/// Only Linux tells. Elsewhere SIGHUP is left as it is.
fn is_ignored(signal: i32) -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return true };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

/// The right of a computation to come to a good end after a request.
#[derive(Debug)]
pub struct Interrupt(());

impl Interrupt {
    /// Listens for requests from now on, until this is dropped.
    ///
    /// The computation must ask [`pressed`](Self::pressed) at intervals.
    pub fn listen() -> Self {
        let mut looks = lock(&STATE.looks);
        *looks = Looks { last: None, ..*looks };
        STATE.listening.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// Tells whether the program is to come to an end.
    pub fn pressed(&self) -> bool {
        let is_pressed = STATE.signal.load(Ordering::Relaxed) != 0;
        lock(&STATE.looks).look(Instant::now(), is_pressed);
        is_pressed
    }

    /// Returns the exit status of a program that ends because of the request.
    ///
    /// The status is that of a process which the signal ended.
    pub fn status(&self) -> Status {
        status_of(STATE.signal.load(Ordering::Relaxed))
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        STATE.listening.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_looks_rarely_has_more_patience() {
        let seconds = Duration::from_secs;
        let begun = Instant::now();
        let mut looks = Looks { last: None, longest: Duration::ZERO, has_seen: false };
        assert!(!looks.is_lost(seconds(29)) && looks.is_lost(seconds(31)));
        [0, 3, 23, 24].into_iter().for_each(|at| looks.look(begun + seconds(at), false));
        assert_eq!(looks.longest, seconds(20));
        assert!(!looks.is_lost(seconds(99)) && looks.is_lost(seconds(101)));
        looks.look(begun + seconds(30), true);
        assert!(!looks.is_lost(seconds(1000)), "it is on its way to the end");
    }
}
