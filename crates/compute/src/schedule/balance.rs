//! A distribution that follows measured times.

use super::partition::{partition, seconds as expected_seconds};
use super::rebalance::{BALANCED, Move, imbalance, rebalance};

/// Part of a worker's expected time that must have come or gone before it tells how long jobs take.
const ENOUGH: f64 = 0.02;

/// A factor falls to no less than this part of itself at once: runs differ by chance too.
const MOST_FALL: f64 = 0.5;

/// A distribution of jobs over workers, corrected after each run by what the workers have taken.
///
/// A run is the work of all workers on their jobs. Workers may be as unlike as a processor and a
/// GPU: expected times of jobs need not be right, and a worker may take a time of its own for a run.
#[derive(Clone, Debug)]
pub struct Balance {
    times: Vec<Vec<f64>>,
    migration: Vec<Vec<f64>>,
    jobs: Vec<Vec<usize>>,
    /// How many times longer than expected jobs have taken that came to each worker, if some came.
    factors: Vec<Option<f64>>,
    last: Option<Run>,
}

/// A run that was measured.
#[derive(Clone, Debug)]
struct Run {
    expected: Vec<f64>,
    seconds: Vec<f64>,
    /// `true` if jobs have moved since.
    has_moved: bool,
}

impl Balance {
    /// Distributes jobs by [`partition`].
    ///
    /// `times` has for each worker the expected seconds of each job, `migration` the seconds that
    /// it costs the worker to take the job.
    ///
    /// # Panics
    /// If there is a job that no worker can do.
    pub fn new(times: Vec<Vec<f64>>, migration: Vec<Vec<f64>>) -> Self {
        let jobs = partition(&times);
        let factors = vec![None; times.len()];
        Self { times, migration, jobs, factors, last: None }
    }

    /// Returns the numbers of each worker's jobs, ascending.
    pub fn jobs(&self) -> &[Vec<usize>] {
        &self.jobs
    }

    /// Moves jobs after a run, by the seconds that each worker has taken.
    ///
    /// The first run out of balance after one in balance moves nothing: it may be chance. The next
    /// run tells, and the shorter time of both counts. After moves, the change of a worker's time
    /// tells how much longer than expected jobs take there. Otherwise its whole time does, and no
    /// worker is taken for faster than expected: few and small jobs tell little about large ones.
    pub fn after(&mut self, seconds: &[f64]) -> Vec<Move> {
        let mut seconds = seconds.to_vec();
        let expected = expected_seconds(&self.jobs, &self.times);
        let run = Run { expected: expected.clone(), seconds: seconds.clone(), has_moved: false };
        match self.last.replace(run) {
            Some(last) if last.has_moved => self.learn(&last, &expected, &seconds),
            Some(last) => {
                if imbalance(&last.seconds) <= BALANCED && imbalance(&seconds) > BALANCED {
                    return Vec::new();
                }
                seconds.iter_mut().zip(&last.seconds).for_each(|(now, before)| *now = now.min(*before));
                self.factors.fill(None);
            }
            None => {}
        }
        let of_all = |worker: usize| match expected[worker] {
            expected if expected > 0.0 => (seconds[worker] / expected).max(1.0),
            _ => 1.0,
        };
        let learned = self.factors.iter().enumerate();
        let factors: Vec<f64> =
            learned.map(|(worker, factor)| factor.unwrap_or_else(|| of_all(worker))).collect();
        let moves = rebalance(&mut self.jobs, &self.times, &seconds, &factors, &self.migration);
        if let Some(run) = &mut self.last {
            run.has_moved = !moves.is_empty();
        }
        moves
    }

    /// Compares two runs between which jobs have moved.
    fn learn(&mut self, last: &Run, expected: &[f64], seconds: &[f64]) {
        for (worker, factor) in self.factors.iter_mut().enumerate() {
            let more = expected[worker] - last.expected[worker];
            if more.abs() > ENOUGH * expected[worker].max(last.expected[worker]) {
                let found = (seconds[worker] - last.seconds[worker]) / more;
                *factor = Some(found.max(MOST_FALL * factor.unwrap_or(1.0)));
            }
        }
    }
}
