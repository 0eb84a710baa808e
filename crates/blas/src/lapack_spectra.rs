//! The symbols of LAPACK for eigenvalues, singular values and constrained least squares.
//!
//! See `lapack.rs`. Complex routines have a workspace of real numbers more.

use crate::arguments::{Int as Address, Letter, at, capital, letter};
use crate::factor::{Integer as _, tell};
use crate::spectra::{Singular, check_room, gesdd, gesvd_of_letters, gglse, heevd};
use crate::symbols;
use num_complex::Complex;
use std::ffi::c_int;

macro_rules! of_real_type {
    ($i:tt; $t:ty; $syevd:ident) => {
        symbols! { $i;
            fn $syevd(
                job: Letter, triangle: Letter, n: Int, a: *mut $t, lda: Int, values: *mut $t, work: *mut $t,
                work_length: Int, numbers: *mut Integer, numbers_length: Int, info: *mut Integer,
                length_a: usize, length_b: usize,
            ) {
                heevd(
                    capital(job), letter(triangle), at(n), a, at(lda), values, (work, at(work_length)),
                    |[_, whole]| check_room(numbers, at(numbers_length), whole, Integer::of),
                ).map(|found| tell(info, found))
            }
        }
    };
}

macro_rules! of_complex_type {
    ($i:tt; $r:ty, $t:ty; $heevd:ident) => {
        symbols! { $i;
            fn $heevd(
                job: Letter, triangle: Letter, n: Int, a: *mut $t, lda: Int, values: *mut $r, work: *mut $t,
                work_length: Int, reals: *mut $r, reals_length: Int, numbers: *mut Integer, numbers_length: Int,
                info: *mut Integer, length_a: usize, length_b: usize,
            ) {
                heevd(
                    capital(job), letter(triangle), at(n), a, at(lda), values, (work, at(work_length)),
                    |[real, whole]| {
                        check_room(reals, at(reals_length), real, |length| length as $r)?;
                        check_room(numbers, at(numbers_length), whole, Integer::of)
                    },
                ).map(|found| tell(info, found))
            }
        }
    };
}

/// Singular values. Complex routines name their workspace of real numbers.
macro_rules! singular {
    ($i:tt; $r:ty, $t:ty; $gesdd:ident $gesvd:ident $($reals:ident)?) => {
        symbols! { $i;
            fn $gesdd(
                job: Letter, m: Int, n: Int, a: *mut $t, lda: Int, values: *mut $r, u: *mut $t, ldu: Int,
                vt: *mut $t, ldvt: Int, work: *mut $t, work_length: Int, $($reals: *mut $r,)?
                numbers: *mut Integer, info: *mut Integer, length: usize,
            ) {
                gesdd(capital(job), Singular {
                    extents: [at(m), at(n)], a: (a, at(lda)), values, u: (u, at(ldu)), vt: (vt, at(ldvt)),
                    work: (work, at(work_length)),
                }).map(|found| tell(info, found))
            }
            fn $gesvd(
                job_u: Letter, job_vt: Letter, m: Int, n: Int, a: *mut $t, lda: Int, values: *mut $r, u: *mut $t,
                ldu: Int, vt: *mut $t, ldvt: Int, work: *mut $t, work_length: Int, $($reals: *mut $r,)?
                info: *mut Integer, length_a: usize, length_b: usize,
            ) {
                gesvd_of_letters([capital(job_u), capital(job_vt)], Singular {
                    extents: [at(m), at(n)], a: (a, at(lda)), values, u: (u, at(ldu)), vt: (vt, at(ldvt)),
                    work: (work, at(work_length)),
                }).map(|found| tell(info, found))
            }
        }
    };
}

macro_rules! of_every_type {
    ($i:tt; $($t:ty, $gglse:ident;)*) => {$(
        symbols! { $i;
            fn $gglse(
                m: Int, n: Int, p: Int, a: *mut $t, lda: Int, b: *mut $t, ldb: Int, c: *mut $t, d: *mut $t,
                x: *mut $t, work: *mut $t, work_length: Int, info: *mut Integer,
            ) {
                gglse([at(m), at(n), at(p)], (a, at(lda)), (b, at(ldb)), [c, d, x], (work, at(work_length)))
                    .map(|found| tell(info, found))
            }
        }
    )*};
}

/// Defines the symbols with integers of one length, see `fortran.rs`.
macro_rules! interface {
    ($module:ident, $integer:ty, $names:tt) => {
        mod $module {
            use super::*;

            type Integer = $integer;
            type Int = Address<$integer>;

            of_real_type!($names; f32; ssyevd);
            of_real_type!($names; f64; dsyevd);
            of_complex_type!($names; f32, Complex<f32>; cheevd);
            of_complex_type!($names; f64, Complex<f64>; zheevd);
            singular!($names; f32, f32; sgesdd sgesvd);
            singular!($names; f64, f64; dgesdd dgesvd);
            singular!($names; f32, Complex<f32>; cgesdd cgesvd reals);
            singular!($names; f64, Complex<f64>; zgesdd zgesvd reals);
            of_every_type!($names; f32, sgglse; f64, dgglse; Complex<f32>, cgglse; Complex<f64>, zgglse;);
        }
    };
}

interface!(plain, c_int, ["" "_"]);
interface!(plain_wide, i64, ["" "_64_"]);
interface!(scipy, c_int, ["scipy_" "_"]);
interface!(scipy_wide, i64, ["scipy_" "_64_"]);
