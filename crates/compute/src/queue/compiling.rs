//! The time that compilers of kernels take, kept apart from all other time.
//!
//! Drivers compile at two moments: when a program is built, and when a kernel is launched for the
//! first time with a size of work-groups. PoCL compiles at the first launch for this size, and
//! NVIDIA's driver loads the code then.

use crate::sync::lock;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The progress of compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileProgress<'a> {
    /// The program or kernel, with its options as text.
    pub what: &'a str,
    /// Number of compilations begun, this one included.
    pub number: usize,
    /// Number of compilations planned, as far as it is known ahead.
    pub planned: Option<usize>,
    /// `true` if this one is done.
    pub finished: bool,
}

/// Counter of the time that compilers take on the devices opened with it.
///
/// The clock tells an observer as well. Clones count together.
#[derive(Clone)]
pub struct CompileClock(Arc<Inner>);

type Observe = dyn Fn(CompileProgress<'_>) + Send + Sync;

struct Inner {
    state: Mutex<State>,
    observe: Option<Box<Observe>>,
}

#[derive(Default)]
struct State {
    total: Duration,
    /// Number of threads that compile now.
    ///
    /// `since` is the time since when at least one thread compiles.
    active: usize,
    since: Option<Instant>,
    begun: usize,
    planned: usize,
}

impl CompileClock {
    /// Makes a clock that calls `observe` before and after each compilation.
    pub fn new(observe: impl Fn(CompileProgress<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { state: Mutex::default(), observe: Some(Box::new(observe)) }))
    }

    /// Returns the time on the wall in which something was compiled so far.
    ///
    /// The loading of code that an earlier run had compiled counts as well.
    pub fn time(&self) -> Duration {
        let state = lock(&self.0.state);
        state.total + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Starts a stopwatch that stands still while something is compiled.
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch { begun: Instant::now(), compiled: self.time(), clock: self.clone() }
    }

    /// Announces `count` more compilations.
    pub(crate) fn expect(&self, count: usize) {
        let mut state = lock(&self.0.state);
        state.planned = state.begun + count;
    }

    /// Runs `compile` with the clock on.
    pub(crate) fn compile<R>(&self, what: &str, compile: impl FnOnce() -> R) -> R {
        let (number, planned) = {
            let mut state = lock(&self.0.state);
            state.begun += 1;
            state.active += 1;
            state.since.get_or_insert_with(Instant::now);
            (state.begun, Some(state.planned).filter(|planned| state.begun <= *planned))
        };
        let tell = |finished| {
            if let Some(observe) = &self.0.observe {
                observe(CompileProgress { what, number, planned, finished });
            }
        };
        tell(false);
        let result = compile();
        {
            let mut state = lock(&self.0.state);
            state.active -= 1;
            if state.active == 0 {
                let since = state.since.take();
                state.total += since.map_or(Duration::ZERO, |since| since.elapsed());
            }
        }
        tell(true);
        result
    }
}

/// A stopwatch that stands still while something is compiled.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    begun: Instant,
    compiled: Duration,
    clock: CompileClock,
}

impl Stopwatch {
    /// Starts another stopwatch of this clock.
    pub fn restarted(&self) -> Self {
        self.clock.stopwatch()
    }

    /// Returns the time since the start, without that of compilers.
    pub fn elapsed(&self) -> Duration {
        let compiling = self.clock.time().saturating_sub(self.compiled);
        self.begun.elapsed().saturating_sub(compiling)
    }

    /// Returns the time since the start in seconds, without that of compilers.
    pub fn seconds(&self) -> f64 {
        self.elapsed().as_secs_f64()
    }
}

impl Default for CompileClock {
    /// Makes a clock that nobody watches.
    fn default() -> Self {
        Self(Arc::new(Inner { state: Mutex::default(), observe: None }))
    }
}

impl PartialEq for CompileClock {
    /// Returns `true` for clones of one clock, and for two that nobody watches.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.observe.is_none() && other.0.observe.is_none())
    }
}

impl Eq for CompileClock {}

impl fmt::Debug for CompileClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompileClock({:?})", self.time())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    #[test]
    fn time_of_threads_that_compile_together_counts_once() {
        let clock = CompileClock::default();
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| clock.compile("kernel", || sleep(Duration::from_millis(20))));
            }
        });
        let (counted, passed) = (clock.time(), begun.elapsed());
        assert!(counted >= Duration::from_millis(20) && counted <= passed, "{counted:?} {passed:?}");
        assert_eq!(clock.time(), counted, "nothing is compiled any more");
    }

    #[test]
    fn a_stopwatch_stands_still_while_something_is_compiled() {
        let clock = CompileClock::default();
        clock.compile("before", || sleep(Duration::from_millis(5)));
        let begun = Instant::now();
        let stopwatch = clock.stopwatch();
        sleep(Duration::from_millis(10));
        clock.compile("kernel", || sleep(Duration::from_millis(40)));
        let (counted, passed) = (stopwatch.elapsed(), begun.elapsed());
        assert!(counted >= Duration::from_millis(10), "{counted:?}");
        assert!(counted + Duration::from_millis(40) <= passed, "{counted:?} {passed:?}");
    }

    #[test]
    fn the_observer_is_told_how_many_are_left() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let clock = CompileClock::new({
            let told = Arc::clone(&told);
            move |progress| lock(&told).push((progress.number, progress.planned, progress.finished))
        });
        clock.expect(2);
        for _ in 0..3 {
            clock.compile("kernel", || ());
        }
        let started: Vec<_> =
            lock(&told).iter().filter(|told| !told.2).map(|told| (told.0, told.1)).collect();
        assert_eq!(started, [(1, Some(2)), (2, Some(2)), (3, None)]);
        assert_eq!(lock(&told).len(), 6);
    }
}
