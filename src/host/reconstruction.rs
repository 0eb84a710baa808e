//! Storing a link of SU(3) in fewer than 18 reals, twin of the decoding in `cl/links.cl`.
//!
//! **12 reals**: the first two rows; the third is conj(row 0 × row 1).
//!
//! **8 reals**, the dimension of the group, by two stereographic projections. The first row a is a point of the unit
//! sphere in R⁶. Projected from the point where a₂ = −1, it is u ∈ R⁵:
//!
//! ```text
//! u = (Re a₀, Im a₀, Re a₁, Im a₁, Im a₂) / (1 + Re a₂),      Re a₂ = (1 − u²)/(1 + u²),  the rest = 2u/(1 + u²)
//! ```
//!
//! The Householder reflection that takes (1, 0, 0) to a multiple of a, H = 1 − w w†/(1 + |a₀|) with w = a + (e^{iφ}, 0, 0) and
//! e^{iφ} = a₀/|a₀| (1 if a₀ = 0), has as its other columns an orthonormal basis f, g of the rows orthogonal to a. The second row
//! is b = p f + q g with |p|² + |q|² = 1: a point of the sphere in R⁴, projected from Re p = −1 to v ∈ R³. A
//! stored link is (u, v).
//!
//! In floating point this is accurate on the whole group: u and v may be large, but only their relative accuracy
//! counts; nothing is subtracted that nearly cancels (1 + Re a₂ is computed as (1 − (Re a₂)²)/(1 − Re a₂) where it would); e^{iφ} is as accurate
//! as a₀ is relative to itself. Elements that vanish, as those of unit or diagonal links, are exact; components
//! of a₀ below 1e-17 are stored as zero, so that no device's underflow decides on φ. At the point of projection
//! itself u is replaced by 1/ε.
//!
//! Half precision holds numbers up to 1 only. There a point with Re a₂ < 0 is reflected, Re a₂ → −Re a₂, before it is projected, so
//! that |u| ≤ 1; likewise Re p. Whether that was done says the lowest bit of the first number of u, and of the last of v: 1 if it was.

use super::matrix3::Matrix3;
use crate::scalar::{Half, Real, Storage, StoragePrecision};
use num_complex::Complex;
use num_traits::One;

/// How many reals of each link are stored; the rest is rebuilt where the link is used.
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

impl Reconstruction {
    /// All of them, the plainest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Twelve, Self::Eight];

    /// Reals stored for each link: 18, 12 or 8.
    pub fn reals(self) -> usize {
        match self {
            Self::None => 18,
            Self::Twelve => 12,
            Self::Eight => 8,
        }
    }

    /// The stored numbers of a link, two reals in each complex one; [`reals`](Self::reals)/2 of them count.
    ///
    /// For half precision they are multiples of 1/32767, up to rounding, where their last bits matter.
    pub fn encode<T: Storage>(self, link: &Matrix3<f64>) -> [Complex<T::Real>; 9] {
        let mut stored = [Complex::default(); 9];
        match self {
            Self::None | Self::Twelve => {
                let rows = link.cast::<T::Real>();
                for k in 0..self.reals() / 2 {
                    stored[k] = rows.0[k / 3][k % 3];
                }
            }
            Self::Eight => {
                let [u0, u1, u2, u3, u4, v0, v1, v2] = encode_eight::<T>(link);
                for (k, (re, im)) in [(u0, u1), (u2, u3), (u4, v0), (v1, v2)].into_iter().enumerate() {
                    stored[k] = Complex::new(re, im);
                }
            }
        }
        stored
    }

    /// The link of stored numbers.
    pub fn decode<T: Storage>(self, stored: &[Complex<T::Real>; 9]) -> Matrix3<T::Real> {
        let s = stored;
        match self {
            Self::None => Matrix3::from_fn(|i, j| s[3 * i + j]),
            Self::Twelve => Matrix3::from_two_rows([[s[0], s[1], s[2]], [s[3], s[4], s[5]]]),
            Self::Eight => {
                let a = first_row([s[0].re, s[0].im, s[1].re, s[1].im, s[2].re], hemisphere::<T>(s[0].re));
                let [f, g] = complement(&a);
                let v = [s[2].im, s[3].re, s[3].im];
                let one = T::Real::one();
                let scale = one / (one + v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
                let two = scale + scale;
                let p = Complex::new((two - one) * hemisphere::<T>(v[2]), two * v[0]);
                let q = Complex::new(two * v[1], two * v[2]);
                Matrix3::from_two_rows([a, std::array::from_fn(|j| p * f[j] + q * g[j])])
            }
        }
    }
}

impl std::fmt::Display for Reconstruction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.reals())
    }
}

/// (x, rest) on a unit sphere → rest / (1 + x) as it is stored; `marked` is the number that carries the mark of a reflection.
fn project<T: Storage, const N: usize>(x: f64, rest: [f64; N], marked: usize) -> [T::Real; N] {
    match T::STORAGE {
        StoragePrecision::Half => project_reflected(x, rest, marked).map(T::Real::from_f64),
        _ => project_plainly(x, rest),
    }
}

