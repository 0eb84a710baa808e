//! Sums over sites that do not depend on the number of threads.

use rayon::prelude::*;
use std::ops::Range;

/// Terms that one thread sums before the partial sums are added in order.
const BLOCK: usize = 1024;

/// The terms 0..count combined in a fixed order: within blocks in parallel, then block after block.
pub(crate) fn ordered_sum<S: Copy + Send + Sync>(
    count: usize,
    zero: S,
    combine: impl Fn(S, S) -> S + Sync,
    term: impl Fn(usize) -> S + Sync,
) -> S {
    let block = |range: Range<usize>| range.map(&term).fold(zero, &combine);
    let partial: Vec<S> = (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .map(|k| block(k * BLOCK..count.min((k + 1) * BLOCK)))
        .collect();
    partial.into_iter().fold(zero, &combine)
}
