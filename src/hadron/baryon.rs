//! Correlators of baryons: octet and decuplet, parities, components of the spin.
//!
//! The formulas follow from Wick's theorem with two equal quarks. They have a diquark D\[A,
//! B\]^{k′k}_{αβ} = Σ ε_ijk ε_i′j′k′ A^{ii′}_{ρα} B^{jj′}_{ρβ}. Unprimed colours and the spin ρ
//! belong to the sink. A propagator S and a projector T close the diquark in two ways: tt = tr(T
//! S^{kk′}) tr(D^{k′k}) and xt = tr(T S^{kk′} D^{k′k}).

use super::momenta::{Momenta, Momentum, Phases, Slices};
use super::quark::{QuarkPropagator, SitePropagator, phase_of_hadron, phases_of_hadron};
use super::spin::SpinTensor;
use crate::geometry::NDIM;
use num_complex::Complex64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::array::from_fn;

/// The contraction of quarks to a baryon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaryonForm {
    /// (q₁ Γ q₂) q₂: proton with q₁ = d and q₂ = u, Σ⁺ with s and u, Ξ⁰ with u and s.
    Octet,
    /// Λ of the octet with a strange quark q₁ and two quarks q₂ of equal mass.
    LambdaOctet,
    /// (q₁ Γ q₂) q₃ with three different quarks: the naive Λ of u, d and s.
    LambdaNaive,
    /// Λ of the octet with three different quarks: (2\[q₁q₂\]q₃ + \[q₁q₃\]q₂ − \[q₂q₃\]q₁)/√6.
    ///
    /// \[ab\]c is ε (a Γ b) c with an antisymmetric Γ. Its terms are those of Wick's theorem. With
    /// equal quarks it is the octet, while [`LambdaOctet`](Self::LambdaOctet) follows Chroma.
    Lambda,
    /// One quark q₁ and two quarks q₂.
    ///
    /// Δ and Ω have equal quarks. Σ* has q₁ = s and q₂ = u, Ξ* has u and s.
    Decuplet,
}

/// A baryon's operator.
///
/// It has a form, the projector T of its open spin, and Γ of its diquark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaryonOperator {
    /// The contraction.
    pub form: BaryonForm,
    /// T.
    pub projector: SpinTensor,
    /// Γ.
    pub matrix: SpinTensor,
}

/// The correlator of a baryon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaryonCorrelator {
    /// The hadron, the matrix of its diquark and the component of its spin.
    ///
    /// For example `nucleon_Cg5NR_up`.
    pub name: String,
    /// The parity that T = ½(1 ± γ4) projects on: `+` or `-`.
    pub projector: String,
    /// n of p = 2πn/L.
    pub momentum: Momentum,
    /// Real and imaginary part at t = 0, 1, …, counted from the source.
    pub values: Vec<[f64; 2]>,
}

/// The permutations of three colours, with their signs.
const EPSILON: [([usize; 3], f64); 6] = [
    ([0, 1, 2], 1.0),
    ([1, 2, 0], 1.0),
    ([2, 0, 1], 1.0),
    ([0, 2, 1], -1.0),
    ([2, 1, 0], -1.0),
    ([1, 0, 2], -1.0),
];

/// Returns Γ S, with Γ on the spins of the sink.
fn on_sink(matrix: &SpinTensor, s: &SitePropagator) -> SitePropagator {
    from_fn(|row| from_fn(|column| (0..4).map(|k| matrix.0[row / 3][k] * s[3 * k + row % 3][column]).sum()))
}

/// Returns S Γ, with Γ on the spins of the source.
fn on_source(s: &SitePropagator, matrix: &SpinTensor) -> SitePropagator {
    from_fn(|row| {
        from_fn(|column| (0..4).map(|k| s[row][3 * k + column % 3] * matrix.0[k][column / 3]).sum())
    })
}

/// D\[A, B\], `[k′][k]`.
type Diquark = [[SpinTensor; 3]; 3];

