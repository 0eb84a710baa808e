//! The BLAS and a part of LAPACK, computed by `lattice_linalg` on a device.
//!
//! The library is loaded in front of another BLAS (`LD_PRELOAD`), so that programs written for the
//! BLAS run on it. `scripts/blas-testers.sh` runs the test programs of the reference BLAS and of
//! LAPACK on this library.
//!
//! # Names
//! There are Fortran's names (`dgemm_`) and C's (`cblas_dgemm`), also with 64-bit integers
//! (`dgemm_64_`, `cblas_dgemm64_`), and both with `scipy_` in front. NumPy and SciPy from wheels call
//! the latter.
//!
//! # Calls that are passed on
//! The next library that has the name answers
//! * calls with illegal arguments, which it reports through its `xerbla`,
//! * queries of LAPACK for the size of a workspace,
//! * calls that take it less time (`balance.rs`), or with fewer operations than
//!   `LATTICE_CL_BLAS_LEAST` if that is set; levels 1 and 2 unless it is 0,
//! * calls whose names have none of the words in `LATTICE_CL_BLAS_ONLY`, if that is set,
//! * all calls, if `LATTICE_CL_BLAS_OFF` is 1,
//! * calls that the device fails at, with a warning on stderr,
//! * calls of a process that was forked after the device was opened.
//!
//! Wheels of Python load their libraries so that no other one sees them. They are found among all
//! libraries that the process has loaded.
//!
//! # Device
//! The first large call opens the device that `LATTICE_CL_BLAS_DEVICE` names: `0.0` or a part of its
//! name. By default it is the fastest one. Several, with commas between them, share large products.
//!
//! # Memory
//! A call copies its operands to the device and its result back. Only results are written: nothing
//! between the lines of a matrix, and nothing in the other triangle.
//!
//! # Comparison and report
//! With `LATTICE_CL_BLAS_CHECK=SHARE` the next library computes a share of the calls too, and results
//! are compared (`check.rs`). With `LATTICE_CL_BLAS_REPORT=1` a table of calls, times and rates goes
//! to stderr at exit (`report.rs`). With `LATTICE_CL_BLAS_CALLS=FILE`, names and numbers of the calls
//! that were computed here are appended to that file.

mod arguments;
mod balance;
mod c;
mod calls;
mod check;
mod devices;
mod exceptions;
mod factor;
mod fortran;
mod lapack;
mod lapack_spectra;
mod level3;
mod loaded;
mod next_gemm;
mod operands;
mod operations;
mod orthogonal;
mod product;
mod rates;
mod report;
mod settings;
mod spectra;
mod work;

/// Defines symbols of the BLAS.
///
/// The list in front has what stands before and after each name. Each symbol has a signature and a
/// body. The body returns `Some` of the result, or `None`. With `None` the call goes on to the
/// symbol of this name in the next library. `or` names another one, for libraries without the first.
macro_rules! symbols {
    ([$before:literal $after:literal];
     $(fn $name:ident $(or $instead:ident)? ($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? { $body:expr })*
    ) => {$(
        #[unsafe(export_name = concat!($before, stringify!($name), $after))]
        unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
            static SYMBOL: crate::calls::Symbol = crate::calls::Symbol::new(
                concat!($before, stringify!($name), $after, "\0"),
                [$(concat!($before, stringify!($instead), $after, "\0"))?].as_slice(),
            );
            // SAFETY: the caller passes pointers that the BLAS asks for. Every pointer refers to as
            // many elements as the extents, increments and leading dimensions say. Nobody else
            // writes the elements meanwhile.
            let mut call = match SYMBOL.attempt(|| unsafe { $body }) {
                Ok(result) => return result,
                Err(call) => call,
            };
            let address = SYMBOL.next();
            call.start();
            // SAFETY: the symbol of this name has this signature in every BLAS; the arguments are
            // the caller's own.
            let result = unsafe {
                let next: Function = std::mem::transmute(address);
                next($($argument),*)
            };
            call.finish(&result);
            result
        }
    )*};
}
use symbols;
