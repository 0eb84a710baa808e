//! Eigenvalues and eigenvectors of Hermitian matrices.
//!
//! Panels of 32 columns are made tridiagonal column by column. Each column reads the lower triangle
//! of the rest of the matrix once. The rest is changed by one product after each panel. Divide and
//! conquer solves the tridiagonal matrix, and reflectors turn its eigenvectors back by products.

mod divide;
mod kernels;
mod level;
mod merge;
#[cfg(test)]
mod samples;
mod values;

use super::check_rows;
use super::check_square;
use super::info::{Info, Word};
use super::qr::{Form, Reflectors};
use super::scale::{fill_with_nan, scale_of};
use crate::block::Block;
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::level2::{check_device, check_extent, check_single};
use crate::level3::{RankUpdate, Triangle};
use crate::matrix::{MatMut, MatrixLayout};
use crate::triangular::Kernels as TriangleKernels;
use divide::Eigen;
use kernels::{Kernels, Memory, WIDTH};
use lattice_compute::scalar::{Element, Real};
use lattice_compute::{Argument, Buffer, BufferViewMut, Device, Event};
use lattice_solvers::NoEigenvalue;
use std::ops::Range;

/// The wanted part of an eigenvalue problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Eigenvectors {
    /// Eigenvalues alone.
    Without,
    /// Eigenvectors too.
    #[default]
    With,
}

/// Computes the eigenvalues of a Hermitian matrix, and its eigenvectors in the place of the matrix.
///
/// The named triangle of A is read. With [`Eigenvectors::With`] A is overwritten by orthonormal
/// eigenvectors, column k for eigenvalue k. Otherwise A stays as it was. `values` has an element for
/// each row, and gets the eigenvalues, the lowest first. LAPACK names the operation `syevd` for real
/// elements.
///
/// The call waits for the device to make the matrix tridiagonal, and returns when the rest is
/// enqueued. It takes scratch memory for three matrices, and for two in double.
///
/// The [`Info`] is 1 if A has elements that are not finite, and k if eigenvalue k did not converge.
/// All results are NaN then.
///
/// # Errors
/// [`BlasError::Shape`](crate::BlasError::Shape),
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare),
/// [`BlasError::SingleMatrix`](crate::BlasError::SingleMatrix),
/// [`BlasError::OtherDevice`](crate::BlasError::OtherDevice): nothing is started then.
/// [`BlasError::Device`](crate::BlasError::Device) if a driver does not take the kernels, memory is
/// short or the device fails.
pub fn heevd<'p, T: Element>(
    triangle: Triangle,
    wanted: Eigenvectors,
    a: MatMut<'_, T>,
    values: impl Into<BufferViewMut<'p, T::Real>>,
) -> BlasResult<Info> {
    let all = 0..a.rows();
    heevd_range(triangle, wanted, all, a, values)
}

/// Computes some eigenvalues of a Hermitian matrix, counted from the lowest, which is number 0.
///
/// `values` has an element for each number of the range. With [`Eigenvectors::With`] the first
/// columns of A are overwritten by their eigenvectors, and the other columns stay as they were. All
/// else is as [`heevd`] says. Fewer eigenvectors take less time.
///
/// # Errors
/// The errors of [`heevd`], and [`BlasError::OutOfMatrix`](crate::BlasError::OutOfMatrix) for a range
/// that A does not have.
pub fn heevd_range<'p, T: Element>(
    triangle: Triangle,
    wanted: Eigenvectors,
    range: Range<usize>,
    mut a: MatMut<'_, T>,
    values: impl Into<BufferViewMut<'p, T::Real>>,
) -> BlasResult<Info> {
    let (device, mut values) = (a.device().clone(), values.into());
    let n = a.rows();
    check_single("heevd", a.count())?;
    check_rows("heevd", n)?;
    check_square("heevd", "A", n, a.columns())?;
    a.layout().submatrix(0..n, range.clone())?;
    check_extent("heevd", "values", "elements", range.len(), values.len(), "as eigenvalues are wanted")?;
    check_device("heevd", "values", &device, values.device())?;
    if range.is_empty() {
        return Ok(Word::new(&device)?.with(Completion::nothing()));
    }
    let is_lower = triangle == Triangle::Lower;
    // The upper triangle of A is the lower one of Aᵀ, the conjugate of A.
    let block = Block::of_mut(a.reborrow());
    let block = if is_lower { block } else { block.transposed() };
    let found = match scale_of(&device, block, Some(true))? {
        None => Err(NoEigenvalue { index: 0 }),
        Some(scale) => {
            let reduced = Reduced::<T>::of(&device, block, n, scale)?;
            let solved = reduced.solve(&device, wanted, range.clone(), scale)?;
            solved.map(|solved| (reduced, solved))
        }
    };
    let mut events = Vec::new();
    let to = Block::of_mut(a.submatrix_mut(0..n, 0..range.len())?);
    let info = match found {
        Ok((reduced, (numbers, vectors))) => {
            let numbers: Vec<T::Real> = numbers.into_iter().map(T::Real::from_f64).collect();
            values.write(&numbers)?;
            if let Some(vectors) = vectors {
                reduced.turn_back(&device, vectors, !is_lower, to, &mut events)?;
            }
            0
        }
        Err(NoEigenvalue { index }) => {
            values.write(&vec![T::Real::from_f64(f64::NAN); values.len()])?;
            if wanted == Eigenvectors::With {
                events.push(fill_with_nan(&device, to)?);
            }
            index + 1
        }
    };
    Ok(Word::found(&device, info)?.with(Completion::of(events)))
}

