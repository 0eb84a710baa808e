//! Singular values by one-sided Jacobi rotations, on the host.
//!
//! The twin of the rotations of [`factor::gesvd`](crate::factor::gesvd()) and
//! [`factor::batch`](crate::factor::batch). It takes pairs of columns in P. P. M. de Rijk's order, SIAM J.
//! Sci. Stat. Comput. 10 (1989) 359: the longest column goes first.

use super::elements::{exponent_in_double, scale};
use lattice_solvers::range::{complex_times_power, larger, norm, part_size, times_power};
use num_complex::Complex;

type C64 = Complex<f64>;

/// Most sweeps.
const SWEEPS: usize = 60;

/// Columns that are so many powers of two shorter than the largest element count as zero.
const NEGLIGIBLE: i32 = 900;

/// The factors of A = U Σ Vᴴ.
#[derive(Clone, Debug, PartialEq)]
pub struct Svd {
    /// The singular values, the largest first.
    pub values: Vec<f64>,
    /// U, column after column.
    pub u: Vec<C64>,
    /// V, column after column.
    pub v: Vec<C64>,
}

/// Computes the singular values of a matrix with columns of `rows` elements.
///
/// A column that is 2⁻⁹⁰⁰ times as long as the largest element, or shorter, counts as zero.
/// `None` if the sweeps do not suffice, which happens if an element is not finite.
///
/// # Panics
/// If `a` does not consist of whole columns, at most as many as rows.
pub fn decompose(rows: usize, a: &[C64]) -> Option<Svd> {
    let n = a.len().checked_div(rows).unwrap_or(0);
    assert!(n * rows == a.len() && n <= rows, "A consists of whole columns, at most as many as rows");
    if !a.iter().all(|z| z.is_finite()) {
        return None;
    }
    let power = exponent_in_double(a);
    let mut a = a.to_vec();
    scale(&mut a, -power);
    let negligible = times_power(a.iter().map(|z| part_size(*z)).fold(0.0, larger), -NEGLIGIBLE);
    let mut x: Vec<Vec<C64>> = a.chunks(rows.max(1)).map(<[C64]>::to_vec).collect();
    let unit = |k: usize| (0..n).map(|i| f64::from(u8::from(i == k)).into()).collect();
    let mut v: Vec<Vec<C64>> = (0..n).map(unit).collect();
    let tolerance = f64::EPSILON * (rows as f64).sqrt();
    for _ in 0..SWEEPS {
        let mut rotations = 0;
        for p in 0..n {
            // Without this the rounding of columns that depend on others would be rotated for ever.
            x[p..]
                .iter_mut()
                .filter(|x| norm(x.iter().copied()) <= negligible)
                .for_each(|x| x.fill(C64::ZERO));
            let longest =
                (p..n).max_by(|&i, &j| norm(x[i].iter().copied()).total_cmp(&norm(x[j].iter().copied())))?;
            x.swap(p, longest);
            v.swap(p, longest);
            for q in p + 1..n {
                let Some(Pair { zeta, phase }) = Pair::of(&x[p], &x[q], tolerance) else { continue };
                rotations += 1;
                let t = 1.0_f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
                let c = 1.0 / (1.0 + t * t).sqrt();
                for columns in [&mut x, &mut v] {
                    let (first, second) = columns.split_at_mut(q);
                    rotate(&mut first[p], &mut second[0], c, c * t, phase.conj());
                }
            }
        }
        if rotations == 0 {
            let values: Vec<f64> = x.iter().map(|column| norm(column.iter().copied())).collect();
            for (column, value) in x.iter_mut().zip(&values).filter(|(_, value)| **value > 0.0) {
                column.iter_mut().for_each(|x| *x /= value);
            }
            for k in (0..n).filter(|&k| values[k] == 0.0) {
                x[k] = orthogonal_to(&x, rows);
            }
            let values = values.into_iter().map(|value| times_power(value, power)).collect();
            return Some(Svd { values, u: x.concat(), v: v.concat() });
        }
    }
    None
}

/// What the rotation of two columns p and q follows from.
struct Pair {
    /// (‖q‖² − ‖p‖²) / (2 |pᴴq|).
    zeta: f64,
    /// pᴴq / |pᴴq|.
    phase: C64,
}