fn diquark(a: &SitePropagator, b: &SitePropagator) -> Diquark {
    let mut d = [[SpinTensor::default(); 3]; 3];
    for ([i, j, k], sign) in EPSILON {
        for ([i1, j1, k1], sign1) in EPSILON {
            let entries = &mut d[k1][k].0;
            for (alpha, row) in entries.iter_mut().enumerate() {
                for (beta, entry) in row.iter_mut().enumerate() {
                    let sum: Complex64 = (0..4)
                        .map(|rho| a[3 * rho + i][3 * alpha + i1] * b[3 * rho + j][3 * beta + j1])
                        .sum();
                    *entry += sum * (sign * sign1);
                }
            }
        }
    }
    d
}

/// Returns tt and xt, summed over colours.
fn closed(projector: &SpinTensor, s: &SitePropagator, d: &Diquark) -> [Complex64; 2] {
    let mut both = [Complex64::default(); 2];
    for (k, k1) in (0..9).map(|n| (n / 3, n % 3)) {
        let of_colours = SpinTensor(from_fn(|a| from_fn(|b| s[3 * a + k][3 * b + k1])));
        let turned = *projector * of_colours;
        both[0] += turned.trace() * d[k1][k].trace();
        both[1] += (turned * d[k1][k]).trace();
    }
    both
}

/// Returns W^{kk′} of a closed diquark, which is Σ tr(W^{kk′} D^{k′k}).
fn weights(projector: &SpinTensor, s: &SitePropagator, [of_tt, of_xt]: [f64; 2]) -> Diquark {
    from_fn(|k| {
        from_fn(|k1| {
            let of_colours = SpinTensor(from_fn(|a| from_fn(|b| s[3 * a + k][3 * b + k1])));
            let turned = *projector * of_colours;
            turned.trace() * of_tt * SpinTensor::gamma(0) + Complex64::from(of_xt) * turned
        })
    })
}

/// Returns the derivative of a closed diquark D\[A, B\] by A, or by B.
///
/// `other` is B or A. Rows belong to the source and columns to the sink.
fn of_diquark(weights: &Diquark, other: &SitePropagator, is_first: bool) -> SitePropagator {
    let mut g = [[Complex64::default(); 12]; 12];
    for ([i, j, k], sign) in EPSILON {
        for ([i1, j1, k1], sign1) in EPSILON {
            let w = &weights[k][k1].0;
            let ((own, own1), (others, others1)) =
                if is_first { ((i, i1), (j, j1)) } else { ((j, j1), (i, i1)) };
            for (spin, rho) in (0..16).map(|n| (n / 4, n % 4)) {
                let entry = |of: usize| if is_first { w[of][spin] } else { w[spin][of] };
                let sum: Complex64 =
                    (0..4).map(|of| entry(of) * other[3 * rho + others][3 * of + others1]).sum();
                g[3 * spin + own1][3 * rho + own] += sum * (sign * sign1);
            }
        }
    }
    g
}

/// Returns the derivative of a closed diquark by the propagator that closes it.
fn of_closing(projector: &SpinTensor, d: &Diquark, [of_tt, of_xt]: [f64; 2]) -> SitePropagator {
    let of_colours: Diquark = from_fn(|k1| {
        from_fn(|k| {
            let d = d[k1][k];
            d.trace() * of_tt * *projector + Complex64::from(of_xt) * (d * *projector)
        })
    });
    from_fn(|row| from_fn(|column| of_colours[row % 3][column % 3].0[row / 3][column / 3]))
}

/// A term of a contraction: a diquark D\[S_aΓ, ΓS_b\], closed with a propagator.
///
/// Quarks are 0 for q₁, 1 for q₂ and 2 for q₃.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    /// The quark that closes the diquark.
    pub closing: usize,
    /// The quarks a and b.
    pub diquark: [usize; 2],
    /// The coefficient of tt.
    pub of_tt: f64,
    /// The coefficient of xt.
    pub of_xt: f64,
}

// Words are names of the form with equal quarks, or of its hadron.
lattice_files::words! {
    BaryonForm, "form of baryons":
    Octet = "nucleon"; LambdaOctet = "lambda_octet"; LambdaNaive = "lambda_naive"; Lambda = "lambda";
    Decuplet = "delta"
}

