//! The rotations by which MINRES solves with the tridiagonal matrix T.

use crate::outcome::Failure;
use num_complex::Complex64;

/// The known numbers of T and of its rotations.
pub(crate) struct Lanczos {
    /// The element of T beside the diagonal, between the last column and the next.
    pub beta: f64,
    /// The last element of the rotated right-hand side: ‖r‖, up to its sign.
    pub eta: f64,
    last: Rotation,
    earlier: Rotation,
}

/// A rotation, and the diagonal element that it made.
#[derive(Clone, Copy)]
struct Rotation {
    c: f64,
    s: f64,
    rho: f64,
}

/// The next direction is v − `last` p − `earlier` p₋. x goes `step` along it.
pub(crate) struct Direction {
    pub last: f64,
    pub earlier: f64,
    pub step: f64,
}

impl Lanczos {
    /// Makes the state before the first column, with this ‖r‖.
    pub fn start(norm: f64) -> Self {
        let none = Rotation { c: 1.0, s: 0.0, rho: 1.0 };
        Self { beta: 0.0, eta: norm, last: none, earlier: none }
    }

    pub fn numbers(&self) -> [f64; 8] {
        let Self { beta, eta, last, earlier } = self;
        [*beta, *eta, last.c, last.s, last.rho, earlier.c, earlier.s, earlier.rho]
    }

    pub fn from_numbers([beta, eta, c, s, rho, earlier_c, earlier_s, earlier_rho]: [f64; 8]) -> Self {
        let earlier = Rotation { c: earlier_c, s: earlier_s, rho: earlier_rho };
        Self { beta, eta, last: Rotation { c, s, rho }, earlier }
    }

    /// The factors of the last residual and of the next Lanczos vector in the next residual.
    pub fn residual(&self) -> [f64; 2] {
        [self.last.s * self.last.s, self.last.c * self.eta]
    }

    /// Rotates the next column of T: α, and β² below it.
    ///
    /// # Errors
    /// The failure if α or β² is not finite, or if the column becomes zero. Nothing changes then.
    pub fn turn(&mut self, alpha: Complex64, beta2: Complex64, bound: f64) -> Result<Direction, Failure> {
        if !(alpha.is_finite() && beta2.is_finite()) {
            return Err(Failure::NotFinite { quantity: "(v, Av)" });
        }
        let (alpha, below) = (alpha.re, beta2.re.sqrt());
        let Self { beta, eta, last, earlier } = *self;
        let delta = last.c * alpha - earlier.c * last.s * beta;
        // ‖Ar‖ / ‖r‖ before this column, relative to ‖Av‖. ρ is never less than ‖Ar‖ / ‖r‖.
        let relative = delta.hypot(last.c * below) / alpha.hypot(beta).hypot(below);
        // Written so that 0/0, an A v equal to zero, counts as breakdown.
        let usable = relative > bound;
        if !usable {
            let relative = if relative.is_nan() { 0.0 } else { relative };
            return Err(Failure::Breakdown { quantity: "‖Ar‖ / ‖r‖", relative, bound });
        }
        let rho = delta.hypot(below);
        let next = Rotation { c: delta / rho, s: below / rho, rho };
        let direction = Direction {
            last: (last.s * alpha + earlier.c * last.c * beta) / last.rho,
            earlier: earlier.s * beta / earlier.rho,
            step: next.c * eta / rho,
        };
        *self = Self { beta: below, eta: -next.s * eta, last: next, earlier: last };
        Ok(direction)
    }
}
