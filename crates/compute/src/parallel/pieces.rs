//! Pieces of a sequence, and the one loop over them.

use super::sequence::Parallel;
use crate::sync::lock;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::sync::{Mutex, PoisonError};

/// Pieces for each thread: enough that unlike pieces even out.
const PIECES_OF_A_THREAD: usize = 8;

/// Calls `work` with each number below `count`, on all threads.
pub fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

/// Returns the number of pieces of a sequence.
fn number_of_pieces(units: usize, least: usize) -> usize {
    let threads = rayon::current_num_threads();
    let most = if threads == 1 { 1 } else { threads * PIECES_OF_A_THREAD };
    (units / least.max(1)).clamp(1, most)
}

/// The end of a sequence of which no thread has taken a piece yet.
struct Rest<P> {
    sequence: Option<P>,
    /// The number of the next piece.
    number: usize,
}

impl<P: Parallel> Rest<P> {
    /// Takes the next of `count` pieces of `units` units in all.
    fn next(&mut self, units: usize, count: usize) -> Option<(usize, P)> {
        let (number, sequence) = (self.number, self.sequence.take()?);
        self.number += 1;
        if self.number == count {
            return Some((number, sequence));
        }
        let (piece, behind) = sequence.split_at(units * self.number / count - units * number / count);
        self.sequence = Some(behind);
        Some((number, piece))
    }
}

/// Calls `work` with each piece: its number, and its items.
///
/// A piece is begun after those before it.
pub fn for_pieces<P: Parallel>(sequence: P, work: impl Fn(usize, P::Sequential) + Sync) {
    let units = sequence.units();
    let count = number_of_pieces(units, sequence.min_len());
    if count == 1 {
        return work(0, sequence.sequential());
    }
    let rest = Mutex::new(Rest { sequence: Some(sequence), number: 0 });
    each(count, &|_| {
        let next = lock(&rest).next(units, count);
        if let Some((number, piece)) = next {
            work(number, piece.sequential());
        }
    });
}

/// Returns what `work` makes of each piece, in the order of the pieces.
pub fn of_pieces<P: Parallel, R: Send>(
    sequence: P,
    work: impl Fn(usize, P::Sequential) -> R + Sync,
) -> impl Iterator<Item = R> {
    let mut results = Vec::new();
    results.resize_with(number_of_pieces(sequence.units(), sequence.min_len()), || None);
    let results = Mutex::new(results);
    for_pieces(sequence, |number, items| {
        let result = work(number, items);
        lock(&results)[number] = Some(result);
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten()
}
