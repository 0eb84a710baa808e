//! A first distribution of jobs.

/// Halvings of the search for the shortest time.
const HALVINGS: usize = 40;

/// Returns the time of each worker for its jobs.
pub fn seconds(jobs: &[Vec<usize>], times: &[Vec<f64>]) -> Vec<f64> {
    jobs.iter().zip(times).map(|(jobs, times)| jobs.iter().map(|&job| times[job]).sum()).collect()
}

/// Distributes jobs, so that the last worker is done as early as possible.
///
/// Returns the numbers of each worker's jobs, ascending. The way is first-fit decreasing in bins of
/// one capacity in seconds, with a search for the capacity (Yue, Acta Math. Appl. Sin. 7 (1991)
/// 321: at most 11/9 of the fewest bins, and one). It is not monotone in the capacity, so the best
/// distribution that was met is kept. Times are positive, or infinite where a worker cannot do a
/// job.
///
/// # Panics
/// If there is a job that no worker can do.
pub fn partition(times: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let count = times.first().map_or(0, Vec::len);
    let finite = |worker: usize| times[worker].iter().copied().filter(|time| time.is_finite());
    let totals: Vec<f64> = (0..times.len()).map(|worker| finite(worker).sum()).collect();
    let can = |worker: &usize| count == 0 || finite(*worker).next().is_some();
    let mut workers: Vec<usize> = (0..times.len()).filter(can).collect();
    // The fastest first: the one that needs least for a job on average.
    let average = |worker: usize| totals[worker] / finite(worker).count().max(1) as f64;
    workers.sort_by(|&a, &b| average(a).total_cmp(&average(b)).then(a.cmp(&b)));
    let by = |job: usize, of: fn(f64, f64) -> f64, from: f64| {
        times.iter().map(|times| times[job]).filter(|time| time.is_finite()).fold(from, of)
    };
    let least: Vec<f64> = (0..count).map(|job| by(job, f64::min, f64::INFINITY)).collect();
    assert!(least.iter().all(|time| time.is_finite()), "each job must have a worker");
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| least[b].total_cmp(&least[a]).then(a.cmp(&b)));
    // Here each job fits on the fastest worker that can do it.
    let most: f64 = (0..count).map(|job| by(job, f64::max, 0.0)).sum();
    let mut best = first_fit(times, &order, &workers, most).expect("all jobs fit");
    let mut shortest = longest(&best, times);
    let largest = least.iter().copied().fold(0.0, f64::max);
    let rates: f64 = workers.iter().map(|&worker| 1.0 / totals[worker]).sum();
    let (mut low, mut high) = (largest.max(1.0 / rates), shortest);
    // The lower end itself first: it is often enough.
    let mut capacity = low;
    for _ in 0..HALVINGS {
        match first_fit(times, &order, &workers, capacity) {
            Some(jobs) => {
                high = capacity;
                let longest = longest(&jobs, times);
                if longest < shortest {
                    (best, shortest) = (jobs, longest);
                }
            }
            None => low = capacity,
        }
        if high - low <= 1e-6 * high {
            break;
        }
        capacity = 0.5 * (low + high);
    }
    best.iter_mut().for_each(|jobs| jobs.sort_unstable());
    best
}

fn longest(jobs: &[Vec<usize>], times: &[Vec<f64>]) -> f64 {
    seconds(jobs, times).into_iter().fold(0.0, f64::max)
}

/// Gives each job to the first worker that has room, or returns `None` if one finds none.
fn first_fit(
    times: &[Vec<f64>],
    order: &[usize],
    workers: &[usize],
    capacity: f64,
) -> Option<Vec<Vec<usize>>> {
    let mut jobs = vec![Vec::new(); times.len()];
    let mut filled = vec![0.0; times.len()];
    for &job in order {
        // Sums of rounded numbers may be a little too large.
        let fits = |&&worker: &&usize| filled[worker] + times[worker][job] <= capacity * (1.0 + 1e-12);
        let &worker = workers.iter().find(fits)?;
        filled[worker] += times[worker][job];
        jobs[worker].push(job);
    }
    Some(jobs)
}
