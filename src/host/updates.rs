//! Fused updates of spinor fields: twin of the kernels that their formulas make on devices.

use super::spinor::Spinor;
use super::spinor_fields::{PART, cast, combine, local_dot};
use crate::scalar::Real;
use lattice_solvers::update::{Formula, Operand};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// The inner product and the squared norm of a formula; zero if it has none.
pub type Sums = (Complex64, f64);

/// Carries out a formula in one pass, and gives its sums.
///
/// Operands are in the order in which the formula names them first. Sums have the bits of
/// [`dot`](super::spinor_fields::dot) and [`norm2`](super::spinor_fields::norm2), whatever the number of threads.
///
/// # Panics
/// If there are other operands than the formula has, or of different lengths.
pub fn update<T: Real>(
    formula: &Formula,
    factors: &[Complex64],
    read: &[&[Spinor<T>]],
    written: Vec<&mut [Spinor<T>]>,
) -> Sums {
    let counts = (factors.len(), read.len(), written.len());
    assert_eq!(counts, (formula.factors(), formula.read(), formula.written()), "operands of the formula");
    let mut lengths = read.iter().map(|field| field.len()).chain(written.iter().map(|field| field.len()));
    let sites = lengths.next().unwrap_or_default();
    assert!(lengths.all(|length| length == sites), "all fields have the same sites");

    let mut parts: Vec<Vec<&mut [Spinor<T>]>> = Vec::new();
    parts.resize_with(sites.div_ceil(PART), Vec::new);
    for field in written {
        parts.iter_mut().zip(field.chunks_mut(PART)).for_each(|(part, sites)| part.push(sites));
    }
    let parts = parts.into_par_iter().enumerate().map(|(k, written)| {
        let sites = PART * k..sites.min(PART * (k + 1));
        let read = read.iter().map(|field| &field[sites.clone()]).collect();
        Part { sites: sites.len(), read, written }.update(formula, factors)
    });
    let sums: Vec<Sums> = parts.collect();
    (sums.iter().map(|(product, _)| product).sum(), sums.iter().map(|(_, norm2)| norm2).sum())
}

/// As many sites of all fields as stay in a cache.
struct Part<'a, T> {
    sites: usize,
    read: Vec<&'a [Spinor<T>]>,
    written: Vec<&'a mut [Spinor<T>]>,
}

impl<T: Real> Part<'_, T> {
    fn at(&self, field: Operand, site: usize) -> &Spinor<T> {
        match field {
            Operand::Read(k) => &self.read[k][site],
            Operand::Written(k) => &self.written[k][site],
        }
    }

    fn update(mut self, formula: &Formula, factors: &[Complex64]) -> Sums {
        for assignment in formula.assignments() {
            let terms: Vec<(Complex<T>, Operand)> = assignment
                .terms()
                .iter()
                .map(|term| (factors[term.factor], term))
                .map(|(factor, term)| (cast(if term.negative { -factor } else { factor }), term.field))
                .collect();
            for site in 0..self.sites {
                let first = *self.at(assignment.first, site);
                let sum = |sum, (factor, field): &(_, _)| combine(&sum, *factor, self.at(*field, site));
                let value = terms.iter().fold(first, sum);
                self.written[assignment.to][site] = value;
            }
        }
        let product = formula
            .product()
            .map(|(x, y)| (0..self.sites).map(|site| local_dot(self.at(x, site), self.at(y, site))).sum());
        let norm2 = formula.norm2().map(|x| (0..self.sites).map(|site| self.at(x, site).norm2()).sum());
        (product.unwrap_or_default(), norm2.unwrap_or_default())
    }
}
