//! A distribution that follows measured times.

use super::partition::{partition, seconds as expected_seconds};
use super::rebalance::{BALANCED, Move, imbalance, rebalance};

/// Part of a worker's expected time that must have come or gone before it tells how long jobs take.
const ENOUGH: f64 = 0.02;

/// A factor falls to no less than this part of itself at once: runs differ by chance too.
const MOST_FALL: f64 = 0.5;

/// A worker with a smaller part of the speed of all is worth a run without it.
const DOUBTFUL: f64 = 0.1;

/// Runs before a worker is doubted, unless an earlier one is in balance.
const RUNS_BEFORE_DOUBT: usize = 2;

/// A distribution of jobs over workers, corrected after each run by what the workers have taken.
///
/// A run is the work of all workers on their jobs. Workers may be as unlike as a processor and a
/// GPU: expected times of jobs need not be right, and a worker may take a time of its own for a run.
/// A worker that is much slower than the others is left out if a run without it is no longer.
#[derive(Clone, Debug)]
pub struct Balance {
    times: Vec<Vec<f64>>,
    migration: Vec<Vec<f64>>,
    jobs: Vec<Vec<usize>>,
    /// How many times longer than expected jobs have taken that came to each worker, if some came.
    factors: Vec<Option<f64>>,
    last: Option<Run>,
    runs: usize,
    shortest: f64,
    doubt: Doubt,
    left_out: Option<usize>,
}

/// A run that was measured.
#[derive(Clone, Debug)]
struct Run {
    expected: Vec<f64>,
    seconds: Vec<f64>,
    /// `true` if jobs have moved since.
    has_moved: bool,
}