impl BaryonForm {
    /// Returns the operators that are measured: [`octet_operators`] or [`decuplet_operators`].
    pub fn operators(self) -> Vec<NamedOperator> {
        match self {
            Self::Octet | Self::LambdaOctet | Self::LambdaNaive | Self::Lambda => octet_operators(),
            Self::Decuplet => decuplet_operators(),
        }
    }

    /// Returns how many quarks differ: 2, or 3 of the naive Λ and of Λ with three quarks.
    pub fn quarks(self) -> usize {
        if matches!(self, Self::LambdaNaive | Self::Lambda) { 3 } else { 2 }
    }

    /// Returns the phases of the baryon at all distances from its source.
    pub(super) fn phases(self, quarks: &[&QuarkPropagator], origin: [usize; NDIM]) -> Vec<Complex64> {
        phases_of_hadron(&self.content(quarks), None, origin[NDIM - 1])
    }

    /// Returns the phase of the baryon at a distance from its source.
    pub(super) fn phase(
        self,
        quarks: &[&QuarkPropagator],
        origin: [usize; NDIM],
        distance: usize,
    ) -> Complex64 {
        phase_of_hadron(&self.content(quarks), None, origin[NDIM - 1], distance)
    }

    /// Returns the three quarks of the baryon, which each of its terms has.
    fn content<'q>(self, quarks: &[&'q QuarkPropagator]) -> [&'q QuarkPropagator; 3] {
        let Term { closing, diquark: [a, b], .. } = self.terms()[0];
        [closing, a, b].map(|quark| quarks[quark])
    }

    /// Returns the terms, whose sum is the contraction.
    pub(super) fn terms(self) -> &'static [Term] {
        const fn term(closing: usize, diquark: [usize; 2], of_tt: f64, of_xt: f64) -> Term {
            Term { closing, diquark, of_tt, of_xt }
        }
        match self {
            Self::Octet => const { &[term(1, [0, 1], 1.0, 1.0)] },
            Self::LambdaOctet => const { &[term(0, [1, 1], 1.0, 1.0), term(1, [1, 0], 0.0, 1.0)] },
            Self::LambdaNaive => const { &[term(2, [0, 1], 1.0, 0.0)] },
            // tt of each [ab]c with itself; xt of two that exchange the open quark, in both orders.
            Self::Lambda => {
                const {
                    &[
                        term(2, [0, 1], 4.0 / 6.0, 2.0 / 6.0),
                        term(2, [1, 0], 0.0, 2.0 / 6.0),
                        term(1, [0, 2], 1.0 / 6.0, 2.0 / 6.0),
                        term(1, [2, 0], 0.0, -1.0 / 6.0),
                        term(0, [1, 2], 1.0 / 6.0, 2.0 / 6.0),
                        term(0, [2, 1], 0.0, -1.0 / 6.0),
                    ]
                }
            }
            Self::Decuplet => {
                const { &[term(1, [0, 1], 2.0, 2.0), term(1, [1, 0], 0.0, 2.0), term(0, [1, 1], 1.0, 2.0)] }
            }
        }
    }
}

impl BaryonOperator {
    /// Returns the contraction of a site, of quarks q₁, q₂ and so on.
    ///
    /// # Panics
    /// If there are fewer than [`BaryonForm::quarks`].
    pub fn at_site(&self, of: &[&SitePropagator]) -> Complex64 {
        let Self { form, projector, matrix } = self;
        let terms = form.terms().iter().map(|&Term { closing, diquark: [a, b], of_tt, of_xt }| {
            let diquark = diquark(&on_source(of[a], matrix), &on_sink(matrix, of[b]));
            let [tt, xt] = closed(projector, of[closing], &diquark);
            tt * of_tt + xt * of_xt
        });
        terms.sum()
    }

