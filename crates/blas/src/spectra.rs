//! Eigenvalues, singular values and constrained least squares of the caller's matrices; `None`
//! passes a call on.
//!
//! The next library answers calls that do not converge, and matrices with elements that are not
//! finite.
//!
//! # Safety
//! All functions ask for the same as LAPACK. Pointers refer to matrices and vectors of these extents
//! and leading dimensions. Results may be written.

use crate::arguments::{check_work, extent, leading};
use crate::balance::worth;
use crate::check::{Compared, ReturnValue};
use crate::devices::{device, done};
use crate::factor::{columns, volume};
use crate::level3::area;
use crate::operands::{Matrix, store_numbers};
use crate::operations::some;
use lattice_compute::Buffer;
use lattice_compute::scalar::Element;
use lattice_linalg::factor::{Eigenvectors, SingularVectors, gesvd, gglse as solve, heevd as spectrum};
use lattice_linalg::{MatrixLayout, Triangle};

/// Says in a workspace of real or whole numbers that it is long enough; `None` if it is not.
///
/// # Safety
/// `work` has `length` numbers.
pub unsafe fn check_room<V: ReturnValue>(
    work: *mut V,
    length: i64,
    wanted: usize,
    of: impl Fn(usize) -> V,
) -> Option<()> {
    extent(length).filter(|&length| length >= wanted)?;
    // SAFETY: the caller guarantees a number.
    unsafe { *work = of(wanted) };
    Some(())
}

/// Returns the numbers that `syevd` or `heevd` asks for: elements, real ones and whole ones.
fn eigen_rooms(complex: bool, vectors: bool, n: usize) -> [usize; 3] {
    match (complex, vectors) {
        _ if n <= 1 => [1, 1, 1],
        (false, false) => [2 * n + 1, 1, 1],
        (false, true) => [1 + 6 * n + 2 * n * n, 1, 3 + 5 * n],
        (true, false) => [n + 1, n, 1],
        (true, true) => [2 * n + n * n, 1 + 5 * n + 2 * n * n, 3 + 5 * n],
    }
}

/// Computes `syevd` or `heevd`.
///
/// `rooms` checks the workspaces that have no elements of `T`.
pub unsafe fn heevd<T: Element<Real: ReturnValue>>(
    job: char,
    triangle: Option<Triangle>,
    n: i64,
    a: *mut T,
    lda: i64,
    values: *mut T::Real,
    work: (*mut T, i64),
    rooms: impl FnOnce([usize; 2]) -> Option<()>,
) -> Option<usize> {
    let wanted = match job {
        'N' => Eigenvectors::Without,
        'V' => Eigenvectors::With,
        _ => return None,
    };
    let (triangle, n) = (triangle?, some(n)?);
    let a_layout = columns(n, n, lda)?;
    let with_vectors = wanted == Eigenvectors::With;
    let [elements, reals, numbers] = eigen_rooms(T::IS_COMPLEX, with_vectors, n);
    rooms([reals, numbers])?;
    // SAFETY: see above.
    unsafe { check_work(work.0, work.1, elements)? };
    worth::<T>(volume(n, n, n) * if with_vectors { 4.5 } else { 2.0 / 3.0 }, 2.0 * area(n, n))?;
    // SAFETY: see above.
    unsafe {
        let mut a = Matrix::new(a_layout, a)?;
        let mut found = done(Buffer::<T::Real>::uninitialised(a.device(), n))?;
        if done(done(spectrum(triangle, wanted, a.write()?, &mut found))?.wait())? != 0 {
            return None;
        }
        let found = done(found.to_vec())?;
        if with_vectors {
            // Phases are free, and so is every basis of a space of one eigenvalue.
            a.store_unlike(Compared::Nothing, |_, rows| 0..rows)?;
        }
        store_numbers(found, values);
    }
    Some(0)
}

/// The place of singular vectors on one side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SingularVectorJob {
    Nothing,
    /// As many as there are singular values, in a matrix of their own.
    Some,
    /// A whole basis.
    All,
    /// As many as there are singular values, in the place of A.
    InPlace,
}

impl SingularVectorJob {
    fn of_letter(job: char) -> Option<Self> {
        match job {
            'N' => Some(Self::Nothing),
            'S' => Some(Self::Some),
            'A' => Some(Self::All),
            'O' => Some(Self::InPlace),
            _ => None,
        }
    }
}

