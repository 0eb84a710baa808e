//! The shadow residual of the methods of bi-conjugate gradients.

use crate::{ErrorOf, LinearOperator, VectorSpace};

/// A growth of (r, r) that costs more digits than a new start from the best iterate.
pub(crate) const HOPELESS_GROWTH: f64 = 1e8;

/// The shadow residual q, and how far the method came with it.
pub(crate) struct Shadow<V> {
    pub q: V,
    /// (q, q)
    pub norm2: f64,
    /// (r, r) at the start with this one.
    start_norm2: f64,
    /// Whether it is more than the residual.
    mixed: bool,
}

impl<V> Shadow<V> {
    /// None yet.
    pub fn none<S: VectorSpace<Vector = V>>(space: &S) -> Result<Self, S::Error> {
        Ok(Self { q: space.zero_vector()?, norm2: 0.0, start_norm2: f64::INFINITY, mixed: false })
    }

    /// Whether a breakdown with this one and the residual r is the last: another shadow residual was tried, and brought no progress.
    pub fn exhausted(&self, r_norm2: f64) -> bool {
        self.mixed && r_norm2 >= self.start_norm2
    }

    /// The next one, for a start from the residual r: r itself, or where the last one brought no progress r + Ar ‖r‖ / ‖Ar‖.
    /// Says whether A was applied.
    pub fn start<A>(&mut self, a: &A, r: &V, r_norm2: f64, scratch: &mut V) -> Result<bool, ErrorOf<A>>
    where
        A: LinearOperator<Space: VectorSpace<Vector = V>>,
    {
        let space = a.space();
        self.mixed = r_norm2 >= self.start_norm2;
        self.start_norm2 = r_norm2;
        space.copy(r, &mut self.q)?;
        if self.mixed {
            a.apply(r, scratch)?;
            let [image] = space.read([&space.norm2(scratch)?])?;
            let factor = if image.re > 0.0 { (r_norm2 / image.re).sqrt() } else { 0.0 };
            space.axpy(&space.scalar(factor.into()), scratch, &mut self.q)?;
        }
        let [norm2] = space.read([&space.norm2(&self.q)?])?;
        self.norm2 = norm2.re;
        Ok(self.mixed)
    }
}
