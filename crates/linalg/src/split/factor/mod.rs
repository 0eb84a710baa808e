//! Factorisations of matrices in host memory, which need not fit into the memory of a device.
//!
//! The columns are worked off from left to right, a block of them at a time. A block is first updated
//! with all finished columns, then factorised by the first device. The updates are products by
//! [`split::gemm`](super::gemm()), so all devices of the team take part, and matrices go by in pieces.
//! The reflectors of a QR factorisation are applied by all devices, each to its own columns.
//!
//! The results are those of [`factor`](crate::factor), to rounding. For a team without devices the
//! host computes.
//!
//! Columns behind a block are as they were, so a factorisation can be interrupted after each block
//! and go on later ([`FactorParams::finished`]).
//!
//! ```
//! use lattice_linalg::split::factor::{FactorParams, getrf, getrs};
//! use lattice_linalg::split::{HostMut, HostRef};
//! use lattice_linalg::{MatrixLayout, Op};
//! use lattice_compute::{Selector, Team};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let team = Team::select(Selector::Auto)?; // several selectors: several devices
//! let (mut a, mut x) = ([0.0, 2.0, 4.0, 1.0], [6.0, 9.0]); // rows (0 2), (4 1)
//! let (layout, params) = (MatrixLayout::row_major(2, 2), FactorParams::default());
//! let mut pivots = [0; 2];
//! let info = getrf(&team, &params, &mut |_| true, HostMut::new(&mut a, layout)?, &mut pivots)?;
//! assert_eq!((info, pivots), (0, [1, 1]));
//! let b = HostMut::new(&mut x, MatrixLayout::column_major(2, 1))?;
//! getrs(&team, &params, Op::N, HostRef::new(&a, layout)?, &pivots, b)?;
//! assert_eq!(x, [1.5, 3.0]);
//! # Ok(())
//! # }
//! ```

mod cholesky;
mod lu;
mod panel;
mod qr;
mod triangle;

pub use cholesky::{potrf, potrs};
pub use lu::{getrf, getrs};
pub use qr::{geqrf, unmqr};
pub use triangle::trsm;

use super::{SplitParams, SplitReport, gemm};
use crate::error::{BlasError, BlasResult};
use crate::host::level1::Arithmetic;
use derive_setters::Setters;
use lattice_compute::Team;
use std::ops::{Div, Range};

/// Columns of a block at least, and at most.
const LEAST_WIDTH: usize = 64;
const MOST_WIDTH: usize = 4096;

/// Blocks of a matrix, if they are not narrower than [`LEAST_WIDTH`].
///
/// More blocks leave more of the work to products, and make these narrower.
const BLOCKS: usize = 16;

/// Numbers that the host's twins can factorise.
pub trait Divisible: Arithmetic + Div<Output = Self> {}

impl<T: Arithmetic + Div<Output = T>> Divisible for T {}

/// The way in which a factorisation is split.
#[derive(Clone, Debug, Default, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct FactorParams {
    /// The way in which products are split. Its memory bounds blocks of columns too.
    pub products: SplitParams,
    /// Columns of a block. `None` for a number that suits the matrix and the devices' memory.
    pub width: Option<usize>,
    /// Columns that an interrupted factorisation has finished.
    pub finished: usize,
}

/// The state of a factorisation after a block of columns.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a, T> {
    /// Columns that are finished.
    pub columns: usize,
    /// All columns of the matrix.
    pub all: usize,
    /// The memory that the matrix lies in. Columns that are not finished are as they were.
    pub elements: &'a [T],
    /// The pivots so far, for [`getrf`].
    pub pivots: &'a [u32],
    /// The scalars τ of the reflectors so far, for [`geqrf`].
    pub tau: &'a [T],
}

/// A function that is called after each block of columns, and ends the factorisation by `false`.
pub type FactorWatch<'a, T> = &'a mut dyn FnMut(Finished<'_, T>) -> bool;

impl FactorParams {
    /// Returns the blocks of columns that are left of `columns`.
    fn blocks<T>(
        &self,
        team: &Team,
        rows: usize,
        columns: usize,
    ) -> BlasResult<impl Iterator<Item = Range<usize>> + use<T>> {
        let (first, width) = (self.finished, self.width_for::<T>(team, rows));
        if first > columns {
            return Err(BlasError::OutOfMatrix { extent: "columns", start: 0, end: first, found: columns });
        }
        Ok((first..columns).step_by(width).map(move |start| start..(start + width).min(columns)))
    }

    /// Returns the columns of a block of so many rows.
    fn width_for<T>(&self, team: &Team, rows: usize) -> usize {
        let of_device = team.devices().iter().map(|device| device.info().memory_bytes / 10 * 8).min();
        let memory = self.products.memory.or(of_device).unwrap_or(u64::MAX);
        // A block, and scratch memory of its factorisation.
        let fitting = memory / 4 / (rows.max(1) * size_of::<T>()) as u64;
        let fitting = usize::try_from(fitting).unwrap_or(usize::MAX);
        let suitable = (rows / BLOCKS).next_multiple_of(LEAST_WIDTH).min(fitting);
        self.width.unwrap_or(suitable.clamp(LEAST_WIDTH, MOST_WIDTH)).max(1)
    }

    /// Computes C = C − op(A) op(B).
    fn subtract<T: Arithmetic>(
        &self,
        team: &Team,
        [a, b]: [super::HostRef<'_, T>; 2],
        ops: [crate::Op; 2],
        c: super::HostMut<'_, T>,
    ) -> BlasResult<SplitReport> {
        gemm(team, &self.products, ops[0], ops[1], -1, a, b, 1, c)
    }
}

/// Tells a watch of a block, and returns the error if the watch ends the factorisation there.
fn tell<T>(watch: FactorWatch<'_, T>, finished: Finished<'_, T>) -> BlasResult<()> {
    let Finished { columns, all, .. } = finished;
    if watch(finished) || columns == all { Ok(()) } else { Err(BlasError::Ended { columns, all }) }
}
