//! The shadow residual of the methods of bi-conjugate gradients.

use crate::{Operator, VectorSpace};

/// Growth of (r, r) that costs more digits than a new start from the best iterate.
pub(crate) const HOPELESS_GROWTH: f64 = 1e8;

/// The names of [`Shadow::numbers`] in a state.
pub(crate) const SHADOW_NUMBERS: [&str; 3] = ["(q, q)", "(r, r) at the start", "whether q is more than r"];

/// The shadow residual q, and the progress that the method made with it.
pub(crate) struct Shadow<V> {
    pub q: V,
    /// The squared norm (q, q).
    pub norm2: f64,
    /// (r, r) at the start with this shadow residual.
    start_norm2: f64,
    /// `true` if q is more than the residual.
    mixed: bool,
}

impl<V> Shadow<V> {
    /// Makes a record without a shadow residual.
    pub fn none<S: VectorSpace<Vector = V>>(space: &S) -> Result<Self, S::Error> {
        Ok(Self { q: space.zero_vector()?, norm2: 0.0, start_norm2: f64::INFINITY, mixed: false })
    }

    /// Restores the shadow residual of a state, with its [`numbers`](Self::numbers).
    pub fn restored(q: V, [norm2, start_norm2, mixed]: [f64; 3]) -> Self {
        Self { q, norm2, start_norm2, mixed: mixed != 0.0 }
    }

    /// Returns the numbers that a state has beside q.
    pub fn numbers(&self) -> [f64; 3] {
        [self.norm2, self.start_norm2, f64::from(u8::from(self.mixed))]
    }

    /// Tells whether a breakdown with this shadow residual is the last.
    ///
    /// `r_norm2` belongs to the residual r. The breakdown is the last if another shadow residual
    /// was tried, and brought no progress.
    pub fn exhausted(&self, r_norm2: f64) -> bool {
        self.mixed && r_norm2 >= self.start_norm2
    }

    /// Makes the next shadow residual, for a start from the residual r.
    ///
    /// It is r itself. If the last one brought no progress, it is r + Ar ‖r‖ / ‖Ar‖. Returns `true`
    /// if A was applied.
    pub fn start<S: VectorSpace<Vector = V>>(
        &mut self,
        a: &Operator<'_, S>,
        r: &V,
        r_norm2: f64,
        scratch: &mut V,
    ) -> Result<bool, S::Error> {
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
