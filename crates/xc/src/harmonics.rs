//! Polynomials of shells up to h in x, y and z, with their derivatives.
//!
//! Pure shells have real solid harmonics in the order m = −l … l, but x, y, z for p. Cartesian
//! shells have products x^a y^b z^c, the largest a first, then the largest b. Host and kernels take
//! values and derivatives from the polynomials here.

use std::f64::consts::PI;
use std::fmt::Write;

/// The largest angular momentum.
pub(crate) const LARGEST: usize = 5;

/// The letters of shells.
pub(crate) const LETTERS: [&str; LARGEST + 1] = ["s", "p", "d", "f", "g", "h"];

/// A coefficient and the powers of x, y and z.
pub(crate) type Monomial = (f64, [u32; 3]);

/// The derivatives that come after the value: x, y, z, xx, xy, xz, yy, yz, zz.
pub(crate) const DERIVATIVES: [&[usize]; 10] =
    [&[], &[0], &[1], &[2], &[0, 0], &[0, 1], &[0, 2], &[1, 1], &[1, 2], &[2, 2]];

/// The kind of a shell: angular momentum, and whether its functions are Cartesian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub momentum: usize,
    pub is_cartesian: bool,
}

impl Kind {
    /// Returns the number of functions.
    pub fn functions(self) -> usize {
        match self.is_cartesian {
            true => (self.momentum + 1) * (self.momentum + 2) / 2,
            false => 2 * self.momentum + 1,
        }
    }

    /// Returns the number that stands for the kind on devices. Both kinds of s and of p are one.
    pub fn number(self) -> u32 {
        let past = if self.is_cartesian && self.momentum > 1 { LARGEST } else { 0 };
        (self.momentum + past) as u32
    }

    /// Returns the polynomials of the functions.
    ///
    /// Each is normalised: the integral of its square over directions is r^2l.
    pub fn polynomials(self) -> Vec<Vec<Monomial>> {
        let l = self.momentum;
        match (self.is_cartesian, l) {
            (true, _) | (_, 1) => powers(l).into_iter().map(|p| vec![(norm_of_powers(p), p)]).collect(),
            (false, _) => (-(l as i64)..=l as i64).map(|m| solid_harmonic(l, m)).collect(),
        }
    }
}

/// Returns (2n − 1)!!, which is 1 for 0.
pub(crate) fn odd_factorial(n: usize) -> f64 {
    (1..=n).map(|k| (2 * k - 1) as f64).product()
}

/// Returns the powers of a Cartesian shell in their order.
pub(crate) fn powers(l: usize) -> Vec<[u32; 3]> {
    let l = l as u32;
    (0..=l).rev().flat_map(|a| (0..=l - a).rev().map(move |b| [a, b, l - a - b])).collect()
}

/// Returns the factor that normalises x^a y^b z^c over directions.
fn norm_of_powers(powers: [u32; 3]) -> f64 {
    let l: u32 = powers.iter().sum();
    let below: f64 = powers.iter().map(|&power| odd_factorial(power as usize)).product();
    (odd_factorial(l as usize + 1) / (4.0 * PI * below)).sqrt()
}

/// Returns n over k.
fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>().round()
}

fn factorial(n: usize) -> f64 {
    (1..=n).map(|k| k as f64).product()
}

/// Returns the real solid harmonic S_lm without the phase of Condon and Shortley.
///
/// With ρ^m cos mφ for m ≥ 0, else ρ^|m| sin |m|φ, S is their product with a polynomial in z and r².
/// Source: T. Helgaker, P. Jørgensen and J. Olsen, Molecular Electronic-Structure Theory (2000), 6.4.
fn solid_harmonic(l: usize, m: i64) -> Vec<Monomial> {
    let n = m.unsigned_abs() as usize;
    let twice = if n == 0 { 1.0 } else { 2.0 };
    let norm = (twice * (2 * l + 1) as f64 / (4.0 * PI) * factorial(l - n) / factorial(l + n)).sqrt();
    let mut sum = Vec::<Monomial>::new();
    let mut add =
        |coefficient: f64, powers: [u32; 3]| match sum.iter_mut().find(|(_, known)| *known == powers) {
            Some((known, _)) => *known += coefficient,
            None => sum.push((coefficient, powers)),
        };
    // Even powers of y make the cosine, odd ones the sine.
    for y in (0..=n).filter(|y| (y % 2 == 1) == (m < 0)) {
        let of_angle = binomial(n, y) * if y / 2 % 2 == 0 { 1.0 } else { -1.0 };
        for k in 0..=(l - n) / 2 {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let of_z = sign
                * 0.5_f64.powi(l as i32)
                * binomial(l, k)
                * binomial(2 * l - 2 * k, l)
                * factorial(l - 2 * k)
                / factorial(l - 2 * k - n);
            // r^2k = Σ k!/(a! b! c!) x^2a y^2b z^2c.
            for [a, b, c] in powers(k).into_iter().map(|p| p.map(|power| power as usize)) {
                let of_square = factorial(k) / (factorial(a) * factorial(b) * factorial(c));
                let powers = [n - y + 2 * a, y + 2 * b, l - 2 * k - n + 2 * c];
                add(norm * of_angle * of_z * of_square, powers.map(|power| power as u32));
            }
        }
    }
    sum.retain(|(coefficient, _)| coefficient.abs() > 1e-14);
    sum
}

/// Returns the derivative of a polynomial along these axes.
pub(crate) fn derivative(polynomial: &[Monomial], axes: &[usize]) -> Vec<Monomial> {
    let mut found = polynomial.to_vec();
    for &axis in axes {
        found.retain(|(_, powers)| powers[axis] > 0);
        for (coefficient, powers) in &mut found {
            *coefficient *= f64::from(powers[axis]);
            powers[axis] -= 1;
        }
    }
    found
}

