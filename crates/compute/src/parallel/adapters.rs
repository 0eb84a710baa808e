//! Sequences made of others.

use super::sequence::{Indexed, Parallel};
use super::sources::IntoParallel;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

/// Sequences made of one.
pub trait Adapters: Parallel {
    /// Keeps pieces at this number of units or more, where an item costs less than a thread.
    fn with_min_len(self, units: usize) -> MinLen<Self> {
        MinLen { base: self, least: units }
    }

    /// Applies a function to each item.
    fn map<R, F: Fn(Self::Item) -> R + Send + Sync>(self, function: F) -> Map<Self, F> {
        Map { base: self, function: Arc::new(function) }
    }

    /// Applies a function to each item, and leaves out those for which it returns `None`.
    fn filter_map<R, F: Fn(Self::Item) -> Option<R> + Send + Sync>(self, function: F) -> FlatMap<Self, F> {
        self.flat_map_iter(function)
    }

    /// Applies a function to each item, and puts the iterators that it returns behind each other.
    fn flat_map_iter<R: IntoIterator, F: Fn(Self::Item) -> R + Send + Sync>(
        self,
        function: F,
    ) -> FlatMap<Self, F> {
        FlatMap { base: self, function: Arc::new(function) }
    }

    /// Puts the items of the items behind each other.
    fn flatten(self) -> impl Parallel<Item = <Self::Item as IntoIterator>::Item>
    where
        Self::Item: IntoIterator,
    {
        self.flat_map_iter(|items| items)
    }

    /// Copies each item.
    fn copied<'a, T: Copy + 'a>(self) -> Copied<Self>
    where
        Self: Parallel<Item = &'a T>,
    {
        Copied { base: self }
    }
}

impl<P: Parallel> Adapters for P {}

/// Sequences made of one whose items are counted.
pub trait IndexedAdapters: Indexed {
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

impl<P: Indexed> IndexedAdapters for P {}

/// The results of a function for all items.
pub struct Map<P, F> {
    base: P,
    function: Arc<F>,
}

/// The items of the iterators that a function returns.
pub struct FlatMap<P, F> {
    base: P,
    function: Arc<F>,
}

/// Items of a piece, and the function for them.
pub struct WithFunction<I, F> {
    base: I,
    function: Arc<F>,
}

impl<I: Iterator, R, F: Fn(I::Item) -> R> Iterator for WithFunction<I, F> {
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        self.base.next().map(&*self.function)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }

    // The loop of the base is one that the compiler can unroll.
    #[inline]
    fn fold<B, G: FnMut(B, R) -> B>(self, begin: B, mut step: G) -> B {
        let Self { base, function } = self;
        base.fold(begin, |sum, item| step(sum, function(item)))
    }
}

/// Declares how a sequence with a function is cut: as its base.
macro_rules! cut_as_base {
    ($len:expr) => {
        fn units(&self) -> usize {
            self.base.units()
        }

        fn split_at(self, unit: usize) -> (Self, Self) {
            let (before, behind) = self.base.split_at(unit);
            let function = Arc::clone(&self.function);
            (Self { base: before, function }, Self { base: behind, function: self.function })
        }

        fn exact_len(&self) -> Option<usize> {
            let len: fn(&P) -> Option<usize> = $len;
            len(&self.base)
        }

        fn min_len(&self) -> usize {
            self.base.min_len()
        }
    };
}

impl<P: Parallel, R, F: Fn(P::Item) -> R + Send + Sync> Parallel for Map<P, F> {
    type Item = R;
    type Sequential = WithFunction<P::Sequential, F>;

    cut_as_base!(P::exact_len);

    fn sequential(self) -> Self::Sequential {
        WithFunction { base: self.base.sequential(), function: self.function }
    }
}

impl<P: Indexed, R, F: Fn(P::Item) -> R + Send + Sync> Indexed for Map<P, F> {}

