//! Sums over sites that do not depend on the number of threads.

use rayon::prelude::*;
use std::ops::Range;

/// Terms that one thread sums before the partial sums are added in order.
const BLOCK: usize = 1024;

/// Combines the terms 0..count in a fixed order.
///
/// Blocks are reduced in parallel. Their results are then combined one after the other.
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
