//! The symbols that C calls: `cblas_*`, row- or column-major.
//!
//! Complex factors come by their addresses, as `const void *`.

use crate::arguments::{Choice, order};
use crate::level3::{gemm, rank_2k, rank_k, symm, triangular};
use crate::operations::{asum, axpy, copy, dot, gemv, ger, iamax, nrm2, scal, swap};
use crate::symbols;
use lattice_linalg as blas;
use num_complex::Complex;
use std::ffi::c_int;

/// A factor in C's form: a real one by value, a complex one by address.
trait Passed<T> {
    /// Returns the factor.
    ///
    /// # Safety
    /// An address refers to a factor.
    unsafe fn factor(self) -> T;
}

impl<T> Passed<T> for T {
    unsafe fn factor(self) -> T {
        self
    }
}

impl<T: Copy> Passed<Complex<T>> for *const Complex<T> {
    unsafe fn factor(self) -> Complex<T> {
        // SAFETY: the caller guarantees that the address refers to a factor.
        unsafe { *self }
    }
}

fn wide(number: impl Into<i64>) -> i64 {
    number.into()
}

/// Reads the choice of a C caller.
fn number<T: Choice>(number: c_int) -> Option<T> {
    T::of_number(number)
}

macro_rules! of_every_type {
    ($i:tt; $t:ty, $s:ty, $r:ty; $axpy:ident $copy:ident $swap:ident $scal:ident $nrm2:ident $asum:ident $iamax:ident
     $gemv:ident $gemm:ident $symm:ident $syrk:ident $syr2k:ident $trmm:ident $trsm:ident) => {
        symbols! { $i;
            fn $axpy(n: Integer, alpha: $s, x: *const $t, incx: Integer, y: *mut $t, incy: Integer) {
                axpy::<$t>(wide(n), alpha.factor(), x, wide(incx), y, wide(incy))
            }
            fn $copy(n: Integer, x: *const $t, incx: Integer, y: *mut $t, incy: Integer) { copy(wide(n), x, wide(incx), y, wide(incy)) }
            fn $swap(n: Integer, x: *mut $t, incx: Integer, y: *mut $t, incy: Integer) { swap(wide(n), x, wide(incx), y, wide(incy)) }
            fn $scal(n: Integer, alpha: $s, x: *mut $t, incx: Integer) {
                scal::<$t>(wide(n), Passed::<$t>::factor(alpha), x, wide(incx))
            }
            fn $nrm2(n: Integer, x: *const $t, incx: Integer) -> $r { nrm2(wide(n), x, wide(incx)).map(|norm| norm as $r) }
            fn $asum(n: Integer, x: *const $t, incx: Integer) -> $r { asum(wide(n), x, wide(incx)).map(|sum| sum as $r) }
            fn $iamax(n: Integer, x: *const $t, incx: Integer) -> usize { iamax(wide(n), x, wide(incx)) }
            fn $gemv(
                layout: c_int, op: c_int, m: Integer, n: Integer, alpha: $s, a: *const $t, lda: Integer, x: *const $t,
                incx: Integer, beta: $s, y: *mut $t, incy: Integer,
            ) {
                gemv::<$t>(
                    order(layout), number(op), [wide(m), wide(n)], alpha.factor(), a, wide(lda), x, wide(incx), beta.factor(), y, wide(incy),
                )
            }
            fn $gemm(
                layout: c_int, op_a: c_int, op_b: c_int, m: Integer, n: Integer, k: Integer, alpha: $s, a: *const $t,
                lda: Integer, b: *const $t, ldb: Integer, beta: $s, c: *mut $t, ldc: Integer,
            ) {
                gemm::<$t>(
                    order(layout), [number(op_a), number(op_b)], [wide(m), wide(n), wide(k)],
                    alpha.factor(), a, wide(lda), b, wide(ldb), beta.factor(), c, wide(ldc),
                )
            }
            fn $syrk(
                layout: c_int, triangle: c_int, op: c_int, n: Integer, k: Integer, alpha: $s, a: *const $t, lda: Integer,
                beta: $s, c: *mut $t, ldc: Integer,
            ) {
                rank_k::<$t>(
                    false, order(layout), number(triangle), number(op), [wide(n), wide(k)],
                    a, wide(lda), c, wide(ldc),
                    |triangle, op, a, c| blas::syrk::<$t>(triangle, op, Passed::<$t>::factor(alpha), a, Passed::<$t>::factor(beta), c),
                )
            }
            fn $syr2k(
                layout: c_int, triangle: c_int, op: c_int, n: Integer, k: Integer, alpha: $s, a: *const $t, lda: Integer,
                b: *const $t, ldb: Integer, beta: $s, c: *mut $t, ldc: Integer,
            ) {
                rank_2k::<$t>(
                    false, order(layout), number(triangle), number(op), [wide(n), wide(k)],
                    a, wide(lda), b, wide(ldb), c, wide(ldc),
                    |triangle, op, a, b, c| blas::syr2k::<$t>(triangle, op, Passed::<$t>::factor(alpha), a, b, Passed::<$t>::factor(beta), c),
                )
            }
        }
        symmetric!($i; $t, $s, $symm, false);
        triangular!($i; $t, $s, $trmm, false);
        triangular!($i; $t, $s, $trsm, true);
    };
}

