//! Singular values and vectors of dense matrices.
//!
//! Matrices with more rows than columns are factorised by QR first. What is left is square. A polar
//! decomposition and the eigenvalues of its Hermitian factor follow, or one-sided Jacobi rotations.

mod basis;
mod jacobi;
mod kernels;
mod polar;

use super::check_rows;
use super::info::{Info, Word};
use super::qr::{geqrf, unmqr};
use super::scale::{fill_with_nan, real_factor, scale_of};
use crate::block::Block;
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::level2::{check_device, check_extent, check_single};
use crate::level3::Side;
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use crate::op::Op;
use crate::triangular::{Kernels as TriangleKernels, clear};
use lattice_compute::scalar::{Element, ElementType, Precision, Real};
use lattice_compute::{Buffer, BufferViewMut, Device};

/// Most columns that [`SvdMethod::Auto`] leaves to rotations.
const MOST_ROTATED: usize = 64;

/// The way in which singular values are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SvdMethod {
    /// Jacobi for small matrices, and the polar decomposition for others.
    #[default]
    Auto,
    /// Polar decomposition: errors are small beside the largest singular value.
    Polar,
    /// One-sided Jacobi rotations: errors are small beside each singular value.
    ///
    /// This holds if A is well conditioned after its columns have been divided by their norms, or its
    /// rows if it has fewer rows than columns. It takes many times longer for large matrices.
    Jacobi,
}

lattice_files::words! {
    SvdMethod, "method":
    Auto = "auto", "Jacobi for small matrices, polar for others";
    Polar = "polar", "Polar decomposition: errors are small beside the largest value";
    Jacobi = "jacobi", "Jacobi rotations: errors are small beside each value; slow for large matrices"
}

/// The places of singular vectors.
#[derive(Debug)]
pub struct SingularVectors<'a, T> {
    /// U, as many rows as A, and a column for each singular value or for each row.
    ///
    /// The columns beyond the singular values complete an orthonormal basis.
    pub u: MatMut<'a, T>,
    /// Vᴴ, a row for each singular value or for each column, and as many columns as A.
    pub vt: MatMut<'a, T>,
}

/// The parts of a matrix that is not wide.
struct Parts<T> {
    /// The singular values, the largest first.
    values: Vec<f64>,
    /// U and Vᴴ.
    vectors: Option<[Buffer<T>; 2]>,
    /// False if the last columns of U may be anything.
    complete: bool,
}

/// Computes A = U Σ Vᴴ: the singular values, the largest first, and singular vectors if wanted.
///
/// `values` has an element for each row or column of A, the fewer. A is only read. The call waits for
/// the device several times. It takes scratch memory for about eight matrices.
///
/// The [`Info`] is 1 if A has elements that are not finite, and 2 if the method did not converge. All
/// results are NaN then.
///
/// # Errors
/// [`BlasError::Shape`](crate::BlasError::Shape),
/// [`BlasError::SingleMatrix`](crate::BlasError::SingleMatrix),
/// [`BlasError::OtherDevice`](crate::BlasError::OtherDevice): nothing is started then.
/// [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels, memory is
/// short or the device fails.
pub fn gesvd<'p, T: Element>(
    a: MatRef<'_, T>,
    values: impl Into<BufferViewMut<'p, T::Real>>,
    vectors: Option<SingularVectors<'_, T>>,
) -> BlasResult<Info> {
    gesvd_with(SvdMethod::Auto, a, values, vectors)
}

/// Computes singular values as [`gesvd`] does, in a given way.
///
/// # Errors
/// The errors of [`gesvd`].
pub fn gesvd_with<'p, T: Element>(
    method: SvdMethod,
    a: MatRef<'_, T>,
    values: impl Into<BufferViewMut<'p, T::Real>>,
    vectors: Option<SingularVectors<'_, T>>,
) -> BlasResult<Info> {
    let (device, mut values) = (a.device().clone(), values.into());
    let (rows, columns, fewer) = (a.rows(), a.columns(), a.rows().min(a.columns()));
    check_single("gesvd", a.count())?;
    check_rows("gesvd", rows.max(columns))?;
    check_extent("gesvd", "values", "elements", fewer, values.len(), "as A has rows or columns")?;
    check_device("gesvd", "values", &device, values.device())?;
    if let Some(SingularVectors { u, vt }) = &vectors {
        // A basis has a vector for each singular value, or all.
        let count = |found: usize, all: usize| if found == all { all } else { fewer };
        let [of_u, of_vt] = [count(u.columns(), rows), count(vt.rows(), columns)];
        for (name, matrix, extents) in [("U", u, [rows, of_u]), ("Vᴴ", vt, [of_vt, columns])] {
            check_single("gesvd", matrix.count())?;
            check_extent("gesvd", name, "rows", extents[0], matrix.rows(), "as A asks for")?;
            check_extent("gesvd", name, "columns", extents[1], matrix.columns(), "as A asks for")?;
            check_device("gesvd", name, &device, matrix.device())?;
        }
    }
    if fewer == 0 {
        // Nothing is known of a whole basis, and every one will do.
        let places = vectors.map(|SingularVectors { u, vt }| [Block::of_mut(u), Block::of_mut(vt)]);
        let mut events = Vec::new();
        for place in places.into_iter().flatten().filter(|place| place.rows > 0 && place.columns > 0) {
            events.push(TriangleKernels::of(&device, ElementType::of::<T>())?.set_identity(place)?);
        }
        return Ok(Word::new(&device)?.with(Completion::of(events)));
    }
    // Aᵀ = V* Σ Uᵀ: it has the other factors, transposed.
    let wide = rows < columns;
    let to = vectors.map(|SingularVectors { u, vt }| {
        let (u, vt) = (Block::of_mut(u), Block::of_mut(vt));
        if wide { [vt.transposed(), u.transposed()] } else { [u, vt] }
    });
    let block = if wide { Block::of(a).transposed() } else { Block::of(a) };
    let (parts, info) = match scale_of(&device, block, None)? {
        None => (None, 1),
        Some(scale) => (decompose::<T>(&device, method, block, scale, to.is_some())?, 2),
    };
    let mut events = Vec::new();
    let Some(Parts { values: found, vectors: found_vectors, .. }) = parts else {
        values.write(&vec![T::Real::from_f64(f64::NAN); fewer])?;
        for place in to.into_iter().flatten() {
            events.push(fill_with_nan(&device, place)?);
        }
        return Ok(Word::found(&device, info)?.with(Completion::of(events)));
    };
    values.write(&found.into_iter().map(T::Real::from_f64).collect::<Vec<_>>())?;
    if let (Some(places), Some(mut found)) = (to, found_vectors) {
        let kernels = TriangleKernels::of(&device, ElementType::of::<T>())?;
        let extents = [[rows.max(columns), fewer], [fewer, fewer]];
        for ((place, from), [rows, columns]) in places.into_iter().zip(&found).zip(extents) {
            let from = Block::at(from.into(), &MatrixLayout::column_major(rows, columns));
            let place = place.part(0..rows, 0..columns);
            events.push(kernels.copy(from, place)?);
        }
        basis::rest(&device, &mut found[0], fewer, places[0], &mut events)?;
    }
    Ok(Word::new(&device)?.with(Completion::of(events)))
}

