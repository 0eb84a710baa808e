//! The tentative prolongator.
//!
//! Near-null vectors are cut into aggregates and made orthonormal.

use super::aggregates::Aggregates;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{conjugate, real, square};
use crate::sparse::csr::Csr;
use lattice_compute::parallel::*;

/// Share of a column below which it depends on those before it.
pub(super) const DEPENDENT: f64 = 1e-10;

/// Computes T and B' with B = T B', from the near-null vectors B of a level.
///
/// B has `modes` values for each row, row after row, and so has T in rows of aggregates. Columns of
/// an aggregate that depend on others are zero.
pub(super) fn prolongator<T: Arithmetic>(
    near_null: &[T],
    modes: usize,
    block: usize,
    aggregates: &Aggregates,
) -> (Csr<T>, Vec<T>) {
    let Aggregates { of_point, count } = aggregates;
    // The members of each aggregate, one after the other, and the place of each point among them.
    let mut first = vec![0_usize; count + 1];
    of_point.iter().flatten().for_each(|aggregate| first[*aggregate as usize + 1] += 1);
    for aggregate in 0..*count {
        first[aggregate + 1] += first[aggregate];
    }
    let mut next = first.clone();
    let mut members = vec![0_u32; first[*count]];
    let mut starts = Vec::with_capacity(of_point.len() * block + 1);
    let mut entries = 0;
    starts.push(entries);
    for (point, aggregate) in of_point.iter().enumerate() {
        if let Some(aggregate) = aggregate {
            let place = &mut next[*aggregate as usize];
            members[*place] = point as u32;
            *place += 1;
        }
        for _ in 0..block {
            entries += if aggregate.is_some() { modes as u64 } else { 0 };
            starts.push(entries);
        }
    }
    let rows_of = |aggregate: usize| {
        let points = members[first[aggregate]..first[aggregate + 1]].iter();
        points.flat_map(|point| *point as usize * block..(*point as usize + 1) * block)
    };
    let factors: Vec<(Vec<T>, Vec<T>)> = (0..*count)
        .into_par_iter()
        .map(|aggregate| orthonormalised(near_null, modes, &rows_of(aggregate).collect::<Vec<_>>()))
        .collect();
    let columns_of = of_point.par_iter().flatten().flat_map_iter(|aggregate| {
        let columns = *aggregate * modes as u32..(*aggregate + 1) * modes as u32;
        std::iter::repeat_n(columns, block).flatten()
    });
    let columns_of = columns_of.collect();
    let mut values = vec![T::default(); entries as usize];
    for (aggregate, (q, _)) in factors.iter().enumerate() {
        for (row, q) in rows_of(aggregate).zip(q.chunks(modes)) {
            let begin = starts[row] as usize;
            values[begin..begin + modes].copy_from_slice(q);
        }
    }
    let tentative = Csr { columns: count * modes, starts, columns_of, values };
    (tentative, factors.into_iter().flat_map(|(_, coarse)| coarse).collect())
}

/// Returns Q and R of the rows of an aggregate, by Gram and Schmidt, twice.
fn orthonormalised<T: Arithmetic>(near_null: &[T], modes: usize, rows: &[usize]) -> (Vec<T>, Vec<T>) {
    let n = rows.len();
    let mut q: Vec<T> =
        rows.iter().flat_map(|row| &near_null[row * modes..(row + 1) * modes]).copied().collect();
    let mut r = vec![T::default(); modes * modes];
    let norm = |q: &[T], j: usize| (0..n).map(|k| square(q[k * modes + j])).sum::<f64>().sqrt();
    for j in 0..modes {
        let before = norm(&q, j);
        for _ in 0..2 {
            for i in 0..j {
                let share =
                    (0..n).fold(T::default(), |sum, k| sum + conjugate(q[k * modes + i]) * q[k * modes + j]);
                r[i * modes + j] = r[i * modes + j] + share;
                for k in 0..n {
                    q[k * modes + j] = q[k * modes + j] - share * q[k * modes + i];
                }
            }
        }
        let after = norm(&q, j);
        let independent = after > DEPENDENT * before;
        let inverse = real::<T>(if independent { 1.0 / after } else { 0.0 });
        (0..n).for_each(|k| q[k * modes + j] = inverse * q[k * modes + j]);
        r[j * modes + j] = real(if independent { after } else { 0.0 });
    }
    (q, r)
}
