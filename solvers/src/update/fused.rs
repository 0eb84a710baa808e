//! Updates whose type holds the counts of operands.

use super::Formula;
use crate::{VectorSpace, Work};

/// A fused update with `F` factors and `S` sums.
///
/// `R` vectors are only read, `W` vectors are written. The type holds the counts, so that a call
/// with other operands does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusedUpdate<const F: usize, const R: usize, const W: usize, const S: usize>(Formula);

impl<const F: usize, const R: usize, const W: usize, const S: usize> FusedUpdate<F, R, W, S> {
    /// Makes the update with this formula (see [`Formula::parse`]).
    ///
    /// # Panics
    /// If the text is not a formula, or has other counts than the type. For a constant this is an
    /// error of compilation.
    pub const fn new(name: &'static str, text: &'static str) -> Self {
        let formula = match Formula::parse(name, text) {
            Ok(formula) => formula,
            Err(error) => panic!("{}", error.message),
        };
        assert!(formula.factors() == F, "the type has another number of factors than the formula");
        assert!(formula.read() == R, "the type has another number of vectors to read than the formula");
        assert!(formula.written() == W, "the type has another number of vectors to write than the formula");
        assert!(formula.sums() == S, "the type has another number of sums than the formula");
        Self(formula)
    }

    /// Returns the formula of the update.
    pub const fn formula(&self) -> &Formula {
        &self.0
    }

    /// Carries the update out, and returns its sums.
    ///
    /// Operands stand in the order in which the formula names them first: factors, vectors that are
    /// only read, vectors that are written.
    ///
    /// # Errors
    /// The space's own.
    pub fn apply<V: VectorSpace>(
        &self,
        space: &V,
        factors: [&V::Scalar; F],
        read: [&V::Vector; R],
        mut written: [&mut V::Vector; W],
    ) -> Result<[V::Scalar; S], V::Error> {
        let mut sums = space.update(&self.0, &factors, &read, &mut written)?.into_iter();
        Ok(std::array::from_fn(|_| sums.next().unwrap_or_else(|| space.scalar(0.0.into()))))
    }

    /// Returns operations and memory traffic, if each vector is loaded and stored once.
    pub fn work<V: VectorSpace>(&self, space: &V) -> Work {
        Work::pass(space, self.0.flops() as u64, self.0.passes() as u64)
    }
}
