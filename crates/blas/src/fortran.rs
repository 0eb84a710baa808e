//! The symbols that Fortran calls.
//!
//! Every argument comes by its address. The hidden lengths of the letters come at the end.

use crate::arguments::letter;
use crate::operations::{
    asum, axpy, copy, dot, gemm, gemv, ger, her2k, herk, iamax, nrm2, scal, swap, symm, syr2k, syrk,
    triangular,
};
use crate::symbols;
use lattice_cl::blas::Order::ColumnMajor;
use num_complex::Complex;
use std::ffi::{c_char, c_int};

type Int = *const c_int;
type Letter = *const c_char;

macro_rules! of_every_type {
    ($t:ty, $r:ty; $axpy:ident $copy:ident $swap:ident $scal:ident $nrm2:ident $asum:ident $iamax:ident
     $gemv:ident $gemm:ident $symm:ident $syrk:ident $syr2k:ident $trmm:ident $trsm:ident) => {
        symbols! {
            fn $axpy(n: Int, alpha: *const $t, x: *const $t, incx: Int, y: *mut $t, incy: Int) {
                axpy(*n, *alpha, x, *incx, y, *incy)
            }
            fn $copy(n: Int, x: *const $t, incx: Int, y: *mut $t, incy: Int) { copy(*n, x, *incx, y, *incy) }
            fn $swap(n: Int, x: *mut $t, incx: Int, y: *mut $t, incy: Int) { swap(*n, x, *incx, y, *incy) }
            fn $scal(n: Int, alpha: *const $t, x: *mut $t, incx: Int) { scal(*n, *alpha, x, *incx) }
            fn $nrm2(n: Int, x: *const $t, incx: Int) -> $r { nrm2(*n, x, *incx).map(|norm| norm as $r) }
            fn $asum(n: Int, x: *const $t, incx: Int) -> $r { asum(*n, x, *incx).map(|sum| sum as $r) }
            fn $iamax(n: Int, x: *const $t, incx: Int) -> c_int {
                iamax(*n, x, *incx).map(|number| number as c_int + 1)
            }
            fn $gemv(
                op: Letter, m: Int, n: Int, alpha: *const $t, a: *const $t, lda: Int, x: *const $t, incx: Int,
                beta: *const $t, y: *mut $t, incy: Int, length: usize,
            ) {
                gemv(Some(ColumnMajor), letter(op), [*m, *n], *alpha, a, *lda, x, *incx, *beta, y, *incy)
            }
            fn $gemm(
                op_a: Letter, op_b: Letter, m: Int, n: Int, k: Int, alpha: *const $t, a: *const $t, lda: Int,
                b: *const $t, ldb: Int, beta: *const $t, c: *mut $t, ldc: Int, length_a: usize, length_b: usize,
            ) {
                gemm(
                    Some(ColumnMajor), [letter(op_a), letter(op_b)], [*m, *n, *k],
                    *alpha, a, *lda, b, *ldb, *beta, c, *ldc,
                )
            }
            fn $syrk(
                triangle: Letter, op: Letter, n: Int, k: Int, alpha: *const $t, a: *const $t, lda: Int,
                beta: *const $t, c: *mut $t, ldc: Int, length_a: usize, length_b: usize,
            ) {
                syrk(Some(ColumnMajor), letter(triangle), letter(op), [*n, *k], *alpha, a, *lda, *beta, c, *ldc)
            }
            fn $syr2k(
                triangle: Letter, op: Letter, n: Int, k: Int, alpha: *const $t, a: *const $t, lda: Int,
                b: *const $t, ldb: Int, beta: *const $t, c: *mut $t, ldc: Int, length_a: usize, length_b: usize,
            ) {
                syr2k(
                    Some(ColumnMajor), letter(triangle), letter(op), [*n, *k],
                    *alpha, a, *lda, b, *ldb, *beta, c, *ldc,
                )
            }
        }
        symmetric!($t, $symm, false);
        triangular!($t, $trmm, false);
        triangular!($t, $trsm, true);
    };
}

macro_rules! triangular {
    ($t:ty, $name:ident, $solves:literal) => {
        symbols! {
            fn $name(
                side: Letter, triangle: Letter, op: Letter, diagonal: Letter, m: Int, n: Int, alpha: *const $t,
                a: *const $t, lda: Int, b: *mut $t, ldb: Int,
                length_a: usize, length_b: usize, length_c: usize, length_d: usize,
            ) {
                triangular(
                    $solves, Some(ColumnMajor), letter(side), letter(triangle), letter(op), letter(diagonal),
                    [*m, *n], *alpha, a, *lda, b, *ldb,
                )
            }
        }
    };
}

macro_rules! symmetric {
    ($t:ty, $name:ident, $hermitian:literal) => {
        symbols! {
            fn $name(
                side: Letter, triangle: Letter, m: Int, n: Int, alpha: *const $t, a: *const $t, lda: Int,
                b: *const $t, ldb: Int, beta: *const $t, c: *mut $t, ldc: Int, length_a: usize, length_b: usize,
            ) {
                symm(
                    $hermitian, Some(ColumnMajor), letter(side), letter(triangle), [*m, *n],
                    *alpha, a, *lda, b, *ldb, *beta, c, *ldc,
                )
            }
        }
    };
}

