//! Symbols of the other libraries in the process.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::LazyLock;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dladdr(address: *const c_void, found: *mut LibraryInfo) -> c_int;
    fn dl_iterate_phdr(
        visit: unsafe extern "C" fn(*const Loaded, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// `RTLD_NEXT`: the libraries behind this one.
const NEXT: *mut c_void = usize::MAX as *mut c_void;

/// `RTLD_LAZY | RTLD_NOLOAD` of Linux: the handle of a library that is loaded already.
const LOADED_ALREADY: c_int = 0x1 | 0x4;

/// The address at which this library begins.
static OWN: LazyLock<usize> = LazyLock::new(|| beginning(find as *const c_void));

/// The head of `struct dl_phdr_info`.
#[repr(C)]
struct Loaded {
    address: usize,
    name: *const c_char,
}

/// `Dl_info`: the library that has an address.
#[repr(C)]
struct LibraryInfo {
    path: *const c_char,
    beginning: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

/// Returns the address at which the library of an address begins, or 0.
fn beginning(address: *const c_void) -> usize {
    let nothing: *mut c_void = ptr::null_mut();
    let mut place =
        LibraryInfo { path: nothing.cast(), beginning: nothing, symbol: nothing.cast(), address: nothing };
    // SAFETY: any address may be asked for; `place` has room for the answer.
    unsafe { dladdr(address, &raw mut place) };
    place.beginning as usize
}

/// Returns the address of a symbol in another library, or null if none has it.
///
/// The libraries behind this one come first, then all others.
pub fn find(name: &CStr) -> *mut c_void {
    // SAFETY: `name` ends in a zero byte; the handle is one that `dlsym` knows.
    let address = unsafe { dlsym(NEXT, name.as_ptr()) };
    if address.is_null() { among_loaded(name) } else { address }
}

/// Looks for a symbol in all libraries of the process but this one.
fn among_loaded(name: &CStr) -> *mut c_void {
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
        if !address.is_null() && beginning(address) != *OWN {
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
