//! The second of the two traits: a linear operator on a vector space.

use crate::outcome::Work;
use crate::space::VectorSpace;
use crate::{ScalarOf, VectorOf};

/// A linear operator A on a [`VectorSpace`].
pub trait LinearOperator {
    /// The space that A maps to itself.
    type Space: VectorSpace;

    /// The space that A maps to itself.
    fn space(&self) -> &Self::Space;

    /// out = A x. `out` is another vector than `x` and is overwritten.
    fn apply(&self, x: &VectorOf<Self>, out: &mut VectorOf<Self>) -> Result<(), crate::ErrorOf<Self>>;

    /// Fused: out = A x; gives (w, A x) and (A x, A x). `w` may be `x`.
    fn apply_products(
        &self,
        x: &VectorOf<Self>,
        w: &VectorOf<Self>,
        out: &mut VectorOf<Self>,
    ) -> Result<[ScalarOf<Self>; 2], crate::ErrorOf<Self>> {
        self.apply(x, out)?;
        Ok([self.space().dot(w, out)?, self.space().norm2(out)?])
    }

    /// Fused: out = A x; gives (x, A x).
    fn apply_dot(
        &self,
        x: &VectorOf<Self>,
        out: &mut VectorOf<Self>,
    ) -> Result<ScalarOf<Self>, crate::ErrorOf<Self>> {
        let [product, _] = self.apply_products(x, x, out)?;
        Ok(product)
    }

    /// Floating-point operations and least memory traffic of one application.
    fn work(&self) -> Work;

    /// The same of one application with products.
    fn work_with_products(&self) -> Work {
        let mut work = self.work();
        work += Work::pass(self.space(), 12, 3);
        work
    }
}
