//! The columns of a quark propagator.

use std::fmt;

/// A column of a quark propagator.
///
/// The column is the solution for this spin and colour of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Column {
    /// Spin of the source, 0 to 3.
    pub spin: usize,
    /// Colour of the source, 0 to 2.
    pub colour: usize,
}

impl Column {
    /// Number of columns.
    pub const COUNT: usize = 12;

    /// Returns all twelve columns, colours fastest.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        (0..Self::COUNT).map(|number| Self { spin: number / 3, colour: number % 3 })
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "spin {}, colour {}", self.spin, self.colour)
    }
}
