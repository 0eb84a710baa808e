//! Factorisations of dense matrices on one device, after LAPACK.
//!
//! Names and contract are those of LAPACK.
//!
//! | matrix | factors | solution | inverse | both in one | owner |
//! |---|---|---|---|---|---|
//! | Hermitian, positive definite | [`potrf`] | [`potrs`] | [`potri`] | [`posv`] | [`Cholesky`] |
//! | square | [`getrf`] | [`getrs`] | [`getri`] | [`gesv`] | [`Lu`] |
//! | any | [`geqrf`], [`unmqr`], [`ungqr`] | | | [`gels`] | [`Qr`] |
//!
//! [`heevd`] finds eigenvalues and eigenvectors of Hermitian matrices, [`heevd_range`] some of them.
//! [`gesvd`] finds singular values and vectors of any matrix.
//! [`gglse`] solves least squares under linear constraints.
//!
//! Functions with LAPACK's names work in place on views of matrices. They return when the work is
//! enqueued. Factorisations return an [`Info`], which is read when it is waited for. The owners
//! keep a copy of the factors and solve as often as needed.
//!
//! Nearly all of the work is done by products. The kernels beside them are in `cl/cholesky.cl`,
//! `cl/lu.cl`, `cl/qr.cl`, `cl/tridiagonal.cl`, `cl/secular.cl` and `cl/jacobi.cl`, their twins in
//! [`host::cholesky`](crate::host::cholesky), [`host::lu`](crate::host::lu),
//! [`host::qr`](crate::host::qr), [`host::tridiagonal`](crate::host::tridiagonal),
//! [`host::secular`](crate::host::secular) and [`host::jacobi`](crate::host::jacobi). The twin of
//! `cl/sturm.cl` is [`tridiagonal_eigen`](lattice_solvers::tridiagonal_eigen).
//!
//! [`mixed_gesv`] and [`mixed_posv`] solve in double precision with factors in single.
//! Many small matrices are factorised at once by [`batch`].
//!
//! Pivots are counted from 0: row i was exchanged with row `pivots[i]`, in this order.

pub mod batch;
mod cholesky;
mod condition;
mod eigen;
mod info;
mod lu;
mod meeting;
mod mixed;
mod qr;
mod scale;
mod svd;

pub use crate::host::mixed::{MOST_STEPS, Wide};
pub(crate) use cholesky::potrf_columns;
pub use cholesky::{Cholesky, posv, potrf, potri, potrs};
pub use eigen::{Eigenvectors, heevd, heevd_range};
pub use info::Info;
pub use lu::{Determinant, Lu, gesv, getrf, getri, getrs};
pub use mixed::{FallBack, Refined, mixed_gesv, mixed_posv};
pub(crate) use qr::check_op;
pub use qr::{Qr, gels, geqrf, gglse, ungqr, unmqr};
pub use svd::{SingularVectors, SvdMethod, gesvd, gesvd_with};

use super::block::{Block, Operand};
use super::error::{BlasError, BlasResult};
use super::level2::{check_device, check_extent, check_single};
use super::level3::check_square;
use super::matrix::MatRef;
use super::triangular::Kernels;
use lattice_compute::scalar::Element;
use lattice_compute::{Buffer, Device};
use lattice_solvers::range::larger;
use num_complex::Complex;

/// Checks that a matrix has no more rows than kernels of factorisations count.
fn check_rows(operation: &'static str, rows: usize) -> BlasResult<()> {
    let most = u32::MAX as usize - 1;
    if rows <= most {
        return Ok(());
    }
    let (operand, reason) = ("A".to_owned(), "the most that a factorisation counts");
    Err(BlasError::Shape { operation, operand, extent: "rows", wanted: most, found: rows, reason })
}

/// Checks that right-hand sides B fit a square A, as X does that takes their place.
fn check_right_side(operation: &'static str, a: Operand<'_>, b: Operand<'_>) -> BlasResult<()> {
    check_square(operation, "A", a.block.rows, a.block.columns)?;
    check_extent(operation, "B", "rows", a.block.rows, b.block.rows, "as A has")?;
    check_single(operation, a.count)?;
    check_single(operation, b.count)?;
    check_device(operation, "A", b.device, a.device)
}

/// The sums of the sizes in each column of a matrix, on its device.
#[derive(Debug)]
struct ColumnSums(Buffer<f64>);

impl ColumnSums {
    /// Starts the sums.
    ///
    /// `triangle` is given for a Hermitian matrix: `Some(true)` for the lower one.
    fn start<T: Element>(a: MatRef<'_, T>, triangle: Option<bool>) -> BlasResult<Self> {
        Self::of_block(a.device(), Block::of(a), triangle)
    }

    /// Starts the sums of a block, as [`start`](Self::start) does.
    fn of_block(device: &Device, a: Block<'_>, triangle: Option<bool>) -> BlasResult<Self> {
        let columns = if a.rows == 0 { 0 } else { a.columns };
        let mut sums = Buffer::uninitialised(device, columns)?;
        if columns > 0 {
            Kernels::of(device, a.element)?.column_sums(a, triangle, (&mut sums).into())?;
        }
        Ok(Self(sums))
    }

    /// Waits for the sums and returns the largest, the 1-norm of the matrix.
    fn largest(&self) -> BlasResult<f64> {
        Ok(self.0.to_vec()?.into_iter().fold(0.0, larger))
    }
}

/// Returns the elements on the diagonal of a square matrix, in double.
fn diagonal<T: Element>(device: &Device, a: Block<'_>) -> BlasResult<Vec<Complex<f64>>> {
    if a.rows == 0 {
        return Ok(Vec::new());
    }
    let mut dense = Buffer::<T>::uninitialised(device, a.rows)?;
    let line = a.diagonal();
    let to = Block { leading_dimension: 1, elements: (&mut dense).into(), ..line };
    Kernels::of(device, a.element)?.copy(line, to)?;
    Ok(dense.to_vec()?.into_iter().map(Element::to_complex).collect())
}