/// With 1/ε of `T` for the point of projection.
fn project_plainly<T: Real, const N: usize>(x: f64, rest: [f64; N]) -> [T; N] {
    let norm2: f64 = rest.iter().map(|r| r * r).sum();
    // 1 + x, without cancellation where x is near −1.
    let denominator = if x < 0.0 { norm2 / (1.0 - x) } else { 1.0 + x };
    let limit = 1.0 / T::epsilon().to_f64();
    let length = norm2.sqrt() / denominator;
    if length.is_finite() && length <= limit {
        return rest.map(|r| T::from_f64(r / denominator));
    }
    let mut far = [T::zero(); N];
    far[N - 1] = T::from_f64(limit);
    far
}

/// In multiples of 1/32767, the one number `marked` odd if the point was reflected and even otherwise.
fn project_reflected<const N: usize>(x: f64, rest: [f64; N], marked: usize) -> [f64; N] {
    let largest = f64::from(Half::LARGEST);
    let mut numbers = rest.map(|r| r / (1.0 + x.abs()) * largest);
    let mark = if x < 0.0 { 1.0 } else { 0.0 };
    for (k, number) in numbers.iter_mut().enumerate() {
        *number = if k == marked {
            (2.0 * ((*number - mark) / 2.0).round() + mark).clamp(mark - largest - 1.0, largest - 1.0 + mark)
        } else {
            number.round()
        };
    }
    numbers.map(|number| number / largest)
}

/// −1 if the mark on a number of half precision says that the point was reflected, else 1.
fn hemisphere<T: Storage>(marked: T::Real) -> T::Real {
    let one = T::Real::one();
    let odd = T::STORAGE == StoragePrecision::Half
        && (marked.to_f64() * f64::from(Half::LARGEST)).round() as i32 % 2 != 0;
    if odd { -one } else { one }
}

fn encode_eight<T: Storage>(link: &Matrix3<f64>) -> [T::Real; 8] {
    let [a, b, _] = link.0;
    let kept = |x: f64| if x.abs() < 1e-17 { 0.0 } else { x };
    let u = project::<T, 5>(a[2].re, [kept(a[0].re), kept(a[0].im), a[1].re, a[1].im, a[2].im], 0);
    // The basis in which the second row is given must be the one that decoding finds, so it is made from what is stored.
    let basis = complement(&first_row(u, hemisphere::<T>(u[0])))
        .map(|row| row.map(|z| Complex::new(z.re.to_f64(), z.im.to_f64())));
    let [p, q] = basis.map(|f| (0..3).map(|j| f[j].conj() * b[j]).sum::<Complex<f64>>());
    let norm = (p.norm_sqr() + q.norm_sqr()).sqrt();
    let v = project::<T, 3>(p.re / norm, [p.im / norm, q.re / norm, q.im / norm], 2);
    [u[0], u[1], u[2], u[3], u[4], v[0], v[1], v[2]]
}

/// The unit vector with stereographic coordinates u, its last real part multiplied by `hemisphere`.
fn first_row<T: Real>(u: [T; 5], hemisphere: T) -> [Complex<T>; 3] {
    let scale = T::one() / (T::one() + u.iter().map(|&x| x * x).sum());
    let two = scale + scale;
    [
        Complex::new(two * u[0], two * u[1]),
        Complex::new(two * u[2], two * u[3]),
        Complex::new((two - T::one()) * hemisphere, two * u[4]),
    ]
}

/// An orthonormal basis of the rows orthogonal to a unit row: columns of the Householder reflection.
fn complement<T: Real>(a: &[Complex<T>; 3]) -> [[Complex<T>; 3]; 2] {
    let size = a[0].norm_sqr().sqrt();
    let phase = if size > T::zero() { a[0] / size } else { Complex::new(T::one(), T::zero()) };
    let beta = T::one() / (T::one() + size);
    let w = [a[0] + phase, a[1], a[2]];
    [1, 2].map(|column: usize| {
        std::array::from_fn(|j| {
            let unit = if j == column { T::one() } else { T::zero() };
            Complex::new(unit, T::zero()) - w[j] * a[column].conj() * beta
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::philox::Philox;
    use crate::host::random::random_su3;

    /// After a round trip through memory.
    fn error<T: Storage>(link: &Matrix3<f64>, reconstruction: Reconstruction) -> f64 {
        let unit = T::Real::from_f64(1.0 / f64::from(Half::LARGEST));
        let through_memory = |value| T::load(T::store(value, unit), unit);
        let stored = reconstruction
            .encode::<T>(link)
            .map(|z| Complex::new(through_memory(z.re), through_memory(z.im)));
        reconstruction.decode::<T>(&stored).cast::<f64>().max_difference(link)
    }

    /// diag(e^{iα}, e^{iβ}, e^{−i(α+β)}) with its rows in this order.
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
