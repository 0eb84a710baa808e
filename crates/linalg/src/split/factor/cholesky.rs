//! A = L Lᴴ or A = Uᴴ U of a matrix in host memory.

use super::panel::{Panel, write};
use super::triangle::{System, solve};
use super::{Divisible, FactorParams, FactorWatch, Finished, tell};
use crate::error::BlasResult;
use crate::factor::potrf_columns;
use crate::host;
use crate::level2::check_extent;
use crate::level3::{Diagonal, Triangle, check_square};
use crate::op::Op;
use crate::split::{HostMut, HostRef};
use lattice_compute::Team;
use lattice_compute::parallel::*;

/// Computes A = L Lᴴ of a lower triangle, or A = Uᴴ U of an upper one, in place.
///
/// Returns LAPACK's `info`. Contract and `info` are those of [`factor::potrf`](crate::factor::potrf).
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare),
/// [`BlasError::OutOfMatrix`](crate::BlasError::OutOfMatrix) for more finished columns than there are:
/// nothing is written then. [`BlasError::Ended`](crate::BlasError::Ended) if the watch ends the
/// factorisation; the errors of [`split::gemm`](crate::split::gemm()). Then the columns that the watch was
/// told of are finished, and all others are as they were.
pub fn potrf<T: Divisible>(
    team: &Team,
    params: &FactorParams,
    watch: FactorWatch<'_, T>,
    triangle: Triangle,
    a: HostMut<'_, T>,
) -> BlasResult<usize> {
    let n = a.layout().rows;
    check_square("potrf", "A", n, a.layout().columns)?;
    // The upper triangle of A is the lower one of Aᵀ = Uᵀ (Uᵀ)ᴴ.
    let mut a = if triangle == Triangle::Lower { a } else { a.transposed() };
    let layout = *a.layout();
    let blocks = params.blocks::<T>(team, n, n)?;
    let Some(device) = team.devices().first() else {
        let mut dense = Panel::of(a.as_ref()).into_elements();
        let info = host::cholesky::factorise(n, &mut dense);
        write(&dense, n, a, true);
        return Ok(info);
    };
    for block in blocks {
        let (done, rows) = (0..block.start, n - block.start);
        let mut panel = Panel::of(a.as_ref().part(block.start..n, block.clone())?);
        // Imaginary parts on the diagonal are not read.
        let diagonal = |(j, column): (usize, &mut [T])| {
            column[j] = T::from_complex(column[j].to_complex().re.into());
        };
        panel.columns_mut().enumerate().for_each(diagonal);
        if !done.is_empty() {
            let all = a.as_ref();
            let factors = [all.part(block.start..n, done.clone())?, all.part(block.clone(), done)?];
            params.subtract(team, factors, [Op::N, Op::C], panel.rows_mut(0..rows)?)?;
        }
        let info = panel.on_device(device, 0..rows, |panel| Ok(potrf_columns(panel)?.wait()?))?;
        let place = layout.submatrix(block.start..n, block.clone())?;
        panel.write(HostMut::new(a.elements(), place)?, true);
        if info > 0 {
            return Ok(block.start + info);
        }
        tell(watch, Finished { columns: block.end, all: n, elements: a.elements(), pivots: &[], tau: &[] })?;
    }
    Ok(0)
}

/// Computes X = A⁻¹ B in the place of B, with the factor of A from [`potrf`].
///
/// # Errors
/// [`BlasError::NotSquare`](crate::BlasError::NotSquare),
/// [`BlasError::Shape`](crate::BlasError::Shape), and the errors of
/// [`split::gemm`](crate::split::gemm()).
pub fn potrs<T: Divisible>(
    team: &Team,
    params: &FactorParams,
    triangle: Triangle,
    factor: HostRef<'_, T>,
    b: HostMut<'_, T>,
) -> BlasResult<()> {
    let n = factor.layout().rows;
    check_square("potrs", "A", n, factor.layout().columns)?;
    check_extent("potrs", "B", "rows", n, b.layout().rows, "as A has")?;
    let mut x = Panel::of(b.as_ref());
    let ops = if triangle == Triangle::Lower { [Op::N, Op::C] } else { [Op::C, Op::N] };
    for op in ops {
        let system = System { matrix: factor, triangle, op, diagonal: Diagonal::Stored };
        solve(team, params, system, &mut x, 0..n)?;
    }
    x.write(b, false);
    Ok(())
}
