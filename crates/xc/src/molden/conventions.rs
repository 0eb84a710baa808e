//! How programs normalise what they write, and which of them a file follows.
//!
//! The format wants coefficients of normalised primitives, and of functions with a norm of 1. Several
//! programs write others. Orbitals are orthonormal, so the overlaps of the functions tell how a file
//! is meant.

use super::orbitals::Orbital;
use super::shells::{FileShell, Pure};
use crate::basis::{Atom, Basis, Shell};
use crate::error::XcResult;
use crate::harmonics::{Kind, odd_factorial, powers};
use crate::overlap::overlaps;
use lattice_compute::parallel::*;
use std::f64::consts::PI;

/// A deviation of norms from 1 that needs no other convention.
const EXACT: f64 = 1e-5;

/// Deviations that rounding makes, and their largest ratio that means nothing.
const ROUNDING: f64 = 1e-8;
const RATIO: f64 = 2.0;

/// Most orbitals of each spin that are looked at.
const MOST_SAMPLES: usize = 64;

/// Elements of overlaps that are worth as many samples as possible.
const CHEAP: usize = 1 << 28;

/// Coefficients of primitives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Primitives {
    /// Those of normalised primitives, as the format wants.
    Normalised,
    /// Those of e^{−αd²}: ORCA, psi4 before 1.0, xtb.
    WithNorms,
}

/// Norms of the Cartesian functions of a shell.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cartesian {
    /// Each has the norm 1.
    Each,
    /// All have the factor of x^l: psi4 up to 1.3.
    OfPower,
    /// All have the factor of a product of different axes: CFOUR.
    OfProduct,
    /// Each has the norm √((2l−1)!!) of its contraction's: Turbomole.
    TimesPower,
}

impl Cartesian {
    const ALL: [Self; 4] = [Self::Each, Self::OfPower, Self::OfProduct, Self::TimesPower];
}

/// What a file's functions are.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Convention {
    primitives: Primitives,
    /// Contractions have the norm that their coefficients make, not 1.
    has_norms_of_contractions: bool,
    cartesian: Cartesian,
    /// Functions f(±3), g(±3), g(±4), h(±3) and h(±4) have the opposite sign.
    has_signs_of_orca: bool,
}

/// How far orbitals are from orthonormal ones, as roots of mean squares.
#[derive(Clone, Copy, Debug)]
struct Deviation {
    norms: f64,
    overlaps: f64,
}

/// The place of a function in our order, and the factor of its coefficient.
type Placed = (usize, f64);

/// A file as one convention reads it.
pub(super) struct Reading {
    pub basis: Basis,
    convention: Convention,
    /// The functions in the order of the file.
    places: Vec<Placed>,
    overlaps: Vec<f64>,
    deviation: Deviation,
}

/// ∫ r^{2l+2} e^{−ar²} dr from 0, (2l+1)!! √π / (2^{l+2} a^{l+3/2}).
fn integral(l: usize, a: f64) -> f64 {
    odd_factorial(l + 1) * PI.sqrt() / (2.0_f64.powi(l as i32 + 2) * a.powf(l as f64 + 1.5))
}

/// Returns the primitives of a normalised shell, and the norm that the shell had.
fn normalised(shell: &FileShell, primitives: Primitives) -> (Vec<[f64; 2]>, f64) {
    let l = shell.momentum;
    let own = |exponent: f64| match primitives {
        Primitives::Normalised => integral(l, 2.0 * exponent).sqrt(),
        Primitives::WithNorms => 1.0,
    };
    let all: Vec<[f64; 2]> = shell.primitives.iter().map(|&[a, c]| [a, c / own(a)]).collect();
    let overlap = |a: &[f64; 2], b: &[f64; 2]| a[1] * b[1] * integral(l, a[0] + b[0]);
    let square: f64 = all.iter().map(|a| all.iter().map(|b| overlap(a, b)).sum::<f64>()).sum();
    let norm = square.sqrt();
    (all.into_iter().map(|[a, c]| [a, c / norm]).collect(), norm)
}

/// The Cartesian functions of d, f and g shells in the order of the format.
const ORDERS: [&[&str]; 3] = [
    &["xx", "yy", "zz", "xy", "xz", "yz"],
    &["xxx", "yyy", "zzz", "xyy", "xxy", "xxz", "xzz", "yzz", "yyz", "xyz"],
    &[
        "xxxx", "yyyy", "zzzz", "xxxy", "xxxz", "xyyy", "yyyz", "xzzz", "yzzz", "xxyy", "xxzz", "yyzz",
        "xxyz", "xyyz", "xyzz",
    ],
];