/// Computes the parts of a matrix with at least as many rows as columns.
///
/// `None` if the method does not converge.
fn decompose<T: Element>(
    device: &Device,
    method: SvdMethod,
    block: Block<'_>,
    scale: f64,
    with_vectors: bool,
) -> BlasResult<Option<Parts<T>>> {
    let (rows, n) = (block.rows, block.columns);
    let epsilon = match T::Real::PRECISION {
        Precision::Single => f32::EPSILON.into(),
        Precision::Double => f64::EPSILON,
    };
    let rotates = match method {
        SvdMethod::Auto => n <= MOST_ROTATED,
        SvdMethod::Polar => false,
        SvdMethod::Jacobi => true,
    };
    let tall = MatrixLayout::column_major(rows, n);
    let kernels = TriangleKernels::of(device, ElementType::of::<T>())?;
    let mut x = Buffer::<T>::uninitialised(device, rows * n)?;
    kernels.copy_scaled(real_factor::<T>(scale).into(), block, Block::at((&mut x).into(), &tall))?;
    let solve = |square| decompose_square(device, rotates, square, n, epsilon, with_vectors);
    let parts = if rows == n {
        solve(x)?
    } else {
        let mut tau = Buffer::<T>::uninitialised(device, n)?;
        geqrf(MatMut::new(&mut x, tall)?, &mut tau)?;
        let mut r = Buffer::<T>::uninitialised(device, n * n)?;
        let upper = Block::at((&x).into(), &tall).rows_of(0..n);
        kernels.spread_diagonal(n, upper, false, false, (&mut r).into())?;
        solve(r)?.map(|parts| parts.after_qr(device, &x, &tau, tall)).transpose()?
    };
    Ok(parts.map(|parts| parts.divided_by(scale)))
}

/// Computes the parts of a square matrix, with U complete.
fn decompose_square<T: Element>(
    device: &Device,
    rotates: bool,
    x: Buffer<T>,
    n: usize,
    epsilon: f64,
    with_vectors: bool,
) -> BlasResult<Option<Parts<T>>> {
    let parts = if rotates {
        jacobi::decompose(device, x, [n, n], epsilon)?
    } else {
        polar::decompose(device, x, n, epsilon, with_vectors)?
    };
    let Some(mut parts) = parts else { return Ok(None) };
    if let (false, Some([u, _])) = (parts.complete, &mut parts.vectors) {
        basis::complete(device, u, n)?;
        parts.complete = true;
    }
    Ok(Some(parts))
}

impl<T: Element> Parts<T> {
    /// Returns the parts of Q R, with the reflectors of Q, if these are those of R.
    fn after_qr(
        self,
        device: &Device,
        reflectors: &Buffer<T>,
        tau: &Buffer<T>,
        tall: MatrixLayout,
    ) -> BlasResult<Self> {
        let Some([u, vt]) = self.vectors else { return Ok(self) };
        let n = tall.columns;
        let mut turned = Buffer::<T>::uninitialised(device, tall.rows * n)?;
        let to = Block::at((&mut turned).into(), &tall);
        clear(device, to.rows_of(n..tall.rows))?;
        let from = Block::at((&u).into(), &MatrixLayout::column_major(n, n));
        TriangleKernels::of(device, ElementType::of::<T>())?.copy(from, to.rows_of(0..n))?;
        unmqr(Side::Left, Op::N, MatRef::new(reflectors, tall)?, tau, MatMut::new(&mut turned, tall)?)?;
        Ok(Self { vectors: Some([turned, vt]), ..self })
    }

    fn divided_by(mut self, scale: f64) -> Self {
        self.values.iter_mut().for_each(|value| *value /= scale);
        self
    }
}
