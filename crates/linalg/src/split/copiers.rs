//! The threads that copy between matrices and pinned memory.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Returns the threads that copy, on five eighths of the processor's cores.
///
/// The threads that drivers wait with take the other cores. If the two compete, a product takes
/// twice as long. The threads are not rayon's global ones, because a global one may be waiting for
/// the product.
pub fn copiers() -> &'static ThreadPool {
    static COPIERS: OnceLock<ThreadPool> = OnceLock::new();
    COPIERS.get_or_init(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (cores * 5 / 8).max(1);
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).thread_name(|number| format!("copier {number}"));
        pool.build().expect("a process that has devices open can start threads")
    })
}
