//! Loops that all cores of the host share.
//!
//! Methods have the names and the meaning of `rayon`, whose threads do the work. The difference is in the machine
//! code: a loop is cut into pieces, and threads take the pieces by one function for all loops. Every loop of
//! `rayon` is compiled with a scheduler of its own, which is ten times as much code.
//!
//! Results do not depend on the number of threads, unless an ending says so.
//!
//! ```
//! use lattice_compute::parallel::*;
//!
//! let squares: Vec<usize> = (0..1000).into_par_iter().map(|k| k * k).collect();
//! let mut sums = vec![0; 10];
//! sums.par_iter_mut().zip(squares.par_chunks(100)).for_each(|(sum, squares)| *sum = squares.iter().sum());
//! assert_eq!(sums.iter().sum::<usize>(), 332_833_500);
//! ```

mod adapters;
mod collect;
mod endings;
mod pieces;
mod sources;

pub use collect::FromParallel;
pub use pieces::each;
pub use sources::{IntoParallel, ParallelSlice};

use adapters::{Copied, Enumerate, FilterMap, FlatMap, Flatten, Map, MinLen, Zip};
use std::sync::Arc;

/// What threads share out: a sequence that can be cut.
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

    /// Keeps pieces at this number of units or more, where an item costs less than a thread.
    fn with_min_len(self, units: usize) -> MinLen<Self> {
        MinLen { base: self, least: units }
    }

    /// Applies a function to each item.
    fn map<R, F: Fn(Self::Item) -> R + Send + Sync>(self, function: F) -> Map<Self, F> {
        Map { base: self, function: Arc::new(function) }
    }

    /// Applies a function to each item, and leaves out those for which it returns `None`.
    fn filter_map<R, F: Fn(Self::Item) -> Option<R> + Send + Sync>(self, function: F) -> FilterMap<Self, F> {
        FilterMap { base: self, function: Arc::new(function) }
    }

    /// Applies a function to each item, and puts the iterators that it returns behind each other.
    fn flat_map_iter<R: IntoIterator, F: Fn(Self::Item) -> R + Send + Sync>(
        self,
        function: F,
    ) -> FlatMap<Self, F> {
        FlatMap { base: self, function: Arc::new(function) }
    }

    /// Puts the items of the items behind each other.
    fn flatten(self) -> Flatten<Self>
    where
        Self::Item: IntoIterator,
    {
        Flatten { base: self }
    }

    /// Copies each item.
    fn copied<'a, T: Copy + 'a>(self) -> Copied<Self>
    where
        Self: Parallel<Item = &'a T>,
    {
        Copied { base: self }
    }
}

/// A sequence whose units are its items.
pub trait Indexed: Parallel {
    /// Tells each item its number.
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate { base: self, first: 0 }
    }

    /// Pairs items with those of another sequence, up to the end of the shorter one.
    fn zip<B: IntoParallel>(self, other: B) -> Zip<Self, B::Parallel>
    where
        B::Parallel: Indexed,
    {
        Zip { one: self, other: other.into_par_iter() }
    }

    /// Returns the first items.
    fn take(self, count: usize) -> Self {
        let count = count.min(self.units());
        self.split_at(count).0
    }
}

pub use endings::Endings;

#[cfg(test)]
mod tests;