macro_rules! rank_one {
    ($t:ty, $name:ident, $conjugate:literal) => {
        symbols! {
            fn $name(
                m: Int, n: Int, alpha: *const $t, x: *const $t, incx: Int, y: *const $t, incy: Int, a: *mut $t,
                lda: Int,
            ) {
                ger(Some(ColumnMajor), $conjugate, [*m, *n], *alpha, x, *incx, y, *incy, a, *lda)
            }
        }
    };
}

macro_rules! of_real_type {
    ($t:ty; $dot:ident $ger:ident) => {
        symbols! {
            fn $dot(n: Int, x: *const $t, incx: Int, y: *const $t, incy: Int) -> $t {
                dot(false, *n, x, *incx, y, *incy).map(|sum| sum.re as $t)
            }
        }
        rank_one!($t, $ger, false);
    };
}

macro_rules! of_complex_type {
    ($r:ty; $real_scal:ident $dotu:ident $dotc:ident $geru:ident $gerc:ident $hemm:ident $herk:ident $her2k:ident) => {
        symbols! {
            fn $real_scal(n: Int, alpha: *const $r, x: *mut Complex<$r>, incx: Int) { scal(*n, *alpha, x, *incx) }
            fn $dotu(n: Int, x: *const Complex<$r>, incx: Int, y: *const Complex<$r>, incy: Int) -> Complex<$r> {
                dot(false, *n, x, *incx, y, *incy).map(|sum| Complex::new(sum.re as $r, sum.im as $r))
            }
            fn $dotc(n: Int, x: *const Complex<$r>, incx: Int, y: *const Complex<$r>, incy: Int) -> Complex<$r> {
                dot(true, *n, x, *incx, y, *incy).map(|sum| Complex::new(sum.re as $r, sum.im as $r))
            }
            fn $herk(
                triangle: Letter, op: Letter, n: Int, k: Int, alpha: *const $r, a: *const Complex<$r>, lda: Int,
                beta: *const $r, c: *mut Complex<$r>, ldc: Int, length_a: usize, length_b: usize,
            ) {
                herk(Some(ColumnMajor), letter(triangle), letter(op), [*n, *k], *alpha, a, *lda, *beta, c, *ldc)
            }
            fn $her2k(
                triangle: Letter, op: Letter, n: Int, k: Int, alpha: *const Complex<$r>, a: *const Complex<$r>,
                lda: Int, b: *const Complex<$r>, ldb: Int, beta: *const $r, c: *mut Complex<$r>, ldc: Int,
                length_a: usize, length_b: usize,
            ) {
                her2k(
                    Some(ColumnMajor), letter(triangle), letter(op), [*n, *k],
                    *alpha, a, *lda, b, *ldb, *beta, c, *ldc,
                )
            }
        }
        rank_one!(Complex<$r>, $geru, false);
        rank_one!(Complex<$r>, $gerc, true);
        symmetric!(Complex<$r>, $hemm, true);
    };
}

of_every_type!(f32, f32; saxpy_ scopy_ sswap_ sscal_ snrm2_ sasum_ isamax_ sgemv_ sgemm_ ssymm_ ssyrk_
    ssyr2k_ strmm_ strsm_);
of_every_type!(f64, f64; daxpy_ dcopy_ dswap_ dscal_ dnrm2_ dasum_ idamax_ dgemv_ dgemm_ dsymm_ dsyrk_
    dsyr2k_ dtrmm_ dtrsm_);
of_every_type!(Complex<f32>, f32; caxpy_ ccopy_ cswap_ cscal_ scnrm2_ scasum_ icamax_ cgemv_ cgemm_ csymm_ csyrk_
    csyr2k_ ctrmm_ ctrsm_);
of_every_type!(Complex<f64>, f64; zaxpy_ zcopy_ zswap_ zscal_ dznrm2_ dzasum_ izamax_ zgemv_ zgemm_ zsymm_ zsyrk_
    zsyr2k_ ztrmm_ ztrsm_);
of_real_type!(f32; sdot_ sger_);
of_real_type!(f64; ddot_ dger_);
of_complex_type!(f32; csscal_ cdotu_ cdotc_ cgeru_ cgerc_ chemm_ cherk_ cher2k_);
of_complex_type!(f64; zdscal_ zdotu_ zdotc_ zgeru_ zgerc_ zhemm_ zherk_ zher2k_);

// Sums of products in single precision, added up in double. The library always sums so.
symbols! {
    fn dsdot_(n: Int, x: *const f32, incx: Int, y: *const f32, incy: Int) -> f64 {
        dot(false, *n, x, *incx, y, *incy).map(|sum| sum.re)
    }
    fn sdsdot_(n: Int, b: *const f32, x: *const f32, incx: Int, y: *const f32, incy: Int) -> f32 {
        dot(false, *n, x, *incx, y, *incy).map(|sum| (f64::from(*b) + sum.re) as f32)
    }
}
