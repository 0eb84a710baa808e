//! Ordinary vectors, `Vec<f64>` and its like, and operators that are closures.
//!
//! See the example on the [front page](crate).

use crate::{LinearOperator, VectorSpace, Work};
use num_complex::{Complex, Complex64};
use std::convert::Infallible;
use std::marker::PhantomData;

/// A component of a vector: `f64`, `f32`, `Complex<f64>` or `Complex<f32>`.
pub trait Component: Copy + PartialEq + std::fmt::Debug + sealed::Sealed + 'static {
    /// Zero.
    const ZERO: Self;

    /// Returns a x + y; a real component takes the real part of a.
    fn multiply_add(a: Complex64, x: Self, y: Self) -> Self;

    /// Returns the same number in double precision.
    fn to_complex(self) -> Complex64;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! components {
    ($($real:ty),*) => {$(
        impl sealed::Sealed for $real {}
        impl Component for $real {
            const ZERO: Self = 0.0;

            fn multiply_add(a: Complex64, x: Self, y: Self) -> Self {
                (a.re * f64::from(x) + f64::from(y)) as $real
            }

            fn to_complex(self) -> Complex64 {
                f64::from(self).into()
            }
        }

        impl sealed::Sealed for Complex<$real> {}
        impl Component for Complex<$real> {
            const ZERO: Self = Complex { re: 0.0, im: 0.0 };

            fn multiply_add(a: Complex64, x: Self, y: Self) -> Self {
                let sum = a * x.to_complex() + y.to_complex();
                Complex { re: sum.re as $real, im: sum.im as $real }
            }

            fn to_complex(self) -> Complex64 {
                Complex { re: f64::from(self.re), im: f64::from(self.im) }
            }
        }
    )*};
}

components!(f32, f64);

/// The space of vectors `Vec<T>` of one length.
///
/// Sums and single operations are in double precision, whatever T is. A real T makes a real space:
/// scalars are used by their real parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VecSpace<T> {
    dimension: usize,
    components: PhantomData<fn() -> T>,
}

impl<T: Component> VecSpace<T> {
    /// Makes the space of vectors of this length.
    ///
    /// Operations panic on vectors of another length.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, components: PhantomData }
    }

    fn check(&self, vectors: [&Vec<T>; 2]) {
        let lengths = vectors.map(Vec::len);
        assert_eq!(
            lengths, [self.dimension; 2],
            "lengths of vectors, in a space of dimension {}",
            self.dimension
        );
    }
}

impl<T: Component> VectorSpace for VecSpace<T> {
    type Vector = Vec<T>;
    type Scalar = Complex64;
    type Error = Infallible;

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn component_bytes(&self) -> usize {
        size_of::<T>()
    }

    fn zero_vector(&self) -> Result<Vec<T>, Infallible> {
        Ok(vec![T::ZERO; self.dimension])
    }

    fn copy(&self, from: &Vec<T>, to: &mut Vec<T>) -> Result<(), Infallible> {
        self.check([from, to]);
        to.copy_from_slice(from);
        Ok(())
    }

    fn axpy(&self, a: &Complex64, x: &Vec<T>, y: &mut Vec<T>) -> Result<(), Infallible> {
        self.check([x, y]);
        y.iter_mut().zip(x).for_each(|(y, x)| *y = T::multiply_add(*a, *x, *y));
        Ok(())
    }

    fn xpby(&self, x: &Vec<T>, b: &Complex64, y: &mut Vec<T>) -> Result<(), Infallible> {
        self.check([x, y]);
        y.iter_mut().zip(x).for_each(|(y, x)| *y = T::multiply_add(*b, *y, *x));
        Ok(())
    }

    fn dot(&self, x: &Vec<T>, y: &Vec<T>) -> Result<Complex64, Infallible> {
        self.check([x, y]);
        Ok(x.iter().zip(y).map(|(x, y)| x.to_complex().conj() * y.to_complex()).sum())
    }

    fn norm2(&self, x: &Vec<T>) -> Result<Complex64, Infallible> {
        self.check([x, x]);
        Ok(x.iter().map(|x| x.to_complex().norm_sqr()).sum::<f64>().into())
    }

    fn scalar(&self, value: Complex64) -> Complex64 {
        value
    }

    fn quotient(&self, numerator: &Complex64, denominator: &Complex64) -> Complex64 {
        if *denominator == Complex64::ZERO { Complex64::ZERO } else { numerator / denominator }
    }

    fn conjugate(&self, a: &Complex64) -> Complex64 {
        a.conj()
    }

    fn negate(&self, a: &Complex64) -> Complex64 {
        -a
    }

    fn read_all(&self, scalars: &[&Complex64]) -> Result<Vec<Complex64>, Infallible> {
        Ok(scalars.iter().map(|&&scalar| scalar).collect())
    }
}

/// An operator on `Vec<T>` that is a closure, made by [`from_fn`].
pub struct FnOperator<T, F> {
    space: VecSpace<T>,
    apply: F,
    work: Work,
}

/// Makes an operator on vectors of length `n` from a closure.
///
/// `apply(x, out)` overwrites all of `out` with A x.
pub fn from_fn<T: Component, F: Fn(&[T], &mut [T])>(n: usize, apply: F) -> FnOperator<T, F> {
    FnOperator { space: VecSpace::new(n), apply, work: Work::default() }
}

impl<T, F> FnOperator<T, F> {
    /// Sets the work of one application.
    ///
    /// It enters [`SolverInfo::work`](crate::SolverInfo::work). Without it only the work on vectors
    /// is counted.
    pub fn with_work(self, work: Work) -> Self {
        Self { work, ..self }
    }
}

impl<T: Component, F: Fn(&[T], &mut [T])> LinearOperator for FnOperator<T, F> {
    type Space = VecSpace<T>;

    fn space(&self) -> &VecSpace<T> {
        &self.space
    }

    fn apply(&self, x: &Vec<T>, out: &mut Vec<T>) -> Result<(), Infallible> {
        self.space.check([x, out]);
        (self.apply)(x, out);
        Ok(())
    }

    fn work(&self) -> Work {
        self.work
    }
}
