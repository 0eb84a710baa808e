//! The library: where it is looked for, and the functions that are taken from it.

use crate::abi::{Abi, Constants, Handle};
use crate::launcher::{Family, LIBRARY_VARIABLE, Launcher};
use dlopen2::raw::Library as Raw;
use std::env;
use std::ffi::{CStr, c_char, c_int};
use std::path::PathBuf;

/// RTLD_NOW and RTLD_GLOBAL.
///
/// Plug-ins of Open MPI 4 look for the symbols of the library that loads them.
#[cfg(target_os = "linux")]
const FLAGS: Option<i32> = Some(0x102);
#[cfg(not(target_os = "linux"))]
const FLAGS: Option<i32> = None;

/// The longest text that MPI_Get_library_version writes in any library.
const LONGEST_VERSION: usize = 8192;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident: $symbol:literal ($($argument:ty),*);)*) => {
        /// The functions, with types that fit every ABI.
        pub struct Functions {
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            fn of(library: &Raw) -> Result<Self, String> {
                Ok(Self {
                    // SAFETY: the MPI standard declares the function so, but for handles, for which a word stands: see `abi`.
                    $($name: unsafe { library.symbol($symbol) }.map_err(|_| format!("it has no {}", $symbol))?,)*
                })
            }
        }
    };
}

functions! {
    init: "MPI_Init_thread" (usize, usize, c_int, *mut c_int);
    finalize: "MPI_Finalize" ();
    abort: "MPI_Abort" (Handle, c_int);
    library_version: "MPI_Get_library_version" (*mut c_char, *mut c_int);
    rank: "MPI_Comm_rank" (Handle, *mut c_int);
    size: "MPI_Comm_size" (Handle, *mut c_int);
    duplicate: "MPI_Comm_dup" (Handle, *mut Handle);
    split_by_type: "MPI_Comm_split_type" (Handle, c_int, c_int, Handle, *mut Handle);
    send: "MPI_Isend" (*const u8, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    receive: "MPI_Irecv" (*mut u8, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    test: "MPI_Test" (*mut Handle, *mut c_int, usize);
    all_gather: "MPI_Iallgather" (*const u8, c_int, Handle, *mut u8, c_int, Handle, Handle, *mut Handle);
    broadcast: "MPI_Ibcast" (*mut u8, c_int, Handle, c_int, Handle, *mut Handle);
}

/// A library that is open, and not initialised yet.
pub struct Library {
    pub functions: Functions,
    pub constants: Constants,
    /// Its name by its own account, and its file.
    pub name: String,
    /// `true` if it knows the launcher's protocol.
    ///
    /// If not, its initialisation would end the process.
    pub understands: bool,
}

impl Library {
    /// Opens the library that fits a launcher.
    ///
    /// # Errors
    /// Why each one that was tried is not usable.
    pub fn open(launcher: &Launcher) -> Result<Self, Vec<String>> {
        let (mut tried, mut of_others) = (Vec::new(), None);
        for candidate in candidates(launcher.family) {
            match Self::at(&candidate) {
                Ok(library) if library.understands => return Ok(library),
                Ok(library) => of_others = of_others.or(Some(library)),
                Err(why) => tried.push(format!("{}: {why}", candidate.display())),
            }
        }
        of_others.ok_or(tried)
    }

    fn at(file: &PathBuf) -> Result<Self, String> {
        let raw = Raw::open_with_flags(file, FLAGS).map_err(|error| error.to_string())?;
        let symbol = |name: &str| {
            // SAFETY: only the address is used, and nothing behind it.
            unsafe { raw.symbol::<*const u8>(name) }.map_or(0, |address| address as usize)
        };
        let abi = Abi::of(symbol);
        let constants = abi.constants(symbol);
        let functions = Functions::of(&raw)?;
        let name = format!("{} ({})", version(&functions), file.display());
        // Launchers with PMIx alone are understood by an MPICH that was built with it.
        let only_pmix = env::var_os("PMIX_RANK").is_some() && env::var_os("PMI_RANK").is_none();
        let understands = !(only_pmix && name.contains("MPICH") && symbol("PMIx_Init") == 0);
        // An MPI that has started threads cannot be unloaded.
        std::mem::forget(raw);
        Ok(Self { functions, constants, name, understands })
    }
}

/// Returns the first line of the library's description of itself.
fn version(functions: &Functions) -> String {
    let (mut text, mut length) = (vec![0 as c_char; LONGEST_VERSION + 1], 0);
    // SAFETY: MPI allows this call before its initialisation, and writes no more than its constant says, which is at most this.
    unsafe { (functions.library_version)(text.as_mut_ptr(), &mut length) };
    // SAFETY: the last byte is still zero.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy();
    let line = text.lines().next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    // Open MPI goes on with the name of the package, after a comma.
    words.join(" ").split(',').next().unwrap_or_default().to_owned()
}

/// Files and names that are tried, in this order.
fn candidates(family: Family) -> Vec<PathBuf> {
    if let Some(named) = env::var_os(LIBRARY_VARIABLE).filter(|named| !named.is_empty()) {
        return vec![named.into()];
    }
    let names: &[&str] = match family {
        Family::OpenMpi => &["libmpi.so.40", "libmpi_abi.so.1", "libmpi_abi.so.0"],
        Family::Mpich => {
            &["libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12", "libmpi_abi.so.1", "libmpi_abi.so.0"]
        }
        Family::Manager => &[
            "libmpi_abi.so.1",
            "libmpi_abi.so.0",
            "libmpi_cray.so.12",
            "libmpi.so.12",
            "libmpich.so.12",
            "libmpi.so.40",
        ],
    };
    let folders = folders_of_launcher();
    let beside = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    let beside = beside.filter(|file| file.exists());
    beside.chain(names.iter().map(PathBuf::from)).collect()
}

/// Returns the folders where the launcher's own installation has its libraries.
fn folders_of_launcher() -> Vec<PathBuf> {
    // Open MPI tells it.
    let told = env::var_os("OMPI_LIBDIR_LOC").map(PathBuf::from);
    let installation = parent_program().and_then(|program| Some(program.parent()?.parent()?.to_owned()));
    let own = installation.into_iter().flat_map(|folder| ["lib", "lib64"].map(|name| folder.join(name)));
    told.into_iter().chain(own).collect()
}

/// Returns the program that started this process; on Linux only.
fn parent_program() -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    return std::fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id())).ok();
    #[cfg(not(target_os = "linux"))]
    None
}
