//! The first of the two traits: a complex vector space with an inner product.

use crate::update::{Assignment, Formula, Operand};
use num_complex::Complex64;
use std::time::Duration;

/// A complex vector space with the inner product (x, y) = Σ conj(xᵢ) yᵢ.
///
/// **Scalars are opaque.** A [`Scalar`](Self::Scalar) is a complex number *somewhere*. It is a
/// plain number for vectors on the host. For other vectors it may be a slot in a device's memory.
///
/// Solvers only combine scalars through [`quotient`](Self::quotient),
/// [`conjugate`](Self::conjugate) and [`negate`](Self::negate). They look at the values with
/// [`read`](Self::read), the one method that has to wait for the device. So an implementation may
/// keep all scalars on the device between two reads.
///
/// [`update`](Self::update) carries out fused updates, by default with the plain operations. A
/// vector that a call writes is none of its others. Vectors that a call only reads may be the same.
pub trait VectorSpace {
    /// A vector of this space.
    type Vector: 'static;
    /// A complex number, wherever it is kept.
    type Scalar: Clone + 'static;
    /// The error of an operation.
    type Error: std::error::Error + 'static;

    /// Returns the complex dimension of the space.
    fn dimension(&self) -> usize;

    /// Bytes that one complex component takes in memory.
    fn component_bytes(&self) -> usize;

    /// Returns the bytes that could be moved while [`read`](Self::read) waits.
    ///
    /// The bytes belong to vectors. They are the cost of a read. Default 0.
    fn bytes_during_a_read(&self) -> u64 {
        0
    }

    /// Returns the time so far that was no part of solving. Default zero.
    ///
    /// An example is the compilation of kernels. Methods leave this time out of the time that they
    /// report.
    fn time_aside(&self) -> Duration {
        Duration::ZERO
    }

    /// Makes a new vector, equal to zero.
    fn zero_vector(&self) -> Result<Self::Vector, Self::Error>;

    /// Makes a new vector of any value, to be overwritten. Default zero.
    ///
    /// This may be cheaper than a vector equal to zero.
    fn scratch_vector(&self) -> Result<Self::Vector, Self::Error> {
        self.zero_vector()
    }

    /// Computes to = from.
    fn copy(&self, from: &Self::Vector, to: &mut Self::Vector) -> Result<(), Self::Error>;

    /// Computes x = 0.
    fn set_zero(&self, x: &mut Self::Vector) -> Result<(), Self::Error> {
        *x = self.zero_vector()?;
        Ok(())
    }

    /// Computes y = y + a x.
    fn axpy(&self, a: &Self::Scalar, x: &Self::Vector, y: &mut Self::Vector) -> Result<(), Self::Error>;

    /// Computes y = x + b y.
    fn xpby(&self, x: &Self::Vector, b: &Self::Scalar, y: &mut Self::Vector) -> Result<(), Self::Error>;

    /// Returns (x, y), accumulated in double.
    fn dot(&self, x: &Self::Vector, y: &Self::Vector) -> Result<Self::Scalar, Self::Error>;

    /// Returns (x, x), accumulated in double.
    fn norm2(&self, x: &Self::Vector) -> Result<Self::Scalar, Self::Error>;

    /// Returns the scalar with this value.
    fn scalar(&self, value: Complex64) -> Self::Scalar;

    /// Returns the scalar with this value, in the manner of an inner product.
    ///
    /// Results that follow from the scalar have the same bits as with an inner product of vectors.
    /// Default: [`scalar`](Self::scalar).
    fn inner_product(&self, value: Complex64) -> Result<Self::Scalar, Self::Error> {
        Ok(self.scalar(value))
    }

    /// Returns numerator / denominator, or 0 if the denominator is 0.
    fn quotient(&self, numerator: &Self::Scalar, denominator: &Self::Scalar) -> Self::Scalar;

    /// Returns the complex conjugate.
    fn conjugate(&self, a: &Self::Scalar) -> Self::Scalar;