/// Returns a polynomial as OpenCL C in x, y and z.
fn text(polynomial: &[Monomial]) -> String {
    if polynomial.is_empty() {
        return "(vreal)0".to_owned();
    }
    let mut text = String::new();
    for (number, (coefficient, powers)) in polynomial.iter().enumerate() {
        let plus = if number > 0 { " + " } else { "" };
        // The digits of a coefficient are all that it has.
        write!(text, "{plus}(vreal)((real){coefficient:?})").expect("strings take all text");
        for (axis, &power) in ["x", "y", "z"].iter().zip(powers) {
            (0..power).for_each(|_| text.extend([" * ", axis]));
        }
    }
    text
}

/// Returns the text of `SHELL_CASES` for `cl/xc_functions.cl`.
///
/// For each kind of shell the case has an `EMIT(number, value, …)` for each function, with as many
/// derivatives as `planes` has.
pub(crate) fn kernel_text(planes: usize, kinds: &[Kind]) -> String {
    let mut all = "#define SHELL_CASES".to_owned();
    for kind in kinds {
        write!(all, " case {}:", kind.number()).expect("strings take all text");
        for (number, polynomial) in kind.polynomials().iter().enumerate() {
            let parts: Vec<String> =
                DERIVATIVES[..planes].iter().map(|axes| text(&derivative(polynomial, axes))).collect();
            write!(all, " EMIT({number}, {})", parts.join(", ")).expect("strings take all text");
        }
        all.push_str(" break;");
    }
    all.push('\n');
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pure(momentum: usize) -> Kind {
        Kind { momentum, is_cartesian: false }
    }

    #[test]
    fn solid_harmonics_have_no_laplacian() {
        for l in 0..=LARGEST {
            assert_eq!(pure(l).polynomials().len(), pure(l).functions());
            for polynomial in pure(l).polynomials() {
                let mut laplacian = std::collections::BTreeMap::new();
                for axis in 0..3 {
                    for (coefficient, powers) in derivative(&polynomial, &[axis, axis]) {
                        *laplacian.entry(powers).or_insert(0.0) += coefficient;
                    }
                }
                assert!(laplacian.values().all(|sum: &f64| sum.abs() < 1e-12), "{l} {polynomial:?}");
            }
        }
    }

    /// The integral of the product over directions: Π (a − 1)!! / (a + b + c + 1)!! for even powers.
    fn product(a: &[Monomial], b: &[Monomial]) -> f64 {
        let of = |(x, p): &Monomial, (y, q): &Monomial| {
            let sum: [usize; 3] = std::array::from_fn(|axis| (p[axis] + q[axis]) as usize);
            let is_even = sum.iter().all(|power| power % 2 == 0);
            let above: f64 = sum.iter().map(|power| odd_factorial(power / 2)).product();
            let below = odd_factorial(sum.iter().sum::<usize>() / 2 + 1);
            if is_even { 4.0 * PI * x * y * above / below } else { 0.0 }
        };
        a.iter().flat_map(|a| b.iter().map(move |b| of(a, b))).sum()
    }

    #[test]
    fn functions_are_normalised_and_pure_ones_orthogonal() {
        for l in 0..=LARGEST {
            for is_cartesian in [false, true] {
                let kind = Kind { momentum: l, is_cartesian };
                let all = kind.polynomials();
                assert_eq!(all.len(), kind.functions());
                for (i, a) in all.iter().enumerate() {
                    assert!((product(a, a) - 1.0).abs() < 1e-14, "{kind:?} {i}");
                    let others = all[..i].iter().map(|b| product(a, b).abs()).fold(0.0, f64::max);
                    assert!(is_cartesian || others < 1e-14, "{kind:?} {i}: {others:e}");
                }
            }
        }
    }

    #[test]
    fn functions_have_their_usual_signs() {
        let at = |l: usize, m: i64, [x, y, z]: [f64; 3]| -> f64 {
            let value =
                |(c, p): &Monomial| c * x.powi(p[0] as i32) * y.powi(p[1] as i32) * z.powi(p[2] as i32);
            solid_harmonic(l, m).iter().map(value).sum()
        };
        let point @ [x, y, z] = [0.3, -0.7, 0.4];
        for (l, m, wanted) in [
            (0, 0, 0.28209479177387814),
            (2, -2, 1.0925484305920792 * x * y),
            (2, 1, 1.0925484305920792 * x * z),
            (3, -3, 0.5900435899266435 * y * (3.0 * x * x - y * y)),
            (3, 3, 0.5900435899266435 * x * (x * x - 3.0 * y * y)),
            (4, -4, 2.5033429417967046 * x * y * (x * x - y * y)),
            (4, 3, 1.7701307697799304 * x * z * (x * x - 3.0 * y * y)),
        ] {
            assert!((at(l, m, point) - wanted).abs() < 1e-15, "{l} {m}: {} {wanted}", at(l, m, point));
        }
    }

    #[test]
    fn the_text_of_a_shell_has_all_its_functions() {
        let text = kernel_text(4, &[pure(0), pure(2), Kind { momentum: 2, is_cartesian: true }]);
        assert!(text.starts_with(
            "#define SHELL_CASES case 0: EMIT(0, (vreal)((real)0.28209479177387814), (vreal)0, (vreal)0, (vreal)0) \
             break; case 2:"
        ));
        assert_eq!((text.matches("EMIT(").count(), text.matches("case 7:").count()), (12, 1));
    }
}
