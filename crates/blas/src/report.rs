//! The report at exit: which routines were called, where they were computed, and how fast.

use crate::check::Checked;
use crate::devices;
use crate::rates;
use crate::settings;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> std::ffi::c_int;
}

/// Calls, with their operations and their time.
pub struct Tally {
    calls: AtomicU64,
    operations: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Tally {
    pub const fn new() -> Self {
        Self { calls: AtomicU64::new(0), operations: AtomicU64::new(0), nanoseconds: AtomicU64::new(0) }
    }

    /// Adds a call.
    pub fn add(&self, operations: f64, time: Duration) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.operations.fetch_add(operations as u64, Ordering::Relaxed);
        self.nanoseconds.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Returns the number of calls, their operations, and their seconds.
    fn sums(&self) -> (u64, f64, f64) {
        let [calls, operations, nanoseconds] =
            [&self.calls, &self.operations, &self.nanoseconds].map(|sum| sum.load(Ordering::Relaxed));
        (calls, operations as f64, nanoseconds as f64 * 1e-9)
    }
}

/// What the report tells of a record.
pub struct Record {
    pub name: &'static str,
    /// All calls, counted for a report alone.
    pub calls: AtomicU64,
    pub computed: Tally,
    pub passed_on: Tally,
    pub checked: Checked,
}

/// The records of all symbols that were called.
static CALLED: Mutex<Vec<&'static Record>> = Mutex::new(Vec::new());
static AT_EXIT: Once = Once::new();

/// Adds a record to the report.
pub fn register(record: &'static Record) {
    // Processes that were forked leave the report to the one that has called first.
    AT_EXIT.call_once(|| {
        devices::remember_process();
        // SAFETY: `report` is a function without arguments that returns, as `atexit` asks for.
        unsafe { atexit(report) };
    });
    CALLED.lock().unwrap_or_else(PoisonError::into_inner).push(record);
}

extern "C" fn report() {
    if !devices::is_first_process() {
        return;
    }
    let mut records = CALLED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    records.sort_by_key(|record| record.name);
    if let Some(path) = std::env::var_os("LATTICE_CL_BLAS_CALLS") {
        let counts = records.iter().map(|record| (record.name, record.computed.sums().0));
        let lines: String =
            counts.filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name} {count}\n")).collect();
        let file = if lines.is_empty() {
            Ok(())
        } else {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
            file.and_then(|mut file| file.write_all(lines.as_bytes()))
        };
        if let Err(error) = file {
            eprintln!("lattice-cl-blas: error: cannot write {}: {error}", path.display());
        }
    }
    if settings::reports() {
        // One write, so that other processes do not cut the table.
        eprint!("{}", table(&records));
    }
}

/// Returns the report as lines of text.
fn table(records: &[&Record]) -> String {
    let device = devices::labels().unwrap_or_else(|| "no device".to_owned());
    let (process, compiling) = (std::process::id(), devices::compile_time().as_secs_f64());
    let mut text = format!(
        "lattice-cl-blas: process {process}: computed on {device}; kernels compiled in {compiling:.1} s\n"
    );
    for (letter, rates) in rates::measured() {
        let next = rates.next.map_or("unknown".to_owned(), |rate| format!("{:.1} GFLOP/s", rate * 1e-9));
        text += &format!(
            "lattice-cl-blas: {letter}gemm {:.1} GFLOP/s on the device, {next} in the next library; uploads {:.2} GB/s\n",
            rates.device * 1e-9,
            rates.upload * 1e-9
        );
    }
    text += &format!(
        "lattice-cl-blas: {:<20} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>10}\n",
        "routine",
        "computed",
        "seconds",
        "GFLOP/s",
        "passed on",
        "seconds",
        "GFLOP/s",
        "checked",
        "difference"
    );
    for record in records {
        let (computed, operations, seconds) = record.computed.sums();
        let (_, next_operations, next_seconds) = record.passed_on.sums();
        let (checked, largest) = record.checked.outcome();
        let all = record.calls.load(Ordering::Relaxed);
        let rate = |operations: f64, seconds: f64| {
            if operations > 0.0 { format!("{:.1}", operations / seconds * 1e-9) } else { "-".to_owned() }
        };
        let difference = if checked > 0 { format!("{largest:.2}") } else { "-".to_owned() };
        text += &format!(
            "lattice-cl-blas: {:<20} {computed:>9} {seconds:>10.3} {:>10} {:>10} {next_seconds:>10.3} {:>10} {checked:>8} \
             {difference:>10}\n",
            record.name,
            rate(operations, seconds),
            all - computed,
            rate(next_operations, next_seconds),
        );
    }
    text
}
