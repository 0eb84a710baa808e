//! Fused updates of spinor fields: twin of the kernels made from their formulas.

use super::spinor::Spinor;
use super::spinor_fields::{PART, cast, combine, local_dot};
use crate::compute::parallel::*;
use crate::scalar::Real;
use lattice_solvers::update::{Assignment, Formula, Operand};
use num_complex::Complex64;
use std::mem;

/// The inner product and the squared norm of a formula; zero if it has none.
pub type Sums = (Complex64, f64);

/// Carries out a formula in one pass, and returns its sums.
///
/// Operands are in the order in which the formula names them first. Sums have the bits of
/// [`dot`](super::spinor_fields::dot) and [`norm2`](super::spinor_fields::norm2), whatever the
/// number of threads.
///
/// # Panics
/// If there are other operands than the formula has, or if their lengths differ.
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
        FieldSlices { read, written }.update(formula, factors)
    });
    let sums: Vec<Sums> = parts.collect();
    (sums.iter().map(|(product, _)| product).sum(), sums.iter().map(|(_, norm2)| norm2).sum())
}

/// Slices of all fields, with as many sites as stay in a cache.
struct FieldSlices<'a, T> {
    read: Vec<&'a [Spinor<T>]>,
    written: Vec<&'a mut [Spinor<T>]>,
}

impl<T: Real> FieldSlices<'_, T> {
    fn field(&self, field: Operand) -> &[Spinor<T>] {
        match field {
            Operand::Read(k) => self.read[k],
            Operand::Written(k) => &*self.written[k],
        }
    }

    fn update(mut self, formula: &Formula, factors: &[Complex64]) -> Sums {
        formula.assignments().iter().for_each(|assignment| self.assign(assignment, factors));
        let product = formula
            .product()
            .map(|(x, y)| self.field(x).iter().zip(self.field(y)).map(|(x, y)| local_dot(x, y)).sum());
        let norm2 = formula.norm2().map(|x| self.field(x).iter().map(Spinor::norm2).sum());
        (product.unwrap_or_default(), norm2.unwrap_or_default())
    }

    fn assign(&mut self, assignment: &Assignment, factors: &[Complex64]) {
        let mut terms = assignment.terms().iter().map(|term| {
            let factor = factors[term.factor];
            (cast(if term.negative { -factor } else { factor }), term.field)
        });
        let own = Operand::Written(assignment.to);
        let target = mem::take(&mut self.written[assignment.to]);
        if assignment.first != own {
            let first = self.field(assignment.first);
            let sites = target.iter_mut().zip(first);
            match terms.next() {
                None => target.copy_from_slice(first),
                Some((b, y)) if y == own => sites.for_each(|(y, x)| *y = combine(x, b, y)),
                Some((a, x)) => {
                    sites.zip(self.field(x)).for_each(|((y, first), x)| *y = combine(first, a, x));
                }
            }
        }
        for (a, x) in terms {
            target.iter_mut().zip(self.field(x)).for_each(|(y, x)| *y = combine(y, a, x));
        }
        self.written[assignment.to] = target;
    }
}