/// Returns the functions of a shell in the order of the format: where each stands in ours.
///
/// The format has no h shells. Programs write pure ones as those of g, Cartesian ones in our order.
fn order(kind: Kind) -> Vec<usize> {
    let l = kind.momentum;
    let of_name = |name: &&str| {
        let power = |axis: char| name.chars().filter(|&c| c == axis).count() as u32;
        let wanted = ['x', 'y', 'z'].map(power);
        powers(l).iter().position(|powers| *powers == wanted).expect("each name is one of the shell")
    };
    match (kind.is_cartesian, ORDERS.get(l.wrapping_sub(2))) {
        (true, Some(names)) => names.iter().map(of_name).collect(),
        (false, _) if l > 1 => {
            (0..kind.functions()).map(|k| if k % 2 == 1 { l + k.div_ceil(2) } else { l - k / 2 }).collect()
        }
        _ => (0..kind.functions()).collect(),
    }
}

impl Convention {
    /// Returns the conventions with these primitives, the likeliest first.
    fn all(primitives: Primitives, is_of_orca: bool) -> Vec<Self> {
        let mut all = Vec::new();
        for has_norms_of_contractions in [false, true] {
            for cartesian in Cartesian::ALL {
                for has_signs_of_orca in [is_of_orca, !is_of_orca] {
                    all.push(Self { primitives, has_norms_of_contractions, cartesian, has_signs_of_orca });
                }
            }
        }
        // Where primitives have their norms, programs have normalised the contractions.
        all.retain(|one| !(one.has_norms_of_contractions && primitives == Primitives::WithNorms));
        // Contractions that are normalised again have no factor left.
        all.retain(|one| one.has_norms_of_contractions || one.cartesian != Cartesian::TimesPower);
        all
    }

    /// Returns the factor of a function's coefficient, by its place in our order.
    fn factor(self, kind: Kind, place: usize, norm: f64) -> f64 {
        let of_contraction = if self.has_norms_of_contractions { norm } else { 1.0 };
        let products =
            || powers(kind.momentum)[place].iter().map(|&p| odd_factorial(p as usize)).product::<f64>();
        let of_kind = match (kind.is_cartesian, self.cartesian) {
            (true, Cartesian::OfPower) => f64::sqrt(products() / odd_factorial(kind.momentum)),
            (true, Cartesian::OfProduct) => f64::sqrt(products()),
            (true, Cartesian::TimesPower) => odd_factorial(kind.momentum).sqrt(),
            (false, _) if self.has_signs_of_orca && [3, 4].contains(&place.abs_diff(kind.momentum)) => -1.0,
            _ => 1.0,
        };
        of_contraction * of_kind
    }
}

impl Deviation {
    /// Returns `true` if this is so much less that a convention must be the right one.
    fn is_better_than(self, other: Self) -> bool {
        let is_less = |a: f64, b: f64| RATIO * a + ROUNDING < b;
        is_less(self.norms, other.norms)
            || !is_less(other.norms, self.norms) && is_less(self.overlaps, other.overlaps)
    }
}