    /// Returns the derivative G of the contraction of a site by one of its quarks.
    ///
    /// The contraction changes by tr(G δS) with that quark's S. Rows of G belong to the source and
    /// columns to the sink, both 3·spin + colour.
    ///
    /// # Panics
    /// If there are fewer than [`BaryonForm::quarks`].
    pub fn derivative(&self, of: &[&SitePropagator], quark: usize) -> SitePropagator {
        let Self { form, projector, matrix } = self;
        let mut sum = [[Complex64::default(); 12]; 12];
        let mut add = |part: SitePropagator| {
            sum.iter_mut().flatten().zip(part.iter().flatten()).for_each(|(sum, z)| *sum += z);
        };
        for &Term { closing, diquark: [a, b], of_tt, of_xt } in form.terms() {
            let (first, second) = (on_source(of[a], matrix), on_sink(matrix, of[b]));
            if closing == quark {
                add(of_closing(projector, &diquark(&first, &second), [of_tt, of_xt]));
            }
            let weights = weights(projector, of[closing], [of_tt, of_xt]);
            if a == quark {
                add(on_sink(matrix, &of_diquark(&weights, &second, true)));
            }
            if b == quark {
                add(on_source(&of_diquark(&weights, &first, false), matrix));
            }
        }
        sum
    }

    /// Returns the correlators C(p, t) = Σ_x e^{ip·(x−x₀)} of the contraction.
    ///
    /// There is one for each momentum. t counts from the source. Beyond the boundary in t they have
    /// the phases of three quarks.
    ///
    /// # Panics
    /// If the propagators are of different lattices.
    pub fn correlators(
        &self,
        quarks: [&QuarkPropagator; 2],
        origin: [usize; NDIM],
        momenta: &Momenta,
    ) -> Vec<Vec<Complex64>> {
        let dims = quarks[0].dims();
        assert_eq!(dims, quarks[1].dims(), "propagators of one lattice");
        let slices = Phases::new(dims, origin, momenta).project(1, |site, numbers| {
            numbers[0] = self.at_site(&quarks.map(|quark| &quark.sites()[site]));
        });
        let slices = slices.times(&self.form.phases(&quarks, origin));
        (0..momenta.names().len()).map(|p| slices.number(p, 0)).collect()
    }
}

/// Returns the correlators of Λ with three different quarks, for each momentum.
///
/// The contraction is tt(T, S₃, D\[S₁Γ, ΓS₂\]).
///
/// # Panics
/// If the propagators are of different lattices.
pub fn naive_lambda(
    projector: &SpinTensor,
    matrix: &SpinTensor,
    quarks: [&QuarkPropagator; 3],
    origin: [usize; NDIM],
    momenta: &Momenta,
) -> Vec<Vec<Complex64>> {
    let dims = quarks[0].dims();
    assert!(quarks.iter().all(|quark| quark.dims() == dims), "propagators of one lattice");
    let slices = Phases::new(dims, origin, momenta).project(1, |site, numbers| {
        let [s1, s2, s3] = quarks.map(|quark| &quark.sites()[site]);
        numbers[0] = closed(projector, s3, &diquark(&on_source(s1, matrix), &on_sink(matrix, s2)))[0];
    });
    let slices = slices.times(&BaryonForm::LambdaNaive.phases(&quarks, origin));
    (0..momenta.names().len()).map(|p| slices.number(p, 0)).collect()
}

/// ½(1 + `factor` `matrix`).
fn half(factor: Complex64, matrix: SpinTensor) -> SpinTensor {
    Complex64::from(0.5) * (SpinTensor::gamma(0) + factor * matrix)
}

/// Returns T_± = ½(1 ± γ4), which projects on a parity.
pub fn parity_projector(is_positive: bool) -> SpinTensor {
    half(if is_positive { 1.0 } else { -1.0 }.into(), SpinTensor::gamma(8))
}

/// Returns ½(1 ± Σ₃), which projects on a spin along z; Σ₃ = −iγ1γ2.
pub fn spin_projector(is_up: bool) -> SpinTensor {
    half(Complex64::new(0.0, if is_up { -1.0 } else { 1.0 }), SpinTensor::gamma(3))
}

/// Returns C γ∓ with γ∓ = ½(±γ2 + iγ1).
///
/// The upper sign raises the spin along z, the lower sign lowers it.
pub fn vector_diquark(raises: bool) -> SpinTensor {
    let sign = Complex64::from(if raises { 0.5 } else { -0.5 });
    let i = Complex64::new(0.0, 0.5);
    SpinTensor::gamma(10) * (sign * SpinTensor::gamma(2) + i * SpinTensor::gamma(1))
}

