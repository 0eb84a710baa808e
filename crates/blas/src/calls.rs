//! The number of calls computed here, and the way to the next BLAS.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;
use std::sync::{Mutex, Once};

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// `RTLD_NEXT`: the libraries behind this one.
const NEXT: *mut c_void = usize::MAX as *mut c_void;

static CALLS: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());
static REPORT: Once = Once::new();

/// Counts a call that the library has computed.
pub fn computed(name: &'static str) {
    // SAFETY: `report` is a function without arguments that returns, as `atexit` asks for.
    REPORT.call_once(|| unsafe {
        atexit(report);
    });
    *CALLS.lock().expect("nothing panics while it counts").entry(name).or_default() += 1;
}

/// Returns the address of a symbol in the next library that has it.
///
/// `name` ends in a zero byte.
pub fn next(name: &str) -> *mut c_void {
    let name = CStr::from_bytes_with_nul(name.as_bytes()).expect("names end in a zero byte");
    // SAFETY: `name` ends in a zero byte; the handle is one that `dlsym` knows.
    let address = unsafe { dlsym(NEXT, name.as_ptr()) };
    assert!(!address.is_null(), "lattice-cl-blas: no BLAS behind this library has {name:?}; load one");
    address
}

extern "C" fn report() {
    let calls = CALLS.lock().expect("nothing panics while it counts");
    let total: u64 = calls.values().sum();
    let Some(path) = std::env::var_os("LATTICE_CL_BLAS_CALLS") else {
        eprintln!("lattice-cl-blas: {total} calls were computed by lattice-cl");
        return;
    };
    let lines: String = calls.iter().map(|(name, count)| format!("{name} {count}\n")).collect();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    if let Err(error) = file.and_then(|mut file| file.write_all(lines.as_bytes())) {
        eprintln!("lattice-cl-blas: error: cannot write {}: {error}", path.display());
    }
}
