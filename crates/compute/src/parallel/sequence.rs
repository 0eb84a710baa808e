//! Sequences that threads share out.

/// A sequence that can be cut, so that threads share it out.
pub trait Parallel: Sized + Send {
    /// The type of the items.
    type Item;
    /// The items of a piece, one after the other.
    type Sequential: Iterator<Item = Self::Item>;

    /// Returns the number of places at which the sequence can be cut, plus one; 0 if it is empty.
    fn units(&self) -> usize;

    /// Cuts the sequence before a unit.
    fn split_at(self, unit: usize) -> (Self, Self);

    /// Returns the items of the whole sequence.
    fn sequential(self) -> Self::Sequential;

    /// Returns the number of items, if it is known.
    fn exact_len(&self) -> Option<usize>;

    /// Returns the least number of units of a piece.
    fn min_len(&self) -> usize {
        1
    }
}

/// A sequence whose units are its items.
pub trait Indexed: Parallel {}
