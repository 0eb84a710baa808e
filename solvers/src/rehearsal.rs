//! A run of a method on a small system, to know which updates it asks for.

use crate::method::Method;
use crate::task::{MethodOptions, Task};
use crate::true_residual::{Replaced, TrueResidual};
use crate::update::{AXPY, DOT, Formula, NORM2, XPBY};
use crate::vec::VecSpace;
use crate::{LinearOperator, Stopping, VectorSpace};
use num_complex::Complex64;
use std::cell::RefCell;
use std::convert::Infallible;

/// Dimension of the system: methods with restarts begin again before they have solved it.
const DIMENSION: usize = 40;

type Vector = Vec<Complex64>;

impl Method {
    /// Returns the updates that a solve by this method asks its space for, each once.
    ///
    /// Those inside of the operator and of a preconditioner are not among them. A small system is
    /// solved to see them. `is_replaced` tells whether residuals are, as by [`TrueResidual::Replaced`].
    pub fn updates(self, options: &MethodOptions, is_replaced: bool) -> Vec<Formula> {
        let operator = Diagonal(Rehearsal { space: VecSpace::new(DIMENSION), asked: RefCell::default() });
        let b = vec![Complex64::ONE; DIMENSION];
        let mut solution = vec![Complex64::ZERO; DIMENSION];
        let mut replace = |x: &mut Vector, r: &mut Vector| {
            solution.iter_mut().zip(x.iter_mut()).for_each(|(sum, x)| *sum += std::mem::take(x));
            operator.residual(&b, &solution, r)?;
            let r_norm2 = operator.0.space.norm2(r)?;
            let true_residual = (r_norm2.re / DIMENSION as f64).sqrt();
            Ok(Replaced { true_residual, r_norm2, value: r_norm2.re })
        };
        let replaced = TrueResidual::Replaced { replace: &mut replace, at: 0.1 };
        let task = Task {
            operator: &operator,
            adjoint: Some(&operator),
            b: &b,
            guess: None,
            options: options.with_stopping(Stopping::default()),
            preconditioner: None,
            callbacks: Some(replaced).filter(|_| is_replaced).into(),
        };
        // A method that gives up has asked for its updates as well.
        let _ = self.call(task);
        operator.0.asked.into_inner()
    }
}

/// A space that notes the formulas that it is asked for.
struct Rehearsal {
    space: VecSpace<Complex64>,
    asked: RefCell<Vec<Formula>>,
}

impl Rehearsal {
    fn note(&self, formula: &Formula) {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(formula) {
            asked.push(*formula);
        }
    }
}

impl VectorSpace for Rehearsal {
    type Vector = Vector;
    type Scalar = Complex64;
    type Error = Infallible;

    fn dimension(&self) -> usize {
        self.space.dimension()
    }

    fn component_bytes(&self) -> usize {
        self.space.component_bytes()
    }

    fn zero_vector(&self) -> Result<Vector, Infallible> {
        self.space.zero_vector()
    }

    fn copy(&self, from: &Vector, to: &mut Vector) -> Result<(), Infallible> {
        self.space.copy(from, to)
    }

    fn axpy(&self, a: &Complex64, x: &Vector, y: &mut Vector) -> Result<(), Infallible> {
        self.note(AXPY.formula());
        self.space.axpy(a, x, y)
    }

    fn xpby(&self, x: &Vector, b: &Complex64, y: &mut Vector) -> Result<(), Infallible> {
        self.note(XPBY.formula());
        self.space.xpby(x, b, y)
    }

    fn dot(&self, x: &Vector, y: &Vector) -> Result<Complex64, Infallible> {
        self.note(DOT.formula());
        self.space.dot(x, y)
    }

    fn norm2(&self, x: &Vector) -> Result<Complex64, Infallible> {
        self.note(NORM2.formula());
        self.space.norm2(x)
    }

    fn scalar(&self, value: Complex64) -> Complex64 {
        value
    }