macro_rules! triangular {
    ($i:tt; $t:ty, $s:ty, $name:ident, $solves:literal) => {
        symbols! { $i;
            fn $name(
                layout: c_int, side: c_int, triangle: c_int, op: c_int, diagonal: c_int, m: Integer, n: Integer,
                alpha: $s, a: *const $t, lda: Integer, b: *mut $t, ldb: Integer,
            ) {
                triangular::<$t>(
                    $solves, order(layout), number(side), number(triangle), number(op), number(diagonal), [wide(m), wide(n)],
                    alpha.factor(), a, wide(lda), b, wide(ldb),
                )
            }
        }
    };
}

macro_rules! symmetric {
    ($i:tt; $t:ty, $s:ty, $name:ident, $hermitian:literal) => {
        symbols! { $i;
            fn $name(
                layout: c_int, side: c_int, triangle: c_int, m: Integer, n: Integer, alpha: $s, a: *const $t, lda: Integer,
                b: *const $t, ldb: Integer, beta: $s, c: *mut $t, ldc: Integer,
            ) {
                symm::<$t>(
                    $hermitian, order(layout), number(side), number(triangle), [wide(m), wide(n)],
                    alpha.factor(), a, wide(lda), b, wide(ldb), beta.factor(), c, wide(ldc),
                )
            }
        }
    };
}

macro_rules! rank_one {
    ($i:tt; $t:ty, $s:ty, $name:ident, $conjugate:literal) => {
        symbols! { $i;
            fn $name(
                layout: c_int, m: Integer, n: Integer, alpha: $s, x: *const $t, incx: Integer, y: *const $t, incy: Integer,
                a: *mut $t, lda: Integer,
            ) {
                ger::<$t>(order(layout), $conjugate, [wide(m), wide(n)], alpha.factor(), x, wide(incx), y, wide(incy), a, wide(lda))
            }
        }
    };
}

macro_rules! of_real_type {
    ($i:tt; $t:ty; $dot:ident $ger:ident) => {
        symbols! { $i;
            fn $dot(n: Integer, x: *const $t, incx: Integer, y: *const $t, incy: Integer) -> $t {
                dot(false, wide(n), x, wide(incx), y, wide(incy)).map(|sum| sum.re as $t)
            }
        }
        rank_one!($i; $t, $t, $ger, false);
    };
}

macro_rules! of_complex_type {
    ($i:tt; $r:ty; $real_scal:ident $dotu:ident $dotc:ident $geru:ident $gerc:ident $hemm:ident $herk:ident $her2k:ident
     $gemm3m:ident $gemm:ident) => {
        symbols! { $i;
            fn $real_scal(n: Integer, alpha: $r, x: *mut Complex<$r>, incx: Integer) { scal(wide(n), alpha, x, wide(incx)) }
            fn $dotu(
                n: Integer, x: *const Complex<$r>, incx: Integer, y: *const Complex<$r>, incy: Integer,
                result: *mut Complex<$r>,
            ) {
                dot(false, wide(n), x, wide(incx), y, wide(incy)).map(|sum| *result = Complex::new(sum.re as $r, sum.im as $r))
            }
            fn $dotc(
                n: Integer, x: *const Complex<$r>, incx: Integer, y: *const Complex<$r>, incy: Integer,
                result: *mut Complex<$r>,
            ) {
                dot(true, wide(n), x, wide(incx), y, wide(incy)).map(|sum| *result = Complex::new(sum.re as $r, sum.im as $r))
            }
            fn $herk(
                layout: c_int, triangle: c_int, op: c_int, n: Integer, k: Integer, alpha: $r, a: *const Complex<$r>,
                lda: Integer, beta: $r, c: *mut Complex<$r>, ldc: Integer,
            ) {
                rank_k(
                    true, order(layout), number(triangle), number(op), [wide(n), wide(k)],
                    a, wide(lda), c, wide(ldc),
                    |triangle, op, a, c| blas::herk(triangle, op, alpha, a, beta, c),
                )
            }
            fn $her2k(
                layout: c_int, triangle: c_int, op: c_int, n: Integer, k: Integer, alpha: *const Complex<$r>,
                a: *const Complex<$r>, lda: Integer, b: *const Complex<$r>, ldb: Integer, beta: $r,
                c: *mut Complex<$r>, ldc: Integer,
            ) {
                rank_2k(
                    true, order(layout), number(triangle), number(op), [wide(n), wide(k)],
                    a, wide(lda), b, wide(ldb), c, wide(ldc),
                    |triangle, op, a, b, c| blas::her2k(triangle, op, *alpha, a, b, beta, c),
                )
            }
        }
        symbols! { $i;
            fn $gemm3m or $gemm(
                layout: c_int, op_a: c_int, op_b: c_int, m: Integer, n: Integer, k: Integer, alpha: *const Complex<$r>,
                a: *const Complex<$r>, lda: Integer, b: *const Complex<$r>, ldb: Integer, beta: *const Complex<$r>,
                c: *mut Complex<$r>, ldc: Integer,
            ) {
                gemm(
                    order(layout), [number(op_a), number(op_b)], [wide(m), wide(n), wide(k)],
                    *alpha, a, wide(lda), b, wide(ldb), *beta, c, wide(ldc),
                )
            }
        }
        rank_one!($i; Complex<$r>, *const Complex<$r>, $geru, false);
        rank_one!($i; Complex<$r>, *const Complex<$r>, $gerc, true);
        symmetric!($i; Complex<$r>, *const Complex<$r>, $hemm, true);
    };
}

