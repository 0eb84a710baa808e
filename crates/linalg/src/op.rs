//! The operation on an operand as it enters a product.

/// The operation on an operand as it enters a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Op {
    /// Unchanged.
    N,
    /// Transposed.
    T,
    /// Transposed and complex conjugate; for real elements the same as [`Op::T`].
    C,
}

impl Op {
    /// All three values.
    pub const ALL: [Self; 3] = [Op::N, Op::T, Op::C];

    /// Returns the rows and columns of op(X), for X of this shape.
    pub fn shape(self, rows: usize, columns: usize) -> (usize, usize) {
        if self == Op::N { (rows, columns) } else { (columns, rows) }
    }
}