    fn quotient(&self, numerator: &Complex64, denominator: &Complex64) -> Complex64 {
        self.space.quotient(numerator, denominator)
    }

    fn conjugate(&self, a: &Complex64) -> Complex64 {
        a.conj()
    }

    fn negate(&self, a: &Complex64) -> Complex64 {
        -a
    }

    fn read_all(&self, scalars: &[&Complex64]) -> Result<Vec<Complex64>, Infallible> {
        self.space.read_all(scalars)
    }

    fn update(
        &self,
        formula: &Formula,
        factors: &[&Complex64],
        read: &[&Vector],
        written: &mut [&mut Vector],
    ) -> Result<Vec<Complex64>, Infallible> {
        self.note(formula);
        self.space.update(formula, factors, read, written)
    }
}

/// A Hermitian operator with eigenvalues from 1 to 2, whose fused operations ask for no update.
struct Diagonal(Rehearsal);

impl LinearOperator for Diagonal {
    type Space = Rehearsal;

    fn space(&self) -> &Rehearsal {
        &self.0
    }

    fn apply(&self, x: &Vector, out: &mut Vector) -> Result<(), Infallible> {
        for (k, (out, x)) in out.iter_mut().zip(x).enumerate() {
            *out = x * (1.0 + k as f64 / DIMENSION as f64);
        }
        Ok(())
    }

    fn residual(&self, b: &Vector, x: &Vector, r: &mut Vector) -> Result<(), Infallible> {
        self.apply(x, r)?;
        r.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
        Ok(())
    }

    fn apply_products(&self, x: &Vector, w: &Vector, out: &mut Vector) -> Result<[Complex64; 2], Infallible> {
        self.apply(x, out)?;
        Ok([self.0.space.dot(w, out)?, self.0.space.norm2(out)?])
    }

    fn apply_norm2(&self, x: &Vector, out: &mut Vector) -> Result<Complex64, Infallible> {
        self.apply(x, out)?;
        self.0.space.norm2(out)
    }

    fn subtract_image(
        &self,
        a: &Complex64,
        x: &Vector,
        image: &mut Vector,
        r: &mut Vector,
    ) -> Result<Complex64, Infallible> {
        self.apply(x, image)?;
        self.0.space.axpy(&-a, image, r)?;
        self.0.space.norm2(r)
    }

    fn descend(
        &self,
        r_norm2: &Complex64,
        x: &Vector,
        image: &mut Vector,
        r: &mut Vector,
    ) -> Result<[Complex64; 2], Infallible> {
        let [x_ax, _] = self.apply_products(x, x, image)?;
        self.0.space.axpy(&-(r_norm2 / x_ax), image, r)?;
        Ok([x_ax, self.0.space.norm2(r)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::update::{BICGSTAB_DIRECTION, BICGSTAB_SOLUTION_AND_RESIDUAL, SOLUTION_AND_DIRECTION};

    #[test]
    fn methods_ask_for_their_own_updates() {
        let updates = |method: Method| method.updates(&MethodOptions::default(), false);
        let bicgstab = updates(Method::Bicgstab);
        for formula in [BICGSTAB_DIRECTION.formula(), BICGSTAB_SOLUTION_AND_RESIDUAL.formula(), DOT.formula()]
        {
            assert!(bicgstab.contains(formula), "{bicgstab:?}");
        }
        let cg = updates(Method::Cg);
        assert!(cg.contains(SOLUTION_AND_DIRECTION.formula()), "{cg:?}");
        assert!(!cg.contains(BICGSTAB_DIRECTION.formula()), "{cg:?}");
        // The next direction of CG is made anew from a residual that was replaced.
        let replaced = Method::Cg.updates(&MethodOptions::default(), true);
        assert!(replaced.contains(BICGSTAB_DIRECTION.formula()), "{replaced:?}");
        for method in Method::ALL {
            assert!(updates(*method).contains(NORM2.formula()), "{method:?}");
        }
    }
}
