//! Eigenvalues and singular values of the matrices of a batch.

use super::info::BatchInfo;
use super::kernels::{BySize, Many};
use super::{check_small, many_mut};
use crate::completion::Completion;
use crate::error::{BlasError, BlasResult};
use crate::factor::eigen::Eigenvectors;
use crate::level2::{check_device, check_extent};
use crate::level3::{Triangle, check_square};
use crate::matrix::MatMut;
use crate::triangular::TRIANGLE_SOURCES;
use lattice_compute::scalar::{Element, ElementType, Precision};
use lattice_compute::{Argument, Buffer, BufferViewMut, Device, Event, KernelFamily, Result};
use std::sync::Arc;

const ROTATIONS: KernelFamily = KernelFamily::new(
    "batch_jacobi",
    &[
        TRIANGLE_SOURCES[0],
        TRIANGLE_SOURCES[1],
        include_str!("../../../cl/wide.cl"),
        include_str!("../../../cl/rotations.cl"),
        include_str!("../../../cl/batch_jacobi.cl"),
    ],
);

/// Starts the eigenvalues of each Hermitian matrix, and its eigenvectors in its place if wanted.
///
/// The contract is that of [`factor::heevd`](crate::factor::heevd()), with an `info` for each matrix,
/// which is 1 if an element is not finite or the matrix does not converge. `values` has as many
/// elements for each matrix as it has rows. The method is Jacobi's, in local memory.
///
/// # Errors
/// [`BlasError::NotSquare`]; [`BlasError::Shape`] for values of another number, more rows than
/// [`MOST_ROWS`](super::MOST_ROWS), or more than the device's local memory holds;
/// [`BlasError::OtherDevice`]: nothing is started then. [`BlasError::Device`] if a driver does not
/// take the kernels, memory is short or the device fails.
pub fn heev<'p, T: Element>(
    triangle: Triangle,
    wanted: Eigenvectors,
    a: MatMut<'_, T>,
    values: impl Into<BufferViewMut<'p, T::Real>>,
) -> BlasResult<BatchInfo> {
    let (operation, values) = ("heev of a batch", values.into());
    let (device, count, n) = (a.device().clone(), a.count(), a.rows());
    check_square(operation, "A", n, a.columns())?;
    check_extent(operation, "values", "elements", count * n, values.len(), "as all A have rows")?;
    check_device(operation, "values", &device, values.device())?;
    let kernels = Rotations::of(&device, ElementType::of::<T>())?;
    check_small(operation, [n, n], kernels.heev.most_rows())?;
    let mut words = Buffer::zeroed(&device, count)?;
    if count * n == 0 {
        return Ok(BatchInfo::new(Completion::nothing(), words));
    }
    // The upper triangle of A is the lower one of Aᵀ.
    let turned = triangle == Triangle::Upper;
    let matrices = if turned { many_mut(a).transposed() } else { many_mut(a) };
    let flags = [wanted == Eigenvectors::With, turned];
    let event = kernels.heev(&device, flags, matrices, values.into(), (&mut words).into())?;
    Ok(BatchInfo::new(Completion::of(vec![event]), words))
}

