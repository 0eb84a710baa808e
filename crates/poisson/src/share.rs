//! Jobs that the devices of a team share.

use super::error::PoissonResult;
use lattice_compute::DeviceError;
use lattice_files::threads::together;

/// Does jobs on workers, a thread for each, and returns the results in the order of the jobs.
///
/// Worker w of W does the jobs w, w + W, …, one after another.
///
/// # Errors
/// The first error of the first worker that has one. Its later jobs are not done.
pub(crate) fn shared_out<W: Send, J: Send, R: Send>(
    workers: &mut [W],
    jobs: impl IntoIterator<Item = J>,
    work: impl Fn(&mut W, J) -> PoissonResult<R> + Sync,
) -> PoissonResult<Vec<R>> {
    let count = workers.len();
    let mut queues: Vec<Vec<(usize, J)>> = workers.iter().map(|_| Vec::new()).collect();
    for (number, job) in jobs.into_iter().enumerate() {
        queues[number % count].push((number, job));
    }
    let work = &work;
    let of_worker = |worker: &mut W, queue: Vec<(usize, J)>| -> PoissonResult<Vec<(usize, R)>> {
        queue.into_iter().map(|(number, job)| Ok((number, work(worker, job)?))).collect()
    };
    let queues = workers.iter_mut().zip(queues);
    let done = together(queues.map(|(worker, queue)| move || of_worker(worker, queue)))
        .map_err(DeviceError::from)?;
    let mut results = Vec::new();
    for of_worker in done {
        results.extend(of_worker?);
    }
    results.sort_by_key(|&(number, _)| number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::PoissonError;

    #[test]
    fn results_are_in_the_order_of_the_jobs() {
        let mut workers = [10, 20, 30];
        let done = shared_out(&mut workers, 0..8, |worker, job| {
            *worker += 1;
            Ok(job * job)
        });
        assert_eq!(done.unwrap(), [0, 1, 4, 9, 16, 25, 36, 49]);
        assert_eq!(workers, [13, 23, 32]);
        let failed = shared_out(&mut workers, 0..3, |_, job| match job {
            1 => Err(PoissonError::SkewIsolated),
            job => Ok(job),
        });
        assert_eq!(failed, Err(PoissonError::SkewIsolated));
    }
}
