//! Properties of distributions of jobs over workers.

use lattice_compute::schedule::{BALANCED, imbalance, partition, rebalance, seconds};
use proptest::prelude::*;

fn costs() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1.0_f64..100.0, 1..120)
}

fn speeds() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.1_f64..10.0, 1..13)
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
        let jobs = partition(&costs, &speeds);
        expect_all_jobs(&jobs, costs.len());
        let longest = seconds(&jobs, &costs, &speeds).into_iter().fold(0.0, f64::max);
        let total: f64 = costs.iter().sum();
        let largest = costs.iter().copied().fold(0.0, f64::max);
        let fastest = speeds.iter().copied().fold(0.0, f64::max);
        // If a job fits nowhere, each worker has room for less than the largest job.
        let all: f64 = speeds.iter().sum();
        let bound = (total + speeds.len() as f64 * largest) / all;
        prop_assert!(longest <= bound.max(total / fastest).max(largest / fastest) * (1.0 + 1e-5));
        prop_assert!(longest <= total / fastest * (1.0 + 1e-9), "one worker alone is no faster");
        prop_assert_eq!(partition(&costs, &speeds), jobs);
    }

    #[test]
    fn moves_make_the_difference_smaller(costs in costs(), speeds in speeds(), believed in speeds()) {
        let workers = speeds.len().min(believed.len());
        let (speeds, believed) = (&speeds[..workers], &believed[..workers]);
        let mut jobs = partition(&costs, believed);
        let before = seconds(&jobs, &costs, speeds);
        let moves = rebalance(&mut jobs, &costs, &before, 0.0);
        expect_all_jobs(&jobs, costs.len());
        prop_assert!(moves.len() <= 5);
        let longest = |seconds: &[f64]| seconds.iter().copied().fold(0.0, f64::max);
        if before.iter().all(|&time| time > 0.0) {
            prop_assert!(longest(&seconds(&jobs, &costs, speeds)) <= longest(&before) * (1.0 + 1e-12));
        }
        for step in moves {
            prop_assert!(step.from != step.to);
        }
    }
}

#[test]
fn many_small_jobs_come_into_balance() {
    // Jobs as groups of points are: none above an eighth of a worker's part.
    let costs: Vec<f64> = (0..400).map(|k| 1.0 + (k * 37 % 101) as f64 / 10.0).collect();
    for workers in [2, 4, 12] {
        // Even the slowest worker has many jobs.
        let speeds: Vec<f64> = (0..workers).map(|k| 1.0 + 2.0 * k as f64 / workers as f64).collect();
        // The speeds are known to some per cent only.
        let believed: Vec<f64> =
            speeds.iter().enumerate().map(|(k, s)| s * (1.0 + 0.03 * (k % 3) as f64)).collect();
        let mut jobs = partition(&costs, &believed);
        let limit = if workers == 12 { 0.05 } else { BALANCED };
        for _ in 0..4 {
            let times = seconds(&jobs, &costs, &speeds);
            if rebalance(&mut jobs, &costs, &times, 0.0).is_empty() {
                break;
            }
        }
        let times = seconds(&jobs, &costs, &speeds);
        assert!(imbalance(&times) < limit, "{workers} workers: {}", imbalance(&times));
    }
}

#[test]
fn what_cannot_be_moved_stays() {
    // One job is all of the work: to move it would only exchange the workers.
    let mut jobs = vec![vec![0], vec![]];
    assert_eq!(rebalance(&mut jobs, &[5.0], &[1.0, 0.0], 0.0), []);
    // A move that costs more than it brings.
    let mut jobs = vec![vec![0, 1], vec![2]];
    assert_eq!(rebalance(&mut jobs, &[1.0; 3], &[2.0, 1.0], 9.0), []);
    assert_eq!(imbalance(&[2.0]), 0.0);
    assert_eq!(imbalance(&[]), 0.0);
    // A worker without speed gets nothing.
    assert_eq!(partition(&[1.0, 2.0], &[0.0, 1.0]), vec![vec![], vec![0, 1]]);
    assert_eq!(partition(&[], &[1.0, 1.0]), vec![vec![], Vec::<usize>::new()]);
}
