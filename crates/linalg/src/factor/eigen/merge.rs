//! What the host does of a merge: two halves of a tridiagonal matrix become one.
//!
//! J. J. M. Cuppen, Numer. Math. 36 (1981) 177; M. Gu and S. C. Eisenstat, SIAM J. Matrix Anal. Appl.
//! 16 (1995) 172.

/// What is known of a solved part: its eigenvalues, and two rows of its eigenvectors.
#[derive(Clone, Debug)]
pub(super) struct SolvedSubproblem {
    /// The eigenvalues, the lowest first.
    pub values: Vec<f64>,
    /// The first component of each eigenvector.
    pub first: Vec<f64>,
    /// The last component of each eigenvector.
    pub last: Vec<f64>,
}

/// A rotation of two rows in the plane of two eigenvectors.
pub(super) struct Rotation {
    pub rows: [usize; 2],
    pub c: f64,
    pub s: f64,
}

/// A merge whose poles and weights are known: the eigenvalues of D + ρ z zᵀ are wanted.
pub(super) struct Merge {
    /// Rows of both halves.
    pub halves: [usize; 2],
    pub rho: f64,
    /// The poles that are left, in ascending order.
    pub poles: Vec<f64>,
    /// The zᵢ of the poles.
    pub weights: Vec<f64>,
    /// The row of each pole.
    pub kept: Vec<usize>,
    /// Rows whose poles are eigenvalues, with these.
    pub deflated: Vec<(usize, f64)>,
    /// Rotations that made weights zero, in their order.
    pub rotations: Vec<Rotation>,
}

impl Merge {
    /// Prepares the merge of two solved halves that are coupled by the element `beside`.
    ///
    /// The halves are those of the matrix whose last and first diagonal elements beside the cut are
    /// less by |`beside`|. Poles without weight are left out, and poles that coincide.
    pub fn of(upper: &SolvedSubproblem, lower: &SolvedSubproblem, beside: f64) -> Self {
        let halves = [upper.values.len(), lower.values.len()];
        let mut d: Vec<f64> = upper.values.iter().chain(&lower.values).copied().collect();
        // T = diag + ρ z zᵀ. z has the norm √2, which goes to ρ.
        let sign = if beside < 0.0 { -1.0 } else { 1.0 };
        let scale = 0.5_f64.sqrt();
        let ends = upper.last.iter().copied().chain(lower.first.iter().map(|x| sign * x));
        let mut z: Vec<f64> = ends.map(|x| scale * x).collect();
        let rho = 2.0 * beside.abs();
        // Both halves are in order, which a stable sort makes use of.
        let mut order: Vec<usize> = (0..d.len()).collect();
        order.sort_by(|&i, &j| d[i].total_cmp(&d[j]));
        let largest = |all: &[f64]| all.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let tolerance = 8.0 * f64::EPSILON * largest(&d).max(largest(&z));
        let (mut kept, mut deflated, mut rotations) = (Vec::with_capacity(d.len()), Vec::new(), Vec::new());
        let mut pending: Option<usize> = None;
        for &next in &order {
            if rho * z[next].abs() <= tolerance {
                deflated.push((next, d[next]));
                continue;
            }
            let Some(last) = pending.replace(next) else { continue };
            let tau = z[next].hypot(z[last]);
            let (c, s) = (z[next] / tau, -z[last] / tau);
            let distance = d[next] - d[last];
            if (distance * c * s).abs() <= tolerance {
                (z[next], z[last]) = (tau, 0.0);
                let (of_next, of_last) = (d[next], d[last]);
                d[last] = of_last * c * c + of_next * s * s;
                d[next] = of_last * s * s + of_next * c * c;
                rotations.push(Rotation { rows: [last, next], c, s });
                deflated.push((last, d[last]));
            } else {
                kept.push(last);
            }
        }
        kept.extend(pending);
        let [poles, weights] = [&d, &z].map(|all| kept.iter().map(|&i| all[i]).collect());
        Self { halves, rho, poles, weights, kept, deflated, rotations }
    }

    /// Returns the rows of both halves together.
    pub fn rows(&self) -> usize {
        self.halves[0] + self.halves[1]
    }

    /// Returns all eigenvalues, the lowest first, with the columns that `cl/secular.cl` makes of them.
    ///
    /// `roots` has two numbers for each pole: a pole, and the distance of the root from it.
    pub fn columns(&self, roots: &[f64]) -> Vec<(f64, u32)> {
        let roots = roots.chunks_exact(2).zip(0..).map(|(root, number)| (root[0] + root[1], number));
        let after = |row: usize| (self.poles.len() + row) as u32;
        let mut all: Vec<_> =
            roots.chain(self.deflated.iter().map(|&(row, value)| (value, after(row)))).collect();
        all.sort_by(|(x, _), (y, _)| x.total_cmp(y));
        all
    }
}
