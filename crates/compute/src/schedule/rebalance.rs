//! Corrections by measured times.

/// Workers whose times differ by less than this are in balance.
pub const BALANCED: f64 = 0.02;

/// Most moves at a time.
const MOST_MOVES: usize = 5;

/// A job that goes to another worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The job.
    pub job: usize,
    /// The worker that had it.
    pub from: usize,
    /// The worker that gets it.
    pub to: usize,
}

/// Returns the longest time over the shortest, less 1.
///
/// It is 0 for one worker. A worker without time makes it infinite.
pub fn imbalance(seconds: &[f64]) -> f64 {
    let longest = seconds.iter().copied().fold(0.0, f64::max);
    let shortest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    if longest > 0.0 { longest / shortest - 1.0 } else { 0.0 }
}

/// Moves jobs from the slowest worker to the fastest until they are in balance, at most five.
///
/// `seconds` are the measured times of the workers for their `jobs`. A job is expected to take a part
/// of its worker's time that is its part of the worker's cost. It costs `migration` seconds to move.
/// Each move takes the job that is nearest to half of the difference, and none that would make the
/// difference larger.
pub fn rebalance(jobs: &mut [Vec<usize>], costs: &[f64], seconds: &[f64], migration: f64) -> Vec<Move> {
    let cost_of = |jobs: &[usize]| jobs.iter().map(|&job| costs[job]).sum::<f64>();
    // Seconds for a cost of 1. An idle worker is taken for as fast as the fastest that works.
    let measured: Vec<Option<f64>> = jobs
        .iter()
        .zip(seconds)
        .map(|(jobs, seconds)| (!jobs.is_empty() && *seconds > 0.0).then(|| seconds / cost_of(jobs)))
        .collect();
    let Some(best) = measured.iter().flatten().copied().reduce(f64::min) else { return Vec::new() };
    let rates: Vec<f64> = measured.into_iter().map(|rate| rate.unwrap_or(best)).collect();
    let mut seconds = seconds.to_vec();
    let mut moves = Vec::new();
    while moves.len() < MOST_MOVES && imbalance(&seconds) > BALANCED {
        let by_time = |&a: &usize, &b: &usize| seconds[a].total_cmp(&seconds[b]);
        let from = (0..seconds.len()).max_by(by_time).expect("there are workers");
        let to = (0..seconds.len()).min_by(by_time).expect("there are workers");
        let half = 0.5 * (seconds[from] - seconds[to]);
        // A move brings both times together by twice this.
        let time = |job: usize| 0.5 * (costs[job] * (rates[from] + rates[to]) + migration);
        let nearest = (0..jobs[from].len())
            .map(|place| (place, (time(jobs[from][place]) - half).abs()))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((place, _)) = nearest.filter(|(_, distance)| *distance < half) else { break };
        let job = jobs[from].remove(place);
        seconds[from] -= costs[job] * rates[from];
        seconds[to] += costs[job] * rates[to];
        let at = jobs[to].partition_point(|&other| other < job);
        jobs[to].insert(at, job);
        moves.push(Move { job, from, to });
    }
    moves
}
