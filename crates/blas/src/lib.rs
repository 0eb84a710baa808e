//! The BLAS of Fortran and C, computed by `lattice_cl::blas` on a device.
//!
//! The library is loaded in front of another BLAS (`LD_PRELOAD`), so that programs written for the
//! BLAS run on it. `scripts/blas-testers.sh` runs the test programs of the reference BLAS on this
//! library.
//!
//! Calls that `lattice_cl::blas` has no function for go on to the next BLAS. Calls with illegal
//! arguments go there too. The next BLAS reports them through its `xerbla`. At exit the number of
//! calls that were computed here goes to stderr. With `LATTICE_CL_BLAS_CALLS=FILE`, names and
//! numbers are appended to that file instead.
//!
//! A call copies its operands to the device and its result back. The library is for tests and makes
//! nothing faster. The ABI has no way to return an error of a device. A call that fails ends the
//! process with a message.

mod arguments;
mod c;
mod calls;
mod fortran;
mod operands;
mod operations;

/// Defines symbols of the BLAS.
///
/// Each symbol has a signature and a body. The body returns `Some` of the result, or `None`. With
/// `None` the call goes on to the symbol of this name in the next library.
macro_rules! symbols {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? { $body:expr })*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: the caller passes pointers that the BLAS asks for. Every pointer refers to as
            // many elements as the extents, increments and leading dimensions say. Nobody else
            // writes the elements meanwhile.
            if let Some(result) = unsafe { $body } {
                crate::calls::computed(stringify!($name));
                return result;
            }
            let address = crate::calls::next(concat!(stringify!($name), "\0"));
            // SAFETY: the symbol of this name has this signature in every BLAS; the arguments are
            // the caller's own.
            unsafe {
                let next: unsafe extern "C" fn($($type),*) $(-> $result)? = std::mem::transmute(address);
                next($($argument),*)
            }
        }
    )*};
}
use symbols;
