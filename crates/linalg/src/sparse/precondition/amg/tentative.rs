//! The tentative prolongator.
//!
//! Near-null vectors are cut into aggregates and made orthonormal.

use super::aggregates::Aggregates;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{conjugate, real, size};
use crate::sparse::csr::Csr;
use rayon::prelude::*;

/// Share of a column below which it depends on those before it.
const DEPENDENT: f64 = 1e-10;

/// Computes T and B' with B = T B', from the near-null vectors B of a level.
///
/// B has `modes` values for each row, row after row. Columns of an aggregate that depend on others
/// are zero.
pub(super) fn prolongator<T: Arithmetic>(
    near_null: &[T],
    modes: usize,
    block: usize,
    aggregates: &Aggregates,
) -> (Csr<T>, Vec<T>) {
    let rows = aggregates.of_point.len() * block;
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); aggregates.count];
    for (point, aggregate) in aggregates.of_point.iter().enumerate() {
        if let Some(aggregate) = aggregate {
            members[*aggregate as usize].extend((point * block..(point + 1) * block).map(|row| row as u32));
        }
    }
    let factors: Vec<(Vec<T>, Vec<T>)> =
        members.par_iter().map(|rows| orthonormalised(near_null, modes, rows)).collect();
    // The place of each row within its aggregate.
    let mut place = vec![0_u32; rows];
    for rows in &members {
        rows.iter().enumerate().for_each(|(k, row)| place[*row as usize] = k as u32);
    }
    let row = |row: usize| {
        let aggregate = aggregates.of_point[row / block];
        aggregate
            .into_iter()
            .flat_map(move |aggregate| (0..modes).map(move |mode| (aggregate as usize, mode)))
    };
    let entries = |k: usize| {
        row(k)
            .map(|(aggregate, mode)| {
                let value = factors[aggregate].0[place[k] as usize * modes + mode];
                ((aggregate * modes + mode) as u32, value)
            })
            .filter(|(_, value)| size(*value) > 0.0)
            .collect::<Vec<_>>()
    };
    let tentative = Csr::from_rows(aggregates.count * modes, (0..rows).map(entries));
    (tentative, factors.into_iter().flat_map(|(_, coarse)| coarse).collect())
}

/// Returns Q and R of the rows of an aggregate, by Gram and Schmidt, twice.
fn orthonormalised<T: Arithmetic>(near_null: &[T], modes: usize, rows: &[u32]) -> (Vec<T>, Vec<T>) {
    let n = rows.len();
    let mut q: Vec<T> = rows
        .iter()
        .flat_map(|row| &near_null[*row as usize * modes..(*row as usize + 1) * modes])
        .copied()
        .collect();
    let mut r = vec![T::default(); modes * modes];
    let norm = |q: &[T], j: usize| (0..n).map(|k| size(q[k * modes + j]).powi(2)).sum::<f64>().sqrt();
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
