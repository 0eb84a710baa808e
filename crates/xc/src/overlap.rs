//! Overlaps of the functions of a basis, in closed form.

use super::basis::Basis;
use super::harmonics::{LARGEST, powers};
use lattice_compute::parallel::*;
use std::f64::consts::PI;

/// Overlaps along an axis, by the powers of both functions.
type Along = [[f64; LARGEST + 1]; LARGEST + 1];

/// The functions of a shell, each as coefficients of the powers of its momentum.
struct Dense {
    powers: Vec<[u32; 3]>,
    functions: Vec<Vec<f64>>,
}

/// Returns ∫ (x − a)^i (x − b)^j e^{−p (x − c)²} dx, for distances c − a and c − b.
///
/// Source: S. Obara and A. Saika, J. Chem. Phys. 84 (1986) 3963.
fn along(p: f64, from_a: f64, from_b: f64, [most_a, most_b]: [usize; 2]) -> Along {
    let mut table = Along::default();
    table[0][0] = (PI / p).sqrt();
    for i in 0..=most_a {
        for j in 0..=most_b {
            let lower = |power: usize, value: f64| power as f64 * value / (2.0 * p);
            if i < most_a {
                let below = if i > 0 { lower(i, table[i - 1][j]) } else { 0.0 };
                let beside = if j > 0 { lower(j, table[i][j - 1]) } else { 0.0 };
                table[i + 1][j] = from_a * table[i][j] + below + beside;
            }
            if i == 0 && j < most_b {
                let below = if j > 0 { lower(j, table[0][j - 1]) } else { 0.0 };
                table[0][j + 1] = from_b * table[0][j] + below;
            }
        }
    }
    table
}

/// Returns the overlaps of all functions, row after row.
pub(crate) fn overlaps(basis: &Basis) -> Vec<f64> {
    let n = basis.functions();
    let dense = |shell: &crate::basis::Shell| {
        let powers = powers(shell.momentum);
        let function = |polynomial: &Vec<(f64, [u32; 3])>| {
            let of =
                |power: &[u32; 3]| polynomial.iter().find(|(_, known)| known == power).map_or(0.0, |m| m.0);
            powers.iter().map(of).collect()
        };
        let functions = shell.kind().polynomials().iter().map(function).collect();
        Dense { powers, functions }
    };
    let shells: Vec<Dense> = basis.shells().iter().map(dense).collect();
    let rows = |a: usize| {
        let mut rows = vec![0.0; shells[a].functions.len() * n];
        for b in 0..=a {
            let block = of_powers(basis, [a, b], [&shells[a].powers, &shells[b].powers]);
            let width = shells[b].powers.len();
            for (row, left) in rows.chunks_exact_mut(n).zip(&shells[a].functions) {
                let half: Vec<f64> = (0..width)
                    .map(|k| left.iter().enumerate().map(|(i, c)| c * block[i * width + k]).sum())
                    .collect();
                for (element, right) in row[basis.functions_of(b)].iter_mut().zip(&shells[b].functions) {
                    *element = half.iter().zip(right).map(|(x, c)| x * c).sum();
                }
            }
        }
        rows
    };
    let mut all: Vec<f64> = (0..shells.len()).into_par_iter().flat_map_iter(rows).collect();
    for row in 0..n {
        for column in 0..row {
            all[column * n + row] = all[row * n + column];
        }
    }
    all
}

/// Returns the overlaps of R times powers of two shells.
fn of_powers(basis: &Basis, pair: [usize; 2], powers: [&[[u32; 3]]; 2]) -> Vec<f64> {
    let [a, b] = pair.map(|number| &basis.shells()[number]);
    let [at_a, at_b] = pair.map(|number| basis.centre(number));
    let square: f64 = (0..3).map(|axis| (at_a[axis] - at_b[axis]).powi(2)).sum();
    let mut block = vec![0.0; powers[0].len() * powers[1].len()];
    for &[alpha, c] in &a.primitives {
        for &[beta, d] in &b.primitives {
            let p = alpha + beta;
            let scale = c * d * (-alpha * beta / p * square).exp();
            if scale == 0.0 {
                continue;
            }
            let tables: [Along; 3] = std::array::from_fn(|axis| {
                let apart = at_b[axis] - at_a[axis];
                along(p, beta / p * apart, -alpha / p * apart, [a.momentum, b.momentum])
            });
            let pairs = powers[0].iter().flat_map(|i| powers[1].iter().map(move |j| (i, j)));
            for (element, (i, j)) in block.iter_mut().zip(pairs) {
                let of = |axis: usize| tables[axis][i[axis] as usize][j[axis] as usize];
                *element += scale * of(0) * of(1) * of(2);
            }
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{Atom, Shell};
    use crate::grid::Grid;
    use crate::host::functions::Functions;

    #[test]
    fn overlaps_are_the_sums_over_a_fine_grid() {
        let atoms = [[0.0, 0.1, -0.2], [0.7, -0.4, 0.5]].map(|position| Atom { charge: 6, position });
        let kinds = (0..=LARGEST).flat_map(|l| [(l, false), (l, true)]);
        let shell = |(momentum, is_cartesian): (usize, bool)| Shell {
            atom: (momentum + usize::from(is_cartesian)) % 2,
            momentum,
            is_cartesian,
            primitives: vec![[0.9 + 0.2 * momentum as f64, 0.7], [2.1, 0.4]],
        };
        let basis = Basis::new(atoms.to_vec(), kinds.map(shell).collect()).unwrap();
        let grid = Grid::molecular(basis.atoms(), 60, 770).unwrap();
        let all: Vec<u32> = (0..basis.shells().len() as u32).collect();
        let functions = Functions::new(&basis, &all, grid.points(), 1);
        let found = overlaps(&basis);
        let n = basis.functions();
        for i in (0..n).step_by(3) {
            for j in 0..n {
                let [a, b] = [i, j].map(|k| functions.of(0, k));
                let sum: f64 = a.iter().zip(b).zip(grid.weights()).map(|((a, b), w)| a * b * w).sum();
                assert!((found[i * n + j] - sum).abs() < 2e-6, "({i}, {j}): {} {sum}", found[i * n + j]);
            }
        }
    }
}