/// The operands of a call for singular values.
pub struct Singular<T: Element> {
    pub extents: [i64; 2],
    pub a: (*mut T, i64),
    pub values: *mut T::Real,
    pub u: (*mut T, i64),
    pub vt: (*mut T, i64),
    pub work: (*mut T, i64),
}

/// Computes `gesdd`.
pub unsafe fn gesdd<T: Element<Real: ReturnValue>>(job: char, operands: Singular<T>) -> Option<usize> {
    let job = SingularVectorJob::of_letter(job)?;
    let [m, n] = [some(operands.extents[0])?, some(operands.extents[1])?];
    let jobs = match job {
        SingularVectorJob::InPlace if m >= n => [job, SingularVectorJob::All],
        SingularVectorJob::InPlace => [SingularVectorJob::All, job],
        _ => [job; 2],
    };
    let room = if T::IS_COMPLEX { rooms::complex(job, m, n) } else { rooms::real(job, m, n) };
    // SAFETY: see above.
    unsafe { singular(jobs, room, [m, n], operands) }
}

/// Computes `gesvd` by the way of `gesdd`.
pub unsafe fn gesvd_of_letters<T: Element<Real: ReturnValue>>(
    jobs: [char; 2],
    operands: Singular<T>,
) -> Option<usize> {
    let jobs = [SingularVectorJob::of_letter(jobs[0])?, SingularVectorJob::of_letter(jobs[1])?];
    if jobs == [SingularVectorJob::InPlace; 2] {
        return None;
    }
    let [m, n] = [some(operands.extents[0])?, some(operands.extents[1])?];
    let fewer = m.min(n);
    let room = if T::IS_COMPLEX { 2 * fewer + m.max(n) } else { (3 * fewer + m.max(n)).max(5 * fewer) };
    // SAFETY: see above.
    unsafe { singular(jobs, room, [m, n], operands) }
}

/// Computes singular values, and vectors on the sides where they are wanted.
unsafe fn singular<T: Element<Real: ReturnValue>>(
    [of_u, of_vt]: [SingularVectorJob; 2],
    room: usize,
    [m, n]: [usize; 2],
    operands: Singular<T>,
) -> Option<usize> {
    let Singular { a: (a, lda), values, u: (u, ldu), vt: (vt, ldvt), work, .. } = operands;
    let fewer = m.min(n);
    let a_layout = columns(m, n, lda)?;
    // A side that is not asked for has a leading dimension too.
    let own = |wanted, length| {
        if matches!(wanted, SingularVectorJob::Some | SingularVectorJob::All) { length } else { 1 }
    };
    let of_vectors = |wanted, all| if wanted == SingularVectorJob::All { all } else { fewer };
    let ldu = leading(ldu, own(of_u, m))?;
    let ldvt = leading(ldvt, own(of_vt, of_vectors(of_vt, n)))?;
    let vectors = [of_u, of_vt].iter().any(|wanted| *wanted != SingularVectorJob::Nothing);
    // SAFETY: see above.
    unsafe { check_work(work.0, work.1, room)? };
    // Golub and Van Loan count 22 n³ operations with both bases, and 4 n³ without.
    let products = volume(m, n, fewer) * if vectors { 11.0 } else { 2.0 };
    worth::<T>(products, area(m, n) + if vectors { area(m, fewer) + area(fewer, n) } else { 0.0 })?;
    // SAFETY: see above.
    unsafe {
        let matrix = Matrix::new(a_layout, a)?;
        let mut found = done(Buffer::<T::Real>::uninitialised(device()?, fewer))?;
        let place = |wanted, to: *mut T, ld: usize| {
            if wanted == SingularVectorJob::InPlace { (a, lda as usize) } else { (to, ld) }
        };
        let (u, ldu) = place(of_u, u, ldu);
        let (vt, ldvt) = place(of_vt, vt, ldvt);
        let [u_layout, vt_layout] = [[m, of_vectors(of_u, m)], [of_vectors(of_vt, n), n]]
            .map(|[rows, columns]| MatrixLayout::column_major(rows, columns));
        let dense = |layout: MatrixLayout, ld: usize| layout.leading_dimension(ld.max(layout.rows));
        let outcome = if vectors {
            let mut u = Matrix::output(dense(u_layout, ldu), u)?;
            let mut vt = Matrix::output(dense(vt_layout, ldvt), vt)?;
            let vectors = SingularVectors { u: u.write()?, vt: vt.write()? };
            let info = done(done(gesvd(matrix.read()?, &mut found, Some(vectors)))?.wait())?;
            for (wanted, basis) in [(of_u, &u), (of_vt, &vt)] {
                if info == 0 && wanted != SingularVectorJob::Nothing {
                    basis.store_unlike(Compared::Nothing, |_, rows| 0..rows)?;
                }
            }
            info
        } else {
            done(done(gesvd::<T>(matrix.read()?, &mut found, None))?.wait())?
        };
        if outcome != 0 {
            return None;
        }
        store_numbers(done(found.to_vec())?, values);
    }
    Some(0)
}

