//! Endings of a sequence: loops, collections, sums and searches.

use super::collect::{FromParallel, append, joined};
use super::pieces::{for_pieces, of_pieces};
use super::sequence::Parallel;
use std::iter::Sum;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Loops, collections, sums and searches over the items of a sequence.
pub trait Endings: Parallel {
    /// Calls a function with each item.
    fn for_each(self, function: impl Fn(Self::Item) + Sync) {
        for_pieces(self, |_, items| items.for_each(&function));
    }

    /// Calls a function with each item and a value of its piece.
    fn for_each_init<S>(self, init: impl Fn() -> S + Sync, function: impl Fn(&mut S, Self::Item) + Sync) {
        for_pieces(self, |_, items| {
            let mut state = init();
            items.for_each(|item| function(&mut state, item));
        });
    }

    /// Calls a function with each item, up to the first error of each piece.
    ///
    /// # Errors
    /// The error of the first item that has one. Some items after it may have been done.
    fn try_for_each<E: Send>(self, function: impl Fn(Self::Item) -> Result<(), E> + Sync) -> Result<(), E> {
        match first(self, |items| items.map(&function).find_map(Result::err)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Collects the items, in their order.
    fn collect<C: FromParallel<Self::Item>>(self) -> C {
        C::from_parallel(self)
    }

    /// Collects results of a function, which gets each item and a value of its piece.
    fn collect_with<S, R: Send>(
        self,
        init: impl Fn() -> S + Sync,
        function: impl Fn(&mut S, Self::Item) -> R + Sync,
    ) -> Vec<R> {
        let pieces = of_pieces(self, |_, items| {
            let mut state = init();
            items.map(|item| function(&mut state, item)).collect()
        });
        joined(pieces.collect())
    }

    /// Puts the items into a vector in the place of what it has, in their order.
    fn collect_into_vec(self, into: &mut Vec<Self::Item>)
    where
        Self::Item: Send,
    {
        into.clear();
        append(self, into);
    }

    /// Adds the items of each piece, then the sums of the pieces.
    ///
    /// Sums of rounded numbers depend on the number of threads.
    fn sum<S: Sum<Self::Item> + Sum + Send>(self) -> S {
        of_pieces(self, |_, items| items.sum::<S>()).sum()
    }

    /// Combines all items by an operation for which brackets do not matter.
    fn reduce(
        self,
        identity: impl Fn() -> Self::Item + Sync,
        operation: impl Fn(Self::Item, Self::Item) -> Self::Item + Sync,
    ) -> Self::Item
    where
        Self::Item: Send,
    {
        let pieces = of_pieces(self, |_, items| items.fold(identity(), &operation));
        pieces.fold(identity(), &operation)
    }

    /// Folds the items of each piece; `None` once a step returns `None`.
    ///
    /// The number of results depends on the number of threads.
    fn try_fold<S: Send>(
        self,
        begin: impl Fn() -> S + Sync,
        step: impl Fn(S, Self::Item) -> Option<S> + Sync,
    ) -> Option<Vec<S>> {
        let pieces = of_pieces(self, |_, mut items| items.try_fold(begin(), &step));
        pieces.collect()
    }

    /// Returns the largest item, `None` if there is none.
    fn max(self) -> Option<Self::Item>
    where
        Self::Item: Ord + Send,
    {
        of_pieces(self, |_, items| items.max()).flatten().max()
    }

    /// Tells whether a condition holds for every item.
    fn all(self, condition: impl Fn(Self::Item) -> bool + Sync) -> bool {
        !self.any(|item| !condition(item))
    }

    /// Tells whether a condition holds for an item.
    fn any(self, condition: impl Fn(Self::Item) -> bool + Sync) -> bool {
        first(self, |mut items| items.any(&condition).then_some(())).is_some()
    }

    /// Returns the first item for which a condition holds.
    fn find_first(self, condition: impl Fn(&Self::Item) -> bool + Sync) -> Option<Self::Item>
    where
        Self::Item: Send,
    {
        first(self, |mut items| items.find(&condition))
    }

    /// Returns the first result of a function that is not `None`.
    fn find_map_first<R: Send>(self, function: impl Fn(Self::Item) -> Option<R> + Sync) -> Option<R> {
        first(self, |mut items| items.find_map(&function))
    }
}

impl<P: Parallel> Endings for P {}

/// Returns the result of the first piece that has one. Pieces behind it are not begun.
fn first<P: Parallel, R: Send>(sequence: P, look: impl Fn(P::Sequential) -> Option<R> + Sync) -> Option<R> {
    let earliest = AtomicUsize::new(usize::MAX);
    let mut results = of_pieces(sequence, |number, items| {
        if number > earliest.load(Ordering::Relaxed) {
            return None;
        }
        let result = look(items);
        if result.is_some() {
            earliest.fetch_min(number, Ordering::Relaxed);
        }
        result
    });
    results.find_map(|result| result)
}
