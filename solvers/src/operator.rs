//! The second of the two traits: a linear operator on a vector space.

use crate::VectorOf;
use crate::outcome::Work;
use crate::space::VectorSpace;

/// A linear operator A on a [`VectorSpace`].
pub trait LinearOperator {
    /// The space that A maps to itself.
    type Space: VectorSpace;

    /// The space that A maps to itself.
    fn space(&self) -> &Self::Space;

    /// out = A x. `out` is another vector than `x` and is overwritten.
    fn apply(&self, x: &VectorOf<Self>, out: &mut VectorOf<Self>) -> Result<(), crate::ErrorOf<Self>>;

    /// Fused: out = A x; gives (x, A x).
    fn apply_dot(
        &self,
        x: &VectorOf<Self>,
        out: &mut VectorOf<Self>,
    ) -> Result<<Self::Space as VectorSpace>::Scalar, crate::ErrorOf<Self>> {
        self.apply(x, out)?;
        self.space().dot(x, out)
    }

    /// Floating-point operations and least memory traffic of one application.
    fn work(&self) -> Work;
}
