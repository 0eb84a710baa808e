//! Arrays of the crate `ndarray` as matrices in host memory, without a copy.
//!
//! ```
//! use lattice_linalg::split::{self, SplitParams};
//! use lattice_linalg::Op;
//! use lattice_compute::{Selector, Team};
//! use ndarray::{Array2, array};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (a, mut c) = (array![[1.0, 2.0], [3.0, 4.0]], Array2::zeros((2, 2)));
//! let (team, params) = (Team::select(Selector::Auto)?, SplitParams::default());
//! let x = a.view().try_into()?;
//! split::gemm(&team, &params, Op::N, Op::T, 1.0, x, x, 0.0, c.view_mut().try_into()?)?;
//! assert_eq!(c, array![[5.0, 11.0], [11.0, 25.0]]);
//! # Ok(())
//! # }
//! ```

use super::host_matrix::{HostMut, HostRef};
use crate::error::{BlasError, BlasResult};
use crate::host::level1::Arithmetic;
use crate::matrix::MatrixLayout;
use ndarray::{ArrayView2, ArrayViewMut2};

fn gaps([rows, columns]: [usize; 2]) -> BlasError {
    BlasError::Gaps { rows, columns }
}

impl<'a, T: Arithmetic> TryFrom<ArrayView2<'a, T>> for HostRef<'a, T> {
    type Error = BlasError;

    /// Takes a view whose elements lie without gaps, in either order.
    ///
    /// # Errors
    /// [`BlasError::Gaps`].
    fn try_from(view: ArrayView2<'a, T>) -> BlasResult<Self> {
        let (rows, columns) = view.dim();
        if let Some(elements) = view.to_slice() {
            return Self::new(elements, MatrixLayout::row_major(rows, columns));
        }
        let elements = view.reversed_axes().to_slice().ok_or_else(|| gaps([rows, columns]))?;
        Self::new(elements, MatrixLayout::column_major(rows, columns))
    }
}

impl<'a, T: Arithmetic> TryFrom<ArrayViewMut2<'a, T>> for HostMut<'a, T> {
    type Error = BlasError;

    /// Takes a view whose elements lie without gaps, in either order.
    ///
    /// # Errors
    /// [`BlasError::Gaps`].
    fn try_from(view: ArrayViewMut2<'a, T>) -> BlasResult<Self> {
        let (rows, columns) = view.dim();
        if view.is_standard_layout() {
            let elements = view.into_slice().ok_or_else(|| gaps([rows, columns]))?;
            return Self::new(elements, MatrixLayout::row_major(rows, columns));
        }
        let elements = view.reversed_axes().into_slice().ok_or_else(|| gaps([rows, columns]))?;
        Self::new(elements, MatrixLayout::column_major(rows, columns))
    }
}
