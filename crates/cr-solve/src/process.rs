//! Set-up of the process before a command runs: drivers' caches, signals, threads.

use lattice_cl::compute::pocl_lacks_a_cache;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::interrupt::Watch;
use lattice_cli::report::Report;
use lattice_files::leftovers::Leftover;
use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// Environment variables by which drivers keep no compiled kernels.
///
/// They are PoCL's and NVIDIA's.
const NO_CACHES_OF_DRIVERS: [(&str, &str); 2] = [("POCL_KERNEL_CACHE", "0"), ("CUDA_CACHE_DISABLE", "1")];

/// More threads than any machine of today has.
///
/// The limit keeps a slip of the pen from starting a hundred thousand threads.
const MOST_THREADS: usize = 4096;

/// Keeps drivers from caching compiled kernels.
///
/// Variables that the user has set stay as they are. Drivers read the variables when the first
/// platform is opened. This function must be called from `main`, before there is any other thread.
pub fn switch_off_caches_of_drivers() {
    NO_CACHES_OF_DRIVERS.into_iter().for_each(set_if_missing);
}

/// Sets an environment variable, unless the user has.
fn set_if_missing((name, value): (&str, &str)) {
    if std::env::var_os(name).is_none() {
        // SAFETY: `main` calls this before it starts any thread, so nobody reads the environment meanwhile.
        #[allow(unsafe_code)]
        unsafe {
            std::env::set_var(name, value);
        }
    }
}

/// Gives PoCL a folder for its cache, if it finds none.
///
/// Accounts of services have no home. The folder is for this process alone, and is removed when the
/// result is dropped. This function must be called from `main`, before there is any other thread.
pub fn give_pocl_a_cache() -> Option<(TempDir, Leftover)> {
    if !pocl_lacks_a_cache() {
        return None;
    }
    let folder = tempfile::Builder::new().prefix("lattice-cl-").tempdir().ok()?;
    set_if_missing(("POCL_CACHE_DIR", folder.path().to_str()?));
    let leftover = Leftover::note(folder.path());
    Some((folder, leftover))
}

/// The variable by which Open MPI returns from a failed start, instead of ending the process.
const ERRORS_OF_OPEN_MPI: (&str, &str) = ("OMPI_MCA_mpi_initial_errhandler", "mpi_errors_return");

/// Has Open MPI tell why it cannot start.
///
/// A value that the user has set stays as it is. This function must be called from `main`, before there
/// is any other thread.
pub fn have_mpi_return_errors() {
    set_if_missing(ERRORS_OF_OPEN_MPI);
}

/// Prepares signals, and starts the threads that compute on the host.
///
/// Writes beyond a limit of file sizes then fail like writes on a full disk. Requests to end are
/// watched for while the result lives.
///
/// # Errors
/// When `RAYON_NUM_THREADS` is out of range, and when the system refuses threads or signals.
pub fn set_up(report: &Arc<Report>) -> Result<Watch, Failure> {
    let failed = |error: anyhow::Error, what: &'static str| Failure::new(Status::Failed, error.context(what));
    // By default this signal ends the process, for instance in the middle of a checkpoint.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))
        .map_err(|error| failed(error.into(), "the signal of too large files cannot be ignored"))?;
    let watch = Watch::begin(report)?;
    rayon::ThreadPoolBuilder::new().num_threads(threads()?).build_global().map_err(|error| {
        failed(error.into(), "the system refuses threads to compute on the host")
            .hint("raise its limit (`ulimit -u`), or take fewer: RAYON_NUM_THREADS=1")
    })?;
    Ok(watch)
}

/// Returns the number of threads that `RAYON_NUM_THREADS` asks for.
///
/// 0 means one thread for each core.
fn threads() -> Result<usize, Failure> {
    let Ok(text) = std::env::var("RAYON_NUM_THREADS") else { return Ok(0) };
    match text.trim().parse() {
        Ok(number) if number <= MOST_THREADS => Ok(number),
        Err(_) if text.trim().is_empty() => Ok(0),
        _ => Err(Failure::usage(format!(
            "RAYON_NUM_THREADS is `{}`; it is a number of threads from 0 (one for each core) to {MOST_THREADS}",
            text.escape_debug()
        ))),
    }
}
