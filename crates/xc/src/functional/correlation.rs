//! Correlation energies per volume of ρ↑, ρ↓ and σ = |∇ρ|².

use super::jet::Jet;
use std::f64::consts::{LN_2, PI};

/// β of Perdew, Burke and Ernzerhof (1996).
pub(super) const BETA: f64 = 0.06672455060314922;

/// γ = (1 − ln 2)/π² there.
const GAMMA: f64 = (1.0 - LN_2) / (PI * PI);

/// Up to this 1 ± ζ counts as constant: its powers have no derivative at 0.
const NO_SPIN: f64 = f64::EPSILON;

/// The density at a point, as all correlation energies take it.
#[derive(Clone, Copy)]
pub(super) struct Point {
    /// ρ.
    rho: Jet,
    /// r_s = (3/4πρ)^⅓.
    radius: Jet,
    /// 1 + ζ and 1 − ζ, with ζ = (ρ↑ − ρ↓)/ρ.
    shares: [Jet; 2],
    /// f(ζ) = ((1+ζ)^{4/3} + (1−ζ)^{4/3} − 2)/(2^{4/3} − 2).
    mixing: Jet,
    /// ζ⁴.
    fourth: Jet,
    /// σ.
    sigma: Jet,
}

/// Returns a power of 1 ± ζ.
fn power(share: Jet, exponent: f64) -> Jet {
    if share.value <= NO_SPIN {
        return share.chain(NO_SPIN.powf(exponent), 0.0);
    }
    share.powf(exponent)
}

impl Point {
    pub fn new([up, down]: [f64; 2], sigma: f64) -> Self {
        let (up, down) = (Jet::variable(up, 0), Jet::variable(down, 1));
        let rho = up + down;
        let zeta = (up - down) / rho;
        let shares = [zeta + 1.0, -zeta + 1.0];
        let square = zeta * zeta;
        let [more, less] = shares.map(|share| power(share, 4.0 / 3.0));
        Self {
            rho,
            radius: (3.0 / (4.0 * PI)).cbrt() * rho.powf(-1.0 / 3.0),
            shares,
            mixing: 1.0 / (2.0_f64.powf(4.0 / 3.0) - 2.0) * (more + less + -2.0),
            fourth: square * square,
            sigma: Jet::variable(sigma, 2),
        }
    }

    /// Returns ε_P + s f (1 − ζ⁴)/f″(0) + (ε_F − ε_P) f ζ⁴, with the stiffness s.
    fn between(&self, [para, ferro, stiffness]: [Jet; 3], curvature: f64) -> Jet {
        let Self { mixing, fourth, .. } = *self;
        let unpolarised = -fourth + 1.0;
        para + 1.0 / curvature * (stiffness * mixing * unpolarised) + (ferro - para) * mixing * fourth
    }
}

/// f″(0) = 4/(9 (2^⅓ − 1)).
fn exact_curvature() -> f64 {
    4.0 / (9.0 * (2.0_f64.cbrt() - 1.0))
}

/// One fit of Vosko, Wilk and Nusair (1980), eq. 4.4, as a function of r_s.
fn vosko_wilk_nusair(radius: Jet, [a, x0, b, c]: [f64; 4]) -> Jet {
    let x = radius.sqrt();
    let whole = radius + b * x + c;
    let root = (4.0 * c - b * b).sqrt();
    let at_x0 = x0 * x0 + b * x0 + c;
    let angle = (root * (2.0 * x + b).reciprocal()).atan();
    let shifted = x + -x0;
    let first = (radius / whole).ln() + 2.0 * b / root * angle;
    let second = (shifted * shifted / whole).ln() + 2.0 * (b + 2.0 * x0) / root * angle;
    a * (first - b * x0 / at_x0 * second)
}

