//! Right preconditioning: any method for A, on A K.

use crate::progress::SolveResult;
use crate::{LinearOperator, Operator, VectorSpace, Work};
use std::cell::RefCell;

/// The operator A K, for a method that has no preconditioner of its own.
///
/// The solution y of A K y = b gives x = K y, the solution of A x = b with the same residual. K ≈ A⁻¹
/// is a fixed linear operator.
///
/// ```text
/// let (x, info) = RightPreconditioned::new(&a, &k)?.solve(|both| bicgstab(both, &b, None, &options, None))?;
/// ```
pub struct RightPreconditioned<'a, S: VectorSpace> {
    a: &'a Operator<'a, S>,
    k: &'a Operator<'a, S>,
    /// K x between the two applications.
    between: RefCell<S::Vector>,
}

impl<'a, S: VectorSpace> RightPreconditioned<'a, S> {
    /// Makes A K.
    ///
    /// # Errors
    /// The space's own, for the vector between the two.
    pub fn new(a: &'a Operator<'a, S>, k: &'a Operator<'a, S>) -> Result<Self, S::Error> {
        Ok(Self { a, k, between: RefCell::new(a.space().zero_vector()?) })
    }

    /// Solves A x = b by a method for A K y = b, and x = K y. The best iterate comes back likewise.
    ///
    /// # Errors
    /// Those of the method, and of the space.
    pub fn solve(&self, method: impl FnOnce(&Self) -> SolveResult<S>) -> SolveResult<S> {
        let solution = |y: S::Vector| {
            let mut x = self.a.space().zero_vector()?;
            self.k.apply(&y, &mut x)?;
            Ok(x)
        };
        match method(self) {
            Ok((y, info)) => Ok((solution(y)?, info)),
            Err(error) => Err(error.map_best(|y, _| solution(y))),
        }
    }
}

impl<S: VectorSpace> LinearOperator for RightPreconditioned<'_, S> {
    type Space = S;

    fn space(&self) -> &S {
        self.a.space()
    }

    fn apply(&self, x: &S::Vector, out: &mut S::Vector) -> Result<(), S::Error> {
        let between = &mut *self.between.borrow_mut();
        self.k.apply(x, between)?;
        self.a.apply(between, out)
    }

    fn apply_products(
        &self,
        x: &S::Vector,
        w: &S::Vector,
        out: &mut S::Vector,
    ) -> Result<[S::Scalar; 2], S::Error> {
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
