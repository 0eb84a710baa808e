//! SU(2) inside SU(3), in which the Monte Carlo updates act.
//!
//! The subgroups are updated one after the other.

use crate::host::Matrix3;
use crate::philox::Philox;
use num_complex::Complex;
use std::f64::consts::TAU;

/// The three SU(2) subgroups that generate SU(3).
///
/// Each is given by the rows and columns on which it acts.
pub(super) const SUBGROUPS: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];

/// The 2×2 matrix q0 + i (q1 σ1 + q2 σ2 + q3 σ3) with real q.
///
/// The matrix is a multiple of an element of SU(2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quaternion(pub [f64; 4]);

impl Quaternion {
    /// Returns the quaternion part of the 2×2 block of `m` in a subgroup.
    ///
    /// For `a` in this subgroup, Re tr(a m) depends on no other part of the block.
    pub fn part_of(m: &Matrix3<f64>, [i, j]: [usize; 2]) -> Self {
        let m = &m.0;
        Self([
            0.5 * (m[i][i].re + m[j][j].re),
            0.5 * (m[i][j].im + m[j][i].im),
            0.5 * (m[i][j].re - m[j][i].re),
            0.5 * (m[i][i].im - m[j][j].im),
        ])
    }

    /// Returns the square root of the determinant.
    pub fn norm(&self) -> f64 {
        self.0.iter().map(|q| q * q).sum::<f64>().sqrt()
    }

    /// Returns the element of SU(2) that is this quaternion divided by `norm`.
    ///
    /// The unit element when the norm is zero.
    pub fn direction(&self, norm: f64) -> Self {
        if norm > 0.0 { Self(self.0.map(|q| q / norm)) } else { Self([1.0, 0.0, 0.0, 0.0]) }
    }

    /// Returns the adjoint matrix.
    pub fn adjoint(&self) -> Self {
        let [q0, q1, q2, q3] = self.0;
        Self([q0, -q1, -q2, -q3])
    }

    /// Returns this element of SU(2) to a real power.
    ///
    /// The angle is multiplied by `exponent`. The axis stays.
    pub fn power(&self, exponent: f64) -> Self {
        let [q0, q1, q2, q3] = self.0;
        let sine = (q1 * q1 + q2 * q2 + q3 * q3).sqrt();
        let angle = exponent * sine.atan2(q0);
        // Small angles have the limit of the ratio.
        let ratio = if sine > 0.0 { angle.sin() / sine } else { 0.0 };
        Self([angle.cos(), ratio * q1, ratio * q2, ratio * q3])
    }

    /// Returns the matrix product.
    pub fn times(&self, other: &Self) -> Self {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (self.0, other.0);
        Self([
            a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3,
            a0 * b1 + a1 * b0 - a2 * b3 + a3 * b2,
            a0 * b2 + a2 * b0 - a3 * b1 + a1 * b3,
            a0 * b3 + a3 * b0 - a1 * b2 + a2 * b1,
        ])
    }

    /// Multiplies a 3×3 matrix from the left with this element of a subgroup.
    pub fn act_on(&self, m: &mut Matrix3<f64>, [i, j]: [usize; 2]) {
        let [q0, q1, q2, q3] = self.0;
        let (diagonal, off_diagonal) = (Complex::new(q0, q3), Complex::new(q2, q1));
        for column in 0..3 {
            let (upper, lower) = (m.0[i][column], m.0[j][column]);
            m.0[i][column] = diagonal * upper + off_diagonal * lower;
            m.0[j][column] = diagonal.conj() * lower - off_diagonal.conj() * upper;
        }
    }

    /// Draws an element b of SU(2) with probability exp(α b0) db.
    ///
    /// db is the Haar measure and b0 = ½ tr b. The density of b0 is √(1 − b0²) exp(α b0). The
    /// direction of (b1, b2, b3) is uniform.
    pub fn boltzmann(alpha: f64, random: &mut Philox) -> Self {
        // Each method accepts about two proposals of five at α = 1, more on its own side.
        if alpha < 1.0 {
            Self::boltzmann_from_haar(alpha, random)
        } else {
            Self::kennedy_pendleton(alpha, random)
        }
    }

