//! Functions and their derivatives at the points of a group; the twin of `cl/xc_functions.cl`.

use crate::basis::{Basis, Shell};
use crate::harmonics::{self, DERIVATIVES, Monomial};

/// Values and derivatives of the functions of some shells at some points.
///
/// Planes are the value, then x, y, z, xx, xy, xz, yy, yz, zz. A plane has function after function,
/// each with all points.
pub(crate) struct Functions {
    values: Vec<f64>,
    functions: usize,
    points: usize,
}

/// Σ c e^{−αd²}, and its first two derivatives by d²/2.
fn radial(shell: &Shell, square: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for &[exponent, coefficient] in &shell.primitives {
        let value = coefficient * (-exponent * square).exp();
        sums[0] += value;
        sums[1] -= 2.0 * exponent * value;
        sums[2] += 4.0 * exponent * exponent * value;
    }
    sums
}

fn value(polynomial: &[Monomial], d: [f64; 3]) -> f64 {
    let of = |(coefficient, powers): &Monomial| {
        (0..3).fold(*coefficient, |product, axis| (0..powers[axis]).fold(product, |p, _| p * d[axis]))
    };
    polynomial.iter().map(of).sum()
}

impl Functions {
    /// Evaluates the functions of these shells, with so many planes: 1, 4 or 10.
    pub fn new(basis: &Basis, shells: &[u32], points: &[[f64; 3]], planes: usize) -> Self {
        let functions = shells.iter().map(|&shell| basis.shells()[shell as usize].functions()).sum();
        let mut values = vec![0.0; planes * functions * points.len()];
        let mut first = 0;
        for &number in shells {
            let (shell, centre) = (&basis.shells()[number as usize], basis.centre(number as usize));
            let polynomials: Vec<Vec<Vec<Monomial>>> = shell
                .kind()
                .polynomials()
                .iter()
                .map(|polynomial| {
                    DERIVATIVES[..planes].iter().map(|axes| harmonics::derivative(polynomial, axes)).collect()
                })
                .collect();
            for (place, point) in points.iter().enumerate() {
                let d: [f64; 3] = std::array::from_fn(|axis| point[axis] - centre[axis]);
                let [r, r1, r2] = radial(shell, d.iter().map(|x| x * x).sum());
                for (number, parts) in polynomials.iter().enumerate() {
                    let s: Vec<f64> = parts.iter().map(|part| value(part, d)).collect();
                    for (plane, axes) in DERIVATIVES[..planes].iter().enumerate() {
                        let derivative = match **axes {
                            [] => r * s[0],
                            [a] => r1 * d[a] * s[0] + r * s[1 + a],
                            [a, b] => {
                                let same = if a == b { r1 * s[0] } else { 0.0 };
                                let mixed = r1 * (d[a] * s[1 + b] + d[b] * s[1 + a]);
                                r2 * d[a] * d[b] * s[0] + same + mixed + r * s[plane]
                            }
                            _ => unreachable!("there are at most second derivatives"),
                        };
                        values[(plane * functions + first + number) * points.len() + place] = derivative;
                    }
                }
            }
            first += shell.functions();
        }
        Self { values, functions, points: points.len() }
    }

    /// Returns a plane of a function at all points.
    pub fn of(&self, plane: usize, function: usize) -> &[f64] {
        &self.values[(plane * self.functions + function) * self.points..][..self.points]
    }
}