/// VWN5.
pub(super) fn vwn5(point: &Point) -> Jet {
    let fits = [
        [0.0310907, -0.10498, 3.72744, 12.9352],
        [0.01554535, -0.325, 7.06042, 18.0578],
        [-1.0 / (6.0 * PI * PI), -0.0047584, 1.13107, 13.0045],
    ];
    let parts = fits.map(|fit| vosko_wilk_nusair(point.radius, fit));
    point.rho * point.between(parts, exact_curvature())
}

/// One fit of Perdew and Wang (1992): −2A (1 + α₁r_s) ln(1 + 1/(2A (β₁√r_s + β₂r_s + β₃r_s^{3/2} + β₄r_s²))).
fn perdew_wang(radius: Jet, a: f64, [alpha, b1, b2, b3, b4]: [f64; 5]) -> Jet {
    let root = radius.sqrt();
    let sum = b1 * root + b2 * radius + b3 * (radius * root) + b4 * (radius * radius);
    -2.0 * a * ((alpha * radius + 1.0) * (2.0 * a * sum).reciprocal().ln_1p())
}

/// PW92 with the factors A of ε₀, ε₁ and −α_c, and f″(0): the energy of an electron.
fn perdew_wang_energy(point: &Point, [a0, a1, a2]: [f64; 3], curvature: f64) -> Jet {
    let para = perdew_wang(point.radius, a0, [0.21370, 7.5957, 3.5876, 1.6382, 0.49294]);
    let ferro = perdew_wang(point.radius, a1, [0.20548, 14.1189, 6.1977, 3.3662, 0.62517]);
    let stiffness = -perdew_wang(point.radius, a2, [0.11125, 10.357, 3.6231, 0.88026, 0.49671]);
    point.between([para, ferro, stiffness], curvature)
}

/// PW92 with the published numbers.
pub(super) fn pw92(point: &Point) -> Jet {
    point.rho * perdew_wang_energy(point, [0.031091, 0.015545, 0.016887], 1.709921)
}

/// The energy of an electron in PW92 with more digits, as PBE takes it.
fn pw92_exact(point: &Point) -> Jet {
    perdew_wang_energy(point, [0.0310907, 0.01554535, 0.0168869], exact_curvature())
}

/// PW92 with more digits.
pub(super) fn pw92_mod(point: &Point) -> Jet {
    point.rho * pw92_exact(point)
}

/// t² (1 + At²)/(1 + At² + A²t⁴) of e = 1/A and q = t²: eq (e + q)/N with N = e² + eq + q².
///
/// It stays finite where A does not. The derivatives q³ (2e + q)/N² and e³ (e + 2q)/N² have no
/// differences, which the rules for products would make.
fn saturated(e: Jet, q: Jet) -> Jet {
    let whole = e.value * e.value + e.value * q.value + q.value * q.value;
    let by = |a: f64, b: f64| a * a / whole * a * (a + 2.0 * b) / whole;
    let value = e.value * q.value * (e.value + q.value) / whole;
    Jet { value, ..e.chain(0.0, by(q.value, e.value)) + q.chain(0.0, by(e.value, q.value)) }
}

/// The correlation of Perdew, Burke and Ernzerhof, H = γφ³ ln(1 + (β/γ) t² (1 + At²)/(1 + At² + A²t⁴)).
pub(super) fn pbe(point: &Point) -> Jet {
    let Point { rho, shares, sigma, .. } = *point;
    let local = pw92_exact(point);
    let [more, less] = shares.map(|share| power(share, 2.0 / 3.0));
    let phi = 0.5 * (more + less);
    let scale = GAMMA * (phi * phi * phi);
    // k_s² = 4 k_F/π, t² = σ/(4 φ² k_s² ρ²).
    let screening = 4.0 / PI * (3.0 * PI * PI).cbrt() * rho.powf(1.0 / 3.0);
    let square = sigma / (4.0 * (phi * phi * screening * rho * rho));
    let e = GAMMA / BETA * (-(local / scale)).exp_m1();
    rho * (local + scale * (BETA / GAMMA * saturated(e, square)).ln_1p())
}
