//! One merge of divide and conquer: two halves of a tridiagonal matrix become one.
//!
//! J. J. M. Cuppen, Numer. Math. 36 (1981) 177; M. Gu and S. C. Eisenstat, SIAM J. Matrix Anal. Appl.
//! 16 (1995) 172.

use super::secular::{Root, root};
use rayon::prelude::*;

/// What is known of a solved part: its eigenvalues, and two rows of its eigenvectors.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The eigenvalues, the lowest first.
    pub values: Vec<f64>,
    /// The first component of each eigenvector.
    pub first: Vec<f64>,
    /// The last component of each eigenvector.
    pub last: Vec<f64>,
}

/// A rotation of two columns in the plane of two eigenvectors.
struct Rotation {
    columns: [usize; 2],
    c: f64,
    s: f64,
}

/// A merged part.
pub(super) struct Merged {
    pub part: Part,
    /// The matrix by which the eigenvectors of both halves, side by side, are multiplied.
    ///
    /// Its columns follow one another.
    pub product: Vec<f64>,
}

/// Merges two solved halves that are coupled by the element `beside`.
///
/// The halves are those of the matrix whose last and first diagonal elements beside the cut are less
/// by |`beside`|.
pub(super) fn merge(upper: &Part, lower: &Part, beside: f64) -> Merged {
    let (m1, m) = (upper.values.len(), upper.values.len() + lower.values.len());
    let d: Vec<f64> = upper.values.iter().chain(&lower.values).copied().collect();
    // T = diag + ρ z zᵀ. z has the norm √2, which goes to ρ.
    let sign = if beside < 0.0 { -1.0 } else { 1.0 };
    let scale = 0.5_f64.sqrt();
    let mut z: Vec<f64> =
        upper.last.iter().copied().chain(lower.first.iter().map(|x| sign * x)).map(|x| scale * x).collect();
    let rho = 2.0 * beside.abs();
    let mut d = d;
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&i, &j| d[i].total_cmp(&d[j]));

    // Deflation: poles without weight, and poles that coincide.
    let largest = |all: &[f64]| all.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let tolerance = 8.0 * f64::EPSILON * largest(&d).max(largest(&z));
    let (mut kept, mut deflated, mut rotations) = (Vec::with_capacity(m), Vec::new(), Vec::new());
    let mut pending: Option<usize> = None;
    for &next in &order {
        if rho * z[next].abs() <= tolerance {
            deflated.push(next);
            continue;
        }
        let Some(last) = pending else {
            pending = Some(next);
            continue;
        };
        let tau = z[next].hypot(z[last]);
        let (c, s) = (z[next] / tau, -z[last] / tau);
        let distance = d[next] - d[last];
        if (distance * c * s).abs() <= tolerance {
            (z[next], z[last]) = (tau, 0.0);
            let (of_next, of_last) = (d[next], d[last]);
            d[last] = of_last * c * c + of_next * s * s;
            d[next] = of_last * s * s + of_next * c * c;
            rotations.push(Rotation { columns: [last, next], c, s });
            deflated.push(last);
        } else {
            kept.push(last);
        }
        pending = Some(next);
    }
    kept.extend(pending);

    let poles: Vec<f64> = kept.iter().map(|&i| d[i]).collect();
    let weights: Vec<f64> = kept.iter().map(|&i| z[i] * z[i]).collect();
    let roots: Vec<Root> = (0..kept.len()).into_par_iter().map(|j| root(&poles, &weights, rho, j)).collect();
    let exact = exact_weights(&poles, &roots);
    let signed: Vec<f64> = exact.iter().zip(&kept).map(|(x, &i)| x.copysign(z[i])).collect();

    // All eigenvalues in their order: roots, and deflated ones as they are.
    let mut columns: Vec<(f64, Column)> =
        roots.iter().enumerate().map(|(j, root)| (root.value(&poles), Column::Root(j))).collect();
    columns.extend(deflated.iter().map(|&i| (d[i], Column::Deflated(i))));
    columns.sort_by(|(x, _), (y, _)| x.total_cmp(y));
    let mut product = vec![0.0; m * m];
    product.par_chunks_mut(m.max(1)).zip(&columns).for_each(|(column, (_, of))| {
        match *of {
            Column::Deflated(i) => column[i] = 1.0,
            Column::Root(j) => {
                let mut norm2 = 0.0;
                for (place, (&i, z)) in kept.iter().zip(&signed).enumerate() {
                    let component = z / roots[j].below(&poles, place);
                    norm2 += component * component;
                    column[i] = component;
                }
                let factor = 1.0 / norm2.sqrt();
                kept.iter().for_each(|&i| column[i] *= factor);
            }
        }
        for Rotation { columns: [last, next], c, s } in rotations.iter().rev() {
            let (x, y) = (column[*last], column[*next]);
            column[*last] = c * x - s * y;
            column[*next] = s * x + c * y;
        }
    });
    let row = |of: &[f64], at: usize| -> Vec<f64> {
        let dot = |column: &[f64]| of.iter().zip(&column[at..]).map(|(x, y)| x * y).sum();
        product.par_chunks(m.max(1)).map(dot).collect()
    };
    let part = Part {
        values: columns.iter().map(|(value, _)| *value).collect(),
        first: row(&upper.first, 0),
        last: row(&lower.last, m1),
    };
    Merged { part, product }
}

/// An eigenvector of the merged matrix.
#[derive(Clone, Copy)]
enum Column {
    Root(usize),
    Deflated(usize),
}

/// Returns the sizes of the zᵢ for which the computed roots are exact.
///
/// With them the eigenvectors are orthogonal to working precision. The common factor is left out.
fn exact_weights(d: &[f64], roots: &[Root]) -> Vec<f64> {
    let weight = |i: usize| {
        let others = (0..d.len()).filter(|&j| j != i).map(|j| roots[j].below(d, i) / (d[i] - d[j]));
        // Ratios of neighbours keep the product in range.
        others.fold(-roots[i].below(d, i), |product, ratio| product * ratio).abs().sqrt()
    };
    (0..d.len()).into_par_iter().map(weight).collect()
}
