//! Progress of `tune`: one line that changes in place.

use indicatif::ProgressBar;
use lattice_cl::compute::SearchProgress;
use lattice_cl::sync::lock;
use lattice_cli::report::Report;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The progress of kernels that are tuned one after the other.
pub struct Progress {
    bar: ProgressBar,
    /// Time for one kernel.
    budget: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    planned: usize,
    done: usize,
    /// Time that the finished kernels took.
    taken: Duration,
    /// Beginning of the kernel under way.
    begun: Option<Instant>,
}

impl Progress {
    /// Watches kernels that have the time `budget` each.
    pub fn new(report: &Report, budget: Duration) -> Self {
        Self { bar: report.line(), budget, state: Mutex::default() }
    }

    /// Sets the number of kernels.
    pub fn plan(&self, kernels: usize) {
        lock(&self.state).planned = kernels;
    }

    /// Takes note of the progress of a search.
    pub fn tell(&self, progress: SearchProgress<'_>) {
        let mut state = lock(&self.state);
        let begun = *state.begun.get_or_insert_with(Instant::now);
        if progress.finished {
            state.done += 1;
            state.taken += begun.elapsed();
            state.begun = None;
            return;
        }
        let left = state.left(begun.elapsed(), (progress.done, progress.planned), self.budget);
        let words = words(&state, (progress.done, progress.planned), left);
        self.bar.set_message(format!("{words}  {}", progress.kernel));
        self.bar.tick();
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl State {
    /// Returns the time that the rest will take.
    ///
    /// `done` of `planned` variants of a kernel took `elapsed`. `None` without any experience.
    fn left(&self, elapsed: Duration, (done, planned): (usize, usize), budget: Duration) -> Option<Duration> {
        let mean = (self.done > 0).then(|| self.taken / self.done as u32);
        // A search ends when its time is used up.
        let whole = match done {
            0 => mean?,
            done => elapsed.mul_f64(planned as f64 / done as f64).min(budget),
        };
        let others = self.planned.saturating_sub(self.done + 1);
        Some(whole.saturating_sub(elapsed) + mean.unwrap_or(whole) * others as u32)
    }
}

/// Returns the text `kernel 3 of 10, variant 5 of 15, ~20 s left`.
fn words(state: &State, (done, planned): (usize, usize), left: Option<Duration>) -> String {
    let variant = (done + 1).min(planned);
    let kernel = state.done + 1;
    let kernels = state.planned.max(kernel);
    let left = left.map_or_else(String::new, |left| match left.as_secs_f64().ceil() as u64 {
        seconds if seconds < 100 => format!(", ~{seconds} s left"),
        seconds => format!(", ~{} min left", seconds.div_ceil(60)),
    });
    format!("kernel {kernel} of {kernels}, variant {variant} of {planned}{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_is_left_is_as_the_kernels_before() {
        let state = |done: usize, taken: Duration| State { planned: 10, done, taken, begun: None };
        let budget = 10 * SECOND;
        assert_eq!(state(0, Duration::ZERO).left(SECOND, (0, 15), budget), None);
        // Three of fifteen variants a second: five seconds for each kernel.
        assert_eq!(state(0, Duration::ZERO).left(SECOND, (3, 15), budget), Some(4 * SECOND + 9 * 5 * SECOND));
        assert_eq!(state(2, 4 * SECOND).left(SECOND, (0, 15), budget), Some(SECOND + 7 * 2 * SECOND));
        // No kernel takes longer than its time, and none a negative one.
        assert_eq!(state(9, 9 * SECOND).left(4 * SECOND, (1, 100), budget), Some(6 * SECOND));
        assert_eq!(state(9, 9 * SECOND).left(11 * SECOND, (1, 100), budget), Some(Duration::ZERO));
    }

    #[test]
    fn a_line_says_where_one_is() {
        let state = State { planned: 10, done: 2, ..State::default() };
        assert_eq!(words(&state, (4, 15), None), "kernel 3 of 10, variant 5 of 15");
        let left = Some(Duration::from_millis(19_200));
        assert_eq!(words(&state, (4, 15), left), "kernel 3 of 10, variant 5 of 15, ~20 s left");
        let long = Some(Duration::from_secs(150));
        assert_eq!(words(&state, (15, 15), long), "kernel 3 of 10, variant 15 of 15, ~3 min left");
    }
}
