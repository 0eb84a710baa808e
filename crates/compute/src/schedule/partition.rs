//! A first distribution of jobs.

/// Halvings of the search for the shortest time.
const HALVINGS: usize = 40;

/// Returns the time of each worker for its jobs.
pub fn seconds(jobs: &[Vec<usize>], costs: &[f64], speeds: &[f64]) -> Vec<f64> {
    let of = |(jobs, speed): (&Vec<usize>, &f64)| jobs.iter().map(|&job| costs[job]).sum::<f64>() / speed;
    jobs.iter().zip(speeds).map(of).collect()
}

/// Distributes jobs, so that the last worker is done as early as possible.
///
/// Returns the numbers of each worker's jobs, ascending. The way is first-fit decreasing in bins of
/// speed times capacity, with a search for the capacity (Yue, Acta Math. Appl. Sin. 7 (1991) 321: at
/// most 11/9 of the fewest bins, and one). It is not monotone in the capacity, so the best distribution
/// that was met is kept. Costs and speeds are positive; a worker without speed gets nothing.
///
/// # Panics
/// If no worker has a speed.
pub fn partition(costs: &[f64], speeds: &[f64]) -> Vec<Vec<usize>> {
    let fastest = speeds.iter().copied().fold(0.0, f64::max);
    assert!(fastest > 0.0, "a worker must have a speed");
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]).then(a.cmp(&b)));
    let mut workers: Vec<usize> = (0..speeds.len()).filter(|&worker| speeds[worker] > 0.0).collect();
    workers.sort_by(|&a, &b| speeds[b].total_cmp(&speeds[a]).then(a.cmp(&b)));
    let total: f64 = costs.iter().sum();
    let largest = costs.iter().copied().fold(0.0, f64::max);
    // All on the fastest worker is always possible.
    let mut best = vec![Vec::new(); speeds.len()];
    best[workers[0]] = (0..costs.len()).collect();
    let (mut low, mut high) = ((largest / fastest).max(total / speeds.iter().sum::<f64>()), total / fastest);
    let mut shortest = high;
    // The lower end itself first: it is often enough.
    let mut capacity = low;
    for _ in 0..HALVINGS {
        match first_fit(costs, speeds, &order, &workers, capacity) {
            Some(jobs) => {
                high = capacity;
                let longest = longest(&jobs, costs, speeds);
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

fn longest(jobs: &[Vec<usize>], costs: &[f64], speeds: &[f64]) -> f64 {
    let busy = jobs.iter().zip(speeds).filter(|(jobs, _)| !jobs.is_empty());
    busy.map(|(jobs, speed)| jobs.iter().map(|&job| costs[job]).sum::<f64>() / speed).fold(0.0, f64::max)
}

/// Gives each job to the first worker that has room, or returns `None` if one finds none.
fn first_fit(
    costs: &[f64],
    speeds: &[f64],
    order: &[usize],
    workers: &[usize],
    capacity: f64,
) -> Option<Vec<Vec<usize>>> {
    let mut jobs = vec![Vec::new(); speeds.len()];
    let mut filled = vec![0.0; speeds.len()];
    for &job in order {
        // Sums of rounded numbers may be a little too large.
        let fits =
            |&&worker: &&usize| filled[worker] + costs[job] <= capacity * speeds[worker] * (1.0 + 1e-12);
        let &worker = workers.iter().find(fits)?;
        filled[worker] += costs[job];
        jobs[worker].push(job);
    }
    Some(jobs)
}
