//! The stencil of Dirac operators, twin of `cl/stencil/`.

use super::clover::SiteBlocks;
use super::gamma::GAMMA;
use super::link_field::LinkField;
use super::matrix3::Matrix3;
use super::site_factor::SiteFactor;
use super::spinor::Spinor;
use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::scalar::Real;
use num_complex::Complex;
use std::borrow::Borrow;

/// The factors of the stencil, and its flags.
///
/// out = γ5^g (shift·ψ + coefficient·H ψ),
/// H ψ(x) = Σ_μ [(1 ∓ γ_μ) U_μ(x) ψ(x+μ) + (1 ± γ_μ) U_μ†(x−μ) ψ(x−μ)].
///
/// M has the upper signs, M† the lower ones. In κ normalisation the Wilson operator has shift 1 and
/// coefficient −κ. In mass normalisation it has shift 4 + m and coefficient −½.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StencilFactors {
    /// Coefficient of ψ itself.
    pub shift: SiteFactor,
    /// Coefficient of the hopping term, which it multiplies from the left.
    pub coefficient: SiteFactor,
    /// `true` for the hopping term of M†. The coefficients are used unchanged.
    pub dagger: bool,
    /// `true` to multiply the result by γ5.
    pub gamma5: bool,
}

/// Applies a Dirac operator to a spinor field; sites are lexicographic.
///
/// # Panics
/// When a field does not have one spinor for each site.
pub fn stencil<T: Real>(
    links: &LinkField<T>,
    factors: StencilFactors,
    psi: &[Spinor<T>],
    out: &mut [Spinor<T>],
) {
    stencil_with(links, factors, &|_| [None, None], psi, out);
}

/// The blocks of a site: for the matrix of the shift, then of the coefficient.
pub type BlocksOfSite<'a, T> = [Option<SiteBlocks<'a, T>>; 2];

/// Applies a Dirac operator like [`stencil`], for factors with matrices.
///
/// `blocks` gives the blocks of each site.
///
/// # Panics
/// When a field does not have one spinor for each site, or blocks are missing.
pub fn stencil_with<'a, T: Real>(
    links: &LinkField<T>,
    factors: StencilFactors,
    blocks: &(impl Fn(usize) -> BlocksOfSite<'a, T> + Sync),
    psi: &[Spinor<T>],
    out: &mut [Spinor<T>],
) {
    let volume = links.dims().volume();
    assert_eq!((psi.len(), out.len()), (volume, volume), "one spinor for each site");
    out.par_iter_mut().enumerate().for_each(|(site, out)| {
        let hop = hop(links.dims(), factors.dagger, |site, mu| links.link(site, mu), |site| &psi[site], site);
        *out = factors.combine(Some(&psi[site]), &hop, blocks(site));
    });
}

/// Hops from one parity to the other: out = γ5^g (shift·shifted + coefficient·H ψ).
///
/// The result is on the sites of `parity`, and ψ on the sites of the other parity. Fields hold the
/// sites of their parity in lexicographic order. Without `shifted` the shift counts as 0.
///
/// # Panics
/// When a field does not have one spinor for each second site.
pub fn hop_even_odd<T: Real>(
    links: &LinkField<T>,
    factors: StencilFactors,
    parity: usize,
    psi: &[Spinor<T>],
    shifted: Option<&[Spinor<T>]>,
    out: &mut [Spinor<T>],
) {
    hop_even_odd_with(links, factors, &|_| [None, None], parity, psi, shifted, out);
}

/// Hops like [`hop_even_odd`], for factors with matrices.
///
/// `blocks` gives the blocks of each site.
///
/// # Panics
/// When a field does not have one spinor for each second site, or blocks are missing.
pub fn hop_even_odd_with<'a, T: Real>(
    links: &LinkField<T>,
    factors: StencilFactors,
    blocks: &(impl Fn(usize) -> BlocksOfSite<'a, T> + Sync),
    parity: usize,
    psi: &[Spinor<T>],
    shifted: Option<&[Spinor<T>]>,
    out: &mut [Spinor<T>],
) {
    let dims = links.dims();
    let half = dims.volume() / 2;
    assert_eq!((psi.len(), out.len()), (half, half), "one spinor for each second site");
    out.par_iter_mut().enumerate().for_each(|(index, out)| {
        // Each row along x has as many even sites as odd ones. Half a site's number is its number
        // among the sites of its parity.
        let site = 2 * index + (dims.parity(2 * index) + parity) % 2;
        let hop = hop(dims, factors.dagger, |site, mu| links.link(site, mu), |site| &psi[site / 2], site);
        *out = factors.combine(shifted.map(|shifted| &shifted[index]), &hop, blocks(site));
    });
}