/// Whether a slow worker is of use.
#[derive(Clone, Debug)]
enum Doubt {
    NotYet,
    /// The next run is without the worker. Before it, workers had these jobs.
    Trial {
        without: usize,
        jobs: Vec<Vec<usize>>,
    },
    Settled,
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
        Self {
            jobs: partition(&times),
            factors: vec![None; times.len()],
            times,
            migration,
            last: None,
            runs: 0,
            shortest: f64::INFINITY,
            doubt: Doubt::NotYet,
            left_out: None,
        }
    }

    /// Returns the numbers of each worker's jobs, ascending.
    pub fn jobs(&self) -> &[Vec<usize>] {
        &self.jobs
    }

    /// Returns the worker that gets no jobs, because the others are as fast without it.
    pub fn left_out(&self) -> Option<usize> {
        self.left_out
    }

    /// Moves jobs after a run, by the seconds that each worker has taken, and those of the whole run.
    ///
    /// The first run out of balance after one in balance moves nothing: it may be chance. The next
    /// run tells, and the shorter time of both counts. After moves, the change of a worker's time
    /// tells how much longer than expected jobs take there. Otherwise its whole time does, and no
    /// worker is taken for faster than expected: few and small jobs tell little about large ones.
    ///
    /// After the second run, or the first in balance, a worker with less than a tenth of all speed
    /// has no jobs for one run. If that run is at most 2 % longer than the shortest before, the
    /// worker is left out from then on.
    pub fn after(&mut self, seconds: &[f64], whole: f64) -> Vec<Move> {
        self.runs += 1;
        if let Doubt::Trial { .. } = self.doubt
            && let Doubt::Trial { without, jobs } = std::mem::replace(&mut self.doubt, Doubt::Settled)
        {
            self.last = None;
            if whole > self.shortest * (1.0 + BALANCED) {
                return self.go_to(jobs);
            }
            self.left_out = Some(without);
            return Vec::new();
        }
        self.shortest = self.shortest.min(whole);
        let is_time = self.runs >= RUNS_BEFORE_DOUBT || imbalance(seconds) <= BALANCED;
        if matches!(self.doubt, Doubt::NotYet) && is_time {
            self.doubt = Doubt::Settled;
            if let Some((without, jobs)) =
                self.slow_worker(seconds).and_then(|slow| self.without(slow, seconds))
            {
                self.doubt = Doubt::Trial { without, jobs: self.jobs.clone() };
                return self.go_to(jobs);
            }
        }
        self.correct(seconds)
    }

    /// Returns the worker whose speed is a small part of that of all.
    fn slow_worker(&self, seconds: &[f64]) -> Option<usize> {
        // The size of a job is the least time that it takes.
        let size = |&job: &usize| self.times.iter().map(|times| times[job]).fold(f64::INFINITY, f64::min);
        let speed = |(jobs, seconds): (&Vec<usize>, &f64)| match jobs.iter().map(size).sum::<f64>() / seconds
        {
            speed if speed.is_finite() => speed,
            _ => 0.0,
        };
        let speeds: Vec<f64> = self.jobs.iter().zip(seconds).map(speed).collect();
        let all: f64 = speeds.iter().sum();
        let slowest = (0..speeds.len()).min_by(|&a, &b| speeds[a].total_cmp(&speeds[b]))?;
        // Among very many workers each has a small part.
        let is_slow = speeds[slowest] < DOUBTFUL * all && speeds[slowest] < 0.5 * all / speeds.len() as f64;
        (is_slow && !self.jobs[slowest].is_empty()).then_some(slowest)
    }

    /// Gives the jobs of a worker to the others, if they can do them.
    fn without(&self, without: usize, seconds: &[f64]) -> Option<(usize, Vec<Vec<usize>>)> {
        let mut jobs = self.jobs.clone();
        let mut seconds = seconds.to_vec();
        // Those with the most work have the largest numbers, as a rule.
        for job in std::mem::take(&mut jobs[without]).into_iter().rev() {
            let end = |worker: &usize| seconds[*worker] + self.times[*worker][job];
            let others = (0..jobs.len()).filter(|&worker| worker != without);
            let to = others.min_by(|a, b| end(a).total_cmp(&end(b))).filter(|to| end(to).is_finite())?;
            seconds[to] += self.times[to][job];
            jobs[to].push(job);
        }
        jobs.iter_mut().for_each(|jobs| jobs.sort_unstable());
        Some((without, jobs))
    }

    /// Makes `jobs` the distribution.
    fn go_to(&mut self, jobs: Vec<Vec<usize>>) -> Vec<Move> {
        let before = std::mem::replace(&mut self.jobs, jobs);
        let mut moves = Vec::new();
        for (to, jobs) in self.jobs.iter().enumerate() {
            for &job in jobs {
                let from = before.iter().position(|jobs| jobs.binary_search(&job).is_ok());
                moves.extend(from.filter(|&from| from != to).map(|from| Move { job, from, to }));
            }
        }
        moves
    }

    /// Moves jobs from slow workers to fast ones.
    fn correct(&mut self, seconds: &[f64]) -> Vec<Move> {
        let workers: Vec<usize> =
            (0..seconds.len()).filter(|&worker| self.left_out != Some(worker)).collect();
        let mut seconds: Vec<f64> = workers.iter().map(|&worker| seconds[worker]).collect();
        let times: Vec<Vec<f64>> = workers.iter().map(|&worker| self.times[worker].clone()).collect();
        let migration: Vec<Vec<f64>> = workers.iter().map(|&worker| self.migration[worker].clone()).collect();
        let mut jobs: Vec<Vec<usize>> = workers.iter().map(|&worker| self.jobs[worker].clone()).collect();
        let expected = expected_seconds(&jobs, &times);
        let run = Run { expected: expected.clone(), seconds: seconds.clone(), has_moved: false };
        match self.last.replace(run) {
            Some(last) if last.has_moved => self.learn(&workers, &last, &expected, &seconds),
            Some(last) => {
                if imbalance(&last.seconds) <= BALANCED && imbalance(&seconds) > BALANCED {
                    return Vec::new();
                }
                seconds.iter_mut().zip(&last.seconds).for_each(|(now, before)| *now = now.min(*before));
                self.factors.fill(None);
            }
            None => {}
        }
        let of_all = |place: usize| match expected[place] {
            expected if expected > 0.0 => (seconds[place] / expected).max(1.0),
            _ => 1.0,
        };
        let places = workers.iter().enumerate();
        let factors: Vec<f64> =
            places.map(|(place, &worker)| self.factors[worker].unwrap_or_else(|| of_all(place))).collect();
        let mut moves = rebalance(&mut jobs, &times, &seconds, &factors, &migration);
        if let Some(run) = &mut self.last {
            run.has_moved = !moves.is_empty();
        }
        for (&worker, jobs) in workers.iter().zip(jobs) {
            self.jobs[worker] = jobs;
        }
        moves.iter_mut().for_each(|step| (step.from, step.to) = (workers[step.from], workers[step.to]));
        moves
    }

    /// Compares two runs between which jobs have moved.
    fn learn(&mut self, workers: &[usize], last: &Run, expected: &[f64], seconds: &[f64]) {
        for (place, &worker) in workers.iter().enumerate() {
            let more = expected[place] - last.expected[place];
            if more.abs() > ENOUGH * expected[place].max(last.expected[place]) {
                let found = (seconds[place] - last.seconds[place]) / more;
                let factor = &mut self.factors[worker];
                *factor = Some(found.max(MOST_FALL * factor.unwrap_or(1.0)));
            }
        }
    }
}
