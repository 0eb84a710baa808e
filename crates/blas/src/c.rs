//! The symbols that C calls: `cblas_*`, row- or column-major.
//!
//! Complex factors come by their addresses, as `const void *`.

use crate::arguments::{Choice, order};
use crate::operations::{
    asum, axpy, copy, dot, gemm, gemv, ger, her2k, herk, iamax, nrm2, scal, swap, symm, syr2k, syrk,
    triangular,
};
use crate::symbols;
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

/// Reads the choice of a C caller.
fn number<T: Choice>(number: c_int) -> Option<T> {
    T::of_number(number)
}

macro_rules! of_every_type {
    ($t:ty, $s:ty, $r:ty; $axpy:ident $copy:ident $swap:ident $scal:ident $nrm2:ident $asum:ident $iamax:ident
     $gemv:ident $gemm:ident $symm:ident $syrk:ident $syr2k:ident $trmm:ident $trsm:ident) => {
        symbols! {
            fn $axpy(n: c_int, alpha: $s, x: *const $t, incx: c_int, y: *mut $t, incy: c_int) {
                axpy::<$t>(n, alpha.factor(), x, incx, y, incy)
            }
            fn $copy(n: c_int, x: *const $t, incx: c_int, y: *mut $t, incy: c_int) { copy(n, x, incx, y, incy) }
            fn $swap(n: c_int, x: *mut $t, incx: c_int, y: *mut $t, incy: c_int) { swap(n, x, incx, y, incy) }
            fn $scal(n: c_int, alpha: $s, x: *mut $t, incx: c_int) {
                scal::<$t>(n, Passed::<$t>::factor(alpha), x, incx)
            }
            fn $nrm2(n: c_int, x: *const $t, incx: c_int) -> $r { nrm2(n, x, incx).map(|norm| norm as $r) }
            fn $asum(n: c_int, x: *const $t, incx: c_int) -> $r { asum(n, x, incx).map(|sum| sum as $r) }
            fn $iamax(n: c_int, x: *const $t, incx: c_int) -> usize { iamax(n, x, incx) }
            fn $gemv(
                layout: c_int, op: c_int, m: c_int, n: c_int, alpha: $s, a: *const $t, lda: c_int, x: *const $t,
                incx: c_int, beta: $s, y: *mut $t, incy: c_int,
            ) {
                gemv::<$t>(
                    order(layout), number(op), [m, n], alpha.factor(), a, lda, x, incx, beta.factor(), y, incy,
                )
            }
            fn $gemm(
                layout: c_int, op_a: c_int, op_b: c_int, m: c_int, n: c_int, k: c_int, alpha: $s, a: *const $t,
                lda: c_int, b: *const $t, ldb: c_int, beta: $s, c: *mut $t, ldc: c_int,
            ) {
                gemm::<$t>(
                    order(layout), [number(op_a), number(op_b)], [m, n, k],
                    alpha.factor(), a, lda, b, ldb, beta.factor(), c, ldc,
                )
            }
            fn $syrk(
                layout: c_int, triangle: c_int, op: c_int, n: c_int, k: c_int, alpha: $s, a: *const $t, lda: c_int,
                beta: $s, c: *mut $t, ldc: c_int,
            ) {
                syrk::<$t>(
                    order(layout), number(triangle), number(op), [n, k],
                    alpha.factor(), a, lda, beta.factor(), c, ldc,
                )
            }
            fn $syr2k(
                layout: c_int, triangle: c_int, op: c_int, n: c_int, k: c_int, alpha: $s, a: *const $t, lda: c_int,
                b: *const $t, ldb: c_int, beta: $s, c: *mut $t, ldc: c_int,
            ) {
                syr2k::<$t>(
                    order(layout), number(triangle), number(op), [n, k],
                    alpha.factor(), a, lda, b, ldb, beta.factor(), c, ldc,
                )
            }
        }
        symmetric!($t, $s, $symm, false);
        triangular!($t, $s, $trmm, false);
        triangular!($t, $s, $trsm, true);
    };
}

macro_rules! triangular {
    ($t:ty, $s:ty, $name:ident, $solves:literal) => {
        symbols! {
            fn $name(
                layout: c_int, side: c_int, triangle: c_int, op: c_int, diagonal: c_int, m: c_int, n: c_int,
                alpha: $s, a: *const $t, lda: c_int, b: *mut $t, ldb: c_int,
            ) {
                triangular::<$t>(
                    $solves, order(layout), number(side), number(triangle), number(op), number(diagonal), [m, n],
                    alpha.factor(), a, lda, b, ldb,
                )
            }
        }
    };
}

macro_rules! symmetric {
    ($t:ty, $s:ty, $name:ident, $hermitian:literal) => {
        symbols! {
            fn $name(
                layout: c_int, side: c_int, triangle: c_int, m: c_int, n: c_int, alpha: $s, a: *const $t, lda: c_int,
                b: *const $t, ldb: c_int, beta: $s, c: *mut $t, ldc: c_int,
            ) {
                symm::<$t>(
                    $hermitian, order(layout), number(side), number(triangle), [m, n],
                    alpha.factor(), a, lda, b, ldb, beta.factor(), c, ldc,
                )
            }
        }
    };
}

