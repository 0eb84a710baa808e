//! A = Q R of a matrix in host memory.

use super::panel::{Panel, through, write};
use super::{Divisible, FactorParams, FactorWatch, Finished, tell};
use crate::error::{BlasError, BlasResult};
use crate::factor;
use crate::host;
use crate::level2::check_extent;
use crate::level3::Side;
use crate::matrix::{MatRef, MatrixLayout};
use crate::op::Op;
use crate::split::resident::{on_all, send_one};
use crate::split::{HostMut, HostRef, rate};
use lattice_compute::parallel::*;
use lattice_compute::{Buffer, Team};
use std::ops::Range;

/// Computes A = Q R, with R in the upper triangle of A and the reflectors of Q below it.
///
/// Contract and reflectors are those of [`factor::geqrf`](crate::factor::geqrf). If columns are
/// finished already, their scalars `tau` are read.
///
/// # Errors
/// [`BlasError::Shape`](crate::BlasError::Shape) for a `tau` of another length, and the errors of
/// [`potrf`](super::potrf()) but [`BlasError::NotSquare`](crate::BlasError::NotSquare).
pub fn geqrf<T: Divisible>(
    team: &Team,
    params: &FactorParams,
    watch: FactorWatch<'_, T>,
    mut a: HostMut<'_, T>,
    tau: &mut [T],
) -> BlasResult<()> {
    let layout = *a.layout();
    let MatrixLayout { rows, columns, .. } = layout;
    let count = rows.min(columns);
    check_extent("geqrf", "tau", "elements", count, tau.len(), "as A has rows or columns, the fewer")?;
    let blocks = params.blocks::<T>(team, rows, columns)?;
    let Some(device) = team.devices().first() else {
        let mut dense = Panel::of(a.as_ref()).into_elements();
        tau.copy_from_slice(&host::qr::factorise(rows, &mut dense));
        write(&dense, rows, a, false);
        return Ok(());
    };
    for block in blocks {
        let done = block.start.min(count);
        let mut panel = Panel::of(a.as_ref().part(0..rows, block.clone())?);
        let reflectors = a.as_ref().part(0..rows, 0..done)?;
        apply(team, params, Op::C, reflectors, &tau[..done], &mut panel)?;
        let new = block.end.min(count).saturating_sub(done);
        if new > 0 {
            let mut scalars = Buffer::uninitialised(device, (rows - done).min(block.len()))?;
            panel.on_device(device, done..rows, |panel| Ok(factor::geqrf(panel, &mut scalars)?.wait()?))?;
            tau[done..done + new].copy_from_slice(&scalars.to_vec()?[..new]);
        }
        panel.write(HostMut::new(a.elements(), layout.submatrix(0..rows, block.clone())?)?, false);
        let (finished, all) = (&tau[..done + new], columns);
        let elements = a.elements();
        tell(watch, Finished { columns: block.end, all, elements, pivots: &[], tau: finished })?;
    }
    Ok(())
}

/// Computes C = op(Q) C, with the reflectors of [`geqrf`].
///
/// The reflectors are in the columns of `factors`, of which there are as many as `tau` has elements.
///
/// # Errors
/// [`BlasError::Shape`](crate::BlasError::Shape), [`BlasError::WrongOp`](crate::BlasError::WrongOp)
/// for complex elements with [`Op::T`], and [`BlasError::Device`](crate::BlasError::Device).
pub fn unmqr<T: Divisible>(
    team: &Team,
    params: &FactorParams,
    op: Op,
    factors: HostRef<'_, T>,
    tau: &[T],
    c: HostMut<'_, T>,
) -> BlasResult<()> {
    factor::check_op("unmqr", op, T::IS_COMPLEX)?;
    let MatrixLayout { rows, columns, .. } = *factors.layout();
    check_extent("unmqr", "A", "columns", tau.len(), columns, "as tau has elements")?;
    check_extent("unmqr", "C", "rows", rows, c.layout().rows, "as Q has rows")?;
    let mut panel = Panel::of(c.as_ref());
    apply(team, params, op, factors, tau, &mut panel)?;
    panel.write(c, false);
    Ok(())
}

/// Applies reflectors to a panel, each device to its own columns.
fn apply<T: Divisible>(
    team: &Team,
    params: &FactorParams,
    op: Op,
    factors: HostRef<'_, T>,
    tau: &[T],
    panel: &mut Panel<T>,
) -> BlasResult<()> {
    let (count, columns) = (tau.len(), panel.columns());
    let rows = factors.layout().rows;
    if count == 0 || columns == 0 {
        return Ok(());
    }
    if team.is_host() {
        let vectors = Panel::of(factors).into_elements();
        panel.columns_mut().for_each(|column| host::qr::apply(op, rows, &vectors, tau, column));
        return Ok(());
    }
    let width = params.width_for::<T>(team, rows);
    let mut blocks: Vec<Range<usize>> =
        (0..count).step_by(width).map(|start| start..(start + width).min(count)).collect();
    // Qᴴ C begins with the first reflector, Q C with the last.
    if op == Op::N {
        blocks.reverse();
    }
    let parts = panel.split_columns(&shares::<T>(team, params, columns)?)?;
    let (blocks, work) = (&blocks, team.devices().iter().zip(parts));
    let work = work.filter(|(_, part)| part.layout().columns > 0);
    on_all(work.map(|(device, part)| {
        move || {
            through(device, part, |mut c| {
                for block in blocks {
                    let (rows, reflectors) = (block.start..rows, block.clone());
                    let (vectors, layout) =
                        send_one(device, factors.part(rows.clone(), reflectors.clone())?, None)?;
                    let tau = Buffer::from_slice(device, &tau[reflectors])?;
                    let columns = 0..c.columns();
                    let below = c.submatrix_mut(rows, columns)?;
                    // The next vectors take the place of these.
                    factor::unmqr(Side::Left, op, MatRef::new(&vectors, layout)?, &tau, below)?.wait()?;
                }
                Ok(())
            })
        }
    }))
    .map(drop)
}

/// Returns how many columns each device takes, by its rate.
fn shares<T: Divisible>(team: &Team, params: &FactorParams, columns: usize) -> BlasResult<Vec<usize>> {
    let products = &params.products;
    let rates = match &products.rates {
        Some(rates) if rates.len() == team.len() => rates.clone(),
        Some(rates) => return Err(BlasError::TeamSize { wanted: team.len(), found: rates.len() }),
        None if team.len() == 1 => vec![1.0],
        None => {
            let members = team.devices().iter().enumerate();
            members.map(|(k, device)| rate::<T>(device, &products.of_member(k))).collect::<BlasResult<_>>()?
        }
    };
    let total: f64 = rates.iter().sum();
    let (mut sum, mut start) = (0.0, 0);
    let share = |rate: &f64| {
        sum += rate;
        let end = (columns as f64 * sum / total).round() as usize;
        std::mem::replace(&mut start, end).abs_diff(end)
    };
    Ok(rates.iter().map(share).collect())
}
