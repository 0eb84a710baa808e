//! The first of the two traits: a complex vector space with an inner product.

use num_complex::Complex64;
use std::time::Duration;

/// A complex vector space with the inner product (x, y) = Σ conj(xᵢ) yᵢ.
///
/// **Scalars are opaque.** A [`Scalar`](Self::Scalar) is a complex number *somewhere*: a plain number for
/// vectors on the host, possibly a slot in a device's memory elsewhere. Solvers only combine scalars through
/// [`quotient`](Self::quotient), [`conjugate`](Self::conjugate) and [`negate`](Self::negate), and look at their values
/// with [`read`](Self::read), the one method that has to wait for the device. An implementation may therefore
/// keep all of them on the device between two reads.
///
/// The fused methods have definitions in terms of the plain ones; an implementation overrides them to pass over
/// memory less often. A vector that a call writes is none of its others.
pub trait VectorSpace {
    /// A vector of this space.
    type Vector;
    /// A complex number, wherever it is kept.
    type Scalar: Clone;
    /// What can go wrong.
    type Error: std::error::Error;

    /// Complex dimension of the space.
    fn dimension(&self) -> usize;

    /// Bytes that one complex component takes in memory.
    fn component_bytes(&self) -> usize;

    /// Bytes of vectors that could be moved while [`read`](Self::read) waits: what a read costs. Default 0.
    fn bytes_during_a_read(&self) -> u64 {
        0
    }

    /// Time so far that was no part of solving, for example because kernels were compiled first. Methods leave it out of
    /// the time that they tell. Default zero.
    fn time_aside(&self) -> Duration {
        Duration::ZERO
    }

    /// A new vector, equal to zero.
    fn zero_vector(&self) -> Result<Self::Vector, Self::Error>;

    /// A new vector to be overwritten, of whatever value, which may be cheaper. Default zero.
    fn scratch_vector(&self) -> Result<Self::Vector, Self::Error> {
        self.zero_vector()
    }

    /// to = from
    fn copy(&self, from: &Self::Vector, to: &mut Self::Vector) -> Result<(), Self::Error>;

    /// x = 0
    fn set_zero(&self, x: &mut Self::Vector) -> Result<(), Self::Error> {
        *x = self.zero_vector()?;
        Ok(())
    }

    /// y = y + a x
    fn axpy(&self, a: &Self::Scalar, x: &Self::Vector, y: &mut Self::Vector) -> Result<(), Self::Error>;

    /// y = x + b y
    fn xpby(&self, x: &Self::Vector, b: &Self::Scalar, y: &mut Self::Vector) -> Result<(), Self::Error>;

    /// (x, y), accumulated in double.
    fn dot(&self, x: &Self::Vector, y: &Self::Vector) -> Result<Self::Scalar, Self::Error>;

    /// (x, x), accumulated in double.
    fn norm2(&self, x: &Self::Vector) -> Result<Self::Scalar, Self::Error>;

    /// The scalar with this value.
    fn scalar(&self, value: Complex64) -> Self::Scalar;

    /// The scalar with this value, as if an inner product of vectors had given it: what follows from it is the same to the last bit. Default:
    /// as [`scalar`](Self::scalar).
    fn inner_product(&self, value: Complex64) -> Result<Self::Scalar, Self::Error> {
        Ok(self.scalar(value))
    }

    /// numerator / denominator, and 0 where the denominator is 0.
    fn quotient(&self, numerator: &Self::Scalar, denominator: &Self::Scalar) -> Self::Scalar;

    /// The complex conjugate.
    fn conjugate(&self, a: &Self::Scalar) -> Self::Scalar;

    /// −a
    fn negate(&self, a: &Self::Scalar) -> Self::Scalar;

    /// The values of some scalars, in their order. Waits until they are known.
    fn read_all(&self, scalars: &[&Self::Scalar]) -> Result<Vec<Complex64>, Self::Error>;

    /// As [`read_all`](Self::read_all).
    fn read<const N: usize>(&self, scalars: [&Self::Scalar; N]) -> Result<[Complex64; N], Self::Error> {
        let values = self.read_all(&scalars)?;
        Ok(std::array::from_fn(|k| values[k]))
    }

    /// Fused: x = x + a p; r = r − a q; gives (r, r).
    fn advance(
        &self,
        a: &Self::Scalar,
        p: &Self::Vector,
        x: &mut Self::Vector,
        q: &Self::Vector,
        r: &mut Self::Vector,
    ) -> Result<Self::Scalar, Self::Error> {
        self.axpy(a, p, x)?;
        self.axpy(&self.negate(a), q, r)?;
        self.norm2(r)
    }

    /// Fused: p = r + b p; q = s + b q; gives (r, q) and (q, q).
    fn redirect(
        &self,
        b: &Self::Scalar,
        r: &Self::Vector,
        p: &mut Self::Vector,
        s: &Self::Vector,
        q: &mut Self::Vector,
    ) -> Result<[Self::Scalar; 2], Self::Error> {
        self.xpby(r, b, p)?;
        self.xpby(s, b, q)?;
        Ok([self.dot(r, q)?, self.norm2(q)?])
    }

    /// Fused: x = x + a p; p = r + b p; q = s + b q; gives (r, q) and (q, q).
    fn follow_and_redirect(
        &self,
        [a, b]: [&Self::Scalar; 2],
        [r, s]: [&Self::Vector; 2],
        x: &mut Self::Vector,
        p: &mut Self::Vector,
        q: &mut Self::Vector,
    ) -> Result<[Self::Scalar; 2], Self::Error> {
        self.axpy(a, p, x)?;
        self.redirect(b, r, p, s, q)
    }

    /// Fused: r = r − a q; gives (r, r).
    fn subtract(
        &self,
        a: &Self::Scalar,
        q: &Self::Vector,
        r: &mut Self::Vector,
    ) -> Result<Self::Scalar, Self::Error> {
        self.axpy(&self.negate(a), q, r)?;
        self.norm2(r)
    }

    /// Fused: x = x + a p; p = r + b p.
    fn follow(
        &self,
        a: &Self::Scalar,
        b: &Self::Scalar,
        r: &Self::Vector,
        x: &mut Self::Vector,
        p: &mut Self::Vector,
    ) -> Result<(), Self::Error> {
        self.axpy(a, p, x)?;
        self.xpby(r, b, p)
    }

    /// Fused: x = x + a p + b r; r = r − b t; gives (q, r) and (r, r).
    fn stabilise(
        &self,
        [a, b]: [&Self::Scalar; 2],
        [p, t, q]: [&Self::Vector; 3],
        x: &mut Self::Vector,
        r: &mut Self::Vector,
    ) -> Result<[Self::Scalar; 2], Self::Error> {
        self.axpy(a, p, x)?;
        self.axpy(b, r, x)?;
        let norm2 = self.subtract(b, t, r)?;
        Ok([self.dot(q, r)?, norm2])
    }

    /// Fused: p = r + b (p − c v).
    fn turn(
        &self,
        b: &Self::Scalar,
        c: &Self::Scalar,
        r: &Self::Vector,
        v: &Self::Vector,
        p: &mut Self::Vector,
    ) -> Result<(), Self::Error> {
        self.axpy(&self.negate(c), v, p)?;
        self.xpby(r, b, p)
    }
}
