//! The symbols that Fortran calls.
//!
//! Every argument comes by its address. The hidden lengths of the letters come at the end.

use crate::arguments::{Int as Address, Letter, at, letter};
use crate::level3::{gemm, rank_2k, rank_k, symm, triangular};
use crate::operations::{asum, axpy, copy, dot, gemv, ger, iamax, nrm2, scal, swap};
use crate::symbols;
use lattice_linalg::{self as blas, Order::ColumnMajor};
use num_complex::Complex;
use std::ffi::c_int;

macro_rules! of_every_type {
    ($i:tt; $t:ty, $r:ty; $axpy:ident $copy:ident $swap:ident $scal:ident $nrm2:ident $asum:ident $iamax:ident
     $gemv:ident $gemm:ident $symm:ident $syrk:ident $syr2k:ident $trmm:ident $trsm:ident) => {
        symbols! { $i;
            fn $axpy(n: Int, alpha: *const $t, x: *const $t, incx: Int, y: *mut $t, incy: Int) {
                axpy(at(n), *alpha, x, at(incx), y, at(incy))
            }
            fn $copy(n: Int, x: *const $t, incx: Int, y: *mut $t, incy: Int) { copy(at(n), x, at(incx), y, at(incy)) }
            fn $swap(n: Int, x: *mut $t, incx: Int, y: *mut $t, incy: Int) { swap(at(n), x, at(incx), y, at(incy)) }
            fn $scal(n: Int, alpha: *const $t, x: *mut $t, incx: Int) { scal(at(n), *alpha, x, at(incx)) }
            fn $nrm2(n: Int, x: *const $t, incx: Int) -> $r { nrm2(at(n), x, at(incx)).map(|norm| norm as $r) }
            fn $asum(n: Int, x: *const $t, incx: Int) -> $r { asum(at(n), x, at(incx)).map(|sum| sum as $r) }
            fn $iamax(n: Int, x: *const $t, incx: Int) -> Integer {
                iamax(at(n), x, at(incx)).map(|number| number as Integer + 1)
            }
            fn $gemv(
                op: Letter, m: Int, n: Int, alpha: *const $t, a: *const $t, lda: Int, x: *const $t, incx: Int,
                beta: *const $t, y: *mut $t, incy: Int, length: usize,
            ) {
                gemv(Some(ColumnMajor), letter(op), [at(m), at(n)], *alpha, a, at(lda), x, at(incx), *beta, y, at(incy))
            }
            fn $gemm(
                op_a: Letter, op_b: Letter, m: Int, n: Int, k: Int, alpha: *const $t, a: *const $t, lda: Int,
                b: *const $t, ldb: Int, beta: *const $t, c: *mut $t, ldc: Int, length_a: usize, length_b: usize,
            ) {
                gemm(
                    Some(ColumnMajor), [letter(op_a), letter(op_b)], [at(m), at(n), at(k)],
                    *alpha, a, at(lda), b, at(ldb), *beta, c, at(ldc),
                )
            }
            fn $syrk(
                triangle: Letter, op: Letter, n: Int, k: Int, alpha: *const $t, a: *const $t, lda: Int,
                beta: *const $t, c: *mut $t, ldc: Int, length_a: usize, length_b: usize,
            ) {
                rank_k(
                    false, Some(ColumnMajor), letter(triangle), letter(op), [at(n), at(k)], a, at(lda), c, at(ldc),
                    |triangle, op, a, c| blas::syrk(triangle, op, *alpha, a, *beta, c),
                )
            }
            fn $syr2k(
                triangle: Letter, op: Letter, n: Int, k: Int, alpha: *const $t, a: *const $t, lda: Int,
                b: *const $t, ldb: Int, beta: *const $t, c: *mut $t, ldc: Int, length_a: usize, length_b: usize,
            ) {
                rank_2k(
                    false, Some(ColumnMajor), letter(triangle), letter(op), [at(n), at(k)],
                    a, at(lda), b, at(ldb), c, at(ldc),
                    |triangle, op, a, b, c| blas::syr2k(triangle, op, *alpha, a, b, *beta, c),
                )
            }
        }
        symmetric!($i; $t, $symm, false);
        triangular!($i; $t, $trmm, false);
        triangular!($i; $t, $trsm, true);
    };
}