/// Starts A = U Σ Vᴴ of each matrix with at least as many rows as columns, with U in the place of A.
///
/// `values` has as many elements for each matrix as it has columns, the largest first. `v` gets V if
/// it is given. Columns of U for singular values that are zero complete an orthonormal basis. The
/// `info` of a matrix is 1 if an element is not finite or the matrix does not converge. All of its
/// results are NaN then. The method is Jacobi's, in local memory, as in LAPACK's `gesvj`.
///
/// # Errors
/// [`BlasError::Shape`] for other numbers of values, rows, columns or matrices of V, fewer rows than
/// columns, more rows than [`MOST_ROWS`](super::MOST_ROWS), or more than the device's local memory
/// holds; [`BlasError::OtherDevice`]: nothing is started then. [`BlasError::Device`] if a driver does
/// not take the kernels, memory is short or the device fails.
pub fn gesvj<'p, T: Element>(
    a: MatMut<'_, T>,
    values: impl Into<BufferViewMut<'p, T::Real>>,
    v: Option<MatMut<'_, T>>,
) -> BlasResult<BatchInfo> {
    let (operation, values) = ("gesvj of a batch", values.into());
    let (device, count, rows, n) = (a.device().clone(), a.count(), a.rows(), a.columns());
    if n > rows {
        let (operand, reason) = ("A".to_owned(), "as it has rows at most; transpose it");
        let (extent, wanted, found) = ("columns", rows, n);
        return Err(BlasError::Shape { operation, operand, extent, wanted, found, reason });
    }
    check_extent(operation, "values", "elements", count * n, values.len(), "as all A have columns")?;
    check_device(operation, "values", &device, values.device())?;
    if let Some(v) = &v {
        check_extent(operation, "V", "rows", n, v.rows(), "as A has columns")?;
        check_extent(operation, "V", "columns", n, v.columns(), "as A has columns")?;
        check_extent(operation, "V", "matrices", count, v.count(), "as A has")?;
        check_device(operation, "V", &device, v.device())?;
    }
    let kernels = Rotations::of(&device, ElementType::of::<T>())?;
    check_small(operation, [rows, n], kernels.gesvj.most_rows())?;
    let mut words = Buffer::zeroed(&device, count)?;
    if count * n == 0 {
        return Ok(BatchInfo::new(Completion::nothing(), words));
    }
    let v = v.map(many_mut);
    let event = kernels.gesvj(&device, many_mut(a), values.into(), v, (&mut words).into())?;
    Ok(BatchInfo::new(Completion::of(vec![event]), words))
}

/// The kernels for elements of one type.
struct Rotations {
    heev: BySize,
    gesvj: BySize,
}

impl Rotations {
    /// Returns the kernels of a device, built on first use.
    fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |device| Self::new(device, element))
    }

    fn new(device: &Device, element: ElementType) -> Result<Self> {
        // A square with gaps, and two numbers for each column.
        let bytes = |edge: usize| edge * (edge + 3) * element.bytes();
        Ok(Self {
            heev: BySize::new(device, bytes, (ROTATIONS, "batch_heev")),
            gesvj: BySize::new(device, bytes, (ROTATIONS, "batch_gesvj")),
        })
    }

    fn heev(
        &self,
        device: &Device,
        [vectors, turned]: [bool; 2],
        a: Many<'_>,
        values: Argument<'_>,
        info: Argument<'_>,
    ) -> Result<Event> {
        let n = a.first.rows;
        let head = head(a.first.element, [n, usize::from(vectors), usize::from(turned)]);
        let arguments = [&head[..], &a.arguments(), &[values, info]].concat();
        self.heev.launch(device, a.first.element, n, a.count, &arguments)
    }

    fn gesvj(
        &self,
        device: &Device,
        a: Many<'_>,
        values: Argument<'_>,
        v: Option<Many<'_>>,
        info: Argument<'_>,
    ) -> Result<Event> {
        let (rows, columns) = (a.first.rows, a.first.columns);
        let head = head(a.first.element, [rows, columns, usize::from(v.is_some())]);
        // Without V the kernel touches nothing of it.
        let mut nothing = device.scratch_of(a.first.element, 1)?;
        let zero = Argument::value(0_u64);
        let v = v.map_or([nothing.output(), zero, zero, zero], |v| v.arguments());
        let arguments = [&head[..], &a.arguments(), &[values], &v, &[info]].concat();
        self.gesvj.launch(device, a.first.element, rows, a.count, &arguments)
    }
}

/// Returns the first arguments: three counts, and the cosine below which columns are orthogonal.
fn head(element: ElementType, counts: [usize; 3]) -> [Argument<'static>; 4] {
    let epsilon = match element.precision {
        Precision::Single => f32::EPSILON.into(),
        Precision::Double => f64::EPSILON,
    };
    let [first, second, third] = counts.map(|count| Argument::value(count as u32));
    [first, second, third, Argument::value(epsilon * (2.0 + (counts[0] as f64).sqrt()))]
}