impl StencilFactors {
    /// Makes the factors of M or of a part of M, with plain numbers and without γ5.
    pub const fn new(shift: f64, coefficient: f64) -> Self {
        let (shift, coefficient) = (SiteFactor::scalar(shift), SiteFactor::scalar(coefficient));
        Self { shift, coefficient, dagger: false, gamma5: false }
    }

    /// Returns the factors of the adjoint.
    ///
    /// Valid if the coefficient of the hopping term is a plain number, which commutes with this
    /// term.
    pub fn adjoint(self) -> Self {
        let (shift, coefficient) = (self.shift.adjoint(), self.coefficient.adjoint());
        Self { shift, coefficient, dagger: !self.dagger, ..self }
    }

    /// Returns `true` if γ5 M is Hermitian.
    pub fn is_gamma5_hermitian(&self) -> bool {
        self.shift.is_gamma5_hermitian() && self.coefficient.is_gamma5_hermitian()
    }

    /// Computes γ5^g (shift·ψ + coefficient·Hψ) at one site, with the site's blocks.
    pub fn combine<T: Real>(
        &self,
        psi: Option<&Spinor<T>>,
        hop: &Spinor<T>,
        [of_shift, of_coefficient]: BlocksOfSite<'_, T>,
    ) -> Spinor<T> {
        let hopped = self.coefficient.times(hop, of_coefficient);
        let added = psi.map(|psi| self.shift.times(psi, of_shift));
        Spinor::from_fn(|spin, colour| {
            let hopped = hopped.0[spin][colour];
            let value = added.map_or(hopped, |added| added.0[spin][colour] + hopped);
            if self.gamma5 && spin >= 2 { -value } else { value }
        })
    }
}

/// Computes H ψ at one site, for links with the boundary's phases on them.
///
/// Links and spinors may be values or references: fields are not copied.
pub fn hop<T: Real, L: Borrow<Matrix3<T>>, P: Borrow<Spinor<T>>>(
    dims: Dims,
    dagger: bool,
    link: impl Fn(usize, usize) -> L,
    psi: impl Fn(usize) -> P,
    site: usize,
) -> Spinor<T> {
    let mut sum = Spinor::default();
    for mu in 0..NDIM {
        let forward = dims.forward(site, mu);
        let backward = dims.backward(site, mu);
        let from_ahead =
            project(mu, !dagger, psi(forward).borrow()).map(|h| link(site, mu).borrow().times(&h));
        let from_behind = project(mu, dagger, psi(backward).borrow())
            .map(|h| link(backward, mu).borrow().adjoint_times(&h));
        add_reconstructed(mu, !dagger, &from_ahead, &mut sum);
        add_reconstructed(mu, dagger, &from_behind, &mut sum);
    }
    sum
}

/// Returns the upper two spins of (1 − γ_μ)ψ if `minus`, of (1 + γ_μ)ψ otherwise.
///
/// The upper spins determine the lower two.
#[inline]
fn project<T: Real>(mu: usize, minus: bool, psi: &Spinor<T>) -> [[Complex<T>; 3]; 2] {
    std::array::from_fn(|spin| {
        let (partner, phase) = GAMMA[mu][spin];
        std::array::from_fn(|colour| {
            let other = phase.times(psi.0[partner][colour]);
            if minus { psi.0[spin][colour] - other } else { psi.0[spin][colour] + other }
        })
    })
}

/// Adds the spinor whose projection by (1 ∓ γ_μ) has the upper spins `half`.
///
/// By γ_μ² = 1 the lower spins are ∓ γ_μ times the upper ones.
#[inline]
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