/// A matrix A = Q T Qᴴ that has become tridiagonal.
struct Reduced<T> {
    n: usize,
    /// The reflectors of Q, below the elements beside the diagonal.
    matrix: Buffer<T>,
    tau: Buffer<T>,
    diagonal: Buffer<f64>,
    beside: Buffer<f64>,
}

/// Eigenvalues, and perhaps eigenvectors of a tridiagonal matrix.
type Solved = (Vec<f64>, Option<Buffer<f64>>);

impl<T: Element> Reduced<T> {
    /// Starts the reduction of a matrix, of which the lower triangle counts.
    fn of(device: &Device, block: Block<'_>, n: usize, scale: f64) -> BlasResult<Self> {
        Self::with(&*Kernels::of(device, block.element)?, device, block, n, scale)
    }

    fn with(kernels: &Kernels, device: &Device, block: Block<'_>, n: usize, scale: f64) -> BlasResult<Self> {
        let mut matrix = Buffer::<T>::uninitialised(device, n * n)?;
        let copy = Block::at((&mut matrix).into(), &MatrixLayout::column_major(n, n));
        let factor = block.element.real_factor(scale);
        TriangleKernels::of(device, block.element)?.copy_scaled(factor, block, copy)?;
        let mut tau = Buffer::<T>::zeroed(device, n)?;
        let mut diagonal = Buffer::<f64>::zeroed(device, n)?;
        let mut beside = Buffer::<f64>::zeroed(device, n)?;
        reduce(kernels, device, copy, (&mut tau).into(), [(&mut diagonal).into(), (&mut beside).into()])?;
        Ok(Self { n, matrix, tau, diagonal, beside })
    }

    /// Solves the tridiagonal matrix.
    fn solve(
        &self,
        device: &Device,
        wanted: Eigenvectors,
        range: Range<usize>,
        scale: f64,
    ) -> BlasResult<Result<Solved, NoEigenvalue>> {
        let (diagonal, mut beside) = (self.diagonal.to_vec()?, self.beside.to_vec()?);
        beside.truncate(self.n - 1);
        let restored = |values: &[f64]| values.iter().map(|value| value / scale).collect();
        Ok(match wanted {
            Eigenvectors::Without => values::eigenvalues(device, &diagonal, &beside, range.clone())?
                .map(|values| (restored(&values), None)),
            Eigenvectors::With => divide::eigenvectors(device, &diagonal, &beside, range.clone())?
                .map(|Eigen { values, vectors }| (restored(&values[range]), Some(vectors))),
        })
    }

    /// Starts to write Q times the eigenvectors of T, or the conjugate of it, to `to`.
    fn turn_back(
        &self,
        device: &Device,
        vectors: Buffer<f64>,
        conjugate: bool,
        to: Block<'_>,
        events: &mut Vec<Event>,
    ) -> BlasResult<()> {
        let (n, count) = (self.n, self.n * to.columns);
        let (square, layout) = (MatrixLayout::column_major(n, n), MatrixLayout::column_major(n, to.columns));
        let mut turned = device.scratch_of(to.element, count)?;
        let kernels = Kernels::of(device, to.element)?;
        events.push(kernels.to_elements(count, (&vectors).into(), turned.output())?);
        let turned = Block::at(turned.output(), &layout);
        if n > 1 {
            let matrix = Block::at((&self.matrix).into(), &square).part(1..n, 0..n - 1);
            let reflectors = Reflectors { matrix, tau: Argument::from(&self.tau), count: n - 1 };
            let c = turned.part(1..n, 0..to.columns);
            reflectors.apply(device, Form { adjoint: false, conjugate }, c, false, events)?;
        }
        events.push(TriangleKernels::of(device, to.element)?.copy(turned, to)?);
        Ok(())
    }
}

