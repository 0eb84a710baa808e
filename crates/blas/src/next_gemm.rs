//! The rate of products in the library behind this one.

use crate::loaded;
use lattice_compute::scalar::{Element, Precision, Real};
use std::ffi::{CString, c_char};
use std::time::{Duration, Instant};

/// Edges of the matrices that are tried.
const EDGES: [usize; 4] = [128, 256, 512, 1024];

/// Time of a product that is long enough for a measurement.
const LONG_ENOUGH: Duration = Duration::from_millis(5);

/// Fortran's `gemm`. Integers of 32 bits are the first halves of those of 64.
type Gemm<T> = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const i64,
    *const i64,
    *const i64,
    *const T,
    *const T,
    *const i64,
    *const T,
    *const i64,
    *const T,
    *mut T,
    *const i64,
    usize,
    usize,
);

/// Returns Fortran's name of `gemm` in the library that has a symbol.
fn name<T: Element>(symbol: &str) -> String {
    let letter = match (T::IS_COMPLEX, T::Real::PRECISION) {
        (false, Precision::Single) => 's',
        (false, Precision::Double) => 'd',
        (true, Precision::Single) => 'c',
        (true, Precision::Double) => 'z',
    };
    let before = if symbol.starts_with("scipy_") { "scipy_" } else { "" };
    let after = if symbol.contains("64_") { "_64_" } else { "_" };
    format!("{before}{letter}gemm{after}")
}

/// Returns the operations per second of products in the library behind a symbol.
///
/// Larger and larger matrices are multiplied until a product takes 5 ms. `None` if the library has
/// no `gemm`.
pub fn rate<T: Element>(symbol: &str) -> Option<f64> {
    let name = CString::new(name::<T>(symbol)).ok()?;
    let address = loaded::find(&name);
    if address.is_null() {
        return None;
    }
    // SAFETY: symbols of this name have this signature in every BLAS.
    let gemm: Gemm<T> = unsafe { std::mem::transmute(address) };
    let mut rate = None;
    for edge in EDGES {
        let (half, zero) = (T::from_complex(0.5.into()), T::default());
        let a = vec![half; edge * edge];
        let mut c = vec![zero; edge * edge];
        let mut product = || {
            let (n, op, began) = (edge as i64, b'N' as c_char, Instant::now());
            // SAFETY: the three matrices have so many rows and columns, and c is written alone.
            unsafe {
                gemm(
                    &op,
                    &op,
                    &n,
                    &n,
                    &n,
                    &half,
                    a.as_ptr(),
                    &n,
                    a.as_ptr(),
                    &n,
                    &zero,
                    c.as_mut_ptr(),
                    &n,
                    1,
                    1,
                );
            }
            began.elapsed()
        };
        // The first product may have to start threads.
        product();
        let time = product();
        let of_term = if T::IS_COMPLEX { 8.0 } else { 2.0 };
        rate = Some(of_term * (edge as f64).powi(3) / time.as_secs_f64());
        if time >= LONG_ENOUGH {
            break;
        }
    }
    rate
}