/// Defines the symbols with integers of one length.
///
/// `$names` has what stands before and after the names of the reference.
macro_rules! interface {
    ($module:ident, $integer:ty, $names:tt) => {
        mod $module {
            use super::*;

            type Integer = $integer;

            of_every_type!($names; f32, f32, f32; cblas_saxpy cblas_scopy cblas_sswap cblas_sscal cblas_snrm2 cblas_sasum cblas_isamax
                cblas_sgemv cblas_sgemm cblas_ssymm cblas_ssyrk cblas_ssyr2k
                cblas_strmm cblas_strsm);
            of_every_type!($names; f64, f64, f64; cblas_daxpy cblas_dcopy cblas_dswap cblas_dscal cblas_dnrm2 cblas_dasum cblas_idamax
                cblas_dgemv cblas_dgemm cblas_dsymm cblas_dsyrk cblas_dsyr2k
                cblas_dtrmm cblas_dtrsm);
            of_every_type!($names; Complex<f32>, *const Complex<f32>, f32; cblas_caxpy cblas_ccopy cblas_cswap cblas_cscal cblas_scnrm2
                cblas_scasum cblas_icamax cblas_cgemv cblas_cgemm cblas_csymm cblas_csyrk cblas_csyr2k
                cblas_ctrmm cblas_ctrsm);
            of_every_type!($names; Complex<f64>, *const Complex<f64>, f64; cblas_zaxpy cblas_zcopy cblas_zswap cblas_zscal cblas_dznrm2
                cblas_dzasum cblas_izamax cblas_zgemv cblas_zgemm cblas_zsymm cblas_zsyrk cblas_zsyr2k
                cblas_ztrmm cblas_ztrsm);
            of_real_type!($names; f32; cblas_sdot cblas_sger);
            of_real_type!($names; f64; cblas_ddot cblas_dger);
            of_complex_type!($names; f32; cblas_csscal cblas_cdotu_sub cblas_cdotc_sub cblas_cgeru cblas_cgerc cblas_chemm cblas_cherk cblas_cher2k cblas_cgemm3m cblas_cgemm);
            of_complex_type!($names; f64; cblas_zdscal cblas_zdotu_sub cblas_zdotc_sub cblas_zgeru cblas_zgerc cblas_zhemm cblas_zherk cblas_zher2k cblas_zgemm3m cblas_zgemm);

            // Sums of products in single precision, added up in double. The library always sums so.
            symbols! { $names;
                fn cblas_dsdot(n: Integer, x: *const f32, incx: Integer, y: *const f32, incy: Integer) -> f64 {
                    dot(false, wide(n), x, wide(incx), y, wide(incy)).map(|sum| sum.re)
                }
                fn cblas_sdsdot(n: Integer, b: f32, x: *const f32, incx: Integer, y: *const f32, incy: Integer) -> f32 {
                    dot(false, wide(n), x, wide(incx), y, wide(incy)).map(|sum| (f64::from(b) + sum.re) as f32)
                }
            }
        }
    };
}

interface!(plain, c_int, ["" ""]);
interface!(plain_wide, i64, ["" "64_"]);
// The names of the library in the wheels of NumPy and SciPy.
interface!(scipy, c_int, ["scipy_" ""]);
interface!(scipy_wide, i64, ["scipy_" "64_"]);
