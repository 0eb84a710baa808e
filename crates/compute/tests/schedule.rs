//! Properties of distributions of jobs over workers.

use lattice_compute::schedule::{BALANCED, Balance, fit, imbalance, partition, rebalance, seconds};
use proptest::prelude::*;

fn costs() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1.0_f64..100.0, 1..120)
}

fn speeds() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.1_f64..10.0, 1..13)
}

/// The times of workers of these speeds.
fn times(costs: &[f64], speeds: &[f64]) -> Vec<Vec<f64>> {
    speeds.iter().map(|speed| costs.iter().map(|cost| cost / speed).collect()).collect()
}

/// Moves that cost nothing.
fn free(times: &[Vec<f64>]) -> Vec<Vec<f64>> {
    times.iter().map(|times| vec![0.0; times.len()]).collect()
}

fn longest(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(0.0, f64::max)
}

/// Every job is done by one worker.
fn expect_all_jobs(jobs: &[Vec<usize>], count: usize) {
    let mut all = jobs.concat();
    all.sort_unstable();
    assert_eq!(all, (0..count).collect::<Vec<_>>());
    assert!(jobs.iter().all(|jobs| jobs.is_sorted()));
}

proptest! {
    #[test]
    fn partitions_have_all_jobs_and_are_near_the_least_time(costs in costs(), speeds in speeds()) {
        let times = times(&costs, &speeds);
        let jobs = partition(&times);
        expect_all_jobs(&jobs, costs.len());
        let longest = longest(&seconds(&jobs, &times));
        let total: f64 = costs.iter().sum();
        let largest = costs.iter().copied().fold(0.0, f64::max);
        let fastest = speeds.iter().copied().fold(0.0, f64::max);
        // If a job fits nowhere, each worker has room for less than the largest job.
        let all: f64 = speeds.iter().sum();
        let bound = (total + speeds.len() as f64 * largest) / all;
        prop_assert!(longest <= bound.max(total / fastest).max(largest / fastest) * (1.0 + 1e-5));
        prop_assert!(longest <= total / fastest * (1.0 + 1e-9), "one worker alone is no faster");
        prop_assert_eq!(partition(&times), jobs);
    }

    #[test]
    fn moves_leave_all_jobs(costs in costs(), speeds in speeds(), believed in speeds()) {
        let workers = speeds.len().min(believed.len());
        let (real, believed) = (times(&costs, &speeds[..workers]), times(&costs, &believed[..workers]));
        let mut balance = Balance::new(believed.clone(), free(&believed));
        let before = seconds(balance.jobs(), &real);
        let moves = balance.after(&before, longest(&before));
        expect_all_jobs(balance.jobs(), costs.len());
        for step in moves {
            prop_assert!(step.from != step.to);
        }
    }

    /// With a third worker between them, the longest time of two may grow while their difference shrinks.
    #[test]
    fn moves_make_the_difference_of_two_smaller(
        costs in costs(),
        speeds in prop::collection::vec(0.1_f64..10.0, 2),
        believed in prop::collection::vec(0.1_f64..10.0, 2),
    ) {
        let real = times(&costs, &speeds);
        let mut jobs = partition(&times(&costs, &believed));
        let difference = |jobs: &[Vec<usize>]| {
            let seconds = seconds(jobs, &real);
            (seconds[0] - seconds[1]).abs()
        };
        let before = difference(&jobs);
        let taken = seconds(&jobs, &real);
        rebalance(&mut jobs, &real, &taken, &[1.0; 2], &free(&real));
        expect_all_jobs(&jobs, costs.len());
        prop_assert!(difference(&jobs) <= before * (1.0 + 1e-12));
    }
}

/// Jobs as groups of points are: none above an eighth of a worker's part.
fn groups() -> Vec<f64> {
    (0..400).map(|k| 1.0 + (k * 37 % 101) as f64 / 10.0).collect()
}

#[test]
fn many_small_jobs_come_into_balance() {
    for workers in [2, 4, 12] {
        // Even the slowest worker has many jobs.
        let speeds: Vec<f64> = (0..workers).map(|k| 1.0 + 2.0 * k as f64 / workers as f64).collect();
        // The speeds are known to some per cent only.
        let believed: Vec<f64> =
            speeds.iter().enumerate().map(|(k, s)| s * (1.0 + 0.03 * (k % 3) as f64)).collect();
        let (real, believed) = (times(&groups(), &speeds), times(&groups(), &believed));
        let limit = if workers == 12 { 0.05 } else { BALANCED };
        let mut balance = Balance::new(believed.clone(), free(&believed));
        for _ in 0..2 {
            let seconds = seconds(balance.jobs(), &real);
            balance.after(&seconds, longest(&seconds));
        }
        let imbalance = imbalance(&seconds(balance.jobs(), &real));
        assert!(imbalance < limit, "{workers} workers: {imbalance}");
    }
}

