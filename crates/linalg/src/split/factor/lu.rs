//! P A = L U of a matrix in host memory.

use super::panel::{Panel, write};
use super::triangle::{System, solve};
use super::{Divisible, FactorParams, FactorWatch, Finished, tell};
use crate::error::BlasResult;
use crate::factor;
use crate::host;
use crate::level2::check_extent;
use crate::level3::{Diagonal, Triangle, check_square};
use crate::matrix::{MatrixLayout, Order};
use crate::op::Op;
use crate::split::{HostMut, HostRef};
use lattice_compute::parallel::*;
use lattice_compute::{Buffer, Team};

/// Computes P A = L U with partial pivoting, with L and U in the place of A.
///
/// Returns LAPACK's `info`. Contract, pivots and `info` are those of
/// [`factor::getrf`](crate::factor::getrf). If columns are finished already, their pivots are read.
///
/// # Errors
/// [`BlasError::Shape`](crate::BlasError::Shape) for another number of pivots, and the errors of
/// [`potrf`](super::potrf()) but [`BlasError::NotSquare`](crate::BlasError::NotSquare). If a
/// factorisation ends early, rows of the columns behind the finished ones are not exchanged yet.
pub fn getrf<T: Divisible>(
    team: &Team,
    params: &FactorParams,
    watch: FactorWatch<'_, T>,
    mut a: HostMut<'_, T>,
    pivots: &mut [u32],
) -> BlasResult<usize> {
    let layout = *a.layout();
    let MatrixLayout { rows, columns, .. } = layout;
    let count = rows.min(columns);
    let reason = "as A has rows or columns, the fewer";
    check_extent("getrf", "pivots", "elements", count, pivots.len(), reason)?;
    let blocks = params.blocks::<T>(team, rows, columns)?;
    let Some(device) = team.devices().first() else {
        let mut dense = Panel::of(a.as_ref()).into_elements();
        let (found, info) = host::lu::factorise(rows, &mut dense);
        pivots.copy_from_slice(&found);
        write(&dense, rows, a, false);
        return Ok(info);
    };
    let known = params.finished.min(count);
    let zero = |k: &usize| a.as_ref().elements()[layout.index(*k, *k)] == T::default();
    let mut info = (0..known).find(zero).map_or(0, |k| k + 1);
    for block in blocks {
        let done = block.start.min(count);
        let mut panel = Panel::of(a.as_ref().part(0..rows, block.clone())?);
        panel.exchange(&pivots[..done]);
        let all = a.as_ref();
        let matrix = all.part(0..done, 0..done)?;
        let system = System { matrix, triangle: Triangle::Lower, op: Op::N, diagonal: Diagonal::Ones };
        solve(team, params, system, &mut panel, 0..done)?;
        if 0 < done && done < rows {
            let upper = panel.copy_rows(0..done)?;
            let factors = [all.part(done..rows, 0..done)?, upper.as_ref()?];
            params.subtract(team, factors, [Op::N, Op::N], panel.rows_mut(done..rows)?)?;
        }
        let new = block.end.min(count).saturating_sub(done);
        if new > 0 {
            let mut on_device = Buffer::<u32>::uninitialised(device, (rows - done).min(block.len()))?;
            let zero = panel
                .on_device(device, done..rows, |panel| Ok(factor::getrf(panel, &mut on_device)?.wait()?))?;
            if info == 0 && zero > 0 {
                info = done + zero;
            }
            let found = on_device.to_vec()?;
            let to = pivots[done..done + new].iter_mut();
            to.zip(found).for_each(|(pivot, found)| *pivot = done as u32 + found);
        }
        panel.write(HostMut::new(a.elements(), layout.submatrix(0..rows, block.clone())?)?, false);
        let before = layout.submatrix(0..rows, 0..block.start)?;
        exchange(a.elements(), &before, done, &pivots[done..done + new]);
        let finished = &pivots[..done + new];
        let (columns, all) = (block.end, columns);
        tell(watch, Finished { columns, all, elements: a.elements(), pivots: finished, tau: &[] })?;
    }
    Ok(info)
}

/// Computes X = op(A)⁻¹ B in the place of B, with the factors and pivots of A from [`getrf`].
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare),
/// [`BlasError::Shape`](crate::BlasError::Shape), and the errors of
/// [`split::gemm`](crate::split::gemm()).
pub fn getrs<T: Divisible>(
    team: &Team,
    params: &FactorParams,
    op: Op,
    factors: HostRef<'_, T>,
    pivots: &[u32],
    b: HostMut<'_, T>,
) -> BlasResult<()> {
    let n = factors.layout().rows;
    check_square("getrs", "A", n, factors.layout().columns)?;
    check_extent("getrs", "pivots", "elements", n, pivots.len(), "as A has rows")?;
    check_extent("getrs", "B", "rows", n, b.layout().rows, "as A has")?;
    let mut x = Panel::of(b.as_ref());
    let mut systems = [(Triangle::Lower, Diagonal::Ones), (Triangle::Upper, Diagonal::Stored)];
    if op == Op::N {
        x.exchange(pivots);
    } else {
        systems.reverse();
    }
    for (triangle, diagonal) in systems {
        solve(team, params, System { matrix: factors, triangle, op, diagonal }, &mut x, 0..n)?;
    }
    if op != Op::N {
        x.exchange_back(pivots);
    }
    x.write(b, false);
    Ok(())
}

impl<T: Divisible> Panel<T> {
    /// Exchanges row i with row `pivots[i]`, from the first to the last.
    fn exchange(&mut self, pivots: &[u32]) {
        self.columns_mut().for_each(|column| {
            pivots.iter().enumerate().for_each(|(i, &pivot)| column.swap(i, pivot as usize));
        });
    }

    /// Exchanges row i with row `pivots[i]`, from the last to the first.
    fn exchange_back(&mut self, pivots: &[u32]) {
        self.columns_mut().for_each(|column| {
            pivots.iter().enumerate().rev().for_each(|(i, &pivot)| column.swap(i, pivot as usize));
        });
    }
}

/// Exchanges row `first` + i with row `pivots[i]`, from the first to the last.
fn exchange<T: Divisible>(elements: &mut [T], part: &MatrixLayout, first: usize, pivots: &[u32]) {
    if part.is_empty() {
        return;
    }
    let pairs = || pivots.iter().enumerate().map(|(i, &pivot)| (first + i, pivot as usize));
    match part.order {
        Order::ColumnMajor => {
            let columns = elements[part.offset..].par_chunks_mut(part.leading_dimension);
            columns.take(part.columns).for_each(|column| pairs().for_each(|(i, k)| column.swap(i, k)));
        }
        Order::RowMajor => {
            for (i, k) in pairs().filter(|(i, k)| i < k) {
                let (above, below) = elements.split_at_mut(part.index(k, 0));
                let upper = &mut above[part.index(i, 0)..][..part.columns];
                upper.swap_with_slice(&mut below[..part.columns]);
            }
        }
    }
}