/// The least workspaces of `gesdd`, by LAPACK 3.11.
mod rooms {
    use super::SingularVectorJob;

    /// Returns the longer and the shorter extent, and a fraction of the latter.
    fn sides(m: usize, n: usize, [over, under]: [usize; 2]) -> (usize, usize, usize) {
        let (long, short) = (m.max(n), m.min(n));
        (long, short, (short as f64 * over as f64 / under as f64) as usize)
    }

    pub fn real(job: SingularVectorJob, m: usize, n: usize) -> usize {
        let (m, n, tall) = sides(m, n, [11, 6]);
        let of_values = if job == SingularVectorJob::Nothing { 7 * n } else { 3 * n * n + 4 * n };
        if m >= tall {
            match job {
                SingularVectorJob::Nothing => of_values + n,
                SingularVectorJob::InPlace => of_values + 2 * n * n + 3 * n,
                SingularVectorJob::Some => of_values + n * n + 3 * n,
                SingularVectorJob::All => n * n + (3 * n + of_values).max(n + m),
            }
        } else {
            let more = if job == SingularVectorJob::InPlace { n * n } else { 0 };
            3 * n + m.max(more + of_values)
        }
    }

    pub fn complex(job: SingularVectorJob, m: usize, n: usize) -> usize {
        let (m, n, tall) = sides(m, n, [17, 9]);
        if m >= tall {
            match job {
                SingularVectorJob::Nothing => 3 * n,
                SingularVectorJob::InPlace => 2 * n * n + 3 * n,
                SingularVectorJob::Some => n * n + 3 * n,
                SingularVectorJob::All => n * n + (3 * n).max(n + m),
            }
        } else {
            2 * n + m + if job == SingularVectorJob::InPlace { n * n } else { 0 }
        }
    }
}

/// Solves by least squares under constraints.
pub unsafe fn gglse<T: Element>(
    [m, n, p]: [i64; 3],
    a: (*mut T, i64),
    b: (*mut T, i64),
    [c, d, x]: [*mut T; 3],
    work: (*mut T, i64),
) -> Option<usize> {
    let (m, n, p) = (extent(m)?, some(n)?, extent(p)?);
    if p > n || n > m + p {
        return None;
    }
    let (a_layout, b_layout) = (columns(m, n, a.1)?, columns(p, n, b.1)?);
    // SAFETY: see above.
    unsafe { check_work(work.0, work.1, m + n + p)? };
    worth::<T>(volume(m, n, n) + volume(p, n, p) + 2.0 * volume(m, n, p), 2.0 * area(m + p, n))?;
    // SAFETY: see above.
    unsafe {
        let (mut a, mut b) = (Matrix::new(a_layout, a.0)?, Matrix::new(b_layout, b.0)?);
        let column = |rows| MatrixLayout::column_major(rows, 1);
        let (mut c, mut d) = (Matrix::new(column(m), c)?, Matrix::new(column(p), d)?);
        let mut x = Matrix::output(column(n), x)?;
        let info = solve(a.write()?, b.write()?, c.write()?, d.write()?, x.write()?);
        let first = done(done(info)?.wait())?;
        if first == 0 {
            x.store()?;
        }
        for matrix in [&a, &b, &c, &d] {
            matrix.store_unlike(Compared::Nothing, |_, rows| 0..rows)?;
        }
        // 1 for B without full rank, 2 for A and B together.
        Some(if first == 0 { 0 } else { 1 + usize::from(first > p) })
    }
}
