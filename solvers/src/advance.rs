//! The matrices by which X and the directions of a block go on.

use crate::square_matrix::SquareMatrix;

/// The matrices of [`BlockSpace::advance_block`](crate::BlockSpace::advance_block).
#[derive(Clone, Copy, Debug)]
pub struct Advance<'a> {
    /// D, if it is not zero.
    pub earlier: Option<&'a SquareMatrix>,
    /// E, if it is not zero.
    pub step: Option<&'a SquareMatrix>,
    /// T, upper triangular.
    pub turn: &'a SquareMatrix,
    /// F, lower triangular.
    pub keep: &'a SquareMatrix,
    /// `true` if Q T takes the place of Q.
    pub overwrite: bool,
}
