//! The building of programs before they are asked for.

use super::handle::Device;
use crate::kernel::{CompileWorker, KernelKey};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Most processes that compile at once.
///
/// Four compile three times as much as one (NVIDIA 580.159.04).
const MOST_WORKERS: usize = 4;

/// Builds programs, for [`Device::program`] to find later.
///
/// The compilers of NVIDIA (580.159.04) and of PoCL 3.1 take one program at a time in a process.
/// Eight threads that ask at once gain nothing but longer waits. So one thread builds one program
/// after another, unless the device has [`workers`](crate::DeviceOptions::workers) and programs are kept.
///
/// A failure to build is not told here. Whoever asks for the program is told.
pub fn build_programs(wanted: &[(Device, KernelKey)]) {
    let Some((first, _)) = wanted.first() else { return };
    let missing: Vec<_> = wanted.iter().filter(|(device, key)| !device.has_program(key)).collect();
    first.core().compiling.expect(missing.len());
    let uncompiled = missing.iter().filter(|(device, key)| device.lacks_program(key)).count();
    let workers = first.options().workers.as_ref().filter(|_| uncompiled > 1);
    let next = AtomicUsize::new(0);
    let build = |mut worker: Option<CompileWorker>| {
        while let Some((device, key)) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = device.program_by(key, worker.as_mut()) {
                tracing::debug!("program {key}: {error}");
            }
        }
    };
    let Some(workers) = workers else { return build(None) };
    thread::scope(|scope| {
        for _ in 0..uncompiled.min(MOST_WORKERS) {
            // Without a worker or a thread the others build the rest, and at last this thread.
            let work = || {
                let worker = workers.start();
                worker.map_or_else(
                    |error| tracing::debug!("no compile worker: {error}"),
                    |worker| build(Some(worker)),
                );
            };
            drop(lattice_files::threads::start(scope, work));
        }
    });
    build(None);
}
