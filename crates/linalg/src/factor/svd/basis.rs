//! Orthonormal columns that complete a basis.

use crate::block::Block;
use crate::error::BlasResult;
use crate::factor::diagonal;
use crate::factor::qr::{Kernels as QrKernels, geqrf, ungqr};
use crate::matrix::{MatMut, MatrixLayout};
use crate::triangular::Kernels as TriangleKernels;
use lattice_compute::scalar::{Element, ElementType};
use lattice_compute::{Buffer, Device, Event};

/// Makes an orthonormal basis of square U, whose first columns are orthonormal already.
///
/// Q of U = Q R has them up to the sign of R's diagonal, and completes them.
pub fn complete<T: Element>(device: &Device, u: &mut Buffer<T>, n: usize) -> BlasResult<()> {
    let layout = MatrixLayout::column_major(n, n);
    let mut tau = Buffer::<T>::uninitialised(device, n)?;
    geqrf(MatMut::new(&mut *u, layout)?, &mut tau)?;
    let diagonal = diagonal::<T>(device, Block::at((&*u).into(), &layout))?;
    let signs: Vec<f64> = diagonal.iter().map(|r| if r.re < 0.0 { -1.0 } else { 1.0 }).collect();
    ungqr(MatMut::new(&mut *u, layout)?, &tau)?;
    let signs = Buffer::from_slice(device, &signs)?;
    let columns = Block::at(u.into(), &layout);
    QrKernels::of(device, columns.element)?.scale_columns(columns, false, (&signs).into())?;
    Ok(())
}

/// Starts to write the columns beyond the first `known` of an orthonormal basis.
///
/// The known ones are in `u`, which is overwritten. Q of U = Q R spans the same with as many columns,
/// and its other columns are orthogonal to U.
pub fn rest<T: Element>(
    device: &Device,
    u: &mut Buffer<T>,
    known: usize,
    place: Block<'_>,
    events: &mut Vec<Event>,
) -> BlasResult<()> {
    let rows = place.rows;
    if place.columns == known {
        return Ok(());
    }
    let (thin, square) = (MatrixLayout::column_major(rows, known), MatrixLayout::column_major(rows, rows));
    let mut tau = Buffer::<T>::uninitialised(device, known)?;
    geqrf(MatMut::new(&mut *u, thin)?, &mut tau)?;
    let mut q = Buffer::<T>::uninitialised(device, rows * rows)?;
    let kernels = TriangleKernels::of(device, ElementType::of::<T>())?;
    let reflectors = Block::at((&mut q).into(), &square).part(0..rows, 0..known);
    kernels.copy(Block::at((&*u).into(), &thin), reflectors)?;
    ungqr(MatMut::new(&mut q, square)?, &tau)?;
    let from = Block::at((&q).into(), &square).part(0..rows, known..rows);
    events.push(kernels.copy(from, place.part(0..rows, known..rows))?);
    Ok(())
}
