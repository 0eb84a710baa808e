//! Corrections by measured times.

/// Workers whose times differ by less than this are in balance.
pub const BALANCED: f64 = 0.02;

/// Most pairs of workers that are brought together at a time.
const ROUNDS: usize = 5;

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

/// Moves jobs from the slowest worker to the fastest until all are in balance, in at most five rounds.
///
/// `seconds` are the measured times of the workers for their `jobs`. A job that moves is expected
/// to take a worker its `times`, all times the worker's factor. `migration` has the seconds that it
/// costs each worker to take each job. A round brings the slowest and the fastest worker together,
/// as near as jobs allow. Each move takes the job that is nearest to half of their difference, and
/// none that would make it larger.
pub fn rebalance(
    jobs: &mut [Vec<usize>],
    times: &[Vec<f64>],
    seconds: &[f64],
    factors: &[f64],
    migration: &[Vec<f64>],
) -> Vec<Move> {
    if seconds.iter().all(|&time| time <= 0.0) {
        return Vec::new();
    }
    let mut seconds = seconds.to_vec();
    let mut moves = Vec::new();
    for _ in 0..ROUNDS {
        let by_time = |&a: &usize, &b: &usize| seconds[a].total_cmp(&seconds[b]);
        let from = (0..seconds.len()).max_by(by_time).expect("there are workers");
        let to = (0..seconds.len()).min_by(by_time).expect("there are workers");
        let before = moves.len();
        while seconds[from] > seconds[to] * (1.0 + BALANCED) {
            let there = |job: usize| times[from][job] * factors[from];
            let here = |job: usize| times[to][job] * factors[to];
            let half = 0.5 * (seconds[from] - seconds[to]);
            // A move brings both times together by twice this.
            let time = |job: usize| 0.5 * (there(job) + here(job) + migration[to][job]);
            let nearest = (0..jobs[from].len())
                .map(|place| (place, (time(jobs[from][place]) - half).abs()))
                .min_by(|a, b| a.1.total_cmp(&b.1));
            let Some((place, _)) = nearest.filter(|(_, distance)| *distance < half) else { break };
            let job = jobs[from].remove(place);
            seconds[from] -= there(job);
            seconds[to] += here(job);
            let at = jobs[to].partition_point(|&other| other < job);
            jobs[to].insert(at, job);
            moves.push(Move { job, from, to });
        }
        if moves.len() == before {
            break;
        }
    }
    moves
}