impl<P: Parallel, R: IntoIterator, F: Fn(P::Item) -> R + Send + Sync> Parallel for FlatMap<P, F> {
    type Item = R::Item;
    type Sequential = iter::Flatten<WithFunction<P::Sequential, F>>;

    cut_as_base!(|_| None);

    fn sequential(self) -> Self::Sequential {
        WithFunction { base: self.base.sequential(), function: self.function }.flatten()
    }
}

/// Items with their numbers.
pub struct Enumerate<P> {
    base: P,
    first: usize,
}

impl<P: Indexed> Parallel for Enumerate<P> {
    type Item = (usize, P::Item);
    type Sequential = iter::Zip<Range<usize>, P::Sequential>;

    fn units(&self) -> usize {
        self.base.units()
    }

    fn split_at(self, unit: usize) -> (Self, Self) {
        let (before, behind) = self.base.split_at(unit);
        (Self { base: before, first: self.first }, Self { base: behind, first: self.first + unit })
    }

    fn sequential(self) -> Self::Sequential {
        (self.first..self.first + self.base.units()).zip(self.base.sequential())
    }

    fn exact_len(&self) -> Option<usize> {
        self.base.exact_len()
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }
}

impl<P: Indexed> Indexed for Enumerate<P> {}

/// Pairs of items of two sequences.
pub struct Zip<A, B> {
    one: A,
    other: B,
}

impl<A: Indexed, B: Indexed> Parallel for Zip<A, B> {
    type Item = (A::Item, B::Item);
    type Sequential = iter::Zip<A::Sequential, B::Sequential>;

    fn units(&self) -> usize {
        self.one.units().min(self.other.units())
    }

    fn split_at(self, unit: usize) -> (Self, Self) {
        let ((one, one_behind), (other, other_behind)) = (self.one.split_at(unit), self.other.split_at(unit));
        (Self { one, other }, Self { one: one_behind, other: other_behind })
    }

    fn sequential(self) -> Self::Sequential {
        self.one.sequential().zip(self.other.sequential())
    }

    fn exact_len(&self) -> Option<usize> {
        Some(self.units())
    }

    fn min_len(&self) -> usize {
        self.one.min_len().max(self.other.min_len())
    }
}

impl<A: Indexed, B: Indexed> Indexed for Zip<A, B> {}

/// A sequence of which no small pieces are made.
pub struct MinLen<P> {
    base: P,
    least: usize,
}

impl<P: Parallel> Parallel for MinLen<P> {
    type Item = P::Item;
    type Sequential = P::Sequential;

    fn units(&self) -> usize {
        self.base.units()
    }

    fn split_at(self, unit: usize) -> (Self, Self) {
        let (before, behind) = self.base.split_at(unit);
        (Self { base: before, least: self.least }, Self { base: behind, least: self.least })
    }

    fn sequential(self) -> Self::Sequential {
        self.base.sequential()
    }

    fn exact_len(&self) -> Option<usize> {
        self.base.exact_len()
    }

    fn min_len(&self) -> usize {
        self.least.max(self.base.min_len())
    }
}

impl<P: Indexed> Indexed for MinLen<P> {}

/// Copies of the items.
pub struct Copied<P> {
    base: P,
}

impl<'a, T: Copy + 'a, P: Parallel<Item = &'a T>> Parallel for Copied<P> {
    type Item = T;
    type Sequential = iter::Copied<P::Sequential>;

    fn units(&self) -> usize {
        self.base.units()
    }

    fn split_at(self, unit: usize) -> (Self, Self) {
        let (before, behind) = self.base.split_at(unit);
        (Self { base: before }, Self { base: behind })
    }

    fn sequential(self) -> Self::Sequential {
        self.base.sequential().copied()
    }

    fn exact_len(&self) -> Option<usize> {
        self.base.exact_len()
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }
}

impl<'a, T: Copy + 'a, P: Indexed<Item = &'a T>> Indexed for Copied<P> {}
