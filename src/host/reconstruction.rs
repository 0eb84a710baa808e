//! Storage of SU(3) links in fewer than 18 reals.
//!
//! Twin of the decoding in `cl/links.cl`.
//!
//! **12 reals**: the first two rows; the third is conj(row 0 × row 1).
//!
//! **8 reals**: the dimension of the group. The first row is e^{iφ} (r, a₁, a₂) with r ≥ 0. If r
//! vanishes, any φ will do. The row is kept as t = (a₁, a₂)/(1 + r), the stereographic projection
//! of its direction: t ∈ R⁴ has |t| ≤ 1, and
//!
//! ```text
//! r = (1 − t²)/(1 + t²),   (a₁, a₂) = (1 + r) t,   1 + r = 2/(1 + t²)
//! ```
//!
//! The reflection 1 − (1 + r) (1, t)† (1, t), with its first row negated, has the rows
//!
//! ```text
//!     ⎛     r             a₁               a₂       ⎞
//! H = ⎜ −conj(a₁)   1 − conj(a₁) t₁    −conj(a₁) t₂  ⎟
//!     ⎝ −conj(a₂)    −conj(a₂) t₁    1 − conj(a₂) t₂ ⎠
//! ```
//!
//! and determinant 1. The first row of the link is e^{iφ} times the first row of H. The other two
//! rows are therefore orthogonal to it:
//!
//! ```text
//!     ⎛ e^{iφ}         0                 0        ⎞
//! U = ⎜   0            p                 q        ⎟ H,   |p|² + |q|² = 1
//!     ⎝   0    −e^{−iφ} conj(q)   e^{−iφ} conj(p) ⎠
//! ```
//!
//! Two points of spheres are left: (cos φ, sin φ), and (Re p, Im p, Re q, Im q). A point at the
//! angle θ from (1, 0, …) is kept as v. The vector v has the direction of the point's other
//! coordinates and the length tan(θ/4). It is the stereographic projection of the point half-way.
//! The point is recovered by
//!
//! ```text
//! c = (1 − v²)/(1 + v²) = cos(θ/2),   (2c² − 1, 2c · 2v/(1 + v²))
//! ```
//!
//! A stored link is (t, v of e^{iφ}, v of p and q). No number exceeds 1, so all precisions store
//! the same ones. No divisor can vanish, so the decoding is accurate on the whole group, also for
//! vanishing elements. No element moves by more than a few times the rounding of a stored number.

use super::matrix3::Matrix3;
use crate::scalar::Real;
use num_complex::Complex;

/// Number of stored reals of each link; the rest is rebuilt where the link is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, serde::Serialize)]
pub enum Reconstruction {
    /// All 18: any matrix.
    #[default]
    None,
    /// The first two rows, 12 reals: only SU(3).
    Twelve,
    /// The 8 parameters of the group: only SU(3).
    Eight,
}

lattice_files::words! { Reconstruction, "storage of links": None = "18"; Twelve = "12"; Eight = "8" }

impl Reconstruction {
    /// Returns the number of reals stored for each link: 18, 12 or 8.
    pub fn reals(self) -> usize {
        match self {
            Self::None => 18,
            Self::Twelve => 12,
            Self::Eight => 8,
        }
    }

    /// Returns the stored numbers of a link, two reals in each complex one.
    ///
    /// The first [`reals`](Self::reals)/2 of them count.
    pub fn encode<T: Real>(self, link: &Matrix3<f64>) -> [Complex<T>; 9] {
        let mut stored = [Complex::default(); 9];
        match self {
            Self::None | Self::Twelve => {
                let rows = link.cast::<T>();
                for k in 0..self.reals() / 2 {
                    stored[k] = rows.0[k / 3][k % 3];
                }
            }
            Self::Eight => {
                let numbers = encode_eight(link).map(T::from_f64);
                for (k, pair) in numbers.chunks(2).enumerate() {
                    stored[k] = Complex::new(pair[0], pair[1]);
                }
            }
        }
        stored
    }

    /// Rebuilds the link from stored numbers.
    pub fn decode<T: Real>(self, stored: &[Complex<T>; 9]) -> Matrix3<T> {
        let s = stored;
        match self {
            Self::None => Matrix3::from_fn(|i, j| s[3 * i + j]),
            Self::Twelve => Matrix3::from_two_rows([[s[0], s[1], s[2]], [s[3], s[4], s[5]]]),
            Self::Eight => {
                let [a, f, g] = reflection([s[0], s[1]]);
                let [re, im] = point([s[2].re]);
                let phase = Complex::new(re, im);
                let [p_re, p_im, q_re, q_im] = point([s[2].im, s[3].re, s[3].im]);
                let (p, q) = (Complex::new(p_re, p_im), Complex::new(q_re, q_im));
                Matrix3::from_two_rows([a.map(|z| phase * z), std::array::from_fn(|j| p * f[j] + q * g[j])])
            }
        }
    }
}

fn encode_eight(link: &Matrix3<f64>) -> [f64; 8] {
    let [row, b, _] = link.0;
    let phase = Complex::from_polar(1.0, row[0].arg());
    let t = [row[1], row[2]].map(|a| phase.conj() * a / (1.0 + row[0].norm()));
    let [_, f, g] = reflection(t);
    let [p, q] = [f, g].map(|basis| (0..3).map(|j| basis[j].conj() * b[j]).sum::<Complex<f64>>());
    let [circle] = quarter_angle(phase.re, [phase.im]);
    let sphere = quarter_angle(p.re, [p.im, q.re, q.im]);
    [t[0].re, t[0].im, t[1].re, t[1].im, circle, sphere[0], sphere[1], sphere[2]]
}