macro_rules! triangular {
    ($i:tt; $t:ty, $name:ident, $solves:literal) => {
        symbols! { $i;
            fn $name(
                side: Letter, triangle: Letter, op: Letter, diagonal: Letter, m: Int, n: Int, alpha: *const $t,
                a: *const $t, lda: Int, b: *mut $t, ldb: Int,
                length_a: usize, length_b: usize, length_c: usize, length_d: usize,
            ) {
                triangular(
                    $solves, Some(ColumnMajor), letter(side), letter(triangle), letter(op), letter(diagonal),
                    [at(m), at(n)], *alpha, a, at(lda), b, at(ldb),
                )
            }
        }
    };
}

macro_rules! symmetric {
    ($i:tt; $t:ty, $name:ident, $hermitian:literal) => {
        symbols! { $i;
            fn $name(
                side: Letter, triangle: Letter, m: Int, n: Int, alpha: *const $t, a: *const $t, lda: Int,
                b: *const $t, ldb: Int, beta: *const $t, c: *mut $t, ldc: Int, length_a: usize, length_b: usize,
            ) {
                symm(
                    $hermitian, Some(ColumnMajor), letter(side), letter(triangle), [at(m), at(n)],
                    *alpha, a, at(lda), b, at(ldb), *beta, c, at(ldc),
                )
            }
        }
    };
}

macro_rules! rank_one {
    ($i:tt; $t:ty, $name:ident, $conjugate:literal) => {
        symbols! { $i;
            fn $name(
                m: Int, n: Int, alpha: *const $t, x: *const $t, incx: Int, y: *const $t, incy: Int, a: *mut $t,
                lda: Int,
            ) {
                ger(Some(ColumnMajor), $conjugate, [at(m), at(n)], *alpha, x, at(incx), y, at(incy), a, at(lda))
            }
        }
    };
}

macro_rules! of_real_type {
    ($i:tt; $t:ty; $dot:ident $ger:ident) => {
        symbols! { $i;
            fn $dot(n: Int, x: *const $t, incx: Int, y: *const $t, incy: Int) -> $t {
                dot(false, at(n), x, at(incx), y, at(incy)).map(|sum| sum.re as $t)
            }
        }
        rank_one!($i; $t, $ger, false);
    };
}