/// Starts to make a matrix tridiagonal in its place, of which the lower triangle counts.
///
/// τ and the numbers on the diagonal and beside it are zero before.
fn reduce(
    kernels: &Kernels,
    device: &Device,
    matrix: Block<'_>,
    tau: Argument<'_>,
    [diagonal, beside]: [Argument<'_>; 2],
) -> BlasResult<()> {
    let (n, element) = (matrix.rows, matrix.element);
    let mut v = device.scratch_of(element, 3 * n * WIDTH)?;
    let groups = kernels.variant.groups(n);
    let [of_row, of_column] = kernels.variant.parts(n);
    let mut fresh = device.scratch_of(element, n)?;
    let mut parts = device.scratch_of(element, n * of_row)?;
    let mut column_parts = device.scratch_of(element, n * of_column)?;
    let mut arrived = Buffer::<u32>::zeroed(device, n.div_ceil(WIDTH))?;
    let mut dots = device.scratch_of(element, 2 * WIDTH)?;
    let mut squares = device.scratch::<f64>(groups)?;
    let mut products = device.scratch::<f64>(2 * groups)?;
    for (number, first) in (0..n).step_by(WIDTH).enumerate() {
        let width = WIDTH.min(n - first);
        {
            let memory = Memory {
                a: matrix.elements,
                v: v.output(),
                fresh: fresh.output(),
                parts: [parts.output(), column_parts.output()],
                dots: dots.output(),
                squares: squares.output(),
                products: products.output(),
                tau,
                diagonal,
                beside,
                arrived: arrived.view_mut().into(),
            };
            kernels.panel(device, n, [number, first, width], &memory)?;
        }
        let rest = first + width..n;
        if rest.is_empty() {
            break;
        }
        // V Wᴴ + W Vᴴ as one product, which reads and writes the rest once.
        let panel = Block::at(v.input(), &MatrixLayout::column_major(n, 3 * WIDTH));
        let left = panel.part(rest.clone(), 0..2 * WIDTH);
        let right = panel.part(rest.clone(), WIDTH..3 * WIDTH).transposed();
        let trailing = matrix.part(rest.clone(), rest);
        let update = RankUpdate { device, lower: true, hermitian: element.complex };
        let scalars = [-1, 1].map(|number| element.factor(number));
        update.start(scalars, [(left, false), (right, element.complex)], trailing)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::kernels::{PanelVariant, Shape};
    use super::samples::small;
    use super::*;
    use crate::host::tridiagonal;
    use lattice_compute::scalar::ElementType;
    use lattice_compute::{CacheMode, DeviceOptions, discover};
    use num_complex::Complex;

    type C64 = Complex<f64>;

    #[test]
    fn a_reduction_has_the_reflectors_of_the_twin() {
        let options = DeviceOptions::default().with_cache(CacheMode::Off);
        for found in discover().devices.into_iter().filter(|found| found.info.fp64) {
            let device = Device::open(&found, &options).unwrap();
            let shape = Shape { lanes: 4, slots: 4, strip: 4, batch: 2, groups: 5 };
            let alone = Shape { groups: 1, ..shape };
            let variants = [
                PanelVariant::Rows(shape),
                PanelVariant::Rows(alone),
                PanelVariant::Strips(1),
                PanelVariant::Strips(3),
            ];
            let sizes: &[usize] = if small() { &[3, 35] } else { &[1, 2, 3, 33, 75] };
            for (n, variant) in sizes.iter().flat_map(|&n| variants.map(|variant| (n, variant))) {
                let number = |k: usize| (0.7 * k as f64 * k as f64).cos();
                let a: Vec<C64> = (0..n * n).map(|k| C64::new(number(k), number(k + 5000))).collect();
                let mut buffer = Buffer::from_slice(&device, &a).unwrap();
                let block = Block::at((&mut buffer).into(), &MatrixLayout::column_major(n, n));
                let kernels = Kernels::with(&device, ElementType::of::<C64>(), variant).unwrap();
                let reduced = Reduced::<C64>::with(&kernels, &device, block, n, 1.0).unwrap();
                let mut twin = a.clone();
                let expected = tridiagonal::reduce(n, &mut twin);
                let far = |found: &[f64], expected: &[f64]| {
                    found.iter().zip(expected).map(|(f, e)| (f - e).abs()).fold(0.0, f64::max)
                };
                assert!(far(&reduced.diagonal.to_vec().unwrap(), &expected.diagonal) < 1e-12, "{n}");
                assert!(far(&reduced.beside.to_vec().unwrap(), &expected.beside) < 1e-12, "{n}");
                let (tau, matrix) = (reduced.tau.to_vec().unwrap(), reduced.matrix.to_vec().unwrap());
                let errors = tau.iter().zip(&expected.tau).map(|(f, e)| (f - e).norm());
                assert!(errors.fold(0.0, f64::max) < 1e-12, "{n}");
                let below = (0..n * n).filter(|k| k % n > k / n + 1);
                let errors = below.map(|k| (matrix[k] - twin[k]).norm());
                assert!(errors.fold(0.0, f64::max) < 1e-11, "{n}");
            }
        }
    }
}
