//! Sums over sites that do not depend on the number of threads, or of processes.

use super::part::{BLOCK, LocalSites};
use crate::compute::parallel::*;
use bytemuck::Pod;
use std::ops::Range;

/// Combines the terms 0..count in a fixed order.
///
/// Blocks are reduced in parallel. Their results are then combined one after the other.
pub(crate) fn ordered_sum<S: Copy + Send + Sync>(
    count: usize,
    zero: S,
    combine: impl Fn(S, S) -> S + Sync,
    term: impl Fn(usize) -> S + Sync,
) -> S {
    blocks(0..count, zero, &combine, &term).into_iter().fold(zero, &combine)
}

/// Combines a term of each site. Each process may have a part of the sites.
///
/// The result has the same bits for every number of processes. It is `None` if one has given up.
pub(crate) fn ordered_sum_of_sites<S: Pod + Send + Sync>(
    volume: usize,
    part: Option<&LocalSites>,
    zero: S,
    combine: impl Fn(S, S) -> S + Sync,
    term: impl Fn(usize) -> S + Sync,
) -> Option<S> {
    let Some(part) = part else { return Some(ordered_sum(volume, zero, combine, term)) };
    let own = blocks(part.share(), zero, &combine, &term);
    let all = part.company().all(Some(bytemuck::cast_slice(&own)))?;
    let sums = all.iter().flat_map(|bytes| bytes.chunks_exact(size_of::<S>()));
    Some(sums.map(bytemuck::pod_read_unaligned).fold(zero, combine))
}

/// Returns the sum of each block of these terms. The first term begins a block.
fn blocks<S: Copy + Send + Sync>(
    terms: Range<usize>,
    zero: S,
    combine: &(impl Fn(S, S) -> S + Sync),
    term: &(impl Fn(usize) -> S + Sync),
) -> Vec<S> {
    let block = |range: Range<usize>| range.map(term).fold(zero, combine);
    (0..terms.len().div_ceil(BLOCK))
        .into_par_iter()
        .map(|k| terms.start + k * BLOCK)
        .map(|first| block(first..terms.end.min(first + BLOCK)))
        .collect()
}