impl Pair {
    /// Looks at two columns. `None` if they are orthogonal up to the tolerance.
    ///
    /// Each is taken in its own unit, so that squares of short ones are in range beside long ones.
    fn of(p: &[C64], q: &[C64], tolerance: f64) -> Option<Self> {
        let [of_p, of_q] = [p, q].map(exponent_in_double);
        let in_unit = |x: &C64, power: i32| if power == 0 { *x } else { complex_times_power(*x, -power) };
        let (p, q) = (p.iter().map(|x| in_unit(x, of_p)), q.iter().map(|x| in_unit(x, of_q)));
        let product: C64 = p.clone().zip(q.clone()).map(|(p, q)| p.conj() * q).sum();
        let [alpha, beta]: [f64; 2] = [p.map(|x| x.norm_sqr()).sum(), q.map(|x| x.norm_sqr()).sum()];
        let size = product.norm();
        if size <= tolerance * alpha.sqrt() * beta.sqrt() {
            return None;
        }
        let apart = of_p - of_q;
        let zeta = if apart == 0 {
            (beta - alpha) / (2.0 * size)
        } else {
            times_power(beta / (2.0 * size), -apart) - times_power(alpha / (2.0 * size), apart)
        };
        Some(Self { zeta, phase: product / size })
    }
}

/// Returns a vector of norm 1 that is orthogonal to columns, which are orthonormal or zero.
fn orthogonal_to(columns: &[Vec<C64>], rows: usize) -> Vec<C64> {
    let left = |i: usize| 1.0 - columns.iter().map(|column| column[i].norm_sqr()).sum::<f64>();
    let largest = (0..rows).max_by(|&i, &j| left(i).total_cmp(&left(j))).unwrap_or(0);
    let mut x: Vec<C64> = (0..rows).map(|i| f64::from(u8::from(i == largest)).into()).collect();
    // The second time removes what rounding has left.
    for _ in 0..2 {
        for column in columns {
            let share: C64 = column.iter().zip(&x).map(|(u, x)| u.conj() * x).sum();
            x.iter_mut().zip(column).for_each(|(x, u)| *x -= share * u);
        }
        let norm = norm(x.iter().copied());
        x.iter_mut().for_each(|x| *x /= norm);
    }
    x
}

/// Rotates p and the multiple of q by `phase`.
fn rotate(p: &mut [C64], q: &mut [C64], c: f64, s: f64, phase: C64) {
    for (p, q) in p.iter_mut().zip(q) {
        let (first, second) = (*p, phase * *q);
        *p = c * first - s * second;
        *q = s * first + c * second;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_matrix_by_hand() {
        // [3 0; 4 5] has the singular values √45 and √5.
        let Svd { values, u, v } = decompose(2, &[3.0, 4.0, 0.0, 5.0].map(C64::from)).unwrap();
        assert!((values[0] - 45.0_f64.sqrt()).abs() < 1e-14 && (values[1] - 5.0_f64.sqrt()).abs() < 1e-14);
        for (place, element) in [3.0, 4.0, 0.0, 5.0].into_iter().enumerate() {
            let (i, j) = (place % 2, place / 2);
            let sum: C64 = (0..2).map(|k| u[i + 2 * k] * values[k] * v[j + 2 * k].conj()).sum();
            assert!((sum - element).norm() < 1e-14, "{i}, {j}: {sum}");
        }
        assert!(decompose(1, &[f64::NAN.into()]).is_none());
        assert_eq!(decompose(0, &[]).unwrap().values, [0.0; 0]);
        // A matrix of rank 1, whose U is completed.
        let u = decompose(2, &[0.0, 0.0, 3.0, 4.0].map(C64::from)).unwrap().u;
        assert!(
            (u[2] * 0.6 + u[3] * 0.8).norm() < 1e-15 && (norm(u[2..].iter().copied()) - 1.0).abs() < 1e-15
        );
    }

    #[test]
    fn small_singular_values_keep_their_digits() {
        // Columns of very different length, that are orthogonal but for rounding.
        let i = C64::i();
        let a = [1.0 + i, 1.0 - i, 1e-20 * (1.0 + i), -1e-20 * (1.0 - i)];
        let values = decompose(2, &a).unwrap().values;
        assert!((values[0] - 2.0).abs() < 1e-15 && (values[1] / 2e-20 - 1.0).abs() < 1e-15, "{values:?}");
    }
}
