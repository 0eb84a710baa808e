//! Systems with numbers so large or small that squares or products of them leave the range.

use super::outcome::Solved;
use super::residuals;
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use lattice_compute::scalar::{Precision, Real};
use lattice_solvers::range::{complex_times_power, exponent_beyond, larger, part_size};
use std::sync::Arc;

/// Largest exponent of numbers that methods take as they are.
///
/// They multiply squares of norms of A r and r.
const SAFE: i32 = 100;

/// The same for elements in single precision.
const SAFE_SINGLE: i32 = 40;

/// Returns the exponent of the largest number, or 0 if methods take the numbers as they are.
fn power_of<T: Arithmetic>(numbers: &[T]) -> i32 {
    let safe = if T::Real::PRECISION == Precision::Single { SAFE_SINGLE } else { SAFE };
    exponent_beyond(numbers.iter().map(|x| part_size(x.to_complex())).fold(0.0, larger), safe)
}

fn times<T: Arithmetic>(x: T, power: i32) -> T {
    T::from_complex(complex_times_power(x.to_complex(), power))
}

/// Returns A 2⁻ᵏ, near to 1, and k. An ordinary matrix is returned as it is, with k = 0.
pub(super) fn matrix<T: Arithmetic>(matrix: Arc<Csr<T>>) -> (Arc<Csr<T>>, i32) {
    match power_of(matrix.values()) {
        0 => (matrix, 0),
        power => (Arc::new(matrix.map(|_, _, value| times(value, -power))), power),
    }
}

/// Returns b 2⁻ᵏ, near to 1, and k.
pub(super) fn column<T: Arithmetic>(b: &[T]) -> (Vec<T>, i32) {
    let power = power_of(b);
    (b.iter().map(|x| times(*x, -power)).collect(), power)
}

/// Makes the solution of A x = b 2ᵏ from that of A x = b.
///
/// The residual tells if digits of x leave the range.
pub(super) fn restore<T: Arithmetic>(
    solved: &mut Solved<T>,
    matrix: &Csr<T>,
    b: &[T],
    power: i32,
    tolerance: f64,
) {
    if power == 0 {
        return;
    }
    solved.x.iter_mut().for_each(|x| *x = times(*x, power));
    let left: Vec<T> = solved.x.iter().map(|x| times(*x, -power)).collect();
    [solved.true_residual, solved.backward_error] = residuals(matrix, b, &left);
    let was_solved = solved.converged;
    solved.converged = solved.true_residual <= tolerance;
    if was_solved && !solved.converged {
        solved.warnings.push(format!(
            "the solution is about 2^{power} times as large as numbers near 1, out of the range of its precision; \
             scale the right-hand side"
        ));
    }
}
