//! Triangular systems of a matrix in host memory.

use super::panel::Panel;
use super::{Divisible, FactorParams};
use crate::error::{BlasResult, operand_name};
use crate::host;
use crate::level2::check_extent;
use crate::level3::{Diagonal, Side, Triangle, check_square};
use crate::matrix::MatRef;
use crate::op::Op;
use crate::split::resident::send_one;
use crate::split::{HostMut, HostRef};
use crate::triangular;
use lattice_compute::Team;
use std::ops::Range;

/// The matrix of a system, as it enters.
#[derive(Clone, Copy)]
pub struct System<'a, T> {
    pub matrix: HostRef<'a, T>,
    pub triangle: Triangle,
    pub op: Op,
    pub diagonal: Diagonal,
}

/// Computes X = op(A)⁻¹ B in the place of B, for a triangular A.
///
/// A half of the unknowns is solved for at a time, and their products with A are subtracted from the
/// other half by all devices.
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare),
/// [`BlasError::Shape`](crate::BlasError::Shape): nothing is written then. The errors of
/// [`split::gemm`](crate::split::gemm()).
pub fn trsm<T: Divisible>(
    team: &Team,
    params: &FactorParams,
    triangle: Triangle,
    op: Op,
    diagonal: Diagonal,
    a: HostRef<'_, T>,
    b: HostMut<'_, T>,
) -> BlasResult<()> {
    let n = a.layout().rows;
    check_square("trsm", "A", n, a.layout().columns)?;
    check_extent("trsm", &operand_name("A", op), "columns", b.layout().rows, n, "as B has rows")?;
    let mut x = Panel::of(b.as_ref());
    solve(team, params, System { matrix: a, triangle, op, diagonal }, &mut x, 0..n)?;
    x.write(b, false);
    Ok(())
}

/// Solves for a range of unknowns, in the place of the right-hand sides.
///
/// The products with all other unknowns have been subtracted already.
pub fn solve<T: Divisible>(
    team: &Team,
    params: &FactorParams,
    system: System<'_, T>,
    x: &mut Panel<T>,
    rows: Range<usize>,
) -> BlasResult<()> {
    let System { matrix, triangle, op, diagonal } = system;
    if rows.is_empty() || x.is_empty() {
        return Ok(());
    }
    let width = params.width_for::<T>(team, matrix.layout().rows);
    if rows.len() > width && !team.is_host() {
        let middle = rows.start + (rows.len() / 2).next_multiple_of(width).min(rows.len() - 1);
        let forward = (triangle == Triangle::Lower) == (op == Op::N);
        let halves = [rows.start..middle, middle..rows.end];
        let [first, second] = if forward { halves } else { [halves[1].clone(), halves[0].clone()] };
        solve(team, params, system, x, first.clone())?;
        let known = x.copy_rows(first.clone())?;
        let beside = match op {
            Op::N => matrix.part(second.clone(), first)?,
            Op::T | Op::C => matrix.part(first, second.clone())?,
        };
        params.subtract(team, [beside, known.as_ref()?], [op, Op::N], x.rows_mut(second.clone())?)?;
        return solve(team, params, system, x, second);
    }
    let block = matrix.part(rows.clone(), rows.clone())?;
    if let Some(device) = team.devices().first() {
        let (buffer, layout) = send_one(device, block, None)?;
        let block = MatRef::new(&buffer, layout)?;
        return x.on_device(device, rows, |x| {
            triangular::trsm(Side::Left, triangle, op, diagonal, 1, block, x)?;
            Ok(())
        });
    }
    let element = block.element_of(op);
    let one = T::from_complex(1.0.into());
    let entering = move |i, j| if i == j && diagonal == Diagonal::Ones { one } else { element(i, j) };
    let lower = (triangle == Triangle::Lower) == (op == Op::N);
    let mut dense = x.copy_rows(rows.clone())?.into_elements();
    host::triangular::solve(lower, 1, entering, &mut dense, rows.len());
    super::panel::write(&dense, rows.len(), x.rows_mut(rows)?, false);
    Ok(())
}
