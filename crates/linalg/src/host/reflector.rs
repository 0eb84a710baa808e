//! Householder's reflectors, as LAPACK's `larfg` makes them.

use super::elements::{exponent_in_double, scale};
use lattice_solvers::range::times_power;
use num_complex::Complex;

type C64 = Complex<f64>;

/// H = 1 − τ v vᴴ with Hᴴ x = β e₁.
pub(super) struct Reflector {
    /// v, whose first element is 1.
    pub v: Vec<C64>,
    pub tau: C64,
    /// A real number of the size of x.
    pub beta: f64,
}

impl Reflector {
    /// Makes the reflector of a column x.
    ///
    /// `None` if x is a real multiple of e₁ already.
    pub fn of(x: &[C64]) -> Option<Self> {
        let power = exponent_in_double(x);
        let mut v = x.to_vec();
        scale(&mut v, -power);
        let alpha = *v.first()?;
        let below: f64 = v[1..].iter().map(Complex::norm_sqr).sum();
        if below == 0.0 && alpha.im == 0.0 {
            return None;
        }
        let beta = -(alpha.norm_sqr() + below).sqrt().copysign(alpha.re);
        let tau = (beta - alpha) / beta;
        v[1..].iter_mut().for_each(|x| *x /= alpha - beta);
        v[0] = 1.0.into();
        Some(Self { v, tau, beta: times_power(beta, power) })
    }
}
