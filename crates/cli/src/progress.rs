//! A bar that shows while kernels are compiled.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lattice_compute::sync::lock;
use lattice_compute::{CompileClock, CompileProgress};
use std::fmt::Display;
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Longest compiling that is not shown.
///
/// Kernels that an earlier run has compiled are only loaded.
const PATIENCE: Duration = Duration::from_millis(300);

/// Interval between updates of the bar.
const TICK: Duration = Duration::from_millis(100);

/// The bar of compilers, which appears and disappears by itself.
///
/// Its text is, for example, `compiling kernels for 6x6x6x6, once (7 of 12)`.
#[derive(Debug)]
pub struct Compiling {
    shared: Arc<Shared>,
    clock: CompileClock,
}

#[derive(Debug)]
struct Shared {
    bars: MultiProgress,
    visible: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lattice: Option<String>,
    /// Number of compilers at work now.
    active: usize,
    /// Moment since which compilers work, except for short breaks.
    since: Option<Instant>,
    number: usize,
    planned: Option<usize>,
    watched: bool,
}

impl Compiling {
    /// Creates a bar among `bars`, if these are visible.
    pub fn new(bars: MultiProgress, visible: bool) -> Self {
        let shared = Arc::new(Shared { bars, visible, state: Mutex::default() });
        let watched = Arc::downgrade(&shared);
        let clock = CompileClock::new(move |progress| {
            if let Some(shared) = watched.upgrade() {
                shared.told(progress);
            }
        });
        Self { shared, clock }
    }

    /// Sets the lattice that kernels are compiled for.
    pub fn on_lattice(&self, lattice: impl Display) {
        lock(&self.shared.state).lattice = Some(lattice.to_string());
    }

    /// Returns the clock of all devices, which informs the bar.
    pub fn clock(&self) -> &CompileClock {
        &self.clock
    }
}

impl Shared {
    fn told(self: &Arc<Self>, progress: CompileProgress<'_>) {
        let mut state = lock(&self.state);
        if progress.finished {
            state.active = state.active.saturating_sub(1);
            return;
        }
        state.active += 1;
        state.since.get_or_insert_with(Instant::now);
        (state.number, state.planned) = (progress.number, progress.planned);
        if self.visible && !state.watched {
            state.watched = true;
            let shared = Arc::downgrade(self);
            // Without the thread there is no bar, and no harm.
            let _ = thread::Builder::new().name("compiling".to_owned()).spawn(move || watch(&shared));
        }
    }

    /// Returns the text of the bar, if the bar is to be there.
    fn message(&self) -> Option<String> {
        let mut state = lock(&self.state);
        if state.active == 0 {
            state.since = None;
        }
        let long = state.since.is_some_and(|since| since.elapsed() >= PATIENCE);
        long.then(|| message(state.lattice.as_deref(), state.number, state.planned))
    }
}

fn message(lattice: Option<&str>, number: usize, planned: Option<usize>) -> String {
    let lattice = lattice.map_or_else(String::new, |lattice| format!(" for {lattice}"));
    let planned = planned.map_or_else(String::new, |planned| format!(" of {planned}"));
    format!("compiling kernels{lattice}, once ({number}{planned})")
}

/// Shows and removes the bar, until the report is gone.
fn watch(shared: &Weak<Shared>) {
    let mut bar: Option<ProgressBar> = None;
    loop {
        thread::sleep(TICK);
        let Some(shared) = shared.upgrade() else { return };
        match shared.message() {
            Some(message) => {
                let bar = bar.get_or_insert_with(|| {
                    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
                    let style = ProgressStyle::with_template("{msg} {spinner} {elapsed}");
                    shared.bars.add(style.map_or(bar.clone(), |style| bar.with_style(style)))
                });
                bar.set_message(message);
                bar.tick();
            }
            None => {
                if let Some(bar) = bar.take() {
                    bar.finish_and_clear();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_is_counted() {
        assert_eq!(message(Some("6x6x6x6"), 7, Some(12)), "compiling kernels for 6x6x6x6, once (7 of 12)");
        assert_eq!(message(None, 13, None), "compiling kernels, once (13)");
    }

    #[test]
    fn short_work_is_not_shown_and_long_work_is_until_it_ends() {
        let compiling = Compiling::new(MultiProgress::with_draw_target(ProgressDrawTarget::hidden()), false);
        let shared = &compiling.shared;
        let told = |finished| {
            shared.told(CompileProgress { what: "wilson", number: 1, planned: Some(2), finished });
        };
        told(false);
        assert_eq!(shared.message(), None);
        lock(&shared.state).since = Instant::now().checked_sub(2 * PATIENCE);
        assert!(shared.message().is_some());
        told(true);
        assert_eq!(shared.message(), None);
    }
}
