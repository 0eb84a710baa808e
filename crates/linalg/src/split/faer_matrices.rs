//! Matrices of the crate `faer` as operands in host memory.
//!
//! faer leaves gaps between columns, and other views may have the elements there. So a matrix of
//! faer is copied. Results are seen as a matrix of faer without a copy.
//!
//! ```
//! use faer::mat;
//! use lattice_compute::{Selector, Team};
//! use lattice_linalg::Op;
//! use lattice_linalg::split::{self, HostMatrix, SplitParams};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let a = HostMatrix::from(mat![[1.0, 2.0], [3.0, 4.0]].as_ref());
//! let mut c = HostMatrix::zeros(2, 2);
//! let (team, params) = (Team::select(Selector::Auto)?, SplitParams::default());
//! split::gemm(&team, &params, Op::N, Op::T, 1.0, a.host(), a.host(), 0.0, c.host_mut())?;
//! assert_eq!(c.faer(), mat![[5.0, 11.0], [11.0, 25.0]]);
//! # Ok(())
//! # }
//! ```

use super::host_matrix::{HostMut, HostRef};
use crate::host::level1::Arithmetic;
use crate::matrix::MatrixLayout;
use faer::{MatMut, MatRef};

/// A matrix in host memory with elements of its own, column after column.
#[derive(Clone, Debug, PartialEq)]
pub struct HostMatrix<T> {
    elements: Vec<T>,
    rows: usize,
    columns: usize,
}

impl<T: Arithmetic> HostMatrix<T> {
    /// Makes a matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { elements: vec![T::default(); rows * columns], rows, columns }
    }

    fn layout(&self) -> MatrixLayout {
        MatrixLayout::column_major(self.rows, self.columns)
    }

    /// Returns the matrix as an operand that is read.
    pub fn host(&self) -> HostRef<'_, T> {
        HostRef::new(&self.elements, self.layout()).expect("the elements are those of the layout")
    }

    /// Returns the matrix as an operand that is written.
    pub fn host_mut(&mut self) -> HostMut<'_, T> {
        let layout = self.layout();
        HostMut::new(&mut self.elements, layout).expect("the elements are those of the layout")
    }

    /// Returns the matrix for reading by faer.
    pub fn faer(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice(&self.elements, self.rows, self.columns).as_dyn_stride()
    }

    /// Returns the matrix for writing by faer.
    pub fn faer_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_column_major_slice_mut(&mut self.elements, self.rows, self.columns).as_dyn_stride_mut()
    }
}

impl<T: Arithmetic> From<MatRef<'_, T>> for HostMatrix<T> {
    /// Copies a view with any distances between its elements.
    fn from(view: MatRef<'_, T>) -> Self {
        let (rows, columns) = view.shape();
        let mut elements = Vec::with_capacity(rows * columns);
        (0..columns).for_each(|j| elements.extend(view.col(j).iter()));
        Self { elements, rows, columns }
    }
}
