//! Numbers that all pairs need, in the order of `cl/pairs.cl`.

use super::places::PairPrecision;
use crate::host::Pairs;
use crate::potential::Potential;

/// Numbers of a row of pairs, `ROW` of `cl/pairs.cl`.
const ROW: usize = 8;

/// Returns scales and inverses of the edges, the cutoff, and where a table has its samples.
/// Pairs nearer than `list_radius` are listed.
pub(super) fn constants<T: PairPrecision>(pairs: &Pairs<'_>, list_radius: f64) -> Vec<T> {
    let of_table = match pairs.potential {
        Potential::Formula { .. } => [0.0; 4],
        Potential::Table { table, .. } => {
            let grid = table.grid();
            let origin = grid.spacing.variable(grid.rmin);
            [grid.rmin, origin, 1.0 / grid.step(), table.slope_factor()]
        }
    };
    let cutoff = [pairs.cutoff, pairs.cutoff * pairs.cutoff];
    let scales = pairs.edges.map(T::scale).into_iter();
    let all = scales.chain(pairs.edges.map(|edge| 1.0 / edge)).chain(cutoff);
    all.chain(of_table).chain([list_radius * list_radius]).map(T::from_f64).collect()
}

/// Returns the numbers of each pair of types: those of its formula or its table's beginning, and its shift.
pub(super) fn rows<T: PairPrecision>(pairs: &Pairs<'_>) -> Vec<T> {
    let types = pairs.potential.types();
    let row = |row: usize| {
        let mut numbers = [0.0; ROW];
        numbers[..4].copy_from_slice(&pairs.potential.coefficients(row));
        numbers[4..6].copy_from_slice(&pairs.potential.shift(pairs.shift, pairs.cutoff, row));
        numbers.map(T::from_f64)
    };
    (0..types * types).flat_map(row).collect()
}
