//! The symbols of LAPACK.
//!
//! Every argument comes by its address. The hidden lengths of the letters come at the end. `info` is
//! written last, and tells how the call went.

use crate::arguments::{Int as Address, Letter, at, letter};
use crate::factor::{gesv, getrf, getri, getrs, posv, potrf, potri, potrs, tell};
use crate::orthogonal::{gels, geqrf, ungqr, unmqr};
use crate::symbols;
use num_complex::Complex;
use std::ffi::c_int;

macro_rules! of_every_type {
    ($i:tt; $t:ty; $potrf:ident $potrs:ident $potri:ident $posv:ident $getrf:ident $getrs:ident $getri:ident $gesv:ident
     $geqrf:ident $unmqr:ident $ungqr:ident $gels:ident) => {
        symbols! { $i;
            fn $potrf(triangle: Letter, n: Int, a: *mut $t, lda: Int, info: *mut Integer, length: usize) {
                potrf(letter(triangle), at(n), a, at(lda)).map(|found| tell(info, found))
            }
            fn $potrs(
                triangle: Letter, n: Int, sides: Int, a: *const $t, lda: Int, b: *mut $t, ldb: Int,
                info: *mut Integer, length: usize,
            ) {
                potrs(letter(triangle), [at(n), at(sides)], a, at(lda), b, at(ldb))
                    .map(|found| tell(info, found))
            }
            fn $potri(triangle: Letter, n: Int, a: *mut $t, lda: Int, info: *mut Integer, length: usize) {
                potri(letter(triangle), at(n), a, at(lda)).map(|found| tell(info, found))
            }
            fn $getri(
                n: Int, a: *mut $t, lda: Int, pivots: *const Integer, work: *mut $t, work_length: Int,
                info: *mut Integer,
            ) {
                getri(at(n), a, at(lda), pivots, work, at(work_length)).map(|found| tell(info, found))
            }
            fn $posv(
                triangle: Letter, n: Int, sides: Int, a: *mut $t, lda: Int, b: *mut $t, ldb: Int,
                info: *mut Integer, length: usize,
            ) {
                posv(letter(triangle), [at(n), at(sides)], a, at(lda), b, at(ldb))
                    .map(|found| tell(info, found))
            }
            fn $getrf(m: Int, n: Int, a: *mut $t, lda: Int, pivots: *mut Integer, info: *mut Integer) {
                getrf([at(m), at(n)], a, at(lda), pivots).map(|found| tell(info, found))
            }
            fn $getrs(
                op: Letter, n: Int, sides: Int, a: *const $t, lda: Int, pivots: *const Integer, b: *mut $t,
                ldb: Int, info: *mut Integer, length: usize,
            ) {
                getrs(letter(op), [at(n), at(sides)], a, at(lda), pivots, b, at(ldb))
                    .map(|found| tell(info, found))
            }
            fn $gesv(
                n: Int, sides: Int, a: *mut $t, lda: Int, pivots: *mut Integer, b: *mut $t, ldb: Int,
                info: *mut Integer,
            ) {
                gesv([at(n), at(sides)], a, at(lda), pivots, b, at(ldb)).map(|found| tell(info, found))
            }
            fn $geqrf(
                m: Int, n: Int, a: *mut $t, lda: Int, tau: *mut $t, work: *mut $t, work_length: Int,
                info: *mut Integer,
            ) {
                geqrf([at(m), at(n)], a, at(lda), tau, work, at(work_length))
                    .map(|found| tell(info, found))
            }
            fn $unmqr(
                side: Letter, op: Letter, m: Int, n: Int, k: Int, a: *const $t, lda: Int, tau: *const $t,
                c: *mut $t, ldc: Int, work: *mut $t, work_length: Int, info: *mut Integer,
                length_a: usize, length_b: usize,
            ) {
                unmqr(
                    letter(side), letter(op), [at(m), at(n), at(k)], a, at(lda), tau, c, at(ldc),
                    work, at(work_length),
                ).map(|found| tell(info, found))
            }
            fn $ungqr(
                m: Int, n: Int, k: Int, a: *mut $t, lda: Int, tau: *const $t, work: *mut $t, work_length: Int,
                info: *mut Integer,
            ) {
                ungqr([at(m), at(n), at(k)], a, at(lda), tau, work, at(work_length))
                    .map(|found| tell(info, found))
            }
            fn $gels(
                op: Letter, m: Int, n: Int, sides: Int, a: *mut $t, lda: Int, b: *mut $t, ldb: Int,
                work: *mut $t, work_length: Int, info: *mut Integer, length: usize,
            ) {
                gels(
                    letter(op), [at(m), at(n), at(sides)], a, at(lda), b, at(ldb), work, at(work_length),
                ).map(|found| tell(info, found))
            }
        }
    };
}

/// Defines the symbols with integers of one length, see `fortran.rs`.
macro_rules! interface {
    ($module:ident, $integer:ty, $names:tt) => {
        mod $module {
            use super::*;

            type Integer = $integer;
            type Int = Address<$integer>;

            of_every_type!($names; f32; spotrf spotrs spotri sposv sgetrf sgetrs sgetri sgesv sgeqrf sormqr sorgqr sgels);
            of_every_type!($names; f64; dpotrf dpotrs dpotri dposv dgetrf dgetrs dgetri dgesv dgeqrf dormqr dorgqr dgels);
            of_every_type!($names; Complex<f32>;
                cpotrf cpotrs cpotri cposv cgetrf cgetrs cgetri cgesv cgeqrf cunmqr cungqr cgels);
            of_every_type!($names; Complex<f64>;
                zpotrf zpotrs zpotri zposv zgetrf zgetrs zgetri zgesv zgeqrf zunmqr zungqr zgels);
        }
    };
}

interface!(plain, c_int, ["" "_"]);
interface!(plain_wide, i64, ["" "_64_"]);
interface!(scipy, c_int, ["scipy_" "_"]);
interface!(scipy_wide, i64, ["scipy_" "_64_"]);
