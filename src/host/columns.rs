//! Vector operations on columns, twin of `cl/columns.cl`.
//!
//! Columns are spinor fields one after the other. A matrix has as many rows and columns, row after
//! row. Sums are accumulated in double over parts of fixed length. The parts are added in their
//! order, so the bits do not depend on the number of threads.

use super::spinor::Spinor;
use super::spinor_fields::{PART, cast, combine, local_dot};
use crate::compute::parallel::*;
use crate::scalar::Real;
use lattice_solvers::{Advance, SquareMatrix};
use num_complex::{Complex, Complex64};

/// Computes X D: column j is Σᵢ xᵢ Dᵢⱼ.
fn product<T: Real>(columns: usize, x: &[Spinor<T>], d: &[Complex64]) -> Vec<Spinor<T>> {
    let sites = x.len() / columns;
    let at = |k: usize| {
        let (column, site) = (k / sites, k % sites);
        (0..columns).fold(Spinor::default(), |sum, i| {
            combine(&sum, cast(d[i * columns + column]), &x[i * sites + site])
        })
    };
    (0..x.len()).into_par_iter().map(at).collect()
}

/// Computes y = y + s x for a sign s.
fn add<T: Real>(sign: f64, x: &[Spinor<T>], y: &mut [Spinor<T>]) {
    let sign = Complex::from(T::from_f64(sign));
    y.par_iter_mut().zip(x).for_each(|(y, x)| *y = combine(y, sign, x));
}

/// Computes X†X: elements (xᵢ, xⱼ).
pub fn gram<T: Real>(columns: usize, x: &[Spinor<T>]) -> Vec<Complex64> {
    let sites = x.len() / columns;
    let element = |i: usize, j: usize, range: std::ops::Range<usize>| -> Complex64 {
        range.map(|site| local_dot(&x[i * sites + site], &x[j * sites + site])).sum()
    };
    let parts: Vec<Vec<Complex64>> = (0..sites.div_ceil(PART))
        .into_par_iter()
        .map(|part| {
            let range = part * PART..sites.min((part + 1) * PART);
            (0..columns * columns).map(|k| element(k / columns, k % columns, range.clone())).collect()
        })
        .collect();
    (0..columns * columns).map(|k| parts.iter().map(|part| part[k]).sum()).collect()
}

/// Computes Q = Q − Z D and returns Q†Q.
pub fn subtract<T: Real>(
    columns: usize,
    z: &[Spinor<T>],
    d: &[Complex64],
    q: &mut [Spinor<T>],
) -> Vec<Complex64> {
    add(-1.0, &product(columns, z, d), q);
    gram(columns, q)
}

/// Computes X = X + O D + P E, then the next directions Q T + P F.
///
/// The next directions replace O if there is an O, and P otherwise. Q = Q T if Q is to be
/// overwritten.
pub fn advance<T: Real>(
    matrices: Advance<'_>,
    x: &mut [Spinor<T>],
    q: &mut [Spinor<T>],
    p: &mut [Spinor<T>],
    o: Option<&mut [Spinor<T>]>,
) {
    let Advance { earlier, step, turn, keep, overwrite } = matrices;
    let product = |x: &[Spinor<T>], d: &SquareMatrix| product(d.size(), x, d.elements());
    if let (Some(o), Some(earlier)) = (&o, earlier) {
        add(1.0, &product(o, earlier), x);
    }
    if let Some(step) = step {
        add(1.0, &product(p, step), x);
    }
    let turned = product(q, turn);
    let mut next = product(p, keep);
    add(1.0, &turned, &mut next);
    o.unwrap_or(p).copy_from_slice(&next);
    if overwrite {
        q.copy_from_slice(&turned);
    }
}
