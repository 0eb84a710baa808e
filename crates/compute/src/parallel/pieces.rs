//! Pieces of a sequence, and the one way to share them out.

use super::sequence::Parallel;
use crate::sync::lock;
use std::sync::{Mutex, PoisonError};

/// Pieces for each thread: enough that unlike pieces even out.
const PIECES_OF_A_THREAD: usize = 8;

/// Does both, at the same time if a thread is free.
///
/// Every loop goes through this function, so that the scheduler is compiled once.
fn both(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    rayon::join(one, other);
}

/// Returns the number of pieces of a sequence.
fn number_of_pieces(units: usize, least: usize) -> usize {
    let threads = rayon::current_num_threads();
    let most = if threads == 1 { 1 } else { threads * PIECES_OF_A_THREAD };
    (units / least.max(1)).clamp(1, most)
}

/// Calls `work` with each piece: its number, and its items.
pub fn for_pieces<P: Parallel>(sequence: P, work: impl Fn(usize, P::Sequential) + Sync) {
    let count = number_of_pieces(sequence.units(), sequence.min_len());
    halve(sequence, 0, count, &work);
}

/// Cuts a sequence into `count` pieces, half by half.
///
/// A free thread takes the largest half that waits. In many equal loops it works on the same items,
/// which are still in its cache.
fn halve<P: Parallel>(sequence: P, first: usize, count: usize, work: &(dyn Fn(usize, P::Sequential) + Sync)) {
    if count == 1 {
        return work(first, sequence.sequential());
    }
    let half = count / 2;
    let middle = sequence.units() * half / count;
    let (front, back) = sequence.split_at(middle);
    let (mut front, mut back) = (Some(front), Some(back));
    both(&mut || front.take().into_iter().for_each(|front| halve(front, first, half, work)), &mut || {
        back.take().into_iter().for_each(|back| halve(back, first + half, count - half, work))
    });
}

/// Returns what `work` makes of each piece, in the order of the pieces.
pub fn of_pieces<P: Parallel, R: Send>(
    sequence: P,
    work: impl Fn(usize, P::Sequential) -> R + Sync,
) -> impl Iterator<Item = R> {
    let count = number_of_pieces(sequence.units(), sequence.min_len());
    let mut results = Vec::new();
    results.resize_with(count, || None);
    let results = Mutex::new(results);
    halve(sequence, 0, count, &|number, items| {
        let result = work(number, items);
        lock(&results)[number] = Some(result);
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten()
}
