//! Collections of the items of a sequence.

use super::pieces::{for_pieces, of_pieces};
use super::sequence::Parallel;
use std::iter::Zip;
use std::mem::MaybeUninit;
use std::slice::IterMut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A collection of the items of a sequence.
pub trait FromParallel<T> {
    /// Collects the items, in their order.
    fn from_parallel(sequence: impl Parallel<Item = T>) -> Self;
}

impl<T: Send> FromParallel<T> for Vec<T> {
    fn from_parallel(sequence: impl Parallel<Item = T>) -> Self {
        let mut all = Self::new();
        append(sequence, &mut all);
        all
    }
}

/// The first error, if there is one.
impl<T: Send, E: Send> FromParallel<Result<T, E>> for Result<Vec<T>, E> {
    fn from_parallel(sequence: impl Parallel<Item = Result<T, E>>) -> Self {
        let pieces = of_pieces(sequence, |_, items| items.collect::<Self>());
        pieces.collect::<Result<_, E>>().map(joined)
    }
}

/// `None` if an item is `None`.
impl<T: Send> FromParallel<Option<T>> for Option<Vec<T>> {
    fn from_parallel(sequence: impl Parallel<Item = Option<T>>) -> Self {
        let pieces = of_pieces(sequence, |_, items| items.collect::<Self>());
        pieces.collect::<Option<_>>().map(joined)
    }
}

/// Puts the items behind those of a vector.
pub fn append<P: Parallel<Item: Send>>(sequence: P, all: &mut Vec<P::Item>) {
    match sequence.exact_len() {
        Some(count) => append_exactly(sequence, count, all),
        None => {
            let pieces = joined(of_pieces(sequence, |_, items| items.collect()).collect());
            if all.is_empty() { *all = pieces } else { all.extend(pieces) }
        }
    }
}

/// Puts pieces behind each other.
pub fn joined<T>(mut pieces: Vec<Vec<T>>) -> Vec<T> {
    if pieces.len() == 1 {
        return pieces.remove(0);
    }
    let mut all = Vec::with_capacity(pieces.iter().map(Vec::len).sum());
    pieces.into_iter().for_each(|piece| all.extend(piece));
    all
}

/// A sequence, and the memory for its items.
struct Filling<'a, P: Parallel> {
    base: P,
    memory: &'a mut [MaybeUninit<P::Item>],
}

impl<'a, P: Parallel<Item: Send>> Parallel for Filling<'a, P> {
    type Item = (&'a mut MaybeUninit<P::Item>, P::Item);
    type Sequential = Zip<IterMut<'a, MaybeUninit<P::Item>>, P::Sequential>;

    fn units(&self) -> usize {
        self.base.units()
    }

    fn split_at(self, unit: usize) -> (Self, Self) {
        let (before, base) = self.base.split_at(unit);
        let (own, memory) = self.memory.split_at_mut(before.exact_len().unwrap_or(0));
        (Self { base: before, memory: own }, Self { base, memory })
    }

    fn sequential(self) -> Self::Sequential {
        self.memory.iter_mut().zip(self.base.sequential())
    }

    fn exact_len(&self) -> Option<usize> {
        self.base.exact_len()
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }
}

/// Writes the items where they shall stay.
fn append_exactly<P: Parallel<Item: Send>>(sequence: P, count: usize, all: &mut Vec<P::Item>) {
    all.reserve_exact(count);
    let memory = &mut all.spare_capacity_mut()[..count];
    let written = AtomicUsize::new(0);
    for_pieces(Filling { base: sequence, memory }, |_, items| {
        let mut own = 0;
        items.for_each(|(place, item)| {
            place.write(item);
            own += 1;
        });
        written.fetch_add(own, Ordering::Relaxed);
    });
    assert_eq!(written.into_inner(), count, "a sequence is as long as it says");
    let len = all.len() + count;
    // SAFETY: `count` elements behind the last are reserved. Each of `count` items was written to an
    // element of its own, because a piece has its part of the memory alone. After a panic in a piece
    // this line is not reached.
    unsafe { all.set_len(len) };
}
