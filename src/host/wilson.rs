//! The Wilson operator, twin of `cl/wilson.cl`.

use super::dims::NDIM;
use super::gamma::GAMMA;
use super::link_field::LinkField;
use super::spinor::Spinor;
use crate::scalar::Real;
use num_complex::Complex;
use rayon::prelude::*;

/// Which of the forms of the Wilson operator is applied, in the terms that the kernel has:
///
/// out = γ5^g (shift·ψ + coefficient·H ψ),
/// H ψ(x) = Σ_μ [(1 ∓ γ_μ) U_μ(x) ψ(x+μ) + (1 ± γ_μ) U_μ†(x−μ) ψ(x−μ)],
///
/// the upper signs for M, the lower ones for M†. κ form: shift 1, coefficient −κ. Mass form: shift 4 + m,
/// coefficient −½.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WilsonForm {
    /// Coefficient of ψ itself.
    pub shift: f64,
    /// Coefficient of the hopping term.
    pub coefficient: f64,
    /// M† instead of M.
    pub dagger: bool,
    /// Multiply the result by γ5.
    pub gamma5: bool,
}

/// Applies the Wilson operator to a spinor field; sites are lexicographic.
///
/// # Panics
/// When a field does not have one spinor for each site.
pub fn wilson<T: Real>(links: &LinkField<T>, form: WilsonForm, psi: &[Spinor<T>], out: &mut [Spinor<T>]) {
    let volume = links.dims().volume();
    assert_eq!((psi.len(), out.len()), (volume, volume), "one spinor for each site");
    let shift = T::from_f64(form.shift);
    let coefficient = T::from_f64(form.coefficient);
    out.par_iter_mut().enumerate().for_each(|(site, out)| {
        let hop = hop(links, form.dagger, psi, site);
        *out = Spinor::from_fn(|spin, colour| {
            let value = psi[site].0[spin][colour] * shift + hop.0[spin][colour] * coefficient;
            if form.gamma5 && spin >= 2 { -value } else { value }
        });
    });
}

/// H ψ at one site.
fn hop<T: Real>(links: &LinkField<T>, dagger: bool, psi: &[Spinor<T>], site: usize) -> Spinor<T> {
    let dims = links.dims();
    let mut sum = Spinor::default();
    for mu in 0..NDIM {
        let forward = dims.forward(site, mu);
        let backward = dims.backward(site, mu);
        let from_ahead = project(mu, !dagger, &psi[forward]).map(|h| links.link(site, mu).times(&h));
        let from_behind =
            project(mu, dagger, &psi[backward]).map(|h| links.link(backward, mu).adjoint_times(&h));
        add_reconstructed(mu, !dagger, &from_ahead, &mut sum);
        add_reconstructed(mu, dagger, &from_behind, &mut sum);
    }
    sum
}

/// The upper two spins of (1 − γ_μ)ψ if `minus`, of (1 + γ_μ)ψ otherwise. They determine the lower two.
fn project<T: Real>(mu: usize, minus: bool, psi: &Spinor<T>) -> [[Complex<T>; 3]; 2] {
    std::array::from_fn(|spin| {
        let (partner, phase) = GAMMA[mu][spin];
        std::array::from_fn(|colour| {
            let other = phase.times(psi.0[partner][colour]);
            if minus { psi.0[spin][colour] - other } else { psi.0[spin][colour] + other }
        })
    })
}

/// Adds the spinor whose projection by (1 ∓ γ_μ) has the upper spins `half`: by γ_μ² = 1 the lower spins are ∓ γ_μ times these.
fn add_reconstructed<T: Real>(mu: usize, minus: bool, half: &[[Complex<T>; 3]; 2], sum: &mut Spinor<T>) {
    for colour in 0..3 {
        for spin in 0..2 {
            sum.0[spin][colour] += half[spin][colour];
        }
        for spin in 2..4 {
            let (partner, phase) = GAMMA[mu][spin];
            let other = phase.times(half[partner][colour]);
            if minus {
                sum.0[spin][colour] -= other;
            } else {
                sum.0[spin][colour] += other;
            }
        }
    }
}
