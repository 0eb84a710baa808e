//! The basis of the spins in the memory of devices.
//!
//! γ_t is diagonal in this basis, so that a step in t needs only half of a neighbour's spinor.
//!
//! ψ′ = S ψ with S = (1, 1; 1, −1)/√2 on the spins s and s + 2; S is its own inverse. S changes the
//! γ of DeGrand and Rossi ([`host::gamma`](crate::host::gamma)). It makes γ_t′ = diag(1, 1, −1,
//! −1), γ_k′ = −γ_k in space, and a γ5′ that exchanges s and s + 2.

use crate::host::Spinor;
use crate::scalar::Real;
use std::f64::consts::FRAC_1_SQRT_2;

/// Computes S ψ: from the basis of the host to the basis of the devices, or back.
pub fn turn<R: Real>(psi: &Spinor<R>) -> Spinor<R> {
    let factor = R::from_f64(FRAC_1_SQRT_2);
    Spinor::from_fn(|spin, colour| {
        let (upper, lower) = (psi.0[spin % 2][colour], psi.0[spin % 2 + 2][colour]);
        let sum = if spin < 2 { upper + lower } else { upper - lower };
        sum * factor
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Dims;
    use crate::host::gamma;
    use crate::host::random::spinor_field;

    fn distance(a: &Spinor<f64>, b: &Spinor<f64>) -> f64 {
        Spinor::from_fn(|s, c| a.0[s][c] - b.0[s][c]).norm2().sqrt()
    }

    #[test]
    fn the_matrices_are_as_said() {
        let field = spinor_field(Dims::new([2; 4]).unwrap(), 1);
        let scaled = |psi: &Spinor<f64>, factors: [f64; 4]| Spinor::from_fn(|s, c| psi.0[s][c] * factors[s]);
        for psi in &field {
            let close =
                |a: &Spinor<f64>, b: &Spinor<f64>| assert!(distance(a, b) < 1e-15 * psi.norm2().sqrt());
            let turned = turn(psi);
            close(&turn(&turned), psi);
            for (mu, matrix) in gamma::GAMMA.iter().enumerate() {
                let expected = match mu {
                    3 => scaled(&turned, [1.0, 1.0, -1.0, -1.0]),
                    _ => scaled(&gamma::spin_times(matrix, &turned), [-1.0; 4]),
                };
                close(&turn(&gamma::spin_times(matrix, psi)), &expected);
            }
            let exchanged = Spinor::from_fn(|s, c| turned.0[(s + 2) % 4][c]);
            close(&turn(&gamma::spin_times(&gamma::GAMMA5, psi)), &exchanged);
        }
    }
}