macro_rules! of_complex_type {
    ($i:tt; $r:ty; $real_scal:ident $dotu:ident $dotc:ident $geru:ident $gerc:ident $hemm:ident $herk:ident $her2k:ident
     $gemm3m:ident $gemm:ident) => {
        symbols! { $i;
            fn $real_scal(n: Int, alpha: *const $r, x: *mut Complex<$r>, incx: Int) { scal(at(n), *alpha, x, at(incx)) }
            fn $dotu(n: Int, x: *const Complex<$r>, incx: Int, y: *const Complex<$r>, incy: Int) -> Complex<$r> {
                dot(false, at(n), x, at(incx), y, at(incy)).map(|sum| Complex::new(sum.re as $r, sum.im as $r))
            }
            fn $dotc(n: Int, x: *const Complex<$r>, incx: Int, y: *const Complex<$r>, incy: Int) -> Complex<$r> {
                dot(true, at(n), x, at(incx), y, at(incy)).map(|sum| Complex::new(sum.re as $r, sum.im as $r))
            }
            fn $herk(
                triangle: Letter, op: Letter, n: Int, k: Int, alpha: *const $r, a: *const Complex<$r>, lda: Int,
                beta: *const $r, c: *mut Complex<$r>, ldc: Int, length_a: usize, length_b: usize,
            ) {
                rank_k(
                    true, Some(ColumnMajor), letter(triangle), letter(op), [at(n), at(k)], a, at(lda), c, at(ldc),
                    |triangle, op, a, c| blas::herk(triangle, op, *alpha, a, *beta, c),
                )
            }
            fn $her2k(
                triangle: Letter, op: Letter, n: Int, k: Int, alpha: *const Complex<$r>, a: *const Complex<$r>,
                lda: Int, b: *const Complex<$r>, ldb: Int, beta: *const $r, c: *mut Complex<$r>, ldc: Int,
                length_a: usize, length_b: usize,
            ) {
                rank_2k(
                    true, Some(ColumnMajor), letter(triangle), letter(op), [at(n), at(k)],
                    a, at(lda), b, at(ldb), c, at(ldc),
                    |triangle, op, a, b, c| blas::her2k(triangle, op, *alpha, a, b, *beta, c),
                )
            }
        }
        symbols! { $i;
            fn $gemm3m or $gemm(
                op_a: Letter, op_b: Letter, m: Int, n: Int, k: Int, alpha: *const Complex<$r>, a: *const Complex<$r>,
                lda: Int, b: *const Complex<$r>, ldb: Int, beta: *const Complex<$r>, c: *mut Complex<$r>, ldc: Int,
                length_a: usize, length_b: usize,
            ) {
                gemm(
                    Some(ColumnMajor), [letter(op_a), letter(op_b)], [at(m), at(n), at(k)],
                    *alpha, a, at(lda), b, at(ldb), *beta, c, at(ldc),
                )
            }
        }
        rank_one!($i; Complex<$r>, $geru, false);
        rank_one!($i; Complex<$r>, $gerc, true);
        symmetric!($i; Complex<$r>, $hemm, true);
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
            type Int = Address<$integer>;

            of_every_type!($names; f32, f32; saxpy scopy sswap sscal snrm2 sasum isamax sgemv sgemm ssymm ssyrk
                ssyr2k strmm strsm);
            of_every_type!($names; f64, f64; daxpy dcopy dswap dscal dnrm2 dasum idamax dgemv dgemm dsymm dsyrk
                dsyr2k dtrmm dtrsm);
            of_every_type!($names; Complex<f32>, f32; caxpy ccopy cswap cscal scnrm2 scasum icamax cgemv cgemm csymm csyrk
                csyr2k ctrmm ctrsm);
            of_every_type!($names; Complex<f64>, f64; zaxpy zcopy zswap zscal dznrm2 dzasum izamax zgemv zgemm zsymm zsyrk
                zsyr2k ztrmm ztrsm);
            of_real_type!($names; f32; sdot sger);
            of_real_type!($names; f64; ddot dger);
            of_complex_type!($names; f32; csscal cdotu cdotc cgeru cgerc chemm cherk cher2k cgemm3m cgemm);
            of_complex_type!($names; f64; zdscal zdotu zdotc zgeru zgerc zhemm zherk zher2k zgemm3m zgemm);

            // Sums of products in single precision, added up in double. The library always sums so.
            symbols! { $names;
                fn dsdot(n: Int, x: *const f32, incx: Int, y: *const f32, incy: Int) -> f64 {
                    dot(false, at(n), x, at(incx), y, at(incy)).map(|sum| sum.re)
                }
                fn sdsdot(n: Int, b: *const f32, x: *const f32, incx: Int, y: *const f32, incy: Int) -> f32 {
                    dot(false, at(n), x, at(incx), y, at(incy)).map(|sum| (f64::from(*b) + sum.re) as f32)
                }
            }
        }
    };
}

interface!(plain, c_int, ["" "_"]);
interface!(plain_wide, i64, ["" "_64_"]);
// The names of the library in the wheels of NumPy and SciPy.
interface!(scipy, c_int, ["scipy_" "_"]);
interface!(scipy_wide, i64, ["scipy_" "_64_"]);