/// A worker that has become slow loses jobs: two evaluations bring four workers into balance.
#[test]
fn a_worker_that_slows_down_loses_jobs() {
    for (slowed, factor) in [(0, 0.5), (2, 0.5), (3, 0.7), (1, 0.85)] {
        let believed = times(&groups(), &[1.0; 4]);
        let mut speeds = [1.0; 4];
        speeds[slowed] = factor;
        let real = times(&groups(), &speeds);
        // Each job costs a tenth of its time to take.
        let migration: Vec<Vec<f64>> =
            believed.iter().map(|times| times.iter().map(|time| 0.1 * time).collect()).collect();
        let mut balance = Balance::new(believed, migration);
        let before = balance.jobs()[slowed].len();
        for _ in 0..2 {
            let seconds = seconds(balance.jobs(), &real);
            balance.after(&seconds, longest(&seconds));
        }
        expect_all_jobs(balance.jobs(), groups().len());
        let imbalance = imbalance(&seconds(balance.jobs(), &real));
        assert!(imbalance < BALANCED, "worker {slowed} at {factor}: {imbalance}");
        assert!(balance.jobs()[slowed].len() < before);
    }
}

/// Groups of points of a large molecule: points times functions squared, from very little to very much.
fn work() -> Vec<f64> {
    let of = |k: usize| 10.0 * (1.0 + k as f64).powi(2) * (1.0 + (k * 37 % 101) as f64 / 300.0);
    (0..756).map(of).collect()
}

/// What runs really take: a GPU, and processors that are `ratio` times slower. Both have a time of their own for each run
/// and for each job, the processors also for each batch. Jobs take the processors `slower` times what is believed. A run with
/// both takes `fixed` seconds more than one with the GPU alone.
struct Unlike {
    ratio: f64,
    slower: f64,
    fixed: f64,
}

/// Imbalance, time beside that of the GPU alone, and whether the processors had jobs.
type Told = (f64, f64, bool);

impl Unlike {
    const OF_RUN: [f64; 2] = [2e-3, 1e-3];

    fn believed(&self) -> Vec<Vec<f64>> {
        let work = work();
        let all: f64 = work.iter().sum();
        let of = |constant: f64, slope: f64| work.iter().map(|work| constant + slope * work / all).collect();
        vec![of(2e-6, 0.04), of(2e-5, 0.04 * self.ratio)]
    }

    /// Times of a run, each up to the part `noise` longer.
    fn run(&self, jobs: &[Vec<usize>], noise: [f64; 2]) -> Vec<f64> {
        let expected = seconds(jobs, &self.believed());
        let batches = jobs[1].len().div_ceil(20) as f64;
        let times = [Self::OF_RUN[0] + expected[0], self.slower * expected[1] + 2e-4 * batches];
        let of_run = [0.0, if jobs[1].is_empty() { 0.0 } else { Self::OF_RUN[1] }];
        (0..2).map(|worker| (of_run[worker] + times[worker]) * (1.0 + noise[worker])).collect()
    }

    fn alone(&self) -> f64 {
        Self::OF_RUN[0] + self.believed()[0].iter().sum::<f64>()
    }

    fn runs(&self, noise: &[[f64; 2]]) -> Vec<Told> {
        let believed = self.believed();
        let mut balance = Balance::new(believed.clone(), free(&believed));
        let mut run = |&noise: &[f64; 2]| {
            let seconds = self.run(balance.jobs(), noise);
            let has_both = !balance.jobs()[1].is_empty();
            let whole = longest(&seconds) + if has_both { self.fixed } else { 0.0 };
            balance.after(&seconds, whole);
            expect_all_jobs(balance.jobs(), believed[0].len());
            (imbalance(&seconds), whole / self.alone(), has_both)
        };
        noise.iter().map(&mut run).collect()
    }
}

#[test]
fn a_gpu_and_processors_come_into_balance() {
    for slower in [0.5, 0.7, 0.95, 1.05, 1.3, 2.0] {
        // An eighth of all speed is worth its part.
        let runs = Unlike { ratio: 7.0 / slower, slower, fixed: 1e-4 }.runs(&[[0.0; 2]; 7]);
        for run in &runs[4..] {
            assert!(run.0 < BALANCED && run.1 < 0.95 && run.2, "{slower}: {runs:?}");
        }
        assert!(runs[1..].iter().all(|run| run.1 <= 1.0), "{slower}: {runs:?}");
    }
}

