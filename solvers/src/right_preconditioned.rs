//! Right preconditioning: any method for A, on A K.

use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace, Work};
use std::cell::RefCell;

/// The operator A K, for a method that has no preconditioner of its own.
///
/// The solution y of A K y = b gives x = K y, the solution of A x = b with the same residual. K ≈ A⁻¹
/// is a fixed linear operator.
///
/// ```text
/// let both = RightPreconditioned::new(&a, &k)?;
/// let (y, info) = bicgstab(&both, &b, None, &options, None)?;
/// k.apply(&y, &mut x)?;
/// ```
pub struct RightPreconditioned<'a, A: LinearOperator, K: ?Sized> {
    a: &'a A,
    k: &'a K,
    /// K x between the two applications.
    between: RefCell<VectorOf<A>>,
}

impl<'a, A, K> RightPreconditioned<'a, A, K>
where
    A: LinearOperator,
    K: LinearOperator<Space = A::Space> + ?Sized,
{
    /// Makes A K.
    ///
    /// # Errors
    /// The space's own, for the vector between the two.
    pub fn new(a: &'a A, k: &'a K) -> Result<Self, ErrorOf<A>> {
        Ok(Self { a, k, between: RefCell::new(a.space().zero_vector()?) })
    }
}

impl<A, K> LinearOperator for RightPreconditioned<'_, A, K>
where
    A: LinearOperator,
    K: LinearOperator<Space = A::Space> + ?Sized,
{
    type Space = A::Space;

    fn space(&self) -> &A::Space {
        self.a.space()
    }

    fn apply(&self, x: &VectorOf<A>, out: &mut VectorOf<A>) -> Result<(), ErrorOf<A>> {
        let between = &mut *self.between.borrow_mut();
        self.k.apply(x, between)?;
        self.a.apply(between, out)
    }

    fn apply_products(
        &self,
        x: &VectorOf<A>,
        w: &VectorOf<A>,
        out: &mut VectorOf<A>,
    ) -> Result<[crate::ScalarOf<A>; 2], ErrorOf<A>> {
        let between = &mut *self.between.borrow_mut();
        self.k.apply(x, between)?;
        self.a.apply_products(between, w, out)
    }

    fn work(&self) -> Work {
        let mut work = self.a.work();
        work += self.k.work();
        work
    }
}
