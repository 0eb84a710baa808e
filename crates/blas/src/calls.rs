//! The number of calls computed here, and the way to the next BLAS.

use crate::operands::has_device;
use crate::settings;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::Write;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, Once, OnceLock};

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dl_iterate_phdr(
        visit: unsafe extern "C" fn(*const Loaded, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// `RTLD_NEXT`: the libraries behind this one.
const NEXT: *mut c_void = usize::MAX as *mut c_void;

/// `RTLD_LAZY | RTLD_NOLOAD` of Linux: the handle of a library that is loaded already.
const LOADED_ALREADY: c_int = 0x1 | 0x4;

static CALLS: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());
static REPORT: Once = Once::new();

/// The head of `struct dl_phdr_info`.
#[repr(C)]
struct Loaded {
    address: usize,
    name: *const c_char,
}

/// A symbol of this library.
pub struct Symbol {
    /// The name, with a zero byte at its end.
    name: &'static str,
    /// The symbol of this name in the next library, once it is known.
    next: AtomicPtr<c_void>,
    /// Whether calls are computed here, once it is known.
    wanted: OnceLock<bool>,
}

impl Symbol {
    /// Makes the symbol of a name that ends in a zero byte.
    pub const fn new(name: &'static str) -> Self {
        Self { name, next: AtomicPtr::new(ptr::null_mut()), wanted: OnceLock::new() }
    }

    fn name(&self) -> &'static str {
        self.name.trim_end_matches('\0')
    }

    /// Tells whether the user wants calls to be computed here.
    pub fn is_wanted(&self) -> bool {
        *self.wanted.get_or_init(|| settings::is_wanted(self.name()))
    }

    /// Counts a call that the library has computed.
    pub fn computed(&self) {
        // SAFETY: `report` is a function without arguments that returns, as `atexit` asks for.
        REPORT.call_once(|| unsafe {
            atexit(report);
        });
        *CALLS.lock().expect("nothing panics while it counts").entry(self.name()).or_default() += 1;
    }

    /// Returns the address of the symbol in the next library that has it.
    ///
    /// `own` is the address of the symbol in this library.
    pub fn next(&self, own: usize) -> *mut c_void {
        let known = self.next.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let name = CStr::from_bytes_with_nul(self.name.as_bytes()).expect("names end in a zero byte");
        // SAFETY: `name` ends in a zero byte; the handle is one that `dlsym` knows.
        let mut address = unsafe { dlsym(NEXT, name.as_ptr()) };
        if address.is_null() {
            address = among_loaded(name, own);
        }
        assert!(
            !address.is_null(),
            "lattice-cl-blas: no other library here has {name:?}; load a BLAS with it"
        );
        self.next.store(address, Ordering::Relaxed);
        address
    }
}

/// Looks for a symbol in all libraries of the process; returns null if no other one has it.
fn among_loaded(name: &CStr, own: usize) -> *mut c_void {
    let mut paths: Vec<CString> = Vec::new();
    // SAFETY: `collect` takes the pointer to a list of paths that it is called with.
    unsafe { dl_iterate_phdr(collect, (&raw mut paths).cast()) };
    for path in paths {
        // SAFETY: the path ends in a zero byte. The library is loaded, so no code of it runs now.
        let handle = unsafe { dlopen(path.as_ptr(), LOADED_ALREADY) };
        if handle.is_null() {
            continue;
        }
        // SAFETY: the handle is one of `dlopen`, and is never closed.
        let address = unsafe { dlsym(handle, name.as_ptr()) };
        if !address.is_null() && address as usize != own {
            return address;
        }
    }
    ptr::null_mut()
}

/// Adds the path of a library to the list that `data` refers to.
///
/// # Safety
/// `loaded` and its name are those of `dl_iterate_phdr`. `data` refers to a `Vec<CString>`.
unsafe extern "C" fn collect(loaded: *const Loaded, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the caller guarantees this. The program itself has an empty name.
    unsafe {
        let name = (*loaded).name;
        if !name.is_null() && *name != 0 {
            (*data.cast::<Vec<CString>>()).push(CStr::from_ptr(name).to_owned());
        }
    }
    0
}

extern "C" fn report() {
    // A process that was forked leaves the report to the one that has computed.
    if !has_device() {
        return;
    }
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