#[test]
fn processors_that_bring_nothing_are_left_out_after_two_runs() {
    for slower in [0.5, 0.95, 1.3, 2.0, 20.0] {
        for ratio in [30.0, 50.0] {
            let runs = Unlike { ratio, slower, fixed: 1.6e-3 }.runs(&[[0.0; 2]; 6]);
            assert!(runs[2..].iter().all(|run| run.1 < 1.0 + 1e-9), "{ratio} {slower}: {runs:?}");
        }
    }
    // Without a fixed time they may bring their part.
    let runs = Unlike { ratio: 12.0, slower: 1.0, fixed: 0.0 }.runs(&[[0.0; 2]; 6]);
    assert!(runs[4].1 < 0.97 && runs[4].2 && runs[4].0 < BALANCED, "{runs:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever the processors take, and whatever chance adds, the GPU beside them is soon as fast as alone.
    #[test]
    fn a_gpu_beside_processors_is_no_slower(
        ratio in 5.0_f64..60.0,
        slower in prop_oneof![0.3_f64..1.2, 1.2_f64..20.0],
        fixed in 0.0_f64..3e-3,
        noise in prop::collection::vec([0.0_f64..0.01, 0.0_f64..0.01], 12),
    ) {
        let runs = Unlike { ratio, slower, fixed }.runs(&noise);
        prop_assert!(runs[5..].iter().all(|run| run.1 < 1.06), "{:?}", runs);
    }
}

/// One run out of balance after one in balance is taken for chance; a second one is not.
#[test]
fn chance_moves_nothing() {
    let times = times(&groups(), &[1.0, 1.0]);
    let mut balance = Balance::new(times.clone(), free(&times));
    let even = seconds(balance.jobs(), &times);
    let slow = [even[0], 1.5 * even[1]];
    for (run, is_quiet) in [(&even[..], true), (&slow, true), (&even, true), (&slow, true), (&slow, false)] {
        assert_eq!(balance.after(run, longest(run)).is_empty(), is_quiet);
    }
    assert_eq!(balance.left_out(), None);
}

/// Processors take what has little work for its bytes, and each does what it can do at all.
#[test]
fn jobs_go_to_those_who_can_do_them() {
    let times = vec![vec![1.0, 1.0, 9.0, 9.0], vec![9.0, f64::INFINITY, 1.0, 1.0]];
    assert_eq!(partition(&times), [vec![0, 1], vec![2, 3]]);
    let mut jobs = vec![vec![0, 1], vec![]];
    let able = [vec![1.0, 2.0], vec![1.0, f64::INFINITY]];
    let moves = rebalance(&mut jobs, &able, &[3.0, 0.0], &[1.0; 2], &free(&times));
    assert_eq!((moves.len(), moves[0].job), (1, 0));
    // A worker that did a small job faster than expected is not believed to do large ones so.
    let mut jobs = vec![vec![0, 1, 2], vec![3]];
    let times = [vec![1.0, 1.0, 1.0, 0.1], vec![50.0, 50.0, 50.0, 20.0]];
    assert_eq!(rebalance(&mut jobs, &times, &[3.0, 0.5], &[1.0; 2], &free(&times)), []);
}

#[test]
fn lines_are_fitted_without_negative_parts() {
    let sizes = [1.0, 10.0, 100.0, 1000.0];
    let line = fit(&sizes, &sizes.map(|size| 3.0 + 0.25 * size));
    assert!((line.constant - 3.0).abs() < 1e-9 && (line.slope - 0.25).abs() < 1e-9 && line.error < 1e-9);
    assert!((line.seconds(8.0) - 5.0).abs() < 1e-9);
    // Times that grow faster than sizes, and times that fall.
    let line = fit(&sizes, &sizes.map(|size| size * size));
    assert!(line.constant == 0.0 && line.slope > 0.0 && line.error > 0.1);
    let line = fit(&sizes, &[4.0, 3.0, 2.0, 1.0]);
    assert!(line.slope == 0.0 && line.constant > 0.0);
    let line = fit(&[5.0], &[2.0]);
    assert!((line.seconds(5.0) - 2.0).abs() < 1e-12);
}

#[test]
fn what_cannot_be_moved_stays() {
    // One job is all of the work: to move it would only exchange the workers.
    let mut jobs = vec![vec![0], vec![]];
    let one = times(&[5.0], &[1.0; 2]);
    assert_eq!(rebalance(&mut jobs, &one, &[1.0, 0.0], &[1.0; 2], &free(&one)), []);
    // A move that costs more than it brings.
    let mut jobs = vec![vec![0, 1], vec![2]];
    let alike = times(&[1.0; 3], &[1.0; 2]);
    assert_eq!(rebalance(&mut jobs, &alike, &[2.0, 1.0], &[1.0; 2], &[vec![9.0; 3], vec![9.0; 3]]), []);
    assert_eq!(imbalance(&[2.0]), 0.0);
    assert_eq!(imbalance(&[]), 0.0);
    // A worker without speed gets nothing.
    let times = times(&[1.0, 2.0], &[0.0, 1.0]);
    assert_eq!(partition(&times), vec![vec![], vec![0, 1]]);
    assert_eq!(partition(&[vec![], vec![]]), vec![vec![], Vec::<usize>::new()]);
}
