//! Long work on a thread of its own, so that Python stays responsive.
//!
//! The thread that called looks for signals and shows the progress, without the interpreter's lock
//! in between. Ctrl-C therefore returns at once. The work ends at its next look at the wish to stop.

use super::failure;
use lattice_cl::sync::lock;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two looks at signals.
const TICK: Duration = Duration::from_millis(50);

/// Time that work may take to end after Ctrl-C, before it is left alone.
const GRACE: Duration = Duration::from_millis(150);

/// Threads that work.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// The process in which work was first done; 0 before.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The progress of work.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
    /// The work in progress.
    pub label: String,
    /// The part that is done, 0 to 1.
    pub done: f64,
    /// Iterations of a solve.
    pub iterations: Option<usize>,
    /// Relative residual of a solve.
    pub residual: Option<f64>,
}

/// The messages between work and the thread that called it.
#[derive(Default)]
pub struct Exchange {
    stop: AtomicBool,
    news: Mutex<Option<News>>,
}

impl Exchange {
    /// Tells how far the work is.
    pub fn tell(&self, news: News) {
        *lock(&self.news) = Some(news);
    }

    /// Returns `true` if the work is to end.
    pub fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The place of the result.
struct Slot<T> {
    result: Mutex<Option<thread::Result<T>>>,
    ready: Condvar,
}

impl<T> Slot<T> {
    fn new() -> Self {
        Self { result: Mutex::new(None), ready: Condvar::new() }
    }

    fn put(&self, result: thread::Result<T>) {
        *lock(&self.result) = Some(result);
        self.ready.notify_all();
    }

    fn wait(&self, time: Duration) -> Option<thread::Result<T>> {
        let result = lock(&self.result);
        let waited = self.ready.wait_timeout_while(result, time, |result| result.is_none());
        match waited {
            Ok((mut result, _)) => result.take(),
            Err(poisoned) => poisoned.into_inner().0.take(),
        }
    }
}

/// Does work that owns everything it needs.
///
/// `progress` is `None`, a flag, or a callable. After Ctrl-C the work may go on a while in the
/// background.
///
/// # Errors
/// * `KeyboardInterrupt`, or the exception of another signal's handler.
/// * The exception of `progress`.
/// * `DeviceError` in a forked process.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Exchange) -> T + Send + 'static,
) -> PyResult<T> {
    expect_own_process()?;
    let follower = Follower::new(progress)?;
    let shared = Arc::new((Exchange::default(), Slot::new()));
    let theirs = Arc::clone(&shared);
    RUNNING.fetch_add(1, Ordering::SeqCst);
    let spawned = thread::Builder::new().name("lattice-cl".to_owned()).spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&theirs.0)));
        theirs.1.put(result);
        drop(theirs);
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    });
    if let Err(error) = spawned {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
        return Err(refused(error));
    }
    attend(py, &follower, &shared.0, &shared.1, Some(GRACE))
}

/// Does work with borrowed data. After Ctrl-C it waits for the end of the work.
///
/// # Errors
/// The errors of [`run`].
pub fn run_borrowing<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Exchange) -> T + Send,
) -> PyResult<T> {
    expect_own_process()?;
    let follower = Follower::new(progress)?;
    let (exchange, slot) = (Exchange::default(), Slot::new());
    thread::scope(|scope| {
        let work = || slot.put(catch_unwind(AssertUnwindSafe(|| work(&exchange))));
        thread::Builder::new().spawn_scoped(scope, work).map_err(refused)?;
        attend(py, &follower, &exchange, &slot, None)
    })
}

/// Makes the exception for a thread that does not start.
fn refused(error: io::Error) -> PyErr {
    PyRuntimeError::new_err(format!("no thread can be started: {error}"))
}

/// Does short work in the calling thread, beside other threads of Python.
///
/// Everything that is not [`run`] goes through here: threads and devices of the library may be used.
///
/// # Errors
/// `DeviceError` in a forked process.
pub fn aside<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    expect_own_process()?;
    Ok(py.detach(work))
}

/// Waits for a result.
///
/// After an exception the work has the time `grace` to end, or any time for `None`.
fn attend<T: Send>(
    py: Python<'_>,
    follower: &Follower<'_>,
    exchange: &Exchange,
    slot: &Slot<T>,
    grace: Option<Duration>,
) -> PyResult<T> {
    let follow = || {
        py.check_signals()?;
        let news = lock(&exchange.news).take();
        news.map_or(Ok(()), |news| follower.tell(&news))
    };
    let ended = loop {
        if let Some(result) = py.detach(|| slot.wait(TICK)) {
            break result;
        }
        if let Err(exception) = follow() {
            exchange.stop.store(true, Ordering::Relaxed);
            match grace {
                Some(grace) => drop(py.detach(|| slot.wait(grace))),
                None => while py.detach(|| slot.wait(TICK)).is_none() {},
            }
            follower.close()?;
            return Err(exception);
        }
    };
    follower.close()?;
    ended.map_or_else(|panic| resume_unwind(panic), Ok)
}

/// The receiver of progress.
struct Follower<'py> {
    callable: Option<Bound<'py, PyAny>>,
    progress: Option<Bound<'py, PyAny>>,
}

impl<'py> Follower<'py> {
    fn new(progress: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        let Some(asked) = progress.filter(|asked| !asked.is_none()) else {
            return Ok(Self { callable: None, progress: None });
        };
        let module = asked.py().import("lattice_cl.progress")?;
        let callable = match asked.cast::<PyBool>() {
            Ok(flag) if !flag.is_true() => None,
            Ok(_) => Some(module.getattr("Bar")?.call0()?),
            Err(_) => Some(asked.clone()),
        };
        let progress = callable.as_ref().map(|_| module.getattr("Progress")).transpose()?;
        Ok(Self { callable, progress })
    }

    fn tell(&self, news: &News) -> PyResult<()> {
        if let (Some(callable), Some(progress)) = (&self.callable, &self.progress) {
            let News { label, done, iterations, residual } = news;
            callable.call1((progress.call1((label, *done, *iterations, *residual))?,))?;
        }
        Ok(())
    }

    fn close(&self) -> PyResult<()> {
        match &self.callable {
            Some(callable) if callable.hasattr("close")? => callable.call_method0("close").map(drop),
            _ => Ok(()),
        }
    }
}

/// Refuses to work in a process that was forked after the first work.
///
/// Such a process lacks the threads.
fn expect_own_process() -> PyResult<()> {
    let own = std::process::id();
    match PROCESS.compare_exchange(0, own, Ordering::SeqCst, Ordering::SeqCst) {
        Err(other) if other != own => Err(Python::attach(|py| {
            let message = format!(
                "this process was forked from process {other}, which used lattice_cl before: threads and devices do not survive a fork; start \
                 processes by multiprocessing.get_context(\"spawn\")"
            );
            failure::raised(py, "DeviceError", message)
        })),
        _ => Ok(()),
    }
}

/// Waits until work that was left alone has ended, for the end of the interpreter.
#[pyfunction]
pub fn wait_for_work(py: Python<'_>, seconds: f64) -> bool {
    let until = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
    py.detach(|| {
        while RUNNING.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        RUNNING.load(Ordering::SeqCst) == 0
    })
}