/// Returns S v.
fn times(overlaps: &[f64], vector: &[f64]) -> Vec<f64> {
    let row = |row: &[f64]| row.iter().zip(vector).map(|(s, x)| s * x).sum();
    overlaps.chunks_exact(vector.len()).map(row).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns some orbitals of each spin, evenly taken, without those that are zero.
fn samples(orbitals: &[Orbital], functions: usize) -> [Vec<&Orbital>; 2] {
    let most = (CHEAP / (functions * functions)).clamp(8, MOST_SAMPLES);
    [false, true].map(|is_beta| {
        let of_spin = orbitals.iter().filter(|orbital| orbital.is_beta == is_beta);
        let all: Vec<&Orbital> =
            of_spin.filter(|orbital| orbital.coefficients.iter().any(|(_, c)| *c != 0.0)).collect();
        let step = all.len().div_ceil(most).max(1);
        all.into_iter().step_by(step).collect()
    })
}

/// Returns the vector of an orbital in our order.
fn vector(orbital: &Orbital, places: &[Placed]) -> Vec<f64> {
    let mut vector = vec![0.0; places.len()];
    for &(function, coefficient) in &orbital.coefficients {
        let (place, factor) = places[function];
        vector[place] = factor * coefficient;
    }
    vector
}

/// Returns how far orbitals are from orthonormal ones.
fn deviation(overlaps: &[f64], samples: &[Vec<&Orbital>; 2], places: &[Placed]) -> Deviation {
    let (mut norms, mut all, mut counts) = (0.0, 0.0, [0.0; 2]);
    for samples in samples {
        let vectors: Vec<Vec<f64>> = samples.iter().map(|orbital| vector(orbital, places)).collect();
        let products: Vec<Vec<f64>> = vectors.par_iter().map(|vector| times(overlaps, vector)).collect();
        for (i, product) in products.iter().enumerate() {
            norms += (dot(product, &vectors[i]) - 1.0).powi(2);
            all += vectors[..i].iter().map(|other| dot(product, other).powi(2)).sum::<f64>();
            counts = [counts[0] + 1.0, counts[1] + i as f64];
        }
    }
    let mean = |sum: f64, count: f64| (sum / f64::max(count, 1.0)).sqrt();
    Deviation { norms: mean(norms, counts[0]), overlaps: mean(all, counts[1]) }
}

impl Reading {
    /// Reads shells and orbitals by the convention that makes the orbitals orthonormal.
    ///
    /// Orbitals have no function that the shells do not have.
    pub fn best(
        atoms: &[Atom],
        shells: &[FileShell],
        pure: Pure,
        orbitals: &[Orbital],
        is_of_orca: bool,
    ) -> XcResult<Self> {
        let mut best = Self::with(Primitives::Normalised, atoms, shells, pure, orbitals, is_of_orca)?;
        if best.deviation.norms > EXACT {
            let other = Self::with(Primitives::WithNorms, atoms, shells, pure, orbitals, is_of_orca)?;
            if other.is_better_than(&best) {
                best = other;
            }
        }
        Ok(best)
    }

    fn with(
        primitives: Primitives,
        atoms: &[Atom],
        shells: &[FileShell],
        pure: Pure,
        orbitals: &[Orbital],
        is_of_orca: bool,
    ) -> XcResult<Self> {
        let (mut ours, mut norms) = (Vec::new(), Vec::new());
        for shell in shells {
            let (primitives, norm) = normalised(shell, primitives);
            let Kind { momentum, is_cartesian } = pure.kind(shell.momentum);
            ours.push(Shell { atom: shell.atom, momentum, is_cartesian, primitives });
            norms.push(norm);
        }
        let basis = Basis::new(atoms.to_vec(), ours)?;
        let overlaps = overlaps(&basis);
        let samples = samples(orbitals, basis.functions());
        let mut tried: Vec<(Convention, Vec<Placed>, Deviation)> = Vec::new();
        for convention in Convention::all(primitives, is_of_orca) {
            let places = places(&basis, &norms, convention);
            if tried.iter().all(|(_, known, _)| *known != places) {
                let deviation = deviation(&overlaps, &samples, &places);
                tried.push((convention, places, deviation));
            }
        }
        let better = |best: (_, _, Deviation), next: (_, _, Deviation)| {
            if next.2.is_better_than(best.2) { next } else { best }
        };
        let (convention, places, deviation) =
            tried.into_iter().reduce(better).expect("there is a convention for all primitives");
        Ok(Self { basis, convention, places, overlaps, deviation })
    }

    /// Returns `true` if orbitals are clearly closer to orthonormal ones here.
    pub fn is_better_than(&self, other: &Self) -> bool {
        self.deviation.is_better_than(other.deviation)
    }

    /// Returns the vector of an orbital in the order of the basis.
    pub fn vector(&self, orbital: &Orbital) -> Vec<f64> {
        vector(orbital, &self.places)
    }

    /// Returns the square of an orbital's norm.
    pub fn square(&self, orbital: &Orbital) -> f64 {
        let vector = self.vector(orbital);
        dot(&times(&self.overlaps, &vector), &vector)
    }

    /// Returns what the file does otherwise than the format wants.
    pub fn notes(&self) -> Vec<&'static str> {
        let Convention { primitives, has_norms_of_contractions, cartesian, has_signs_of_orca } =
            self.convention;
        let has = |kind: fn(&Shell) -> bool| self.basis.shells().iter().any(kind);
        let has_cartesian = has(|shell| shell.is_cartesian && shell.momentum > 1);
        let notes = [
            (
                primitives == Primitives::WithNorms,
                "coefficients of primitives contain their norms, as those of ORCA and of old psi4 do",
            ),
            (has_norms_of_contractions, "contractions are not normalised"),
            (
                has_cartesian && cartesian == Cartesian::OfPower,
                "Cartesian functions of a shell share the norm of x^l, as those of psi4 up to 1.3 do",
            ),
            (
                has_cartesian && cartesian == Cartesian::OfProduct,
                "Cartesian functions of a shell share the norm of their product, as those of CFOUR do",
            ),
            (
                has_cartesian && cartesian == Cartesian::TimesPower,
                "contractions of Cartesian functions lack the norm of x^l, as those of Turbomole do",
            ),
            (
                has_signs_of_orca && has(|shell| !shell.is_cartesian && shell.momentum > 2),
                "functions with |m| of 3 and 4 have the opposite sign, as those of ORCA do",
            ),
        ];
        notes.into_iter().filter_map(|(is_so, note)| is_so.then_some(note)).collect()
    }
}

/// Returns the place of each function of a file, and the factor of its coefficients.
fn places(basis: &Basis, norms: &[f64], convention: Convention) -> Vec<Placed> {
    let mut places = Vec::with_capacity(basis.functions());
    for (number, shell) in basis.shells().iter().enumerate() {
        let (kind, first) = (shell.kind(), basis.functions_of(number).start);
        let of = |place: usize| (first + place, convention.factor(kind, place, norms[number]));
        places.extend(order(kind).into_iter().map(of));
    }
    places
}