    /// Returns −a.
    fn negate(&self, a: &Self::Scalar) -> Self::Scalar;

    /// Returns the values of some scalars, in their order.
    ///
    /// Waits until the values are known.
    fn read_all(&self, scalars: &[&Self::Scalar]) -> Result<Vec<Complex64>, Self::Error>;

    /// Reads scalars like [`read_all`](Self::read_all).
    fn read<const N: usize>(&self, scalars: [&Self::Scalar; N]) -> Result<[Complex64; N], Self::Error> {
        let values = self.read_all(&scalars)?;
        Ok(std::array::from_fn(|k| values[k]))
    }

    /// Carries out a fused update, and returns its sums.
    ///
    /// Methods call it by [`FusedUpdate::apply`](crate::update::FusedUpdate::apply), which has the
    /// counts of operands in its type. Operands are in the order in which the formula names them
    /// first. The default is [`update_plainly`](Self::update_plainly). An override passes over
    /// memory once.
    fn update(
        &self,
        formula: &Formula,
        factors: &[&Self::Scalar],
        read: &[&Self::Vector],
        written: &mut [&mut Self::Vector],
    ) -> Result<Vec<Self::Scalar>, Self::Error> {
        self.update_plainly(formula, factors, read, written)
    }

    /// Carries out a formula by plain operations.
    ///
    /// The operations are [`axpy`](Self::axpy), [`xpby`](Self::xpby), copies and inner products.
    /// This is the definition of [`update`](Self::update), for spaces that fuse only some formulas.
    ///
    /// # Panics
    /// If there are fewer operands than the formula has.
    fn update_plainly(
        &self,
        formula: &Formula,
        factors: &[&Self::Scalar],
        read: &[&Self::Vector],
        written: &mut [&mut Self::Vector],
    ) -> Result<Vec<Self::Scalar>, Self::Error> {
        for assignment in formula.assignments() {
            assign(self, assignment, factors, read, written)?;
        }
        let value = |field| match field {
            Operand::Read(k) => read[k],
            Operand::Written(k) => &*written[k],
        };
        let product = formula.product().map(|(x, y)| self.dot(value(x), value(y)));
        let norm2 = formula.norm2().map(|x| self.norm2(value(x)));
        product.into_iter().chain(norm2).collect()
    }
}

/// Carries out one assignment of a formula, by plain operations.
fn assign<V: VectorSpace + ?Sized>(
    space: &V,
    assignment: &Assignment,
    factors: &[&V::Scalar],
    read: &[&V::Vector],
    written: &mut [&mut V::Vector],
) -> Result<(), V::Error> {
    let own = Operand::Written(assignment.to);
    let signed = |negative: bool, factor: usize| {
        if negative { space.negate(factors[factor]) } else { factors[factor].clone() }
    };
    let of_own = assignment.terms().iter().find(|term| term.field == own);
    if let Some(term) = of_own {
        let (x, y) = pair(assignment.first, assignment.to, read, written);
        space.xpby(x, &signed(term.negative, term.factor), y)?;
    } else if assignment.first != own {
        let (x, y) = pair(assignment.first, assignment.to, read, written);
        space.copy(x, y)?;
    }
    for term in assignment.terms().iter().filter(|term| term.field != own) {
        let (x, y) = pair(term.field, assignment.to, read, written);
        space.axpy(&signed(term.negative, term.factor), x, y)?;
    }
    Ok(())
}

/// Returns a vector and another one, which is written.
fn pair<'a, V>(from: Operand, to: usize, read: &[&'a V], written: &'a mut [&mut V]) -> (&'a V, &'a mut V) {
    match from {
        Operand::Read(k) => (read[k], &mut *written[to]),
        Operand::Written(k) if k < to => {
            let (low, high) = written.split_at_mut(to);
            (&*low[k], &mut *high[0])
        }
        Operand::Written(k) => {
            let (low, high) = written.split_at_mut(k);
            (&*high[0], &mut *low[to])
        }
    }
}
