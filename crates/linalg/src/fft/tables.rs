//! Constant factors of transforms, made in double whatever they are kept in.

use super::factors::{power, primitive_root};
use crate::host::fft as host;
use lattice_compute::scalar::Real;
use num_complex::{Complex, Complex64};

/// Returns exp(−2πi k/n) for k < n.
pub(super) fn roots(n: usize) -> Vec<Complex64> {
    (0..n).map(|k| host::root(k, n)).collect()
}

/// A cyclic convolution that stands for a transform.
pub(super) struct Convolution {
    /// Factors of what goes in and comes out; empty for Rader's.
    pub chirp: Vec<Complex64>,
    /// Factors between the transforms, divided by the convolution's length.
    pub response: Vec<Complex64>,
    /// Where elements go to, then where results are; empty for Bluestein's.
    pub slots: Vec<u32>,
}

/// Bluestein's convolution of length `m` for `n` elements, with m ≥ 2n − 1.
///
/// X_k = w_k Σ_j (x_j w_j) w̄_{k−j} with w_j = exp(−πi j²/n) (Bluestein 1970).
pub(super) fn bluestein(n: usize, m: usize) -> Convolution {
    let chirp: Vec<_> = (0..n).map(|j| host::chirp(j, n)).collect();
    let mut response = vec![Complex64::default(); m];
    for (j, w) in chirp.iter().enumerate() {
        response[j] = w.conj();
        response[(m - j) % m] = w.conj();
    }
    Convolution { chirp, response: transformed(response), slots: Vec::new() }
}

/// Rader's convolution of length p − 1 for a prime p.
///
/// X_{g^−q} = x₀ + Σ_r x_{g^r} b_{q−r} with b_r = exp(−2πi g^−r/p) (Rader 1968). Element 0 has the
/// slot p − 1.
pub(super) fn rader(p: usize) -> Option<Convolution> {
    let g = primitive_root(p)?;
    let m = p - 1;
    let mut slots = vec![m as u32; 2 * p];
    let mut response = vec![Complex64::default(); m];
    let (mut forward, mut back) = (1, 1);
    let inverse = power(g, p - 2, p);
    for r in 0..m {
        slots[forward] = r as u32;
        slots[p + back] = r as u32;
        response[r] = host::root(back, p);
        forward = forward * g % p;
        back = back * inverse % p;
    }
    Some(Convolution { chirp: Vec::new(), response: transformed(response), slots })
}

/// The transform of a response, divided by its length.
fn transformed(response: Vec<Complex64>) -> Vec<Complex64> {
    let m = response.len() as f64;
    let mut response = response;
    host::forward(&mut response);
    response.iter().map(|value| value / m).collect()
}

/// Rounds to the precision of a device's numbers.
pub(super) fn rounded<T: Real>(values: &[Complex64]) -> Vec<Complex<T>> {
    values.iter().map(|value| Complex::new(T::from_f64(value.re), T::from_f64(value.im))).collect()
}
