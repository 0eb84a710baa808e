//! Real solid harmonics up to f: polynomials in x, y and z, with their derivatives.
//!
//! The order within a shell is m = −l … l, but x, y, z for p. Host and kernels take both values and
//! derivatives from the one table here.

use std::fmt::Write;

/// The largest angular momentum.
pub(crate) const LARGEST: usize = 3;

/// A coefficient and the powers of x, y and z.
pub(crate) type Monomial = (f64, [u32; 3]);

/// The derivatives that come after the value: x, y, z, xx, xy, xz, yy, yz, zz.
pub(crate) const DERIVATIVES: [&[usize]; 10] =
    [&[], &[0], &[1], &[2], &[0, 0], &[0, 1], &[0, 2], &[1, 1], &[1, 2], &[2, 2]];

const S: f64 = 0.28209479177387814;
const P: f64 = 0.4886025119029199;
const D: [f64; 3] = [1.0925484305920792, 0.31539156525252005, 0.5462742152960396];
const F: [f64; 5] =
    [0.5900435899266435, 2.890611442640554, 0.4570457994644658, 0.3731763325901154, 1.445305721320277];

/// Returns the polynomials of a shell.
pub(crate) fn shell(l: usize) -> Vec<Vec<Monomial>> {
    match l {
        0 => vec![vec![(S, [0, 0, 0])]],
        1 => vec![vec![(P, [1, 0, 0])], vec![(P, [0, 1, 0])], vec![(P, [0, 0, 1])]],
        2 => vec![
            vec![(D[0], [1, 1, 0])],
            vec![(D[0], [0, 1, 1])],
            vec![(2.0 * D[1], [0, 0, 2]), (-D[1], [2, 0, 0]), (-D[1], [0, 2, 0])],
            vec![(D[0], [1, 0, 1])],
            vec![(D[2], [2, 0, 0]), (-D[2], [0, 2, 0])],
        ],
        3 => vec![
            vec![(3.0 * F[0], [2, 1, 0]), (-F[0], [0, 3, 0])],
            vec![(F[1], [1, 1, 1])],
            vec![(4.0 * F[2], [0, 1, 2]), (-F[2], [2, 1, 0]), (-F[2], [0, 3, 0])],
            vec![(2.0 * F[3], [0, 0, 3]), (-3.0 * F[3], [2, 0, 1]), (-3.0 * F[3], [0, 2, 1])],
            vec![(4.0 * F[2], [1, 0, 2]), (-F[2], [3, 0, 0]), (-F[2], [1, 2, 0])],
            vec![(F[4], [2, 0, 1]), (-F[4], [0, 2, 1])],
            vec![(F[0], [3, 0, 0]), (-3.0 * F[0], [1, 2, 0])],
        ],
        _ => unreachable!("shells are checked when a basis is made"),
    }
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

/// Returns the text of `SHELL_0` to `SHELL_3` for `cl/xc_functions.cl`.
///
/// Each is an `EMIT(number, value, …)` for each function, with as many derivatives as `planes` has.
pub(crate) fn kernel_text(planes: usize) -> String {
    let mut all = String::new();
    for l in 0..=LARGEST {
        write!(all, "#define SHELL_{l}").expect("strings take all text");
        for (number, polynomial) in shell(l).iter().enumerate() {
            let parts: Vec<String> =
                DERIVATIVES[..planes].iter().map(|axes| text(&derivative(polynomial, axes))).collect();
            write!(all, " EMIT({number}, {})", parts.join(", ")).expect("strings take all text");
        }
        all.push('\n');
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solid_harmonics_have_no_laplacian() {
        for l in 0..=LARGEST {
            assert_eq!(shell(l).len(), 2 * l + 1);
            for polynomial in shell(l) {
                let mut laplacian = std::collections::BTreeMap::new();
                for axis in 0..3 {
                    for (coefficient, powers) in derivative(&polynomial, &[axis, axis]) {
                        *laplacian.entry(powers).or_insert(0.0) += coefficient;
                    }
                }
                assert!(laplacian.values().all(|sum: &f64| sum.abs() < 1e-15), "{l} {polynomial:?}");
            }
        }
    }

    #[test]
    fn the_text_of_a_shell_has_all_its_functions() {
        let text = kernel_text(4);
        assert!(text.starts_with(
            "#define SHELL_0 EMIT(0, (vreal)((real)0.28209479177387814), (vreal)0, (vreal)0, (vreal)0)\n"
        ));
        assert_eq!(text.matches("EMIT(").count(), 16);
    }
}
