//! Singular values by one-sided Jacobi rotations.
//!
//! The columns of A V become orthogonal. Their norms are the singular values.

use super::Parts;
use super::kernels::Kernels;
use crate::block::Block;
use crate::error::BlasResult;
use crate::matrix::MatrixLayout;
use crate::triangular::Kernels as TriangleKernels;
use lattice_compute::scalar::{Element, ElementType};
use lattice_compute::{Buffer, Device};

/// Most sweeps. Eight are usual.
const SWEEPS: usize = 30;

/// Computes the parts of a dense matrix with at least as many rows as columns.
///
/// `None` if the sweeps do not suffice.
/// A singular value is accurate to the precision of the elements, as far as columns of norm 1 would
/// be well conditioned: J. Demmel and K. Veselić, SIAM J. Matrix Anal. Appl. 13 (1992) 1204.
pub(super) fn decompose<T: Element>(
    device: &Device,
    mut x: Buffer<T>,
    [rows, n]: [usize; 2],
    epsilon: f64,
) -> BlasResult<Option<Parts<T>>> {
    let element = ElementType::of::<T>();
    let kernels = Kernels::of(device, element)?;
    let square = MatrixLayout::column_major(n, n);
    let mut v = Buffer::<T>::uninitialised(device, n * n)?;
    TriangleKernels::of(device, element)?.set_identity(Block::at((&mut v).into(), &square))?;
    let (rounds, pairs) = Kernels::rounds(n);
    let tolerance = epsilon * (2.0 + (rows as f64).sqrt());
    let mut worst = Buffer::<f64>::zeroed(device, pairs)?;
    let mut converged = false;
    for _ in 0..SWEEPS {
        worst.fill(0.0)?;
        for round in 0..rounds {
            let memory = [(&mut x).into(), (&mut v).into(), (&mut worst).into()];
            kernels.rotate([rows, n], round, tolerance, memory)?;
        }
        if worst.to_vec()?.iter().all(|&cosine| cosine == 0.0) {
            converged = true;
            break;
        }
    }
    if !converged {
        return Ok(None);
    }
    let mut norms = Buffer::<f64>::uninitialised(device, n)?;
    kernels.norms([rows, n], (&x).into(), (&mut norms).into())?;
    let norms = norms.to_vec()?;
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by(|&i, &j| norms[j as usize].total_cmp(&norms[i as usize]));
    let values: Vec<f64> = order.iter().map(|&k| norms[k as usize]).collect();
    let factors: Vec<f64> = values.iter().map(|&value| if value > 0.0 { 1.0 / value } else { 0.0 }).collect();
    let (order, factors) = (Buffer::from_slice(device, &order)?, Buffer::from_slice(device, &factors)?);
    let ones = Buffer::from_slice(device, &vec![1.0; n])?;
    let mut u = Buffer::<T>::uninitialised(device, rows * n)?;
    let mut vt = Buffer::<T>::uninitialised(device, n * n)?;
    let to_u = Block::at((&mut u).into(), &MatrixLayout::column_major(rows, n));
    kernels.gather(false, [(&order).into(), (&factors).into(), (&x).into()], to_u)?;
    let to_v = Block::at((&mut vt).into(), &square).transposed();
    kernels.gather(T::IS_COMPLEX, [(&order).into(), (&ones).into(), (&v).into()], to_v)?;
    let complete = values.last().is_none_or(|&last| last > 0.0);
    Ok(Some(Parts { values, vectors: Some([u, vt]), complete }))
}