/// Returns the rows of the matrix H of t.
fn reflection<T: Real>(t: [Complex<T>; 2]) -> [[Complex<T>; 3]; 3] {
    let one = T::one();
    let one_and_r = (one + one) / (one + t[0].norm_sqr() + t[1].norm_sqr());
    let w = [Complex::from(one), t[0], t[1]];
    let a = t.map(|t| t * one_and_r);
    let basis = |k: usize| {
        let mut row = w.map(|w| -(a[k].conj() * w));
        row[1 + k] += Complex::from(one);
        row
    };
    [[Complex::from(one_and_r - one), a[0], a[1]], basis(0), basis(1)]
}

/// Maps the point (x, rest) of a sphere to v; the point need not have length 1.
fn quarter_angle<const N: usize>(x: f64, rest: [f64; N]) -> [f64; N] {
    let length = rest.iter().map(|r| r * r).sum::<f64>().sqrt();
    let tangent = (length.atan2(x) / 4.0).tan();
    if length > 0.0 {
        return rest.map(|r| r / length * tangent);
    }
    // One of the two poles; (−1, 0, …) is in all directions.
    let mut pole = [0.0; N];
    pole[0] = tangent;
    pole
}

/// Maps v to the point (x, rest).
fn point<T: Real, const N: usize, const M: usize>(v: [T; N]) -> [T; M] {
    let one = T::one();
    let two = (one + one) / (one + v.iter().map(|&x| x * x).sum());
    let half_way = two - one;
    let twice = half_way + half_way;
    std::array::from_fn(|k| if k == 0 { twice * half_way - one } else { twice * two * v[k - 1] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::random::random_su3;
    use crate::philox::Philox;
    use crate::scalar::{Half, Storage};

    /// Returns the largest error of a link after a round trip through memory.
    fn error<T: Storage>(link: &Matrix3<f64>, reconstruction: Reconstruction) -> f64 {
        let unit = T::Real::from_f64(1.0 / f64::from(Half::LARGEST));
        let through_memory = |value| T::load(T::store(value, unit), unit);
        let stored = reconstruction
            .encode::<T::Real>(link)
            .map(|z| Complex::new(through_memory(z.re), through_memory(z.im)));
        reconstruction.decode(&stored).cast::<f64>().max_difference(link)
    }

    /// Returns diag(e^{iα}, e^{iβ}, e^{−i(α+β)}) with its rows in this order.
    fn permuted_diagonal(phases: [f64; 2], order: [usize; 3]) -> Matrix3<f64> {
        let angles = [phases[0], phases[1], -phases[0] - phases[1]];
        let odd = order == [1, 0, 2] || order == [0, 2, 1] || order == [2, 1, 0];
        Matrix3::from_fn(|i, j| match j == order[i] {
            true => Complex::from_polar(if odd { -1.0 } else { 1.0 }, angles[i]),
            false => Complex::default(),
        })
    }

    #[test]
    fn random_links_survive() {
        let mut random = Philox::new(1, 0, 0);
        for _ in 0..2000 {
            let link = random_su3(&mut random);
            for reconstruction in Reconstruction::ALL {
                assert!(error::<f64>(&link, reconstruction) < 3e-15, "{reconstruction}");
                assert!(error::<f32>(&link, reconstruction) < 1e-6, "{reconstruction}");
                assert!(error::<Half>(&link, reconstruction) < 2e-4, "{reconstruction}");
            }
        }
    }

    #[test]
    fn links_with_vanishing_elements_survive() {
        let phases = [0.0, 0.3, std::f64::consts::PI, -1.1, std::f64::consts::FRAC_PI_2];
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [1, 0, 2], [0, 2, 1], [2, 1, 0]] {
            for alpha in phases {
                for beta in phases {
                    let link = permuted_diagonal([alpha, beta], order);
                    assert!((link.determinant() - 1.0).norm() < 1e-14);
                    for reconstruction in Reconstruction::ALL {
                        assert!(
                            error::<f64>(&link, reconstruction) < 3e-15,
                            "{order:?} {alpha} {beta} {reconstruction}"
                        );
                        assert!(
                            error::<f32>(&link, reconstruction) < 1e-6,
                            "{order:?} {alpha} {beta} {reconstruction}"
                        );
                        assert!(
                            error::<Half>(&link, reconstruction) < 2e-4,
                            "{order:?} {alpha} {beta} {reconstruction}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn links_near_the_points_of_projection_and_near_unit_survive() {
        let mut random = Philox::new(2, 0, 0);
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
            for exponent in 1..16 {
                let epsilon = 10f64.powi(-exponent);
                for phase in [0.0, std::f64::consts::PI] {
                    let near = Matrix3::from_fn(|i, j| {
                        permuted_diagonal([phase, phase], order).0[i][j] + random.gaussian() * epsilon
                    })
                    .reunitarised();
                    for reconstruction in [Reconstruction::Twelve, Reconstruction::Eight] {
                        let (double, single) =
                            (error::<f64>(&near, reconstruction), error::<f32>(&near, reconstruction));
                        let half = error::<Half>(&near, reconstruction);
                        assert!(
                            double < 1e-14 && single < 1e-6 && half < 2e-4,
                            "{order:?} {epsilon} {reconstruction}: {double} {single} {half}"
                        );
                    }
                }
            }
        }
    }
}