/// A baryon's operator with its names.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedOperator {
    /// The matrix of the diquark, and the component of the spin: `Cg5NR_up`.
    pub name: &'static str,
    /// `+` or `-`.
    pub projector: &'static str,
    /// T.
    pub t: SpinTensor,
    /// Γ.
    pub matrix: SpinTensor,
}

/// Makes both parities of each row of a table.
fn both_parities(row: impl Fn(bool) -> Vec<(&'static str, SpinTensor, SpinTensor)>) -> Vec<NamedOperator> {
    let of = |is_positive: bool| {
        let projector = if is_positive { "+" } else { "-" };
        row(is_positive).into_iter().map(move |(name, t, matrix)| NamedOperator {
            name,
            projector,
            t,
            matrix,
        })
    };
    of(true).chain(of(false)).collect()
}

/// Returns the operators of the octet.
///
/// NR stands for ½(1 ± γ4) beside Γ, the non-relativistic form.
pub fn octet_operators() -> Vec<NamedOperator> {
    let cg5 = SpinTensor::gamma(5);
    both_parities(|is_positive| {
        let parity = parity_projector(is_positive);
        let [up, down] = [true, false].map(|is_up| parity * spin_projector(is_up));
        vec![
            ("Cg5", parity, cg5),
            ("Cg5_up", up, cg5),
            ("Cg5_down", down, cg5),
            ("Cg5NR_up", up, cg5 * parity),
            ("Cg5NR_down", down, cg5 * parity),
            ("C", parity, SpinTensor::gamma(10)),
        ]
    })
}

/// Returns the operators of the decuplet: three directions, and s_z = ±3/2.
pub fn decuplet_operators() -> Vec<NamedOperator> {
    both_parities(|is_positive| {
        let parity = parity_projector(is_positive);
        let charge = SpinTensor::gamma(10);
        let [up, down] = [true, false].map(|is_up| parity * spin_projector(is_up));
        vec![
            ("Cgx", parity, charge * SpinTensor::gamma(1)),
            ("Cgy", parity, charge * SpinTensor::gamma(2)),
            ("Cgz", parity, charge * SpinTensor::gamma(4)),
            ("CgmNR_upup", up, vector_diquark(true) * parity),
            ("CgpNR_downdown", down, vector_diquark(false) * parity),
        ]
    })
}

/// Returns the correlators of a baryon on the host.
///
/// There is one for each of its operators and each momentum.
///
/// # Panics
/// If there are fewer than [`BaryonForm::quarks`], or the propagators are of different lattices.
pub fn baryons(
    name: &str,
    form: BaryonForm,
    operators: &[NamedOperator],
    quarks: &[&QuarkPropagator],
    origin: [usize; NDIM],
    momenta: &Momenta,
) -> Vec<BaryonCorrelator> {
    let dims = quarks[0].dims();
    assert!(quarks.iter().all(|quark| quark.dims() == dims), "propagators of one lattice");
    let phases = Phases::new(dims, origin, momenta);
    let slices = phases.project(operators.len(), |site, numbers| {
        let sites: Vec<&SitePropagator> = quarks.iter().map(|quark| &quark.sites()[site]).collect();
        for (number, NamedOperator { t, matrix, .. }) in numbers.iter_mut().zip(operators) {
            let operator = BaryonOperator { form, projector: *t, matrix: *matrix };
            *number = operator.at_site(&sites);
        }
    });
    of_slices(name, operators, &slices.times(&form.phases(quarks, origin)), momenta)
}

/// Returns the correlators from sums of the contractions.
///
/// The sums have a number for each operator.
pub(super) fn of_slices(
    name: &str,
    operators: &[NamedOperator],
    slices: &Slices,
    momenta: &Momenta,
) -> Vec<BaryonCorrelator> {
    let names = momenta.names();
    let all = (0..names.len()).flat_map(|p| operators.iter().enumerate().map(move |(k, of)| (p, k, of)));
    all.map(|(p, k, operator)| BaryonCorrelator {
        name: format!("{name}_{}", operator.name),
        projector: operator.projector.to_owned(),
        momentum: names[p],
        values: slices.number(p, k).into_iter().map(|z| [z.re, z.im]).collect(),
    })
    .collect()
}