    /// Proposals from the Haar measure, accepted with probability exp(α (b0 − 1)).
    fn boltzmann_from_haar(alpha: f64, random: &mut Philox) -> Self {
        loop {
            let (z, w) = (random.gaussian(), random.gaussian());
            let proposal = Self([z.re, z.im, w.re, w.im]);
            let proposal = proposal.direction(proposal.norm());
            if random.uniform() < (alpha * (proposal.0[0] - 1.0)).exp() {
                return proposal;
            }
        }
    }

    /// Draws b by the method of Kennedy and Pendleton.
    ///
    /// With b0 = 1 − 2λ² the density of λ² is √λ² exp(−2αλ²) · √(1 − λ²). This is a gamma
    /// distribution, drawn directly, times an acceptance probability.
    ///
    /// Source: A. D. Kennedy and B. J. Pendleton, "Improved heatbath method for Monte Carlo
    /// calculations in lattice gauge theories", Phys. Lett. B 156 (1985) 393.
    fn kennedy_pendleton(alpha: f64, random: &mut Philox) -> Self {
        let lambda2 = loop {
            let cosine = (TAU * random.uniform()).cos();
            let exponential = |random: &mut Philox| -random.uniform().ln();
            let lambda2 = (exponential(random) + cosine * cosine * exponential(random)) / (2.0 * alpha);
            if random.uniform().powi(2) <= 1.0 - lambda2 {
                break lambda2;
            }
        };
        let length = 2.0 * (lambda2 * (1.0 - lambda2)).sqrt();
        let cosine = 2.0 * random.uniform() - 1.0;
        let (sine, angle) = ((1.0 - cosine * cosine).sqrt(), TAU * random.uniform());
        Self([1.0 - 2.0 * lambda2, length * sine * angle.cos(), length * sine * angle.sin(), length * cosine])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_matrix(q: &Quaternion, subgroup: [usize; 2]) -> Matrix3<f64> {
        let mut m = Matrix3::identity();
        q.act_on(&mut m, subgroup);
        m
    }

    fn random_element(random: &mut Philox) -> Quaternion {
        Quaternion::boltzmann(0.0, random)
    }

    #[test]
    fn quaternions_multiply_as_their_matrices_do() {
        let mut random = Philox::new(1, 0, 0);
        for subgroup in SUBGROUPS {
            let (a, b) = (random_element(&mut random), random_element(&mut random));
            let product = as_matrix(&a, subgroup) * as_matrix(&b, subgroup);
            assert!(product.max_difference(&as_matrix(&a.times(&b), subgroup)) < 1e-15);
            assert!(
                as_matrix(&a.adjoint(), subgroup).max_difference(&as_matrix(&a, subgroup).adjoint()) < 1e-15
            );
            assert!(as_matrix(&a, subgroup).unitarity_deviation() < 1e-15);
            assert!((as_matrix(&a, subgroup).determinant() - 1.0).norm() < 1e-15);
            assert_eq!(Quaternion::part_of(&as_matrix(&a, subgroup), subgroup), a);
        }
    }

    #[test]
    fn powers_add_their_exponents() {
        let mut random = Philox::new(4, 0, 0);
        for _ in 0..10 {
            let a = random_element(&mut random);
            let distance =
                |a: &Quaternion, b: &Quaternion| (0..4).map(|k| (a.0[k] - b.0[k]).abs()).fold(0.0, f64::max);
            assert!(distance(&a.power(1.0), &a) < 1e-15);
            assert!(distance(&a.power(0.3).times(&a.power(0.7)), &a) < 1e-14);
            assert!(distance(&a.power(2.0), &a.times(&a)) < 1e-14);
        }
        let unit = Quaternion([1.0, 0.0, 0.0, 0.0]);
        assert_eq!(unit.power(1.7), unit);
    }

    /// Re tr(a m) = 2 (a0 q0 − a·q) + a term that does not depend on a.
    ///
    /// m is any matrix with quaternion part q.
    #[test]
    fn the_trace_sees_only_the_quaternion_part() {
        let mut random = Philox::new(2, 0, 0);
        let m = Matrix3::from_fn(|_, _| random.gaussian());
        for [i, j] in SUBGROUPS {
            let a = random_element(&mut random);
            let trace = (as_matrix(&a, [i, j]) * m).trace().re;
            let through_quaternions = 2.0 * a.times(&Quaternion::part_of(&m, [i, j])).0[0];
            assert!((trace - m.0[3 - i - j][3 - i - j].re - through_quaternions).abs() < 1e-14);
        }
    }

    /// Returns the mean of f(b0) under √(1 − b0²) exp(α b0).
    ///
    /// The midpoint rule in θ, with b0 = cos θ, converges exponentially for this periodic
    /// integrand.
    fn integrated_mean(alpha: f64, f: impl Fn(f64) -> f64) -> f64 {
        let points = 4000;
        let [mut norm, mut sum] = [0.0; 2];
        for point in 0..points {
            let theta = std::f64::consts::PI * (point as f64 + 0.5) / points as f64;
            let weight = theta.sin().powi(2) * (alpha * (theta.cos() - 1.0)).exp();
            norm += weight;
            sum += weight * f(theta.cos());
        }
        sum / norm
    }

    type Sampler = fn(f64, &mut Philox) -> Quaternion;
    /// A function of b0 and its mean.
    type Function = fn(f64, f64) -> f64;

    #[test]
    fn samples_follow_the_exact_distribution() {
        let kennedy_pendleton: Sampler = Quaternion::kennedy_pendleton;
        let from_haar: Sampler = Quaternion::boltzmann_from_haar;
        let cases = [
            (0.0, from_haar),
            (0.3, from_haar),
            (1.5, from_haar),
            (0.5, kennedy_pendleton),
            (1.5, kennedy_pendleton),
            (4.0, kennedy_pendleton),
            (25.0, kennedy_pendleton),
        ];
        for (case, (alpha, sampler)) in cases.into_iter().enumerate() {
            let samples = 200_000;
            let draws: Vec<_> =
                (0..samples).map(|site| sampler(alpha, &mut Philox::new(8, case as u32, site))).collect();
            let centre = integrated_mean(alpha, |b0| b0);
            let functions: [(&str, Function); 3] = [
                ("b0", |b0, _| b0),
                ("b0²", |b0, _| b0 * b0),
                ("b0 below its mean", |b0, mean| f64::from(b0 < mean)),
            ];
            for (name, f) in functions {
                let exact = integrated_mean(alpha, |b0| f(b0, centre));
                let square = integrated_mean(alpha, |b0| f(b0, centre).powi(2));
                let mean = draws.iter().map(|b| f(b.0[0], centre)).sum::<f64>() / samples as f64;
                let sigma = ((square - exact * exact) / samples as f64).sqrt();
                // The midpoint rule is good to 1e-3 on the step function, and far better elsewhere.
                let tolerance = 4.5 * sigma + if name.starts_with("b0 below") { 1e-3 } else { 0.0 };
                assert!(
                    (mean - exact).abs() < tolerance,
                    "α = {alpha}: ⟨{name}⟩ = {mean}, not {exact} ± {sigma}"
                );
            }
            for direction in 1..4 {
                let mean = draws.iter().map(|b| b.0[direction]).sum::<f64>() / samples as f64;
                let square = draws.iter().map(|b| b.0[direction].powi(2)).sum::<f64>() / samples as f64;
                assert!(mean.abs() < 4.5 * (square / samples as f64).sqrt());
                // A third of 1 − b0² is in each direction; the fourth moment bounds the error by √2
                // of it.
                let exact = integrated_mean(alpha, |b0| (1.0 - b0 * b0) / 3.0);
                assert!((square - exact).abs() < 4.5 * exact * (2.0 / samples as f64).sqrt());
            }
            assert!(draws.iter().all(|b| (b.norm() - 1.0).abs() < 1e-14));
        }
    }

    #[test]
    fn extreme_couplings_give_elements_of_the_group() {
        let mut random = Philox::new(3, 0, 0);
        for alpha in [0.0, f64::MIN_POSITIVE, 1e15, 1e300, f64::INFINITY] {
            assert!((Quaternion::boltzmann(alpha, &mut random).norm() - 1.0).abs() < 1e-14);
        }
        let zero = Quaternion([0.0; 4]);
        assert_eq!(zero.direction(zero.norm()), Quaternion([1.0, 0.0, 0.0, 0.0]));
    }
}
