//! The Chebyshev polynomial that makes unwanted eigenvalues small.

use crate::update::{AXPY, XPBY};
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};
use num_complex::Complex64;
use std::mem;

/// Logarithm of the largest value of a polynomial.
///
/// Rounding errors of an image are ε times the largest value. They must stay small for modes whose
/// value is near 1.
const LARGEST_LOGARITHM: f64 = 14.0;

/// Half the logarithm of the largest value of a polynomial, at least.
const LEAST_GROWTH: f64 = 1.0;

/// T_d of A, mapped so that unwanted eigenvalues lie between −1 and 1.
///
/// d is a multiple of four. Then T_d is even, the recurrence ends without a factor, and wanted
/// eigenvalues have the largest values whichever end they are at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Filter {
    /// The end of the unwanted part near the wanted eigenvalues.
    pub from: f64,
    /// The other end of the unwanted part.
    pub to: f64,
    pub degree: usize,
}

impl Filter {
    /// Makes the polynomial of at most this degree.
    ///
    /// `best` is the best wanted eigenvalue that is known. `from` moves away from it if the
    /// polynomial would not grow between them.
    pub fn new(from: f64, to: f64, most: usize, best: f64) -> Self {
        let degree = most.next_multiple_of(4).max(4);
        let least = (LEAST_GROWTH / degree as f64).powi(2) * (to - best);
        let from = if (from - best).abs() < least.abs() { best + least } else { from };
        let mut filter = Self { from, to, degree };
        let growth = filter.place(best).acosh();
        if growth > 0.0 {
            let degree = (LARGEST_LOGARITHM / growth) as usize / 4 * 4;
            filter.degree = filter.degree.min(degree.max(4));
        }
        filter
    }

    fn centre(&self) -> f64 {
        0.5 * (self.from + self.to)
    }

    /// Returns the place of an eigenvalue, 1 at the end near the wanted ones.
    fn place(&self, value: f64) -> f64 {
        ((self.centre() - value) / (0.5 * (self.to - self.from))).max(1.0)
    }

    /// Returns the eigenvalue of A that has this value of the polynomial.
    ///
    /// Values up to 1 give the end of the unwanted part.
    pub fn eigenvalue(&self, value: f64) -> f64 {
        let place = (value.max(1.0).acosh() / self.degree as f64).cosh();
        self.centre() - place * 0.5 * (self.to - self.from)
    }

    /// Computes out = T_d x. `spare` is overwritten.
    pub fn apply<A: LinearOperator>(
        &self,
        a: &A,
        x: &VectorOf<A>,
        out: &mut VectorOf<A>,
        spare: &mut [VectorOf<A>; 2],
    ) -> Result<(), ErrorOf<A>> {
        let space = a.space();
        let scalar = |value: f64| space.scalar(Complex64::from(value));
        // S₀ = x, S₁ = (A − c) x and Sₖ₊₁ = Sₖ₋₁ + b (A − c) Sₖ are multiples of Tₖ x.
        let minus_centre = scalar(-self.centre());
        let halves = 0.5 * (self.to - self.from);
        let factors = [scalar(2.0), scalar(-2.0 / (halves * halves))];
        let [previous, current] = spare;
        space.copy(x, previous)?;
        a.apply(x, current)?;
        space.axpy(&minus_centre, x, current)?;
        for k in 1..self.degree {
            a.apply(current, out)?;
            space.axpy(&minus_centre, current, out)?;
            space.xpby(previous, &factors[k % 2], out)?;
            if k + 1 < self.degree {
                mem::swap(previous, current);
                mem::swap(current, out);
            }
        }
        Ok(())
    }

    /// Returns the work of one application.
    pub fn work<A: LinearOperator>(&self, a: &A) -> Work {
        let mut step = a.work();
        step += AXPY.work(a.space());
        step += XPBY.work(a.space());
        step.times(self.degree as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec::from_fn;

    #[test]
    fn a_polynomial_has_the_values_of_chebyshev() {
        let a = from_fn(41, |x: &[f64], out: &mut [f64]| {
            (0..41).for_each(|k| out[k] = (k as f64 * 0.1 - 1.0) * x[k]);
        });
        for filter in [
            Filter { from: 0.0, to: 3.0, degree: 8 },
            Filter { from: 1.0, to: -1.0, degree: 4 },
            Filter { from: 0.5, to: 3.0, degree: 12 },
        ] {
            let x = vec![1.0; 41];
            let mut out = vec![f64::NAN; 41];
            filter.apply(&a, &x, &mut out, &mut [x.clone(), x.clone()]).unwrap();
            for (k, value) in out.iter().enumerate() {
                let eigenvalue = k as f64 * 0.1 - 1.0;
                let place = (filter.centre() - eigenvalue) / (0.5 * (filter.to - filter.from));
                let expected = if place.abs() <= 1.0 {
                    (filter.degree as f64 * place.acos()).cos()
                } else {
                    (filter.degree as f64 * place.abs().acosh()).cosh()
                };
                assert!(
                    (value - expected).abs() < 1e-11 * expected.abs().max(1.0),
                    "{k}: {value} {expected}"
                );
                if place > 1.0 {
                    assert!((filter.eigenvalue(*value) - eigenvalue).abs() < 1e-10);
                }
            }
        }
    }

    #[test]
    fn the_degree_bounds_the_largest_value() {
        let filter = Filter::new(1.0, 60.0, 400, 0.0);
        assert_eq!(filter.degree % 4, 0);
        assert!(filter.degree < 60 && filter.degree > 40, "{}", filter.degree);
        let narrow = Filter::new(1.0, 60.0, 10, 1.0);
        assert_eq!(narrow.degree, 12);
        assert!(narrow.from > 1.3 && narrow.from < 1.5, "{narrow:?}");
    }
}
