//! The second of the two traits: a linear operator on a vector space.

use crate::space::VectorSpace;
use crate::update::{NORM2, RESIDUAL};
use crate::work::Work;
use crate::{ScalarOf, VectorOf};
use num_complex::Complex64;

/// An operator on a space, whatever its type: the one that a method takes.
///
/// A method is compiled once for a space, not once for each operator on it.
pub type Operator<'a, S> = dyn LinearOperator<Space = S> + 'a;

/// A linear operator A on a [`VectorSpace`].
pub trait LinearOperator {
    /// The space that A maps to itself.
    type Space: VectorSpace;

    /// Returns the space that A maps to itself.
    fn space(&self) -> &Self::Space;

    /// Computes out = A x.
    ///
    /// `out` is another vector than `x` and is overwritten.
    fn apply(&self, x: &VectorOf<Self>, out: &mut VectorOf<Self>) -> Result<(), crate::ErrorOf<Self>>;

    /// Computes r = b − A x.
    fn residual(
        &self,
        b: &VectorOf<Self>,
        x: &VectorOf<Self>,
        r: &mut VectorOf<Self>,
    ) -> Result<(), crate::ErrorOf<Self>> {
        let space = self.space();
        self.apply(x, r)?;
        space.xpby(b, &space.scalar(Complex64::new(-1.0, 0.0)), r)
    }

    /// Computes out = A x and returns (w, A x) and (A x, A x), fused.
    ///
    /// `w` may be `x`.
    fn apply_products(
        &self,
        x: &VectorOf<Self>,
        w: &VectorOf<Self>,
        out: &mut VectorOf<Self>,
    ) -> Result<[ScalarOf<Self>; 2], crate::ErrorOf<Self>> {
        self.apply(x, out)?;
        Ok([self.space().dot(w, out)?, self.space().norm2(out)?])
    }

    /// Computes out = A x and returns (x, A x), fused.
    fn apply_dot(
        &self,
        x: &VectorOf<Self>,
        out: &mut VectorOf<Self>,
    ) -> Result<ScalarOf<Self>, crate::ErrorOf<Self>> {
        let [product, _] = self.apply_products(x, x, out)?;
        Ok(product)
    }

    /// Computes out = A x and returns (A x, A x), fused.
    fn apply_norm2(
        &self,
        x: &VectorOf<Self>,
        out: &mut VectorOf<Self>,
    ) -> Result<ScalarOf<Self>, crate::ErrorOf<Self>> {
        self.apply(x, out)?;
        self.space().norm2(out)
    }

    /// Computes r = r − a A x and returns (r, r), fused.
    ///
    /// `image` is there to be overwritten.
    fn subtract_image(
        &self,
        a: &ScalarOf<Self>,
        x: &VectorOf<Self>,
        image: &mut VectorOf<Self>,
        r: &mut VectorOf<Self>,
    ) -> Result<ScalarOf<Self>, crate::ErrorOf<Self>> {
        self.apply(x, image)?;
        let [r_norm2] = RESIDUAL.apply(self.space(), [a], [image], [r])?;
        Ok(r_norm2)
    }

    /// Computes r = r − a A x with a = (r, r) / (x, A x), fused.
    ///
    /// `r_norm2` is the numerator of a. Returns (x, A x) and the new (r, r). `image` is there to be
    /// overwritten.
    fn descend(
        &self,
        r_norm2: &ScalarOf<Self>,
        x: &VectorOf<Self>,
        image: &mut VectorOf<Self>,
        r: &mut VectorOf<Self>,
    ) -> Result<[ScalarOf<Self>; 2], crate::ErrorOf<Self>> {
        let x_ax = self.apply_dot(x, image)?;
        let a = self.space().quotient(r_norm2, &x_ax);
        let [r_norm2] = RESIDUAL.apply(self.space(), [&a], [image], [r])?;
        Ok([x_ax, r_norm2])
    }

    /// Returns the work of one application, for statistics.
    ///
    /// The work is floating-point operations and least memory traffic. Default: none.
    fn work(&self) -> Work {
        Work::default()
    }

    /// Returns the work of [`apply_norm2`](Self::apply_norm2).
    fn work_with_norm2(&self) -> Work {
        let mut work = self.work();
        work += NORM2.work(self.space());
        work
    }

    /// Returns the work of [`subtract_image`](Self::subtract_image).
    fn work_of_subtraction(&self) -> Work {
        let mut work = self.work();
        work += RESIDUAL.work(self.space());
        work
    }

    /// Returns the work of [`descend`](Self::descend).
    fn work_of_descent(&self) -> Work {
        let mut work = self.work_with_products();
        work += RESIDUAL.work(self.space());
        work
    }

    /// Returns the work of one application with products.
    fn work_with_products(&self) -> Work {
        let mut work = self.work();
        work += Work::pass(self.space(), 12, 3);
        work
    }
}
