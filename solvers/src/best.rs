//! The best iterate of a method whose residual may grow.

use crate::VectorSpace;

/// The iterate with the smallest residual so far, to within a factor of four.
///
/// The factor keeps copies few.
pub(crate) struct Best<V> {
    pub x: V,
    pub r_norm2: f64,
}

impl<V> Best<V> {
    /// Makes a record without an iterate: zero.
    pub fn none<S: VectorSpace<Vector = V>>(space: &S) -> Result<Self, S::Error> {
        Ok(Self { x: space.zero_vector()?, r_norm2: f64::INFINITY })
    }

    /// Takes note of an iterate.
    pub fn offer<S: VectorSpace<Vector = V>>(
        &mut self,
        space: &S,
        x: &V,
        r_norm2: f64,
    ) -> Result<(), S::Error> {
        if r_norm2 < 0.0625 * self.r_norm2 {
            self.r_norm2 = r_norm2;
            space.copy(x, &mut self.x)?;
        }
        Ok(())
    }
}