macro_rules! rank_one {
    ($t:ty, $s:ty, $name:ident, $conjugate:literal) => {
        symbols! {
            fn $name(
                layout: c_int, m: c_int, n: c_int, alpha: $s, x: *const $t, incx: c_int, y: *const $t, incy: c_int,
                a: *mut $t, lda: c_int,
            ) {
                ger::<$t>(order(layout), $conjugate, [m, n], alpha.factor(), x, incx, y, incy, a, lda)
            }
        }
    };
}

macro_rules! of_real_type {
    ($t:ty; $dot:ident $ger:ident) => {
        symbols! {
            fn $dot(n: c_int, x: *const $t, incx: c_int, y: *const $t, incy: c_int) -> $t {
                dot(false, n, x, incx, y, incy).map(|sum| sum.re as $t)
            }
        }
        rank_one!($t, $t, $ger, false);
    };
}

macro_rules! of_complex_type {
    ($r:ty; $real_scal:ident $dotu:ident $dotc:ident $geru:ident $gerc:ident $hemm:ident $herk:ident $her2k:ident) => {
        symbols! {
            fn $real_scal(n: c_int, alpha: $r, x: *mut Complex<$r>, incx: c_int) { scal(n, alpha, x, incx) }
            fn $dotu(
                n: c_int, x: *const Complex<$r>, incx: c_int, y: *const Complex<$r>, incy: c_int,
                result: *mut Complex<$r>,
            ) {
                dot(false, n, x, incx, y, incy).map(|sum| *result = Complex::new(sum.re as $r, sum.im as $r))
            }
            fn $dotc(
                n: c_int, x: *const Complex<$r>, incx: c_int, y: *const Complex<$r>, incy: c_int,
                result: *mut Complex<$r>,
            ) {
                dot(true, n, x, incx, y, incy).map(|sum| *result = Complex::new(sum.re as $r, sum.im as $r))
            }
            fn $herk(
                layout: c_int, triangle: c_int, op: c_int, n: c_int, k: c_int, alpha: $r, a: *const Complex<$r>,
                lda: c_int, beta: $r, c: *mut Complex<$r>, ldc: c_int,
            ) {
                herk(order(layout), number(triangle), number(op), [n, k], alpha, a, lda, beta, c, ldc)
            }
            fn $her2k(
                layout: c_int, triangle: c_int, op: c_int, n: c_int, k: c_int, alpha: *const Complex<$r>,
                a: *const Complex<$r>, lda: c_int, b: *const Complex<$r>, ldb: c_int, beta: $r,
                c: *mut Complex<$r>, ldc: c_int,
            ) {
                her2k(order(layout), number(triangle), number(op), [n, k], *alpha, a, lda, b, ldb, beta, c, ldc)
            }
        }
        rank_one!(Complex<$r>, *const Complex<$r>, $geru, false);
        rank_one!(Complex<$r>, *const Complex<$r>, $gerc, true);
        symmetric!(Complex<$r>, *const Complex<$r>, $hemm, true);
    };
}

of_every_type!(f32, f32, f32; cblas_saxpy cblas_scopy cblas_sswap cblas_sscal cblas_snrm2 cblas_sasum cblas_isamax
    cblas_sgemv cblas_sgemm cblas_ssymm cblas_ssyrk cblas_ssyr2k
    cblas_strmm cblas_strsm);
of_every_type!(f64, f64, f64; cblas_daxpy cblas_dcopy cblas_dswap cblas_dscal cblas_dnrm2 cblas_dasum cblas_idamax
    cblas_dgemv cblas_dgemm cblas_dsymm cblas_dsyrk cblas_dsyr2k
    cblas_dtrmm cblas_dtrsm);
of_every_type!(Complex<f32>, *const Complex<f32>, f32; cblas_caxpy cblas_ccopy cblas_cswap cblas_cscal cblas_scnrm2
    cblas_scasum cblas_icamax cblas_cgemv cblas_cgemm cblas_csymm cblas_csyrk cblas_csyr2k
    cblas_ctrmm cblas_ctrsm);
of_every_type!(Complex<f64>, *const Complex<f64>, f64; cblas_zaxpy cblas_zcopy cblas_zswap cblas_zscal cblas_dznrm2
    cblas_dzasum cblas_izamax cblas_zgemv cblas_zgemm cblas_zsymm cblas_zsyrk cblas_zsyr2k
    cblas_ztrmm cblas_ztrsm);
of_real_type!(f32; cblas_sdot cblas_sger);
of_real_type!(f64; cblas_ddot cblas_dger);
of_complex_type!(f32; cblas_csscal cblas_cdotu_sub cblas_cdotc_sub cblas_cgeru cblas_cgerc cblas_chemm cblas_cherk cblas_cher2k);
of_complex_type!(f64; cblas_zdscal cblas_zdotu_sub cblas_zdotc_sub cblas_zgeru cblas_zgerc cblas_zhemm cblas_zherk cblas_zher2k);

// Sums of products in single precision, added up in double. The library always sums so.
symbols! {
    fn cblas_dsdot(n: c_int, x: *const f32, incx: c_int, y: *const f32, incy: c_int) -> f64 {
        dot(false, n, x, incx, y, incy).map(|sum| sum.re)
    }
    fn cblas_sdsdot(n: c_int, b: f32, x: *const f32, incx: c_int, y: *const f32, incy: c_int) -> f32 {
        dot(false, n, x, incx, y, incy).map(|sum| (f64::from(b) + sum.re) as f32)
    }
}
